"""`gerrymend fit` and `predict`: what is trained is what the library trains; files; bad input."""

import re
import warnings

import numpy as np
import polars as pl
import pytest
import typer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from gerrymend import SubgroupParityClassifier, audit, load_model
from gerrymend.cli import demo
from gerrymend.cli import fit as cli_fit
from gerrymend.cli import predict as cli_predict
from gerrymend.cli.table_encoding import make_encoder
from gerrymend.cli.table_files import write_table
from gerrymend.cli.training_request import TrainingRequest
from gerrymend.datasets import make_intersectional
from gerrymend.reporting.wording import percent
from tests.cli.calling import examples_of
from tests.cut_short import FITS, Stopping

QUICK = ["--estimator", "linear-regression", "--subgroups", "marginals", "--max-iter", "30"]
USUAL = ["--label", "granted", "--protected", "race,sex", "--drop", "id", *QUICK]
TREE = ["--estimator", "tree", "--subgroups", "marginals", "--max-iter", "3"]


@pytest.fixture(scope="module")
def people():
    data = make_intersectional(300, cardinalities=(2, 3), n_numeric=0, random_state=0)
    rng = np.random.default_rng(0)
    race, sex = data.sensitive_features.values()
    return pl.DataFrame(
        {
            "id": np.arange(300),
            "race": race,
            "sex": sex,
            "age": rng.integers(18, 70, 300),
            "city": rng.choice(["Ur", "=1+1", "[red]"], 300),
            "code": rng.choice(["01", "02", "x"], 300),
            "score": data.data[:, 0],
            "rich": data.data[:, 1] > 0,
            "weight": rng.integers(1, 4, 300),
            "granted": np.where(data.target == 1, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    people.write_csv(folder / "people.csv")
    people.write_parquet(folder / "people.parquet")
    gaps = people.with_columns(
        pl.when(pl.col("id") % 9 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(pl.col("id") % 7 == 0).then(None).otherwise(pl.col("city")).alias("city"),
        pl.when(pl.col("id") % 5 == 0).then(float("nan")).otherwise(pl.col("score")).alias("score"),
    )
    gaps.write_parquet(folder / "gaps.parquet")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model.skops"
    code, _, err = fit(folder / "people.csv", *USUAL, "--out", path, "--gamma", 0.02)
    assert code in (0, 1), err
    return path


def call(command, *arguments):
    app = typer.Typer()
    app.callback()(lambda: None)
    cli_fit.add_to(app)
    cli_predict.add_to(app)
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, [command, *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def fit(*arguments):
    return call("fit", *arguments)


def predict(*arguments):
    return call("predict", *arguments)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_model_is_what_the_library_trains(people, folder, tmp_path, kind):
    code, out, _ = fit(folder / f"people.{kind}", *USUAL, "--out", tmp_path / "m.skops",
                       "--gamma", 0.02, "--seed", 5, "--weight", "weight")  # fmt: skip
    used = people.drop("id", "granted", "weight")
    encoder = make_encoder(used).fit(used)
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="marginals", max_iter=30, random_state=5
    )
    clf.set_params(gamma=0.02 - clf.tol / clf.C)
    X, y, A = encoder.transform(used), people["granted"].to_numpy(), people[["race", "sex"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(X, y, sensitive_features=A, sample_weight=people["weight"])
    loaded = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict_proba(used), clf.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(used), clf.predict(X))
    p = clf.predict_proba(X)[:, 1]
    report = audit(y, p, sensitive_features=A, subgroups="marginals", gamma=0.02,
                   sample_weight=people["weight"], decision_probabilities=True)  # fmt: skip
    assert code == {"within gamma": 0, "exceeds gamma": 1}[report.verdict]
    words = " ".join(out.split())
    error = np.average(np.where(y == "yes", 1 - p, p), weights=people["weight"])
    assert f"Training rows 300 error {percent(error)}, of decisions as they are drawn" in words
    assert f"unfairness {report.unfairness:.4f} at worst; exact" in words
    assert f"differs most {report.worst.describe()}" in words


def test_a_model_that_learned_nothing_is_told_beside_one_that_decides_all_alike(tmp_path):
    """It is fair, since it is useless; the error alone doesn't show that."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.random(400), "sex": rng.choice(["F", "M"], 400),
                          "y": [1, 0, 0, 0] * 100})  # fmt: skip
    frame.write_csv(tmp_path / "noise.csv")
    clear = frame.with_columns(x=pl.col("y") + 0.1 * pl.col("x"))
    clear.write_csv(tmp_path / "clear.csv")
    told = {}
    for name in ("noise", "clear"):
        _, out, _ = call("fit", tmp_path / f"{name}.csv", "--label", "y", "--protected", "sex",
                         "--subgroups", "marginals", "--gamma", 0.05, "--max-iter", 20,
                         "--estimator", "tree" if name == "clear" else "logistic",
                         "--out", tmp_path / f"{name}.skops")  # fmt: skip
        told[name] = " ".join(out.split())
    assert "; to decide all alike has 25 %; the model is no better than that" in told["noise"]
    assert (
        "error 0 %, of decisions as they are drawn; to decide all alike has 25 %" in told["clear"]
    )
    assert "no better" not in told["clear"]


def test_the_other_label_may_be_the_positive_one(people, folder, tmp_path):
    """A false positive is then what was a false negative: the same model, and the same figures."""
    how = [folder / "people.csv", *USUAL, "--gamma", 0.02]
    first = fit(*how, "--out", tmp_path / "a.skops", "--positive", "no")
    second = fit(*how, "--out", tmp_path / "b.skops", "--notion", "false_negative_rate")
    used = people.drop("id", "granted")
    one, other = (load_model(tmp_path / f"{name}.skops") for name in "ab")
    np.testing.assert_array_equal(one.predict_proba(used), other.predict_proba(used))
    assert first[0] == second[0]
    figures = [re.findall(r"(?:error|unfairness) +[\d.]+", out) for _, out, _ in (first, second)]
    assert figures[0] == figures[1]
    assert "granted = no is the positive label" in first[1]
    assert "granted = yes is the positive label" in second[1]


def test_a_page_for_people(folder, tmp_path):
    page = tmp_path / "model.html"
    model = tmp_path / "m.skops"
    _, out, err = fit(folder / "people.csv", *USUAL, "--out", model, "--test-size", 0.3,
                      "--report", page)  # fmt: skip
    assert f"The report is in {page}" in " ".join(out.split()), err
    text = page.read_text()
    for words in ("Audit of a trained model", "90 test rows", "Training rows", "× linear-reg",
                  "the model decides by race, sex", "had no part in the training"):  # fmt: skip
        assert words in text
    code, _, err = fit(folder / "people.csv", *USUAL, "--out", model, "--report", model)
    assert code == 2
    assert "--report" in err


def test_a_report_says_whose_model_it_is(folder, tmp_path):
    """As one of an audit does, as a page and as Markdown, compared with one of before."""
    page, text, earlier = (tmp_path / name for name in ("p.html", "p.md", "e.json"))
    usual = [folder / "people.csv", *USUAL, "--out", tmp_path / "m.skops", "--max-iter", 2]
    rows = {"y_true": [0, 1] * 20, "y_pred": [1] * 20 + [0] * 20}
    report = audit(**rows, sensitive_features={"sex": ["F", "M"] * 20})
    earlier.write_text(report.to_json(), encoding="utf-8")
    said = {"title": "Loans", "model-name": "4.2", "owner": "A. Bee", "purpose": "credit",
            "date": "May", "since": earlier}  # fmt: skip
    options = [word for name, value in said.items() for word in (f"--{name}", value)]
    code, out, err = fit(*usual, *options, "--report", page, "--markdown", text)
    assert code in (0, 1), err
    shown = text.read_text()
    for words in ("# Loans", "- Model: 4.2", "- Owner: A. Bee", "- Purpose: credit", "- Date: May",
                  "## The model", "| Training rows | 300 |", "## What changed",
                  "granted = yes is the positive label"):  # fmt: skip
        assert words in shown, words
    for words in ("<bdi>Loans</bdi>", "<bdi>A. Bee</bdi>", "What changed", "Training rows"):
        assert words in page.read_text()
    assert "granted = yes is the positive label" in " ".join(out.split())
    code, out, _ = fit(*usual, "--markdown", "-")
    assert out.startswith("# Audit of a trained model")
    code, _, err = fit(*usual, "--markdown", folder / "people.csv")
    assert (code, "--markdown" in err) == (2, True)
    code, _, err = fit(*usual, "--since", folder / "people.csv")
    assert (code, "--since" in err) == (2, True)


def test_the_text_for_people(folder, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    code, out, err = fit(folder / "people.csv", *USUAL, "--out", path, "--gamma", 0.1,
                         "--test-size", 0.3)  # fmt: skip
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= max(80, len(str(path)) + 60)
    words = " ".join(out.split())
    for part in ("Within what is allowed On the 210 training rows the largest unfairness found is",
                 "(proven to be within gamma), and on the 90 test rows the largest unfairness",
                 "(proven to be within gamma): the worse of the two decides. Proven: on these 90",
                 "0.1 is allowed", "Training rows 210", "Test rows 90", "granted, no or yes (pos",
                 "1 × linear-regression; it decides alone", "by race, sex, age, city, code, score",
                 "and 2 more", "gerrymend predict"):  # fmt: skip
        assert part in words
    # Where unfairness costs next to nothing, no fit pays for gamma.
    made = TrainingRequest.classifier
    monkeypatch.setattr(
        TrainingRequest, "classifier", lambda *given, **more: made(*given, **more).set_params(C=0.1)
    )
    code, out, err = fit(
        folder / "people.csv", *USUAL, "--out", path, "--gamma", 0, "--max-iter", 2
    )
    assert "; or raise --max-iter (now 2), while the gap is large" in err
    assert ". Set --certify, which keeps to gamma" in err
    assert code == 1
    words = " ".join(out.split())
    assert "More unfair than allowed on these rows Whether chance alone could make as much" in words
    assert "may not show. The subgroup that differs most is" in words
    assert "Gamma was not reached. --certify goes on" in words
    kept = float(re.search(r"--gamma ([\d.]+) is what", words)[1])
    found = float(re.search(r"This group's unfairness is ([\d.]+),", words)[1])
    assert found <= kept <= found + 1e-4


def test_decisions_may_be_kept_from_the_protected_columns(folder, tmp_path):
    used = {}
    for name, options in {
        "all": [],
        "few": ["--features", "age,score,race"],
        "without": ["--exclude-protected"],
    }.items():
        path = tmp_path / f"{name}.skops"
        given = [word for word in USUAL if name != "few" or word not in ("--drop", "id")]
        fit(folder / "people.csv", *given, *options, "--out", path, "--gamma", 0.1)
        used[name] = load_model(path).feature_names_in_.tolist()
    everything = ["race", "sex", "age", "city", "code", "score", "rich", "weight"]
    assert used == {"all": everything, "few": ["age", "score", "race"], "without": everything[2:]}


def test_missing_values_are_imputed_only_where_asked(people, folder, tmp_path):
    gaps, path = folder / "gaps.parquet", tmp_path / "m.skops"
    code, _, err = fit(gaps, *USUAL, "--out", path)
    assert code == 2
    assert "Column 'age' of " in err
    assert "has 34 missing values of 300." in err
    assert "train with --impute." in err
    assert not path.exists()
    code, _, err = fit(gaps, *USUAL, "--out", path, "--impute", "--gamma", 0.1)
    assert (code, err) == (0, "")
    code, _, _ = predict(path, gaps, "--out", tmp_path / "p.parquet", "--probabilities")
    assert code == 0
    predicted = pl.read_parquet(tmp_path / "p.parquet")
    assert predicted["probability"].is_between(0, 1).all()
    assert len(predicted) == 300


def test_predictions_are_those_of_the_model_in_the_order_of_the_rows(
    people, folder, model, tmp_path
):
    loaded = load_model(model)
    shuffled = people.sample(fraction=1.0, shuffle=True, seed=1).drop("granted")
    shuffled.write_csv(tmp_path / "some.csv", separator=";")
    for seed in ([], ["--seed", "7"]):
        out = tmp_path / "p.csv"
        code, said, err = predict(
            model, tmp_path / "some.csv", "--out", out, "--probabilities", *seed
        )
        assert (code, err) == (0, "")
        written = pl.read_csv(out)
        expected = loaded.predict(shuffled[loaded.feature_names_in_.tolist()],
                                  random_state=7 if seed else None)  # fmt: skip
        assert written["prediction"].to_list() == expected.tolist()
        p = loaded.predict_proba(shuffled[loaded.feature_names_in_.tolist()])[:, 1]
        np.testing.assert_allclose(written["probability"], p, atol=1e-12)
        assert f"300 predictions in {out}: " in said
        assert "The probability is that of deciding yes." in said
        assert f"{expected.tolist().count('no')} × no" in said
    assert sorted(one.name for one in tmp_path.iterdir()) == ["p.csv", "some.csv"]


def test_text_that_looks_like_numbers_stays_text(people, folder, model, tmp_path):
    """Rows whose codes are all digits: read as numbers, "01" would be another value."""
    digits = people.filter(pl.col("code") != "x")
    digits.write_csv(tmp_path / "digits.csv")
    code, _, err = predict(model, tmp_path / "digits.csv", "--out", tmp_path / "p.csv")
    assert (code, err) == (0, "")
    loaded = load_model(model)
    expected = loaded.predict(digits[loaded.feature_names_in_.tolist()])
    assert pl.read_csv(tmp_path / "p.csv")["prediction"].to_list() == expected.tolist()


def test_values_that_were_not_seen_are_noted(people, model, tmp_path):
    people.with_columns(city=pl.lit("[new]")).write_csv(tmp_path / "new.csv")
    code, _, err = predict(model, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert code == 0
    assert err.startswith("Note: Column 'city' of ")
    assert "has values that the training rows did not, 1 in all." in err
    assert err.count("\n") == 1


def test_no_cell_of_a_csv_runs_as_a_formula(tmp_path):
    frame = pl.DataFrame(
        {"prediction": ["=1+1", "-no", "+y", "@x", "\t=1", "fine", "a=b"], "p": [-1.0] * 7}
    )
    assert write_table(frame, tmp_path / "p.csv")
    written = pl.read_csv(tmp_path / "p.csv")
    assert written["prediction"].to_list() == [
        "'=1+1",
        "'-no",
        "'+y",
        "'@x",
        "'\t=1",
        "fine",
        "a=b",
    ]
    assert written["p"].to_list() == [-1.0] * 7
    assert not write_table(frame, tmp_path / "p.parquet")
    assert pl.read_parquet(tmp_path / "p.parquet").equals(frame)
    assert not write_table(pl.DataFrame({"prediction": [-1, 1]}), tmp_path / "numbers.csv")


def test_trees_are_trusted_by_who_loads_them(folder, tmp_path):
    path = tmp_path / "tree.skops"
    given = [word for word in USUAL if word not in QUICK]
    code, out, _ = fit(folder / "people.csv", *given, *TREE, "--out", path, "--gamma", 0.1)
    assert code == 0
    trust = re.search(r"--trust (\S+)", out)[1]
    code, _, err = predict(path, folder / "people.csv", "--out", tmp_path / "p.csv")
    assert code == 2
    assert f"--trust {trust}." in err
    code, _, _ = predict(path, folder / "people.csv", "--out", tmp_path / "p.csv", "--trust", trust)
    assert code == 0


def test_progress_on_a_terminal_only(folder, tmp_path, monkeypatch):
    arguments = [folder / "people.csv", *USUAL, "--out", tmp_path / "m.skops", "--gamma", 0.1]
    assert fit(*arguments)[2] == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "Auditing over marginals subgroups" in fit(*arguments)[2]


BAD_FIT = [
    (["--label", "grante"], r"--label='grante' is no column of .* \(did you mean 'granted'\?\)"),
    (["--protected", "rce"], r"--protected='rce' is no column of .*\(did you mean 'race'\?\)"),
    (["--protected", "race,granted"], "--protected has 'granted', which is the label"),
    (["--drop", "idd"], r"--drop='idd' is no column"),
    (["--drop", "id", "--features", "age"], "--features and --drop exclude each other"),
    (["--features", "ages"], r"--features='ages' is no column .*did you mean 'age'"),
    (["--features", "age,granted"], "--features has 'granted', which is the label"),
    (["--drop", "race,sex,age,city,code,score,rich,weight,id"], "No column of .* is left"),
    (["--label", "city"], "--label city has 3 classes"),
    (["--weight", "city"], "--weight city must be numbers"),
    (["--gamma", "-0.1"], "--gamma must be a number of at least 0; got -0.1"),
    (["--test-size", "1.5"], "--test-size must be below 1; got 1.5"),
    (["--test-size", "0.001"], "--test-size=0.001 can't be kept out of 300 rows"),
    (["--budget", "0"], "--budget must be a number above 0; got 0"),
    (["--notion", "fpr"], "--notion='fpr' is unknown. Choose from"),
    (["--subgroups", "lineer"], "--subgroups='lineer' is unknown .did you mean 'linear'"),
    (["--estimator", "forrest"], "--estimator='forrest' is unknown .did you mean 'forest'"),
    (["--out", "no/folder/m.skops"], "--out no/folder/m.skops can't be written"),
    (["--out", "."], "--out . can't be written"),
    (["--separator", ",,"], "--separator must be one character"),
]


@pytest.mark.parametrize(("options", "message"), BAD_FIT)
def test_bad_calls_of_fit_exit_with_2(folder, tmp_path, options, message):
    given = {"--label": "granted", "--protected": "race", "--out": tmp_path / "m.skops",
             "--estimator": "linear-regression", "--subgroups": "marginals"}  # fmt: skip
    given |= dict(zip(options[::2], options[1::2], strict=True))
    assert_refused(fit(folder / "people.csv", *(word for pair in given.items() for word in pair)),
                   message)  # fmt: skip
    assert not list(tmp_path.iterdir())


def assert_refused(done, message):
    code, out, err = done
    assert (code, out) == (2, ""), err
    lines = [line for line in err.splitlines() if not line.startswith("Note: ")]
    assert len(lines) == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(lines[0])


TABLES = {
    "ids.csv": b"y,race,name\n" + b"".join(b"%d,b,n%d\n" % (i % 2, i) for i in range(40)),
    "dates.csv": b"y,race,d,x\n" + b"0,b,,1\n1,g,,2\n" * 20,
    "infinite.csv": b"y,race,x\n" + b"0,b,inf\n1,g,2\n" * 20,
    "gaps.csv": b"y,race,x\n" + b",b,1\n1,g,2\n0,g,3\n" * 20,
    "ages.csv": b"y,race,x\n" + b"1,,1\n1,3,2\n0,2,3\n" * 20,
    "one.csv": b"y,race,x\n" + b"1,b,1\n" * 20,
    "header.csv": b"y,race,x\n",
}
BAD_TABLES = [
    ("nowhere.csv", "FILE .*nowhere.csv does not exist"),
    ("ids.csv", "Column 'name' has 40 different texts in 40 rows: it tells rows apart"),
    ("dates.csv", "Column 'd' of .* has 40 missing values of 40|has no values at all"),
    ("infinite.csv", "Column 'x' of .*infinite.csv has infinite values"),
    ("gaps.csv", r"--label y has 20 missing values; .* \(the first is row 1 of 60\)"),
    ("ages.csv", "Column 'race' of --protected is numeric and has missing values"),
    ("one.csv", "--label y has only one class, 1"),
    ("header.csv", "--label y is empty: it has no rows"),
]


@pytest.mark.parametrize(("name", "message"), BAD_TABLES)
def test_bad_tables_of_fit_exit_with_2(tmp_path, name, message):
    if name in TABLES:
        (tmp_path / name).write_bytes(TABLES[name])
    given = ["--label", "y", "--protected", "race", "--exclude-protected", "--out"]
    assert_refused(fit(tmp_path / name, *given, tmp_path / "m.skops", *QUICK), message)


def test_nothing_that_is_read_is_overwritten(folder, model):
    people = folder / "people.csv"
    before = people.read_bytes(), model.read_bytes()
    assert_refused(fit(people, *USUAL, "--out", people), "by this command already; name another")
    for name in (people, folder / "." / "people.csv"):
        assert_refused(
            predict(model, people, "--out", name), "by this command already; name another"
        )
    assert (people.read_bytes(), model.read_bytes()) == before


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"drop": ["age", "city"]}, [], r"lacks columns that MODEL .* decides by: 'age', 'city'\."),
        ({"rename": {"age": "ages"}}, [], r"'age' \(did you mean 'ages'\?\)"),
        ({"text": "age"}, [], "Column 'age' of .* has text, and the model was trained on numbers"),
        ({"gap": "score"}, [], "Column 'score' of .* has 150 missing values of 300"),
        ({"rows": 0}, [], "has a header and no rows"),
        ({}, ["--out", "p.txt"], "--out p.txt must end in .csv, .parquet or .xlsx"),
        ({}, ["--out", "no/p.csv"], "--out no/p.csv can't be written"),
    ],
)
def test_bad_calls_of_predict_exit_with_2(people, model, tmp_path, change, options, message):
    frame = people.drop(change.get("drop", [])).rename(change.get("rename", {}))
    frame = frame.head(change.get("rows", 300))
    if "text" in change:
        frame = frame.with_columns(pl.lit("old").alias(change["text"]))
    if "gap" in change:
        odd = pl.int_range(pl.len()) % 2 == 1
        frame = frame.with_columns(pl.when(odd).then(pl.col(change["gap"])))
    frame.write_csv(tmp_path / "new.csv")
    out = options or ["--out", tmp_path / "p.csv"]
    assert_refused(predict(model, tmp_path / "new.csv", *out), message)


def test_a_model_file_that_is_not_ours(people, folder, tmp_path):
    out = ["--out", tmp_path / "p.csv"]
    people_file = folder / "people.csv"
    assert_refused(predict(people_file, people_file, *out), "is no model of gerrymend")
    assert_refused(predict(tmp_path / "no.skops", people_file, *out), "MODEL .*no.skops does not")


def test_an_interruption_exits_with_130(folder, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(TrainingRequest, "prepare", interrupted)
    done = fit(folder / "people.csv", *USUAL, "--out", tmp_path / "m.skops")
    assert done == (130, "", "Interrupted.\n")


def test_the_same_command_goes_on_from_a_checkpoint(folder, tmp_path, monkeypatch):
    kept, out = tmp_path / "fit.checkpoint", tmp_path / "m.skops"
    command = [folder / "people.csv", *USUAL, "--out"]
    whole = tmp_path / "whole.skops"
    assert fit(*command, whole)[0] in (0, 1)
    with Stopping(4, *FITS):
        code, _, err = fit(*command, out, "--checkpoint", kept)
    assert code == 130
    assert err.endswith(
        f"The training is kept in {kept}: the same command goes on.\nInterrupted.\n"
    )
    assert kept.exists()
    assert not out.exists()
    assert_refused(
        fit(*command, out, "--checkpoint", kept, "--gamma", 0.5),
        "--checkpoint=.* is of a fit with other parameters: .*0.01 and is 0.5",
    )
    code, _, err = fit(*command, out, "--checkpoint", kept)
    assert code in (0, 1), err
    assert not kept.exists()
    rows = pl.read_csv(folder / "people.csv")
    loaded = load_model(out), load_model(whole)
    one, other = (model.predict_proba(rows.select(model.feature_names_in_)) for model in loaded)
    np.testing.assert_array_equal(one, other)


def test_a_checkpoint_is_a_file_of_its_own(folder, tmp_path):
    command = [folder / "people.csv", *USUAL, "--out", tmp_path / "m.skops", "--checkpoint"]
    assert_refused(fit(*command, tmp_path / "m.skops"), "--checkpoint .* by this command already")
    assert_refused(fit(*command, tmp_path / "no" / "fit"), "--checkpoint .* can't be written")


def test_the_examples_in_the_help_can_be_pasted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.save_rows(tmp_path / "people.csv", 400, seed=0)
    for command in ("fit", "predict"):
        words = examples_of(command)[-1]
        code, out, err = call(*words[1:], *(QUICK if command == "fit" else []))
        assert code in (0, 1, 3), err
        assert "400" in out


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_budget_ends_training(folder, tmp_path):
    """The first round is played whatever the budget; without one there is no clock."""
    out = ["--out", tmp_path / "model.skops", "--gamma", 0.001]
    _, text, _ = fit(folder / "people.csv", *USUAL, *out, "--budget", 1e-9)
    assert "trained in 1 round, for" in " ".join(text.split())
    _, text, _ = fit(folder / "people.csv", *USUAL, *out)
    assert "trained in 30 rounds, for" in " ".join(text.split())


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], (None, False)), (["--certify"], (None, True)), (["--budget", 7], (7.0, False))],
)
def test_a_budget_is_the_classifiers_and_the_audits(
    folder, tmp_path, monkeypatch, options, expected
):
    asked = []
    whole = SubgroupParityClassifier.fit

    def fit_and_note(self, *arguments, **data):
        asked.append((self.budget, self.certify))
        return whole(self, *arguments, **data)

    monkeypatch.setattr(SubgroupParityClassifier, "fit", fit_and_note)
    out = ["--out", tmp_path / "model.skops", "--gamma", 0.05]
    code, _, err = fit(folder / "people.csv", *USUAL, *out, *options)
    assert code in (0, 1), err
    assert asked == [expected]
