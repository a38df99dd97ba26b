"""Test what changed against chance: the search repeated on rows that were dealt anew."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.inference.drawing import largest_values, rounds
from gerrymend.changes.pooled_rows import PooledRows, Sides
from gerrymend.subgroups.base import BoundClass


class Search(NamedTuple):
    """The class bound to the joint cells of a notion, quick to search: for what moved, and `sided`.

    The latter is of the side that counts, for the largest unfairness. `active` are the cells that
    are in the event.
    """

    bound: BoundClass
    sided: BoundClass
    active: NDArray[np.intp]


class Searched(NamedTuple):
    """What searches find of one side and the other, and of what moved: the largest |values|."""

    old: Array
    new: Array
    moved: Array


@dataclass(frozen=True)
class ChangeTest:
    """The p-values of what changed, by B draws in which chance dealt the rows.

    Attributes
    ----------
    n_draws : int
        Draws that were made, fewer than asked for where time was up.
    p_moved : float or None
        Of so large a movement of any subgroup that was searched, if the two sides were alike.
    p_change : float or None
        Of so large a difference of the largest unfairness, whichever way.
    reason : str
        Why there is no p-value.
    """

    n_draws: int
    p_moved: float | None = None
    p_change: float | None = None
    reason: str = ""


def chance_of_change(
    rows: PooledRows,
    searches: Sequence[Search],
    *,
    n_permutations: int,
    seconds: float,
    random_state: int,
    rounding: float,
    on_draw: Callable[[int, int], None] | None = None,
) -> ChangeTest:
    """Repeat the searches on rows, or on decisions, that were dealt anew.

    Parameters
    ----------
    rows : PooledRows
        The rows of both sides.
    searches : sequence of Search
        One a notion.
    n_permutations, random_state, on_draw
        As in audit().
    seconds : float
        It ends with the draws that were made by then.
    rounding : float
        Differences of no more than this count as ties, which can only raise a p-value.
    """
    if n_permutations == 0:
        return ChangeTest(0, reason="it was not asked for (n_permutations=199, --permutations 199)")
    deadline = time.monotonic() + seconds
    observed = _searched([rows.observed], searches, deadline)
    width = sum(len(one) for one in rows.observed.old)
    moved: list[float] = []
    change: list[float] = []
    for (draws,) in rounds(n_permutations, workers=1, width=width, deadline=deadline):
        # 5 keeps these draws apart from the split (0), permutations (1) and resamples (2).
        some = [rows.draw(np.random.default_rng([random_state, 5, number])) for number in draws]
        found = _searched(some, searches, deadline)
        if time.monotonic() >= deadline and math.isfinite(deadline):
            break  # a search that was cut short is not the same function of its rows
        moved += found.moved.tolist()
        change += (found.new - found.old).tolist()
        if on_draw is not None:
            on_draw(len(moved), n_permutations)
    if not moved:
        return ChangeTest(0, reason=f"no draw was searched within {seconds:g} s (budget, --budget)")
    seen = float(observed.new[0] - observed.old[0])
    above = 1 + int(np.sum(np.array(change) >= seen - rounding))
    below = 1 + int(np.sum(np.array(change) <= seen + rounding))
    reached = 1 + int(np.sum(np.array(moved) >= observed.moved[0] - rounding))
    n_all = 1 + len(moved)
    # Twice the smaller of two one-sided p-values: it was not said before which way it would go.
    return ChangeTest(len(moved), reached / n_all, min(1.0, 2 * min(above, below) / n_all))


def _searched(sides: Sequence[Sides], searches: Sequence[Search], deadline: float) -> Searched:
    """Return the largest |value| over notions of each of three residuals, for each draw."""
    found: list[Searched] = []
    for i, search in enumerate(searches):
        old = np.array([one.old[i][search.active] for one in sides])
        new = np.array([one.new[i][search.active] for one in sides])
        found.append(
            Searched(
                largest_values(search.sided, old, deadline),
                largest_values(search.sided, new, deadline),
                largest_values(search.bound, new - old, deadline),
            )
        )
    return Searched(*(np.max(values, axis=0) for values in zip(*found, strict=True)))
