"""One side of a class alone, against every subgroup by enumeration."""

from fractions import Fraction

import numpy as np
import pytest

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    LinearThresholds,
    Marginals,
    Trees,
    ValueSets,
)
from gerrymend.checker.classes import NotListedError, subgroups_of
from gerrymend.checker.exact import Attribute, Table
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups.base import BoundClass, Found
from gerrymend.subgroups.one_sided import OneSided
from tests.subgroups.brute_force import bind, value
from tests.subgroups.test_through_mean import groups_through_mean

CLASSES = {
    "linear": LinearThresholds(restarts=5),
    "through the mean": LinearThresholds(intercept=False),
    "grid": LinearThresholds(search="grid"),
    "conjunctions": Conjunctions(max_depth=3),
    "half-lines": Conjunctions(numeric="half_lines"),
    "value sets": ValueSets(),
    "trees": Trees(),
    "marginals": Marginals(),
    "named": ExplicitGroups({"low": {"x": (None, 1)}, "b": {"y": (1, 2)}, "all": {"x": (0, 9)}}),
}


# These take numbers alone.
OF_NUMBERS = ("through the mean", "grid", "named")


def small(rng, categories):
    """Cells of a number, and a number or a category; a residual with ties; rows by cell."""
    n = int(rng.integers(3, 9))
    y = Column("y", rng.integers(0, 3, n).astype(float), categories)
    columns = distinct_rows((Column("x", rng.integers(0, 3, n).astype(float)), y))
    m = len(columns.columns[0].values)
    residual = rng.integers(-4, 5, m) / 8.0
    residual[rng.integers(m)] -= residual.sum()
    return columns.columns, residual, rng.integers(1, 5, m)


def every_group(subgroups, columns):
    """Every subgroup as a mask, listed by the checker, which shares no code with the searches."""
    if subgroups is CLASSES["through the mean"]:
        return list(groups_through_mean(columns))
    m = len(columns[0].values)
    attributes = {
        column.name: Attribute(
            column.name, not column.is_categorical, tuple(map(Fraction, column.values.tolist()))
        )
        for column in columns
    }
    table = Table(attributes, [[1, 0]] * m, [[Fraction(1), Fraction(0)]] * m, [])
    listed = subgroups_of(subgroups.to_dict(), table, range(m))
    return [np.array([group >> i & 1 for i in range(m)], dtype=bool) for group in listed]


def instances(name, number=25):
    found = 0
    for seed in range(1000):
        categories = None if name in OF_NUMBERS else ("a", "b", "c")
        columns, residual, rows = small(np.random.default_rng(seed), categories)
        try:
            groups = every_group(CLASSES[name], columns)
        except NotListedError:  # a mean that rounding can't tell from a row's value
            continue
        yield columns, residual, rows, groups
        found += 1
        if found == number:
            return


@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", CLASSES)
def test_the_worst_of_a_side_is_that_of_all_its_subgroups(name, sign):
    differ = 0
    for columns, residual, _, groups in instances(name):
        bound = bind(CLASSES[name], columns).one_sided(sign)
        best = max(0, *(sign * value(residual, group) for group in groups))
        bracket = bound.prove(residual)
        found = bracket.found
        assert sign * float(found.values[0]) == pytest.approx(float(best), abs=1e-12)
        assert bracket.upper_bound == pytest.approx(float(best), abs=1e-12)
        inside = found.members[0] > 0
        assert sign * value(residual, inside) == pytest.approx(float(best), abs=1e-12)
        if best:  # the rule says the same rows
            by_name = {column.name: column for column in columns}
            rule = bound.source.rule(found.keys[0]).in_few_digits(by_name, inside)
            assert rule.members(by_name).tolist() == inside.tolist()
        differ += best != max(abs(value(residual, group)) for group in groups)
        # Half of it is exceeded, and it is not exceeded itself.
        if best:
            half = bound.prove(residual, at_most=float(best) / 2)
            assert sign * float(half.found.values[0]) > float(best) / 2
        assert bound.prove(residual, at_most=float(best)).upper_bound <= float(best) + 1e-12
    # Classes that are closed under complement are as bad on both sides; others are not.
    assert (differ == 0) == bind(CLASSES[name], columns).is_closed


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["conjunctions", "half-lines", "marginals", "through the mean"])
def test_the_worst_of_a_side_and_a_size(name, sign):
    for columns, residual, rows, groups in instances(name):
        fits = [g for g in groups if 3 <= int(rows[g].sum()) <= int(rows.sum()) - 3]
        values = [sign * value(residual, group) for group in fits]
        found = bind(CLASSES[name], columns).one_sided(sign).worst_of_size(residual, rows, 3)
        if not values or max(values) < 0:
            assert found is None
        else:
            assert sign * float(found.values[0]) == pytest.approx(float(max(values)), abs=1e-12)


class OnlyHigh(BoundClass):
    """A user's class of two groups, which knows nothing of sides."""

    exact = True
    covers = "two groups"
    source = None

    def worst(self, residuals):
        members = np.array([[1.0, 0.0, 0.0]] * len(residuals))
        return Found(np.vecdot(residuals, members), members, np.zeros(len(residuals)))

    def worst_of_size(self, residual, rows, min_group_size, *, seconds=0.0):
        return self.worst(residual[None])


def test_a_class_that_knows_no_sides_is_bounded_by_both():
    residual = np.array([0.25, -0.125, -0.125])
    high, low = OnlyHigh().one_sided(1), OnlyHigh().one_sided(-1)
    assert isinstance(high, OneSided)
    assert not low.exact
    assert high.prove(residual).found.values.tolist() == [0.25]
    bracket = low.prove(residual)
    assert (bracket.found.values.tolist(), bracket.upper_bound) == ([0.0], 0.25)
    assert not bracket.found.members.any()
    assert low.worst_of_size(residual, np.ones(3, dtype=int), 1) is None
