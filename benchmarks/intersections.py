"""Worst intersection of protected values: humancompatible-detect's search, and our conjunctions.

Its measure of a group G under decisions D is |P(G | D = 1) − P(G | D = 0)|, the maximum subgroup
discrepancy. With p = P(D = 1) ours, statistical parity, is a multiple of it:

    |P(G, D = 1) − p·P(G)| = p·(1 − p)·|P(G | D = 1) − P(G | D = 0)|,

so that both look for the same group. Its groups are conjunctions of a value of some attributes;
numbers would be put in ten bins of equal width, which is done here for both. It solves a mixed
integer programme by HiGHS, with a row for each distinct protected row and each of its values.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.data import PAPER_DATA
from benchmarks.fits import standardised
from benchmarks.venvs import run_peer
from gerrymend import Conjunctions, audit
from gerrymend.datasets import make_benchmark

REQUIREMENT = "humancompatible-detect==0.1.6"
MADE = (2, 3, 4, 5)  # the planted group is in the first two
MOST_VALUES = 10


def problems(n_rows, datasets):
    """Decisions and protected values in words, by name: made data, and what is at hand."""
    made = make_benchmark(n_rows, cardinalities=MADE, numeric=(), random_state=0)
    found = {f"made, {n_rows:,} rows": (made.decisions, pd.DataFrame(made.sensitive_features))}
    for name in datasets if PAPER_DATA.is_dir() else ():
        X, y, protected = standardised(name)
        decisions = LogisticRegression(max_iter=2000).fit(X, y).predict(X)
        found[name] = decisions, protected.apply(_in_words)
    return found


def _in_words(values):
    if pd.api.types.is_numeric_dtype(values) and values.nunique() > MOST_VALUES:
        values = pd.cut(values, MOST_VALUES)
    return values.astype(str)


def theirs(decisions, protected, limit):
    """Seconds, and the unfairness of the group that it finds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        columns = {name: values.to_numpy(str) for name, values in protected.items()}
        np.savez(path, decision=decisions.astype(bool), **columns)
        came = json.loads(run_peer("humancompatible", REQUIREMENT, path, limit).splitlines()[-1])
    members = np.ones(len(decisions), dtype=bool)
    for name, value in came["conditions"]:
        members &= (protected[name] == value).to_numpy()
    return came["seconds"], abs((decisions - decisions.mean())[members].sum()) / len(decisions)


def ours(decisions, protected):
    """Seconds, and the unfairness of the worst group, proven."""
    start = time.perf_counter()
    report = audit(
        np.arange(len(decisions)) % 2, decisions, sensitive_features=protected,
        notion="statistical_parity", subgroups=Conjunctions(protected.shape[1]), min_group_size=1,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    assert report.exact, "the search was to be exact"
    return seconds, report.unfairness


def figures(n_rows=20_000, datasets=("adult", "student"), limit=300):
    """Seconds of both, and what both find by our measure: theirs is that over p·(1 − p)."""
    lines = []
    for name, problem in problems(n_rows, datasets).items():
        ours(*problem)  # numba compiles
        seconds, unfairness = ours(*problem)
        their_seconds, their_unfairness = theirs(*problem, limit)
        of_peer = f"humancompatible-detect / ours, {name}"
        lines += [
            (f"{of_peer}, seconds", their_seconds / seconds, "at least 1"),
            (f"{of_peer}, unfairness found", their_unfairness / unfairness, "at most 1"),
        ]
    return lines
