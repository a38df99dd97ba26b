"""`gerrymend fit` and `frontier` with --control."""

import json

import numpy as np
import pandas as pd
import pytest

from gerrymend import SubgroupParityClassifier, audit, load_model
from gerrymend.reporting.audit.next_steps import next_commands, next_sentences
from tests.cli.calling import call
from tests.training.test_strata import JOB, A, X, Y

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
USUAL = [
    "--label", "hired", "--protected", "sex,age", "--notion", "statistical_parity", "--subgroups",
    "conjunctions", "--max-iter", "60", "--favourable", "positive",
]  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "people.csv"
    rows = {"skill": X[:, 0], **A, **JOB, "hired": Y, "label": np.where(Y == 1, "yes", "no")}
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_a_model_is_fair_within_strata(file, tmp_path):
    out = tmp_path / "model.skops"
    page = tmp_path / "fit.html"
    how = [file, *USUAL, "--drop", "label", "--gamma", 0.02, "--control", "job", "--out", out]
    code, text, err = call("fit", *how, "--report", page)
    assert code == 0, err
    words = " ".join(text.split())
    assert "for statistical_parity, within strata of job" in words
    assert "in the same strata" in words
    assert "0.02 (gamma), within strata of job" in page.read_text(encoding="utf-8")
    table = pd.read_csv(file)
    p = load_model(out).predict_proba(table)[:, 1]
    report = audit(
        Y, p, sensitive_features=A, control_features=JOB, decision_probabilities=True,
        notion="statistical_parity", subgroups="conjunctions", gamma=0.02,
    )  # fmt: skip
    assert report.verdict == "within gamma"
    assert f"{report.unfairness:.3f}"[:4] in words


def test_a_frontier_is_within_strata_and_so_is_the_command_of_a_point(file, tmp_path):
    how = [file, *USUAL, "--drop", "label", "--control", "job", "--gammas", "0.01,0.05"]
    code, out, err = call("frontier", *how, "--test-size", 0.3, "--json", "-")
    assert code == 0, err
    data = json.loads(out)
    assert data["control_features"] == ["job"]
    assert all(point["test"]["within_strata"] for point in data["points"])
    assert " --control job " in data["points"][0]["command"]


def test_bad_calls_are_told_in_options(file, tmp_path):
    out = ["--out", tmp_path / "m.skops"]
    for command, more in (("fit", out), ("frontier", [])):
        code, _, err = call(command, file, *USUAL, "--control", "jobs", *more)
        assert code == 2
        assert "--control='jobs' is no column" in err
        rates = ["--notion", "false_positive_rate"]
        code, _, err = call(command, file, *USUAL, *rates, "--control", "label", *more)
        words = " ".join(err.split())
        assert code == 2
        assert "--control has a stratum without a row that the false positive rate is over" in words
        assert "label = yes" in words
        assert "pass --leave-out-empty-strata to leave it out" in words
    code, _, err = call(
        "fit", file, *USUAL, *rates, "--drop", "label", "--control", "label",
        "--leave-out-empty-strata", *out,
    )  # fmt: skip
    assert code in (0, 1), err


@pytest.mark.parametrize("option", ["--protected", "--control"])
@pytest.mark.parametrize("command", ["audit", "fit", "frontier"])
def test_a_column_is_named_once(file, tmp_path, command, option):
    more = {"audit": ["--prediction", "hired"], "fit": ["--out", tmp_path / "m.skops"]}
    for names in (["sex,sex"], ["sex", option, "sex"]):
        how = ["--label", "hired", "--protected", "age", *more.get(command, [])]
        how = [part for part in how if option != "--protected" or part not in (option, "age")]
        code, _, err = call(command, file, *how, option, *names)
        assert code == 2
        assert f"{option} names the column 'sex' more than once; name it once." in err


def test_a_gate_stays_shut_where_what_is_protected_is_controlled_for(file, tmp_path):
    """Of women and men that are only compared among themselves nothing differs."""
    how = [file, "--label", "hired", "--protected", "sex", "--drop", "label", "--control", "sex",
           "--notion", "statistical_parity", "--subgroups", "marginals"]  # fmt: skip
    code, out, err = call("fit", *how, "--gamma", 0.1, "--out", tmp_path / "m.skops")
    assert code == 3, err
    assert "each stratum of sex has one value of the protected attribute sex" in " ".join(
        out.lower().split()
    )


def test_an_audit_within_strata_says_how_to_train():
    decided = (X[:, 0] > 0).astype(int)
    report = audit(
        Y, decided, sensitive_features=A, control_features=JOB, notion="statistical_parity",
        gamma=0.0001,
    ).to_dict()  # fmt: skip
    assert all(" --control job " in command for command in next_commands(report))
    assert len(next_commands(report)) == 2
    assert "trains such models" in next_sentences(report)[-1]


def test_the_option_is_a_parameter():
    assert SubgroupParityClassifier().get_params()["leave_out_empty_strata"] is False


def test_what_can_not_be_is_said_by_its_options(file):
    """Strata and a reference are two answers to one question."""
    both = ["--prediction", "hired", "--protected", "sex,age", "--notion", "statistical_parity"]
    code, _, err = call("audit", file, *both, "--control", "job", "--reference", 0.3)
    assert code == 2
    assert "and --control compares each row with its stratum; leave one of them out" in err
