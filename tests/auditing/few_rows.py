"""Rows of which few are distinct: every subgroup can be listed, and every column has ties."""

import numpy as np


def few_rows(seed, n_rows=60, *, levels=(0, 1), numbers=False, weighted=False, controlled=False):
    """Return rows by the names of `audit()`'s arguments.

    Parameters
    ----------
    levels : sequence
        The classes of labels and decisions, each of which has a row and a weight.
    numbers : bool
        Numbers are predicted, and not classes; some weigh nothing.
    controlled : bool
        Two control features make four strata.
    """
    rng = np.random.default_rng(seed)
    attributes = {
        "town": np.array(["Au", "Ulm", "Rom"])[rng.integers(0, 3, n_rows)],
        "age": rng.integers(1, 4, n_rows).astype(float),
    }
    if numbers:
        predicted = rng.integers(-3, 4, n_rows) / 2
        true = predicted + rng.integers(-2, 3, n_rows)
    else:
        label = rng.integers(0, len(levels), n_rows)
        label[: len(levels)] = np.arange(len(levels))
        is_other = rng.random(n_rows) < 0.4
        decision = np.where(is_other, rng.integers(0, len(levels), n_rows), label)
        true = np.array(levels)[label]
        predicted = np.array(levels)[decision]
    rows = {
        "y_true": true,
        "y_pred": predicted,
        "sensitive_features": attributes,
        "sample_weight": rng.integers(1 - numbers, 4, n_rows) / 4 if weighted else None,
    }
    if controlled:
        rows["control_features"] = {
            "job": np.array(["cook", "nurse"])[rng.integers(0, 2, n_rows)],
            "years": rng.integers(1, 3, n_rows),
        }
    return rows
