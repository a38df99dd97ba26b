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
# Audits that draw, by the class whose search takes least: it is the draws that are compared.
DRAWN_SIZES = ((10**4, 10**2), (2 * 10**5, 10**2), (10**6, 10**2), (10**6, 10**4))
DRAWS = {
    "99 permutations": {"n_permutations": 99},
    "400 resamples": {"confidence": 0.95, "n_resamples": 400},
}
MOST = 1.5


def rows(n_rows, n_cells, seed=0, *, only_numbers=False):
    """Two categories and two numbers, or one of each where cells are few; and skewed outcomes.

    Categories that are text take most of the time to read; numbers alone take little.
    """
    rng = np.random.default_rng(seed)
    n_attributes = 4 if n_cells >= 10**4 else 2
    n_values = round(n_cells ** (1 / n_attributes))
    attributes = {}
    for i in range(n_attributes):
        values = rng.integers(0, n_values, n_rows)
        names = np.array([f"v{value}" for value in range(n_values)])
        as_text = i % 2 == 0 and not only_numbers
        attributes[f"a{i}"] = names[values] if as_text else values.astype(float)
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


def ratio(attributes, outcomes, **how):
    """Seconds for means of numbers over those for the rate of the upper half of them."""
    decided = (outcomes > np.median(outcomes)).astype(int)
    how = {"sensitive_features": attributes, "n_jobs": 1} | how
    of_rates = cost(lambda: audit(None, decided, notion="statistical_parity", **how))
    return cost(lambda: audit(None, outcomes, notion="mean_outcome", **how)) / of_rates


def figures(sizes=SIZES, drawn_sizes=DRAWN_SIZES):
    """A line for each class and size, and for each kind of draws and of numbers."""
    return plain_figures(sizes) + [
        line
        for n_rows, n_cells in drawn_sizes
        for draws, how in DRAWS.items()
        for line in drawn_figures(n_rows, n_cells, draws, how)
    ]


def plain_figures(sizes):
    """A line for each class and size."""
    return [
        (
            f"{name}, {n_rows:,} rows in {n_cells:,} cells: numbers / decisions",
            ratio(*rows(n_rows, n_cells), subgroups=subgroups, budget=4.0),
            f"at most {MOST}",
        )
        for name, subgroups in CLASSES.items()
        for n_rows, n_cells in sizes
    ]


def drawn_figures(n_rows, n_cells, draws, how):
    """A line for outcomes that all differ, for these beside numbers alone, and for whole ones."""
    attributes, outcomes = rows(n_rows, n_cells)
    numbers_alone, beside = rows(n_rows, n_cells, only_numbers=True)
    kinds = {
        "all different": (attributes, outcomes),
        "all different, attributes without text": (numbers_alone, beside),
        "grades of 0 to 9": (attributes, np.minimum(outcomes // 2, 9.0)),
    }
    return [
        (
            f"{draws}, {n_rows:,} rows in {n_cells:,} cells, {kind}: numbers / decisions",
            ratio(*given, subgroups="marginals", **how),
            f"at most {MOST}",
        )
        for kind, given in kinds.items()
    ]
