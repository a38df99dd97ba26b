"""Decide which game a fit plays, read the rows where they are, and say why a game can't be played.

There are two: the game of a solver between a Learner and an Auditor, on rows in memory; and the
paper's between linear regressions, from sums, on rows of a device or a cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sklearn.base import clone

from gerrymend._numeric.arrays import (
    arithmetic_of,
    check_dispatch,
    in_words,
    is_dask_collection,
    is_device_array,
)
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.rare_values import rows_by_value
from gerrymend.auditing.strata import strata_of
from gerrymend.inputs.dask_rows import is_dask_native, the_client
from gerrymend.inputs.fit_identity import data_digests
from gerrymend.inputs.protected import Cells
from gerrymend.inputs.sample import Sample
from gerrymend.inputs.settings import check_choice
from gerrymend.inputs.validation import is_frame
from gerrymend.models.estimators import is_plain_least_squares
from gerrymend.notions import (
    AnyNotion,
    FairnessNotion,
    Moment,
    OutcomeNotion,
    moment_of,
    warn_of_unit,
)
from gerrymend.solvers import Equilibrium, FictitiousPlay, GameSolver, Round
from gerrymend.solvers.base import Interrupted
from gerrymend.solvers.loop import Listener
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.estimator_checks import check_uses_weights
from gerrymend.solvers.players.learners import seed_estimator
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.solvers.regression.device import device_game
from gerrymend.solvers.regression.rows import RowsRead
from gerrymend.subgroups import LinearThresholds, SubgroupClass


class Game(NamedTuple):
    """A game that is ready to be played."""

    play: Callable[..., list[Equilibrium]]
    """Plays it, given the limits, who listens, and a checkpoint if there is one."""

    example: Callable[[], Any]
    """Makes a predictor like those of the game."""


@dataclass(frozen=True)
class Setting:
    """The parameters of a fit that decide which game is played, checked.

    `audited` is the class of subgroups as `audit` searches it, and `known` are predictors of the
    last fit to start from.
    """

    estimator: Any
    solver: GameSolver
    notions: Sequence[AnyNotion]
    subgroups: SubgroupClass
    audited: SubgroupClass
    gammas: list[float]
    C: float
    certify: bool
    known: Sequence[Any]
    leave_out_empty_strata: bool = False

    def seeded(self, seed: int) -> "Setting":
        """Return the same with copies of estimator and solver that have the seed."""
        estimator = clone(self.estimator)
        solver = clone(self.solver)
        seed_estimator(estimator, seed)
        seed_estimator(solver, seed)
        return replace(self, estimator=estimator, solver=solver)

    def identity(self, X: Any) -> dict[str, Any]:
        """Return what a fit that goes on from a checkpoint must share, but for its rows."""
        shared = ("gammas", "estimator", "subgroups", "solver", "C", "certify")
        parts = {name: getattr(self, name) for name in shared}
        # What functions of a mean make of the rows is among the digests of these.
        parts["notion"] = [repr(rate_of(notion)) for notion in self.notions]
        return parts | ({"arrays": arithmetic_of(X)} if _is_elsewhere(X) else {})


def check_playable(X: Any, setting: Setting, **others: Any) -> None:
    """Raise an ArgumentError, before X is read, if no game can be played on rows like these.

    `others` are the data that come with X, by argument.
    """
    check_dispatch(X, "X")
    if others["y"] is None:
        raise ArgumentError("y", "is None.", lead="fit requires y to be passed, but the target ")
    if _is_elsewhere(X):
        _check_regression_game(X, setting, others)
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
    if _is_elsewhere(X):
        read = _reader_of(X)
        return read(features, y, sensitive_features, sample_weight, rate_of(setting.notions[0]))
    sample = Sample.read(
        y,
        sensitive_features,
        sample_weight,
        control=control_features,
        features=X if is_frame(X) else features,
    )
    for notion in setting.notions:
        check_decisions(notion, sample)
    moments = tuple(moment_of(notion, sample.y) for notion in setting.notions)
    warn_of_unit(max(setting.gammas), moments)
    strata = strata_of(sample, moments, leave_out=setting.leave_out_empty_strata)
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
    begin = partial(_begin, features, sample, moments, strata, setting)
    counts = rows_by_value(sample.columns)
    controls = tuple(column.name for column in sample.controls)
    return RowsRead(sample.classes, sample.columns, counts, digests, begin, controls)


def _is_elsewhere(X: Any) -> bool:
    """Return True for rows on a device or a cluster, of which only sums are brought here."""
    return is_device_array(X) or is_dask_collection(X)


def _begin(
    features: Any,
    sample: Sample,
    moments: tuple[Moment, ...],
    strata: Cells | None,
    setting: Setting,
    estimator: Any,
    solver: GameSolver,
    gammas: list[float],
    C: float,
) -> Game:
    """Begin the solver's game in memory, on rows sorted by label, cell and stratum.

    Means of numbers are in units of the most that a decision changes an outcome by: solvers are
    made for rates.
    """
    check_uses_weights(estimator, features)
    own = [moment for moment in moments if moment.is_own]
    scale = max((moment.scale for moment in own), default=1.0)
    label_cells, starts, order = LabelCells.of_sample(
        sample.columns,
        sample.y,
        sample.weight,
        None if strata is None else strata.index,
        tuple(moment.over(scale) for moment in own),
    )
    rates = [moment.rate for moment in moments]
    auditor = Auditor(rates, setting.subgroups, label_cells, setting.audited)
    weight = sample.weight[order]
    rows = MemoryRows.of(estimator, features, order, label_cells, auditor.pressed, weight, starts)
    play = partial(
        solver.play,
        rows,
        auditor,
        gammas=[gamma / scale for gamma in gammas],
        C=C,
        certify=setting.certify,
        known=setting.known,
    )
    example = partial(rows.best_response, auditor.base_cost[None])
    return Game(partial(_played_in_unit, play, gammas, scale) if own else play, example)


def _played_in_unit(
    play: Callable[..., list[Equilibrium]],
    gammas: list[float],
    scale: float,
    *,
    on_round: Listener | None,
    **limits: Any,
) -> list[Equilibrium]:
    """Play a game whose unit is `scale`, and tell of it in the unit of the outcome."""
    of_game = {gamma / scale: gamma for gamma in gammas}

    def told(equilibria: list[Equilibrium]) -> list[Equilibrium]:
        return [one.in_unit(scale, of_game[one.gamma]) for one in equilibria]

    def heard(played: Round) -> None:
        assert on_round is not None
        on_round(played._replace(unfairness=scale * played.unfairness))

    listener = None if on_round is None else replace(on_round, tell=heard)
    try:
        return told(play(on_round=listener, **limits))
    except Interrupted as stop:
        stop.equilibria = told(stop.equilibria)
        raise


def rate_of(notion: AnyNotion) -> FairnessNotion:
    """Return what a notion is called in reports."""
    return notion.rate if isinstance(notion, OutcomeNotion) else notion


def check_decisions(notion: AnyNotion, sample: Sample) -> None:
    """Raise an ArgumentError for labels that are no decisions of 0 and 1, where a mean needs it."""
    if isinstance(notion, OutcomeNotion) and sample.classes.tolist() != [0, 1]:
        raise ArgumentError(
            "y",
            f"has the labels {sample.pair[0]!r} and {sample.pair[1]!r}, and the notion "
            f"{notion.name!r} is a mean of what decisions of 0 and 1 bring about; code them as 0 "
            "and 1.",
        )


def _check_regression_game(X: Any, setting: Setting, others: Mapping[str, Any]) -> None:
    """Raise unless all that the game needs of rows like X are sums, or Dask can train on them."""
    if others["control_features"] is not None:
        raise ArgumentError(
            "control_features",
            f"compares within strata, which fits do of rows in memory alone, and X is {in_words(X)}"
            ". Pass NumPy arrays or frames instead, by .compute() or .cpu(); or leave it out.",
        )
    estimator = setting.estimator
    solver = setting.solver
    subgroups = setting.subgroups
    n_notions = len(setting.notions)
    of_dask = is_dask_collection(X)
    trained = is_plain_least_squares(estimator) or (of_dask and is_dask_native(estimator))
    regression = isinstance(subgroups, LinearThresholds) and subgroups.search == "regression"
    problems = {
        f"estimator={estimator!r}": not trained,
        f"solver={solver!r}": not isinstance(solver, FictitiousPlay),
        f"subgroups={subgroups!r}": not (regression and subgroups.intercept),
        f"{n_notions} notions at once": n_notions != 1,
        f"notion={setting.notions[0].name!r}": isinstance(setting.notions[0], OutcomeNotion),
        "certify=True": setting.certify,
        "warm_start=True": bool(setting.known),
    }
    wrong = [words for words, is_wrong in problems.items() if is_wrong]
    if wrong:
        native = (
            " A classifier that trains on Dask's collections, such as "
            "lightgbm.DaskLGBMClassifier(), can be the estimator too."
        )
        raise ArgumentError(
            "X",
            f"is {in_words(X)}, where only SubgroupParityClassifier(LinearRegression(), "
            "solver='fictitious_play', subgroups=LinearThresholds(search='regression')) can be "
            f"trained, for one notion; got {', '.join(wrong)}. Use these, or pass NumPy arrays."
            f"{native * of_dask}",
        )
    assert isinstance(solver, FictitiousPlay)
    check_choice(solver.divisor, "divisor", ("t", "t-1"))
    check_choice(solver.side, "side", ("realised", "predicted"))
    if check_choice(solver.order, "order", ("body", "appendix")) != "body":
        raise ArgumentError(
            "X",
            f"is {in_words(X)}, where fictitious play has order='body' alone; got "
            f"order={solver.order!r}. Leave it out, or pass NumPy arrays.",
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
