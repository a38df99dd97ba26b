"""The listings of the other classes, against predicates tried one by one and cases by hand."""

from fractions import Fraction
from itertools import chain, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend.checker.classes import NotListedError, subgroups_of
from gerrymend.checker.exact import Attribute, Table

LETTERS, NUMBERS = ("a", "b", "c"), (0, 1, 5)
cells = st.sets(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from(NUMBERS)), min_size=1, max_size=9
).map(sorted)


def table_of(cells):
    letters, numbers = zip(*cells, strict=True)
    attributes = {
        "letter": Attribute("letter", False, letters),
        "number": Attribute("number", True, tuple(map(Fraction, numbers))),
    }
    return Table(
        attributes, [[1, 0] for _ in cells], [[Fraction(1), Fraction(0)] for _ in cells], []
    )


def listed(name, cells, **parameters):
    searched = {"name": name, "parameters": parameters}
    return subgroups_of(searched, table_of(cells), range(len(cells)))


def selected(cells, predicate):
    return sum(1 << i for i, cell in enumerate(cells) if predicate(*cell))


def subsets(values):
    return chain.from_iterable(combinations(values, k) for k in range(len(values) + 1))


CUTS = (-1, 0.5, 3, 9)
INTERVALS = [(low, high) for low, high in product(CUTS, CUTS) if low < high]


def interval(low, high):
    return lambda letter, number: low <= number < high


def letters_in(chosen):
    return lambda letter, number: letter in chosen


def anyone(letter, number):
    return True


def both(first, second):
    return lambda *cell: first(*cell) and second(*cell)


def nonempty(groups):
    return groups - {0}


@given(cells)
def test_conjunctions(cells):
    values = [letters_in(letter) for letter in LETTERS]
    intervals = [interval(*ends) for ends in INTERVALS]
    one = [anyone, *values, *intervals]
    two = one + [both(*pair) for pair in product(values, intervals)]
    for depth, predicates in ((1, one), (2, two), (3, two), (None, two)):
        expected = {selected(cells, predicate) for predicate in predicates}
        found = listed("Conjunctions", cells, max_depth=depth, numeric="intervals", bins=None)
        assert nonempty(found) == nonempty(expected)


@given(cells)
def test_conjunctions_of_half_lines(cells):
    values = [letters_in(letter) for letter in LETTERS]
    lines = [interval(*ends) for ends in INTERVALS if ends[0] == CUTS[0] or ends[1] == CUTS[-1]]
    predicates = [anyone, *values, *lines, *(both(*pair) for pair in product(values, lines))]
    expected = {selected(cells, predicate) for predicate in predicates}
    found = listed("Conjunctions", cells, max_depth=2, numeric="half_lines", bins=None)
    assert nonempty(found) == nonempty(expected)


@given(cells)
def test_value_sets(cells):
    values = [letters_in(chosen) for chosen in subsets(LETTERS)]
    intervals = [interval(*ends) for ends in INTERVALS]
    expected = {selected(cells, both(*pair)) for pair in product(values, intervals)}
    assert nonempty(listed("ValueSets", cells, max_depth=2)) == nonempty(expected)
    one = {selected(cells, predicate) for predicate in [*values, *intervals]}
    assert nonempty(listed("ValueSets", cells, max_depth=1)) == nonempty(one)


def trees(depth):
    """Every labelled tree as a predicate, one by one."""
    yield anyone
    yield lambda letter, number: False
    if depth == 0:
        return
    splits = [letters_in(letter) for letter in LETTERS]
    splits += [interval(cut, CUTS[-1]) for cut in CUTS[1:-1]]
    smaller = list(trees(depth - 1))
    for split, yes, no in product(splits, smaller, smaller):
        yield lambda *cell, s=split, y=yes, n=no: y(*cell) if s(*cell) else n(*cell)


@given(cells)
def test_trees(cells):
    for depth in (0, 1, 2):
        expected = {selected(cells, tree) for tree in trees(depth)}
        assert listed("Trees", cells, max_depth=depth) == expected


def test_trees_of_any_depth_are_listed_once_no_depth_adds_to_them():
    """A depth of 10²⁵ did not end; a depth of 4 makes any set of these four cells."""
    cells = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert listed("Trees", cells, max_depth=10**25) == set(range(16))


def test_two_values_in_two_ways_are_a_tree_of_depth_2_and_no_conjunction():
    cells = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert 0b1001 in listed("Trees", cells, max_depth=2)
    assert 0b1001 not in listed("Trees", cells, max_depth=1)
    found = listed("Conjunctions", cells, max_depth=2, numeric="intervals", bins=None)
    assert found - {0} == {0b0011, 0b1100, 0b0101, 0b1010, 0b0001, 0b0010, 0b0100, 0b1000, 0b1111}


def test_marginals_have_both_sides_of_the_mean_and_each_value():
    cells = [("a", 0), ("b", 1), ("c", 5)]  # the mean is 2
    assert listed("Marginals", cells) == {0b001, 0b010, 0b100, 0b011}


def test_explicit_groups():
    cells = [("a", 0), ("b", 1), ("c", 5)]
    groups = {
        "one": {"letter": {"values": ["a", "c"]}, "number": {"low": 0.5, "high": None}},
        "two": {"number": {"values": [0, 1]}},
    }
    assert listed("ExplicitGroups", cells, groups=groups) == {0b100, 0b011}


@pytest.mark.parametrize(
    ("name", "parameters", "why"),
    [
        ("Circles", {}, "Circles is a class that the checker doesn't know"),
        ("Trees", {"max_depth": 1, "min_leaf": 3}, "doesn't know, 'min_leaf'"),
        ("Trees", {}, "its parameters can't be read"),
        ("Conjunctions", {"max_depth": 1, "numeric": "intervals", "bins": 5}, "in bins"),
        ("ExplicitGroups", {"groups": {"x": {"height": {"values": [1]}}}}, "attribute 'height'"),
    ],
)
def test_what_is_not_listed_says_why(name, parameters, why):
    with pytest.raises(NotListedError, match=why):
        listed(name, [("a", 0), ("b", 1)], **parameters)


@pytest.mark.parametrize(
    ("name", "parameters", "why"),
    [
        ("LinearThresholds", {"search": "search"}, "200,000 subgroups over 700 distinct rows"),
        ("ValueSets", {"max_depth": 2}, "a limit of 200,000 subgroups"),
        ("Trees", {"max_depth": 3}, "too large for a limit of"),
        ("Conjunctions", {"max_depth": 2, "numeric": "intervals", "bins": None}, "too large"),
    ],
)
def test_what_is_too_large_says_so(name, parameters, why):
    with pytest.raises(NotListedError, match=why):
        listed(name, [(f"v{i % 20:02}", i * i) for i in range(700)], **parameters)


def test_a_value_next_to_the_mean_is_left_to_no_rounding():
    third = [Fraction(1, 3), Fraction("0.333333333333"), Fraction(1)]
    table = Table({"x": Attribute("x", True, tuple(third))}, [[1, 0]] * 3,
                  [[Fraction(weight), Fraction(0)] for weight in (1, 10**12, 0)], [])  # fmt: skip
    with pytest.raises(NotListedError, match="rounding decides on which side of its mean a 'x' is"):
        subgroups_of({"name": "Marginals", "parameters": {}}, table, [0, 1])
