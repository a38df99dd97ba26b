"""Play the game between Learner and Auditor."""

from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.settings import check_choice
from gerrymend.solvers.averaging import play
from gerrymend.solvers.base import Equilibrium, GameSolver, Round
from gerrymend.solvers.exponentiated_gradient import ExponentiatedGradient
from gerrymend.solvers.fictitious_play import FictitiousPlay
from gerrymend.solvers.multiplicative_weights import MultiplicativeWeights
from gerrymend.solvers.no_regret import NoRegret

__all__ = [
    "Equilibrium",
    "ExponentiatedGradient",
    "FictitiousPlay",
    "GameSolver",
    "MultiplicativeWeights",
    "NoRegret",
    "Round",
    "as_solver",
    "play",
]

_BY_NAME: dict[str, type[GameSolver]] = {
    "exponentiated_gradient": ExponentiatedGradient,
    "fictitious_play": FictitiousPlay,
    "multiplicative_weights": MultiplicativeWeights,
    "no_regret": NoRegret,
}


def as_solver(solver: Any) -> GameSolver:
    """Return the solver that a name or an instance stands for.

    >>> as_solver("fictitious_play")
    FictitiousPlay()
    """
    if isinstance(solver, GameSolver):
        return solver
    if isinstance(solver, str):
        return _BY_NAME[check_choice(solver, "solver", _BY_NAME)]()
    raise ArgumentError(
        "solver",
        f"must be one of {', '.join(map(repr, _BY_NAME))} or a GameSolver such as "
        f"FictitiousPlay(); got {solver!r}.",
    )
