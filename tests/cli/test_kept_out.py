"""Rows that were kept out of a training can be had: as they stand in the file, and no others."""

import csv
import gzip

import numpy as np
import polars as pl
import pytest

from tests.cli.calling import call

N = 400
ASKED = ["--label", "y", "--protected", "sex", "--features", "x,sex", "--estimator",
         "linear-regression", "--max-iter", "2", "--seed", "3", "--test-size", "0.25"]  # fmt: skip


@pytest.fixture(scope="module")
def people():
    """Rows with texts that other types would change, of which two have no sex."""
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], N).astype(object)
    sex[[3, 250]] = None
    return pl.DataFrame(
        {
            "id": [f"{i:04}" for i in range(N)],
            "sex": list(sex),
            "x": rng.normal(size=N).round(3),
            "y": rng.integers(0, 2, N),
            "note": ["=1+1", "-5", "a, b", 'say "x"'] * (N // 4),
        }
    )


def fitted(path, folder, *options):
    return call("fit", path, *ASKED, "--out", folder / "m.skops", "--drop-missing", *options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_they_are_the_rows_that_were_audited_as_they_stand_in_the_file(people, tmp_path):
    """By hand: of each label a quarter of the rows with a sex, none twice, in the file's order."""
    people.write_csv(tmp_path / "people.csv")
    out = tmp_path / "test.csv"
    page = tmp_path / "r.html"
    asked = ["--test-rows", out, "--report", page]
    code, told, err = fitted(tmp_path / "people.csv", tmp_path, *asked)
    assert code in (0, 1, 3), err
    with (tmp_path / "people.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    with out.open(newline="") as file:
        written_head, *written = csv.reader(file)
    assert written_head == head
    as_written = [[*line[:4], line[4].removeprefix("'")] for line in written]
    places = [lines.index(line) for line in as_written]
    assert places == sorted(set(places))
    assert {3, 250}.isdisjoint(places)
    kept = [line for line in lines if line[1]]
    for label in "01":
        n = sum(line[3] == label for line in kept)
        assert abs(sum(line[3] == label for line in as_written) - n / 4) < 1
    assert all(line[4] != "=1+1" for line in written)  # which a spreadsheet would run
    assert f"Texts that a spreadsheet would run as formulas have a ' before them in {out}." in err
    assert f"{len(written)}, drawn by --seed 3; in {out}" in " ".join(told.split())
    again = tmp_path / "again.csv"
    assert fitted(tmp_path / "people.csv", tmp_path, "--test-rows", again)[0] == code
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_model_decides_on_them_as_the_report_says(people, tmp_path):
    """The rate of each sex over the written rows is the one that the audit of test rows states."""
    people.drop_nulls().write_csv(tmp_path / "people.csv")
    out = tmp_path / "test.parquet"
    page = tmp_path / "r.md"
    asked = ["--test-rows", out, "--markdown", page, "--subgroups", "marginals", "--gate", "test"]
    code, _, err = fitted(tmp_path / "people.csv", tmp_path, *asked, "--notion",
                          "statistical_parity", "--min-group-size", "1")  # fmt: skip
    assert code in (0, 1, 3), err
    decided = tmp_path / "d.csv"
    call("predict", tmp_path / "m.skops", out, "--out", decided, "--probabilities")
    p = pl.read_csv(decided)["probability"].to_numpy()
    sex = pl.read_parquet(out)["sex"].to_numpy()
    text = page.read_text()
    for value in "FM":
        assert f"| sex = {value} | {sum(sex == value)} | {100 * p[sex == value].mean():.1f}".rstrip(
            "0"
        ).rstrip(".") in text.replace("\\", "")


def test_they_are_text_where_the_file_is_packed(people, tmp_path):
    text = people.write_csv().encode()
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(text))
    out = tmp_path / "test.csv"
    code, _, err = fitted(tmp_path / "people.csv.gz", tmp_path, "--test-rows", out)
    assert code in (0, 1, 3), err
    ids = pl.read_csv(out, infer_schema=False)["id"].to_list()
    assert set(ids) < set(people["id"].to_list())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--test-rows", "t.csv", "--test-size"], "there are none; keep some out with --t"),
        (["--test-rows", "t.txt"], "--test-rows t.txt must end in .csv, .parquet or .xlsx."),
        (["--test-rows", "people.csv"], "--test-rows people.csv is read, or written, by this"),
        (["--test-rows", "r.csv", "--markdown", "r.csv"], "--test-rows r.csv is read, or written"),
    ],
)
def test_what_cannot_be_written_is_refused(people, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    people.write_csv("people.csv")
    asked = ASKED if options[-1] != "--test-size" else ASKED[:-2]
    given = [one for one in options if one != "--test-size"]
    code, out, err = call("fit", "people.csv", *asked, "--out", "m.skops", *given)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())
    assert not (tmp_path / "m.skops").exists()


def test_standard_input_is_read_once(people, tmp_path):
    code, _, err = call("fit", "-", *ASKED, "--out", tmp_path / "m.skops", "--test-rows",
                        tmp_path / "t.csv", stdin=people.write_csv())  # fmt: skip
    assert code == 2
    assert "standard input can be read once; name a file." in " ".join(err.split())
