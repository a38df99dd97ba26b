"""Subgroups within intervals of the score, against every subgroup in every interval."""

import itertools
import math

import numpy as np
import pytest

from gerrymend import Conjunctions, LinearThresholds, Marginals, Trees
from gerrymend.inputs.bins import bin_of, lower_ends, protected, score_column, score_of
from gerrymend.inputs.protected import Column, distinct_rows, take_rows
from gerrymend.subgroups.interval_rule import WithinInterval, at_all_scores
from gerrymend.subgroups.rules import Condition, Conjunction
from gerrymend.subgroups.within_scores import WithinScores, within_scores
from tests.subgroups.brute_force import value
from tests.subgroups.test_not_centred import shifted
from tests.subgroups.test_one_sided import CLASSES, OF_NUMBERS, NotListedError, every_group

NAMES = [name for name in CLASSES if name != "through the mean"]


def instances(name, number):
    """Cells of one or two attributes and a score in bins, some without rows that count."""
    found = 0
    for seed in range(10_000):
        rng = np.random.default_rng([seed, 17])
        n = int(rng.integers(3, 8))
        categories = None if name in OF_NUMBERS or rng.random() < 0.3 else ("a", "b", "c")
        y = Column("y", rng.integers(0, 3, n).astype(float), categories)
        rows = distinct_rows((Column("x", rng.integers(0, 3, n).astype(float)), y)).columns
        try:
            listed = every_group(CLASSES[name], rows)
        except NotListedError:  # a mean that rounding can't tell from a row's value
            continue
        cuts = tuple(np.arange(1, int(rng.integers(2, 5))) / 4)
        row = np.concatenate(
            [np.arange(len(rows[0].values)), rng.integers(0, len(rows[0].values), 9)]
        )
        score = score_column("score", rng.random(len(row)).round(2), cuts)
        cells = distinct_rows((*take_rows(rows, row), score)).columns
        m = len(cells[0].values)
        counts = rng.random(m) < 0.85
        counts[0] = True
        yield cells, counts, shifted(rng, cells)[counts], listed
        found += 1
        if found == number:
            return


def bound_and_values(name, cells, counts, residual, listed):
    """The class over these cells, and the value of each of its subgroups in each interval."""
    rows = distinct_rows(protected(cells))
    # Each protected row weighs 1, as in the listing, whatever its number of cells.
    weight = 1 / np.bincount(rows.index)[rows.index]
    bound = WithinScores(CLASSES[name]).bind(cells, weight, np.where(counts, weight, 0.0))
    score = score_of(cells)
    bins = bin_of(score)
    values = []
    # The class is bound to the rows that count: a row of none has no part in any sum.
    for group in listed:
        for first, after in itertools.combinations(range(len(score.cuts) + 2), 2):
            inside = group[rows.index] & (bins >= first) & (bins < after)
            values.append(value(residual, inside[counts]))
    return bound, values


def check(name, number):
    """Both sides and each: what is found, its members and rule, what is proven, and in no time."""
    for cells, counts, residual, listed in instances(name, number):
        both, values = bound_and_values(name, cells, counts, residual, listed)
        by_name = {column.name: column for column in cells}
        for sign in (0, 1, -1):
            best = float(max(0, *(sign * one if sign else abs(one) for one in values)))
            bound = both.one_sided(sign) if sign else both
            bracket = bound.prove(residual)
            inside = bracket.found.members[0] > 0
            exact = float(value(residual, inside))
            assert (sign * exact if sign else abs(exact)) == pytest.approx(best, abs=1e-12)
            assert float(bracket.found.values[0]) == pytest.approx(exact, abs=1e-12)
            assert bracket.upper_bound == pytest.approx(best, abs=1e-12)
            assert float(bound.upper_bound(residual[None])[0]) >= best - 1e-12
            if bound.exact:
                found = bound.worst(residual[None])
                assert abs(float(found.values[0])) == pytest.approx(best, abs=1e-12)
                searched = bound.search(residual)
                assert abs(float(searched.values[0])) == pytest.approx(best, abs=1e-12)
            late = bound.prove(residual, seconds=0.0)
            assert abs(float(late.found.values[0])) <= best + 1e-12 <= late.upper_bound + 2e-12
            for at_most in (best / 2, best, 2 * best):
                half = bound.prove(residual, at_most=at_most)
                assert (half.upper_bound <= at_most + 1e-12) == (best <= at_most + 1e-12)
            if best:
                rule = bound.source.rule(bracket.found.keys[0])
                everywhere = rule.members(by_name)
                assert everywhere[counts].tolist() == inside.tolist()
                short = rule.in_few_digits(by_name, everywhere)
                assert short.members(by_name).tolist() == everywhere.tolist()


@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("name", NAMES)
def test_the_worst_of_all_intervals(name):
    check(name, 30)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("name", NAMES)
def test_three_hundred_instances_of_each_class(name):
    check(name, 300)


@pytest.mark.parametrize("sign", [0, 1, -1])
@pytest.mark.parametrize("name", ["conjunctions", "trees", "marginals"])
def test_a_worst_of_a_size_is_large_enough_and_no_worse_than_the_worst(name, sign):
    found_any = 0
    for cells, counts, residual, listed in instances(name, 20):
        both, values = bound_and_values(name, cells, counts, residual, listed)
        rows = np.random.default_rng(len(values)).integers(1, 5, len(residual))
        best = float(max(0, *(sign * one if sign else abs(one) for one in values)))
        bound = both.one_sided(sign) if sign else both
        found = bound.worst_of_size(residual, rows, 4)
        worst = bound.prove(residual).found
        if found is None:
            continue
        found_any += 1
        inside = int(rows[found.members[0] > 0].sum())
        assert 4 <= inside <= rows.sum() - 4
        assert sign * float(found.values[0]) >= 0
        assert abs(float(found.values[0])) <= best + 1e-12
        if 4 <= int(rows[worst.members[0] > 0].sum()) <= rows.sum() - 4:
            assert abs(float(found.values[0])) == pytest.approx(best, abs=1e-12)
    assert found_any > 5


def test_many_residuals_are_answered_by_one_call():
    cells, counts, residual, _ = next(instances("conjunctions", 1))
    bound = WithinScores(Conjunctions()).bind(cells, np.ones(len(counts)), counts.astype(float))
    stack = np.stack([residual, -residual, residual[::-1].copy()])
    together = bound.worst(stack)
    for i, one in enumerate(stack):
        alone = bound.worst(one[None])
        assert together.values[i] == alone.values[0]
        assert together.members[i].tolist() == alone.members[0].tolist()
        assert together.keys[i] == alone.keys[0]


def test_a_rule_says_of_scores_what_it_says_of_bins():
    rng = np.random.default_rng(0)
    score = rng.random(500).round(3)
    race = rng.choice(["Black", "White"], 500)
    cuts = (0.25, 0.5, 0.75)
    codes = Column("race", (race == "White").astype(float), ("Black", "White"))
    cells = distinct_rows((codes, score_column("p", score, cuts)))
    bound = WithinScores(Marginals()).bind(cells.columns, np.ones(len(cells)), np.ones(len(cells)))
    inner = (cells.columns[0].values == 0) & (bin_of(cells.columns[1]) == 1)
    bound = bound.one_sided(1)
    found = bound.worst(np.where(inner, 1.0, -1.0)[None])
    rule = bound.source.rule(found.keys[0])
    assert rule.describe() == "race = Black and 0.25 ≤ p < 0.5"
    expected = (race == "Black") & (score >= 0.25) & (score < 0.5)
    assert rule.contains({"race": race, "p": score}).tolist() == expected.tolist()
    assert at_all_scores(rule, "p").describe() == "race = Black"


def test_bins_without_rows_are_passed_over():
    cells = (
        Column("x", np.array([0.0, 1.0, 0.0, 1.0])),
        score_column("s", np.array([0.05, 0.05, 0.95, 0.95]), tuple(np.arange(1, 10) / 10)),
    )
    bound = WithinScores(Marginals()).bind(cells, np.ones(4), np.ones(4))
    found = bound.worst(np.array([[2.0, -2.5, 0.5, -1.0]]))
    assert bound.source.rule(found.keys[0]).describe() == "x ≥ 1"
    below = bound.one_sided(1).worst(np.array([[2.0, -2.5, -0.5, 1.0]]))
    assert bound.source.rule(below.keys[0]).describe() == "x ≤ 0 and s < 0.1"
    above = bound.one_sided(1).worst(np.array([[-2.0, -2.5, 0.5, -1.0]]))
    assert bound.source.rule(above.keys[0]).describe() == "x ≤ 0 and s ≥ 0.9"


def test_other_forms_of_the_class():
    cells = (
        Column("x", np.array([0.0, 1.0, 0.0, 1.0])),
        score_column("s", np.array([0.1, 0.2, 0.8, 0.9]), (0.5,)),
    )
    bound = WithinScores(LinearThresholds()).bind(cells, np.ones(4), np.ones(4))
    assert not bound.exact
    assert bound.has_everyone
    assert not bound.is_closed
    assert bound.covers == "every linear threshold of x, within every interval of s (cut at 0.5)"
    residual = np.array([[0.5, 0.25, -0.5, 0.125]])
    for other in (bound.quick, bound.thorough(), bound.one_sided(1)):
        assert float(other.worst(residual).values[0]) == pytest.approx(0.75)
    assert WithinScores(Trees(3)).bind(cells, np.ones(4), np.ones(4)).unprovable
    assert within_scores(Trees(), cells[:1]).max_depth == 2


def test_ends_are_put_at_cuts():
    column = score_column("s", np.array([0.1, 0.3, 0.6, 0.9]), (0.25, 0.5, 0.75))
    assert column.values.tolist() == [lower_ends(column.cuts)[0], 0.25, 0.5, 0.75]
    for low, high, words in (
        (0.3, 0.7, "0.5 ≤ s < 0.75"),  # bins that begin there, by their lower ends
        (0.25, 0.5, "0.25 ≤ s < 0.5"),
        (-math.inf, 0.6, "s < 0.75"),
        (0.6, math.inf, "s ≥ 0.75"),
    ):
        condition = Condition("s", low=low, high=high)
        at_cuts = condition.in_few_digits(column)
        assert at_cuts.describe() == words
        assert at_cuts.holds(column).tolist() == condition.holds(column).tolist()


def test_rules_that_are_no_conditions_come_after_the_interval():
    tree = Conjunction((Condition("x", low=1.0),), {"x": "number"}, name="large")
    interval = Condition("s", low=0.5)
    rule = WithinInterval(tree, interval)
    assert rule.describe() == "s ≥ 0.5, and large (x ≥ 1)"
    assert rule.to_dict() == {
        "kind": "within",
        "interval": {"attribute": "s", "low": 0.5, "high": None},
        "rule": tree.to_dict(),
    }
    assert WithinInterval(tree, Condition("s")).describe() == "large (x ≥ 1)"
    assert rule.contains({"x": [0, 1, 2], "s": [0.9, 0.4, 0.5]}).tolist() == [False, False, True]
