"""Scores that are patched for every subgroup, on rows that no patch has seen, beside MCGrad's.

The protocol, written before the first whole run.

*Settings*: the paper's four datasets and all 32,561 rows of Adult, each with a logistic regression
(one-hot columns, standardised) and boosted trees (scikit-learn's HistGradientBoostingClassifier),
both by their defaults: 10 settings. The protected attributes are the paper's.

*Rows*: `SPLITS` random splits of each dataset, 60 % to learn on and 40 % to test on, with as many
positives in both. What was changed in the learner was changed by seeds of `DEVELOPMENT` alone (all
32,561 rows of Adult: by the first ten); what counts is measured on those of `FINAL`, once. Seeds
1000 to 1004 were final ones before: how a former learner fared on them was known when the present
one was made, so that they can't count any more, and 2000 to 2004 take their place.

*Scores*: the model that is patched is trained on all rows of the 60 %. Patches are learnt on their
labels, protected attributes and out-of-fold scores (5 folds, as SubgroupCalibrator makes them), by
the defaults of `calibrate`. MCGrad (version 0.1.5) gets the same labels, the same out-of-fold
scores and the same attributes, categories as categories and numbers as numbers, and has its own
defaults, with which it stops early by cross-validation.

*Measured on the test rows*, for unpatched scores, ours and MCGrad's: the worst violation that the
exact auditor finds, over every conjunction of at most two conditions, numbers cut at every value
(Communities: 16 bins, or one audit takes minutes), within every run of 10 bins of the score; and
the Brier score. Each is averaged over the splits.

*Wanted*: (1) the worst violation is lower than that of unpatched scores, or not significantly
different from it, in 10 of 10; (2) the Brier score is at most .001 above that of unpatched scores
in each setting; (3) the worst violation is at most MCGrad's in 8 of 10 or more; (4) so is the
Brier score. Ties count as no worse, and averages tie that differ by at most `ROUNDING` of them:
scores that nobody changed pass through MCGrad's log-odds and back, and differ in the last bits,
which was a loss or a win by chance. Significance is that of the corrected resampled t-test (Nadeau
and Bengio 2003) over the splits at 5 %, two-sided, whose variance is s²·(1/k + n_test/n_train), as
splits share rows. The worst single split is told too.

*Time*: 10⁶ rows × 6 categorical attributes with a planted subgroup, CPU seconds of `calibrate` on
one core, numba compiled before.
"""

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import need_paper_data
from benchmarks.fits import show
from benchmarks.recording import RESULTS, record
from benchmarks.venvs import run_peer
from gerrymend import Conjunctions, Multicalibration, audit, calibrate

DATASETS = ("communities", "lawschool", "adult", "student", "adult, full")
MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "boosted": HistGradientBoostingClassifier(random_state=0),
}
SPLITS = 5
DEVELOPMENT = tuple(range(20))
FINAL = tuple(range(2000, 2000 + SPLITS))
# The part of two averages by which they may differ and tie.
ROUNDING = 1e-12
TEST_SHARE = 0.4
FOLDS = 5
BINS_OF_NUMBERS = {"communities": 16}
# More than any audit here takes: what it finds is the exact worst.
AUDIT_SECONDS = 600.0
# Its methods need neither torch nor ax, which are gigabytes: only these are installed beside it.
MCGRAD = "mcgrad==0.1.5"
MCGRAD_NEEDS = ("lightgbm", "pandas", "psutil", "scikit-learn", "scipy", "typing_extensions")


def load(name):
    """One-hot features, labels and protected attributes of a dataset."""
    need_paper_data()
    from tests.conftest import load_paper

    if name != "adult, full":
        return load_paper(name)
    from gerrymend.datasets import fetch_adult

    data = fetch_adult(subset="full")
    return data.encoded, data.target.to_numpy(), data.sensitive_features


class Split:
    """One split of a dataset, with the scores of a model: out of fold, and on the test rows."""

    def __init__(self, model, X, y, protected, seed):
        train, test = train_test_split(
            np.arange(len(y)), test_size=TEST_SHARE, random_state=seed, stratify=y
        )
        self.y = y[train]
        self.test_y = y[test]
        self.protected = protected.iloc[train].reset_index(drop=True)
        self.test_protected = protected.iloc[test].reset_index(drop=True)
        unseen = cross_val_predict(model, X[train], self.y, cv=FOLDS, method="predict_proba")
        self.unseen = unseen[:, 1]
        fitted = clone(model).fit(X[train], self.y)
        self.test_scores = fitted.predict_proba(X[test])[:, 1]

    def save(self, path):
        """Save what MCGrad learns from, and the rows that it is to patch."""
        arrays = {"happened": self.y, "train:score": self.unseen, "test:score": self.test_scores}
        for rows, frame in (("train", self.protected), ("test", self.test_protected)):
            for name, values in frame.items():
                as_number = pd.api.types.is_numeric_dtype(values)
                arrays[f"{rows}:{name}"] = values.to_numpy(float if as_number else str)
        np.savez(path, **arrays)


def by_mcgrad(splits):
    """MCGrad's scores of the test rows of each split, and what it says of them."""
    with tempfile.TemporaryDirectory() as folder:
        for number, split in enumerate(splits):
            split.save(Path(folder) / f"task-{number:03}.npz")
        said = run_peer("mcgrad", MCGRAD, folder, only=MCGRAD_NEEDS)
        scores = []
        for path in sorted(Path(folder).glob("done-*.npz")):
            with np.load(path) as saved:
                scores.append(saved["score"])
    return scores, [json.loads(line) for line in said.splitlines()]


def worst_violation(split, scores, bins):
    """The worst violation of test rows, by the exact auditor."""
    report = audit(
        split.test_y, scores, sensitive_features=split.test_protected,
        notion=Multicalibration(bins=10), subgroups=Conjunctions(max_depth=2, bins=bins),
        budget=AUDIT_SECONDS,
    )  # fmt: skip
    assert report.exact
    return report.unfairness


def brier(split, scores):
    return float(np.mean((split.test_y - scores) ** 2))


def of_setting(dataset, model, seeds):
    """The figures of a setting, one row a split."""
    X, y, protected = load(dataset)
    splits = [Split(MODELS[model], X, y, protected, seed) for seed in seeds]
    theirs, said = by_mcgrad(splits)
    rows = []
    for seed, split, peer, peer_said in zip(seeds, splits, theirs, said, strict=True):
        start = time.process_time()
        patches = calibrate(split.y, split.unseen, sensitive_features=split.protected)
        row = {
            "data": dataset, "model": model, "seed": seed, "train": len(split.y),
            "test": len(split.test_y), "patches": len(patches),
            "stopped": patches.standing.stopped, "seconds": time.process_time() - start,
            "MCGrad rounds": peer_said["rounds"], "MCGrad seconds": peer_said["seconds"],
        }  # fmt: skip
        scores = {
            "unpatched": split.test_scores,
            "ours": patches.apply(split.test_scores, split.test_protected),
            "MCGrad": peer,
        }
        for who, patched in scores.items():
            row[f"{who} worst"] = worst_violation(split, patched, BINS_OF_NUMBERS.get(dataset))
            row[f"{who} Brier"] = brier(split, patched)
        rows.append(row)
    return rows


def corrected_p(differences, n_train, n_test):
    """The p-value of a mean difference of 0, over splits that share rows (Nadeau and Bengio)."""
    k = len(differences)
    spread = np.var(differences, ddof=1)
    if spread == 0:
        return 1.0 if not np.any(differences) else 0.0
    t = np.mean(differences) / np.sqrt(spread * (1 / k + n_test / n_train))
    return float(2 * stats.t.sf(abs(t), k - 1))


def summary(rows):
    """The averages of a setting, over its splits."""
    table = pd.DataFrame(rows)
    kept = {name: rows[0][name] for name in ("data", "model", "train", "test")}
    measured = table.select_dtypes("number").drop(columns=["seed", "train", "test"])
    rise = table["ours worst"] - table["unpatched worst"]
    return kept | measured.mean().to_dict() | {
        "p": corrected_p(rise.to_numpy(), kept["train"], kept["test"]),
        "largest rise of Brier": float((table["ours Brier"] - table["unpatched Brier"]).max()),
    }  # fmt: skip


def no_worse(ours, theirs):
    """Whether an average is no higher than another, but for rounding."""
    return ours <= theirs * (1 + ROUNDING)


def lines_of(settings):
    """What was wanted, over all settings."""
    n = len(settings)

    def count(holds):
        return f"{sum(map(holds, settings))} of {n}"

    def no_higher(one):
        return no_worse(one["ours worst"], one["unpatched worst"]) or one["p"] > 0.05

    rises = [one["ours Brier"] - one["unpatched Brier"] for one in settings]
    return [
        ("worst violation on test rows: lower, or no significant difference", count(no_higher),
         f"{n} of {n}"),
        ("worst violation on test rows: lower",
         count(lambda one: one["ours worst"] < one["unpatched worst"]), None),
        ("largest rise of a setting's test Brier", max(rises), "at most 0.001"),
        ("largest rise of a single split's", max(one["largest rise of Brier"] for one in settings),
         None),
        ("worst violation at most MCGrad's",
         count(lambda one: no_worse(one["ours worst"], one["MCGrad worst"])), "at least 8 of 10"),
        ("Brier at most MCGrad's",
         count(lambda one: no_worse(one["ours Brier"], one["MCGrad Brier"])), "at least 8 of 10"),
    ]  # fmt: skip


def print_setting(one):
    figures = "".join(
        f"{one[f'{who} {what}']:>9.4f}"
        for what in ("worst", "Brier")
        for who in ("unpatched", "ours", "MCGrad")
    )
    print(f"{one['data']:<13}{one['model']:<10}{figures}{one['p']:>7.3f}"
          f"{one['patches']:>9.1f}{one['MCGrad rounds']:>9.1f}{one['seconds']:>8.2f}",
          flush=True)  # fmt: skip


def figures(folder=RESULTS, *, seeds=FINAL, datasets=DATASETS, models=tuple(MODELS)):
    """Measure all settings; the lines of the table, with each split in calibration.json."""
    print("\n                       worst violation: none, ours, MCGrad; Brier: none, ours, MCGrad"
          "   p, patches, rounds, s")  # fmt: skip
    rows = []
    settings = []
    for dataset in datasets:
        for model in models:
            of_one = of_setting(dataset, model, seeds)
            rows += of_one
            settings.append(summary(of_one))
            print_setting(settings[-1])
            record("calibration", {"settings": settings, "splits": rows}, folder=folder)
    return lines_of(settings)


def made_scores(n_rows, seed=0):
    """Labels, scores and 6 categorical attributes; one pair of values is off, and all too sure."""
    rng = np.random.default_rng(seed)
    protected = pd.DataFrame(
        {
            f"attribute {j}": pd.Categorical.from_codes(
                rng.integers(0, size, n_rows), [f"v{k}" for k in range(size)]
            )
            for j, size in enumerate((2, 2, 3, 4, 5, 8))
        }
    )
    log_odds = rng.normal(-0.5, 1.0, n_rows)
    is_off = (protected["attribute 1"] == "v0") & (protected["attribute 4"] == "v2")
    happens = 1 / (1 + np.exp(-log_odds - 0.6 * is_off.to_numpy()))
    y = (rng.random(n_rows) < happens).astype(int)
    return y, 1 / (1 + np.exp(-1.3 * log_odds)), protected


def million(n_rows=1_000_000):
    """The CPU seconds of a large calibration on one core, by its defaults."""
    for size in (2_000, n_rows):
        y, score, protected = made_scores(size)
        start = time.process_time()
        patches = calibrate(y, score, sensitive_features=protected)
        seconds = time.process_time() - start
    print(f"{n_rows:,} rows x 6 attributes: {len(patches)} patches in {seconds:.1f} s")
    return [(f"{n_rows:,} rows × 6 attributes, CPU s", seconds, "under 60")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Settings on seeds of development.")
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--models", nargs="+", default=tuple(MODELS))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--results", default="build/bench")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    show(figures(
        asked.results, seeds=DEVELOPMENT[: asked.splits], datasets=asked.datasets,
        models=asked.models,
    ))  # fmt: skip
