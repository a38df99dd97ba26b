"""The command line asks for labels only where a rate reads them."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.calling import call


@pytest.fixture(scope="module")
def hiring(tmp_path_factory):
    rng = np.random.default_rng(7)
    sex = np.array(["F", "M"])[rng.integers(0, 2, 600)]
    hired = rng.random(600) < np.where(sex == "F", 0.2, 0.5)
    file = tmp_path_factory.mktemp("hiring") / "hiring.csv"
    pl.DataFrame({"sex": sex, "hired": np.where(hired, "yes", "no")}).write_csv(file)
    return ["audit", file, "--protected", "sex", "--prediction", "hired", "--permutations", "0"]


@pytest.mark.parametrize(
    ("positive", "labels"), [((), ["no", "yes"]), (("--positive", "no"), ["yes", "no"])]
)
def test_parity_needs_none(hiring, positive, labels):
    code, out, _ = call(*hiring, "--notion", "statistical_parity", "--json", "-", *positive)
    report = json.loads(out)
    assert code == 1
    assert report["labels"] == labels
    assert not report["is_labelled"]


def test_the_text_speaks_of_decisions(hiring):
    _, out, _ = call(*hiring, "--notion", "statistical_parity")
    assert "the positive decision" in " ".join(out.split())
    assert "rows with hired = yes" in " ".join(out.split())


def test_a_rate_that_reads_them_names_the_option(hiring):
    code, _, error = call(*hiring)
    assert code == 2
    assert "--label is not given" in error


def test_an_empty_stratum_names_the_option(tmp_path):
    """All with the job b have label 1, so that nothing can be a false positive there."""
    file = tmp_path / "jobs.csv"
    lines = [f"F,a,{i % 2},{i % 3 // 2}\nM,b,1,{i % 2}" for i in range(60)]
    file.write_text("\n".join(["sex,job,y,d", *lines]))
    usual = [file, "--label", "y", "--prediction", "d", "--protected", "sex", "--control", "job"]
    code, _, error = call("audit", *usual)
    assert code == 2
    assert "or pass --leave-out-empty-strata to leave" in " ".join(error.split())
    code, _, error = call("audit", *usual, "--leave-out-empty-strata", "--permutations", "0")
    assert code in (0, 1, 3), error


def test_a_reference_of_ones_own(hiring):
    """0.8 times the rate of men, in JSON and in words."""
    usual = [*hiring, "--notion", "statistical_parity", "--favourable", "positive"]
    code, out, _ = call(*usual, "--reference", "sex=M", "--factor", "0.8", "--json", "-")
    report = json.loads(out)
    assert code == 1
    told = {"group": {"sex": {"values": ["M"]}}, "factor": 0.8}
    assert report["notions"][0]["reference"] == told
    men = [one["rate"] for one in report["marginals"] if one["group"] == "sex = M"]
    assert report["overall_rates"][0]["reference"] == pytest.approx(0.8 * men[0])
    _, out, _ = call(*usual, "--reference", "0.25")
    assert "against 25 %, the reference" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--factor", "0.8"], "--factor 0.8 is of a group's mean; name the group"),
        (["--reference", "0.3", "--factor", "0.8"], "and --reference 0.3 is a number"),
        (["--reference", "men"], "--reference 'men' is neither a number nor a group"),
        (["--reference", "sx=M"], "--reference='sx' is no column of --protected (did you mean"),
        (["--reference", "sex=X"], "--reference is the rate of sex = X, and there is no such row"),
        (["--reference", "nan"], "--reference nan is no number to compare with: pass a finite"),
        (["--reference", "1e200"], "finite one, of at most 1e+100 in size, or a group, such as"),
        (["--reference", "sex=M", "--factor", "0"], "--factor of a group's mean must be a number"),
    ],
)
def test_a_reference_that_can_not_be_names_the_option(hiring, options, words):
    code, _, error = call(*hiring, "--notion", "statistical_parity", *options)
    assert code == 2
    assert words in " ".join(error.split())
