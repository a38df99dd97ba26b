"""Numbers that float64 does not hold, where an engine sums them: refused, or cut exactly."""

from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gerrymend import audit
from gerrymend.auditing.lazy_exact import check_exact

B = 2**53
P = np.arange(200) % 2
COLUMNS = {
    "whole": pl.Series(B + P),
    "negative": pl.Series(-B - P),
    "unsigned": pl.Series(2**63 + P.astype(np.uint64)),
    "decimal": pl.Series([Decimal(B + int(one)) for one in P]),
    # Their extremes are floats, and one between them is not.
    "between": pl.Series([B + 1] + [2**60] * 99 + [-(2**61)] * 100),
    "places": pl.Series([Decimal(f"0.1234567890123456789{one}") for one in P]),
}
ROWS = pl.DataFrame({"sex": np.where(P, "F", "M"), "none": np.zeros(200)} | COLUMNS)


def dask(rows):
    frames = pytest.importorskip("dask.dataframe")
    return frames.from_pandas(rows.drop("decimal", "places").to_pandas(), npartitions=3)


ENGINES = {
    "polars": pl.DataFrame.lazy,
    "duckdb": lambda rows: duckdb.from_arrow(rows.to_arrow()),
    "dask": dask,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("column", COLUMNS)
def test_an_engine_rounds_no_outcome(column, engine):
    rows = ENGINES[engine](ROWS)
    if engine == "dask" and column not in rows.columns:
        pytest.skip("pandas has no decimals")
    refused = "has (whole )?numbers that float64 (does not hold|can't tell apart), such as"
    asked = {"sensitive_features": "sex", "data": rows}
    with pytest.raises(ValueError, match=f"^y_pred {refused}"):
        audit(None, column, notion="mean_outcome", **asked)
    with pytest.raises(ValueError, match=f"^y_true {refused}"):
        audit(column, "none", notion="mean_error", **asked)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "threshold"), [("whole", B + 1), ("negative", -B), ("unsigned", 2**63 + 1)]
)
def test_an_engine_cuts_whole_scores_exactly(column, threshold, engine):
    asked = {"sensitive_features": "sex", "data": ENGINES[engine](ROWS)}
    found = audit(None, column, threshold=threshold, notion="statistical_parity", **asked)
    assert found.worst.unfairness == 0.25


@pytest.mark.parametrize("threshold", [2**63, 2.0**63, 2**70])
def test_no_whole_number_reaches_what_its_type_does_not_hold(threshold):
    """As floats the largest would: 2⁶³ − 1 is rounded up."""
    rows = pl.LazyFrame({"sex": ROWS["sex"], "score": np.where(P, 2**63 - 1, 0)})
    found = audit(
        None,
        "score",
        threshold=threshold,
        notion="statistical_parity",
        sensitive_features="sex",
        data=rows,
    )
    assert [overall.rate for overall in found.overall_rates] == [0.0]


def test_an_engine_does_not_merge_decimal_scores():
    asked = {"sensitive_features": "sex", "data": ROWS.lazy(), "notion": "statistical_parity"}
    with pytest.raises(ValueError, match=r"^y_pred has .*float64"):
        audit(None, "decimal", threshold=B + 1, **asked)


WHOLE = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(B - 4, B + 4),
    st.integers(-7, 7).map(lambda k: k * 2**60),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(WHOLE, min_size=1, max_size=6))
def test_what_an_engine_refuses_is_what_python_does(values):
    rows = nw.from_native(pl.LazyFrame({"x": pl.Series(values, dtype=pl.Int64)}))
    lost = [value for value in values if int(float(value)) != value]
    if not lost:
        check_exact(rows, "x", "y_pred")
        return
    with pytest.raises(ValueError, match="whole numbers") as refused:
        check_exact(rows, "x", "y_pred")
    assert any(str(value) in str(refused.value) for value in lost)
