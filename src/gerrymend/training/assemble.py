"""Decide which game a fit plays, read the rows where they are, and say why a game can't be played.

There are two: the game of a solver between a Learner and an Auditor, over label-cells, on rows in
memory, on a device or on a cluster; and the paper's between linear regressions, from fewer sums, on
rows of a device or a cluster.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import (
    check_dispatch,
    in_words,
    is_dask_collection,
    is_device_array,
)
from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.rare_values import rows_by_value
from gerrymend.auditing.strata import strata_of
from gerrymend.inputs.attribute_bins import AttributeBins, attribute_bins
from gerrymend.inputs.dask_rows import is_dask_native, the_client
from gerrymend.inputs.fit_identity import data_digests
from gerrymend.inputs.protected import Cells
from gerrymend.inputs.sample import Sample
from gerrymend.inputs.settings import check_choice
from gerrymend.inputs.validation import is_frame
from gerrymend.models.estimators import (
    can_be_fitted_from_sums,
    is_plain_least_squares,
    learns_in_parts,
    trains_on_tensors,
)
from gerrymend.notions import (
    Moment,
    OutcomeNotion,
    check_by_label,
    check_decisions,
    moment_of,
    warn_of_unit,
)
from gerrymend.solvers import FictitiousPlay, GameSolver
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.estimator_checks import check_learns_in_parts, check_uses_weights
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells, Rows
from gerrymend.solvers.regression.device import device_game
from gerrymend.solvers.regression.rows import RowsRead
from gerrymend.subgroups import LinearThresholds
from gerrymend.training.device_rows import has_long_vectors, read_device, rows_on_device
from gerrymend.training.games import Game, Setting, game_of, is_elsewhere, rate_of

RowsOf = Callable[[Any, Array, Auditor, NDArray[np.intp], NDArray[np.intp]], Rows]
"""Makes rows of an estimator, weights as given, the Auditor, the order of rows by label-cell, and
where those of each begin."""


def check_playable(X: Any, setting: Setting, **others: Any) -> None:
    """Raise an ArgumentError, before X is read, if no game can be played on rows like these.

    `others` are the data that come with X, by argument.
    """
    # Every check here costs nothing beside reading rows, which may be terabytes on a cluster.
    check_dispatch(X, "X")
    if others["y"] is None:
        raise ArgumentError("y", "is None.", lead="fit requires y to be passed, but the target ")
    if is_elsewhere(X):
        _check_elsewhere(X, setting, others)
    else:
        _check_in_one_place(X, setting.estimator, others)


def read_rows(
    X: Any,
    features: Any,
    y: Any,
    sensitive_features: Any,
    control_features: Any,
    sample_weight: Any,
    setting: Setting,
) -> RowsRead:
    """Read rows in memory, on a device, or on the workers of a Dask cluster.

    `features` is X as the estimator is to have it.
    """
    if is_elsewhere(X) and _is_regression_game(X, setting, control_features):
        read = _reader_of(X)
        return read(features, y, sensitive_features, sample_weight, rate_of(setting.notions[0]))
    data = y, sensitive_features, control_features, sample_weight
    if is_dask_collection(X):
        the_client()
        from gerrymend.training.cluster_rows import read_cluster  # distributed is an extra

        return read_cluster(features, *data, setting=setting)
    if is_device_array(X):
        sample = read_device(features, *data)
        rows_of: RowsOf = partial(rows_on_device, features)
    else:
        sample = Sample.read(
            y,
            sensitive_features,
            sample_weight,
            control=control_features,
            # A frame as it was given, whose columns may be named as attributes, and whose index is
            # compared with those of y and the attributes.
            features=X if is_frame(X) else features,
        )
        rows_of = partial(_in_memory, features)
    for notion in setting.notions:
        check_decisions(notion, sample.classes)
    moments = tuple(moment_of(notion, sample.y) for notion in setting.notions)
    warn_of_unit(max(setting.gammas), moments)
    strata = strata_of(sample, moments, leave_out=setting.leave_out_empty_strata)
    bins = AttributeBins()
    if setting.bins is not None:
        bins = attribute_bins(sample.columns, setting.bins)
    # Not called here: digests of large data take long, and only a checkpoint asks for them.
    digests = partial(
        data_digests,
        features,
        sample.classes,
        sample.y,
        sample.columns,
        sample.weight,
        sample.controls,
        [part for moment in moments if moment.is_own for part in moment[1:]],
    )
    sample = replace(sample, columns=bins.of_columns(sample.columns))
    there = Place.of(features) if is_device_array(X) else MEMORY
    begin = partial(_begin, rows_of, there, sample, moments, strata, setting)
    counts = rows_by_value(sample.columns)
    controls = tuple(column.name for column in sample.controls)
    return RowsRead(sample.classes, sample.columns, counts, digests, begin, controls, bins)


def _begin(
    rows_of: RowsOf,
    there: Place,
    sample: Sample,
    moments: tuple[Moment, ...],
    strata: Cells | None,
    setting: Setting,
    estimator: Any,
    solver: GameSolver,
    gammas: list[float],
    C: float,
) -> Game:
    """Begin the solver's game on rows whose labels and attributes are here.

    `there` is where the features are. Means of numbers are in units of the most that a decision
    changes an outcome by: solvers are made for rates.
    """
    own = [moment for moment in moments if moment.is_own]
    # Over a scale that all moments share, so that one gamma and one C hold for all of them.
    scale = max((moment.scale for moment in own), default=1.0)
    label_cells, starts, order = LabelCells.of_sample(
        sample.columns,
        sample.y,
        sample.weight,
        None if strata is None else strata.index,
        tuple(moment.over(scale) for moment in own),
        place=there,
    )
    rates = [moment.rate for moment in moments]
    place = there if has_long_vectors(label_cells, solver) else MEMORY
    auditor = Auditor(rates, setting.subgroups, label_cells, setting.audited, place)
    rows = rows_of(estimator, sample.weight, auditor, order, starts)
    return game_of(rows, auditor, setting, solver, gammas, C, scale if own else None)


def _in_memory(
    features: Any,
    estimator: Any,
    weight: Array,
    auditor: Auditor,
    order: NDArray[np.intp],
    starts: NDArray[np.intp],
) -> MemoryRows:
    """Return rows in memory, sorted by label, cell and stratum."""
    check_uses_weights(estimator, features)
    return MemoryRows.of(
        estimator, features, order, auditor.label_cells, auditor.pressed, weight[order], starts
    )


def _is_regression_game(X: Any, setting: Setting, control_features: Any) -> bool:
    """Return whether rows elsewhere are to play the paper's game, which needs fewer sums.

    That is fictitious play between linear regressions, or between one and a Dask-native classifier,
    for one rate.
    """
    solver = setting.solver
    subgroups = setting.subgroups
    estimator = setting.estimator
    of_dask = is_dask_collection(X)
    return (
        (is_plain_least_squares(estimator) or (of_dask and is_dask_native(estimator)))
        and isinstance(solver, FictitiousPlay)
        and check_choice(solver.order, "order", ("body", "appendix")) == "body"
        and isinstance(subgroups, LinearThresholds)
        and subgroups.search == "regression"
        and bool(subgroups.intercept)
        and len(setting.notions) == 1
        and not isinstance(setting.notions[0], OutcomeNotion)
        and control_features is None
        and not setting.certify
        and not setting.known
        and setting.bins is None
    )


def _check_elsewhere(X: Any, setting: Setting, others: Mapping[str, Any]) -> None:
    """Raise unless what is to be trained can be trained where the rows are."""
    solver = setting.solver
    if isinstance(solver, FictitiousPlay):
        # Values of the solver's own parameters are checked where it plays; a misspelt one would
        # otherwise first be met after rows on a cluster were read.
        check_choice(solver.divisor, "divisor", ("t", "t-1"))
        check_choice(solver.side, "side", ("realised", "predicted"))
    if _is_regression_game(X, setting, others["control_features"]):
        return
    of_dask = is_dask_collection(X)
    estimator = setting.estimator
    _check_trainable(X, estimator)
    for notion in setting.notions if of_dask else ():
        try:
            check_by_label(notion)
        except ArgumentError as error:
            error.lead = (
                f"X is {in_words(X)}, of which no row is brought here, so that a mean has to be a "
                "function of y_true and y_pred alone (or pass NumPy arrays, by .compute()): "
                f"{error.lead}"
            )
            raise


def _check_trainable(X: Any, estimator: Any) -> None:
    """Raise an ArgumentError if an estimator can't be trained where X is; name what can."""
    if can_be_fitted_from_sums(estimator):
        return
    of_dask = is_dask_collection(X)
    if not of_dask and trains_on_tensors(estimator):
        return
    if of_dask and is_dask_native(estimator):
        return
    if of_dask and learns_in_parts(estimator):
        check_learns_in_parts(estimator, X.shape[1] if X.ndim == 2 else 1)
        return
    others = (
        "One of skorch, or that says in its tags that it trains on arrays like these "
        "(array_api_support), as one around a module of torch may, can be the estimator too."
    )
    if of_dask:
        others = (
            "One that learns from rows in parts, with sample_weight in partial_fit, such as "
            "SGDClassifier() or GaussianNB(), can be the estimator too, and so can a classifier "
            "that trains on collections of Dask, such as lightgbm.DaskLGBMClassifier()."
        )
    raise ArgumentError(
        Argument("estimator", value=repr(estimator)),
        f"can't be trained where X is, which is {in_words(X)}: what is trained there is fitted "
        "from sums over rows, which are those of LogisticRegression() with its default penalty "
        f"and of LinearRegression(). Pass one of these, or pass NumPy arrays. {others}",
    )


def _check_in_one_place(X: Any, estimator: Any, others: Mapping[str, Any]) -> None:
    """Raise if X is in memory, and what comes with it, or what learns from it, is elsewhere."""
    for argument, data in others.items():
        if is_dask_collection(data) or is_device_array(data):
            raise ArgumentError(
                argument,
                f"is {in_words(data)}. Pass both as arrays or frames of the same library and "
                "device; or bring it here first, with .compute() or .cpu().",
                lead=f"X is {in_words(X)}, and ",
            )
    if is_dask_native(estimator):
        raise ArgumentError(
            Argument("estimator", value=repr(estimator)),
            f"trains on Dask's collections, and X is {in_words(X)}. Pass X as an array or frame of "
            "Dask, or take the estimator's form for data in memory, such as LGBMClassifier() or "
            "XGBClassifier().",
        )


def _reader_of(X: Any) -> Callable[..., RowsRead]:
    """Return the reader of rows like X: on their device, or on the workers of a Dask cluster."""
    if not is_dask_collection(X):
        return device_game
    the_client()
    from gerrymend.solvers.dask.game import dask_game  # distributed is an extra

    return dask_game
