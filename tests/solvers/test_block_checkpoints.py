"""Games over blocks that are cut short, wherever, end as if they were not."""

import itertools
import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest
import sklearn

from gerrymend import FictitiousPlay
from gerrymend.inputs.protected import read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE, STATISTICAL_PARITY
from gerrymend.solvers.blocks import LocalBlocks
from gerrymend.solvers.regression import records
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.compiled_block import CompiledBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.rows import SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.training import checkpoints
from tests.cut_short import Stopping, assert_same
from tests.marks import slow
from tests.solvers.test_blocks import GAMMAS, problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Kept:
    """Keeps the states of some rounds; a game may go on from any of them."""

    def __init__(self, numbers=(), state=None):
        self._numbers, self._state, self._rounds = numbers, state, itertools.count(1)
        self.states = []

    def resume(self, game):
        if self._state:
            game.restore(self._state)

    def reached(self, state):
        if next(self._rounds) in self._numbers:
            packed = checkpoints.Packer().pack(state())
            self.states.append(checkpoints.unpack(packed))


def game(kind, notion, rows, cuts=(200, 450), *, at_hand=False):
    X, A, y, weight = rows
    parts = [slice(a, b) for a, b in itertools.pairwise([0, *cuts, len(y)])]
    blocks = LocalBlocks([kind(X[p], A[p], y[p], weight[p], notion) for p in parts])
    encoding = LinearEncoding.of(read_columns(A), weight)
    return RegressionGame(
        SummedBlocks(blocks, at_hand=at_hand),
        notion,
        encoding,
        FictitiousPlay(),
        # More than features, so that games that are at hand end themselves.
        GAMMAS * 3 if at_hand else GAMMAS,
        7.3,
        str(X.dtype),
    )


def assert_same_ends(ends, others):
    for one, other in zip(ends, others, strict=True):
        for name in ("error", "unfairness", "gap", "upper_bound", "rounds", "converged"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.mixture.predictors.coef, other.mixture.predictors.coef)
        assert one.worst.to_dict() == other.worst.to_dict()
        assert list(map(str, one.subgroups)) == list(map(str, other.subgroups))


# Each two of block, notion and tolerance; `make test-slow` has each three.
GAMES = [
    (pytest.param if (i + j + k) % 2 else slow)(kind, notion, tol)
    for i, kind in enumerate((ArrayBlock, CompiledBlock))
    for j, notion in enumerate((FALSE_POSITIVE_RATE, STATISTICAL_PARITY))
    for k, tol in enumerate((None, 0.02))
]


@pytest.mark.parametrize(("kind", "notion", "tol"), GAMES, ids=str)
def test_every_round_can_be_gone_on_from(kind, notion, tol, monkeypatch):
    rows, rules = problem(seed=1), {"max_iter": 150, "tol": tol}
    kept = Kept((1, 2, 30, 63, 64, 65, 100, 128, 149))
    whole = game(kind, notion, rows).play(**rules, checkpoint=kept)
    assert_same_ends(game(kind, notion, rows).play(**rules), whole)
    monkeypatch.setattr(records, "_NUMBERS", 700)  # so that it takes several messages
    for state in kept.states:
        resumed = game(kind, notion, rows).play(**rules, checkpoint=Kept(state=state))
        assert_same_ends(resumed, whole)


@pytest.mark.parametrize("tol", [None, 0.02])
def test_games_that_end_themselves_can_be_gone_on_from(tol):
    rows, rules = problem(seed=1), {"max_iter": 150, "tol": tol}

    def begun():
        return game(ArrayBlock, FALSE_POSITIVE_RATE, rows, at_hand=True)

    kept = Kept((1, 2, 63, 64, 65, 149))
    whole = begun().play(**rules, checkpoint=kept)
    assert tol is None or any(one.converged for one in whole)
    for state in kept.states:
        assert_same_ends(begun().play(**rules, checkpoint=Kept(state=state)), whole)


def test_products_of_float32_are_made_again_as_they_were():
    """In larger products they would round differently, and decide other rows."""
    X, A, y, weight = problem(n=20_000, weighted=False)
    A = A + np.random.default_rng(3).standard_normal(A.shape)
    rows = *(part.astype(np.float32) for part in (X, A)), y, weight.astype(np.float32)

    def begun():
        return game(ArrayBlock, FALSE_POSITIVE_RATE, rows)

    kept, rules = Kept((90,)), {"max_iter": 120, "tol": None}
    played = begun()
    whole = played.play(**rules, checkpoint=kept)
    resumed = begun()
    assert_same_ends(resumed.play(**rules, checkpoint=Kept(state=kept.states[0])), whole)
    for one, other in zip(*(game._rows._blocks._blocks for game in (resumed, played)), strict=True):
        for name in ("_votes", "_pressure", "_members"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.fixture
def torch(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield torch


@contextmanager
def pressing_in_round(number, owner=ArrayBlock, name="find"):
    """Ctrl-C in the middle of a round."""
    method, rounds = getattr(owner, name), itertools.count(1)

    def pressing(self, *arguments):
        if next(rounds) == number:
            os.kill(os.getpid(), signal.SIGINT)
        return method(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, pressing)
        yield


def tensors(torch, dtype="float64"):
    X, A, y, weight = problem(seed=1)
    of_type = getattr(torch, dtype)
    X, A, weight = (torch.as_tensor(part).to(of_type) for part in (X, A, weight))
    return {"X": X, "y": torch.as_tensor(y), "sensitive_features": A, "sample_weight": weight}


def fit_path(model, rows):
    return model.fit_path(**rows, gammas=GAMMAS)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("max_iter", "tol"), [(150, None), (400, 0.02)])
@pytest.mark.parametrize("stops", [[1, 1], [20], [33, 3, 1]], ids=str)
def test_a_path_on_tensors(tmp_path, torch, dtype, max_iter, tol, stops):
    from tests.solvers.test_device import classifier

    rows, settings = tensors(torch, dtype), {"max_iter": max_iter, "tol": tol}
    whole = fit_path(classifier(**settings), rows)
    model = classifier(**settings, checkpoint=tmp_path / "fit", checkpoint_every=1e6)
    for number in stops:
        with pressing_in_round(number), pytest.raises(KeyboardInterrupt) as caught:
            fit_path(model, rows)
        assert "The same call goes on" in caught.value.__notes__[-1]
    for one, other in zip(fit_path(model, rows), whole, strict=True):
        assert_same(one, other, rows["X"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["decide", "find", "decided_outside", "bound"])
def test_an_error_costs_a_round(tmp_path, torch, method):
    from tests.solvers.test_device import classifier

    rows, settings = tensors(torch), {"max_iter": 100}
    whole = fit_path(classifier(**settings), rows)
    path = tmp_path / "fit"
    model = classifier(**settings, checkpoint=path, checkpoint_every=1e6)
    number = 9 if method in ("decide", "find") else 1
    stop = Stopping(number, (ArrayBlock, method), error=MemoryError)
    with stop, pytest.raises(MemoryError) as caught:
        fit_path(model, rows)
    assert "The same call goes on" in caught.value.__notes__[-1]
    content = path.read_bytes()
    state = checkpoints.unpack(content, start=content.index(b"\n", content.index(b"\n") + 1) + 1)
    n_rounds = {"decide": 8, "find": 8, "decided_outside": 64, "bound": 100}[method]
    assert len(state["records"]["figures"]) == n_rounds
    for one, other in zip(fit_path(model, rows), whole, strict=True):
        assert_same(one, other, rows["X"])


def test_other_tensors_are_refused(tmp_path, torch):
    from tests.solvers.test_device import classifier

    rows, model = tensors(torch), classifier(checkpoint=tmp_path / "fit")
    with pressing_in_round(5), pytest.raises(KeyboardInterrupt):
        fit_path(model, rows)
    for name in rows:
        other = rows | {name: rows[name].clone()}
        other[name][7] = 1 - rows[name][7] if name == "y" else 0.25
        with pytest.raises(checkpoints.CheckpointError, match=f"other data: {name} differ"):
            fit_path(model, other)
    on_host = {name: part.numpy() for name, part in rows.items()}
    with pytest.raises(checkpoints.CheckpointError, match=r"arrays was 'torch .* on cpu'"):
        fit_path(model, on_host)
    with pytest.raises(checkpoints.CheckpointError, match=r"X, .* differ"):
        fit_path(model, tensors(torch, "float32"))
    with pytest.raises(checkpoints.CheckpointError, match="5 rounds, and max_iter is 4"):
        fit_path(model.set_params(max_iter=4), rows)
