"""Workbooks in and out: what is written is read again as it was, and no text of it is a formula."""

import json
from datetime import date

import numpy as np
import polars as pl
import pytest

from gerrymend.cli.table_files import open_table, write_table
from tests.cli.calling import call

openpyxl = pytest.importorskip("openpyxl")
N = 300
RNG = np.random.default_rng(0)
ODD = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2", "＝1", " =1", "Ulm", "'a", "1e5"]


@pytest.fixture(scope="module")
def people():
    sex = RNG.choice(["F", "M"], N)
    score = RNG.random(N)
    return pl.DataFrame(
        {
            "id": np.arange(N) + 10,
            "sex": sex,
            "town": RNG.choice(ODD, N),
            "age": RNG.integers(18, 80, N),
            "score": score,
            "granted": (score > 0.5 - 0.2 * (sex == "F")).astype(int),
            "repaid": RNG.integers(0, 2, N),
        }
    )


def cells(path):
    """All cells of all sheets."""
    return [cell for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows()
            for cell in row]  # fmt: skip


def test_a_frame_is_read_again_as_it_was(people, tmp_path):
    frame = people.with_columns(
        day=pl.lit(date(2024, 3, 1)), is_new=pl.col("age") < 30,
        gap=pl.when(pl.col("age") > 40).then("score"), large=pl.lit(10**17 + 1),
    )  # fmt: skip
    path = tmp_path / "people.xlsx"
    assert write_table(frame, path) is False
    again = open_table(path, []).collect()
    assert again.columns == frame.columns
    for name in frame.columns:
        told, found = frame[name].to_list(), again[name].to_list()
        if name in ("score", "gap"):  # openpyxl writes 16 digits
            assert [one is None for one in found] == [one is None for one in told]
            pairs = zip(again[name].drop_nulls(), frame[name].drop_nulls(), strict=True)
            assert max(abs(one - other) for one, other in pairs) < 1e-15
        elif name == "day":
            assert {str(one)[:10] for one in found} == {"2024-03-01"}
        elif name == "large":
            assert {str(one) for one in found} == {str(10**17 + 1)}
        else:
            assert found == told, name
    assert not any(cell.data_type == "f" for cell in cells(path))


def test_a_sheet_has_so_many_rows(tmp_path):
    many = pl.DataFrame({"a": np.zeros(1_048_576, dtype=np.int8)})
    with pytest.raises(
        ValueError, match=r"would have 1,048,576 rows, and a sheet has no more than"
    ):
        write_table(many, tmp_path / "many.xlsx")


def test_from_workbook_to_workbook(people, tmp_path):
    """Rows, a model, its predictions, and an audit of these: each step reads what another wrote."""
    rows = tmp_path / "rows.xlsx"
    write_table(people, rows)
    model = tmp_path / "m.skops"
    code, _, err = call("fit", rows, "--label", "repaid", "--protected", "sex", "--features",
                        "age,town,score", "--out", model, "--max-iter", 2, "--estimator",
                        "linear-regression", "--gamma", 0.3)  # fmt: skip
    assert code in (0, 1, 3), err
    ids = ["--id", "id,sex,town,repaid"]
    for name in ("p.xlsx", "p.parquet"):
        code, _, err = call("predict", model, rows, "--out", tmp_path / name, *ids)
        assert code == 0, err
    assert not any(cell.data_type == "f" for cell in cells(tmp_path / "p.xlsx"))
    assert (
        open_table(tmp_path / "p.xlsx", [])
        .collect()
        .equals(pl.read_parquet(tmp_path / "p.parquet"))
    )
    found = []
    for name in ("p.xlsx", "p.parquet"):
        code, out, err = call("audit", tmp_path / name, "--label", "repaid", "--prediction",
                              "prediction", "--protected", "sex,town", "--permutations", 0,
                              "--subgroups", "conjunctions", "--json", "-")  # fmt: skip
        assert code in (0, 1, 3), err
        found.append(json.loads(out))
    assert found[0] == found[1]


def test_patched_scores(people, tmp_path):
    rows = tmp_path / "rows.xlsx"
    write_table(people, rows)
    asked = ["--label", "repaid", "--score", "score", "--protected", "sex", "--draws", 19]
    for name in ("p.xlsx", "p.parquet"):
        code, _, err = call("calibrate", rows, *asked, "--out", tmp_path / name)
        assert code == 0, err
    sheet = open_table(tmp_path / "p.xlsx", []).collect()
    wanted = pl.read_parquet(tmp_path / "p.parquet")
    assert sheet.columns == wanted.columns
    assert sheet["town"].to_list() == people["town"].to_list()
    np.testing.assert_allclose(sheet["score_patched"], wanted["score_patched"], atol=1e-15)


def test_impact_ratios_are_read_again_as_a_table(people, tmp_path):
    rows = tmp_path / "rows.xlsx"
    write_table(people, rows)
    out = tmp_path / "impact.xlsx"
    asked = ["--selected", "granted", "--protected", "sex,town", "--no-search", "--xlsx", out]
    code, _, err = call("impact", rows, *asked, "--json", tmp_path / "impact.json")
    assert code == 0, err
    with pytest.warns(UserWarning, match="has 2 sheets; the first, 'Impact ratios', was read"):
        again = open_table(out, []).collect()
    data = json.loads((tmp_path / "impact.json").read_text())
    groups = [group for table in data["tables"] for group in table["groups"]]
    told = {one["group"]: one["n"] for one in groups}
    read = {one["group"]: one["n"] for one in again.to_dicts()}
    assert told.items() <= read.items()
    assert any("=1+1" in name for name in read)


def test_without_openpyxl_it_is_said_before_any_work(tmp_path, monkeypatch):
    real = __import__("importlib").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: None if name == "openpyxl"
                        else real(name, *more))  # fmt: skip
    code, _, err = call(
        "predict", tmp_path / "none.skops", tmp_path / "none.csv", "--out", "p.xlsx"
    )
    assert code == 2
    assert "pip install 'gerrymend[xlsx]'" in err
