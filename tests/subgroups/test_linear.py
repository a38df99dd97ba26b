import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from gerrymend import LinearThresholds, audit
from gerrymend.datasets import make_gerrymandered
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE, as_notions
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups.thresholds.great_circles import best_on_circle

NOTIONS = ("false_positive_rate", "false_negative_rate", "statistical_parity", "error_rate")


def standardised(frame):
    encoded = pd.get_dummies(frame).to_numpy(float)
    scale = encoded.std(axis=0)
    return (encoded - encoded.mean(axis=0)) / np.where(scale > 0, scale, 1)


def regression_by_rows(notion, y, p, protected, weight):
    """The paper's heuristic on all rows, by scikit-learn, with full one-hot columns."""
    (notion,) = as_notions(notion)
    event = notion.in_event(y)
    residual = notion.residual(y, p, weight)
    columns = standardised(protected)
    model = LinearRegression().fit(columns[event], residual[event], sample_weight=weight[event])
    members = model.predict(columns) > 1e-10
    return members, notion.unfairness(y, p, members, weight)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_is_least_squares_over_rows(toy, notion, weighted):
    _, y, protected = toy
    rng = np.random.default_rng(2)
    p = rng.random(len(y))
    weight = rng.random(len(y)) + 0.1 if weighted else np.ones(len(y))
    members, value = regression_by_rows(notion, y, p, protected, weight)
    report = audit(y, p, sensitive_features=protected, notion=notion, sample_weight=weight,
                   decision_probabilities=True, subgroups=LinearThresholds("regression"),
                   )  # fmt: skip
    assert report.worst.unfairness == pytest.approx(value, abs=1e-12)
    np.testing.assert_array_equal(report.worst.contains(protected), members)


def test_rank_deficient_constant_and_collinear_columns_are_fine(toy):
    _, y, protected = toy
    p = np.random.default_rng(3).random(len(y))
    regression = {"decision_probabilities": True, "subgroups": LinearThresholds("regression")}
    plain = audit(y, p, sensitive_features=protected, **regression)
    age = protected["age"]
    more = protected.assign(
        constant=1e9, months=12 * age, shifted=age + 1e6, tiny=1e-9 * age, one_value="x"
    )
    report = audit(y, p, sensitive_features=more, **regression)
    assert report.unfairness == pytest.approx(plain.unfairness, abs=1e-12)
    np.testing.assert_array_equal(report.worst.contains(more), plain.worst.contains(protected))


def test_only_constants_leave_nothing_to_find():
    report = audit([0, 0, 1, 1], [0, 1, 0, 1], sensitive_features={"x": ["a"] * 4, "z": [3.0] * 4})
    assert report.worst is None
    assert report.unfairness == 0.0


@given(st.integers(0, 10_000))
def test_the_order_of_rows_changes_nothing_at_all(seed):
    rng = np.random.default_rng(seed)
    n = 40
    frame = pd.DataFrame({"g": rng.choice(list("abc"), n), "v": rng.integers(0, 5, n)})
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    p, weight, order = rng.random(n), rng.random(n) + 0.1, rng.permutation(n)

    def report(rows):
        return audit(y[rows], p[rows], sensitive_features=frame.iloc[rows],
                     sample_weight=weight[rows], decision_probabilities=True)  # fmt: skip

    one, other = report(np.arange(n)), report(order)
    assert one.unfairness == other.unfairness
    assert one.upper_bound == other.upper_bound
    assert str(one.worst) == str(other.worst)


@given(st.integers(0, 10_000))
def test_no_group_exceeds_the_upper_bound(seed):
    """All 2^m groups of cells, and so every subgroup of any class."""
    rng = np.random.default_rng(seed)
    n = 30
    frame = {"a": rng.integers(0, 3, n), "b": rng.integers(0, 2, n)}
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    decisions = rng.integers(0, 2, n)
    report = audit(y, decisions, sensitive_features=frame,
                   subgroups=LinearThresholds("regression"))  # fmt: skip
    cell = frame["a"] * 2 + frame["b"]
    values = [
        abs(FALSE_POSITIVE_RATE.unfairness(y, decisions, (mask >> cell) & 1))
        for mask in range(2**6)
    ]
    assert report.unfairness <= report.upper_bound + 1e-12
    assert max(values) == pytest.approx(report.upper_bound, abs=1e-12)


def test_the_value_is_that_of_the_rows_that_the_words_select(toy):
    _, y, protected = toy
    decisions = np.random.default_rng(5).integers(0, 2, len(y))
    worst = audit(y, decisions, sensitive_features=protected).worst
    members = worst.contains(protected)
    event = members & (y == 0)
    assert worst.size == members.sum()
    assert worst.rate == pytest.approx(decisions[event].mean())
    assert worst.share == pytest.approx(event.mean())
    assert worst.unfairness == pytest.approx(FALSE_POSITIVE_RATE.unfairness(y, decisions, members))
    assert worst.unfairness > 0, "of the two sides the one with the higher rate is named"


def test_grid_agrees_with_four_hundred_loops(toy):
    _, y, protected = toy
    two = pd.DataFrame({"age": protected["age"], "male": (protected["sex"] == "M").astype(int)})
    decisions = np.random.default_rng(6).integers(0, 2, len(y))
    centred = two.to_numpy(float) - two.to_numpy(float).mean(axis=0)
    steps = np.arange(-10, 10) / 10
    values = [
        FALSE_POSITIVE_RATE.unfairness(y, decisions, centred @ [first, second] < -1e-9)
        for first in steps
        for second in steps
    ]
    grid = LinearThresholds(search="grid")
    report = audit(y, decisions, sensitive_features=two, subgroups=grid)
    assert report.exact
    assert report.unfairness == pytest.approx(np.abs(values).max(), abs=1e-12)
    assert report.upper_bound == pytest.approx(report.unfairness)

    cells = distinct_rows(read_columns(two))
    (one,) = Auditor([FALSE_POSITIVE_RATE], grid, LabelCells.of_rows(cells, y)).notions
    surface = one.subgroups.values(one.residuals(decisions[None].astype(float), None))[0] / len(y)
    np.testing.assert_allclose(surface, values, atol=1e-12)


def test_grid_needs_two_attributes(toy):
    _, y, protected = toy
    with pytest.raises(ValueError, match=r"got 1, encoded as \[race=blue\], \[race=green\]"):
        audit(y, y, sensitive_features=protected[["race"]], subgroups=LinearThresholds("grid"))
    with pytest.raises(ValueError, match=r"exactly two protected attributes.*got 3, encoded as"):
        audit(y, y, sensitive_features=protected, subgroups=LinearThresholds(search="grid"))
    with pytest.raises(ValueError, match=r"search='gird' is unknown .did you mean 'grid'"):
        audit(y, y, sensitive_features=protected, subgroups=LinearThresholds(search="gird"))


def test_a_category_that_was_not_there_is_in_no_group():
    """Not taken for the category that the encoding leaves out."""
    worst = audit(
        [0] * 100, [1] * 50 + [0] * 50,
        sensitive_features={"race": ["blue"] * 60 + ["green"] * 40},
    ).worst  # fmt: skip
    assert str(worst) == "race = blue"
    members = worst.contains({"race": ["blue", "purple", None, "green"]})
    assert members.tolist() == [True, False, False, False]
    flags = audit([0] * 40, [1] * 20 + [0] * 20,
                  sensitive_features={"ok": [True] * 20 + [False] * 20})  # fmt: skip
    with pytest.raises(ValueError, match=r"'ok' .* type str, and the subgroup was found on bool"):
        flags.worst.contains({"ok": ["True", "False"]})


@pytest.mark.parametrize("factor", [1e90, 1e-200, 1e12])
def test_the_size_of_the_numbers_does_not_matter(toy, factor):
    _, y, protected = toy
    decisions = np.random.default_rng(7).integers(0, 2, len(y))
    expected = audit(y, decisions, sensitive_features=protected[["age", "sex"]])
    scaled = protected.assign(age=protected["age"] * factor)[["age", "sex"]]
    report = audit(y, decisions, sensitive_features=scaled)
    assert report.unfairness == pytest.approx(expected.unfairness, abs=1e-12)


@given(st.integers(0, 10_000))
def test_search_is_exact_for_one_attribute(seed):
    """Two dimensions, slope and threshold, are one great circle: every cut, by brute force."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, 25).astype(float)
    y, p = np.r_[0, 1, rng.integers(0, 2, 23)], rng.random(25)
    cuts = [FALSE_POSITIVE_RATE.unfairness(y, p, values >= cut) for cut in np.unique(values)]
    report = audit(
        y, p, sensitive_features={"v": values}, decision_probabilities=True,
        subgroups=LinearThresholds("search", restarts=0),
    )  # fmt: skip
    assert report.unfairness == pytest.approx(np.abs(cuts).max(), abs=1e-11)


@given(st.integers(0, 10_000))
def test_search_is_never_below_the_regression_nor_above_the_bound(seed):
    rng = np.random.default_rng(seed)
    n = 40
    frame = {"g": rng.choice(list("abc"), n), "v": rng.integers(0, 5, n), "w": rng.random(n)}
    y, p = np.r_[0, 1, rng.integers(0, 2, n - 2)], rng.random(n)
    regression, search = (
        audit(y, p, sensitive_features=frame, decision_probabilities=True, subgroups=subgroups,
              budget=1e-9, min_group_size=1)
        for subgroups in (LinearThresholds("regression"), LinearThresholds("search", restarts=1))
    )  # fmt: skip
    assert regression.unfairness <= search.unfairness + 1e-9
    assert search.unfairness <= search.upper_bound
    members = search.worst.contains(frame)
    value = FALSE_POSITIVE_RATE.unfairness(y, p, members)
    assert search.worst.unfairness == pytest.approx(value, abs=1e-12)


def test_search_sees_what_the_regression_cannot():
    data = make_gerrymandered(400, random_state=0)
    decisions = (data.score >= 0.5).astype(int)
    report = audit(data.target, decisions, sensitive_features=data.sensitive_features,
                   subgroups=LinearThresholds("search"))  # fmt: skip
    assert report.unfairness == pytest.approx(0.0625)
    assert report.worst.describe() in (
        "race = blue and gender = man",
        "race = green and gender = woman",
        "not (race = blue and gender = woman)",
        "not (race = green and gender = man)",
    )


@given(st.integers(0, 100_000), st.booleans())
def test_the_sweep_is_exact_on_its_circle(seed, whole):
    """Against every gap between flips, its members counted one by one; whole numbers make ties."""
    rng = np.random.default_rng(seed)
    draw = (
        (lambda: rng.integers(-2, 3, 7).astype(float)) if whole else (lambda: rng.random(7) - 0.5)
    )
    first, second, residual = draw(), draw(), rng.standard_normal(7)
    angle = best_on_circle(first, second, residual, 0.0, np.zeros(7, dtype=np.intp), 0)

    def value(at):
        return abs(residual[np.cos(at) * first + np.sin(at) * second > 1e-9].sum())

    flips = np.unique(np.r_[0.0, np.pi, (np.arctan2(second, first) + np.pi / 2) % np.pi])
    gaps = [(a + b) / 2 for a, b in itertools.pairwise(flips) if b - a > 1e-6]
    assert value(angle) == pytest.approx(max(map(value, gaps)), abs=1e-9)


def test_search_of_a_model_with_nothing_to_find(toy):
    _, y, protected = toy
    report = audit(y, y, sensitive_features=protected, subgroups=LinearThresholds("search"))
    assert (report.worst, report.verdict) == (None, "within gamma")
