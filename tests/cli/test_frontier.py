"""`gerrymend frontier`: the same points as pareto_frontier()'s, its text, and bad input."""

import json

import polars as pl
import pytest
import typer
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from gerrymend import Marginals, SubgroupParityClassifier, pareto_frontier
from gerrymend.cli import demo
from gerrymend.cli import frontier as cli_frontier
from gerrymend.cli.table_encoding import make_encoder
from gerrymend.datasets import make_intersectional
from gerrymend.frontier import sweep
from gerrymend.inputs.sample import Sample
from tests.cli.calling import examples_of

QUICK = ["--estimator", "linear-regression", "--subgroups", "marginals", "--max-iter", "20"]
USUAL = ["--label", "y", "--protected", "race,sex", *QUICK]
GAMMAS = ["--gammas", "0,0.01,0.05"]


@pytest.fixture(scope="module")
def people():
    data = make_intersectional(300, cardinalities=(2, 3), n_numeric=0, random_state=0)
    race, sex = data.sensitive_features.values()
    return pl.DataFrame(
        {"race": race, "sex": sex, "a": data.data[:, 0], "b": data.data[:, 1], "y": data.target}
    )


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "people.csv"
    people.write_csv(path)
    return path


def call(*arguments):
    app = typer.Typer()
    app.callback()(lambda: None)
    cli_frontier.add_to(app)
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["frontier", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_points_are_those_of_the_library(people, file):
    code, out, _ = call(file, *USUAL, *GAMMAS, "--test-size", 0.3, "--seed", 4, "--json", "-")
    assert code == 0
    used = people.drop("y")
    rows = Sample.read(people["y"], people[["race", "sex"]], features=used)
    train, test = rows.split(0.3, seed=4)
    encoder = make_encoder(used).fit(train.features)
    expected = pareto_frontier(
        SubgroupParityClassifier(
            LinearRegression(), subgroups="marginals", max_iter=20, random_state=4
        ),
        encoder.transform(train.features), train.labels, sensitive_features=train.protected,
        X_test=encoder.transform(test.features), y_test=test.labels,
        sensitive_features_test=test.protected, gammas=[0, 0.01, 0.05],
        estimators={"linear-regression": LinearRegression()}, audit_subgroups=Marginals(),
    )  # fmt: skip
    points = json.loads(out, parse_constant=pytest.fail)["points"]
    aside = {"seconds": 0, "code": "", "command": ""}
    assert [point | aside for point in points] == [
        point | aside for point in expected.to_dict()["points"]
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_other_label_may_be_the_positive_one(file):
    """A false positive is then what was a false negative: the same models, and the same figures."""
    _, out, _ = call(file, *USUAL, "--gammas", "0.01", "--positive", "0", "--json", "-")
    _, same, _ = call(file, *USUAL, "--gammas", "0.01", "--notion", "false_negative_rate",
                      "--json", "-")  # fmt: skip
    turned, usual = (json.loads(text) for text in (out, same))
    for name in ("error", "unfairness", "upper_bound", "worst"):
        assert turned["points"][0]["train"][name] == usual["points"][0]["train"][name]
    assert turned["labels"] == [1, 0]
    assert usual["labels"] == [0, 1]
    assert "--positive 0" in turned["points"][0]["command"]


def test_the_text_for_people(file, tmp_path):
    json_file = tmp_path / "points.json"
    several = ["--gammas", "0,0.005,0.01", "--gammas", "0.02,0.05"]
    several += ["--notion", "false_positive_rate,error_rate"]
    code, out, _ = call(file, *USUAL, *several, "--json", json_file)
    assert code == 0
    points = json.loads(json_file.read_text())["points"]
    assert len(points) == 10
    assert max(map(len, out.splitlines())) <= 80
    assert "false positive rate, linear-regression" in out
    assert "error rate, linear-regression" in out
    assert "is a question of policy" in " ".join(out.split())
    for point in points:
        assert f"{point['train']['error']:.4f}" in out
    suggested = [point for point in points if point["suggested"]]
    assert out.count("At the knee") == len(suggested)
    for point in suggested:
        standing = {"error_rate": "treated worst"}.get(point["notion"], "differs most")
        assert f"gamma {point['gamma']:g}: of the training rows, {standing}:" in out


def test_a_stop_shows_the_points_that_were_done(file, monkeypatch):
    whole = pareto_frontier

    def stopped(*arguments, on_point, **options):
        def stop(point, of):
            on_point(point, of)
            if point.gamma == 0.01:
                raise KeyboardInterrupt

        return whole(*arguments, on_point=stop, **options)

    monkeypatch.setattr(sweep, "pareto_frontier", stopped)
    code, out, err = call(file, *USUAL, *GAMMAS)
    assert code == 130
    assert err.splitlines()[-1] == "Interrupted; these points were done."
    assert " 0.01 " in out
    assert " 0.05 " not in out


def test_your_model_today_is_a_column(people, file, tmp_path):
    """The same points as without the column, which nothing is trained on, and its own audit."""
    score = people["a"].to_numpy()
    with_today = tmp_path / "today.csv"
    people.with_columns(decided=(score >= 0.2).astype(int), points=score).write_csv(with_today)
    asked = [*USUAL, "--gammas", "0.01", "--test-size", 0.3, "--json", "-"]
    _, out, _ = call(file, *asked)
    without = json.loads(out)
    ways = [["--prediction", "decided", "--drop", "points"],
            ["--score", "points", "--threshold", "0.2", "--drop", "decided"]]  # fmt: skip
    aside = {"seconds": 0, "command": ""}
    told = []
    for way in ways:
        code, out, _ = call(with_today, *asked, *way)
        assert code == 0
        told.append(json.loads(out))
        assert [one | aside for one in told[-1]["points"]] == [
            one | aside for one in without["points"]
        ]
        today, plain = told[-1]["references"]
        assert [plain] == without["references"]
        command = told[-1]["points"][0]["command"].split()
        dropped = {command[i + 1] for i, word in enumerate(command) if word == "--drop"}
        assert dropped == {"decided", "points"}
        assert not {"--prediction", "--score", "--threshold"} & set(command)
    assert told[0]["references"] == told[1]["references"]
    y = people["y"].to_numpy()
    rows = [today[name]["n_rows"] for name in ("train", "test")]
    wrong = sum(today[name]["error"] * n for name, n in zip(("train", "test"), rows, strict=True))
    assert wrong == pytest.approx(((score >= 0.2) != y).sum())
    _, out, _ = call(with_today, *asked[:-2], *ways[0])
    assert "your model today" in out


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_labels_are_told_as_they_are_in_the_file(people, tmp_path, positive):
    """Labels that are text, the first in order positive too, and today's decisions beside them."""
    words = pl.col("y").replace_strict({0: "no", 1: "yes"})
    told = people.with_columns(y=words, decided=words)
    told.write_csv(tmp_path / "told.csv")
    code, out, err = call(tmp_path / "told.csv", *USUAL, "--gammas", "0.05", "--positive", positive,
                          "--prediction", "decided", "--json", "-")  # fmt: skip
    assert code == 0, err
    data = json.loads(out)
    assert data["labels"][1] == positive
    today, plain = data["references"]
    assert today["train"]["error"] == 0.0
    assert plain["train"]["error"] < 0.5


BAD = [
    (["--threshold", "0.5"], "--threshold 0.5 cuts scores, and there are none; name their"),
    (["--prediction", "a", "--score", "b"], "--prediction and --score exclude each other"),
    (["--prediction", "aa"], "--prediction='aa' is no column of .*did you mean 'a'"),
    (["--prediction", "a"], "--prediction a has decisions that are no label"),
    (["--prediction", "race"], "--protected has 'race', which is the label, the weight or a dec"),
    (["--gammas", ""], "--gammas is empty"),
    (["--gammas", "0,x"], "--gammas must be numbers, separated by commas, .* got '0,x'"),
    (["--gammas", "0,0.01,-1"], "--gammas must be a number of at least 0; got -1"),
    (["--gammas", "0.01,0,0.01"], "--gammas has 0.01 more than once"),
    (["--label", "yy"], r"--label='yy' is no column of .*did you mean 'y'"),
    (["--label", "race"], "--label race|which is the label"),
    (["--protected", "rac"], r"--protected='rac' is no column of .*did you mean 'race'"),
    (["--test-size", "0"], "--test-size must be a number above 0; got 0"),
    (["--budget", "-1"], "--budget must be a number above 0; got -1"),
    (["--estimator", "logistics"], "--estimator='logistics' is unknown .did you mean 'logistic'"),
    (["--estimator", "tree,tree"], "--estimator names 'tree' more than once"),
    (["--notion", "fpr"], "--notion='fpr' is unknown"),
    (["--notion", "error_rate,error_rate"], "--notion names 'error_rate' more than once"),
    (["--json", "no/x.json"], "--json no/x.json can't be written"),
    (["--report", "no/x.html"], "--report no/x.html can't be written"),
    (["--report", "-"], "--report - is no file; name one"),
    (["--report", "both", "--json", "both"], "--report both is read, or written, by this command"),
    (["--jobs", "0"], "--jobs must be 1 or more, or -1 for all cores; got 0"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_calls_exit_with_2(file, options, message):
    given = {"--label": "y", "--protected": "race,sex", "--gammas": "0.01", "--max-iter": "5",
             "--subgroups": "marginals"}  # fmt: skip
    given |= dict(zip(options[::2], options[1::2], strict=True))
    code, out, err = call(file, *(word for pair in given.items() for word in pair))
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(err)


def test_the_example_in_the_help_can_be_pasted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.save_rows(tmp_path / "people.csv", 80, seed=0)
    made, swept = examples_of("frontier")
    assert made == ["gerrymend", "demo", "--save", "people.csv"]
    code, out, _ = call(*swept[2:], *QUICK)
    assert code == 0
    assert "on 80 training rows" in out


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("tested", [True, False])
def test_chance_is_told_of_in_every_form(file, tmp_path, tested):
    page, data = tmp_path / "f.html", tmp_path / "f.json"
    more = ["--test-size", 0.3] if tested else []
    code, out, _ = call(file, *USUAL, "--gammas", "0.001,0.05", *more, "--json", data, "--report",
                        page, "--no-marginal")  # fmt: skip
    assert code == 0
    found = json.loads(data.read_text())
    texts = [" ".join(found["chance"]), out, page.read_text().partition('id="frontier">')[0]]
    apart = [abs(point["test"]["unfairness"] - point["train"]["unfairness"])
             for point in found["points"] if tested]  # fmt: skip
    for text in texts:
        words = " ".join(text.split())
        assert "chance is not tested here" in words
        assert "gerrymend audit --permutations 199, audit(n_permutations=199)" in words
        assert ("From training to test rows" in words) == tested
        assert not tested or f"differs here by up to {max(apart):.4f}." in words
    for text in (texts[1], texts[2]):
        assert "y = 1 is the positive label, y = 0 the negative one" in " ".join(text.split())


def test_a_budget_is_that_of_each_model_and_of_each_audit(file, monkeypatch):
    asked = []

    def note(classifier, *_, **settings):
        asked.append((classifier.budget, settings["audit_budget"]))
        raise ValueError("seen")

    monkeypatch.setattr(sweep, "pareto_frontier", note)
    for options in ([], ["--budget", 3]):
        assert call(file, *USUAL, *options)[0] == 2
    assert asked == [(None, 10.0), (3.0, 3.0)]
