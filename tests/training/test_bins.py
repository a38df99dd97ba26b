"""A fit with bins is the fit of attributes that the user has binned, and says what it is of."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import SubgroupParityClassifier, audit, load_model, save_model
from tests.cut_short import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(n=500):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    A = pd.DataFrame({"age": rng.integers(18, 80, n), "income": np.exp(rng.standard_normal(n))})
    A["race"] = np.where(rng.random(n) < 0.3, "blue", "green")
    signal = X[:, 0] + (A["age"] > 50) * (A["race"] == "blue") * X[:, 1]
    return X, np.array(signal + rng.standard_normal(n) > 0.3, dtype=int), A


def model(**changes):
    given = {"gamma": 0.02, "max_iter": 8, "random_state": 0, "estimator": LinearRegression()}
    return SubgroupParityClassifier(**given | changes)


def numpys_bins(values, bins):
    """Lower ends of bins behind NumPy's quantiles."""
    last = np.unique(np.quantile(values, np.arange(1, bins) / bins, method="closest_observation"))
    return np.searchsorted(last, values, side="left")


@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
def test_a_fit_is_that_of_binned_attributes(subgroups):
    X, y, A = problem()
    ours = model(bins=5, subgroups=subgroups).fit(X, y, sensitive_features=A)
    binned = ours.bins_.transform(A)
    assert list(binned) == ["age (binned)", "income (binned)", "race"]
    assert np.array_equal(
        np.unique(binned["income (binned)"], return_inverse=True)[1], numpys_bins(A["income"], 5)
    )
    theirs = model(subgroups=subgroups).fit(X, y, sensitive_features=binned)
    assert_same(ours, theirs, X)


def test_the_result_is_within_gamma_over_what_the_report_names():
    X, y, A = problem()
    ours = model(bins=4, subgroups="conjunctions", max_iter=60).fit(X, y, sensitive_features=A)
    binned = ours.bins_.transform(A)
    report = audit(
        y, ours.predict_proba(X)[:, 1], sensitive_features=binned, subgroups="conjunctions",
        decision_probabilities=True, gamma=0.02,
    )  # fmt: skip
    assert report.unfairness == pytest.approx(abs(ours.worst_subgroup_.unfairness), abs=1e-12)
    assert report.unfairness <= 0.0202
    worst = ours.worst_subgroup_
    assert set(worst.rule.attributes) <= {"age (binned)", "income (binned)", "race"}
    assert worst.contains(binned).sum() == worst.size


def test_the_saved_model_says_where_attributes_were_cut(tmp_path):
    pytest.importorskip("skops")
    X, y, A = problem()
    ours = model(bins=3, max_iter=2).fit(X, y, sensitive_features=A)
    cuts = {name: list(found) for name, found in ours.bins_.cuts.items()}
    assert sorted(cuts) == ["age", "income"]
    assert [len(found) for found in cuts.values()] == [2, 2]
    save_model(ours, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").training["bins"] == cuts


def test_without_bins_nothing_is_cut():
    X, y, A = problem()
    ours = model(max_iter=2).fit(X, y, sensitive_features=A)
    assert ours.bins_.cuts == {}
    assert ours.mixture_.training["bins"] == {}
    assert ours.bins_.transform(A).equals(A)


def test_a_checkpoint_of_other_bins_is_refused(tmp_path):
    pytest.importorskip("skops")
    X, y, A = problem()
    path = tmp_path / "fit"

    def stop(*_, **__):
        raise RuntimeError("stopped")

    first = model(bins=4, checkpoint=path, checkpoint_every=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gerrymend.training.fit.warn_unless_converged", stop)
        with pytest.raises(RuntimeError, match="stopped"):
            first.fit(X, y, sensitive_features=A)
    with pytest.raises(ValueError, match="bins"):
        model(bins=5, checkpoint=path).fit(X, y, sensitive_features=A)


def test_tensors_get_the_same_bins(monkeypatch):
    torch = pytest.importorskip("torch")
    sklearn = pytest.importorskip("sklearn")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    X, y, A = problem()
    numbers = np.array(A[["age", "income"]])
    how = {"bins": 6, "estimator": LogisticRegression(tol=1e-9), "subgroups": "conjunctions"}
    theirs = model(**how).fit(X, y, sensitive_features=numbers)
    with sklearn.config_context(array_api_dispatch=True):
        ours = model(**how).fit(
            *map(torch.as_tensor, (X, y)), sensitive_features=torch.as_tensor(numbers)
        )
    assert ours.bins_ == theirs.bins_
    assert str(ours.worst_subgroup_) == str(theirs.worst_subgroup_)
    np.testing.assert_allclose(ours.history_["error"], theirs.history_["error"], atol=1e-9)
