"""Products of value sets against enumeration."""

from fractions import Fraction

import numpy as np
import pytest

from gerrymend import Conjunctions, ValueSets
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.products import search as products
from tests.subgroups import brute_force as brute


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_the_worst_is_the_worst_of_all(depth):
    rng = np.random.default_rng(depth)
    for _ in range(120):
        columns, residual, rows = brute.instance(rng, most_attributes=3, most_values=4)
        bound = brute.bind(ValueSets(depth), columns)
        groups = list(brute.products(columns, depth, brute.value_subsets, brute.intervals))
        stacked = np.stack([residual, -residual])
        expected = brute.worst(residual, groups)
        for one, at, members, key in zip(stacked, *bound.worst(stacked), strict=True):
            assert Fraction(float(abs(at))) == expected
            assert Fraction(float(at)) == brute.value(one, members > 0)
            by_name = {column.name: column for column in columns}
            np.testing.assert_array_equal(bound.source.rule(key).members(by_name), members > 0)
        bracket = bound.prove(residual)
        assert bracket.upper_bound == float(expected) == abs(bracket.found.values[0])
        for smallest in (1, 4, 12):
            fits = bound.worst_of_size(residual, rows, smallest)
            wanted = brute.worst_of_size(residual, rows, smallest, groups)
            if fits is not None:
                inside = rows[fits.members[0] > 0].sum()
                assert smallest <= inside <= rows.sum() - smallest
                assert Fraction(abs(float(fits.values[0]))) <= wanted


def test_it_is_exact_in_parts_too(monkeypatch):
    rng = np.random.default_rng(7)
    instances = [brute.instance(rng, most_values=5) for _ in range(60)]
    whole = [brute.bind(ValueSets(3), c).worst(w[None]).values[0] for c, w, _ in instances]
    monkeypatch.setattr("gerrymend.subgroups.products.tables._SMALL", 1)
    monkeypatch.setattr("gerrymend.subgroups.products.tables._SPARSE", 0)
    monkeypatch.setattr(products, "_STRETCH", 5)
    in_parts = [brute.bind(ValueSets(3), c).worst(w[None]).values[0] for c, w, _ in instances]
    np.testing.assert_array_equal(np.abs(in_parts), np.abs(whole))


def test_no_conjunction_is_worse():
    rng = np.random.default_rng(8)
    for _ in range(100):
        columns, residual, _ = brute.instance(rng)
        sets, single = (
            brute.bind(c(2), columns).worst(residual[None]) for c in (ValueSets, Conjunctions)
        )
        assert abs(sets.values[0]) >= abs(single.values[0])


def test_one_attribute_may_have_many_values():
    rng = np.random.default_rng(9)
    many = Column("zip", np.arange(300.0) % 100, tuple(f"z{i:02d}" for i in range(100)))
    few = Column("sex", (np.arange(300.0) // 100) % 2, ("F", "M"))
    residual = rng.integers(-4, 5, 300) / 8
    residual[0] -= residual.sum()
    bound = brute.bind(ValueSets(2), (many, few))
    best = 0
    for sexes in ([0], [1], [0, 1]):
        inside = np.isin(few.values, sexes)
        by_zip = np.bincount(many.values[inside].astype(int), residual[inside])
        best = max(best, by_zip[by_zip > 0].sum(), -by_zip[by_zip < 0].sum())
    assert abs(bound.worst(residual[None]).values[0]) == best


def test_too_many_values_are_refused_with_a_remedy():
    many = Column("zip", np.arange(60.0) % 30, tuple(range(30)))
    more = Column("job", np.arange(60.0) % 40, tuple(range(40)))
    with pytest.raises(ValueError, match=r"all sets of values of 'zip' \(30 values\).*Merge rare"):
        brute.bind(ValueSets(2), (many, more))
    assert brute.bind(ValueSets(1), (many, more)).covers == (
        "every product of value sets of one attribute, of zip, job"
    )
