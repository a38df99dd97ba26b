"""No option is dropped in silence, and errors speak of options, never of arguments in Python."""

import numpy as np
import polars as pl
import pytest

from tests.cli.calling import call, options_of


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 200
    file = tmp_path_factory.mktemp("waiting") / "waiting.csv"
    columns = {
        "sex": rng.choice(["F", "M"], n),
        "town": rng.choice(["Au", "Ulm"], n),
        "days": np.round(rng.gamma(2, 5, n), 2),
        "label": rng.integers(0, 2, n),
        "decision": rng.integers(0, 2, n),
        "weight": np.round(rng.random(n) + 0.5, 2),
    }
    pl.DataFrame(columns).write_csv(file)
    return file


def refused(table, *arguments):
    """Return the error of an audit that can't be, in one line."""
    code, out, error = call("audit", table, "--protected", "sex,town", *arguments)
    assert (code, out) == (2, "")
    return " ".join(error.split())


MEAN = ("--notion", "mean_outcome", "--prediction", "days")


def test_two_values_of_an_attribute_are_no_group_to_compare_with(table):
    error = refused(table, *MEAN, "--reference", "sex=M", "--reference", "sex=F")
    assert error.startswith("--reference names sex twice, and a group has one value of each")
    code, _, _ = call("audit", table, "--protected", "sex,town", *MEAN, "--permutations", 0,
                      "--reference", "sex=M", "--reference", "town=Au")  # fmt: skip
    assert code == 1


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("30", "40"), "--reference is 30 and 40, and groups are compared with one"),
        (("30", "sex=M"), "--reference is the number 30 and the group sex=M"),
        (("sex=M", "30"), "--reference is the number 30 and the group sex=M"),
    ],
)
def test_one_number_or_one_group_is_compared_with(table, texts, told):
    options = [part for text in texts for part in ("--reference", text)]
    assert told in refused(table, *MEAN, *options)


def test_a_threshold_is_for_decisions(table):
    error = refused(table, "--notion", "mean_outcome", "--score", "days", "--threshold", 3)
    assert error.startswith("--threshold 3 cuts scores into decisions, and mean_outcome is a mean")
    # Without one a score is a number like any other.
    code, _, _ = call("audit", table, "--protected", "sex", "--notion", "mean_outcome",
                      "--score", "days", "--permutations", 0)  # fmt: skip
    assert code == 1


def test_options_that_are_named_here_exist():
    assert {"--reference", "--threshold", "--score"} <= options_of("audit")


def test_means_in_different_units_are_two_audits(table):
    error = refused(table, "--notion", "absolute_error,squared_error", "--unit", "days",
                    "--label", "label", "--prediction", "days")  # fmt: skip
    told = "--notion has the 'absolute error' in days and the 'squared error' in days squared"
    assert error.startswith(told)
    assert "with one --gamma. Audit them one after the other" in error


def test_a_mean_and_a_rate_are_two_audits(table):
    error = refused(table, "--notion", "mean_outcome,error_rate", "--label", "label",
                    "--prediction", "decision")  # fmt: skip
    assert "--label label and --prediction decision can't be both" in error
