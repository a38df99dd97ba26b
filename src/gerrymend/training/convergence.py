"""What is off with a game that ended, and what would change it."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from gerrymend.solvers import Equilibrium


def warn_unless_converged(
    equilibrium: Equilibrium, *, C: float, tol: float | None, max_iter: int, certify: bool
) -> None:
    """Say what is off, and what would change it."""
    unfairness, gap, gamma = equilibrium.found, equilibrium.gap, equilibrium.gamma
    rounds = equilibrium.n_rounds
    after = f"After {rounds} round{'s' if rounds > 1 else ''} at gamma={gamma:g} the"
    longer = "budget" if rounds < max_iter else f"max_iter (now {max_iter})"
    message = ""
    if certify:
        if not equilibrium.certified:
            message = (
                f"{after} budget ended before a proof: the worst subgroup found has unfairness "
                f"{unfairness:.4f}, and it is proven only that none exceeds "
                f"{equilibrium.upper_bound:.4f}. Raise budget, or allow that gamma."
            )
    elif tol is not None and unfairness > gamma + min(tol / C, 0.001):
        message = (
            f"{after} worst subgroup found has unfairness {unfairness:.4f}, above gamma; the least "
            f"of any mixture on the way is {equilibrium.unfairness.min():.4f}. Raise C (now "
            f"{C:g}), which is the error that a unit of unfairness may cost; or {longer}, while "
            f"the gap is large (now {gap:.4f}); or set certify=True, which keeps to gamma at any "
            "price; or allow a larger gamma."
        )
    elif tol is not None and not equilibrium.converged:
        message = (
            f"{after} mixture has unfairness {unfairness:.4f}, as it should, but its error may be "
            f"up to about {gap:.4f} above the least possible. Raise {longer}, or accept it with a "
            f"larger tol (now {tol:g})."
        )
    if message:
        warnings.warn(message, ConvergenceWarning, stacklevel=6)
