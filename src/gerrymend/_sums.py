"""Sums that are the same in any order of their terms."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
