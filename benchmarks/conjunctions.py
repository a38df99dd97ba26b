"""Conjunctions: a million rows in full, and side by side with pysubgroup, in a venv of its own."""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.venvs import run_peer
from gerrymend import Conjunctions
from gerrymend.auditing.tally import Tally
from gerrymend.datasets import make_benchmark
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.notions import STATISTICAL_PARITY

FEW = (2, 2, 2, 2, 3, 3, 3, 4, 5, 5, 8, 10)


def columns_of(data):
    """The protected columns, read: strings become codes."""
    columns = []
    for name, values in data.sensitive_features.items():
        if values.dtype.kind == "U":
            categories, codes = np.unique(values, return_inverse=True)
            columns.append(Column(name, codes.astype(float), tuple(categories.tolist())))
        else:
            columns.append(Column(name, values.astype(float)))
    return tuple(columns)


def search_seconds(data, columns, subgroups):
    """Seconds from arrays in memory to a proven worst, its |unfairness| and its rule.

    Every row counts (statistical parity); grouping rows into cells is part of it.
    """
    y, p = data.target.astype(np.intp), data.decisions.astype(float)
    start = time.perf_counter()
    tally = Tally.of_rows(distinct_rows(columns), y, p, np.ones(len(y))).of_notion(
        STATISTICAL_PARITY
    )
    bound = tally.bind(subgroups)
    bracket = bound.prove(tally.residual)
    seconds = time.perf_counter() - start
    value = abs(float(bracket.found.values[0])) / len(y)
    assert bracket.upper_bound / len(y) <= value + 1e-12, "the search was to be exact"
    return seconds, value, bound.source.rule(bracket.found.keys[0]).describe()


def million_rows(n_rows=1_000_000, shift=0.2, repeats=3):
    """Median seconds for 12 categories and 3 numbers of 20 to 100 values, intervals, to depth 3.

    With shift=0 there is nothing to find, and least that a bound can rule out.
    """
    data = make_benchmark(
        n_rows, cardinalities=FEW, numeric=(20, 50, 100), shift=shift, random_state=0
    )
    columns = columns_of(data)
    compile_kernels()
    times = [search_seconds(data, columns, Conjunctions(3))[0] for _ in range(repeats)]
    return float(np.median(times))


def compile_kernels():
    """Let numba compile, outside of what is timed."""
    data = make_benchmark(1000, random_state=0)
    for numeric in ("intervals", "half_lines"):
        search_seconds(data, columns_of(data), Conjunctions(3, numeric=numeric))


def against_pysubgroup(n_rows=500_000, depth=4, n_values=10, limit=3600):
    """Seconds and unfairness of ours and of pysubgroup's, same rows and selectors, one after other.

    pysubgroup gets the equality selectors and both half-lines at every cut, and looks for too high
    rates only. It may take two half-lines of one attribute: an interval, at the cost of a level.
    Numbers have 10 values by default: with 100, it does not end in nine minutes on 5,000 rows.
    """
    data = make_benchmark(
        n_rows, cardinalities=(2, 3, 4, 5, 6), numeric=(n_values,) * 3, random_state=0
    )
    columns = columns_of(data)
    compile_kernels()
    figures = {}
    for numeric in ("half_lines", "intervals"):
        seconds, value, words = search_seconds(data, columns, Conjunctions(depth, numeric=numeric))
        figures[numeric] = {"seconds": seconds, "unfairness": value, "subgroup": words}
    figures["pysubgroup"] = _pysubgroup(data, depth, limit)
    return figures


def _pysubgroup(data, depth, limit):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, decision=data.decisions, **data.sensitive_features)
        printed = run_peer("pysubgroup", "pysubgroup==0.9.0", path, depth, limit=limit)
    return json.loads(printed.splitlines()[-1])


if __name__ == "__main__":
    print(f"1,000,000 rows, 15 attributes, depth 3: {million_rows():.2f} s")
    print(f"the same where there is nothing to find: {million_rows(shift=0.0):.2f} s")
    data = make_benchmark(
        500_000, cardinalities=(2, 3, 4, 5, 6), numeric=(100,) * 3, random_state=0
    )
    alone = search_seconds(data, columns_of(data), Conjunctions(4, numeric="half_lines"))
    print(f"500,000 rows, 3 numbers of 100 values, half-lines, depth 4: {alone[0]:.2f} s")
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    print(json.dumps(against_pysubgroup(rows), indent=2))
