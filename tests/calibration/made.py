"""Made scores, and a search over all subgroups and intervals that shares no code with ours."""

import itertools
import math

import numpy as np
import pandas as pd

CUTS = tuple(step / 10 for step in range(1, 10))


def made_scores(n=1500, seed=0, planted=1.5, power=1.0):
    """Labels, scores and attributes; women of town A have `planted` more log-odds than scored.

    With a power, scores are that much too sure of themselves.
    """
    rng = np.random.default_rng(seed)
    A = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "town": rng.choice(["A", "B", "C"], n),
            "age": rng.integers(20, 60, n),
        }
    )
    log_odds = rng.normal(-0.3, 1.2, n)
    score = 1 / (1 + np.exp(-power * log_odds))
    group = (A["sex"] == "F") & (A["town"] == "A")
    happens = 1 / (1 + np.exp(-log_odds - planted * group.to_numpy()))
    y = (rng.random(n) < happens).astype(int)
    return y, score, A


def worst_of_all(y, score, attributes, cuts=CUTS, weight=None):
    """The largest |Σ w·(y − score)|/Σ w over conjunctions of up to two conditions and runs of bins.

    In plain Python, by loops over rows. Attributes are lists, by name: of strings a condition is
    one value, of numbers an interval of them.
    """
    weight = [1.0] * len(y) if weight is None else weight
    bins = [sum(one >= cut for cut in cuts) for one in score]
    conditions = [
        [(name, allowed) for allowed in _allowed(values)] for name, values in attributes.items()
    ]
    groups = [()]
    groups += [(one,) for of_one in conditions for one in of_one]
    for first, second in itertools.combinations(conditions, 2):
        groups += list(itertools.product(first, second))
    total = math.fsum(weight)
    worst = 0.0
    for group in groups:
        by_bin = [0.0] * (len(cuts) + 1)
        for i, place in enumerate(bins):
            if all(attributes[name][i] in allowed for name, allowed in group):
                by_bin[place] += weight[i] * (y[i] - score[i])
        for low, high in itertools.combinations(range(len(by_bin) + 1), 2):
            worst = max(worst, abs(math.fsum(by_bin[low:high])) / total)
    return worst


def _allowed(values):
    """The sets of values that a condition may allow."""
    distinct = sorted(set(values))
    if isinstance(distinct[0], str):
        return [{value} for value in distinct]
    ends = itertools.combinations(range(len(distinct) + 1), 2)
    return [set(distinct[low:high]) for low, high in ends]


def categories_of(A):
    """The categorical columns of a frame as lists, by name."""
    return {name: A[name].tolist() for name in ("sex", "town")}
