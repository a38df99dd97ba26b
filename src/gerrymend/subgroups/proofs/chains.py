"""Chains of rows that share all categories, and tables of what they are worth.

See `offset_boxes` for what a chain, a stratum and a gap are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.proofs.gap_boxes import FAR, Gaps, Numbers, Short
from gerrymend.subgroups.proofs.gap_table import Table
from gerrymend.subgroups.rules import Members

# More chains than this become strata, more numbers are pooled; so many entries has a table of all.
_MOST_CHAINS = 24
_FEWEST_NUMBERS = 16
MOST_NUMBERS = 512
_MOST_ENTRIES = 10_000_000
# Margins of whole inequalities are fractions with small denominators, or 0.
_LEAST_MARGIN = 1e-6


class Meeting(NamedTuple):
    """One number, whole, that meets categorical attributes, by codes from 0 on; and weights."""

    number: NDArray[Any]
    codes: Sequence[Numbers]
    weight: Array


@dataclass(frozen=True, eq=False)
class Chains:
    """The rows as chains, for groups with the highest numbers in.

    Attributes
    ----------
    number, stratum, chain, weight : arrays (m,)
        Where each row is, and its weight.
    worth : array (n_strata, n_chains, n_numbers + 1)
        The sum of weights at each number and above.
    has_category : array (n_chains, n_categories) of bool
        Which categories a chain has, of the attributes that are not strata.
    is_whole : bool
        Whether neither numbers were pooled nor attributes made strata: values are of the class.
    table : Table
    gaps : Gaps
        For the kernel.
    """

    number: Numbers
    stratum: Numbers
    chain: Numbers
    weight: Array
    worth: Array
    has_category: NDArray[np.bool_]
    is_whole: bool
    table: Table
    gaps: Gaps

    @classmethod
    def of(cls, meeting: Meeting, sign: int) -> "Chains":
        """Sort rows into chains; with sign −1, groups have the lowest numbers in."""
        codes = sorted(meeting.codes, key=lambda code: -int(code.max()))
        # The attribute with the most categories makes the strata, which are summed one by one;
        # chains are compared pair by pair. Where even the others make too many chains, the next
        # largest become strata too: thresholds of their own for each combination, a larger class.
        n_joint = 1
        while math.prod(_sizes(codes[n_joint:])) > _MOST_CHAINS:
            n_joint += 1
        stratum = np.zeros(len(meeting.weight), dtype=np.intp)
        for code in codes[:n_joint]:
            stratum = np.unique(stratum * (code.max() + 1) + code, return_inverse=True)[1]
        sizes = _sizes(codes[n_joint:])
        chain = np.zeros(len(stratum), dtype=np.intp)
        for size, code in zip(sizes, codes[n_joint:], strict=True):
            chain = chain * size + code
        n_strata = int(stratum.max()) + 1
        n_chains = math.prod(sizes)
        number = sign * meeting.number
        number = number - number.min()
        # As narrow as the table has room for: a quotient that is rounded up.
        width = -(-(int(number.max()) + 1) // _most_numbers(n_strata * n_chains))
        worth, last, highest = _worth(
            number, width, stratum * n_chains + chain, n_strata * n_chains, meeting.weight
        )
        gaps, has_category = _gaps(sizes)
        intervals = _of_intervals(highest)
        return cls(
            number=(number // width).astype(np.intp),
            stratum=stratum,
            chain=chain,
            weight=meeting.weight,
            worth=worth.reshape(n_strata, n_chains, -1),
            has_category=has_category,
            is_whole=width == 1 and n_joint == 1,
            table=Table(
                highest=np.append(intervals, np.zeros(last.shape[1])),
                last=last.reshape(n_strata, n_chains, -1),
                stride=intervals[0].size,
                blur=int(width > 1),
            ),
            gaps=gaps,
        )

    def best_between(self, low: Short) -> Members:
        """Return the best group of offsets whose gaps lie between these and their neighbours.

        Such gaps leave the last row of each stratum to choose.
        """
        n_strata, n_chains, n_numbers = self.table.last.shape
        threshold = np.full((n_strata, n_chains), n_numbers)
        value = np.zeros(n_strata)
        every = np.arange(n_chains)
        for r in range(n_chains):
            # Between whole neighbours a gap's whole part is the lower one: y starts one above it.
            apart = low[self.gaps.between[r]] + 1
            apart[r] = 0
            for number in range(n_numbers):
                own = np.clip(number + apart, 0, n_numbers)
                sums = self.worth[:, every, own].sum(axis=1)
                better = (sums > value) & np.isfinite(self.table.last[:, r, number])
                value[better] = sums[better]
                threshold[better] = own
        members: Members = self.number >= threshold[self.stratum, self.chain]
        return members

    def has_offsets(self, high: Short) -> bool | None:
        """Say whether some offsets have their gaps strictly below these; None if it isn't found.

        The lower ends are those of the opposite gaps.
        """
        first, second = np.nonzero(self.gaps.between)
        below = high[self.gaps.between[first, second]]
        limited = below < FAR
        has_category = self.has_category.astype(np.float64)
        apart = (has_category[first] - has_category[second])[limited]
        # The largest margin m with o_first − o_second + m ≤ below for every gap that has a bound:
        # above 0, all are strictly within. m ≤ 1 keeps it bounded where no gap is.
        solution = linprog(
            c=np.append(np.zeros(apart.shape[1]), -1.0),
            A_ub=np.column_stack([apart, np.ones(len(apart))]),
            b_ub=below[limited],
            bounds=[(None, None)] * apart.shape[1] + [(None, 1.0)],
        )
        return None if solution.x is None else bool(solution.x[-1] > _LEAST_MARGIN)


def _sizes(codes: Sequence[Numbers]) -> list[int]:
    return [int(code.max()) + 1 for code in codes]


def _most_numbers(n_cells: int) -> int:
    """Return how many numbers a table of so many chains may have, each with some 30 entries."""
    return max(_FEWEST_NUMBERS, min(MOST_NUMBERS, _MOST_ENTRIES // (30 * n_cells)))


def _worth(
    number: NDArray[Any], width: int, cell: Numbers, n_cells: int, weight: Array
) -> tuple[Array, Array, Array]:
    """Return sums of weights by chain and step of some width: three arrays.

    Those at each step and above; the largest with a last row of positive weight in a step; and the
    largest with a threshold above the step before and not above this one.
    """
    values, rank = np.unique(number, return_inverse=True)
    # A key for each cell and number, in the order of cells and in each from the highest number
    # down.
    key, row = np.unique((cell + 1) * len(values) - 1 - rank, return_inverse=True)
    weight = np.bincount(row, weight, len(key)).astype(np.float64)
    cell = key // len(values)
    step = (values[-1 - key % len(values)] // width).astype(np.intp)
    sums = np.cumsum(weight)
    begins = np.append(True, cell[1:] != cell[:-1])
    # Running sums start anew in each cell: less what had come before its first row.
    sums -= (sums - weight)[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    n_steps = int(step.max()) + 1
    worth = np.zeros((n_cells, n_steps + 1))
    np.add.at(worth, (cell, step), weight)
    worth = np.ascontiguousarray(np.cumsum(worth[:, ::-1], axis=1)[:, ::-1])
    last = np.full((n_cells, n_steps), -math.inf)
    positive = weight > 0
    np.maximum.at(last, (cell[positive], step[positive]), sums[positive])
    highest = worth.copy()
    if width > 1:
        # A threshold within a step takes in some of its rows: the most that such a part is worth.
        np.maximum.at(highest, (cell, step + 1), sums)
    return worth, last, highest


def _of_intervals(highest: Array) -> Array:
    """Return the largest of 2^k thresholds from each on, for all k, and beyond both ends."""
    n_cells = highest.shape[0]
    n_numbers = highest.shape[1] - 1
    # A last row and a gap can place a threshold before all numbers, where everyone is in, or after
    # them, where no one is: there is room for as many again on either side.
    levels = [np.zeros((n_cells, 3 * n_numbers + 3))]
    levels[0][:, :n_numbers] = highest[:, :1]
    levels[0][:, n_numbers : 2 * n_numbers + 1] = highest
    while 2 << len(levels) <= 4 * n_numbers + 6:
        half = 1 << (len(levels) - 1)
        following = levels[-1].copy()
        np.maximum(following[:, :-half], levels[-1][:, half:], out=following[:, :-half])
        levels.append(following)
    return np.stack(levels, axis=1)


def _gaps(sizes: Sequence[int]) -> tuple[Gaps, NDArray[np.bool_]]:
    """Return the gaps between two chains, and the categories of each.

    Chains are all combinations of so many categories. A gap is 1 where the first chain has a
    category that the second has not, −1 where the second has it: as digits of a number, these add.
    """
    category = np.indices(sizes).reshape(len(sizes), -1)
    has_category = np.concatenate(
        [own[:, None] == np.arange(size) for own, size in zip(category, sizes, strict=True)], axis=1
    )
    # Digits of a gap are −1 to 1, of a sum of two −2 to 2: in base 5 none is carried, and equal
    # numbers mean equal digits.
    code = has_category @ 5 ** np.arange(sum(sizes))
    apart = code[:, None] - code
    codes = np.unique(apart)
    codes = codes[np.lexsort((codes, np.abs(codes)))]  # 0 first, then each beside its opposite
    order = np.argsort(codes)

    def number_of(code: Numbers) -> Numbers:
        place = order[np.searchsorted(codes, code, sorter=order).clip(max=len(codes) - 1)]
        return np.where(codes[place] == code, place, -1)

    sums = number_of(codes[:, None] + codes)
    sums[sums == 0] = -1
    gaps = Gaps(number_of(apart), number_of(-codes), sums, *_families(category))
    return gaps, has_category


def _families(category: Numbers) -> tuple[Numbers, Numbers]:
    """Return the siblings and the heads of `Gaps`, of chains by attribute and chain."""
    several = category[category.max(axis=1) > 0]
    if len(several) < 2:  # nothing but r's own family
        several = several[:0]
    same = several[:, :, None] == several[:, None, :]
    itself = np.eye(category.shape[1], dtype=bool)
    others = ~same
    siblings = others & ((others.sum(axis=0) == 1) & ~itself)
    return _listed(siblings), _listed(same & ~itself)


def _listed(flags: NDArray[np.bool_]) -> Numbers:
    """Return the places of the flags along the last axis, and −1 after them."""
    order = np.argsort(~flags, axis=-1, kind="stable")
    return np.where(np.take_along_axis(flags, order, -1), order, -1)
