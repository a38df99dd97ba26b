"""What can be played over blocks: the paper's game between linear regressions."""

from collections.abc import Callable, Sequence
from typing import Any

from gerrymend._numeric.arrays import in_words, is_dask_collection, is_device_array
from gerrymend.inputs.dask_rows import is_dask_native, the_client
from gerrymend.inputs.settings import check_choice
from gerrymend.models.estimators import is_plain_least_squares
from gerrymend.notions import FairnessNotion
from gerrymend.solvers import FictitiousPlay, GameSolver
from gerrymend.solvers.regression.device import device_game
from gerrymend.solvers.regression.rows_read import RowsRead
from gerrymend.subgroups import LinearThresholds, SubgroupClass


def check_fast_path(
    X: Any,
    *,
    estimator: Any,
    solver: GameSolver,
    subgroups: SubgroupClass,
    notions: Sequence[FairnessNotion],
    **unsupported: bool,
) -> None:
    """Raise unless all that the game needs of rows like X are sums, or Dask can train on them."""
    of_dask = is_dask_collection(X)
    trained = is_plain_least_squares(estimator) or (of_dask and is_dask_native(estimator))
    regression = isinstance(subgroups, LinearThresholds) and subgroups.search == "regression"
    problems = {
        f"estimator={estimator!r}": not trained,
        f"solver={solver!r}": not isinstance(solver, FictitiousPlay),
        f"subgroups={subgroups!r}": not (regression and subgroups.intercept),
        f"{len(notions)} notions at once": len(notions) != 1,
    } | {f"{name}=True": given for name, given in unsupported.items()}
    wrong = [words for words, is_wrong in problems.items() if is_wrong]
    if wrong:
        native = (
            " A classifier that trains on Dask's collections, such as "
            "lightgbm.DaskLGBMClassifier(), can be the estimator too."
        )
        raise ValueError(
            f"X is {in_words(X)}, where only SubgroupParityClassifier(LinearRegression(), "
            "solver='fictitious_play', subgroups=LinearThresholds(search='regression')) can be "
            f"trained, for one notion; got {', '.join(wrong)}. Use these, or pass NumPy arrays."
            f"{native * of_dask}"
        )
    assert isinstance(solver, FictitiousPlay)
    check_choice(solver.divisor, "divisor", ("t", "t-1"))
    check_choice(solver.side, "side", ("realised", "predicted"))
    if check_choice(solver.order, "order", ("body", "appendix")) != "body":
        raise ValueError(
            f"X is {in_words(X)}, where fictitious play has order='body' alone; got "
            f"order={solver.order!r}. Leave it out, or pass NumPy arrays."
        )


def check_in_one_place(X: Any, estimator: Any, **others: Any) -> None:
    """Raise if X is in memory, and what comes with it, or what learns from it, is elsewhere."""
    for argument, data in others.items():
        if is_dask_collection(data) or is_device_array(data):
            raise TypeError(
                f"X is {in_words(X)}, and {argument} is {in_words(data)}. Pass both as arrays or "
                "frames of the same library and device; or bring it here first, with .compute() or "
                ".cpu()."
            )
    if is_dask_native(estimator):
        raise TypeError(
            f"estimator={estimator!r} trains on Dask's collections, and X is {in_words(X)}. Pass X "
            "as an array or frame of Dask, or take the estimator's form for data in memory, such "
            "as LGBMClassifier() or XGBClassifier()."
        )


def reader_of(X: Any) -> Callable[..., RowsRead]:
    """What reads rows like X: on their device, or on the workers of a Dask cluster."""
    if not is_dask_collection(X):
        return device_game
    the_client()
    from gerrymend.solvers.dask.game import dask_game  # distributed is an extra

    return dask_game
