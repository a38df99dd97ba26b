"""`gerrymend watch`: the same as Watch's, exit codes, the file, and what bad input gets."""

import json
import re

import numpy as np
import polars as pl
import pytest

from gerrymend import Conjunctions, Watch
from tests.cli.calling import call, examples_of

COLUMNS = ["--label", "y", "--prediction", "d", "--protected", "sex,age"]
HOW = ["--subgroups", "conjunctions", "--gamma", "0.02"]


def people(seed, shift=0.0, n=500):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    return pl.DataFrame(
        {
            "sex": sex,
            "age": rng.integers(18, 80, n),
            "y": rng.choice(["no", "yes"], n),
            "d": np.where(rng.random(n) < 0.3 + shift * (sex == "F"), "yes", "no"),
        }
    )


BATCHES = [people(0), people(1), people(2, 0.5), people(3, 0.5), people(4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watch")
    for number, rows in enumerate(BATCHES):
        rows.write_csv(folder / f"{number}.csv")
    return folder


def test_each_batch_is_taken_in(folder, tmp_path):
    state = tmp_path / "watch.json"
    watch = Watch(subgroups=Conjunctions(), gamma=0.02)
    codes = []
    for number, rows in enumerate(BATCHES):
        look = watch.update("y", "d", data=rows, sensitive_features=["sex", "age"],
                            at=f"2025-{number}")  # fmt: skip
        options = ["--at", f"2025-{number}", "--json", "-", *(HOW if number == 0 else [])]
        code, out, err = call("watch", state, folder / f"{number}.csv", *COLUMNS, *options)
        assert json.loads(out) == look.to_dict()
        assert err == (
            f"Exit code 1: there is an alarm since batch {look.raised}.\n" if code else ""
        )
        codes.append(code)
    assert codes == [0, 0, 0, 1, 1]
    assert json.loads(state.read_text())["raised"] == 4


def test_what_is_printed(folder, tmp_path):
    state = tmp_path / "watch.json"
    code, out, err = call("watch", state, folder / "0.csv", *COLUMNS, *HOW)
    assert (code, err) == (0, "")
    assert out.split("\n")[1] == "No alarm"
    assert "the alarm is at 20" in out
    for number in (2, 3):
        code, out, err = call("watch", state, folder / f"{number}.csv", *COLUMNS)
    assert code == 1
    assert out.split("\n")[1] == "Alarm"
    assert "sex = " in out
    code, out, err = call("watch", state, folder / "4.csv", *COLUMNS, "--quiet")
    assert (code, out) == (1, "")
    assert err == "Exit code 1: there is an alarm since batch 3.\n"


def test_settings_are_those_of_the_watch(folder, tmp_path):
    state = tmp_path / "watch.json"
    assert call("watch", state, folder / "0.csv", *COLUMNS, *HOW)[0] == 0
    before = state.read_text()
    for change, message in (
        (["--gamma", "0.05"], "--gamma=0.05 is not what is watched for, 0.02"),
        (["--subgroups", "trees"], "is not what is watched for"),
        (["--notion", "error_rate"], "is not what is watched for, ['false_positive_rate']"),
        (["--protected", "sex"], "--protected"),
        (["--at", "x", "--level", "0.2"], "--level=0.2 is not what is watched for, 0.05"),
    ):
        code, out, err = call("watch", state, folder / "1.csv", *COLUMNS, *change)
        assert (code, out) == (2, "")
        assert message in " ".join(err.split())
    assert state.read_text() == before
    assert call("watch", state, folder / "1.csv", *COLUMNS, *HOW)[0] == 0


def test_streams_out_of_order(folder, tmp_path):
    state = tmp_path / "watch.json"
    call("watch", state, folder / "0.csv", *COLUMNS, *HOW, "--at", "2025-02")
    (tmp_path / "look.json").write_text("{}")
    code, _, err = call("watch", state, folder / "1.csv", *COLUMNS, "--at", "2025-01", "--json",
                        tmp_path / "look.json")  # fmt: skip
    assert code == 2
    assert "--at is '2025-01', which is not later than the batch before" in " ".join(err.split())
    assert not (tmp_path / "look.json").exists()
    code, _, err = call("watch", state, folder / "0.csv", *COLUMNS)
    assert code == 2
    assert "--at is not given" in err
    fresh = tmp_path / "fresh.json"
    call("watch", fresh, folder / "0.csv", *COLUMNS, *HOW)
    code, _, err = call("watch", fresh, folder / "0.csv", *COLUMNS)
    assert code == 2
    assert "are those of batch 1, by their fingerprint" in " ".join(err.split())


def test_a_report_names_groups_to_watch(folder, tmp_path):
    report = tmp_path / "old.json"
    call("audit", folder / "2.csv", *COLUMNS, "--subgroups", "conjunctions", "--permutations", "0",
         "--json", report)  # fmt: skip
    code, out, _ = call("watch", tmp_path / "watch.json", folder / "3.csv", *COLUMNS, *HOW,
                        "--groups", report, "--json", "-")  # fmt: skip
    assert code == 1
    assert json.loads(out)["raised"] == 1


def test_bad_calls(folder, tmp_path):
    state = tmp_path / "watch.json"
    for arguments, message in (
        ([state, folder / "0.csv", "--label", "y", "--protected", "sex"], "One of --prediction"),
        ([state, folder / "0.csv", *COLUMNS, "--notion", "luck"], "--notion='luck' is unknown"),
        ([state, folder / "0.csv", *COLUMNS, "--depth", "3"], "--depth 3 is for a class"),
        ([state, folder / "0.csv", *COLUMNS, "--level", "2"], "--level must be below 1"),
        ([folder / "0.csv", folder / "0.csv", *COLUMNS], "is read, or written, by this command"),
        ([folder / "1.csv", folder / "0.csv", *COLUMNS], "STATE .*1.csv.* is no watch"),
    ):
        code, out, err = call("watch", *arguments)
        assert (code, out) == (2, ""), err
        assert re.search(message, " ".join(err.split())), err
    assert not state.exists()


def test_the_example_of_the_help():
    *_, line = examples_of("watch")
    assert line[:4] == ["gerrymend", "watch", "watch.json", "people.csv"]
