"""Look at the decisions that a fit ends with as `audit` looks, and harder than in any round.

What is found is what the fit reports as its unfairness. A search ends where chance leads it, and a
residual that was added up in another order ends elsewhere; the proof of an audit finds subgroups
that no search does. So the last look has several searches of `audit`, each of which begins anew
(`Ascent`), and then a proof from the worst that these have found.
"""

import math
import time

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.base import BoundClass, Bracket

# Numbers that the proof may read: some four seconds at 4 ns each, where `audit` has 24 of its 30.
CLOSING_WORK = 1e9
# A quarter of it at first; one that leaves a bound of more than twice what is known gets nowhere.
_FIRST = 0.25
_HOPELESS = 2.0
# And the searches before it, which are never fewer than those of `audit`.
_SEARCH_WORK = 2.5e9
# With more cells than this, that much work proves nothing.
MOST_CELLS_PROVEN = 20_000
# The part of a budget that rounds leave for the last look; of its seconds, the part for searches.
FOR_LAST_LOOK = 0.35
_FOR_SEARCHES = 0.5
# Seconds that it has even at the end of a budget: what it finds is what the fit says of itself.
LEAST_SECONDS = 1.0


def closing_look(
    bound: BoundClass, residual: Array, *, work: float = CLOSING_WORK, seconds: float = math.inf
) -> Bracket:
    """Return the worst subgroup that searches and a proof find, and what none exceeds.

    Parameters
    ----------
    bound : BoundClass
        A class as `audit` searches it.
    residual : array of shape (n_cells,)
    work : float
        Numbers that the proof may read, so that a seed repeats a fit.
    seconds : float
        Where it is finite, all ends by the clock instead.

    >>> from gerrymend.inputs.protected import read_columns
    >>> from gerrymend.subgroups import Conjunctions
    >>> import numpy as np
    >>> columns = read_columns({"a": np.array(["x", "x", "y", "y"]), "b": np.array([1, 2, 1, 2])})
    >>> bound = Conjunctions().bind(columns, np.ones(4), np.ones(4))
    >>> float(closing_look(bound, np.array([0.5, -0.25, -0.25, 0.0])).found.values[0])
    0.5
    """
    if math.isfinite(seconds):
        return _by_the_clock(bound, residual, seconds)
    if bound.exact:
        return bound.close_in(residual, bound.worst(residual[None]), work=0.0)
    found = bound.thorough(_SEARCH_WORK).worst(residual[None])
    if len(residual) > MOST_CELLS_PROVEN:
        return bound.close_in(residual, found, work=0.0)
    bracket = bound.close_in(residual, found, work=_FIRST * work)
    value = abs(float(bracket.found.values[0]))
    if value < bracket.upper_bound <= _HOPELESS * value:
        return bound.close_in(residual, bracket.found, work=work)
    return bracket


def _by_the_clock(bound: BoundClass, residual: Array, seconds: float) -> Bracket:
    """Search for a part of the time, and prove for the rest; an exact search is its own proof."""
    if bound.exact:
        return bound.prove(residual, seconds=seconds)
    start = time.monotonic()
    found = bound.thorough().search(residual, seconds=_FOR_SEARCHES * seconds)
    bracket = bound.prove(residual, seconds=max(0.0, start + seconds - time.monotonic()))
    worse = max(found, bracket.found, key=lambda one: abs(float(one.values[0])))
    return bracket._replace(found=worse)
