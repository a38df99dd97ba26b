"""Conjunctions against enumeration."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from gerrymend import Conjunctions, audit
from gerrymend.inputs.protected import Column
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.subgroups.products import search as products
from gerrymend.subgroups.rules import Condition, Conjunction
from tests.marks import slow
from tests.subgroups import brute_force as brute

NUMERIC = {"intervals": brute.intervals, "half_lines": brute.half_lines}


@pytest.mark.parametrize("numeric", NUMERIC)
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize(("seed", "number"), [(0, 40), slow(1, 120)])
def test_the_worst_is_the_worst_of_all(numeric, depth, seed, number):
    rng = np.random.default_rng([depth, len(numeric), seed])
    for _ in range(number):
        columns, residual, rows = brute.instance(rng)
        bound = brute.bind(Conjunctions(depth, numeric=numeric), columns)
        groups = list(brute.products(columns, depth, brute.single_values, NUMERIC[numeric]))
        stacked = np.stack([residual, -residual, 0 * residual])
        found = bound.worst(stacked)
        expected = brute.worst(residual, groups)
        for one, at, members, key in zip(stacked, *found, strict=True):
            assert Fraction(float(abs(at))) == (expected if one.any() else 0)
            assert Fraction(float(at)) == brute.value(one, members > 0)
            by_name = {column.name: column for column in columns}
            rule = bound.source.rule(key)
            np.testing.assert_array_equal(rule.members(by_name), members > 0)
            assert len(rule.conditions) <= depth
        bracket = bound.prove(residual)
        assert bracket.upper_bound == float(expected) == abs(bracket.found.values[0])
        for smallest in (1, 4, 12):
            fits = bound.worst_of_size(residual, rows, smallest)
            wanted = brute.worst_of_size(residual, rows, smallest, groups)
            assert (None if fits is None else Fraction(abs(float(fits.values[0])))) == wanted
            if fits is not None:
                inside = rows[fits.members[0] > 0].sum()
                assert smallest <= inside <= rows.sum() - smallest


def test_lists_and_stretches_find_what_full_tables_find(monkeypatch):
    rng = np.random.default_rng(0)
    instances = [brute.instance(rng, most_values=8) for _ in range(100)]
    whole = [brute.bind(Conjunctions(3), c).worst(w[None]).values[0] for c, w, _ in instances]
    monkeypatch.setattr("gerrymend.subgroups.products.tables._SMALL", 1)
    monkeypatch.setattr("gerrymend.subgroups.products.tables._SPARSE", 0)
    listed = [brute.bind(Conjunctions(3), c).worst(w[None]).values[0] for c, w, _ in instances]
    np.testing.assert_array_equal(np.abs(listed), np.abs(whole))
    monkeypatch.setattr(products, "_STRETCH", 7)
    in_parts = [brute.bind(Conjunctions(3), c).worst(w[None]).values[0] for c, w, _ in instances]
    np.testing.assert_array_equal(np.abs(in_parts), np.abs(whole))


def test_a_search_cut_short_has_an_honest_bracket(monkeypatch):
    monkeypatch.setattr(products, "_STRETCH", 50)
    rng = np.random.default_rng(1)
    undecided = 0
    for _ in range(100):
        columns, residual, _ = brute.instance(rng, most_values=8)
        bound = brute.bind(Conjunctions(3), columns)
        exact = abs(bound.worst(residual[None]).values[0])
        short = bound.prove(residual, seconds=0)
        assert abs(short.found.values[0]) <= exact <= short.upper_bound
        undecided += abs(short.found.values[0]) < short.upper_bound
        for words, at_most in short.partial:
            depth = 1 if "of one condition" in words else 2
            part = brute.bind(Conjunctions(depth), columns)
            assert abs(part.worst(residual[None]).values[0]) <= at_most
    assert undecided > 10


def test_prove_answers_at_most():
    rng = np.random.default_rng(2)
    for _ in range(100):
        columns, residual, _ = brute.instance(rng)
        bound = brute.bind(Conjunctions(2), columns)
        exact = abs(bound.worst(residual[None]).values[0])
        proved = bound.prove(residual, at_most=exact)
        assert proved.upper_bound <= exact
        if exact > 0:
            refuted = bound.prove(residual, at_most=exact * 0.9)
            assert abs(refuted.found.values[0]) > exact * 0.9
            assert refuted.upper_bound >= exact


def test_between_equals_the_fewest_conditions():
    race = Column("race", np.array([0.0, 0.0, 1.0, 1.0]), ("blue", "green"))
    sex = Column("sex", np.array([0.0, 0.0, 1.0, 1.0]), ("F", "M"))
    age = Column("age", np.array([1.0, 2.0, 1.0, 2.0]))
    bound = brute.bind(Conjunctions(3), (race, sex, age))
    found = bound.worst(np.array([[1.0, 1.0, -1.0, -1.0]]))
    assert len(bound.source.rule(found.keys[0]).conditions) == 1


def test_an_audit_with_weights_agrees_with_loops_over_rows(toy):
    _, y, protected = toy
    rng = np.random.default_rng(3)
    decisions, weight = rng.integers(0, 2, len(y)), rng.integers(1, 4, len(y))
    values = {}
    age = protected["age"]
    cuts = [-math.inf, *sorted(age.unique())]
    for race in protected["race"].unique():
        for i, low in enumerate(cuts):
            for high in [*cuts[i + 1 :], math.inf]:
                members = (protected["race"] == race) & (age >= low) & (age < high)
                values[race, low, high] = abs(
                    FALSE_POSITIVE_RATE.unfairness(y, decisions, members, weight)
                )
    report = audit(y, decisions, sensitive_features=protected[["race", "age"]],
                   subgroups="conjunctions", sample_weight=weight)  # fmt: skip
    assert report.exact
    assert report.unfairness >= max(values.values()) - 1e-12
    again = FALSE_POSITIVE_RATE.unfairness(y, decisions, report.worst.contains(protected), weight)
    assert report.worst.unfairness == pytest.approx(again, abs=1e-12)


def test_cuts_are_no_row_s_value_and_keep_who_is_in():
    rng = np.random.default_rng(4)
    for _ in range(200):
        values = rng.choice([rng.normal(size=8), rng.integers(0, 9, 8) / 1.0, rng.random(8) * 1e-9])
        column = Column("x", values)
        low, high = sorted(rng.choice(values, 2))
        rule = Conjunction((Condition("x", low=low, high=high),), {"x": "number"})
        members = rule.members({"x": column})
        short = rule.in_few_digits({"x": column}, members)
        np.testing.assert_array_equal(short.members({"x": column}), members)
        for condition in short.conditions:
            ends = [end for end in (condition.low, condition.high) if math.isfinite(end)]
            assert not np.isin(ends, values).any()
            for end in ends:
                assert values.min() < end < values.max()


def test_a_cut_between_neighbours_in_float64_keeps_who_is_in():
    values = np.array([1.0, np.nextafter(1.0, 2.0)])
    rule = Conjunction((Condition("x", low=values[1]),), {"x": "number"})
    short = rule.in_few_digits({"x": Column("x", values)}, np.array([False, True]))
    assert short.members({"x": Column("x", values)}).tolist() == [False, True]


def test_conditions_that_all_rows_meet_are_dropped():
    columns = {
        "race": Column("race", np.zeros(3), ("blue",)),
        "age": Column("age", np.array([1.0, 2.0, 3.0])),
    }
    rule = Conjunction(
        (Condition("race", ("blue",)), Condition("age", low=2)), {"race": "str", "age": "number"}
    )
    assert str(rule.in_few_digits(columns, rule.members(columns))) == "age ≥ 2"
    everyone = Conjunction((Condition("race", ("blue",)),), {"race": "str"})
    assert str(everyone.in_few_digits(columns, np.ones(3, bool))) == "everyone"
    named = Conjunction((Condition("age", low=2),), {"age": "number"}, name="old")
    assert str(named.in_few_digits(columns, named.members(columns))) == "old (age ≥ 2)"


def test_a_binned_search_is_exact_over_its_bins_and_says_so():
    rng = np.random.default_rng(5)
    for _ in range(50):
        age = np.arange(40.0)
        race = Column("race", rng.integers(0, 3, 40).astype(float), ("a", "b", "c"))
        residual = rng.integers(-4, 5, 40) / 8.0
        bound = brute.bind(Conjunctions(2, bins=4), (Column("age", age), race))
        assert bound.covers == (
            "every conjunction of at most 2 conditions on age, race; "
            "numbers cut into at most 4 bins (age at 9.5, 19.5, 29.5)"
        )
        binned = (Column("age", np.searchsorted([9.5, 19.5, 29.5], age).astype(float)), race)
        groups = brute.products(binned, 2, brute.single_values, brute.intervals)
        found = bound.worst(residual[None])
        assert Fraction(float(abs(found.values[0]))) == brute.worst(residual, groups)


def test_bins_follow_the_weight_and_ties():
    column = Column("x", np.array([0.0, 1.0, 2.0, 3.0]))
    weight = np.array([10.0, 1.0, 1.0, 10.0])
    bound = Conjunctions(1, bins=3).bind((column,), weight, np.ones(4))
    assert "(x at 0.5, 2.5)" in bound.covers
    constant = Conjunctions(1, bins=3).bind((Column("x", np.ones(4)),), weight, np.ones(4))
    assert constant.covers.endswith("at most 3 bins")
    assert constant.worst(np.array([[1.0, -1.0, 0.5, -0.5]])).values.tolist() == [0.0]


def test_the_words_of_the_class():
    age, race = Column("age", np.arange(3.0)), Column("race", np.array([0.0, 1, 0]), ("a", "b"))
    assert brute.bind(Conjunctions(1), (race,)).covers == (
        "every conjunction of one condition on race"
    )
    assert brute.bind(Conjunctions(3, numeric="half_lines"), (age, race)).covers == (
        "every conjunction of at most 3 conditions on age, race; numbers cut at every value, on "
        "one side of a cut"
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "max_depth must be a number of at least 1; got 0"),
        ({"max_depth": 1.5}, "max_depth must be a whole number; got 1.5"),
        ({"numeric": "interval"}, "did you mean 'intervals'"),
        ({"bins": 1}, "bins must be a number of at least 2; got 1. Pass None"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        brute.bind(Conjunctions(**parameters), (Column("age", np.arange(3.0)),))


def test_an_interrupt_gets_through(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    columns, residual, _ = brute.instance(np.random.default_rng(6))
    bound = brute.bind(Conjunctions(2), columns)
    monkeypatch.setattr(products, "continue_search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bound.prove(np.linspace(-1, 1, len(residual)))


def test_missing_categories_and_frames():
    frame = pd.DataFrame(
        {"race": ["a", "a", None, None, "b"] * 12, "age": [20, 30, 20, 30, 40] * 12}
    )
    report = audit([0, 0, 0, 0, 1] * 12, [0, 0, 0, 1, 1] * 12, sensitive_features=frame,
                   subgroups=Conjunctions(2))  # fmt: skip
    assert str(report.worst) == "race = (missing) and age ≥ 25"


def test_parameters_of_numpy_are_plain_in_a_report():
    report = audit([0, 1] * 20, [1, 0, 1, 1] * 10, sensitive_features={"age": [1, 2, 3, 4] * 10},
                   subgroups=Conjunctions(np.int8(1), bins=np.int16(3)))  # fmt: skip
    assert json.loads(report.to_json())["class"]["parameters"] == {
        "max_depth": 1,
        "bins": 3,
        "numeric": "intervals",
    }
