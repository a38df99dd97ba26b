"""`gerrymend fit --test-size`: one verdict, of training and test rows together."""

import json
import re

import numpy as np
import polars as pl
import pytest

from gerrymend import audit
from gerrymend.cli import fit as cli_fit
from gerrymend.cli.fit_text import _sample
from gerrymend.frontier.points import OnRows
from gerrymend.models.saving import load_model
from gerrymend.reporting.audit.verdict import verdict_sentences
from tests.cli.calling import call

QUICK = ["--estimator", "linear-regression", "--subgroups", "marginals", "--max-iter", "40"]
USUAL = ["--label", "y", "--protected", "race", "--test-size", "0.5", *QUICK]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """So few rows that a model which is fair in training is not on others."""
    rng = np.random.default_rng(3)
    n = 160
    race = rng.choice(["blue", "green"], n)
    x = rng.standard_normal(n)
    z = rng.standard_normal(n)
    label = rng.random(n) < 1 / (1 + np.exp(-2 * x - z))
    path = tmp_path_factory.mktemp("one") / "people.csv"
    pl.DataFrame({"race": race, "x": x, "z": z, "y": np.where(label, "yes", "no")}).write_csv(path)
    return path


def fit(file, tmp_path, *options, usual=USUAL):
    page = tmp_path / "page.html"
    code, out, err = call("fit", file, *usual, "--out", tmp_path / "m.skops", "--report", page,
                          *options)  # fmt: skip
    html = page.read_text() if page.exists() else ""
    return code, " ".join(out.split()), err, html


def figures(text):
    """The unfairness of the training and of the test rows, and their verdicts."""
    sample = r"n the (\d+) {} rows the largest unfairness found is ([\d.]+) \((.*?)\)"
    return [re.search(sample.format(name), text).groups() for name in ("training", "test")]


def heading_of(html):
    return re.search(r"<title>(.*?): Audit of a trained model", html)[1]


@pytest.mark.parametrize(
    ("gate", "code"), [([], 1), (["--gate", "both"], 1), (["--gate", "test"], 1),
                       (["--gate", "train"], 0)],
)  # fmt: skip
def test_the_gate_decides_and_the_page_says_the_same(file, tmp_path, gate, code):
    found, out, _, html = fit(file, tmp_path, *gate, "--gamma", "0.02", "--seed", "0")
    (n_train, train, of_train), (n_test, test, of_test) = figures(out)
    assert (n_train, n_test) == ("80", "80")
    assert (of_train, of_test) == ("proven to be within gamma", "above gamma")
    assert float(train) <= 0.02 < float(test)
    assert found == code
    # So few test rows are told apart from chance by neither.
    heading = "Within what is allowed" if code == 0 else (
        "More unfair than allowed, which could be chance")  # fmt: skip
    assert out.startswith(heading)
    assert heading_of(html) == heading
    assert figures(html) == figures(out)
    other = {"Within what is allowed", "More unfair than allowed"} - {heading.partition(",")[0]}
    assert not any(f"<strong>{one}" in html for one in other)


def test_training_rows_that_exceed_are_not_hidden_by_test_rows(file, tmp_path):
    """The worse of the two decides, whichever it is."""
    common = ["--gamma", "0.0", "--max-iter", "1", "--seed", "1"]
    codes = {gate: fit(file, tmp_path, *common, "--gate", gate)[0] for gate in
             ("train", "test", "both")}  # fmt: skip
    assert codes["both"] == 1
    assert codes["train"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gate", "test"], "--gate test is about test rows, and there are none"),
        (["--gate", "both"], "keep some out with --test-size"),
        (["--gate", "tests", "--test-size", "0.5"], "did you mean 'test'"),
    ],
)
def test_a_gate_that_cannot_be_closed(file, tmp_path, options, message):
    usual = ["--label", "y", "--protected", "race", *QUICK]
    code, _, err, html = fit(file, tmp_path, *options, usual=usual)
    assert (code, html) == (2, "")
    assert message in err


def test_one_sample_needs_no_gate(file, tmp_path):
    usual = ["--label", "y", "--protected", "race", *QUICK]
    code, out, _, html = fit(file, tmp_path, "--gamma", "0.02", usual=usual)
    assert code == 0
    assert "test rows" not in out.partition("Training rows")[0]
    assert heading_of(html) == "Within what is allowed"


def test_a_model_that_decides_alike_holds_the_gate(file, tmp_path, monkeypatch):
    """It is fair to every subgroup, and of no use."""
    trained = cli_fit._trained

    def constant(*given):
        classifier = trained(*given)
        p = np.array([0.6, 0.4])
        monkeypatch.setattr(classifier, "predict_proba", lambda X: np.tile(p, (len(X), 1)))
        return classifier

    monkeypatch.setattr(cli_fit, "_trained", constant)
    code, out, _, html = fit(file, tmp_path, "--gamma", "0.02")
    assert code == 3
    assert out.startswith("Warning Every row is decided with the same probability.")
    assert heading_of(html) == "Within what is allowed, with warnings"
    code, _, _, _ = fit(file, tmp_path, "--gamma", "0.02", "--accept-warnings")
    assert code == 0
    code, out, err, _ = fit(file, tmp_path, "--gamma", "0.02", "--quiet")
    assert (code, out) == (3, "")
    assert err.startswith("Warning: Every row is decided with the same probability.")


def test_the_positive_label_can_be_the_first(file, tmp_path):
    """A false positive is then a wrong "no", and the model decides as before by its labels."""
    usual = ["--label", "y", "--protected", "race", *QUICK, "--gamma", "0.1"]
    models = {}
    for positive in ("yes", "no"):
        code, out, _, _ = fit(file, tmp_path, "--positive", positive, usual=usual)
        assert code == 0
        other = {"yes": "no", "no": "yes"}[positive]
        assert f"decides y, {other} or {positive} (positive)" in out
        models[positive] = load_model(tmp_path / "m.skops")
    rows = pl.read_csv(file)
    for model in models.values():
        decided = model.predict(rows.drop("y"), random_state=0)
        assert np.mean(decided == rows["y"].to_numpy()) > 0.75
        p = model.predict_proba(rows.drop("y"))
        assert (decided[p[:, 1] == 1] == model.classes_[1]).all()


def test_depth_is_that_of_the_class(file, tmp_path):
    usual = ["--label", "y", "--protected", "race,x", "--estimator", "linear-regression",
             "--max-iter", "3", "--subgroups", "conjunctions", "--gamma", "0.1"]  # fmt: skip
    code, _, _, html = fit(file, tmp_path, "--depth", "1", usual=usual)
    assert code == 0
    assert "every conjunction of one condition on race, x" in html
    code, _, err, _ = fit(file, tmp_path, "--depth", "1", usual=[*usual, "--subgroups", "linear"])
    assert code == 2
    assert "--depth 1 is not for --subgroups linear" in err


def test_a_frontier_has_depth_and_positive(file):
    options = ["--label", "y", "--protected", "race,x", "--estimator", "linear-regression",
               "--max-iter", "3", "--subgroups", "conjunctions", "--gammas", "0.5",
               "--depth", "1", "--positive", "no", "--json", "-"]  # fmt: skip
    code, out, _ = call("frontier", file, *options)
    (point,) = json.loads(out)["points"]
    assert code == 0
    assert point["train"]["covers"].startswith("every conjunction of one condition")
    assert "--depth 1" in point["command"]
    assert "--positive no" in point["command"]


@pytest.fixture(scope="module")
def hit_hard(tmp_path_factory):
    """Rows of which one small group's positives look like negatives, in what a model sees."""
    rng = np.random.default_rng(0)
    n = 4000
    town = rng.choice(["Bonn", "Ulm", "Au"], n, p=[0.5, 0.47, 0.03])
    y = rng.integers(0, 2, n)
    x = rng.standard_normal(n) + 2.0 * y * (town != "Au")
    path = tmp_path_factory.mktemp("hit") / "people.csv"
    pl.DataFrame({"town": town, "x": x, "y": y}).write_csv(path)
    return path


HIT = ["--label", "y", "--protected", "town", "--exclude-protected", "--gamma", "0.05", *QUICK,
       "--notion", "false_negative_rate", "--favourable", "positive"]  # fmt: skip


@pytest.mark.parametrize("quiet", [True, False])
def test_who_stands_out_of_the_test_rows_shuts_a_gate_that_asks(hit_hard, tmp_path, quiet):
    """By the same words as in an audit; no page has to be asked for."""
    shown = ["--quiet"] if quiet else []
    asked = ["fit", hit_hard, *HIT, "--test-size", "0.5", "--out", tmp_path / "m.skops", *shown]
    assert call(*asked)[0] == 0
    code, out, err = call(*asked, "--fail-on", "stands-out")
    assert code == 1
    why = "Exit code 1: a group stands out from chance, and --fail-on stands-out fails for that; "
    assert err.startswith(why)
    assert "town = Au stands out: look at it before signing off" in (err if quiet else out)
    # Where nobody is hit the same gate is open.
    people = pl.read_csv(hit_hard).with_columns(town=pl.col("town").shuffle(seed=1))
    people.write_csv(tmp_path / "alike.csv")
    code, _, err = call("fit", tmp_path / "alike.csv", *asked[2:], "--fail-on", "stands-out")
    assert (code, "Exit code" in err) == (0, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--fail-on stands-out is about test rows, and there are none; keep some out"),
        (["--test-size", "0.5", "--gate", "train"], "--gate train leaves them out"),
        (["--test-size", "0.5", "--fail-on", "stand-out"], "did you mean 'stands-out'"),
    ],
)
def test_who_stands_out_is_asked_of_test_rows(hit_hard, tmp_path, options, message):
    """Decisions were trained to be alike on the others: chance says nothing of these."""
    code, out, err = call("fit", hit_hard, *HIT, "--out", tmp_path / "m.skops", "--fail-on",
                          "stands-out", *options)  # fmt: skip
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not (tmp_path / "m.skops").exists()


def test_test_rows_that_the_gate_fails_for_are_shown_before_undecided_training_rows():
    from types import SimpleNamespace

    from gerrymend.cli.fit_text import Fitted

    samples = [SimpleNamespace(report=SimpleNamespace(verdict=verdict, stands_out=out)) for
               verdict, out in (("undecided", None), ("within gamma", True))]  # fmt: skip
    given = (None, None, samples, "logistic", None, [])
    assert Fitted(*given).deciding == 0
    assert Fitted(*given, fails_for_standing_out=True).deciding == 1
    samples[0].report.verdict = "exceeds gamma"
    assert Fitted(*given, fails_for_standing_out=True).deciding == 0


@pytest.mark.parametrize("command", ["audit", "fit"])
def test_decisions_have_words_on_the_command_line(tmp_path, command):
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 600)
    d = (rng.random(600) < np.where(sex == "M", 0.2, 0.7)).astype(int)
    path = tmp_path / "p.csv"
    y = np.where(rng.random(600) < 0.8, d, 1 - d)
    pl.DataFrame({"sex": sex, "y": y, "d": d}).write_csv(path)
    asked = [
        command,
        path,
        "--label",
        "y",
        "--protected",
        "sex",
        "--favourable",
        "positive",
        "--notion",
        "false_negative_rate",
        "--subgroups",
        "marginals",
        "--gamma",
        "0.04",
    ]
    asked += {
        "audit": ["--prediction", "d", "--permutations", "0"],
        "fit": ["--features", "d", "--out", tmp_path / "m.skops", "--estimator",
                "linear-regression", "--max-iter", "1"],
    }[command]  # fmt: skip
    code, out, err = call(*asked, "--decisions", "refused,granted")
    assert code in (0, 1, 3), err
    told = " ".join(out.split())
    assert "of those with y = 1 are refused (false negative rate)" in told
    assert "To be granted is favourable." in told
    code, out, err = call(*asked, "--decisions", "refused")
    assert (code, out) == (2, "")
    assert "--decisions must be two words, for the negative decision and the positive one" in err


def test_a_formula_that_is_said_to_be_below_is_there():
    """Of the test rows, where a group that can be named leads, and nobody is known to be worse."""
    rng = np.random.default_rng(0)
    sex, region = (rng.choice(list(values), 2_000) for values in ("FM", "NSW"))
    age = rng.integers(20, 60, 2_000)
    refused = rng.random(2_000) < np.where((sex == "F") & (region == "N"), 0.75, 0.5)
    report = audit(None, refused.astype(int), notion="statistical_parity",
                   sensitive_features={"sex": sex, "region": region, "age": age})  # fmt: skip
    assert report.disadvantaged is None
    assert "(below, for experts)" in " ".join(verdict_sentences(report.to_dict()))
    facts = dict(_sample(("test rows", ""), OnRows(0.1, report), None))
    assert "  differs most" in facts
    assert "  for experts" in facts
