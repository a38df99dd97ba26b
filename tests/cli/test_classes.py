"""The command line audits labels of more than two values, all or one against the rest."""

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.calling import call

LEVELS = ["later", "now", "soon"]


@pytest.fixture(scope="module")
def triage(tmp_path_factory):
    """Au's urgent cases are missed half of the time; a file of 600 rows."""
    rng = np.random.default_rng(7)
    town = np.array(["Au", "Ulm"])[rng.integers(0, 2, 600)]
    true = np.array(LEVELS)[rng.integers(0, 3, 600)]
    missed = (town == "Au") & (true == "now") & (rng.random(600) < 0.5)
    guessed = np.where(rng.random(600) < 0.1, "soon", true)
    file = tmp_path_factory.mktemp("triage") / "triage.csv"
    pl.DataFrame({
        "town": town, "level": true, "given": np.where(missed, "later", guessed),
        "weight": rng.integers(1, 3, 600),
    }).write_csv(file)  # fmt: skip
    return ["audit", file, "--label", "level", "--prediction", "given", "--protected", "town",
            "--notion", "false_negative_rate"]  # fmt: skip


def test_all_classes_are_compared_unless_one_is_named(triage):
    code, out, _ = call(*triage, "--permutations", "0", "--json", "-")
    every = json.loads(out)
    assert code == 1
    assert every["labels"] == LEVELS
    assert [notion["class"] for notion in every["notions"]] == LEVELS
    assert every["worst"]["notion"] == "false_negative_rate[now]"
    code, out, _ = call(*triage, "--permutations", "0", "--json", "-", "--positive", "now",
                        "--favourable", "positive")  # fmt: skip
    named = json.loads(out)
    assert named["labels"] == ["not now", "now"]
    assert named["unfairness"] == every["unfairness"]
    assert named["worst"]["treated"] == "worse"


def test_the_text_names_the_class_by_its_column(triage):
    _, out, _ = call(*triage, "--permutations", "0")
    assert "more are decided given ≠ now" in out
    assert "false negative rate of each class" in out


@pytest.mark.parametrize("weight", [(), ("--weight", "weight")])
def test_rows_of_all_classes_are_permuted_and_held_out(triage, weight):
    code, out, _ = call(*triage, *weight, "--permutations", "59", "--test-size", "0.3",
                        "--json", "-")  # fmt: skip
    report = json.loads(out)
    assert code == 1
    assert report["n_rows"] + report["held_out"]["n_rows"] == 600
    assert report["p_value"] == pytest.approx(3 / 60)
    assert report["held_out"]["unfairness_interval"][0] > 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--favourable", "positive"], "--favourable='positive' speaks of one positive label"),
        (["--positive", "never"], "--positive='never' is no label of --label level"),
    ],
)
def test_what_is_wrong_names_the_option(triage, more, words):
    code, _, error = call(*triage, *more)
    assert code == 2
    assert words in error
    assert "pos_label" not in error
