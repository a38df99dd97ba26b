"""What the checker reads in a description, by hand, and what it doesn't."""

from fractions import Fraction

import pytest

from gerrymend.checker.exact import Attribute, Table
from gerrymend.checker.words import members_by_words

ATTRIBUTES = {
    "sex and age": Attribute("sex and age", False, ("F", "M", None, "M and F")),
    "home, town": Attribute("home, town", False, ("a", "a, b", "c) or", "a")),
    "x": Attribute("x", True, tuple(map(Fraction, ("-1", "0.25", "3", "1e20")))),
    "x = 3": Attribute("x = 3", False, (True, False, True, False)),
}
TABLE = Table(ATTRIBUTES, [[1, 0]] * 4, [], [])

READ = {
    "everyone": "1111",
    "no one": "0000",
    "sex and age = M": "0100",
    "sex and age = M and F": "0001",
    "sex and age ≠ M": "1011",
    "sex and age = (missing)": "0010",
    "sex and age in {M, (missing)}": "0110",
    "sex and age not in {M, (missing)}": "1001",
    "home, town in {a, a, b}": "1101",
    "home, town = c) or and x ≥ 2.5": "0010",
    "home, town = c) or or x < 0.25": "1010",
    "x ≥ 0.25": "0111",
    "x ≤ 0.25": "1100",
    "x < 0.25": "1000",
    "−1.5 ≤ x < 1e+20": "1110",
    "x = 3": "0010",
    "x in {3, −1}": "1010",
    "x = 3 = True": "1010",
    "not (sex and age = F and x < 0)": "0111",
    "the old (x ≥ 3)": "0011",
    "x < 0 or (x ≥ 1 and x < 5)": "1010",
    "x < 5 and (sex and age = F or x ≥ 1)": "1010",
    "if x < 1: sex and age = F; otherwise: x = 3 = True or x < 5": "1010",
    "if x < 1: (if x < 0: x = 3 = False; otherwise: x = 3 = False); otherwise: x < 5": "0110",
    "x − 4·[sex and age=(missing)] ≥ 0": "0101",
    "−x + 0.5·[sex and age=F] ≥ −0.25": "1100",
    "[home, town=a, b] + 2·[sex and age=M and F] ≥ 1": "0101",
    "no such words": None,
    "x < 1 and x < 0 or x ≥ 3": None,
    "y ≥ 3": None,
    "x − 2·[sex and age=Q] ≥ 0": None,
    "(x < 1": None,
    "if x < 1: x < 0": None,
}


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_descriptions(text, expected):
    found = members_by_words(text, TABLE)
    assert found == (expected and [bit == "1" for bit in expected])
