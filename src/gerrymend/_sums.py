"""Sums that are the same in any order of their terms."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


def exactly_summable(values: Array) -> Array:
    """Round values to a grid on which float64 addition makes no error.

    Let N be the number of values and M the largest size. With 2^e ≥ 2·N·M, every float64 in the
    binade of 1.5·2^e is a multiple of δ = 2^(e−52), so adding and subtracting 1.5·2^e rounds each
    value to a multiple of δ. A partial sum is then a multiple of δ below 2^53·δ: it has a float64
    of its own, each addition is exact, and no order of the rows can change who is in a group or
    whether it is over gamma. Integers below 2^51/N are left as they are. The rounding moves a sum
    by at most N·δ/2 ≤ 2^-51·N²·M, about 10^-10 of the largest possible sum for a million rows.

    >>> exactly_summable(np.array([0.5, 3.0, -2.0])).tolist()
    [0.5, 3.0, -2.0]
    """
    shift = grid_shift(values.size, float(np.max(np.abs(values), initial=0.0)))
    rounded: Array = (values + shift) - shift
    return rounded


def grid_shift(n_values: int, largest: float) -> float:
    """The 1.5·2^e above: adding and subtracting it is all that the rounding takes, anywhere."""
    bound = n_values * largest
    return 1.5 * 2.0 ** float(np.frexp(bound)[1] + 1) if bound else 0.0


def total(values: Array) -> float:
    """Sum of values, the same for every order of them."""
    return float(exactly_summable(values).sum())


def total_by_cell(cell: NDArray[np.intp], values: Array, n_cells: int) -> Array:
    """Sum of values in each cell, the same for every order of the rows."""
    sums: Array = np.bincount(cell, exactly_summable(values), n_cells).astype(np.float64)
    return sums


def as_whole(values: Array) -> tuple[Whole, float]:
    """Values in whole multiples of a unit, and the unit: for searches that add and compare.

    No sum of them exceeds 2^60, so 64 bits add without error and equal sums are equal. The unit is
    at most 2^-59 of Σ|v|: rounding moves a sum of a million values by less than 10^-12 of that.

    >>> whole, unit = as_whole(np.array([0.5, -0.25]))
    >>> (whole * unit).tolist()
    [0.5, -0.25]
    """
    size = float(np.abs(values).sum())
    if size == 0.0:
        return np.zeros(len(values), dtype=np.int64), 1.0
    unit = math.ldexp(1.0, math.frexp(size)[1] - 60)
    return np.rint(values / unit).astype(np.int64), unit
