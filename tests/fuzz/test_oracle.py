"""The oracle itself: what it lets pass, and what it finds."""

import warnings

import numpy as np
import pytest

from gerrymend import audit
from tests.fuzz.batch import MAKERS, findings_of, make_case
from tests.fuzz.command_cases import _refusal
from tests.fuzz.disguises import ALL
from tests.fuzz.oracle import PACKAGE, Case, judge

ROWS = {"y_true": [0, 1] * 6, "y_pred": [1, 0, 1, 1] * 3, "sensitive_features": {"a": [1, 2] * 6}}


def refused(**how):
    return Case("audit", "", lambda: audit(**ROWS | how), ("gamma", "y_true"))


def test_an_error_of_the_package_that_names_its_argument_is_fine():
    assert judge(refused(gamma=-1)) == []


def test_an_error_that_names_no_argument_is_found():
    case = refused(gamma=-1)
    case.names = ("budget",)
    assert "names no argument" in judge(case)[0]


def line_of_the_package(text):
    """A function of one line that is, by its file's name, one of the package's."""
    made = {}
    exec(compile(f"def made(gamma):\n    {text}", f"{PACKAGE}made.py", "exec"), made)
    return lambda: made["made"](3)


def test_an_error_from_below_is_found_even_if_a_line_of_the_package_ran_into_it():
    raised = line_of_the_package("raise TypeError('gamma must be a list')")
    assert judge(Case("", "", raised, ("gamma",))) == []
    ran_into = line_of_the_package("return len(gamma)  # object of type 'int' has no len()")
    assert "bare error from below" in judge(Case("", "", ran_into, ("int",)))[0]


@pytest.mark.parametrize("error", [IndexError("gamma"), OverflowError("gamma"), KeyError("gamma")])
def test_errors_of_other_types_are_found_whatever_they_say(error):
    def fail():
        raise error

    assert "no ValueError or TypeError" in judge(Case("", "", fail, ("gamma",)))[0]


def test_an_error_that_hands_on_the_words_of_one_from_below_is_found():
    def fail():
        try:
            int("no number")
        except ValueError as error:
            raise ValueError(f"gamma: {error}") from None

    found = judge(Case("", "", fail, ("gamma",)))
    assert any("hands on: bare error from below" in words for words in found)


def test_a_warning_from_below_is_found():
    case = Case("", "", lambda: np.float64(1) / np.float64(0), ())
    assert "RuntimeWarning: divide by zero" in judge(case)[0]
    case.call = lambda: warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert "DeprecationWarning: old" in judge(case)[0]


def test_a_warning_of_the_package_is_fine():
    many = {"sensitive_features": {"id": list(range(24))}}
    rows = {"y_true": [0, 1] * 12, "y_pred": [1, 0, 1, 1] * 6} | many
    with pytest.warns(UserWarning, match="identifier"):
        audit(**rows)
    assert judge(Case("audit", "", lambda: audit(**rows), ())) == []


@pytest.mark.parametrize(
    ("value", "plain", "found"),
    [
        (0.25, 0.25, ""),
        (0.25, 0.25 + 1e-12, ""),
        (0.25, 0.2501, "silent cast"),
        (float("nan"), 0.25, "no numbers"),
    ],
)
def test_results_are_compared_with_those_of_the_plain_values(value, plain, found):
    case = Case("", "", lambda: value, (), plain=lambda: plain, figures=lambda one: [one])
    words = judge(case)
    assert bool(words) == bool(found)
    assert found in "".join(words)


def test_what_must_be_refused_and_is_not_is_found_and_the_other_way_round():
    assert "guessed at" in judge(Case("", "", lambda: 1, (), expect="error"))[0]
    case = refused(gamma=-1)
    case.expect = "result"
    assert "refused what is valid" in judge(case)[0]


def test_what_a_column_means_depends_on_what_it_is_used_as():
    """Numbers in categories are words as an attribute, and numbers as counts."""
    by_name = {one.name: one for one in ALL}
    categories = by_name["categorical numbers"]
    assert categories.meaning([3, 4], "number") == [3, 4]
    assert categories.meaning([3, 4], "attribute") != [3, 4]
    infinite = by_name["infinite"]
    assert infinite.expected("number") == "error"
    assert infinite.expected("score") == "loose"


@pytest.mark.parametrize("file", ["rows.csv", "rows.txt", "rows.parquet"])
def test_a_command_may_name_its_file_in_place_of_an_option(file):
    assert _refusal(f"Column 'f' of {file} has whole numbers", []) == []
    assert _refusal("There are whole numbers", []) == ["names no option"]


def test_a_case_is_made_from_its_number_alone():
    for number in range(len(MAKERS)):
        assert make_case(number).told == make_case(number).told


def test_a_case_that_ends_the_process_is_found_by_its_number(monkeypatch):
    monkeypatch.setattr("tests.fuzz.batch.COMMAND", ["-c", _DIES])
    found = findings_of(7, 10)
    assert [one.number for one in found] == [8]
    assert "ended the process with -11" in found[0].words


_DIES = """
import json, os, signal, sys
for number in range(int(sys.argv[1]), int(sys.argv[2])):
    print(json.dumps({"number": number}), flush=True)
    if number == 8:
        os.kill(os.getpid(), signal.SIGSEGV)
"""
