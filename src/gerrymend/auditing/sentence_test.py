"""Test the group in a sentence: a p-value that has paid for the search of all groups as short.

The p-value of an audit is of the class that was searched, and a group in a sentence that leads for
the worst of that class is none of it: it is of conjunctions, or products of value sets, on at most
three attributes. So that class is searched anew in each of the same draws. With v the group's
unfairness, and T the largest of any group of the class over the notions that are permuted together,

    p = (1 + #{draws with T ≥ v}) / (1 + B).

T of the rows is no less than v, and T of the rows and of the draws are exchangeable where nothing
differs, so that p ≤ α with probability at most α, however the group was chosen from the class.
Where it is known which side is harm T is of that side alone, in rows and draws alike.

All that p takes is whether T reaches v, which an exact search decides long before it knows T. A
draw of which it was not known in time counts as one that does.
"""

import math
import time
from collections.abc import Sequence

from gerrymend._runtime.workers import Common, Workers
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.in_a_sentence import MOST_NUMBERS, SentenceTest, sentence_class
from gerrymend.auditing.inference.drawing import rounds
from gerrymend.auditing.inference.permutation import families_of
from gerrymend.auditing.inference.permutation_result import rank_of
from gerrymend.auditing.inference.permuted_searches import Searches, reaching
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.subgroups.base import BoundClass
from gerrymend.subgroups.products.search import ProductSearch
from gerrymend.subgroups.within_scores import ScoreIntervals

# Steps of a search, by cell and in any case, below which it takes less than a third of the time
# that the search of linear thresholds takes on such rows.
_STEPS_A_CELL = 400
_FEW_STEPS = 2**20
# Numbers of more values are cut into bins: by the first of these that makes few steps, or the last.
_MOST_VALUES = (MOST_NUMBERS, 32, 24, 16, 12, 8, 6, 4)


def sentence_test(
    examined: Sequence[Examined],
    group: Subgroup,
    *,
    n_permutations: int,
    seconds: float = math.inf,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> SentenceTest | None:
    """Return the p-value of a group in a sentence, by the draws of the permutation test.

    None where there was no time for as many draws as a p-value of 5 % takes, and of a group on the
    other side than that of harm, which leads only where nobody on that side may be described.

    Parameters
    ----------
    examined : sequence of Examined
        The rows, as each notion sees them.
    group : Subgroup
        The group that leads, of the class of `sentence_class`.
    n_permutations : int
        Draws to make.
    seconds : float, default=inf
        After so many it ends with the draws that were made by then.
    random_state, n_jobs
        As in `permutation_test`.
    """
    deadline = time.monotonic() + seconds
    families = families_of(examined)
    names = [part.seen.notion for part in examined]
    own = next(family for family in families if names.index(group.notion) in family)
    if group.unfairness * group.notion.harm < 0:
        return None
    parts, bins = _in_few_conditions([examined[i] for i in own])
    searches = Searches.of(parts[0].seen.tally, parts, random_state, math.inf)
    most = searches.observed([part.seen.residual for part in parts], deadline)
    if time.monotonic() >= deadline:  # what it has found is no T to compare with
        return None
    # Of numbers that are cut coarser the search may find less than the group has.
    common = Common(searches.about(min(abs(group.unfairness), most)))
    made, reached = _draw(common, n_permutations, n_jobs, deadline)
    if rank_of(made, len(families)) < 1:
        return None
    p_value = min(1.0, len(families) * (1 + reached) / (1 + made))
    return SentenceTest(p_value, made, bins)


def _draw(
    searches: Common[Searches], n_permutations: int, n_jobs: int | None, deadline: float
) -> tuple[int, int]:
    """Return how many draws were made in time, and how many of them reach the group's value."""
    made = 0
    reached = 0
    width = sum(len(seen.residual) for seen in searches.value.seen)
    with Workers(n_jobs) as workers:
        number = workers.number
        for blocks in rounds(n_permutations, workers=number, width=width, deadline=deadline):
            left = max(0.0, deadline - time.monotonic())
            reached += sum(workers(reaching, [(searches, draws, left) for draws in blocks]))
            made = blocks[-1].stop
    return made, reached


def _in_few_conditions(parts: Sequence[Examined]) -> tuple[list[Examined], int | None]:
    """Return notions with the class of groups in a sentence, and the bins that numbers are cut in.

    They are searched on the side of harm, where that is known. Bins are so few that a search takes
    few steps, which depends on the attributes and the numbers of cells. No draw changes these, so
    that T is the same function of each.
    """
    columns = parts[0].seen.tally.protected
    most = sum(max(_FEW_STEPS, _STEPS_A_CELL * len(part.seen.cells.active)) for part in parts)
    for most_values in _MOST_VALUES:
        chosen = sentence_class(columns, most_values)
        bounds = [part.seen.bind(chosen) for part in parts]
        if sum(map(_n_steps, bounds)) <= most:
            break
    sides = [part.seen.notion.harm for part in parts]
    searched = [
        part._replace(bound=bound.one_sided(side) if side else bound, subgroups=chosen)
        for part, bound, side in zip(parts, bounds, sides, strict=True)
    ]
    return searched, chosen.bins


def _n_steps(bound: BoundClass) -> int:
    """Return about how many steps a search takes at most, over all intervals of a score."""
    if isinstance(bound, ScoreIntervals):
        n_bins = len(bound.score.cuts or ()) + 1
        return n_bins * (n_bins + 1) // 2 * _n_steps(bound.base)
    assert isinstance(bound, ProductSearch)
    return bound.n_steps
