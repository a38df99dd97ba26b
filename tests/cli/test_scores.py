"""`gerrymend audit --notion multicalibration --score p`: the same report as audit()'s."""

import json

import numpy as np
import polars as pl
import pytest

from gerrymend import Multicalibration, audit, check_report
from tests.cli.calling import call


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng = np.random.default_rng(1)
    n = 400
    frame = pl.DataFrame(
        {
            "race": rng.choice(["blue", "green"], n),
            "sex": rng.choice(["F", "M"], n),
            "p": rng.beta(2, 2, n).round(3),
            "foretold": rng.integers(10, 60, n),
        }
    )
    chance = np.where(frame["race"] == "blue", frame["p"] * 0.5, frame["p"])
    frame = frame.with_columns(
        y=pl.Series(np.where(rng.random(n) < chance, "yes", "no")),
        days=frame["foretold"] + pl.Series(rng.integers(-5, 6, n)),
    )
    path = tmp_path_factory.mktemp("scores") / "people.csv"
    frame.write_csv(path)
    return frame, path


ASKED = ["--protected", "race,sex", "--subgroups", "conjunctions"]


@pytest.mark.parametrize("notion", ["multiaccuracy", "multicalibration"])
def test_the_report_is_that_of_audit(people, notion, tmp_path):
    frame, path = people
    target = tmp_path / "report.json"
    page = tmp_path / "report.html"
    code, out, err = call(
        "audit", path, "--label", "y", "--score", "p", "--notion", notion, *ASKED,
        "--permutations", "19", "--json", target, "--report", page,
    )  # fmt: skip
    assert code == 1, err
    told = json.loads(target.read_text(encoding="utf-8"))
    y, p, features = frame["y"], frame["p"], frame.select("race", "sex")
    own = audit(
        y, p, sensitive_features=features, notion=notion, subgroups="conjunctions",
        n_permutations=19, top=3,
    ).to_dict()  # fmt: skip
    for name in ("unfairness", "upper_bound", "p_value", "worst", "marginals"):
        if notion == "multiaccuracy" or name != "worst":
            assert told[name] == own[name]
    assert " % predicted, " in " ".join(out.split())
    assert "y = yes" in out
    assert "<svg" in page.read_text(encoding="utf-8") or notion == "multiaccuracy"
    told.pop("about", None)
    assert check_report(told, y, p, sensitive_features=features).ok


def test_bins_and_units_are_options(people, tmp_path):
    frame, path = people
    target = tmp_path / "report.json"
    code, out, err = call(
        "audit", path, "--label", "days", "--score", "foretold", "--notion", "multicalibration",
        *ASKED, "--bins", "3", "--unit", "days", "--gamma", "2", "--permutations", "0",
        "--json", target,
    )  # fmt: skip
    assert code == 0, err
    told = json.loads(target.read_text(encoding="utf-8"))
    assert told["notions"][0]["unit"] == "days"
    assert len(told["notions"][0]["cuts"]) == 2
    report = audit(
        frame["days"], frame["foretold"], sensitive_features=frame.select("race", "sex"),
        notion=Multicalibration(3, unit="days"), subgroups="conjunctions", gamma=2,
    )  # fmt: skip
    assert told["unfairness"] == report.unfairness
    assert "days" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prediction", "p"], "is about scores: name their column with --score"),
        (["--score", "p", "--threshold", "0.5"], "--threshold 0.5 makes decisions of scores"),
        (["--score", "foretold"], "--score foretold has 400 scores outside of [0, 1]"),
        (["--score", "p", "--bins", "1"], "--bins must be a number of at least 2"),
        (["--score", "p", "--control", "sex"], "--control can't be combined"),
        (["--score", "p", "--counts", "foretold"], "needs the score of each row"),
        (["--score", "p", "--notion", "error_rate", "--bins", "4"], "--bins 4 is for --notion"),
        (["--score", "p", "--protected", "p"], "which is the score"),
    ],
)
def test_bad_options_are_told_in_options(people, options, message):
    _, path = people
    given = ["--label", "y", "--notion", "multicalibration", "--protected", "race"]
    given = [*given, *options]
    if options.count("--notion"):
        given = given[:2] + given[4:]
    if options.count("--protected"):
        given = [*given[:4], *options]
    code, _, err = call("audit", path, *given)
    assert code == 2
    assert message in " ".join(err.split())
