"""Decide when a game has converged: one rule, and its default tolerance, for every solver."""

from typing import Any

# In units of error: by default a game ends within two of a thousand rows of its equilibrium.
TOLERANCE = 2e-3


def has_converged(penalty: Any, gap: Any, tol: float) -> Any:
    """Return whether neither player has more than `tol` to gain.

    Parameters
    ----------
    penalty : float or array
        C·(unfairness − gamma): what the Auditor gains by its best answer to the mixture.
    gap : float or array
        The mixture's worth less what the Learner can do at best.
    tol : float
        The most that either may be.

    Returns
    -------
    bool or array of bool

    Examples
    --------
    >>> has_converged(0.001, 0.002, tol=TOLERANCE)
    True
    >>> has_converged(0.003, 0.0, tol=TOLERANCE)
    False
    """
    return (penalty <= tol) & (gap <= tol)
