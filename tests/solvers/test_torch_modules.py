"""Estimators that train on tensors play the game of tensors, on the device where these are."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge

from gerrymend import SubgroupParityClassifier, audit
from tests.torch_modules import ModuleClassifier, ModuleRegressor, WeightlessClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", autouse=True)
def _torch():
    """Import it for the process that runs these tests alone: it takes seconds."""
    global torch
    torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def problem(n=500, dtype=np.float32):
    rng = np.random.default_rng(0)
    A = rng.integers(0, 4, (n, 2)).astype(dtype)
    X = np.column_stack([rng.standard_normal((n, 3)), A]).astype(dtype)
    y = (X[:, 0] + X[:, 2] * (A[:, 1] > 1) + rng.standard_normal(n) > 0).astype(np.int64)
    return X, y, A


def model(estimator, **changes):
    given = {"gamma": 0.01, "max_iter": 8, "random_state": 0, "subgroups": "conjunctions"}
    return SubgroupParityClassifier(estimator, **given | changes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("estimator", [ModuleClassifier(), ModuleRegressor()], ids=repr)
def test_a_module_is_trained_until_it_is_fair(estimator, dtype):
    X, y, A = problem(dtype=dtype)
    x, labels, protected = map(torch.as_tensor, (X, y, A))
    ours = model(estimator).fit(x, labels, sensitive_features=protected)
    probability = ours.predict_proba(x)
    assert isinstance(probability, torch.Tensor)
    assert isinstance(ours.predict(x), torch.Tensor)
    report = audit(
        y, probability[:, 1].numpy(), sensitive_features=A, subgroups="conjunctions",
        decision_probabilities=True, gamma=0.01,
    )  # fmt: skip
    assert report.unfairness == pytest.approx(abs(ours.worst_subgroup_.unfairness), abs=1e-9)
    assert report.unfairness < 0.0102 < ours.history_["unfairness"][0]
    majority = max(y.mean(), 1 - y.mean())
    assert ours.score(x, labels) > majority + 0.1


def test_rows_of_no_weight_have_no_say_in_a_module():
    X, y, A = problem(dtype=np.float64)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    kept = weight > 0
    ours, theirs = (
        model(ModuleClassifier(), max_iter=3).fit(
            *map(torch.as_tensor, (X[rows], y[rows])),
            sensitive_features=torch.as_tensor(A[rows]),
            sample_weight=torch.as_tensor(weight[rows]),
        )
        for rows in (slice(None), kept)
    )
    np.testing.assert_allclose(ours.history_["error"], theirs.history_["error"], atol=1e-9)
    np.testing.assert_allclose(
        ours.predict_proba(torch.as_tensor(X)).numpy(),
        theirs.predict_proba(torch.as_tensor(X)).numpy(),
        atol=1e-6,
    )


def test_other_estimators_of_scikit_learn_that_take_tensors_are_those_of_memory():
    X, y, A = problem(dtype=np.float64)
    x, labels, protected = map(torch.as_tensor, (X, y, A))
    for estimator in (Ridge(solver="svd"), LogisticRegression(class_weight={0: 1, 1: 2}, tol=1e-9)):
        theirs = model(estimator).fit(X, y, sensitive_features=A)
        ours = model(estimator).fit(x, labels, sensitive_features=protected)
        np.testing.assert_allclose(ours.history_["error"], theirs.history_["error"], atol=1e-6)
        assert ours.worst_subgroup_.unfairness == pytest.approx(
            theirs.worst_subgroup_.unfairness, abs=1e-6
        )


def test_a_module_in_skorch_is_trained_on_the_cost():
    skorch = pytest.importorskip("skorch")

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(5, 1)

        def forward(self, rows):
            return self.layer(rows)[:, 0]

    X, y, A = problem()
    net = skorch.NeuralNetRegressor(Linear, max_epochs=20, lr=0.05, verbose=0, train_split=None)
    x, labels, protected = map(torch.as_tensor, (X, y, A))
    torch.manual_seed(0)
    ours = model(net, gamma=0.02).fit(x, labels, sensitive_features=protected)
    report = audit(
        y, ours.predict_proba(x)[:, 1].numpy(), sensitive_features=A, subgroups="conjunctions",
        decision_probabilities=True, gamma=0.02,
    )  # fmt: skip
    assert report.unfairness == pytest.approx(abs(ours.worst_subgroup_.unfairness), abs=1e-9)
    assert report.unfairness <= 0.0202


def test_a_module_that_ignores_weights_is_refused():
    x, labels, protected = map(torch.as_tensor, problem())
    with pytest.raises(TypeError, match="takes sample_weight in fit and ignores it"):
        model(WeightlessClassifier()).fit(x, labels, sensitive_features=protected)
