"""bootstrap(): estimate how much of the worst unfairness is the search's luck.

As many rows are drawn from the rows, with replacement, and searched anew. A resample is to the rows
what the rows are to the people they were drawn from. With g* what is found in a resample, v* its
unfairness there and v on the rows, both with the sign of v*,

    optimism = mean over resamples of |v*(g*)| − v(g*)

is by how much a subgroup looks worse on the rows that it was found on (Efron). It is an estimate,
and a low one where no subgroup differs: the rows then have a worst subgroup of their own, which
resamples find again. Rows that were held out need no such correction.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import interruptible
from gerrymend._runtime.workers import Common, Workers, check_jobs
from gerrymend.auditing.from_rows import Given, read_tally
from gerrymend.auditing.inference.drawing import rounds
from gerrymend.auditing.inference.resampling import Resampler, no_resamples
from gerrymend.auditing.subgroup import MOST_SHARED, shared_part
from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_budget, check_callable, check_whole
from gerrymend.notions import NotionLike, as_rates
from gerrymend.subgroups import as_subgroup_class
from gerrymend.subgroups.base import BoundClass


@dataclass(frozen=True)
class Bootstrap:
    """The result of searching samples that are drawn from the rows.

    Attributes
    ----------
    unfairness : float
        What the same search finds in the rows: a quick one, as it is repeated so often, and one
        that half of the budget cuts short. audit() looks harder.
    optimism : float
        By how much a subgroup looks worse on the rows that it was found on than on others.
    recurrence : float
        The share of resamples in which nearly the same subgroup is found as in the rows: the two
        have more than half of the weight of their union in common.
    n_resamples : int
        Resamples that were searched; fewer than asked for where time was up. Of those that it cut
        short only the first round counts, for want of others.

    See Also
    --------
    bootstrap : Search samples of the rows, to tell how lucky the search was.
    audit : Find the subgroup that a model's decisions treat most differently, or worst.

    Examples
    --------
    >>> from gerrymend import Bootstrap
    >>> Bootstrap(unfairness=0.5, optimism=0.125, recurrence=0.8, n_resamples=199).corrected
    0.375
    """

    unfairness: float
    optimism: float
    recurrence: float
    n_resamples: int

    @property
    def corrected(self) -> float:
        """Return the unfairness less the optimism, 0 at least."""
        return max(0.0, self.unfairness - self.optimism)


@interruptible
def bootstrap(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: NotionLike = "false_positive_rate",
    subgroups: Any = "linear",
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    data: Any = None,
    n_resamples: int = 199,
    budget: float = 30.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_draw: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Search samples of the rows: how lucky was the search, and does its subgroup recur?

    Parameters
    ----------
    y_true, y_pred, sensitive_features, notion, subgroups, sample_weight, threshold, \
decision_probabilities, pos_label, data
        As in audit().
    n_resamples : int, default=199
        How often the rows are drawn anew and searched.
    budget : float, default=30.0
        Seconds that it may take; a round of resamples is drawn in any case, and searched as far as
        there is time.
    random_state : int, default=0
        Seed of the resamples.
    n_jobs : int, optional
        Workers, through joblib and whatever backend it is configured to use, which share the cores
        between them. The result is the same, unless the budget ends it.
    on_draw : callable, optional
        Called as on_draw(done, of) while resamples are drawn.

    Returns
    -------
    Bootstrap
        Optimism, and how often much the same subgroup was found.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    Bootstrap : The result of searching samples that are drawn from the rows.

    Examples
    --------
    Blue men are decided 1 and others 0, and so it is in every resample:

    >>> from gerrymend import bootstrap
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> found = bootstrap(toy.target, (toy.score >= 0.5).astype(int), n_resamples=50,
    ...                   sensitive_features=toy.sensitive_features, subgroups="conjunctions")
    >>> found.unfairness, found.optimism < 0.01
    (0.0625, True)
    """
    notions = as_rates(notion)
    subgroup_class = as_subgroup_class(subgroups)
    check_callable(on_draw, "on_draw", "on_draw(done, of)")
    n_resamples = check_whole(n_resamples, "n_resamples", low=1)
    deadline = time.monotonic() + check_budget(budget)
    seed = check_whole(random_state, "random_state", low=0)
    n_jobs = check_jobs(n_jobs)
    given = Given(y_true, y_pred, sensitive_features, sample_weight)
    decided = Decided(threshold, decision_probabilities, pos_label)
    tally = read_tally(data, given, decided, notions)
    if reason := no_resamples(tally):
        raise ValueError(f"Rows can't be drawn anew: {reason}. Pass the rows themselves.")
    seen = [tally.of_notion(compared) for compared in notions]
    searches = _Searches.of(tally, seen, [part.bind(subgroup_class) for part in seen], seed)
    return _repeated(searches, n_resamples, deadline, n_jobs, on_draw)


def _repeated(
    searches: "_Searches",
    n_resamples: int,
    deadline: float,
    n_jobs: int | None,
    on_draw: Callable[[int, int], None] | None,
) -> Bootstrap:
    """Draw and search until all resamples are made or it is too late, and average."""
    there = searches.in_the_rows((deadline + time.monotonic()) / 2)
    width = sum(len(part.residual) for part in searches.seen)
    sent = Common(searches)
    searched: list[_Resampled] = []
    with Workers(n_jobs) as workers:
        for blocks in rounds(n_resamples, workers=workers.number, width=width, deadline=deadline):
            left = max(0.0, deadline - time.monotonic())
            tasks = [(sent, there, draws, left) for draws in blocks]
            found = [resampled for some in workers(_search, tasks) for resampled in some]
            # A search that was cut short has found less; the first ones count, as there are none.
            searched += [one for one in found if not (searched and one.cut_short)]
            if on_draw is not None:
                on_draw(len(searched), n_resamples)
    optimism = math.fsum(resampled.value - resampled.on_rows for resampled in searched) / len(
        searched
    )
    recurrence = sum(resampled.is_the_same for resampled in searched) / len(searched)
    return Bootstrap(abs(there.value), optimism, recurrence, len(searched))


class _Worst(NamedTuple):
    """A subgroup that was found: the number of its notion, its signed value, its cells."""

    notion: int
    value: float
    members: NDArray[np.bool_]


class _Resampled(NamedTuple):
    """A subgroup found in a resample: its |value| there, and on the rows with the same sign."""

    value: float
    on_rows: float
    is_the_same: bool
    cut_short: bool = False


def _search(
    searches: Common["_Searches"], there: _Worst, draws: range, seconds: float
) -> list[_Resampled]:
    deadline = time.monotonic() + seconds  # a worker may be in another process, with its own clock
    return [searches.value.in_a_resample(draw, there, deadline) for draw in draws]


@dataclass(frozen=True, eq=False)
class _Searches:
    """The state that a worker needs to search resamples, and no more."""

    seen: list[NotionTally]
    bounds: list[BoundClass]
    resampler: Resampler

    @classmethod
    def of(
        cls, tally: Tally, seen: list[NotionTally], bounds: list[BoundClass], seed: int
    ) -> "_Searches":
        """Prepare to draw from the rows, or from their counts where these say all."""
        sums = replace(tally, rows=None)
        return cls(
            [replace(part, tally=sums) for part in seen],
            [bound.quick for bound in bounds],
            Resampler(seen, seed),
        )

    def in_the_rows(self, deadline: float) -> _Worst:
        """Return the worst that the search finds in the rows as they are."""
        residuals = [part.residual for part in self.seen]
        return self._worst(residuals, self.seen[0].cells.total_weight, deadline)

    def in_a_resample(self, draw: int, there: _Worst, deadline: float) -> _Resampled:
        """Return the worst that it finds in a resample, measured there and on the rows."""
        found = self._worst(*self.resampler.draw(draw), deadline)
        cut_short = time.monotonic() >= deadline
        # Nothing differs in the resample: no subgroup, so that none recurs.
        seen = self.seen[found.notion]
        if abs(found.value) <= seen.cells.rounding:
            return _Resampled(0.0, 0.0, is_the_same=False, cut_short=cut_short)
        on_rows = float(seen.residual[found.members].sum()) / seen.cells.total_weight
        return _Resampled(
            abs(found.value),
            math.copysign(1.0, found.value) * on_rows,
            # Cells of another notion are others: there may be more or fewer rows in its event.
            found.notion == there.notion
            and shared_part(seen.cells.mass, found.members, there.members) > MOST_SHARED,
            cut_short,
        )

    def _worst(self, residuals: list[Array], n: float, deadline: float) -> _Worst:
        """Return the worst subgroup over all notions; `n` is the weight of all rows."""
        found = [
            bound.search(residual, seconds=max(0.0, deadline - time.monotonic()))
            for bound, residual in zip(self.bounds, residuals, strict=True)
        ]
        worst = max(range(len(found)), key=lambda i: abs(float(found[i].values[0])))
        return _Worst(worst, float(found[worst].values[0]) / n, found[worst].members[0] > 0)
