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
    assert "where the rate is written as an OutcomeNotion" in error


def test_scores_are_no_decisions_and_the_options_say_what_is_meant(table):
    error = refused(table, "--notion", "statistical_parity", "--prediction", "days")
    assert error.startswith("--prediction days has 192 different numbers, which are no labels.")
    for option in ("--score with --threshold 0.5", "--probability", "--notion='mean_outcome'"):
        assert option in error
    labels = refused(table, "--label", "days", "--prediction", "decision")
    assert "--notion='mean_error'" in labels


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("audit", ["t.csv"]),
        ("calibrate", ["t.csv"]),
        ("compare", ["a.csv", "t.csv"]),
        ("fit", ["t.csv", "--label", "y", "--out", "m"]),
        ("frontier", ["t.csv", "--label", "y"]),
        ("impact", ["t.csv"]),
        ("watch", ["s", "t.csv"]),
    ],
)
def test_columns_that_blanks_separate_get_a_hint_at_commas(command, needed):
    code, out, err = call(command, *needed, "--protected", "sex", "region", "a\x1bge")
    told = " ".join(err.replace("│", " ").split())
    assert (code, out) == (2, "")
    assert "\x1b" not in err
    assert "extra arguments: region a" in told
    assert "Separate columns by commas, as in --protected sex,age, or repeat the option" in told


PYTHON = ("n_permutations", "sample_weight", "y_true", "y_pred", "pos_label", "None", "discovery_",
          "decision_probabilities", "sensitive_features", "control_features")  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((*MEAN, "--discovery-rate", 0.1), "--permutations tests the worst of all groups, --conf"),
        (("--label", "label", "--prediction", "decision", "--counts", "weight"), "with --weight."),
        ((*MEAN, "--confidence", 95), "leave it out for no bound"),
        ((*MEAN, "--gamma", -3), "0.01 for most rates; of numbers it is in their unit"),
        (("--prediction", "decision"), "--label is not given, and the false positive rate"),
        (("--notion", "mean_outcome,error_rate", "--label", "label", "--prediction", "decision"),
         "--label label and --prediction decision"),
        (("--notion", "statistical_parity", "--prediction", "days"), "--score"),
    ],
)  # fmt: skip
def test_errors_name_options_and_no_arguments_of_python(table, arguments, named):
    error = refused(table, *arguments)
    assert named in error
    for argument in PYTHON:
        assert argument not in error
