"""What the benchmarks of learning share: the data, a clock, and an audit that is not in a hurry."""

import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.data import need_paper_data
from gerrymend import LinearThresholds, SubgroupParityClassifier
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.inputs.sample import Decided
from gerrymend.notions import FALSE_POSITIVE_RATE

DATASETS = ("communities", "adult", "student", "lawschool")
# What a unit of unfairness above gamma counts in units of error: the classifier's default C.
PENALTY = 10.0


def standardised(name, *, race=False):
    """Standardised one-hot columns, labels and protected columns; Law School's race if asked."""
    need_paper_data()
    from tests.conftest import load_paper

    X, y, protected = load_paper(name)
    if name == "lawschool" and not race:
        protected = protected[["fam_inc", "age", "gender"]]
    return StandardScaler().fit_transform(X), y, protected


def expected_error(y, p):
    """Error of decisions that are 1 with probability p."""
    return float(np.mean(np.where(y == 1, 1.0 - p, p)))


def searched_unfairness(y, p, protected, seconds):
    """The worst false-positive unfairness that a search of so many seconds finds."""
    seen = tally_of_rows(y, p, protected, decided=Decided(decision_probabilities=True)).of_notion(
        FALSE_POSITIVE_RATE
    )
    search = seen.bind(LinearThresholds(restarts=10**9))
    no_rows = np.zeros(len(seen.residual), dtype=np.intp)
    _, value = search._search(seen.residual, no_rows, 0, time.monotonic() + seconds)
    return value / len(y)


class Fit(NamedTuple):
    """A fitted classifier, its decisions on the training rows, and what they are worth."""

    model: SubgroupParityClassifier
    probability: np.ndarray
    error: float
    seconds: float


def fit(X, y, protected, **parameters):
    """Fit ours; the clock is on for `fit` alone."""
    model = _ours(parameters)
    seconds = _timed(lambda: model.fit(X, y, sensitive_features=protected))[1]
    return _fitted(model, X, y, seconds)


def fit_path(X, y, protected, gammas, **parameters):
    """Fit ours for several gammas, and the seconds that all took."""
    models, seconds = _timed(
        lambda: _ours(parameters).fit_path(X, y, sensitive_features=protected, gammas=gammas)
    )
    return [_fitted(model, X, y, seconds) for model in models], seconds


def _ours(parameters):
    return SubgroupParityClassifier(LogisticRegression(), random_state=0, **parameters)


def _timed(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is measured what it came to
        start = time.perf_counter()
        result = run()
        return result, time.perf_counter() - start


def _fitted(model, X, y, seconds):
    p = model.predict_proba(X)[:, 1]
    return Fit(model, p, expected_error(y, p), seconds)


def warm_up():
    """Let numba compile, and libraries load, off the clock."""
    X, y, protected = standardised("student")
    fit(X, y, protected, gamma=0.01, certify=True, budget=1.0)
    X, y, protected = standardised("communities")
    fit(X, y, protected, gamma=0.02, max_iter=2)


def show(figures):
    """Lines of a table: what, how much, and what was wanted."""
    width = max((len(label) for label, _, _ in figures), default=0)
    for label, value, wanted in figures:
        shown = value if isinstance(value, str) else _number(value)
        print(f"{label:<{width}}{shown:>12}   {wanted or ''}".rstrip(), flush=True)


def _number(value):
    return f"{value:.2f}" if abs(value) >= 0.01 or value == 0 else f"{value:.1e}"
