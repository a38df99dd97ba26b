"""Warn of a game that ended before it converged, and say what would change it."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from gerrymend._runtime.errors import Argument, Message
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.reporting.wording import bound
from gerrymend.solvers import Equilibrium

# An unfairness above gamma by more than this is told, however large `tol` is beside C.
MOST_EXCESS = 0.001


class NotConvergedWarning(Message, ConvergenceWarning):
    """Warn of a game that ended early; `argument` is the limit that ended it."""


def tolerated_excess(tol: float, C: float) -> float:
    """Return by how much a mixture may exceed gamma and still count as having reached it.

    A game has converged when its penalty C·(unfairness − gamma) is at most `tol`, which is in units
    of error: tol / C in units of unfairness. A small C must not make that large.

    >>> tolerated_excess(0.002, 10.0), tolerated_excess(0.02, 10.0)
    (0.0002, 0.001)
    """
    return min(tol / C, MOST_EXCESS)


def warn_unless_converged(
    equilibrium: Equilibrium, *, C: float, tol: float | None, max_iter: int, certify: bool
) -> None:
    """Warn with ConvergenceWarning that says what is off and what would change it.

    Parameters
    ----------
    equilibrium : Equilibrium
        What the game came to.
    C, tol, max_iter, certify
        The classifier's parameters. With `certify` only a proof is asked for; without, `tol=None`
        plays all rounds and never warns.
    """
    unfairness = equilibrium.found
    gap = equilibrium.gap
    gamma = equilibrium.gamma
    rounds = equilibrium.n_rounds
    after = f"After {rounds} round{'s' if rounds > 1 else ''} at gamma={gamma:g} the"
    # The limit that ended the game, and what it is now.
    limit = "budget" if rounds < max_iter else "max_iter"
    now = "" if rounds < max_iter else f"(now {max_iter})"
    warning = None
    if certify:
        if not equilibrium.certified:
            warning = NotConvergedWarning(
                "budget",
                ", or allow that gamma.",
                lead=f"{after} budget ended before a proof: the worst subgroup found has "
                f"unfairness {unfairness:.4f}, and it is proven only that none exceeds "
                f"{bound(equilibrium.upper_bound)}. Raise ",
            )
    elif tol is not None and unfairness > gamma + tolerated_excess(tol, C):
        warning = NotConvergedWarning(
            limit,
            f"{now}, while the gap is large (now {gap:.4f}); or set ",
            Argument("certify", value="True"),
            ", which keeps to gamma at any price; or allow a larger gamma.",
            lead=f"{after} worst subgroup found has unfairness {unfairness:.4f}, above gamma; the "
            f"least of any mixture on the way is {equilibrium.unfairness.min():.4f}. Raise C (now "
            f"{C:g}), which is the error that a unit of unfairness may cost; or ",
        )
    elif tol is not None and not equilibrium.converged:
        kept = "as it should" if unfairness <= gamma + ROUNDING else "within tol / C of gamma"
        warning = NotConvergedWarning(
            limit,
            f"{now}, or accept it with a larger tol (now {tol:g}).",
            lead=f"{after} mixture has unfairness {unfairness:.4f}, {kept}, but its error "
            f"may be up to about {gap:.4f} above the least possible. Raise ",
        )
    if warning is not None:
        warnings.warn(warning, stacklevel=6)
