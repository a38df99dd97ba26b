"""The same on a CUDA device; run wherever there is one."""

import ctypes

import numpy as np
import pytest
import sklearn

from gerrymend.inputs.protected import read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE, STATISTICAL_PARITY
from gerrymend.solvers import FictitiousPlay
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.records import Records
from gerrymend.solvers.regression.rows import SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding
from tests.cut_short import assert_same as assert_equal
from tests.solvers.test_block_checkpoints import pressing_in_round
from tests.solvers.test_blocks import GAMMAS, assert_same, problem, reference

try:
    ctypes.CDLL("libcuda.so.1")
except OSError:  # without the driver there is no device, and torch takes seconds to say so
    pytest.skip("no CUDA device", allow_module_level=True)
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

from tests.all_rounds import MAY_EXCEED_GAMMA  # noqa: E402
from tests.solvers.test_device import classifier, fit_path  # noqa: E402

pytestmark = MAY_EXCEED_GAMMA


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def on_device(rows, dtype=torch.float64):
    X, A, y, weight = (torch.as_tensor(part, device="cuda") for part in rows)
    return X.to(dtype), A.to(dtype), y, weight.to(dtype)


def game(rows, arrays, notion, dtype="float64", gammas=GAMMAS):
    encoding = LinearEncoding.of(read_columns(rows[1]), rows[3])
    played = SummedBlocks.of(ArrayBlock(*arrays, notion))
    return RegressionGame(played, notion, encoding, FictitiousPlay(), gammas, C=7.3, dtype=dtype)


@pytest.mark.parametrize("notion", [FALSE_POSITIVE_RATE, STATISTICAL_PARITY], ids=str)
def test_float64_is_numpys_to_1e_9(notion):
    rows = problem()
    expected = reference(*rows, notion, 100, None)
    ours = game(rows, on_device(rows), notion).play(max_iter=100, tol=None)
    assert_same(ours, expected, rows[0])


def test_cupy_is_numpys_to_1e_9():
    cupy = pytest.importorskip("cupy")
    rows = problem()
    expected = reference(*rows, FALSE_POSITIVE_RATE, 100, None)
    arrays = tuple(map(cupy.asarray, rows))
    ours = game(rows, arrays, FALSE_POSITIVE_RATE).play(max_iter=100, tol=None)
    assert_same(ours, expected, rows[0])


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_a_round_never_waits_for_the_device(dtype):
    rows = problem()
    played = game(rows, on_device(rows, dtype), FALSE_POSITIVE_RATE, str(dtype))
    played._play_round()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(20):
            played._play_round()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("notion", [FALSE_POSITIVE_RATE, STATISTICAL_PARITY], ids=str)
def test_games_end_themselves_in_numpys_rounds(notion):
    rows = problem(seed=1)
    gammas = np.linspace(0.0003, 0.0303, 12).tolist()
    on_host = game(rows, rows, notion, gammas=gammas)
    on_gpu = game(rows, on_device(rows), notion, gammas=gammas)
    assert (on_host._ends_at_once, on_gpu._ends_at_once) == (False, True)
    limits = {"max_iter": 600, "tol": 0.03}
    assert_same(on_gpu.play(**limits), on_host.play(**limits), rows[0])
    assert on_gpu.over
    assert on_gpu.n_rounds < 600


def test_fit_and_predict_stay_on_the_device():
    rows = problem()
    X, A, y, weight = on_device(rows)
    for one, other in zip(
        fit_path(classifier(), X, A, y, weight), fit_path(classifier(), *rows), strict=True
    ):
        np.testing.assert_allclose(one.history_["error"], other.history_["error"], atol=1e-9)
        assert one.predict(X).device == one.predict_proba(X).device == X.device
        np.testing.assert_array_equal(one.predict(X).cpu().numpy(), other.predict(rows[0]))
        assert one.score(X, y) == pytest.approx(other.score(rows[0], rows[2]), abs=1e-9)


def test_float32_records_what_is_true():
    rows = problem(n=50_000, weighted=False)
    X, A, y, _ = on_device(rows, torch.float32)
    clf = classifier().fit(X, y, sensitive_features=A)
    p = clf.predict_proba(rows[0])[:, 1]
    error = np.where(rows[2] == 1, 1 - p, p).mean()
    assert clf.history_["error"][-1] == pytest.approx(error, abs=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("tol", [None, 0.02])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_is_cut_short_ends_as_if_it_were_not(tmp_path, dtype, tol):
    pytest.importorskip("skops")
    rows = problem(n=20_000, seed=1)
    arrays, settings = on_device(rows, dtype), {"max_iter": 150, "tol": tol}
    whole = fit_path(classifier(**settings), *arrays)
    for number in (2, 30):  # asked for one by one, and replayed
        model = classifier(**settings, checkpoint=tmp_path / "fit", checkpoint_every=1e6)
        with pressing_in_round(number, Records, "append"), pytest.raises(KeyboardInterrupt):
            fit_path(model, *arrays)
        for one, other in zip(fit_path(model, *arrays), whole, strict=True):
            assert_equal(one, other, arrays[0].cpu().numpy())


def test_arrays_on_two_devices_are_told():
    X, A, y, _ = on_device(problem())
    with pytest.raises(ValueError, match="X is an array of torch on cuda:0, and y is an array of"):
        classifier().fit(X, y.cpu(), sensitive_features=A)
