"""What a result shows of itself in an interpreter: one short line, and nothing that acts."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import gerrymend
from gerrymend import (
    SubgroupParityClassifier,
    audit,
    bootstrap,
    discrimination_surface,
    pareto_frontier,
    prove,
)
from gerrymend._runtime.errors import ArgumentError
from gerrymend.datasets import make_gerrymandered

RED = "\x1b[31mred\x1b[0m"


@pytest.fixture(scope="module")
def results():
    """One of each kind, with a name among the data that would colour a terminal."""
    toy = make_gerrymandered(400, noise=0.3, random_state=0)
    attributes = {RED * 9: toy.sensitive_features["race"], "y": toy.sensitive_features["gender"]}
    rows = toy.target, (toy.score >= 0.5).astype(int)
    report = audit(*rows, sensitive_features=attributes, top=3)
    clf = SubgroupParityClassifier(LinearRegression(), max_iter=1, tol=None, random_state=0)
    frontier = pareto_frontier(
        clf, toy.data, toy.target, sensitive_features=attributes, gammas=np.linspace(0, 0.1, 8)
    )
    surface = discrimination_surface(*rows, sensitive_features=attributes)
    (first, *_), (only,) = frontier.points, surface.rounds
    return {
        "report": report,
        "subgroup": report.worst,
        "held out": audit(*rows, sensitive_features=attributes, test_size=0.5).held_out,
        "frontier": frontier,
        "point": first,
        "on rows": first.train,
        "surface": surface,
        "round": only,
        "proof": prove(*rows, sensitive_features=attributes, at_most=0.2),
        "bootstrap": bootstrap(*rows, sensitive_features=attributes, n_resamples=19),
    }


def test_a_repr_is_one_short_line_that_tells_a_terminal_nothing(results):
    for name, result in results.items():
        shown = repr(result)
        assert shown.startswith(f"{type(result).__name__}("), name
        assert len(shown) <= 300, (name, len(shown))
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", shown), name


def test_words_of_a_group_tell_a_terminal_nothing(results):
    for words in (results["subgroup"].describe(), str(results["subgroup"])):
        assert "red" in words
        assert "\x1b" not in words


def test_a_reports_repr_has_its_figures(results):
    report = results["report"]
    shown = repr(report)
    assert f"verdict={report.verdict!r}" in shown
    assert f"unfairness={report.unfairness:.4g}" in shown
    assert f"n_rows={report.n_rows}" in shown


def test_errors_tell_a_terminal_nothing():
    error = ArgumentError("y", f"has {RED}\nand more.", lead=RED)
    assert "\x1b" not in str(error)
    assert str(error) == r"\x1b[31mred\x1b[0my has \x1b[31mred\x1b[0m" + "\nand more."


def test_the_package_lists_what_is_public():
    assert dir(gerrymend) == sorted(gerrymend.__all__)
