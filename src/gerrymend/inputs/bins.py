"""Scores in bins: where they are cut, and the column that says in which bin each row's score is.

A score is one more column of the cells, of which intervals are searched. It is no protected
attribute: `protected` are the others. Its value in a cell is the lower end of the bin, so that
low ≤ score < high, with ends that are cuts, selects the same rows by their scores as by their bins.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gerrymend._numeric.short_numbers import cut_between
from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.numbers import LARGEST, is_number_type, short
from gerrymend.inputs.protected import Column
from gerrymend.inputs.ranks import ranked
from gerrymend.inputs.settings import check_whole

# More make thousands of intervals, each of which is searched, and none that a reader would tell.
MOST_BINS = 100


def check_score_bins(bins: Any) -> int | tuple[float, ...]:
    """Return a number of bins, or the cuts between them, as plain data; raise for anything else.

    >>> check_score_bins(10), check_score_bins([0.2, 0.5])
    (10, (0.2, 0.5))
    """
    if isinstance(bins, list | tuple) or (isinstance(bins, np.ndarray) and bins.ndim):
        cuts = tuple(held(cut, "bins") for cut in bins if is_number_type(type(cut)))
        rises = all(low < high for low, high in itertools.pairwise(cuts))
        finite = all(abs(cut) <= LARGEST for cut in cuts)
        if not len(cuts) == len(bins) or not 0 < len(cuts) < MOST_BINS or not (rises and finite):
            raise ArgumentError(
                "bins",
                "must be a number of bins, or a list of the scores to cut at: 1 to "
                f"{MOST_BINS - 1} finite numbers, each above the one before; got {short(bins)}.",
            )
        return cuts
    number = check_whole(bins, "bins", low=2, remedy="Of one bin it is notion='multiaccuracy'.")
    if number > MOST_BINS:
        raise ArgumentError(
            "bins", f"must be at most {MOST_BINS}; got {bins!r}. 10 is the default."
        )
    return number


def cuts_of(
    bins: int | tuple[float, ...], score: Array, weight: Array, *, probabilities: bool
) -> tuple[float, ...]:
    """Return the cuts between bins: of probabilities at even steps, of other scores at quantiles.

    >>> score = np.array([0.1, 0.2, 0.8, 0.9])
    >>> cuts_of(4, score, np.ones(4), probabilities=True)
    (0.25, 0.5, 0.75)
    >>> cuts_of(2, score, np.ones(4), probabilities=False)
    (0.5,)
    >>> cuts_of((0.0, 0.5, 1.0), score, np.ones(4), probabilities=True)  # its ends cut nothing
    (0.5,)
    """
    if isinstance(bins, int):
        if not probabilities:
            return quantile_cuts(score, weight, bins)
        return tuple(round(step / bins, 6) for step in range(1, bins))
    cuts = tuple(cut for cut in bins if not probabilities or 0 < cut < 1)
    if not cuts:
        raise ArgumentError(
            "bins",
            f"has no cut between 0 and 1, where scores are probabilities; got {short(bins)}.",
        )
    return cuts


def quantile_cuts(values: Array, weight: Array, bins: int) -> tuple[float, ...]:
    """Return cuts between values, with the weight of bins as close to equal as ties allow."""
    distinct, rank = ranked(values)
    # share[i] is the weight at or below distinct value i: what a cut behind it puts below.
    share = np.cumsum(np.bincount(rank, weight))[:-1] / weight.sum()
    if len(share) == 0:
        return ()
    wanted = np.arange(1, bins) / bins
    # With ties two quantiles may be nearest to one value, which is then cut at once: fewer bins.
    after = np.unique([np.argmin(np.abs(share - quantile)) for quantile in wanted])
    return tuple(cut_between(float(distinct[i]), float(distinct[i + 1])) for i in after)


def lower_ends(cuts: Sequence[float]) -> Array:
    """Return what stands for each bin among the values of a column: its lower end.

    The first has none, and is any number below the first cut.

    >>> lower_ends((0.5, 0.75)).tolist()
    [-1.0, 0.5, 0.75]
    """
    # Less by at least 1, and by as much as the cut itself: c − 1 is c for |c| above 2⁵³.
    first = cuts[0] - (1.0 + abs(cuts[0])) if cuts else 0.0
    return np.array([first, *cuts])


def score_column(name: str, score: Array, cuts: tuple[float, ...]) -> Column:
    """Return the column of a score, in bins.

    >>> score_column("score", np.array([0.1, 0.5, 0.9]), (0.5,)).values.tolist()
    [-1.0, 0.5, 0.5]
    """
    # right: a score equal to a cut is in the bin that begins there, as low ≤ score < high.
    number = np.searchsorted(cuts, score, side="right")
    return Column(name, lower_ends(cuts)[number], cuts=cuts)


def bin_of(column: Column) -> Any:
    """Return the number of the bin of each row, or cell, of a score.

    >>> bin_of(score_column("score", np.array([0.1, 0.5, 0.9]), (0.5,))).tolist()
    [0, 1, 1]
    """
    assert column.cuts is not None
    return np.searchsorted(column.cuts, column.values, side="right")


def protected(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return the columns that are protected attributes, and no score."""
    return tuple(column for column in columns if column.cuts is None)


def score_of(columns: Iterable[Column]) -> Column | None:
    """Return the column of the score; None where there is none."""
    return next((column for column in columns if column.cuts is not None), None)
