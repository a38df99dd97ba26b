"""Bound how far games are from their equilibria, by their standing and wherever arrays are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, is_numpy_array

from gerrymend.solvers.convergence import has_converged
from gerrymend.solvers.regression.standing import Standing


@dataclass(frozen=True)
class DualityGap:
    """Say how far games are from their equilibria.

    Parameters
    ----------
    C : float
        What unfairness above gamma costs.
    event_offset : float
        Σ w·a over the event.
    total : float
        The weight of all rows.

    Examples
    --------
    A play of error 0.2 that nothing presses on, with unfairness 0.03 where 0.01 is allowed:

    >>> table = np.zeros((len(Standing._fields), 1))
    >>> at = Standing.of(table)
    >>> for figure, value in {"unfairness": 0.03, "gamma": 0.01, "number": 1, "playing": 1}.items():
    ...     getattr(at, figure)[:] = value
    >>> games = DualityGap(C=10, event_offset=0, total=1)
    >>> gap = games.of(at, np.array([[0.2], [0.0]]))
    >>> gap.round(6).tolist()
    [0.2]
    """

    C: float
    event_offset: float
    total: float

    def of(self, at: Standing, errors: Any) -> Any:
        """Return the mixture's worth less the Learner's best.

        The mixture is an answer to the duals too, and a heuristic's can be worse. Errors are
        those of the mixtures with the last play and without it: they are affine in the mixture, so
        that of the play follows.
        """
        xp = np if is_numpy_array(errors) else array_namespace(errors)
        error = errors[0, :]
        play = at.number * error - (at.number - 1) * errors[1, :]
        fine = at.mixture_fine(self.event_offset) / self.total
        play_fine = at.play_fine(self.event_offset) / self.total
        value = xp.minimum(error + fine, play + play_fine)
        excess = self._excess(at)
        return error + excess * (excess > 0) - value + at.allowance()

    def met(self, at: Standing, gap: Any, tol: float) -> Any:
        """Return which games have converged now."""
        return has_converged(self._excess(at), gap, tol) & (at.playing > 0)

    def may_be_met(self, at: Standing, tol: float) -> bool:
        """Return whether a game may have converged: all that can be told without the errors.

        The gap is at least what the mixture itself, as an answer to the duals, would leave.
        """
        excess = self._excess(at)
        within = (excess <= tol) & (at.playing > 0)
        if not bool(within.any()):
            return False
        fine = at.mixture_fine(self.event_offset) / self.total
        # In `of` the value is at most error + fine, so that the errors cancel.
        least = excess * (excess > 0) - fine + at.allowance()
        return bool((within & (least <= tol)).any())

    def _excess(self, at: Standing) -> Any:
        """Return what the unfairness above gamma costs, or less than 0 for what is left below."""
        return self.C * (at.unfairness - at.gamma)
