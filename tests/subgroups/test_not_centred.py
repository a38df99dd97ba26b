"""Residuals that don't sum to 0, as of a reference of one's own, against every subgroup."""

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups.base import most_of_any, value_of_all
from tests.subgroups.brute_force import bind, value
from tests.subgroups.test_one_sided import CLASSES, OF_NUMBERS, NotListedError, every_group
from tests.subgroups.thresholds import groups, points_of

REGRESSION = LinearThresholds(search="regression")


def shifted(rng, columns):
    """A residual with ties that sums to anything: of both signs, of one sign, with many zeros."""
    m = len(columns[0].values)
    residual = rng.integers(-4, 5, m) / 8.0
    kind = rng.integers(4)
    if kind == 0:
        residual += rng.integers(-4, 5) / 8.0
    elif kind == 1:
        residual = rng.choice([-1.0, 1.0]) * np.abs(residual)
    elif kind == 2:
        residual[rng.random(m) < 0.6] = 0.0
    return residual


def instances(name, number):
    """Cells, a residual, rows by cell, and every subgroup, by the checker's code."""
    found = 0
    for seed in range(10_000):
        rng = np.random.default_rng([seed, 7])
        n = int(rng.integers(3, 9))
        categories = None if name in OF_NUMBERS or rng.random() < 0.3 else ("a", "b", "c")
        y = Column("y", rng.integers(0, 3, n).astype(float), categories)
        columns = distinct_rows((Column("x", rng.integers(0, 3, n).astype(float)), y)).columns
        try:
            listed = every_group(CLASSES[name], columns)
        except NotListedError:  # a mean that rounding can't tell from a row's value
            continue
        rows = rng.integers(1, 5, len(columns[0].values))
        yield columns, shifted(rng, columns), rows, listed
        found += 1
        if found == number:
            return


def check_worst(name, number):
    """Both sides and each one: what is found, its members and rule, and what is proven."""
    for columns, residual, _, listed in instances(name, number):
        by_name = {column.name: column for column in columns}
        both = bind(CLASSES[name], columns)
        for sign in (0, 1, -1):
            values = [value(residual, group) for group in listed]
            best = float(max(0, *(sign * one if sign else abs(one) for one in values)))
            bound = both.one_sided(sign) if sign else both
            bracket = bound.prove(residual)
            inside = bracket.found.members[0] > 0
            exact = float(value(residual, inside))
            assert (sign * exact if sign else abs(exact)) == pytest.approx(best, abs=1e-12)
            assert float(bracket.found.values[0]) == pytest.approx(exact, abs=1e-12)
            assert bracket.upper_bound == pytest.approx(best, abs=1e-12)
            assert float(bound.upper_bound(residual[None])[0]) >= best - 1e-12
            if best:
                rule = bound.source.rule(bracket.found.keys[0]).in_few_digits(by_name, inside)
                assert rule.members(by_name).tolist() == inside.tolist()
                half = bound.prove(residual, at_most=best / 2)
                shown = float(half.found.values[0])
                assert (sign * shown if sign else abs(shown)) > best / 2
            assert bound.prove(residual, at_most=best).upper_bound <= best + 1e-12
            searched = float(bound.worst(residual[None]).values[0])
            assert abs(searched) <= best + 1e-12
            if bound.exact:
                assert abs(searched) == pytest.approx(best, abs=1e-12)
            elif both.has_everyone and sign * float(value_of_all(residual)) >= 0:
                # A search that is none of all still looks at everyone.
                assert abs(searched) >= abs(float(value_of_all(residual))) - 1e-12


@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("name", CLASSES)
def test_the_worst_of_either_side_and_of_both(name):
    check_worst(name, 25)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("name", CLASSES)
def test_three_hundred_instances_of_each_class(name):
    check_worst(name, 300)


@pytest.mark.parametrize("sign", [0, 1, -1])
@pytest.mark.parametrize("name", ["conjunctions", "half-lines", "marginals", "through the mean"])
def test_the_worst_of_a_size(name, sign):
    for columns, residual, rows, listed in instances(name, 40):
        fits = [g for g in listed if 3 <= int(rows[g].sum()) <= int(rows.sum()) - 3]
        values = [value(residual, group) for group in fits]
        best = max((sign * one if sign else abs(one) for one in values), default=-1)
        both = bind(CLASSES[name], columns)
        found = (both.one_sided(sign) if sign else both).worst_of_size(residual, rows, 3)
        if best < 0:
            assert found is None
        else:
            shown = float(found.values[0])
            assert (sign * shown if sign else abs(shown)) == pytest.approx(float(best), abs=1e-12)


def three_dimensions(rng):
    """Cells of three numbers, of two numbers and a category, or of a number and two categories."""
    n = int(rng.integers(4, 9))
    n_numbers = int(rng.integers(1, 4))
    columns = [
        Column(
            f"a{j}", rng.integers(0, 3, n).astype(float), None if j < n_numbers else ("a", "b", "c")
        )
        for j in range(3)
    ]
    return distinct_rows(columns).columns


def check_proofs(number):
    """Cones of directions and boxes of gaps, which two attributes don't need."""
    for seed in range(number):
        rng = np.random.default_rng([seed, 9])
        columns = three_dimensions(rng)
        residual = shifted(rng, columns)
        x = [column.values for column in columns if not column.is_categorical]
        for column in columns:
            if column.is_categorical:
                x += [column.values == code for code in range(3)]
        listed = list(groups(points_of(np.column_stack(x).astype(int), residual)))
        for sign in (0, 1, -1):
            values = [value(residual, group) for group in listed]
            best = float(max(0, *(sign * one if sign else abs(one) for one in values)))
            both = bind(LinearThresholds(restarts=0), columns)
            bound = both.one_sided(sign) if sign else both
            bracket = bound.prove(residual)
            shown = float(bracket.found.values[0])
            assert (sign * shown if sign else abs(shown)) == pytest.approx(best, abs=1e-11)
            assert bracket.upper_bound == pytest.approx(best, abs=1e-11)
            assert bound.prove(residual, at_most=best).upper_bound <= best + 1e-11
            # Whatever the search has found, a bound that takes no time holds.
            assert bound.prove(residual, seconds=0.0).upper_bound >= best - 1e-11


def test_proofs_over_three_attributes():
    check_proofs(25)


@pytest.mark.slow
def test_three_hundred_proofs_over_three_attributes():
    check_proofs(300)


def test_the_regression_is_a_lower_bound_on_both_sides():
    for seed in range(40):
        rng = np.random.default_rng([seed, 11])
        columns = three_dimensions(rng)
        residual = shifted(rng, columns)
        most = float(most_of_any(residual))
        for sign in (0, 1, -1):
            both = bind(REGRESSION, columns)
            bracket = (both.one_sided(sign) if sign else both).prove(residual)
            inside = bracket.found.members[0] > 0
            shown = float(bracket.found.values[0])
            assert shown == pytest.approx(float(value(residual, inside)), abs=1e-12)
            assert sign * shown >= 0
            assert abs(shown) <= bracket.upper_bound + 1e-12
            assert bracket.upper_bound <= most + 1e-12


def test_everyone_is_found_where_all_are_on_one_side():
    columns = (Column("x", np.arange(4.0)), Column("y", np.zeros(4), ("a",)))
    for residual in (np.full(4, 0.25), np.full(4, -0.25), np.array([0.5, 0.25, 0.25, 0.25])):
        for name in ("linear", "conjunctions", "half-lines", "value sets", "trees"):
            bracket = bind(CLASSES[name], columns).prove(residual)
            assert bracket.found.members[0].all()
            assert bracket.upper_bound == pytest.approx(abs(residual.sum()))


def test_what_any_cells_come_to():
    residuals = np.array([[0.5, -0.25, 0.0], [0.25, -0.5, 0.0], [0.5, -0.5, 0.0]])
    assert most_of_any(residuals).tolist() == [0.5, 0.5, 0.5]
    assert value_of_all(residuals).tolist() == [0.25, -0.25, 0.0]
