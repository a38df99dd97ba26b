"""Rows in which a protected attribute is missing: dropped where that is asked for, and counted."""

import json

import numpy as np
import polars as pl
import pytest

from gerrymend import audit, check_report
from tests.cli.calling import call

DECIDED = ["--label", "y", "--prediction", "d", "--permutations", "0"]
AUDIT = [*DECIDED, "--protected", "age,sex", "--subgroups", "conjunctions"]


@pytest.fixture(scope="module")
def people():
    """Rows in which old women are wrongly refused; age is missing in 3, sex in 2, both in 1."""
    rng = np.random.default_rng(3)
    n = 2000
    age = rng.integers(18, 80, n).astype(object)
    sex = rng.choice(["F", "M"], n).astype(object)
    y = rng.integers(0, 2, n)
    hit = (sex == "F") & (age >= 50)
    d = np.where(hit, y * (rng.random(n) < 0.5), y | (rng.random(n) < 0.3)).astype(int)
    age[[5, 50, 500]] = None
    sex[[5, 1000]] = None
    return pl.DataFrame({"age": list(age), "sex": list(sex), "y": y, "d": d})


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("missing") / "people.csv"
    people.write_csv(path, null_value="n/a")
    return path


@pytest.fixture(scope="module")
def dropped(file):
    """The report, with every file that it is written to."""
    written = {name: file.parent / f"report.{name}" for name in ("json", "md", "html")}
    code, out, err = call("audit", file, *AUDIT, "--missing", "n/a", "--drop-missing",
                          "--json", written["json"], "--markdown", written["md"],
                          "--report", written["html"])  # fmt: skip
    assert code == 1, err
    return {"terminal": out} | {name: path.read_text() for name, path in written.items()}


def test_the_report_of_dropped_rows_is_that_of_the_others(dropped, people):
    report = json.loads(dropped["json"])
    assert report["missing"] == {
        "columns": [{"column": "age", "rows": 3}, {"column": "sex", "rows": 2}],
        "of": 2000,
        "dropped": 4,
        "dropped_of_holdout": 0,
    }
    whole = people.drop_nulls()
    own = audit("y", "d", data=whole, sensitive_features=["age", "sex"], top=3,
                subgroups="conjunctions").to_dict()  # fmt: skip
    for field in ("n_rows", "unfairness", "worst", "core", "warnings", "marginals"):
        assert report[field] == own[field]
    assert report["n_rows"] == 1996
    assert "age" in report["worst"]["subgroup"]  # as a number, where --ranges would hide it
    checked = check_report(report, y_true=whole["y"], y_pred=whole["d"],
                           sensitive_features=whole[["age", "sex"]])  # fmt: skip
    assert checked.ok, checked.problems
    assert "missing.dropped" in checked.fields_not_checked


def _lie(**fields):
    return lambda told: told["missing"].update(fields)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_lie(dropped=6), "6 rows can't have been dropped for [3, 2]"),
        (_lie(dropped=2), "2 rows can't have been dropped for [3, 2]"),
        (_lie(of=1999), "1999 rows can't have been 4 more than audited"),
        (_lie(of=70), "warnings lack rows_dropped"),
        (_lie(dropped=0), "missing is stated as"),
        (_lie(dropped_of_holdout=1), "dropped of a second sample, and there is none"),
        (lambda told: told["warnings"].append({"code": "rows_dropped", "sentence": "Many."}),
         "warnings state rows_dropped, which the rows don't show"),
    ],
)  # fmt: skip
def test_the_checker_finds_wrong_numbers_of_rows(dropped, people, change, problem):
    report = json.loads(dropped["json"])
    change(report)
    whole = people.drop_nulls()
    checked = check_report(report, y_true=whole["y"], y_pred=whole["d"],
                           sensitive_features=whole[["age", "sex"]])  # fmt: skip
    assert problem in " ".join(checked.problems)


def test_the_checker_counts_what_is_kept(people):
    rows = {"y_true": people["y"], "y_pred": people["d"], "sensitive_features": people[["sex"]]}
    report = audit(**rows, subgroups="marginals").to_dict()
    assert check_report(report, **rows).ok
    for missing in ({"columns": []}, {"of": 1999}, {"dropped": 2}):
        lied = report | {"missing": report["missing"] | missing}
        assert "missing" in " ".join(check_report(lied, **rows).problems)


@pytest.mark.parametrize("kind", ["terminal", "md", "html"])
def test_every_output_says_how_many_were_dropped(dropped, kind):
    words = " ".join(dropped[kind].split())
    assert (
        "4 of 2,000 rows were dropped, as a value is missing: age in 3, sex in 2. Nothing is said "
        "of these people." in words
    )
    if kind != "terminal":  # on top of the page, too
        assert (
            "1,996 rows of people.csv (4 more were dropped: a value is missing)"
            in words.replace("\\", "")
        )


def test_rows_are_dropped_only_where_asked_for(file):
    code, _, err = call("audit", file, *AUDIT, "--missing", "n/a")
    assert code == 2
    assert "drop these rows (--drop-missing)" in err.replace("\n", " ")


@pytest.mark.parametrize("drops", [True, False])
@pytest.mark.parametrize("command", ["audit", "audit rows", "audit means", "fit"])
def test_a_missing_label_is_told_with_its_row_in_the_file(people, tmp_path, command, drops):
    """Also where rows before it are dropped, one of which has no label either."""
    places = pl.int_range(pl.len())
    absent = pl.when(places.is_in([5, 1234, 1300])).then(None).otherwise("y").alias("y")
    table = people.with_columns(absent, one=1.0)
    if not drops:
        table = table.with_columns(pl.col("age").fill_null(30), pl.col("sex").fill_null("F"))
    path = tmp_path / "labels.csv"
    table.write_csv(path)
    asked = {
        "audit": ["audit", path, *AUDIT],
        "audit rows": ["audit", path, *AUDIT, "--permutations", "19", "--weight", "one"],
        "audit means": ["audit", path, *AUDIT, "--notion", "mean_error"],
        "fit": ["fit", path, "--label", "y", "--protected", "sex,age", "--out", tmp_path / "m"],
    }[command]
    code, _, err = call(*asked, *["--drop-missing"] * drops)
    assert code == 2
    n, first = (2, "1,235") if drops else (3, "6")
    told = f"--label y has {n} missing values; fill in or drop these rows (the first is row {first}"
    assert f"{told} of 2,000)." in " ".join(err.split())


def test_a_missing_decision_is_told_with_its_row_in_the_file(people, tmp_path):
    absent = pl.when(pl.int_range(pl.len()) == 1999).then(None).otherwise("d").alias("d")
    people.with_columns(absent).write_csv(tmp_path / "decisions.csv")
    code, _, err = call("audit", tmp_path / "decisions.csv", *AUDIT, "--drop-missing")
    assert code == 2
    told = (
        "--prediction d has 1 missing value; fill it in or drop that row (it is row 2,000 of 2,000)"
    )
    assert told in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "column"),
    [(["--ranges", "age=30,50"], "age (range)"), (["--categorical", "age"], "age")],
)
def test_rows_that_are_kept_are_counted(file, people, options, column):
    page = file.parent / "kept.html"
    more = ["--missing", "n/a", *options, "--report", page]
    _, out, _ = call("audit", file, *AUDIT, *more)
    told = f"Of 2,000 rows a value is missing: {column} in 3, sex in 2. These rows are kept"
    assert told in " ".join(out.split())
    assert told in " ".join(page.read_text().split())
    _, out, _ = call("audit", file, *AUDIT, *more[:-2], "--json", "-")
    assert json.loads(out)["missing"]["columns"] == [
        {"column": column, "rows": 3}, {"column": "sex", "rows": 2}]  # fmt: skip


def fair(folder, n_missing):
    """Write 400 rows without any difference, of which some have no sex."""
    sex = ["F", "M"] * 200
    rows = pl.DataFrame({"sex": sex, "y": [0, 0, 1, 1] * 100, "d": [0, 0, 1, 1, 1, 1, 0, 0] * 50})
    absent = pl.int_range(pl.len()) < n_missing
    path = folder / f"fair-{n_missing}.csv"
    rows.with_columns(sex=pl.when(~absent).then("sex")).write_csv(path)
    return path


@pytest.mark.parametrize(("n_missing", "code"), [(20, 0), (24, 3)])
def test_a_gate_is_not_green_where_more_than_a_small_part_was_dropped(tmp_path, n_missing, code):
    path = fair(tmp_path, n_missing)
    gate = [path, *DECIDED, "--protected", "sex", "--drop-missing"]
    got, out, _ = call("audit", *gate)
    assert got == code
    warned = "Warning 24 of 400 rows (6 %) were dropped" in " ".join(out.split())
    assert warned == (code == 3)
    assert call("audit", *gate, "--accept-warnings", "--quiet")[0] == 0


def test_all_or_none_may_be_missing(tmp_path):
    code, _, err = call("audit", fair(tmp_path, 400), *DECIDED, "--protected", "sex",
                        "--drop-missing")  # fmt: skip
    assert (code, "--drop-missing leaves none of 400 rows" in err) == (2, True)
    code, out, _ = call("audit", fair(tmp_path, 0), *DECIDED, "--protected", "sex",
                        "--drop-missing", "--json", "-")  # fmt: skip
    assert (code, json.loads(out)["missing"]["dropped"]) == (0, 0)


def test_counts_and_second_files_are_counted_in_rows(people, tmp_path, file):
    counts = people.group_by("age", "sex", "y", "d").len("n")
    counts.write_csv(tmp_path / "counts.csv")
    code, out, _ = call("audit", tmp_path / "counts.csv", *AUDIT, "--counts", "n", "--drop-missing",
                        "--json", "-")  # fmt: skip
    told = json.loads(out)["missing"]
    assert (code, told["of"], told["dropped"]) == (1, 2000, 4)
    people.with_row_index().filter(pl.col("index") > 5).drop("index").write_csv(
        tmp_path / "two.csv"
    )
    code, out, _ = call("audit", tmp_path / "counts.csv", *AUDIT, "--drop-missing",
                        "--holdout", tmp_path / "two.csv")  # fmt: skip
    assert "Of the second file 3 were." in " ".join(out.split())


def test_a_control_that_is_missing_is_dropped_too(people, tmp_path):
    path = tmp_path / "people.csv"
    people.write_csv(path)
    _, out, _ = call("audit", path, *DECIDED, "--protected", "sex", "--control", "age",
                     "--leave-out-empty-strata", "--drop-missing", "--json", "-")  # fmt: skip
    assert json.loads(out)["missing"]["dropped"] == 4


@pytest.mark.parametrize("command", ["fit", "frontier"])
def test_models_are_trained_on_the_other_rows(people, tmp_path, command):
    path = tmp_path / "people.csv"
    people.head(600).write_csv(path)
    own = {
        "fit": ["--out", tmp_path / "m.skops", "--max-iter", "3", "--budget", "1"],
        "frontier": ["--gammas", "0.05", "--max-iter", "3", "--json", tmp_path / "f.json"],
    }
    data = [path, "--label", "y", "--protected", "age,sex", "--subgroups", "marginals"]
    _, out, err = call(command, *data, "--drop-missing", *own[command])
    assert "3 of 600 rows were dropped, as a value is missing: age in 3, sex in 1." in " ".join(
        out.split()
    ), err


def test_rows_that_are_dropped_are_told_of_in_quiet_too(tmp_path):
    """Rows that are kept, as a range of their own, are not: nothing is left out."""
    file = tmp_path / "few.csv"
    rows = [f"{'ab'[i % 2]},{'' if i < 3 else 20 + i},{i % 2}" for i in range(60)]
    file.write_text("\n".join(["town,age,d", *rows]))
    how = ("--prediction", "d", "--notion", "statistical_parity", "--protected", "town,age",
           "--subgroups", "marginals", "--permutations", "0", "--quiet")  # fmt: skip
    told = "Missing: 3 of 60 rows were dropped, as a value is missing: age in 3. "
    _, out, err = call("audit", file, *how, "--drop-missing")
    assert out == ""
    assert told in err
    _, _, err = call("audit", file, *how, "--ranges", "age=40,60")
    assert "Exit code 1" in err
    assert "dropped" not in err
