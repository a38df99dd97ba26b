"""What an audit of numbers costs beside one of decisions, on the same rows and cells.

CPU seconds of one process, the best of a few, one after the other: a busy machine slows both.
"""

import time

import numpy as np

from gerrymend import Conjunctions, audit

CLASSES = {
    "linear": "linear",
    "conjunctions": Conjunctions(max_depth=2),
    "value sets": "value_sets",
    "trees": "trees",
}
# Rows and cells.
SIZES = ((10**4, 10**2), (10**4, 10**4), (10**5, 10**3), (10**6, 10**2), (10**6, 10**4))
MOST = 1.5


def rows(n_rows, n_cells, seed=0):
    """Two categories and two numbers, or one of each where cells are few; and skewed outcomes."""
    rng = np.random.default_rng(seed)
    n_attributes = 4 if n_cells >= 10**4 else 2
    n_values = round(n_cells ** (1 / n_attributes))
    attributes = {}
    for i in range(n_attributes):
        values = rng.integers(0, n_values, n_rows)
        names = np.array([f"v{value}" for value in range(n_values)])
        attributes[f"a{i}"] = names[values] if i % 2 == 0 else values.astype(float)
    return attributes, rng.gamma(2.0, 3.0, n_rows) + (attributes["a1"] == 0)


def cost(task, times=3):
    """CPU seconds of the quickest run, after one that compiles."""
    task()
    seconds = []
    for _ in range(times):
        start = time.process_time()
        task()
        seconds.append(time.process_time() - start)
    return min(seconds)


def ratio(subgroups, n_rows, n_cells, budget=4.0):
    """Seconds for means of numbers over those for the rate of the upper half of them."""
    attributes, outcomes = rows(n_rows, n_cells)
    decided = (outcomes > np.median(outcomes)).astype(int)
    how = {"sensitive_features": attributes, "subgroups": subgroups, "budget": budget}
    of_rates = cost(lambda: audit(None, decided, notion="statistical_parity", **how))
    return cost(lambda: audit(None, outcomes, notion="mean_outcome", **how)) / of_rates


def figures(sizes=SIZES):
    """A line for each class and size."""
    return [
        (
            f"{name}, {n_rows:,} rows in {n_cells:,} cells: numbers / decisions",
            ratio(subgroups, n_rows, n_cells),
            f"at most {MOST}",
        )
        for name, subgroups in CLASSES.items()
        for n_rows, n_cells in sizes
    ]
