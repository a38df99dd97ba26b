"""Ours beside fairlearn's ExponentiatedGradient and AIF360's GerryFairClassifier, in one run.

Every model is trained on the same standardised rows and audited on them by the same search, its
randomised decisions as probabilities. Ours is then trained for a little less unfairness than
theirs has, in less time than theirs took: see `_ours`.
"""

import time
import warnings

import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.fits import (
    DATASETS,
    expected_error,
    fit,
    fit_path,
    searched_unfairness,
    show,
    standardised,
    warm_up,
)
from benchmarks.peers import aif360_fit

FAIRLEARN = [{"eps": eps, "bins": bins} for bins in (2, 4) for eps in (0.005, 0.01, 0.02)]
GERRYFAIR = [{"gamma": gamma, "n_rounds": 200} for gamma in (0.005, 0.01)]
# Ours aims at parts of their unfairness, each in a part of their time: all together down a path,
# or one by one until one is no less fair, where a path has no time (its last weighing takes most of
# a second). Of those that are no less fair the one with the least error counts. What a unit above
# gamma costs, at most: enough that it is reached rather than paid for. Beside GerryFair, whose
# rounds are few, so many seconds.
PATH, PART, TRIES, LONG = (0.95, 0.8, 0.5), 0.35, {0.95: 0.45, 0.4: 0.3}, 12.0
PRICE, MOST_FITS = 30.0, 1000
BESIDE_GERRYFAIR = 5.0


def intersections(protected, bins):
    """The joint values of the attributes, numbers of more than `bins` values cut at quantiles."""
    columns = [
        pd.qcut(values, bins, labels=False, duplicates="drop").astype(str)
        if values.nunique() > bins and pd.api.types.is_numeric_dtype(values)
        else values.astype(str)
        for _, values in pd.DataFrame(protected).items()
    ]
    return pd.concat(columns, axis=1).agg("|".join, axis=1).to_numpy()


def fairlearn_fit(X, y, protected, eps, bins, n_rounds=50):
    """Its probabilities on the training rows, and the seconds of its fit.

    `eps` is the largest difference of rates that it is to allow, and 1/eps its bound on the duals.
    """
    from fairlearn.reductions import ExponentiatedGradient, FalsePositiveRateParity

    model = ExponentiatedGradient(
        LogisticRegression(), FalsePositiveRateParity(difference_bound=eps), eps=eps,
        max_iter=n_rounds,
    )  # fmt: skip
    groups = intersections(protected, bins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(X, y, sensitive_features=groups)
        seconds = time.perf_counter() - start
    return model._pmf_predict(X)[:, 1], seconds


def against_peers(datasets=DATASETS, audit_seconds=10.0):
    """For each dataset and peer, at several of its settings: ours at its unfairness, or below.

    fairlearn's groups are the joint values of all attributes, numbers of more than `bins` values
    in so many bins of equal counts. Of Communities' 18 attributes nearly every row is then a
    group, with 4 bins. GerryFairClassifier has linear thresholds, as ours.
    """
    warm_up()
    print("\npeers        data         settings                    error       U       s   ours:"
          " error       U       s")  # fmt: skip
    rows = []
    for name in datasets:
        data = standardised(name)
        for options in FAIRLEARN:
            theirs = fairlearn_fit(*data, **options)
            rows.append(beside(name, "fairlearn", options, data, theirs, audit_seconds))
        for options in GERRYFAIR:
            theirs = aif360_fit(*data, **options)
            rows.append(beside(name, "GerryFair", options, data, theirs, audit_seconds))
    show(peer_figures(rows))
    return rows


def _ours(data, unfairness, seconds, audit_seconds):
    """The best of ours that is no less fair; where none is, the fairest, seen to be less fair."""
    X, y, protected = data
    settings = {"C": PRICE, "tol": None, "max_iter": MOST_FITS}
    tried, spent = [], 0.0

    def audited(one):
        found = searched_unfairness(y, one.probability, protected, audit_seconds)
        tried.append({"our error": one.error, "our unfairness": found})
        return found <= unfairness

    if seconds >= LONG:
        gammas = [aim * unfairness for aim in PATH]
        fitted, spent = fit_path(X, y, protected, gammas, budget=PART * seconds, **settings)
        for one in fitted:
            audited(one)
    else:
        for aim, part in TRIES.items():
            gamma, budget = aim * unfairness, part * seconds
            one = fit(X, y, protected, gamma=gamma, budget=budget, **settings)
            spent += one.seconds
            if audited(one):
                break
    best = min(
        tried, key=lambda one: (max(one["our unfairness"] - unfairness, 0.0), one["our error"])
    )
    return best | {"our seconds": spent}


def beside(name, peer, options, data, theirs, audit_seconds):
    """A row: theirs, and ours at its unfairness."""
    (_, y, protected), (p, seconds) = data, theirs
    unfairness = searched_unfairness(y, p, protected, audit_seconds)
    allowed = seconds if peer == "fairlearn" else BESIDE_GERRYFAIR
    row = {
        "data": name, "peer": peer, "options": options, "error": expected_error(y, p),
        "unfairness": unfairness, "seconds": seconds,
    } | _ours(data, unfairness, allowed, audit_seconds)  # fmt: skip
    settings = ", ".join(f"{key} {value:g}" for key, value in options.items())
    print(f"{peer:<13}{name:<13}{settings:<25}{row['error']:>8.4f}{unfairness:>8.4f}{seconds:>8.2f}"
          f"{row['our error']:>14.4f}{row['our unfairness']:>8.4f}{row['our seconds']:>8.2f}",
          flush=True)  # fmt: skip
    return row


def peer_figures(rows):
    """For each peer, in how many of the comparisons ours is as fair, better and faster."""
    lines = []
    for peer in dict.fromkeys(row["peer"] for row in rows):
        of_peer = [row for row in rows if row["peer"] == peer]
        counts = {
            "no less fair": sum(row["our unfairness"] <= row["unfairness"] for row in of_peer),
            "lower error": sum(row["our error"] < row["error"] for row in of_peer),
            "fewer seconds": sum(row["our seconds"] < row["seconds"] for row in of_peer),
        }
        lines += [
            (f"ours / {peer}, {what}", f"{count} of {len(of_peer)}", "all")
            for what, count in counts.items()
        ]
    return lines
