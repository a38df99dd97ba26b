"""`gerrymend impact`: the same tables as impact_ratios()'s, exit codes, and what bad input gets."""

import json

import numpy as np
import polars as pl
import pytest

from gerrymend import impact_ratios
from gerrymend.cli import demo
from tests.cli.calling import call, examples_of

N = 400
RNG = np.random.default_rng(2)
SEX = RNG.choice(["F", "M"], N)
RACE = RNG.choice(["B", "W", ""], N, p=[0.4, 0.5, 0.1])
SCORE = RNG.random(N).round(3)
HIRED = (RNG.random(N) < np.where(SEX == "F", 0.2, 0.6)).astype(int)
USUAL = ["--protected", "sex,race", "--no-search"]


@pytest.fixture(scope="module")
def people():
    return pl.DataFrame(
        {
            "sex": SEX,
            "race": RACE,
            "age": RNG.integers(18, 70, N),
            "hired": HIRED,
            "word": np.where(HIRED == 1, "yes", "no"),
            "score": SCORE,
            "weight": RNG.integers(1, 4, N),
        }
    ).with_columns(pl.col("race").replace("", None))


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "people.csv"
    people.write_csv(path)
    return path


def tables(file, *options, code=0):
    found, out, err = call("impact", file, *options, "--json", "-")
    assert found == code, err
    return json.loads(out)


def as_json(made):
    return json.loads(json.dumps(made.to_dict()))


CALLS = {
    "decisions": (["--selected", "hired"], {"y_pred": "hired"}),
    "words": (["--selected", "word", "--positive", "no"], {"y_pred": "word", "pos_label": "no"}),
    "scores": (["--score", "score"], {"y_pred": "score", "rate": "scoring"}),
    "cut scores": (
        ["--score", "score", "--threshold", "0.7"], {"y_pred": "score", "threshold": 0.7}
    ),
    "weights": (
        ["--selected", "hired", "--weight", "weight"],
        {"y_pred": "hired", "sample_weight": "weight"},
    ),
    "a reference": (
        ["--selected", "hired", "--reference", "race=W", "--reference", "sex=M"],
        {"y_pred": "hired", "reference": {"race": "W", "sex": "M"}},
    ),
    "a profile": (
        ["--selected", "hired", "--profile", "ll144"], {"y_pred": "hired", "profile": "ll144"}
    ),
    "a depth": (["--selected", "hired", "--depth", "1"], {"y_pred": "hired", "depth": 1}),
    "unknown": (
        ["--selected", "hired", "--unknown", "B"], {"y_pred": "hired", "unknown": ["B"]}
    ),
    "a confidence": (
        ["--selected", "hired", "--confidence", "0.9"], {"y_pred": "hired", "confidence": 0.9}
    ),
    "no small ones": (
        ["--selected", "hired", "--exclude-small"], {"y_pred": "hired", "exclude_small": True}
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_the_tables_are_those_of_impact_ratios(file, people, what):
    options, how = CALLS[what]
    made = impact_ratios(
        how.pop("y_pred"), data=people, sensitive_features=["sex", "race"], search=False, **how
    )
    assert tables(file, *options, *USUAL) == as_json(made)


def test_the_search_is_the_same_too(file, people):
    made = impact_ratios(
        "hired", data=people, sensitive_features=["sex", "race", "age"], n_permutations=19
    )
    options = ("--selected", "hired", "--protected", "sex,race,age", "--permutations", "19")
    assert tables(file, *options)["unlisted"] == as_json(made)["unlisted"]
    given = ("--search-class", "value_sets", "--search-depth", "1")
    assert "one attribute" in tables(file, *options, *given)["unlisted"]["covers"]


def test_ranges_of_a_number_are_categories(file):
    found = tables(file, "--selected", "hired", "--protected", "age", "--ranges", "age=30,50",
                   "--no-search")  # fmt: skip
    assert found["tables"][0]["attributes"] == ["age (range)"]
    assert len(found["tables"][0]["groups"]) == 3


def test_every_file_is_written(file, tmp_path):
    names = {"--json": "i.json", "--csv": "i.csv", "--xlsx": "i.xlsx", "--report": "i.html",
             "--markdown": "i.md"}  # fmt: skip
    given = [part for option, name in names.items() for part in (option, tmp_path / name)]
    code, out, err = call("impact", file, "--selected", "hired", *USUAL, *given, "--owner", "HR")
    assert (code, err) == (0, "")
    assert "any browser opens it" in out
    for name in names.values():
        assert (tmp_path / name).stat().st_size > 500
    assert "HR" in (tmp_path / "i.html").read_text("utf-8")
    assert json.loads((tmp_path / "i.json").read_text("utf-8"))["about"] == {"owner": "HR"}


GATES = [
    ([], 0),
    (["--fail-below", "0.8"], 1),
    (["--fail-below", "0.8", "--if-chance", "undecided"], 1),
    (["--profile", "four-fifths"], 1),
    (["--profile", "four-fifths", "--fail-below", "0.01"], 0),
    (["--profile", "ll144"], 0),
]


@pytest.mark.parametrize(("options", "code"), GATES)
def test_exit_codes(file, options, code):
    found, _, err = call("impact", file, "--selected", "hired", *USUAL, *options)
    assert found == code
    assert bool(err) == bool(code)
    if code:
        assert "a ratio below 0.8" in err


def test_a_gate_may_leave_chance_open(tmp_path):
    path = tmp_path / "few.csv"
    pl.DataFrame({"g": ["a"] * 10 + ["b"] * 10, "y": [1, 0] * 5 + [1, 0, 0, 0, 0] * 2}).write_csv(
        path
    )
    options = ("--selected", "y", "--protected", "g", "--no-search", "--fail-below", "0.8")
    assert call("impact", path, *options)[0] == 1
    code, _, err = call("impact", path, *options, "--if-chance", "undecided")
    assert code == 3
    assert "chance may have made it" in err


def test_a_quiet_gate_tells_of_who_is_in_no_table(tmp_path):
    path = tmp_path / "people.csv"
    demo.save_rows(path, 800, seed=0)
    code, out, err = call("impact", path, "--selected", "granted", "--protected", "race,sex",
                          "--profile", "four-fifths", "--permutations", "0", "--quiet")  # fmt: skip
    assert (code, out) == (0, "")
    assert err.startswith("The tables don't show all: race = ")


REFUSED = {
    "neither": ([], "One of --selected (decisions) and --score"),
    "both": (["--selected", "hired", "--score", "score"], "got --selected and --score"),
    "no column": (["--selected", "hird"], "--selected='hird' is no column"),
    "scores as decisions": (["--selected", "score"], "--selected score has"),
    "a threshold without scores": (["--selected", "hired", "--threshold", "1"], "--threshold 1"),
    "no group": (["--selected", "hired", "--reference", "sex=X"], "--reference has sex = 'X'"),
    "a number": (["--selected", "hired", "--reference", "0.8"], "--reference 0.8 is a number"),
    "no attribute": (["--selected", "hired", "--reference", "town=X"], "--reference='town'"),
    "no rule": (["--selected", "hired", "--profile", "gdpr"], "--profile='gdpr' is unknown"),
    "no control group": (["--selected", "hired", "--profile", "lending"], "--reference is not"),
    "another reference": (
        ["--selected", "hired", "--profile", "ll144", "--reference", "sex=M"],
        "compares with the most selected group",
    ),
    "a gate above 1": (["--selected", "hired", "--fail-below", "2"], "--fail-below must be"),
    "a gate of nothing": (["--selected", "hired", "--if-chance", "undecided"], "--fail-below"),
    "a depth of no class": (["--selected", "hired", "--search-depth", "2"], "--search-class"),
    "a class without depth": (
        ["--selected", "hired", "--search-class", "marginals", "--search-depth", "2"],
        "has no depth",
    ),
    "no class": (["--selected", "hired", "--search-class", "all"], "--search-class='all'"),
    "csv to the output": (["--selected", "hired", "--csv", "-"], "--csv - is no file"),
    "the file itself": (["--selected", "hired", "--xlsx", "FILE"], "--xlsx"),
    "a folder that is not there": (["--selected", "hired", "--csv", "no/i.csv"], "can't be"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_gets_a_clear_error(file, what):
    options, words = REFUSED[what]
    given = [str(file) if one == "FILE" else one for one in options]
    code, out, err = call("impact", file, *USUAL, *given)
    assert code == 2
    assert words in " ".join(err.split())
    assert out == ""


def test_files_of_an_earlier_run_are_removed_where_this_one_fails(file, tmp_path):
    for name in ("i.csv", "i.xlsx", "i.json"):
        (tmp_path / name).write_text("old")
    code, _, err = call("impact", file, "--selected", "score", *USUAL, "--csv", tmp_path / "i.csv",
                        "--xlsx", tmp_path / "i.xlsx", "--json", tmp_path / "i.json")  # fmt: skip
    assert code == 2
    assert not list(tmp_path.iterdir())
    assert err.count("was of an earlier run") == 3


def test_the_example_of_the_help_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved, example = examples_of("impact")
    assert saved == ["gerrymend", "demo", "--save", "people.csv"]
    demo.save_rows(tmp_path / "people.csv", 400, seed=0)
    code, out, _ = call(*example[1:])
    assert code == 0
    assert "four-fifths" in out
