"""Blocks of tensors on the workers of a cluster play the game of NumPy's blocks."""

import os
import signal

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier

from gerrymend import LinearThresholds
from tests.marks import slow
from tests.solvers.test_dask_games import assert_same, da, dask_blocks, in_words, model, problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

DEVICE = "cpu"
PAPERS = {"solver": "fictitious_play", "subgroups": LinearThresholds(search="regression")}


def blocks(*arrays, chunks=(1, 299, 300), device=DEVICE):
    """Collections of Dask of which each block becomes a tensor, on the worker that has it."""
    # Here, and not above: to import it takes seconds, and only these tests need it.
    torch = pytest.importorskip("torch")
    return [
        da.from_array(one, (chunks, *one.shape[1:])).map_blocks(
            torch.as_tensor, device=device, dtype=one.dtype, meta=one[:0]
        )
        for one in arrays
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"estimator": LinearRegression(), "subgroups": "conjunctions", "bins": 4},
        slow({"estimator": SGDClassifier(loss="log_loss"), "subgroups": "marginals"}),
        slow({"estimator": LinearRegression(), "notion": "equalized_odds"}),
        slow({"estimator": LinearRegression(), **PAPERS}),
        slow({"subgroups": "marginals", "solver": "multiplicative_weights"}),
    ],
    ids=in_words,
)
@pytest.mark.parametrize("dtype", [np.float64, slow(np.float32)])
def test_the_game_is_that_of_blocks_of_numpy(client, settings, dtype):
    X, y, A, weight = problem()
    X = X.astype(dtype)
    chunks = (1, 299, 300)
    theirs = model(**settings).fit(
        *(da.from_array(one, (chunks, *one.shape[1:])) for one in (X, y)),
        sensitive_features=da.from_array(A, (chunks, 2)),
        sample_weight=da.from_array(weight, chunks),
    )
    x, labels, protected, weights = blocks(X, y, A, weight)
    ours = model(**settings).fit(x, labels, sensitive_features=protected, sample_weight=weights)
    assert_same(ours, theirs, X)
    assert np.array_equal(ours.predict_proba(x).compute(), ours.predict_proba(X))
    assert ours.score(x, labels, weights) == pytest.approx(ours.score(X, y, weight), abs=1e-12)


def test_blocks_stay_tensors_on_their_workers(client):
    X, y, A, _ = problem()
    x, labels, protected = blocks(X, y, A)
    kinds = set()
    gather = dask_blocks.DaskBlocks.gather

    def gather_and_look(self, method, *arguments):
        answer = gather(self, method, *arguments)
        if method.__name__ == "logistic":
            looks = client.run(_kinds_of_features)
            kinds.update(*looks.values())
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_blocks.DaskBlocks, "gather", gather_and_look)
        model(max_iter=2, subgroups="marginals").fit(x, labels, sensitive_features=protected)
    assert kinds == {"torch.Tensor"}


def _kinds_of_features():
    from gerrymend.solvers.dask.slots import _SLOTS

    blocks = [block for slot in _SLOTS.values() for block in slot._blocks.values()]
    kinds = {type(one._block.features) for one in blocks if one._block is not None}
    return {f"{kind.__module__}.{kind.__name__}" for kind in kinds}


def test_a_worker_that_dies_costs_time_and_not_the_result(client, monkeypatch):
    X, y, A, _ = problem()
    x, labels, protected = blocks(X, y, A, chunks=(200, 200, 200))

    def fit():
        return model(max_iter=4, subgroups="marginals", estimator=LogisticRegression()).fit(
            x, labels, sensitive_features=protected
        )

    expected = fit()
    gather, asked = dask_blocks.DaskBlocks.gather, []

    def gather_and_kill(self, method, *arguments):
        asked.append(method.__name__)
        if asked.count("logistic") == 4 and "killed" not in asked:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            asked.append("killed")
        return gather(self, method, *arguments)

    monkeypatch.setattr(dask_blocks.DaskBlocks, "gather", gather_and_kill)
    ours = fit()
    assert "killed" in asked
    assert_same(ours, expected, X)


def test_bad_rows_are_told_with_their_partition(client):
    X, y, A, _ = problem()
    broken = X.copy()
    broken[450, 2] = np.nan
    x, labels, protected = blocks(broken, y, A)
    with pytest.raises(ValueError, match="In partition 2 of the data: X has NaN or infinite"):
        model().fit(x, labels, sensitive_features=protected)
    x, labels = blocks(np.full((600, 1), 2**53 + 1), y)
    with pytest.raises(ValueError, match=r"X has whole numbers that .*float64 does not hold"):
        model().fit(x, labels, sensitive_features=protected)
