"""Rows that are made where they are counted: the benchmark's, fewer of them."""

import narwhals as nw
import pytest
from benchmarks import huge_audits

from gerrymend import LinearThresholds, audit

N = 200_000
PROTECTED = list(huge_audits.PROTECTED)


@pytest.fixture
def engine_rows(request, monkeypatch):
    pytest.importorskip({"duckdb": "duckdb", "dask": "dask.dataframe"}[request.param])
    monkeypatch.setattr(huge_audits, "ROWS_OF_A_BLOCK", 37_000)
    return {"duckdb": huge_audits.of_duckdb, "dask": huge_audits.of_dask}[request.param](N)


@pytest.mark.parametrize("engine_rows", ["duckdb", "dask"], indirect=True)
@pytest.mark.parametrize("subgroups", [LinearThresholds(search="regression"), "conjunctions"])
def test_the_report_is_that_of_the_rows_and_only_sums_travel(engine_rows, subgroups, monkeypatch):
    collected = []
    collect = nw.LazyFrame.collect

    def counted(frame, *arguments, **options):
        found = collect(frame, *arguments, **options)
        collected.append(len(found))
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", counted)
    rows = huge_audits.block(0, N)
    how = {"sensitive_features": PROTECTED, "subgroups": subgroups}
    report = audit("y", "d", data=engine_rows, **how)
    assert report.to_dict() == audit("y", "d", data=rows, **how).to_dict()
    cells = rows.groupby([*PROTECTED, "y", "d"]).ngroups
    assert collected == [4, cells]
    assert cells <= 4 * 2 * 12 * 3 * 2 * 4
    assert report.worst is not None


@pytest.mark.parametrize("engine_rows", ["duckdb", "dask"], indirect=True)
def test_both_engines_make_the_rows_that_were_meant(engine_rows):
    """The formula of the benchmark, in Python's whole numbers, for every hundredth row."""
    names = [*PROTECTED, "y", "d"]
    counts = nw.from_native(engine_rows).group_by(names).agg(nw.len().alias("n")).collect()
    made = {row[:-1]: row[-1] for row in counts.select(*names, "n").iter_rows()}
    assert sum(made.values()) == N

    def number(i, how):
        factor, many = how
        return ((i * factor >> 20) % 2**16 * many) >> 16

    for i in range(0, N, 100):
        race, sex, *others = (number(i, how) for how in huge_audits.PROTECTED.values())
        limit = huge_audits.DECIDED + huge_audits.MORE * (race == 0 and sex == 1)
        decided = int(number(i, huge_audits.LUCK) < limit)
        row = (huge_audits.RACES[race], sex, *others, number(i, huge_audits.LABEL), decided)
        assert made[row] > 0
