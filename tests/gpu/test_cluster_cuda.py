"""Two workers of a Dask cluster, whose blocks lie on one CUDA device, play the game of memory."""

import ctypes

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

try:
    ctypes.CDLL("libcuda.so.1")
except OSError:  # without the driver there is no device, and torch takes seconds to say so
    pytest.skip("no CUDA device", allow_module_level=True)
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)
pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import dask  # noqa: E402

from gerrymend import audit  # noqa: E402
from tests.solvers.test_dask_devices import blocks  # noqa: E402
from tests.solvers.test_dask_games import assert_same, da, model, problem  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def client():
    """Workers that are started anew: CUDA does not survive a fork."""
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "spawn"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        yield client


def devices():
    from gerrymend.solvers.dask.slots import _SLOTS

    found = [block for slot in _SLOTS.values() for block in slot._blocks.values()]
    return [str(one._block.features.device) for one in found if one._block is not None]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"estimator": LinearRegression(), "subgroups": "conjunctions", "bins": 4},
        {"subgroups": "marginals", "notion": "equalized_odds"},
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tensors_of_two_workers_are_fitted_as_in_memory(client, settings, dtype):
    X, y, A, weight = problem(4000)
    X = X.astype(dtype)
    x, labels, protected, weights = blocks(X, y, A, weight, chunks=(1, 1999, 2000), device="cuda")
    ours = model(**settings).fit(x, labels, sensitive_features=protected, sample_weight=weights)
    theirs = model(**settings).fit(
        X.astype(np.float64), y, sensitive_features=A, sample_weight=weight
    )
    assert_same(ours, theirs, X.astype(np.float64))
    assert np.array_equal(ours.predict_proba(x).compute(), ours.predict_proba(X))


def test_blocks_stay_on_the_device_of_each_worker(client, monkeypatch):
    from gerrymend.solvers.dask.blocks import DaskBlocks

    X, y, A, _ = problem(4000)
    x, labels, protected = blocks(X, y, A, chunks=(1, 1999, 2000), device="cuda")
    seen = []
    gather = DaskBlocks.gather

    def gather_and_look(self, method, *arguments):
        answer = gather(self, method, *arguments)
        if method.__name__ == "logistic":
            seen.extend(client.run(devices).values())
        return answer

    monkeypatch.setattr(DaskBlocks, "gather", gather_and_look)
    ours = model(max_iter=5, gamma=0.02).fit(x, labels, sensitive_features=protected)
    assert {name.partition(":")[0] for worker in seen for name in worker} == {"cuda"}
    assert all(len(worker) for worker in seen)
    report = audit(
        y, ours.predict_proba(X)[:, 1], sensitive_features=A, decision_probabilities=True
    )
    assert report.unfairness == pytest.approx(abs(ours.worst_subgroup_.unfairness), abs=1e-9)


def test_arrays_of_cupy_are_fitted_as_in_memory(client):
    cupy = pytest.importorskip("cupy")
    X, y, A, _ = problem(4000)
    chunks = (1, 1999, 2000)
    x, labels, protected = (
        da.from_array(one, (chunks, *one.shape[1:])).map_blocks(cupy.asarray) for one in (X, y, A)
    )
    ours = model(subgroups="marginals").fit(x, labels, sensitive_features=protected)
    theirs = model(subgroups="marginals").fit(X, y, sensitive_features=A)
    assert_same(ours, theirs, X)
