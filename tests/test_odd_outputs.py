"""What is asked of results: an odd library, path, place or name is told as such."""

from decimal import Decimal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import (
    ConvergenceDisplay,
    FairnessNotion,
    FrontierDisplay,
    SubgroupParityClassifier,
    SurfaceDisplay,
    TrajectoryDisplay,
    audit,
    check_report,
    discrimination_surface,
    impact_ratios,
    less_discriminatory_alternatives,
    pareto_frontier,
)
from gerrymend._runtime.errors import ArgumentError

RNG = np.random.default_rng(0)
A = {"sex": ["F", "M"] * 20, "age": RNG.integers(18, 80, 40), "pay": RNG.integers(1, 9, 40)}
Y = RNG.integers(0, 2, 40)
D = RNG.integers(0, 2, 40)
X = RNG.standard_normal((40, 2))
ODD = (None, 0.5, True, [1], {"a": 1}, np.array([1, 2]), Decimal("sNaN"), object(), 10**30)
FRAMES = (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}))


def _name(odd):
    """Name a case by its type; the same in each worker."""
    return type(odd).__name__


@pytest.fixture(scope="module")
def report():
    return audit(Y, D, sensitive_features=A, subgroups="marginals")


@pytest.fixture(scope="module")
def tables():
    return impact_ratios(D, sensitive_features={"sex": A["sex"]}, search=False)


@pytest.fixture(scope="module")
def frontier():
    clf = SubgroupParityClassifier(LinearRegression(), max_iter=2, subgroups="marginals")
    return pareto_frontier(clf, X, Y, sensitive_features=A, gammas=[0.5, 0.6], audit_budget=1)


@pytest.fixture(scope="module")
def surface():
    return discrimination_surface(
        Y, D, sensitive_features=A, attributes=("age", "pay"), thetas=[-1, 1], min_group_size=1,
        standardize=np.True_,
    )  # fmt: skip


@pytest.fixture(scope="module")
def alternatives(frontier):
    return less_discriminatory_alternatives(
        frontier, X, sensitive_features={"sex": A["sex"]}, reference="highest"
    )


@pytest.mark.parametrize("result", ["report", "tables", "frontier", "alternatives"])
@pytest.mark.parametrize("backend", [*ODD, "numpy", "no such"], ids=_name)
def test_a_library_without_frames_is_told(result, backend, request):
    with pytest.raises(ArgumentError, match=r"^backend=.* makes no frame here\. Pass 'pandas'"):
        request.getfixturevalue(result).to_frame(backend)


@pytest.mark.parametrize("path", [*ODD, b"x"], ids=_name)
def test_what_is_no_path_is_told(path, report, tables):
    for write in (report.write_html, tables.write_html, tables.write_csv, tables.write_xlsx):
        with pytest.raises(TypeError, match=r"^path must be a path; got"):
            write(path)


def test_no_time_is_no_date(report, tables):
    for told in (report, tables):
        with pytest.raises(ArgumentError, match=r"^date must be text; got NaT"):
            told.to_html(date=pd.NaT)


@pytest.mark.parametrize(
    "number", [*ODD, *FRAMES, 1, -2, "0", slice(1), np.uint64(2**63)], ids=_name
)
def test_a_round_that_is_not_there_is_told(number, surface):
    for call in (surface.rate, surface.worst, lambda at: SurfaceDisplay(surface, at)):
        with pytest.raises(
            ArgumentError, match=r"(?s)^number=.* is out of range; the surface has 1"
        ):
            call(number)


def test_a_flag_of_numpy_is_written_as_json(surface):
    assert '"standardized": true' in surface.to_json()


@pytest.mark.parametrize("odd", [True, *ODD[3:], *FRAMES], ids=_name)
def test_a_point_that_is_not_there_is_told(odd, frontier):
    for name in ("gamma", "notion", "estimator"):
        words = rf"(?s)^No points have .*{name}=.*; name one\. There are"
        with pytest.raises(ValueError, match=words):
            frontier.model(**({"gamma": 0.5} | {name: odd}))
    with pytest.raises(ValueError, match=r"(?s)^notion=.*, and the frontier has false_positive"):
        FrontierDisplay(frontier, notion=odd)


def test_points_are_found_by_equal_numbers(frontier):
    assert frontier.model(np.float32(0.5)) is frontier.model(0.5)


HISTORY = {
    "no list": ({"rounds": 3}, "rounds must be a Series"),
    "words": ({"error": ["a", "b"]}, "error must be numbers; got text"),
    "lists": ({"unfairness": [[1, 2], [3, 4]]}, "unfairness must have one dimension"),
    "another length": ({"error": [0.1]}, "must have the same length"),
    "a word for gamma": ({"gamma": "0.1"}, "gamma must be a number of at least 0; got '0.1'"),
    "a complex gamma": ({"gamma": 1j}, "gamma must be a number of at least 0"),
    "no gamma": ({"gamma": None}, "gamma must be a number of at least 0"),
    "400 digits": ({"gamma": 10**400}, "gamma must be a number of at least 0"),
}


@pytest.mark.parametrize(("change", "words"), HISTORY.values(), ids=HISTORY)
def test_a_history_that_is_none_is_told(change, words):
    own = {"rounds": [1, 2], "error": [0.1, 0.2], "unfairness": [0.2, 0.1], "gamma": 0.1}
    for kind in (TrajectoryDisplay, ConvergenceDisplay):
        with pytest.raises(ValueError, match=words):
            kind(**own | change)


def test_odd_words_of_a_picture_are_told():
    own = {"rounds": [1, 2], "error": [0.1, 0.2], "unfairness": [0.2, 0.1], "gamma": 0.1}
    with pytest.raises(ArgumentError, match="gap must be a number that is finite; got 'x'"):
        ConvergenceDisplay(**own, gap="x")
    with pytest.raises(ArgumentError, match="colorbar must be True or False"):
        TrajectoryDisplay(**own).plot(colorbar=np.array([1, 2]))
    axes = TrajectoryDisplay(**own).plot()
    assert "last: round 2" in [text.get_text() for text in axes.get_legend().get_texts()]
    plt.close("all")


def test_parts_of_a_notion_that_reports_tell_are_plain():
    def own(**parts):
        return FairnessNotion("own", (True, True), (0, 0), (1, 1), **parts)

    with pytest.raises(TypeError, match="unit of a FairnessNotion must be text or None"):
        own(unit=np.array([1, 2]))
    assert type(own(of_class=np.int64(3)).of_class) is int
    for label in (np.nan, np.float32("inf")):
        with pytest.raises(TypeError, match="of_class of a FairnessNotion must be one label"):
            own(of_class=label)


def test_the_checker_tells_rows_that_are_arrays(report):
    rows = [np.array([1, 2])] * 40
    with pytest.raises(TypeError, match="y_true has values of type ndarray"):
        check_report(report, rows, D, sensitive_features=A)
