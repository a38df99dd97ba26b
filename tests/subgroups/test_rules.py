from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gerrymend._numeric.short_numbers import shortest_between
from gerrymend.checker.exact import Attribute, Table
from gerrymend.checker.probes import wrong_words
from gerrymend.inputs.protected import Column, read_columns
from gerrymend.subgroups import linear_rule
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.rules import Condition, Conjunction, number


def by_name(data):
    return {column.name: column for column in read_columns(data)}


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_few_digits_keep_the_members_and_clear_every_row(seed, n_terms):
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(n_terms)]
    columns = by_name({name: rng.standard_normal(50).round(2) for name in names})
    coefficients = tuple(rng.standard_normal(n_terms))
    rule = LinearRule(tuple(Term(name, False) for name in names), coefficients,
                      float(rng.standard_normal()), dict.fromkeys(names))  # fmt: skip
    members = rule.members(columns)
    short = rule.in_few_digits(columns, members)
    np.testing.assert_array_equal(short.members(columns), members)
    assert not (short.scores(columns) == short.threshold).any()
    digits = sum(len(repr(c)) for c in short.coefficients)
    assert digits <= sum(len(repr(c)) for c in rule.coefficients)


def test_a_row_is_in_or_out_in_any_batch():
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(7)]
    data = {name: rng.standard_normal(1000) for name in names}
    rule = LinearRule(tuple(Term(name, False) for name in names),
                      tuple(rng.standard_normal(7)), 0.1, dict.fromkeys(names))  # fmt: skip
    whole = rule.scores(by_name(data))
    for row in range(0, 1000, 97):
        alone = rule.scores(by_name({name: values[[row]] for name, values in data.items()}))
        assert alone[0] == whole[row]


LEVELS = {"race": ("blue", "green", None), "sex": ("F", "M"), "age": None}


@pytest.mark.parametrize(
    ("terms", "coefficients", "threshold", "words"),
    [
        ([Term("age", False)], [1.0], 38.5, "age ≥ 38.5"),
        ([Term("age", False)], [-1.0], -38.5, "age ≤ 38.5"),
        ([Term("sex", True, "F")], [2.0], 1.0, "sex = F"),
        ([Term("sex", True, "F")], [-2.0], -1.0, "sex = M"),
        ([Term("race", True, None)], [1.0], 0.5, "race = (missing)"),
        ([Term("race", True, "blue")], [-1.0], -0.5, "race in {green, (missing)}"),
        (
            [Term("race", True, "blue"), Term("sex", True, "M")],
            [1.0, 1.0],
            1.5,
            "race = blue and sex = M",
        ),
        (
            [Term("race", True, "blue"), Term("sex", True, "M")],
            [-1.0, -1.0],
            -1.5,
            "not (race = blue and sex = M)",
        ),
        (
            [Term("age", False), Term("sex", True, "F")],
            [0.8, -2.1],
            3.2,
            "0.8·age − 2.1·[sex=F] ≥ 3.2",
        ),
        ([Term("age", False), Term("sex", True, "F")], [-1.0, 1.0], -2.0, "−age + [sex=F] ≥ −2"),
    ],
)
def test_rules_in_words(terms, coefficients, threshold, words):
    rule = LinearRule(tuple(terms), tuple(coefficients), threshold, LEVELS)
    assert rule.describe() == words


def test_words_of_values_are_the_rule_itself():
    rng = np.random.default_rng(4)
    data = {"race": rng.choice(np.array(["blue", "green", None]), 60), "sex": ["F", "M"] * 30}
    rule = LinearRule(
        (Term("race", True, "blue"), Term("sex", True, "M")), (1.0, 1.0), 1.5,
        {"race": ("blue", "green", None), "sex": ("F", "M")},
    )  # fmt: skip
    expected = (data["race"] == "blue") & (np.array(data["sex"]) == "M")
    np.testing.assert_array_equal(rule.contains(data), expected)


def test_a_new_category_is_none_of_those_named():
    rule = Conjunction((Condition("race", ("blue",)),), {"race": "str"})
    assert rule.contains({"race": ["violet", "blue"]}).tolist() == [False, True]


def test_intervals_are_half_open():
    condition = Condition("age", low=18, high=25)
    (age,) = read_columns({"age": [17.9, 18, 24.9, 25]})
    assert condition.holds(age).tolist() == [False, True, True, False]
    assert condition.describe() == "18 ≤ age < 25"


def test_numbers_as_people_write_them():
    assert (number(3.0), number(-0.5), number(1e-7)) == ("3", "−0.5", "1e−07")
    assert shortest_between(0.123456, 0.123457) == 0.1234565
    assert shortest_between(1.0, float("inf")) == 2.0


@pytest.mark.parametrize("threshold", [1e-12, 0.0])
def test_a_rule_without_terms_is_everyone_or_no_one(threshold):
    for levels in ({"x": None}, {"x": ("a",)}, {"x": None, "y": None}):
        terms = tuple(Term(name, kind is not None, "a") for name, kind in levels.items())
        rule = LinearRule(terms, (0.0,) * len(terms), threshold, levels)
        assert rule.describe() == ("no one" if threshold > 0 else "everyone")
    assert LinearRule((), (), threshold, {"x": None}).describe() in ("no one", "everyone")


def test_a_threshold_in_few_digits_equals_no_score_as_a_decimal():
    """Rounded coefficients make decimals tie that float64 tells apart: no place for a threshold."""

    def decimal(value):
        return Fraction(repr(float(value)))

    rng = np.random.default_rng(0)
    for _ in range(300):
        values = (rng.integers(15, 23, 30), rng.integers(0, 2, 30), rng.integers(1, 6, 30))
        columns = {
            name: Column(name, v.astype(float)) for name, v in zip("abc", values, strict=True)
        }
        rule = LinearRule(
            tuple(Term(name, categorical=False) for name in "abc"),
            tuple(rng.uniform(-1, 1, 3).tolist()),
            threshold=0.0,
            levels=dict.fromkeys("abc"),
        )
        members = rule.scores(columns) >= np.median(rule.scores(columns))
        short = rule.in_few_digits(columns, members)
        np.testing.assert_array_equal(short.members(columns), members)
        scores = [
            sum(
                decimal(coefficient) * decimal(columns[term.attribute].values[row])
                for term, coefficient in zip(short.terms, short.coefficients, strict=True)
            )
            for row in range(30)
        ]
        threshold = decimal(short.threshold)
        assert threshold not in scores
        assert [score >= threshold for score in scores] == members.tolist()


def test_no_term_is_dropped_by_the_rounding_of_what_is_left():
    """Without its term the row that is out scores as two that are in do, but for 5·10⁻¹⁷."""
    town = Column("town", np.array([0.0, 0, 1, 1, 1, 2, 2, 2]), ("Au", "Rom", "Ulm"))
    columns = {"town": town, "age": Column("age", np.array([1.0, 3, 1, 2, 3, 1, 2, 3]))}
    rule = LinearRule(
        (Term("town", True, "Au"), Term("town", True, "Ulm"), Term("age", False)),
        (-0.4382218781965192, -1.0, 0.004506846940544198),
        -0.9932400659421228,
        {"town": ("Au", "Rom", "Ulm"), "age": None},
    )
    members = rule.members(columns)
    assert members.tolist() == [True] * 5 + [False, True, True]
    short = rule.in_few_digits(columns, members)
    assert short.members(columns).tolist() == members.tolist()


def test_the_room_for_rounding_is_worked_out_once_for_all_terms(monkeypatch):
    """Once a term was a sum over all terms each: ten seconds for 5,000 categories."""
    names = tuple(f"v{i}" for i in range(40))
    columns = {"c": Column("c", np.arange(40.0), names)}
    terms = tuple(Term("c", True, name) for name in names[1:])
    coefficients = tuple(1.0 if i % 3 else 1e-3 for i in range(39))
    rule = LinearRule(terms, coefficients, 0.5, {"c": names})
    members = rule.members(columns)
    worked_out = []
    rounding = linear_rule._rounding
    monkeypatch.setattr(
        linear_rule, "_rounding", lambda *how: worked_out.append(how) or rounding(*how)
    )
    short = rule.in_few_digits(columns, members)
    assert np.array_equal(short.members(columns), members)
    assert len(short.terms) == members.sum()
    assert len(worked_out) < 5


@pytest.mark.parametrize(("low", "high", "words"), [
    (25.5, None, "age ≥ 26"), (None, 25.5, "age ≤ 25"), (19.5, 25.5, "20 ≤ age ≤ 25"),
    (-2.5, 2.5, "−2 ≤ age ≤ 2"), (30.0, None, "age ≥ 30"), (None, 30.0, "age < 30")])  # fmt: skip
def test_words_of_whole_numbers_are_whole(low, high, words):
    """By hand. The cut itself stays, and equals no row's value; the checker reads both alike."""
    ages = np.array([-9.0, -3, -2, 2, 3, 19, 20, 25, 26, 40, 41, 60])
    ends = {"low": low, "high": high}
    given_ends = {name: end for name, end in ends.items() if end is not None}
    condition = Condition("age", **given_ends)
    said = condition.in_few_digits(Column("age", ages))
    assert said.describe() == words
    assert said.to_dict() == {"attribute": "age", **ends}
    known = Attribute("age", True, tuple(map(Fraction, ages.tolist())))
    table = Table({"age": known}, [[1, 0]] * len(ages), [], [])
    rule = {"kind": "conjunction", "conditions": [said.to_dict()]}
    assert wrong_words(words, rule, table) == ""
    number_after = words.replace("26", "27").replace("25", "24").replace("30", "31")
    assert number_after == words or wrong_words(number_after, rule, table)
    # With a fraction among them nothing is rounded.
    halves = Condition("age", **given_ends).in_few_digits(Column("age", np.append(ages, 3.25)))
    assert halves.describe() == condition.describe()
