"""A game that is ready to be played, and the parameters of a fit that decide which it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sklearn.base import clone

from gerrymend._numeric.arrays import arithmetic_of, is_dask_collection, is_device_array
from gerrymend.notions import AnyNotion, FairnessNotion, OutcomeNotion
from gerrymend.solvers import Equilibrium, GameSolver, Round
from gerrymend.solvers.base import Interrupted
from gerrymend.solvers.loop import Listener
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import seed_estimator
from gerrymend.solvers.players.rows import Rows
from gerrymend.subgroups import SubgroupClass


class Game(NamedTuple):
    """A game that is ready to be played."""

    play: Callable[..., list[Equilibrium]]
    """Plays it, given the limits, who listens, and a checkpoint if there is one."""

    example: Callable[[], Any]
    """Makes a predictor like those of the game."""


@dataclass(frozen=True)
class Setting:
    """The parameters of a fit that decide which game is played, checked.

    `audited` is the class of subgroups as `audit` searches it, `known` are predictors of the last
    fit to start from, and `bins` is how many each numeric attribute is cut into, if that was asked.
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
    bins: int | None = None

    def seeded(self, seed: int) -> "Setting":
        """Return the same with copies of estimator and solver that have the seed."""
        estimator = clone(self.estimator)
        solver = clone(self.solver)
        # Copies: the user's own are never changed.
        seed_estimator(estimator, seed)
        seed_estimator(solver, seed)
        return replace(self, estimator=estimator, solver=solver)

    def identity(self, X: Any) -> dict[str, Any]:
        """Return what a fit that goes on from a checkpoint must share, but for its rows."""
        shared = ("gammas", "estimator", "subgroups", "solver", "C", "certify", "bins")
        parts = {name: getattr(self, name) for name in shared}
        # What functions of a mean make of the rows is among the digests of these.
        parts["notion"] = [repr(rate_of(notion)) for notion in self.notions]
        return parts | ({"arrays": arithmetic_of(X)} if is_elsewhere(X) else {})


def game_of(
    rows: Rows,
    auditor: Auditor,
    setting: Setting,
    solver: GameSolver,
    gammas: list[float],
    C: float,
    scale: float | None = None,
) -> Game:
    """Return the solver's game; `scale` is its unit, where that is not 1."""
    unit = 1.0 if scale is None else scale
    play = partial(
        solver.play,
        rows,
        auditor,
        gammas=[gamma / unit for gamma in gammas],
        C=C,
        certify=setting.certify,
        known=setting.known,
    )
    example = partial(rows.best_response, auditor.base_cost[None])
    return Game(play if scale is None else partial(_played_in_unit, play, gammas, unit), example)


def is_elsewhere(X: Any) -> bool:
    """Return True for rows on a device or a cluster, of which only sums are brought here."""
    return is_device_array(X) or is_dask_collection(X)


def _played_in_unit(
    play: Callable[..., list[Equilibrium]],
    gammas: list[float],
    scale: float,
    *,
    on_round: Listener | None,
    **limits: Any,
) -> list[Equilibrium]:
    """Play a game whose unit is `scale`, and tell of it in the unit of the outcome."""
    # Division rounds, so multiplying back need not give the user's gamma again; game_of() divides
    # in the same way, so that the keys are equal bit for bit.
    of_game = {gamma / scale: gamma for gamma in gammas}

    def told(equilibria: list[Equilibrium]) -> list[Equilibrium]:
        return [one.in_unit(scale, of_game[one.gamma]) for one in equilibria]

    def heard(played: Round) -> None:
        assert on_round is not None
        on_round(played._replace(unfairness=scale * played.unfairness))

    listener = None if on_round is None else replace(on_round, tell=heard)
    try:
        return told(play(on_round=listener, **limits))
    # What Ctrl-C leaves is told in the outcome's unit too.
    except Interrupted as stop:
        stop.equilibria = told(stop.equilibria)
        raise


def rate_of(notion: AnyNotion) -> FairnessNotion:
    """Return what a notion is called in reports."""
    return notion.rate if isinstance(notion, OutcomeNotion) else notion
