"""Look for offsets of categories whose best thresholds are worth much: ascent, one at a time.

For fixed offsets every stratum has its best threshold at once. So the value is a function of the
offsets alone, and of one offset it is known everywhere: with G(α) what the chains are worth that
have the category, at threshold α, and H(α) the others, it is Σ_s max_α H_s(α) + G_s(α − shift).
"""

import math

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit
from gerrymend.subgroups.proofs.chains import Chains
from gerrymend.subgroups.proofs.gap_boxes import Numbers
from gerrymend.subgroups.rules import Members

# Offsets are whole numbers of these parts: an order of chains within a number is found as well.
_PARTS = 4
_LEAST_GAIN = 1e-12


class Ascent:
    """Ascents from one start after another; the last one's offsets are kept, and the best."""

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        n_categories = chains.has_category.shape[1]
        self._offsets = np.zeros(n_categories, dtype=np.intp)
        self._best = -math.inf
        self._best_offsets = self._offsets
        n_strata, _, n_numbers = chains.worth.shape
        # Shifts by thresholds by strata are looked at for each category, three times or so.
        self.work_of_a_start = 9.0 * n_numbers**2 * n_strata * n_categories

    def start(self, number: int) -> float:
        """Ascend from random offsets, or every other time from near the best; return the value."""
        rng = np.random.default_rng(number)
        reach = self._chains.worth.shape[2] - 1
        n_categories = len(self._offsets)
        if number % 2 == 0:
            start = rng.integers(-reach, reach + 1, n_categories) // 2 * _PARTS
        else:
            moved = rng.random(n_categories) < 0.4
            start = self._best_offsets + moved * rng.integers(-8, 9, n_categories) * _PARTS
        return self._climb(start)

    def _climb(self, start: Numbers) -> float:
        worth = self._chains.worth
        has_category = self._chains.has_category
        self._offsets = start.copy()
        reach = worth.shape[2]
        climb(worth, has_category, self._offsets, _PARTS, _PARTS, 2 * reach)
        value: float = climb(worth, has_category, self._offsets, _PARTS, 1, 2 * _PARTS)
        if value > self._best:
            self._best = value
            self._best_offsets = self._offsets.copy()
        return value

    def members(self) -> Members:
        """Return the group of the last ascent, by row."""
        chains = self._chains
        offset = chains.has_category @ self._offsets
        threshold = _best_thresholds(chains.worth, offset, _PARTS)
        reached = _PARTS * chains.number + offset[chains.chain]
        members: Members = reached >= threshold[chains.stratum]
        return members


@njit(cache=True)
def climb(
    worth: Array,
    has_category: NDArray[np.bool_],
    offsets: Numbers,
    parts: int,
    step: int,
    span: int,
) -> float:
    """Change one offset at a time, by up to `span` steps, while the value grows; return it."""
    n_strata, n_chains, n_numbers = worth.shape
    n_thresholds = 6 * n_numbers * parts // step + 1
    best = -1.0
    category = 0
    unchanged = 0
    while unchanged < len(offsets):
        moved = np.zeros((n_strata, n_thresholds))
        others = np.zeros((n_strata, n_thresholds))
        for y in range(n_chains):
            offset = np.intp(0)  # not the literal 0, for which numba would compile a copy
            for k in range(len(offsets)):
                if has_category[y, k]:
                    offset += offsets[k]
            _add_worth(
                worth, y, offset, parts, step, moved if has_category[y, category] else others
            )
        value, shift = _best_shift(moved, others, span)
        unchanged += 1
        if value > best + _LEAST_GAIN:
            best = value
            if shift != 0:
                offsets[category] += shift * step
                unchanged = 1
        category = (category + 1) % len(offsets)
    return best


@njit(inner=True, cache=True)
def _add_worth(worth: Array, y: int, offset: np.intp, parts: int, step: int, total: Array) -> None:
    """Add what chain y is worth in each stratum, by threshold; 0 is the one in the middle."""
    n_strata, _, n_numbers = worth.shape
    n_thresholds = total.shape[1]
    for a in range(n_thresholds):
        threshold = (a - n_thresholds // 2) * step - offset
        number = min(max(-(-threshold // parts), 0), n_numbers - 1)
        for s in range(n_strata):
            total[s, a] += worth[s, y, number]


@njit(inner=True, cache=True)
def _best_shift(moved: Array, others: Array, span: int) -> tuple[float, int]:
    """Return the largest sum, over strata, of the best thresholds, and the least shift for it."""
    n_strata, n_thresholds = moved.shape
    best = -1.0
    best_shift = 0
    for turn in range(2 * span + 1):
        shift = (turn + 1) // 2 if turn % 2 == 0 else -((turn + 1) // 2)
        total = 0.0
        first = max(0, shift)
        size = n_thresholds - abs(shift)
        for s in range(n_strata):
            own = moved[s, first - shift : first - shift + size]
            other = others[s, first : first + size]
            highest = 0.0
            for a in range(size):
                value = own[a] + other[a]
                highest = value if value > highest else highest
            total += highest
        if total > best + _LEAST_GAIN:
            best = total
            best_shift = shift
    return best, best_shift


def _best_thresholds(worth: Array, offset: Numbers, parts: int) -> Array:
    """Return the best threshold of each stratum, in parts; ∞ where nobody is best."""
    n_numbers = worth.shape[2]
    cuts = np.arange(-3 * n_numbers * parts, 3 * n_numbers * parts + 1)
    total = np.zeros((len(worth), len(cuts)))
    for y in range(len(offset)):
        total += worth[:, y, np.clip(-((offset[y] - cuts) // parts), 0, n_numbers - 1)]
    return np.where(total.max(axis=1) > 0.0, cuts[total.argmax(axis=1)], math.inf)
