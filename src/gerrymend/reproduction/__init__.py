"""Reproduction of the paper: experiments write records, which figures and the report only read."""

# What `gerrymend reproduce` can be asked for, beside `all`.
TARGETS = (
    "table1", "toy", "convergence", "pareto", "surface", "trajectory", "c", "authors", "future",
)  # fmt: skip
