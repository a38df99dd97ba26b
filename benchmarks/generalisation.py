"""Does it hold on rows that were not trained on? The table of docs/generalisation.md.

`python -m benchmarks.generalisation` prints it, in some four minutes on one core.
"""

import os
import sys
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from gerrymend import LinearThresholds, SubgroupParityClassifier
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.rows import LabelCells

GAMMA = 0.01
N_SPLITS = 10
N_PERMUTATIONS = 99
# One search for the test rows and for each permutation of them: otherwise they could not be
# compared. The training rows get the default search of audit(), which finds no less.
REPEATED = LinearThresholds(restarts=20)
DATASETS = {
    "communities": "Communities and Crime",
    "lawschool": "Law School",
    "adult": "Adult",
    "student": "Student",
}


class Sample:
    """Some rows, and searches over them."""

    def __init__(self, X, y, protected, subgroups):
        order, cells = distinct_rows(read_columns(protected)).sorted_by(y)
        self.X, self.y = X[order], y[order]
        self._auditor = Auditor(
            [FALSE_POSITIVE_RATE],
            subgroups,
            LabelCells.of_rows(cells, self.y),
        )

    def unfairness(self, p):
        """What the search finds, for each row of decision probabilities."""
        return self._auditor.worst(np.atleast_2d(p), None).unfairness

    def by_chance(self, p, rng):
        """What chance exceeds one time in two, and in twenty: p dealt anew among the negatives."""
        dealt = np.tile(p, (N_PERMUTATIONS, 1))
        negative = np.flatnonzero(self.y == 0)
        dealt[:, negative] = rng.permuted(dealt[:, negative], axis=1)
        values = np.sort(self.unfairness(dealt))
        # The observed value is one of 100 that nothing tells apart: above the fifth is 5 %.
        return values[N_PERMUTATIONS // 2], values[-(N_PERMUTATIONS + 1) // 20]


def split_figures(X, y, protected, train, test, seed):
    """Error and unfairness of both models on both parts, and the null's line, for one split."""
    scaler = StandardScaler().fit(X[train])
    fitted = Sample(scaler.transform(X[train]), y[train], protected.iloc[train], LinearThresholds())
    other = Sample(scaler.transform(X[test]), y[test], protected.iloc[test], REPEATED)
    plain = LogisticRegression(max_iter=1000).fit(fitted.X, fitted.y)
    fair = SubgroupParityClassifier(
        LogisticRegression(max_iter=1000), gamma=GAMMA, random_state=seed
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fair.fit(scaler.transform(X[train]), y[train], sensitive_features=protected.iloc[train])
    warned = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    rng = np.random.default_rng(seed)
    models = {
        "plain": (lambda X: plain.predict(X).astype(float), False),
        "gamma": (lambda X: fair.predict_proba(X)[:, 1], warned),
    }
    found = {}
    for name, (decide, not_converged) in models.items():
        on_train, on_test = decide(fitted.X), decide(other.X)
        found[name] = (
            np.mean(np.abs(on_train - fitted.y)),
            np.mean(np.abs(on_test - other.y)),
            fitted.unfairness(on_train)[0],
            other.unfairness(on_test)[0],
            *other.by_chance(on_test, rng),
            not_converged,
        )
    return found


def table(name, n_splits=N_SPLITS):
    """Two lines of the table: logistic regression as it is, and trained for gamma."""
    from tests.conftest import load_paper

    X, y, protected = load_paper(name)
    if name == "lawschool":
        protected = protected[["fam_inc", "age", "gender"]]
    splitter = StratifiedShuffleSplit(n_splits=n_splits, test_size=0.3, random_state=0)
    splits = [
        split_figures(X, y, protected, train, test, seed)
        for seed, (train, test) in enumerate(splitter.split(X, y))
    ]
    for model, words in (("plain", "plain"), ("gamma", f"gamma = {GAMMA:g}")):
        figures = np.array([split[model] for split in splits], dtype=float)
        train_error, test_error, train_u, test_u, median, line, _ = figures.mean(axis=0)
        above = int((figures[:, 3] > figures[:, 5]).sum())
        print(
            f"| {DATASETS[name]} | {words} | {train_error:.3f} | {test_error:.3f} "
            f"| {train_u:.4f} ({figures[:, 2].max():.4f}) "
            f"| {test_u:.4f} ({figures[:, 3].min():.4f} – {figures[:, 3].max():.4f}) "
            f"| {median:.4f}, {line:.4f} | {above} of {n_splits} |",
            flush=True,
        )
    late = int(sum(split["gamma"][-1] for split in splits))
    print(f"{name}: {late} of {n_splits} fits warned that they had not converged", file=sys.stderr)


if __name__ == "__main__":
    for dataset in sys.argv[1:] or DATASETS:
        table(dataset)
