"""
Where the data lives: Polars and DuckDB
=======================================

An audit only needs sums by protected values, which the table's own engine computes. The report is
the same to the last digit.
"""

import duckdb
import polars as pl

from gerrymend import AuditDisplay, audit
from gerrymend.datasets import make_gerrymandered

people = make_gerrymandered(2000, random_state=0)
frame = pl.DataFrame({**people.sensitive_features, "repaid": people.target, "score": people.score})
question = {"threshold": 0.5, "sensitive_features": ["race", "gender"]}

from_polars = audit("repaid", "score", data=frame.lazy(), **question)
from_duckdb = audit("repaid", "score", data=duckdb.sql("SELECT * FROM frame"), **question)
print(from_polars.unfairness, from_duckdb.unfairness)
AuditDisplay.from_report(from_duckdb)
