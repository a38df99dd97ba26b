"""A path costs what its rounds cost: what is made of a gamma is made when it is asked for."""

import pickle
import sys

import numpy as np
import pytest
import sklearn

from gerrymend import FictitiousPlay
from gerrymend.inputs.protected import read_columns
from gerrymend.models.mixture import Mixture
from gerrymend.models.mixture_classifier import MixtureClassifier
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.rows import SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.linear_rule import LinearRule
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.solvers.test_blocks import problem
from tests.solvers.test_device import classifier

pytestmark = MAY_EXCEED_GAMMA

GAMMAS = np.linspace(0.0003, 0.0303, 40).tolist()


@pytest.fixture(params=["numpy", "torch"])
def rows(request, monkeypatch):
    X, A, y, _ = problem()
    if request.param == "numpy":
        yield {"X": X, "y": y, "sensitive_features": A}
        return
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        X, A, y = map(torch.as_tensor, (X, A, y))
        yield {"X": X, "y": y, "sensitive_features": A}


def counted(monkeypatch, owner, name):
    calls, method = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *args, **more: calls.append(1) or method(*args, **more))
    return calls


def path(rows, **changes):
    return classifier(max_iter=30, **changes).fit_path(**rows, gammas=GAMMAS)


def test_a_mixture_is_made_when_it_is_asked_for(rows, monkeypatch):
    mixtures = counted(monkeypatch, Mixture, "of_linear")
    made = counted(monkeypatch, MixtureClassifier, "__init__")
    models = path(rows)
    assert not mixtures
    assert not made
    assert models[7].history_["unfairness"].shape == (30,)
    first = models[7].predict(rows["X"])
    assert len(mixtures) == len(made) == 1
    assert bool((models[7].predict(rows["X"]) == first).all())
    assert len(mixtures) == 1


def test_subgroups_on_a_device_are_put_into_words_when_asked_for(rows, monkeypatch):
    if isinstance(rows["X"], np.ndarray):
        pytest.skip("cells are measured by the rule in words, each on its own")
    shortened = counted(monkeypatch, LinearRule, "shortened")
    models = path(rows)
    assert not shortened
    alone = classifier(max_iter=30, gamma=GAMMAS[3]).fit(**rows)
    shortened.clear()
    assert models[3].worst_subgroup_.to_dict() == alone.worst_subgroup_.to_dict()
    assert len(shortened) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_gamma_of_a_path_is_what_fit_gives(rows):
    models = path(rows, tol=0.02)
    assert len({model.n_iter_ for model in models}) > 1
    for model in models[::13]:
        alone = classifier(max_iter=30, tol=0.02, gamma=model.gamma).fit(**rows)
        assert model.get_params().keys() == alone.get_params().keys()
        assert model.n_iter_ == alone.n_iter_
        for name in ("error", "unfairness"):
            np.testing.assert_allclose(model.history_[name], alone.history_[name], atol=1e-9)
        assert str(model.worst_subgroup_) == str(alone.worst_subgroup_)
        assert model.mixture_.training["gap"] == pytest.approx(alone.gap_, abs=1e-9)
        trained = [one.mixture_.training for one in (model, alone)]
        assert trained[0].keys() == trained[1].keys()


def test_models_of_a_path_are_independent(rows):
    first, second = path(rows)[:2]
    first.estimator.set_params(fit_intercept=False)
    first.subgroups.search = "grid"
    assert second.estimator.fit_intercept
    assert second.subgroups.search == "regression"


def test_a_model_that_was_asked_for_nothing_can_be_stored(rows):
    model = path(rows)[5]
    content = pickle.dumps(model)
    copy = pickle.loads(content)
    plays = 40 * 30 * rows["X"].shape[1] * 8
    assert len(content) < plays / 4  # those of the other gammas are not in it
    np.testing.assert_array_equal(
        np.asarray(copy.predict_proba(rows["X"])), np.asarray(model.predict_proba(rows["X"]))
    )
    assert str(copy.worst_subgroup_) == str(model.worst_subgroup_)


def calls_of_rounds(n_gammas, tol):
    """Count the calls of Python's functions in some rounds, and in the looks that follow."""
    X, A, y, weight = problem(n=100)
    rows = SummedBlocks.of(ArrayBlock(X, A, y, weight, FALSE_POSITIVE_RATE))
    encoding = LinearEncoding.of(read_columns(A), weight)
    gammas = np.linspace(0.0003, 0.0303, n_gammas)
    game = RegressionGame(rows, FALSE_POSITIVE_RATE, encoding, FictitiousPlay(), gammas, C=7.3)
    game.tol = tol
    count = [0]

    def counting(frame, event, argument):
        count[0] += event == "call"

    game.finish_round(None)
    sys.setprofile(counting)
    try:
        for _ in range(10):
            game.finish_round(None)
            game.look(last=True, heard=True)
    finally:
        sys.setprofile(None)
    return count[0]


@pytest.mark.parametrize("tol", [None, 0.0, 0.05])
def test_a_round_calls_as_often_for_many_gammas_as_for_few(tol):
    few, many = calls_of_rounds(2, tol), calls_of_rounds(200, tol)
    assert many <= 1.2 * few
