"""`gerrymend fit` and `frontier` for means of decisions, which are linear in them."""

import json

import numpy as np
import pandas as pd
import pytest

from gerrymend import load_model
from tests.cli.calling import call
from tests.training.test_strata import JOB, A, X, Y

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
USUAL = ["--label", "hired", "--protected", "sex", "--subgroups", "marginals",
         "--max-iter", "60", "--drop", "label"]  # fmt: skip
SAME = {"mean_outcome": "statistical_parity", "absolute_error": "error_rate"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "people.csv"
    rows = {"skill": X[:, 0], **A, **JOB, "hired": Y, "label": np.where(Y == 1, "yes", "no")}
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def unfairness_by_hand(outcome, groups, strata):
    """Return the largest |Σ over the group (u − mean of the row's stratum)| / n."""
    expected = np.empty(len(outcome))
    for stratum in np.unique(strata):
        inside = strata == stratum
        expected[inside] = outcome[inside].mean()
    found = [
        abs((outcome - expected)[group == value].sum())
        for group in groups
        for value in np.unique(group)
    ]
    return max(found) / len(outcome)


def by_hand(path, file, notion, controlled):
    """Return the largest unfairness of a saved model over values of sex."""
    table = pd.read_csv(file)
    p = load_model(path).predict_proba(table)[:, 1]
    y = table["hired"].to_numpy()
    outcome = {"mean_outcome": p, "mean_error": y - p, "absolute_error": abs(y - p)}[notion]
    strata = table["job"].to_numpy() if controlled else np.zeros(len(table))
    return unfairness_by_hand(outcome, [table["sex"].to_numpy()], strata)


@pytest.mark.parametrize("control", [[], ["--control", "job"]], ids=["overall", "in strata"])
@pytest.mark.parametrize("notion", ["mean_outcome", "mean_error", "absolute_error"])
def test_a_model_is_trained_for_a_mean_of_decisions(file, tmp_path, notion, control):
    out = tmp_path / "model.skops"
    how = [file, *USUAL, *control, "--gamma", 0.02, "--out", out]
    code, text, err = call("fit", *how, "--notion", notion)
    found = by_hand(out, file, notion, bool(control))
    assert code == (0 if found <= 0.02 + 1e-9 else 1), err
    words = " ".join(text.split())
    assert f"for {notion}" in words
    assert f"unfairness {found:.4f} at worst; exact" in words or found > 0.02
    if notion in SAME:
        twin = tmp_path / "twin.skops"
        call("fit", *how[:-1], twin, "--notion", SAME[notion])
        table = pd.read_csv(file)
        p, same = (load_model(path).predict_proba(table) for path in (out, twin))
        np.testing.assert_allclose(p, same, atol=1e-9)


def test_means_are_trained_for_together_and_have_a_page(file, tmp_path):
    out = tmp_path / "model.skops"
    page = tmp_path / "page.html"
    how = ["--notion", "mean_error,absolute_error", "--gamma", 0.1, "--test-size", 0.3]
    code, text, err = call("fit", file, *USUAL, *how, "--out", out, "--report", page)
    assert code in (0, 1), err
    assert "for mean_error, absolute_error" in " ".join(text.split())
    assert "mean error" in page.read_text(encoding="utf-8")


def test_a_frontier_of_means_needs_no_gammas(file):
    how = [file, *USUAL, "--notion", "mean_outcome,mean_error", "--control", "job"]
    code, out, err = call("frontier", *how, "--test-size", 0.3, "--json", "-")
    assert code == 0, err
    points = json.loads(out)["points"]
    assert len(points) == 14
    assert {point["notion"] for point in points} == {"mean_outcome", "mean_error"}
    assert " --notion mean_error " in points[-1]["command"]
    assert all(point["train"]["within_strata"] for point in points)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--notion", "squared_error"], "Of decisions, 0 or 1, it is absolute_error: pass that."),
        (["--notion", "mean_outcome,error_rate"], "mean_outcome is statistical_parity: pass that."),
        (["--notion", "error_rate,mean_error,mean_outcome"], "Train for them one after the other."),
        (["--notion", "mean_errors"], "--notion"),
        (["--notion", "mean_error", "--positive", "0"], "--positive"),
        (["--notion", "mean_error", "--label", "label", "--drop", "hired"], "--label label has"),
    ],
)
def test_what_can_not_be_is_told_in_options(file, tmp_path, options, told):
    for command, more in (("fit", ["--out", tmp_path / "m.skops"]), ("frontier", [])):
        code, _, err = call(command, file, *USUAL, *options, *more)
        words = " ".join(err.split())
        assert (code, words.count("Traceback")) == (2, 0)
        assert told in words
        assert "Python" not in words
