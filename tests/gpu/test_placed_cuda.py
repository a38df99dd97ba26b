"""Vectors and cells on a CUDA device: what tests with torch on the CPU ask, and of CuPy too."""

import ctypes

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from gerrymend import SubgroupParityClassifier
from gerrymend._numeric.places import Place
from gerrymend.training import device_rows
from tests.solvers.test_blocks import problem
from tests.subgroups.test_placed_circles import (  # noqa: F401
    test_a_search_elsewhere_finds_the_worst_half_plane,
    test_any_class_answers_for_residuals_elsewhere,
    test_arcs_lead_where_those_in_memory_do,
    test_clusters_have_the_sums_of_their_cells,
    test_each_circle_leads_as_high_as_in_memory,
    test_points_are_the_cells_that_count,
    test_rows_are_sorted_there_as_they_are_here,
    test_what_is_told_of_directions_is_the_same,
)

try:
    ctypes.CDLL("libcuda.so.1")
except OSError:  # without the driver there is no device, and torch takes seconds to say so
    pytest.skip("no CUDA device", allow_module_level=True)
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)


@pytest.fixture(scope="module", params=["torch", "cupy"])
def place(request):
    """The device, by one library or the other."""
    if request.param == "torch":
        return Place.of(torch.zeros(1, device="cuda"))
    return Place.of(pytest.importorskip("cupy").zeros(1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("subgroups", ["conjunctions", "marginals", "value_sets"])
def test_the_default_game_is_that_of_memory_to_1e_6(monkeypatch, subgroups, library):
    X, A, y, _ = problem(n=600)
    A = np.rint(A)
    clf = SubgroupParityClassifier(
        LogisticRegression(tol=1e-9, max_iter=1000), subgroups=subgroups, gamma=0.005,
        random_state=0, max_iter=40, tol=1e-3,
    )  # fmt: skip
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        here = sklearn.clone(clf).fit(X, y, sensitive_features=A)
        if library == "torch":
            given = [torch.as_tensor(one, device="cuda") for one in (X, y, A)]
        else:
            cupy = pytest.importorskip("cupy")
            given = [cupy.asarray(one) for one in (X, y, A)]
        for long in (10**9, 0):
            monkeypatch.setattr(device_rows, "LONG", long)
            there = sklearn.clone(clf).fit(*given[:2], sensitive_features=given[2])
            for name in ("error", "unfairness"):
                np.testing.assert_allclose(
                    there.history_[name][-1], here.history_[name][-1], atol=1e-6
                )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_seed_repeats_a_search_on_the_device(monkeypatch):
    """A device adds in no order that is known; on a grid that doesn't matter."""
    monkeypatch.setattr(device_rows, "LONG", 0)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    X, A, y, weight = problem(n=50_000)
    given = [torch.as_tensor(one, device="cuda") for one in (X, y, A, weight)]
    clf = SubgroupParityClassifier(gamma=0.002, random_state=0, max_iter=12, tol=None)
    with sklearn.config_context(array_api_dispatch=True):
        one, other = (
            sklearn.clone(clf).fit(
                given[0], given[1], sensitive_features=given[2], sample_weight=given[3]
            )
            for _ in range(2)
        )
    np.testing.assert_array_equal(one.history_["error"], other.history_["error"])
    np.testing.assert_array_equal(one.history_["unfairness"], other.history_["unfairness"])
    assert str(one.worst_subgroup_) == str(other.worst_subgroup_)
