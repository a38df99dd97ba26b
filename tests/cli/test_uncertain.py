"""`gerrymend uncertain`: the same as audit_uncertain()'s, exit codes, files, and bad input."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest

from gerrymend import audit_uncertain
from tests.cli.calling import call, examples_of, options_of

RNG = np.random.default_rng(0)
N = 900
P = RNG.random(N).round(3)
SEX = RNG.choice(["F", "M"], N)
PEOPLE = pl.DataFrame(
    {
        "sex": SEX,
        "age": RNG.integers(18, 80, N),
        "y": RNG.integers(0, 2, N),
        "d": (RNG.random(N) < 0.2 + 0.5 * P).astype(int),
        "score": RNG.random(N).round(2),
        "w": RNG.integers(1, 4, N),
        "p_black": P,
        "p:white": (1 - P).round(3),
        "by sex": (SEX == "F").astype(int),
    }
)
RACE = ["--attribute-probabilities", "race=Black:p_black,White:p:white"]
COLUMNS = ["--label", "y", "--prediction", "d", "--protected", "sex", *RACE]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("uncertain") / "people.csv"
    PEOPLE.write_csv(path)
    return path


def plain(text):
    return json.loads(text) | {"provenance": None}


def expected(**how):
    given = {
        "attribute_probabilities": {"race": {"Black": "p_black", "White": "p:white"}},
        "sensitive_features": ["sex"],
    }
    return plain(audit_uncertain("y", "d", data=PEOPLE, **given | how).to_json())


def test_it_is_what_the_function_says(file):
    code, out, _ = call("uncertain", file, *COLUMNS, "--permutations", "19", "--json", "-")
    assert code == 3
    assert plain(out) == expected(n_permutations=19)


def test_every_option_reaches_the_function(file):
    code, out, _ = call(
        "uncertain", file, "--score", "score", "--threshold", "0.3", "--notion",
        "statistical_parity", "--gamma", "0.2", "--pool-size", "50", "--probability-error", "0.01",
        "--budget", "7", "--min-group-size", "20", "--permutations", "0", "--weight", "w",
        "--subgroups", "value_sets", "--depth", "1", "--protected", "sex,age", "--ranges", "age=40",
        *RACE, "--json", "-",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    age = (pl.when(pl.col("age") < 40).then(pl.lit("below")).otherwise(pl.lit("above"))).alias("a")
    from gerrymend import ValueSets

    like = audit_uncertain(
        None, "score", threshold=0.3, data=PEOPLE.with_columns(age), notion="statistical_parity",
        gamma=0.2, pool_size=50, probability_error=0.01, budget=7, min_group_size=20,
        sample_weight="w", subgroups=ValueSets(max_depth=1), sensitive_features=["sex", "a"],
        attribute_probabilities={"race": {"Black": "p_black", "White": "p:white"}},
    ).to_dict()  # fmt: skip
    for name in ("expected_unfairness", "upper_bound", "lower_bound"):
        assert found[name] == pytest.approx(like[name], abs=1e-12)
    for name in ("gamma", "pool_size", "probability_error", "min_group_size", "weighted", "class"):
        assert found[name] == like[name]


def test_columns_may_name_categories_themselves(file):
    ways = [["race=p_black,p:white"], ["race=p_black", "--attribute-probabilities", "race=p:white"]]
    for way in ways:
        code, out, _ = call(
            "uncertain", file, "--prediction", "d", "--notion", "statistical_parity",
            "--attribute-probabilities", *way, "--json", "-",
        )  # fmt: skip
        assert code == 3
        groups = [one["subgroup"] for one in json.loads(out)["categories"]]
        assert groups == ["race = p_black", "race = p:white"]
        assert json.loads(out)["known_attributes"] == []


def test_exit_codes_and_files(file, tmp_path):
    page, junit, markdown = (tmp_path / name for name in ("u.html", "u.xml", "u.md"))
    files = ["--report", page, "--junit", junit, "--markdown", markdown, "--title", "Loans 4.2"]
    codes = {}
    for gamma in ("0.3", "0.02", "1e-9"):
        code, out, err = call("uncertain", file, *COLUMNS, "--gamma", gamma, "--permutations", "0",
                              *files)  # fmt: skip
        codes[gamma] = code
        suite = ET.parse(junit).getroot()
        assert (int(suite.get("failures")), int(suite.get("errors"))) == (code == 1, code == 3)
        assert "race = Black" in out
        assert ("Exit code" in err) == (code != 0)
        assert all("Loans 4.2" in one.read_text() for one in (page, markdown))
    assert codes == {"0.3": 3, "0.02": 3, "1e-9": 1}  # 0.3 allows everything, and is warned of
    accepted = call("uncertain", file, *COLUMNS, "--gamma", "0.3", "--accept-warnings", "-q")
    assert accepted == (0, "", "")
    code, out, err = call("uncertain", file, *COLUMNS, "--gamma", "0.02", "--quiet")
    assert (code, out) == (3, "")
    assert "whoever the members are" in err
    code, out, _ = call("uncertain", file, *COLUMNS, "--annotations", "-")
    assert code == 3
    assert out.startswith("::warning title=gerrymend uncertain")


BAD = {
    "nothing decided": (["--label", "y", *RACE], "One of --prediction"),
    "two decided": ([*COLUMNS, "--score", "score"], "One of --prediction"),
    "a mean": ([*COLUMNS, "--notion", "mean_outcome"], "--notion='mean_outcome' is unknown"),
    "no columns": (
        ["--prediction", "d", "--attribute-probabilities", "race"],
        "--attribute-probabilities race must name an attribute and its columns, such as race=Black",
    ),
    "no such column": (
        ["--label", "y", "--prediction", "d", "--attribute-probabilities", "race=p_blak,p:white"],
        "(did you mean 'p_black'?)",
    ),
    "one column": (
        ["--label", "y", "--prediction", "d", "--attribute-probabilities", "race=p_black"],
        "Column 'race' of --attribute-probabilities has 1 column",
    ),
    "two attributes": (
        [*COLUMNS, "--attribute-probabilities", "faith=p_black,p:white"],
        "--attribute-probabilities must have one attribute, and has 'race', 'faith'",
    ),
    "no probabilities": (
        ["--label", "y", "--prediction", "d", "--attribute-probabilities", "race=age,p:white"],
        "Column 'race' of --attribute-probabilities must have probabilities from 0 to 1",
    ),
    "no labels": (["--prediction", "d", *RACE], "--label is not given"),
    "a pool of none": ([*COLUMNS, "--pool-size", "0"], "--pool-size must be a number"),
    "an error": ([*COLUMNS, "--probability-error", "-1"], "--probability-error must be a number"),
    "a depth": (
        [*COLUMNS, "--subgroups", "linear", "--depth", "2"], "--depth 2 is not for --subgroups"),
    "the file": ([*COLUMNS, "--json", "FILE"], "is read, or written, by this command already"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "words"), BAD.values(), ids=BAD)
def test_what_cant_be_done_is_told_in_options(file, given, words):
    code, out, err = call("uncertain", file, *(file if one == "FILE" else one for one in given))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_probabilities_that_are_protected_are_doubted_and_shut_the_gate(file):
    code, out, _ = call(
        "audit", file, "--label", "y", "--prediction", "d", "--protected", "p_black,p:white",
        "--gamma", "0.1", "--permutations", "0", "--subgroups", "marginals", "--json", "-",
    )  # fmt: skip
    (warning,) = json.loads(out)["warnings"]
    assert (code, warning["code"]) == (3, "attributes_are_probabilities")


def test_the_example_in_the_help_names_options_that_there_are():
    (example,) = examples_of("uncertain")
    assert example[:3] == ["gerrymend", "uncertain", "people.csv"]
    assert {one for one in example if one.startswith("--")} <= options_of("uncertain")
