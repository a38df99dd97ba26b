"""Estimators that learn in parts visit the blocks of Dask as they would in one process."""

import os
import signal

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from gerrymend import audit

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from gerrymend.solvers.dask import blocks as dask_blocks  # noqa: E402
from tests.cut_short import assert_same as assert_same_to_the_bit  # noqa: E402
from tests.marks import slow  # noqa: E402
from tests.solvers.test_dask_checkpoints import press  # noqa: E402
from tests.solvers.test_dask_games import assert_same, lazy, model, problem  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CHUNKS = (1, 299, 0, 300)


class InOneProcess:
    """Fit in one process by what the documentation says of rows on a cluster."""

    def fit(self, X, y, sample_weight=None):
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        ends = np.cumsum((0, *CHUNKS))
        filled = [number for number, n in enumerate(CHUNKS) if n]
        drawn = np.random.default_rng(getattr(self, "random_state", 0))
        classes = {"classes": [0, 1]} if hasattr(self, "_more_classes") else {}
        for _ in range(min(10, getattr(self, "max_iter", 1))):
            for number in drawn.permutation(filled):
                part = slice(ends[number], ends[number + 1])
                if weight[part].any():
                    self.partial_fit(X[part], y[part], sample_weight=weight[part], **classes)
        return self


class OneSGDClassifier(InOneProcess, SGDClassifier):
    _more_classes = True


class OneSGDRegressor(InOneProcess, SGDRegressor):
    pass


class OneGaussianNB(InOneProcess, GaussianNB):
    _more_classes = True


class NoWeights(SGDRegressor):
    def partial_fit(self, X, y):
        return super().partial_fit(X, y)


SGD = {"loss": "log_loss", "alpha": 0.01, "random_state": 3}


@pytest.mark.parametrize(
    ("there", "here"),
    [
        (SGDClassifier(max_iter=3, **SGD), OneSGDClassifier(max_iter=3, **SGD)),
        (GaussianNB(), OneGaussianNB()),
        slow(SGDClassifier(**SGD), OneSGDClassifier(**SGD)),
        slow(SGDRegressor(random_state=1), OneSGDRegressor(random_state=1)),
    ],
    ids=["a classifier", "one that counts", "passes by default", "a regressor"],
)
def test_blocks_are_visited_as_in_one_process(client, there, here):
    X, y, A, weight = problem()
    how = {"subgroups": "marginals", "max_iter": 5, "random_state": None}
    theirs = model(here, **how).fit(X, y, sensitive_features=A, sample_weight=weight)
    rows = lazy(X, y, A, weight, chunks=CHUNKS)
    ours = model(there, **how).fit(
        rows[0], rows[1], sensitive_features=rows[2], sample_weight=rows[3]
    )
    assert_same(ours, theirs, X)


def fit(rows, estimator, **settings):
    how = {"subgroups": "marginals", "max_iter": 4, "gamma": 0.002}
    return model(estimator, **how | settings).fit(rows[0], rows[1], sensitive_features=rows[2])


def test_a_worker_that_dies_in_training_costs_time_and_not_the_result(client, monkeypatch):
    X, y, A, _ = problem()
    rows = lazy(X, y, A, chunks=(200, 200, 200))
    estimator = SGDClassifier(max_iter=3, **SGD)
    expected = fit(rows, estimator)
    ask, asked = dask_blocks.DaskBlocks.ask, []

    def ask_and_kill(self, number, method, *arguments):
        asked.append(number)
        if len(asked) == 12:  # in the second fit, with a model half-way
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return ask(self, number, method, *arguments)

    monkeypatch.setattr(dask_blocks.DaskBlocks, "ask", ask_and_kill)
    ours = fit(rows, estimator)
    assert len(asked) > 12
    assert_same_to_the_bit(ours, expected, X)


def test_a_fit_that_is_cut_short_goes_on(client, monkeypatch, tmp_path):
    X, y, A, _ = problem()
    rows = lazy(X, y, A, chunks=(300, 300))
    estimator = SGDClassifier(max_iter=2, **SGD)
    whole = fit(rows, estimator)
    ask, asked = dask_blocks.DaskBlocks.ask, []

    def ask_and_press(self, *arguments):
        asked.append(arguments)
        if len(asked) == 10:
            press()
        return ask(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(dask_blocks.DaskBlocks, "ask", ask_and_press)
        with pytest.raises(KeyboardInterrupt):
            fit(rows, estimator, checkpoint=tmp_path / "fit", checkpoint_every=0)
    resumed = fit(rows, estimator, checkpoint=tmp_path / "fit", checkpoint_every=0)
    assert_same_to_the_bit(resumed, whole, X)


def test_the_result_is_within_gamma_by_an_audit_of_its_own(client):
    X, y, A, _ = problem()
    ours = fit(lazy(X, y, A), GaussianNB(), gamma=0.02, max_iter=60)
    p = ours.predict_proba(X)[:, 1]
    report = audit(y, p, sensitive_features=A, subgroups="marginals", decision_probabilities=True)
    assert report.unfairness <= 0.02 + 1e-9


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (SGDClassifier(class_weight="balanced"), "can't learn from one part.*balanced"),
        (SGDClassifier(early_stopping=True), "can't learn from one part.*early_stopping"),
        (MLPClassifier(solver="lbfgs"), "can't be trained where X is.*SGDClassifier"),
        (NoWeights(), "can't be trained where X is.*SGDClassifier"),
    ],
    ids=repr,
)
def test_what_can_not_learn_in_parts_is_told_before_anything_is_shipped(
    client, monkeypatch, estimator, why
):
    def refuse(*_, **__):
        raise AssertionError("shipped")

    monkeypatch.setattr(client, "submit", refuse)
    monkeypatch.setattr(client, "compute", refuse)
    X, y, A, _ = problem()
    with pytest.raises(ValueError, match=rf"estimator=.*{why}"):
        fit(lazy(X, y, A), estimator)
