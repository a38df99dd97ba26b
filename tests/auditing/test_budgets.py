"""Audits keep to their budget in every phase, and say early what is not proven."""

import json
import logging
import math
import time

import numpy as np
import pytest

from gerrymend import LinearThresholds, Marginals, Trees, audit, check_report, prove
from gerrymend.auditing import chosen_subgroups
from gerrymend.auditing.inference.drawing import largest_values
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.thresholds.search import GreatCircleSearch
from tests.checker.reports import report_of
from tests.subgroups.brute_force import bind


def numbers(n_attributes, n=300, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": rng.integers(0, 2, n),
        "sensitive_features": {f"x{j}": rng.standard_normal(n) for j in range(n_attributes)},
    }


class Clock:
    """A clock that goes on by what it is told."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


def squeezed(text):
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("n_attributes", "reason"),
    [
        (12, "linear thresholds of these attributes have 12 dimensions"),
        (6, "the proof was not done within 1e-06 s; give it more time (budget, --budget) or fewer"),
    ],
)
def test_that_no_bound_was_proven_is_in_every_form(n_attributes, reason):
    report = audit(**numbers(n_attributes), budget=1e-6, gamma=0.1)
    assert report.verdict == "undecided"
    assert json.loads(report.to_json())["no_bound"].startswith(reason)
    for text in (str(report), report.to_markdown().replace("\\", ""), report.to_html()):
        said = squeezed(text)
        assert "No bound was proven over every linear threshold of x0" in said
        assert reason in said
        assert "No set of rows at all is above" in said
        assert "More time (budget, --budget), or a smaller class" not in said


def test_where_a_bound_was_proven_nothing_is_said_of_none():
    for kind in ("linear", "fair", "named"):
        assert report_of(kind)[0]["no_bound"] is None
    decided = audit([0] * 40, [1, 0] * 20, sensitive_features={"country": ["NL"] * 40})
    assert decided.no_bound is None
    # The bound of any rows is within what is allowed: that is a proof.
    assert audit(**numbers(12), budget=1e-6, gamma=0.5).no_bound is None


@pytest.mark.parametrize(
    ("subgroups", "reason"),
    [(LinearThresholds("regression"), "heuristic"), (Trees(max_depth=3), "grown greedily")],
)
def test_a_heuristic_is_the_reason_where_it_is(subgroups, reason):
    assert reason in audit(**numbers(3), subgroups=subgroups).no_bound


def test_what_cannot_be_proven_is_said_before_the_search(caplog, monkeypatch):
    audit(**numbers(12), budget=1e-6)  # compiles, by a small search of its own
    caplog.set_level(logging.INFO, logger="gerrymend.proving")
    told = []
    search = GreatCircleSearch.search

    def noted(*how, **more):
        told.append(caplog.text)
        return search(*how, **more)

    monkeypatch.setattr(GreatCircleSearch, "search", noted)
    audit(**numbers(12), budget=1e-6)
    assert "No bound will be proven: linear thresholds of these attributes have 12" in told[0]
    caplog.clear()
    audit(**numbers(2), budget=1e-6)
    assert not caplog.text


def test_proofs_and_descriptions_share_the_budget(monkeypatch):
    """Each search takes all of the time that it is given: together no more than the budget."""
    clock = Clock(monkeypatch)
    asked = []

    def spent(self, *how, seconds, **more):
        asked.append(seconds)
        clock.now += seconds
        return self.worst(how[0][None])

    prove = ListedClass.prove

    def proven(self, residual, *, at_most=None, seconds):
        asked.append(seconds)
        clock.now += seconds
        return prove(self, residual, at_most=at_most, seconds=seconds)

    monkeypatch.setattr(ListedClass, "search", spent)
    monkeypatch.setattr(ListedClass, "prove", proven)
    rng = np.random.default_rng(0)
    data = numbers(1) | {
        "sensitive_features": {f"c{j}": rng.choice(list("abcd"), 300) for j in range(5)}
    }
    report = audit(**data, subgroups="marginals", top=4, budget=100.0)
    assert len(report.top) > 1
    assert asked[0] == pytest.approx(80.0)
    assert asked[1] == pytest.approx(5.0)
    assert clock.now <= 90.0  # what is left is for the group in a sentence


def test_no_subgroup_is_searched_for_when_the_time_is_up(monkeypatch):
    clock = Clock(monkeypatch)

    def late(self, residual, *, at_most=None, seconds):
        clock.now += 200.0
        return prove(self, residual)

    prove = ListedClass.prove
    monkeypatch.setattr(ListedClass, "prove", late)
    monkeypatch.setattr(ListedClass, "search", lambda *_, **__: pytest.fail("a search was begun"))
    report = audit(**numbers(3), subgroups="marginals", top=4, budget=100.0)
    assert len(report.top) == 1
    assert report.why_fewer == ("time",)
    assert chosen_subgroups.half_until(100.0) == 0.0


def test_a_description_has_what_a_proof_has_left(monkeypatch):
    """It had two fifths of the budget for itself, after the proof had all of it."""
    clock = Clock(monkeypatch)
    asked = []
    prove_both = ListedClass.prove

    def proven(self, residual, *, at_most=None, seconds):
        asked.append(seconds)
        clock.now += 70.0
        return prove_both(self, residual, at_most=at_most, seconds=seconds)

    def of_size(self, residual, rows, min_group_size, *, seconds):
        asked.append(seconds)

    monkeypatch.setattr(ListedClass, "prove", proven)
    monkeypatch.setattr(ListedClass, "worst_of_size", of_size)
    # Nine rows are too few to be described: another group is searched for.
    groups = {"sensitive_features": {"c": ["a"] * 9 + ["b"] * 40 + ["c"] * 40}}
    decided = {"y_true": [0] * 89, "y_pred": [1] * 9 + [0] * 80}
    proof = prove(**decided, **groups, at_most=0.01, subgroups="marginals", budget=100.0)
    assert proof.status == "refuted"
    assert asked == [100.0, 15.0]


class SlowSearch:
    """A search that takes so long of a clock, or what it is given; it notes what it took."""

    def __init__(self, monkeypatch, takes):
        self.took = []
        clock = Clock(monkeypatch)

        def slow(bound, residual, *, seconds=math.inf):
            self.took.append(min(seconds, takes))
            clock.now += self.took[-1]
            return bound.worst(residual[None])

        monkeypatch.setattr(ListedClass, "search", slow)


@pytest.mark.parametrize("takes", [150.0, 60.0], ids=["of the rows", "of a draw"])
def test_there_are_no_permutations_where_searches_take_longer(takes, monkeypatch):
    """T is the same function of every draw, which a search that is cut short is not."""
    slow = SlowSearch(monkeypatch, takes)
    told = []
    how = {"subgroups": "marginals", "n_permutations": 19, "on_draw": lambda *d: told.append(d)}
    report = audit(**numbers(2), **how, budget=100.0)
    assert report.p_value is None
    assert "no permutation was searched within 100 s; give it more time" in squeezed(str(report))
    assert sum(slow.took) == 100.0
    # Whom chance hardly makes is found out all the same, by draws that need no search.
    assert (report.n_permutations, told[-1]) == (19, (19, 19))
    searched = audit(**numbers(2), **how, budget=20 * takes + 1)
    assert (searched.n_permutations, searched.detectable is None) == (19, False)
    assert report.sharpest.to_dict() == searched.sharpest.to_dict()
    assert report.stands_out == searched.stands_out
    words = squeezed(str(report))
    assert f"By 19 shuffles {report.sharpest.n_groups} groups that can be named" in words
    assert check_report(report, **numbers(2)).ok
    lie = report.to_dict() | {"n_permutations": 0}
    assert not check_report(lie, **numbers(2)).ok


def test_no_draw_begins_that_would_not_end_in_time(monkeypatch):
    slow = SlowSearch(monkeypatch, takes=30.0)
    how = {"subgroups": "marginals", "n_permutations": 19}
    # One of the rows, two draws, and the third would end at 120.
    assert audit(**numbers(2), **how, budget=100.0).n_permutations == 2
    assert slow.took == [30.0] * 3


@pytest.mark.parametrize("late", [False, True], ids=["in time", "cut short"])
def test_a_draw_that_is_cut_short_counts_as_the_worst_that_it_can_be(late, monkeypatch):
    """Its own value is not known; what no set of its rows exceeds can only raise a p-value."""
    clock = Clock(monkeypatch)
    columns = (Column("c", np.arange(3.0), ("a", "b", "c")),)
    residuals = np.array([[0.5, 0.25, -0.75]])
    bound = bind(Marginals(), columns)

    def search(residual, *, seconds):
        clock.now += 6.0 if late else 4.0
        return bound.worst(residual[None])

    monkeypatch.setattr(bound, "search", search)
    assert largest_values(bound, residuals, 5.0).tolist() == [0.75]
    residuals = np.array([[0.5, 0.25, -0.375]])
    clock.now = 0.0
    assert largest_values(bound, residuals, 5.0).tolist() == [0.75 if late else 0.5]


def test_resamples_end_with_their_time(monkeypatch):
    """A resample of wide attributes took minutes, whatever the budget."""
    slow = SlowSearch(monkeypatch, takes=150.0)
    report = audit(**numbers(2), subgroups="marginals", confidence=0.95, budget=100.0)
    assert slow.took == [100.0]
    assert report.population.upper_bound is None
    assert "1 resamples are all that 100 s had time for" in report.population.reason
