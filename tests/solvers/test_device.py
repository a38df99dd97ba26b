"""fit, fit_path and predict on torch tensors are what they are on NumPy arrays."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from gerrymend import FictitiousPlay, LinearThresholds, SubgroupParityClassifier
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.block_rows import BlockRows
from gerrymend.training import assemble, device_rows
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.cut_short import Stopping
from tests.cut_short import assert_same as assert_same_fits
from tests.solvers.test_blocks import GAMMAS, problem

pytestmark = MAY_EXCEED_GAMMA


@pytest.fixture(scope="module", autouse=True)
def _torch():
    """Import it for the process that runs these tests alone: it takes seconds."""
    global torch
    torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    """As users set it before Python starts; nothing of SciPy's is called with tensors."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def classifier(**changes):
    parameters = {
        "solver": "fictitious_play", "subgroups": LinearThresholds(search="regression"),
        "C": 7.3, "tol": None, "max_iter": 100, "random_state": 0,
    }  # fmt: skip
    return SubgroupParityClassifier(**({"estimator": LinearRegression()} | parameters | changes))


def tensors(rows, dtype):
    X, A, y, weight = map(torch.as_tensor, rows)
    return X.to(dtype), A.to(dtype), y, weight.to(dtype)


def fit_path(clf, X, A, y, weight):
    return clf.fit_path(X, y, gammas=GAMMAS, sensitive_features=A, sample_weight=weight)


def test_float64_is_equal_to_1e_9():
    rows = problem()
    X = tensors(rows, torch.float64)[0]
    theirs = fit_path(classifier(), *rows)
    ours = fit_path(classifier(), *tensors(rows, torch.float64))
    for one, other in zip(ours, theirs, strict=True):
        for name in ("error", "unfairness"):
            np.testing.assert_allclose(one.history_[name], other.history_[name], atol=1e-9)
        np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-9)
        groups = (fitted.worst_subgroup_.contains(rows[1]) for fitted in (one, other))
        np.testing.assert_array_equal(*groups)
        np.testing.assert_allclose(
            one.predict_proba(X).numpy(), other.predict_proba(rows[0]), atol=1e-9
        )
        np.testing.assert_array_equal(one.predict(X).numpy(), other.predict(rows[0]))


def test_float32_is_near():
    """One row that falls on the other side moves a play by 1/n, and the plays after it follow.

    So the first rounds are equal to a row, later ones are as good but not the same, and what is
    recorded is true of the mixture in float64.
    """
    rows = problem(n=3000, weighted=False)
    rows[1][:, 0] += np.random.default_rng(5).standard_normal(3000)  # no ties of many rows
    X, A, y, _ = rows
    theirs = fit_path(classifier(), *rows)
    ours = fit_path(classifier(), *tensors(rows, torch.float32))
    for one, other in zip(ours, theirs, strict=True):
        for name in ("error", "unfairness"):
            mine, exact = one.history_[name], other.history_[name]
            np.testing.assert_allclose(mine[:5], exact[:5], atol=1 / 3000)
        np.testing.assert_allclose(one.history_["error"], other.history_["error"], atol=3e-3)
        p = one.predict_proba(X)[:, 1]
        error = np.where(y == 1, 1 - p, p).mean()
        assert one.history_["error"][-1] == pytest.approx(error, abs=1e-5)
        worst = one.worst_subgroup_.contains(A)
        unfairness = FALSE_POSITIVE_RATE.unfairness(y, p, worst)
        assert abs(unfairness) == pytest.approx(one.history_["unfairness"][-1], abs=1e-5)


def test_sums_in_float32_stay_accurate():
    """A sum of a million terms of float32 is as good as its terms."""
    from gerrymend.notions import STATISTICAL_PARITY
    from gerrymend.solvers.regression.array_block import ArrayBlock

    n = 1_000_003
    X = torch.rand((n, 1), dtype=torch.float32, generator=torch.Generator().manual_seed(0))
    block = ArrayBlock(X, X, torch.ones(n), torch.ones(n), STATISTICAL_PARITY)
    values = (X.T + 1.0).contiguous()
    expected = float((values.double() ** 2).sum())
    assert float(block._products(values, values)[0, 0]) == pytest.approx(expected, rel=1e-7)


def test_what_is_predicted_stays_with_x():
    rows = tensors(problem(), torch.float32)
    X, A, y, _ = rows
    clf = classifier().fit(X, y, sensitive_features=A)
    assert isinstance(clf.predict(X), torch.Tensor)
    assert clf.predict(X).device == X.device
    assert clf.predict_proba(X).shape == (600, 2)
    np.testing.assert_array_equal(clf.predict(X).numpy(), clf.predict(X.numpy()))
    assert clf.score(X, y) == pytest.approx(1 - clf.history_["error"][-1], abs=1e-3)


def test_protected_attributes_default_to_the_features():
    X, _, y, _ = tensors(problem(), torch.float64)
    with pytest.warns(UserWarning, match="every column of X is taken"):
        one = classifier().fit(X, y)
    with pytest.warns(UserWarning, match="every column of X is taken"):
        other = classifier().fit(X.numpy(), y.numpy())
    np.testing.assert_allclose(one.history_["error"], other.history_["error"], atol=1e-9)


def test_games_end_by_tolerance():
    X, A, y, _ = tensors(problem(seed=1), torch.float64)
    with pytest.warns(ConvergenceWarning, match="above gamma; .* lower tol"):
        one = classifier(tol=0.02, max_iter=400).fit(X, y, sensitive_features=A)
    with pytest.warns(ConvergenceWarning, match="above gamma; .* lower tol"):
        other = classifier(tol=0.02, max_iter=400).fit(
            X.numpy(), y.numpy(), sensitive_features=A.numpy()
        )
    assert one.n_iter_ == other.n_iter_ < 400
    assert one.gap_ == pytest.approx(other.gap_, abs=1e-9)


def test_without_dispatch_there_is_a_remedy():
    X, A, y, _ = tensors(problem(), torch.float64)
    clf = classifier().fit(X, y, sensitive_features=A)
    with sklearn.config_context(array_api_dispatch=False):
        with pytest.raises(TypeError, match="array_api_dispatch=True"):
            classifier().fit(X, y, sensitive_features=A)
        with pytest.raises(TypeError, match="array_api_dispatch=True"):
            clf.predict(X)


@pytest.mark.parametrize(
    "changes",
    [
        {"estimator": LogisticRegression(tol=1e-9, max_iter=1000), "subgroups": "linear"},
        {"subgroups": "marginals", "notion": "equalized_odds"},
        {"subgroups": "marginals", "solver": "multiplicative_weights"},
        {"solver": FictitiousPlay(order="appendix")},
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_game_is_that_of_arrays_in_memory(changes):
    """The one of the defaults, several notions, exact classes, any solver."""
    X, A, y, weight = rows = problem(n=400)
    A = A.round()
    how = {"solver": "exponentiated_gradient", "max_iter": 10, "gamma": 0.01} | changes
    theirs = classifier(**how).fit(X, y, sensitive_features=A, sample_weight=weight)
    x, a, labels, weights = tensors((X, A, *rows[2:]), torch.float64)
    ours = classifier(**how).fit(x, labels, sensitive_features=a, sample_weight=weights)
    for name in ("error", "unfairness"):
        np.testing.assert_allclose(ours.history_[name], theirs.history_[name], atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(x).numpy(), theirs.predict_proba(X), atol=1e-6)
    assert str(ours.worst_subgroup_) == str(theirs.worst_subgroup_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_float32_features_are_fitted_in_float64():
    X, A, y, _ = problem(n=400)
    A = A.round()
    how = {"estimator": LogisticRegression(tol=1e-9, max_iter=1000), "subgroups": "marginals",
           "solver": "exponentiated_gradient", "max_iter": 6, "gamma": 0.01}  # fmt: skip
    x, a, labels, _ = tensors((X, A, y, y), torch.float32)
    theirs = classifier(**how).fit(x.double().numpy(), y, sensitive_features=A)
    ours = classifier(**how).fit(x, labels, sensitive_features=a)
    np.testing.assert_allclose(ours.history_["error"], theirs.history_["error"], atol=1e-9)


@pytest.mark.parametrize(
    "estimator", [LinearRegression(positive=True), DecisionTreeClassifier()], ids=repr
)
def test_what_is_not_fitted_from_sums_is_refused(estimator):
    X, A, y, _ = tensors(problem(), torch.float64)
    with pytest.raises(ValueError, match=r"can't be trained where X is.*LogisticRegression\(\)"):
        classifier(estimator=estimator).fit(X, y, sensitive_features=A)


def test_arrays_are_in_one_place():
    X, A, y, _ = tensors(problem(), torch.float64)
    on_host = [part.numpy() for part in (X, y, A)]
    with pytest.raises(TypeError, match=r"X is .*numpy.ndarray, and control_features is"):
        classifier().fit(*on_host[:2], sensitive_features=on_host[2], control_features=A[:, :1])
    with pytest.raises(TypeError, match=r"control_features is .* Arrays must be on one device"):
        classifier().fit(X, y, sensitive_features=A, control_features=on_host[2][:, :1])


def bad_rows(**changes):
    X, A, y, weight = tensors(problem(), torch.float64)
    rows = {"X": X, "y": y, "sensitive_features": A, "sample_weight": weight}
    return rows | {name: change(rows[name]) for name, change in changes.items()}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": lambda y: y.numpy()}, "y is of type numpy.ndarray. Arrays must be on one device"),
        ({"sensitive_features": lambda A: A.to("meta")}, "sensitive_features is .* on meta"),
        ({"sensitive_features": lambda A: A > 0}, "sensitive_features is an array of booleans"),
        ({"sensitive_features": lambda A: A[:-1]}, "sensitive_features has 599"),
        ({"sensitive_features": lambda A: A / 0}, "sensitive_features has NaN or infinite"),
        ({"y": lambda y: y * 0}, "only one class"),
        ({"y": lambda y: torch.arange(len(y))}, "Only binary classification"),
        ({"y": lambda y: y[:, None]}, "y must have one dimension"),
        ({"sample_weight": lambda weight: weight - 1}, "negative"),
        ({"sample_weight": lambda weight: weight * 0}, "zero in every row"),
        ({"sample_weight": lambda weight: weight[:5]}, r"shape \(5,\) for 600 rows"),
        ({"X": lambda X: X / 0}, "X contains"),
    ],
)
def test_bad_rows_are_told(changes, message):
    rows = bad_rows(**changes)
    with pytest.raises((ValueError, TypeError), match=message):
        classifier().fit(**rows)


def test_labels_that_are_no_numbers_stay_on_the_host():
    X, A, y, _ = problem()
    words = np.array(["no", "yes"])[y]
    clf = classifier().fit(X, words, sensitive_features=A)
    with pytest.raises(TypeError, match="holds numbers only"):
        clf.predict(torch.as_tensor(X))


LONG_VECTORS = [
    {"subgroups": "conjunctions"},
    {"subgroups": "conjunctions", "notion": ("false_negative_rate", "statistical_parity")},
    {"subgroups": "marginals", "certify": True, "gamma": 0.02},
    {"estimator": LinearRegression(), "subgroups": "trees", "gamma": 0.01},
]


@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
@pytest.mark.parametrize("changes", LONG_VECTORS, ids=lambda changes: str(changes["subgroups"]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_vectors_may_lie_with_the_rows(monkeypatch, changes, weighted):
    """Costs, votes and residuals of very many label-cells are tensors: the game is the same."""
    X, A, y, weight = problem(n=400)
    A = np.rint(A)
    settings = {"solver": "exponentiated_gradient", "max_iter": 30, "gamma": 0.005}
    clf = classifier(**({"estimator": LogisticRegression()} | settings | changes))
    given = tensors((X, A, y, weight), torch.float64)
    data = {"sensitive_features": given[1], "sample_weight": given[3] if weighted else None}
    here = sklearn.clone(clf).fit(given[0], given[2], **data)
    monkeypatch.setattr(device_rows, "LONG", 0)
    auditors = []
    monkeypatch.setattr(assemble, "Auditor", lambda *how: auditors.append(how) or Auditor(*how))
    there = sklearn.clone(clf).fit(given[0], given[2], **data)
    assert not auditors[0][-1].is_memory
    for name in ("error", "unfairness"):
        np.testing.assert_allclose(there.history_[name], here.history_[name], atol=1e-9)
    np.testing.assert_allclose(
        there.predict_proba(given[0]), here.predict_proba(given[0]), atol=1e-9
    )
    assert str(there.worst_subgroup_) == str(here.worst_subgroup_)
    assert there.upper_bound_ == pytest.approx(here.upper_bound_, abs=1e-9)
    assert there.certified_ == here.certified_


@pytest.mark.parametrize("changes", [{"budget": 30.0}, {"certify": True, "gamma": 0.02}], ids=str)
@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_vectors_there_searches_keep_to_a_clock(monkeypatch, subgroups, changes):
    """Members stay where residuals are: NumPy takes tensors of the CPU, but none of a GPU."""
    monkeypatch.setattr(device_rows, "LONG", 0)
    X, A, y, _ = tensors(problem(n=300), torch.float64)
    search = Auditor.search
    kinds = []

    def noted(auditor, bound, residuals):
        found = search(auditor, bound, residuals)
        kinds.append(type(found.members))
        return found

    monkeypatch.setattr(Auditor, "search", noted)
    settings = {"solver": "exponentiated_gradient", "max_iter": 4, "subgroups": subgroups}
    clf = classifier(estimator=LogisticRegression(), **settings | changes)
    clf.fit(X, y, sensitive_features=torch.round(A))
    assert set(kinds) == {torch.Tensor}


@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_vectors_there_a_fit_that_is_cut_short_goes_on(monkeypatch, tmp_path, subgroups):
    pytest.importorskip("skops")
    monkeypatch.setattr(device_rows, "LONG", 0)
    X, A, y, _ = tensors(problem(n=300), torch.float64)
    settings = {"solver": "exponentiated_gradient", "max_iter": 26, "gamma": 0.005}
    clf = classifier(estimator=LogisticRegression(), **settings | {"subgroups": subgroups})
    whole = sklearn.clone(clf).fit(X, y, sensitive_features=A)
    clf.set_params(checkpoint=tmp_path / "fit", checkpoint_every=0)
    with Stopping(17, (BlockRows, "answers")), pytest.raises(KeyboardInterrupt):
        clf.fit(X, y, sensitive_features=A)
    assert_same_fits(sklearn.clone(clf).fit(X, y, sensitive_features=A), whole, X)
