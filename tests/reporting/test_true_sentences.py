"""Sentences that are true: what is rounded, what is covered, and which rows are which."""

import dataclasses

import numpy as np
import pytest

from gerrymend import Conjunctions, audit
from gerrymend.auditing.prove import Proof
from gerrymend.models.derandomizing import Figures
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.view import audit_view
from tests.reporting.audits import people


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("gamma", [0.01, 0.02])
def test_an_exact_value_is_one_number(gamma):
    """0.0160396 was "0.0160 … no subgroup exceeds 0.0161: this is exact"."""
    y, decided, A = people()
    report = audit(y, decided, sensitive_features=A, subgroups="marginals", gamma=gamma)
    worst = dataclasses.replace(report.worst, unfairness=0.0160396)
    report = dataclasses.replace(
        report, unfairness=0.0160396, upper_bound=0.0160396, worst=worst, top=(worst,)
    )
    assert report.exact
    view = audit_view(report.to_dict())
    shown = flat(
        " ".join([audit_text(report.to_dict()), *view["verdict"], *map(" ".join, view["figures"])])
    )
    assert "0.0160" in shown
    assert "0.0161" not in shown


def test_a_bound_is_never_rounded_down():
    proof = Proof("undecided", 0.01, 0.005, 0.01601, None, "every value")
    assert "none exceeds 0.0161, which" in str(proof)
    assert Figures(0.2, 0.0, 0.01601).no_more_than == "0.0161"
    assert Figures(0.2, 0.01604, 0.01604).no_more_than == "0.0160"


def test_one_attribute_at_a_time_covers_intervals():
    """An interval of one number is no combination: 30 to 40 alone is decided 1."""
    age = np.repeat(np.arange(20, 60), 20)
    y, decided = np.zeros(800, dtype=int), ((age >= 30) & (age < 40)).astype(int)
    report = audit(y, decided, sensitive_features={"age": age}, subgroups=Conjunctions())
    assert report.worst.describe() == "29.5 ≤ age < 39.5"
    # By hand: a quarter of all rows, all decided 1, against a quarter overall: 1/4·3/4.
    assert report.unfairness == pytest.approx(3 / 16)
    assert report.single_unfairness == pytest.approx(3 / 16)
    # Both sides of the mean, 39.5: 10 of 20 years decided 1, (1/2 − 1/4)/2.
    assert report.marginal_unfairness == pytest.approx(1 / 8)
    text = flat(str(report))
    assert (
        "One attribute at a time (each value, each interval of a number) shows all there is: the "
        "combinations that were searched add nothing."
    ) in text


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_of_single_attributes_by_enumeration(seed):
    y, decided, A = people(200, seed)
    report = audit(y, decided, sensitive_features=A, subgroups=Conjunctions(max_depth=1),
                   notion="equalized_odds")  # fmt: skip
    assert report.single_unfairness == pytest.approx(report.unfairness)
    assert report.exact


def test_the_same_rows_are_not_called_others():
    y, decided, A = people(600)
    order = np.random.default_rng(0).permutation(600)
    again = y[order], decided[order], {name: values[order] for name, values in A.items()}
    report = audit(y, decided, sensitive_features=A, holdout=again, subgroups="conjunctions")
    assert report.held_out.same_rows
    for shown in (str(report), report.to_markdown(), report.to_html()):
        assert "that were not searched" not in flat(shown)
        assert "confirm it" not in shown
        assert "which are those that were searched" in flat(shown)
    other = people(600, seed=9)
    assert not audit(y, decided, sensitive_features=A, holdout=other).held_out.same_rows
    assert "that were not searched" in flat(str(audit(y, decided, sensitive_features=A,
                                                      holdout=other)))  # fmt: skip
