"""The doubt about a gamma that nothing can exceed, as a code and a sentence."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from gerrymend.auditing.tally import Tally, largest_rounding
from gerrymend.notions import OVERALL, AnyNotion
from gerrymend.reporting.wording import bound

# Parts of the mean that sums don't keep: in those of squares, errors of 10⁻¹² leave the root.
_LOST_IN_SUMS = 1e-11
_LOST_IN_SQUARES = 1e-6


def about_gamma(
    tally: Tally, notions: Sequence[AnyNotion], gamma: float, allowed: str
) -> Iterator[tuple[str, str]]:
    """Yield the doubt about a gamma that nothing can exceed, whatever is decided.

    Let e be the part of all rows that are in the event of a rate, s the part of these that are in a
    group, and u' the rate of the others. The overall rate is s·u(g) + (1 − s)·u', so that the
    unfairness e·s·(u(g) − u) is e·s·(1 − s)·(u(g) − u'). s·(1 − s) is at most 1/4, and two rates
    differ by no more than the range of outcomes, 1 for every rate that has a name, and that of the
    rows for numbers: no group has more than e/4 of that range, and the half that alone is decided
    1 has as much. Compared with a reference of one's own a group, or everyone, has e times how far
    an outcome can be from that.

    Where sums alone are known, the range is not, but the standard deviation σ is. With t the
    indicator of the group, less its mean s, the unfairness is e times the mean of t·(u − ū), and so
    by Cauchy and Schwarz at most e·√(s·(1 − s))·σ ≤ e·σ/2; within strata deviations are smaller.
    """
    most = 0.0
    every = [tally.of_notion(notion) for notion in notions]
    for seen in every:
        low, high = seen.outcome_range
        share = float(seen.cells.mass.sum()) / tally.total_weight
        part = 0.25 if seen.notion.reference == OVERALL else 1.0
        far = part * seen.compared.reach(low, high)
        if math.isinf(high) and seen.notion.reference == OVERALL:
            far = deviation(seen.tally) / 2
        most = max(most, share * far)
    rounding = largest_rounding(every)
    # Of outcomes that are all alike another doubt tells: no gamma would ask for anything.
    if most > 0 and gamma >= most - rounding:
        yield (
            "gamma_allows_everything",
            f"{allowed} {gamma:g} allows everything: an unfairness is a share of the rows times a "
            f"difference of {'means, in their unit' if tally.views else 'rates'}, and on these "
            f"rows it can't exceed {bound(most)}, whatever is decided. Pass a smaller one, in that "
            "unit.",
        )


def deviation(view: Tally) -> float:
    """Return the standard deviation of outcomes of rows that weigh 1 each, from their sums.

    It is 0 where neither the means of cells nor the squares tell it from that.
    """
    assert view.spread is not None
    rows = view.weight[1]
    there = rows > 0
    apart = np.abs(view.positive[1][there] / rows[there] - view.centre).max(initial=0.0)
    # The second power of differences from the mean, of rows that count.
    deviation = math.sqrt(float(view.spread[1, 1].sum() / rows.sum())) if there.any() else 0.0
    size = abs(view.centre)
    lost = apart <= _LOST_IN_SUMS * size and deviation <= _LOST_IN_SQUARES * size
    return 0.0 if lost else deviation
