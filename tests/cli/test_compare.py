"""`gerrymend compare`: the same as compare()'s, exit codes, files, and what bad input gets."""

import json
import re

import numpy as np
import polars as pl
import pytest

from gerrymend import audit, compare
from tests.cli.calling import call, examples_of

COLUMNS = ["--label", "y", "--prediction", "d", "--protected", "sex,age"]
QUICK = ["--subgroups", "conjunctions", "--permutations", "39"]
A = ["sex", "age"]


def people(seed, shift):
    rng = np.random.default_rng(seed)
    n = 900
    sex = rng.choice(["F", "M"], n)
    p = 0.3 + shift * (sex == "F")
    return pl.DataFrame(
        {
            "sex": sex,
            "age": rng.integers(18, 80, n),
            "y": rng.integers(0, 2, n),
            "d": (rng.random(n) < p).astype(int),
            "before": (rng.random(n) < 0.3).astype(int),
            "score": rng.random(n).round(2),
        }
    )


OLD, NEW = people(1, 0.0), people(2, 0.4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    OLD.write_csv(folder / "old.csv")
    OLD.rename({"d": "then"}).write_parquet(folder / "then.parquet")
    NEW.write_csv(folder / "new.csv")
    report = audit("y", "d", data=OLD, sensitive_features=A, subgroups="conjunctions")
    (folder / "old.json").write_text(report.to_json())
    return folder


def plain(text):
    data = json.loads(text)
    data["provenance"] = None
    return data


def expected(old, data=NEW, **how):
    return plain(compare(old, "y", "d", data=data, sensitive_features=A, **how).to_json())


def test_a_report_and_a_table(folder):
    code, out, err = call("compare", folder / "old.json", folder / "new.csv", *COLUMNS,
                          "--json", "-")  # fmt: skip
    assert plain(out) == expected(folder / "old.json")
    assert (code, json.loads(out)["verdict"]) == (1, "worse")
    assert err.endswith("Exit code 1: it is worse than before.\n")


@pytest.mark.parametrize(("old", "column"), [
    ("old.csv", []), ("then.parquet", ["--old-prediction", "then"]),
])  # fmt: skip
def test_two_tables(folder, old, column):
    code, out, _ = call("compare", folder / old, folder / "new.csv", *COLUMNS, *QUICK, *column,
                        "--json", "-")  # fmt: skip
    assert plain(out) == expected(OLD, subgroups="conjunctions", n_permutations=39)
    assert code == 1


def test_two_models_on_one_table(folder):
    code, out, _ = call("compare", folder / "new.csv", folder / "new.csv", *COLUMNS, *QUICK,
                        "--old-prediction", "before", "--json", "-")  # fmt: skip
    assert plain(out) == expected("before", subgroups="conjunctions", n_permutations=39)
    assert code == 1
    assert json.loads(out)["basis"] == "models"


def test_exit_codes(folder):
    same = ["compare", folder / "old.json", folder / "old.csv", *COLUMNS, "--quiet"]
    assert call(*same) == (0, "", "")
    code, _, err = call(*same, "--tolerance", "0", "--fail-on", "exceeds")
    exceeds = json.loads((folder / "old.json").read_text())["verdict"] == "exceeds gamma"
    assert code == int(exceeds)
    code, _, err = call("compare", folder / "old.csv", folder / "new.csv", *COLUMNS, *QUICK[:2],
                        "--permutations", "0", "--quiet")  # fmt: skip
    assert code == 3
    assert "It can't be told whether it changed." in err
    assert err.endswith("Exit code 3: whether it is worse can't be told.\n")


def test_what_is_printed_and_written(folder, tmp_path):
    code, out, _ = call("compare", folder / "old.json", folder / "new.csv", *COLUMNS, "--report",
                          tmp_path / "page.html", "--markdown", tmp_path / "told.md",
                          "--title", "Loans <b>")  # fmt: skip
    assert code == 1
    assert out.split("\n")[1] == "Worse than before"
    assert "The report is in" in out
    assert "<h1>Loans &lt;b&gt;</h1>" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "told.md").read_text().startswith("# Loans \\<b\\>\n\n**Worse than before")


BAD = {
    "no decisions": (["--label", "y", "--protected", "sex"], "One of --prediction"),
    "a rate": ([*COLUMNS, "--notion", "luck"], "--notion='luck' is unknown"),
    "a column": ([*COLUMNS, "--old-prediction", "then"], "OLD .*old.json is a report, which has"),
    "gamma": ([*COLUMNS, "--gamma", "0.2"], "--gamma=0.2 is not that of the old report, 0.01"),
    "a class": ([*COLUMNS, "--subgroups", "trees"], "--subgroups is Trees.*and the old report is"),
    "attributes": (["--label", "y", "--prediction", "d", "--protected", "sex"],
                   "--protected are 'sex', and those of the old report 'sex', 'age'"),
    "what fails": ([*COLUMNS, "--fail-on", "luck"], "--fail-on='luck' is unknown"),
    "depth": ([*COLUMNS, "--depth", "3"], "--depth 3 is for a class that --subgroups names"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_bad_calls(folder, options, message):
    code, out, err = call("compare", folder / "old.json", folder / "new.csv", *options)
    assert (code, out) == (2, "")
    assert re.search(message, " ".join(err.split()))


def test_bad_old_files(folder, tmp_path):
    arguments = [folder / "new.csv", *COLUMNS]
    code, _, err = call("compare", tmp_path / "none.json", *arguments)
    assert code == 2
    assert "can't be read" in err
    code, _, err = call("compare", folder / "new.csv", *arguments)
    assert code == 2
    assert "so that nothing changed; name the column" in " ".join(err.split())
    code, _, err = call("compare", folder / "then.parquet", *arguments)
    assert code == 2
    assert "--prediction" in err
    assert "then.parquet" in err


def test_a_failed_run_leaves_no_old_file(folder, tmp_path):
    (tmp_path / "told.json").write_text("{}")
    code, _, err = call("compare", folder / "old.json", folder / "new.csv", *COLUMNS, "--gamma",
                        "0.2", "--json", tmp_path / "told.json")  # fmt: skip
    assert code == 2
    assert "is removed" in err
    assert not (tmp_path / "told.json").exists()


def test_the_example_of_the_help():
    *_, line = examples_of("compare")
    assert line[:4] == ["gerrymend", "compare", "old.json", "people.csv"]


def test_decisions_that_are_no_label_are_told_in_options(folder):
    """One remedy was an argument of Python's."""
    wrong = ["--label", "y", "--prediction", "score", "--protected", "sex"]
    code, _, err = call("compare", folder / "old.csv", folder / "new.csv", *wrong)
    assert code == 2
    assert "--probability" in err
    assert "decision_probabilities" not in err
