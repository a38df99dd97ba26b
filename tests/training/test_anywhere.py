"""The same rows, seed and settings have the same model in every place, to the optimum's digits."""

import ctypes

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import SubgroupParityClassifier, Trees, ValueSets, audit
from tests.marks import slow

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Where a fit ends at scikit-learn's tolerance, it ends elsewhere in every place.
LOGISTIC = LogisticRegression(tol=1e-9, max_iter=1000)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as client:
        yield client


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def problem(n=400):
    rng = np.random.default_rng(0)
    A = rng.integers(0, 4, (n, 3)).astype(float)
    X = np.column_stack([rng.standard_normal((n, 3)), A[:, 0]])
    apart = (A[:, 0] > 1) & (A[:, 1] > 1)
    return X, (X[:, 0] + apart * X[:, 1] + rng.standard_normal(n) > 0.5).astype(int), A


def has_cuda():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:  # torch takes seconds to say so
        return False
    return bool(pytest.importorskip("torch").cuda.is_available())


def on_dask(request, *rows):
    da = pytest.importorskip("dask.array")
    request.getfixturevalue("client")
    return [da.from_array(part, ((150, 1, 249), *part.shape[1:])) for part in rows]


def on_torch(_, *rows):
    torch = pytest.importorskip("torch")
    return [torch.as_tensor(part) for part in rows]


def on_cuda(_, *rows):
    if not has_cuda():
        pytest.skip("no CUDA device")
    return [part.to("cuda") for part in on_torch(_, *rows)]


CLASSES = {
    "conjunctions": "conjunctions",
    "value sets": ValueSets(),
    "marginals": "marginals",
    "trees": Trees(2),
}


@pytest.mark.parametrize("place", [on_dask, on_torch, on_cuda], ids=lambda place: place.__name__)
@pytest.mark.parametrize(
    ("estimator", "subgroups"),
    [
        (LOGISTIC, "conjunctions"),
        (LinearRegression(), "value sets"),
        (LinearRegression(), "trees"),
        slow(LOGISTIC, "value sets"),
        slow(LOGISTIC, "marginals"),
        slow(LOGISTIC, "trees"),
        slow(LinearRegression(), "conjunctions"),
        slow(LinearRegression(), "marginals"),
    ],
    ids=str,
)
def test_error_and_unfairness_are_those_of_numpy(request, place, estimator, subgroups):
    X, y, A = problem()

    def fit(X, y, A):
        return SubgroupParityClassifier(
            estimator, subgroups=CLASSES[subgroups], gamma=0.02, max_iter=30, random_state=0
        ).fit(X, y, sensitive_features=A)

    here = fit(X, y, A)
    there = fit(*place(request, X, y, A))
    for name in ("error", "unfairness"):
        assert there.history_[name][-1] == pytest.approx(here.history_[name][-1], abs=1e-6)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-6)
    report = audit(
        y, there.predict_proba(X)[:, 1], sensitive_features=A, subgroups=CLASSES[subgroups],
        decision_probabilities=True, gamma=0.02,
    )  # fmt: skip
    assert report.unfairness == pytest.approx(here.history_["unfairness"][-1], abs=1e-6)
    # Within gamma by as much as convergence allows: tol / C.
    assert report.unfairness <= 0.02 + 2e-3 / 10
