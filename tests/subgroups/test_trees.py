"""Trees against enumeration, and in words."""

from fractions import Fraction

import numpy as np
import pytest

from gerrymend import Conjunctions, Trees, audit
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import trees
from gerrymend.subgroups.rules import Condition
from gerrymend.subgroups.tree_rule import Split, TreeRule
from tests.subgroups import brute_force as brute


def splits(columns):
    """Masks of every question."""
    for column in columns:
        distinct = np.unique(column.values)
        for one in distinct:
            yield column.values == one if column.is_categorical else column.values < one


def leaf_unions(columns, depth):
    """Masks of every group of a tree of this depth, as a set of tuples."""
    n = len(columns[0].values)
    groups = {(False,) * n, (True,) * n}
    questions = list(splits(columns))
    for _ in range(depth):
        groups = groups | {
            tuple(np.where(question, yes, no).tolist())
            for question in questions
            for yes in groups
            for no in groups
        }
    return [np.array(group) for group in groups]


@pytest.mark.parametrize(("depth", "most_values"), [(1, 5), (2, 3)])
def test_the_worst_is_the_worst_of_all(depth, most_values):
    rng = np.random.default_rng(depth)
    for _ in range(150):
        columns, residual, rows = brute.instance(
            rng, most_attributes=3 if depth == 1 else 2, most_values=most_values
        )
        bound = brute.bind(Trees(depth), columns)
        groups = leaf_unions(columns, depth)
        expected = brute.worst(residual, groups)
        stacked = np.stack([residual, -residual])
        by_name = {column.name: column for column in columns}
        for one, at, members, key in zip(stacked, *bound.worst(stacked), strict=True):
            assert Fraction(float(at)) == expected == brute.value(one, members > 0)
            np.testing.assert_array_equal(bound.source.rule(key).members(by_name), members > 0)
        bracket = bound.prove(residual)
        assert bound.exact
        assert bracket.upper_bound == float(expected)
        for smallest in (1, 3, 8):
            fits = bound.worst_of_size(residual, rows, smallest)
            wanted = brute.worst_of_size(residual, rows, smallest, groups)
            if fits is not None:
                inside = rows[fits.members[0] > 0].sum()
                assert smallest <= inside <= rows.sum() - smallest
                assert Fraction(float(fits.values[0])) <= wanted


def test_second_questions_about_four_attributes():
    rng = np.random.default_rng(3)
    for _ in range(60):
        columns, residual, _ = brute.instance(rng, most_values=4)
        found = brute.bind(Trees(2), columns).worst(residual[None])
        questions = list(splits(columns))
        expected = Fraction(0)
        for first in questions:
            worth = Fraction(0)
            for side in (first, ~first):
                worth += max(
                    max(brute.value(residual, side & second), 0)
                    + max(brute.value(residual, side & ~second), 0)
                    for second in questions
                )
            expected = max(expected, worth)
        assert Fraction(float(found.values[0])) == expected


def test_deeper_trees_are_a_lower_bound_and_never_worse_than_two_levels():
    rng = np.random.default_rng(4)
    for _ in range(60):
        columns, residual, _ = brute.instance(rng)
        values = []
        for depth in (1, 2, 3, 5):
            bound = brute.bind(Trees(depth), columns)
            bracket = bound.prove(residual)
            values.append(float(bracket.found.values[0]))
            assert values[-1] <= bracket.upper_bound
            assert bound.exact == (depth <= 2)
        assert values == sorted(values)
        assert bracket.upper_bound == np.maximum(residual, 0).sum()


def test_no_conjunction_of_two_half_lines_is_worse():
    rng = np.random.default_rng(5)
    for _ in range(60):
        columns, residual, _ = brute.instance(rng)
        pair = brute.bind(Conjunctions(2, numeric="half_lines"), columns).worst(residual[None])
        tree = brute.bind(Trees(2), columns).worst(residual[None])
        assert tree.values[0] >= abs(pair.values[0])


def test_a_search_cut_short_has_an_honest_bracket(monkeypatch):
    rng = np.random.default_rng(6)
    monkeypatch.setattr(trees, "_STRETCH", 1)
    for _ in range(60):
        columns, residual, _ = brute.instance(rng)
        bound = brute.bind(Trees(2), columns)
        exact = bound.worst(residual[None]).values[0]
        short = bound.prove(residual, seconds=0)
        assert short.found.values[0] <= exact <= short.upper_bound


YOUNG, WOMAN, BLUE = (
    Condition("age", high=40),
    Condition("sex", ("F",)),
    Condition("race", ("blue",)),
)
IS = (True, False)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (True, "everyone"),
        (False, "no one"),
        (Split(YOUNG, True, False), "age < 40"),
        (Split(YOUNG, False, True), "age ≥ 40"),
        (Split(WOMAN, False, True), "sex ≠ F"),
        (Split(YOUNG, Split(WOMAN, *IS), False), "age < 40 and sex = F"),
        (Split(YOUNG, False, Split(WOMAN, *IS)), "age ≥ 40 and sex = F"),
        (Split(YOUNG, True, Split(WOMAN, *IS)), "age < 40 or sex = F"),
        (Split(YOUNG, Split(WOMAN, *IS), True), "age ≥ 40 or sex = F"),
        (Split(YOUNG, Split(WOMAN, *IS), Split(BLUE, *IS)),
         "if age < 40: sex = F; otherwise: race = blue"),
        (Split(YOUNG, Split(Condition("age", high=20), False, True), False), "20 ≤ age < 40"),
        (Split(YOUNG, Split(Condition("age", high=20), *IS), True), "age ≥ 40 or age < 20"),
        (Split(YOUNG, Split(WOMAN, True, Split(BLUE, *IS)), False),
         "age < 40 and (sex = F or race = blue)"),
        (Split(BLUE, Split(YOUNG, Split(WOMAN, *IS), Split(WOMAN, False, True)), False),
         "race = blue and (if age < 40: sex = F; otherwise: sex ≠ F)"),
        (Split(Condition("race", (None,)), False, True), "race ≠ (missing)"),
    ],
)  # fmt: skip
def test_the_words_of_a_tree(tree, words):
    assert TreeRule(tree, {"age": "number", "sex": "str", "race": "str"}).describe() == words


def test_a_tree_as_data():
    tree = Split(YOUNG, Split(WOMAN, True, False), False)
    assert TreeRule(tree, {}).to_dict() == {
        "kind": "tree",
        "tree": {
            "condition": {"attribute": "age", "low": None, "high": 40},
            "yes": {"condition": {"attribute": "sex", "values": ["F"]}, "yes": True, "no": False},
            "no": False,
        },
    }


def test_few_digits_keep_who_is_in_and_drop_idle_questions():
    rng = np.random.default_rng(7)
    for _ in range(100):
        columns, residual, _ = brute.instance(rng)
        bound = brute.bind(Trees(3), columns)
        found = bound.worst(residual[None])
        by_name = {column.name: column for column in columns}
        rule = bound.source.rule(found.keys[0])
        short = rule.in_few_digits(by_name, found.members[0] > 0)
        np.testing.assert_array_equal(short.members(by_name), found.members[0] > 0)
        for condition in conditions(short.tree):
            if condition.values is None:
                assert condition.high not in by_name[condition.attribute].values
            holds = condition.holds(by_name[condition.attribute])
            assert holds.any()
            assert not holds.all()


def conditions(node):
    if isinstance(node, bool):
        return []
    return [node.condition, *conditions(node.yes), *conditions(node.no)]


def test_an_audit_over_trees(toy):
    _, y, protected = toy
    decisions = ((protected["age"] < 40) == (protected["sex"] == "F")).astype(int)
    report = audit(y, decisions, sensitive_features=protected, subgroups="trees")
    assert report.exact
    assert report.worst.describe() == "if sex = F: age ≤ 39; otherwise: age ≥ 40"
    np.testing.assert_array_equal(report.worst.contains(protected), decisions == 1)
    with pytest.raises(ValueError, match="max_depth must be a number of at least 1"):
        audit(y, decisions, sensitive_features=protected, subgroups=Trees(0))
    with pytest.raises(ValueError, match=r"max_depth must be at most 100; got 1200\."):
        audit(y, decisions, sensitive_features=protected, subgroups=Trees(1200))


def test_binned_trees_say_so():
    bound = brute.bind(Trees(2, bins=2), (Column("age", np.arange(10.0)),))
    assert bound.covers.endswith("on age; numbers cut into at most 2 bins (age at 4.5)")
