"""Sums that don't depend on the order of their terms."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric._sums_kernel import add_parts_by_key

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

# Values whose exponents are beyond this are as good as any others after a shift of these; as they
# are, their squares leave float64. And the same for float32.
MODEST = 256
MODEST_SINGLE = 32
_MOST_SHIFTED = 1022
# Fewer values than this are split by NumPy, which needs no compiling.
_MANY = 2**15


def exactly_summable(values: Array) -> Array:
    """Round values to a grid on which float64 addition makes no error.

    Let N be the number of values and M the largest size. With 2^e ≥ 2·N·M, every float64 in the
    binade of 1.5·2^e is a multiple of δ = 2^(e−52), so adding and subtracting 1.5·2^e rounds each
    value to a multiple of δ. A partial sum is then a multiple of δ below 2^53·δ, so it is a float64
    itself and each addition is exact: no order of the rows can change who is in a group, or if it
    exceeds gamma. Integers below 2^51/N are left as they are. The rounding moves a sum by at most
    N·δ/2 ≤ 2^-51·N²·M, about 10^-10 of the largest possible sum for a million rows.

    >>> exactly_summable(np.array([0.5, 3.0, -2.0])).tolist()
    [0.5, 3.0, -2.0]
    """
    # Operators and methods alone: values may be on a device.
    shift = grid_shift(math.prod(values.shape), _largest(values))
    rounded: Array = (values + shift) - shift
    return rounded


def parts_on(values: Array, shifts: Iterable[float]) -> Iterator[Array]:
    """Split values into parts on these grids; what is finer than the last is dropped."""
    for shift in shifts:
        part: Array = (values + shift) - shift
        yield part
        values = values - part


def exact_parts(values: Array) -> Iterator[Array]:
    """Split values into parts that add up to them, each `exactly_summable`; the largest first.

    The error of rounding to the first grid, at most δ/2 a value, is a float64 as well, and is
    rounded to a finer grid, until nothing is left. Whole numbers take one part, values of similar
    size two or three. No value is lost, however small it is next to the largest.

    >>> [part.tolist() for part in exact_parts(np.array([1.0, 2.0**-80]))]
    [[1.0, 0.0], [0.0, 8.271806125530277e-25]]
    """
    rest = values
    largest = _largest(values)
    while largest:
        shift = grid_shift(values.size, largest)
        part: Array = (rest + shift) - shift
        yield part
        rest = rest - part  # exact: both are multiples of the last bit of `rest`
        largest = grid_step(shift) / 2 if rest.any() else 0.0


def grid_shift(n_values: int, largest: float) -> float:
    """Return the 1.5·2^e of `exactly_summable`, whose addition and subtraction round a value."""
    bound = n_values * largest
    return 1.5 * 2.0 ** float(np.frexp(bound)[1] + 1) if bound else 0.0


def grid_step(shift: float) -> float:
    """Return the step δ = 2^(e−52) of a grid, at least the smallest positive float64."""
    return max(math.ldexp(shift / 1.5, -52), math.ulp(0.0))


def grid_shifts(n_values: int, largest: float, smallest: float) -> list[float]:
    """List the shifts of `exact_parts` for any values of a size between these two.

    For callers that don't hold all values at once. A value of at least s is a multiple of ulp(s),
    so a grid as fine as that leaves nothing.
    """
    shifts = []
    while largest:
        shift = grid_shift(n_values, largest)
        shifts.append(shift)
        largest = grid_step(shift) / 2 if grid_step(shift) > math.ulp(smallest) else 0.0
    return shifts


def total(values: Array) -> float:
    """Return the sum of values, independent of their order."""
    return math.fsum(float(part.sum()) for part in exact_parts(values))


def total_by_cell(
    cell: NDArray[np.intp], values: Array, n_cells: int, shifts: Sequence[float] | None = None
) -> Array:
    """Return the sum of values in each cell, independent of the order of the rows.

    A sum of positive values is positive, so that a cell with weight has weight in every sum. With
    the `shifts` of some grids, digits finer than these are dropped.
    """
    return add_parts(parts_by_key(cell, values, n_cells, shifts), n_cells)


def parts_by_key(
    keys: NDArray[np.intp], values: Array, n_keys: int, shifts: Sequence[float] | None = None
) -> list[NDArray[Any]]:
    """Return the sums by key of the parts of values, each without error; the largest part first.

    They are those of `exact_parts`, or of `parts_on` with the `shifts` of some grids. Many values
    are split and added in one compiled pass.

    >>> [part.tolist() for part in parts_by_key(np.array([0, 1, 0]), np.array([1.0, 0.5, 2]), 2)]
    [[3.0, 0.5]]
    """
    if len(values) < _MANY:
        parts = exact_parts(values) if shifts is None else parts_on(values, shifts)
        return [np.bincount(keys, part, n_keys) for part in parts]
    if shifts is None:
        sizes = np.abs(values)
        smallest = float(sizes.min(initial=np.inf, where=sizes > 0))
        shifts = grid_shifts(len(values), float(sizes.max(initial=0.0)), smallest)
    sums = np.zeros((len(shifts), n_keys))
    add_parts_by_key(keys, values, np.array(shifts, dtype=np.float64), sums)
    return list(sums)


def add_parts(sums: Iterable[NDArray[Any]], n_cells: int) -> Array:
    """Add the sums of the parts by cell, the smallest part first.

    For values of at least 0 no digits cancel: where a part is negative, it is at most half of the
    part before.
    """
    added: Array = np.zeros(n_cells)
    for part in reversed(list(sums)):
        added = part + added
    return added


def modest_scale(largest: float, modest: int = MODEST) -> float:
    """Return a power of two that brings values of an extreme size to one whose squares are finite.

    A power of two changes no digit. 1 where the largest value is of a common size: its exponent is
    at most `modest`, either way.

    >>> modest_scale(40.0), modest_scale(2.0**-900) == 2.0**900
    (1.0, True)
    """
    exponent = math.frexp(largest)[1] - 1
    if abs(exponent) <= modest:
        return 1.0
    # Down only as far as need be: the smallest must not become 0.
    return math.ldexp(1.0, modest - exponent if exponent > 0 else min(-exponent, _MOST_SHIFTED))


def as_whole(values: Array) -> tuple[Whole, float]:
    """Return values as whole multiples of a unit, and the unit, for searches that add and compare.

    No sum of them exceeds 2^60, so int64 adds without error and equal sums compare equal. The unit
    is at most 2^-59 of Σ|v|, so rounding moves a sum of a million values by less than 10^-12 of it.

    >>> whole, unit = as_whole(np.array([0.5, -0.25]))
    >>> (whole * unit).tolist()
    [0.5, -0.25]
    """
    size = float(np.abs(values).sum())
    if size == 0.0:
        return np.zeros(len(values), dtype=np.int64), 1.0
    unit = max(math.ldexp(1.0, math.frexp(size)[1] - 60), math.ulp(0.0))
    return np.rint(values / unit).astype(np.int64), unit


def _largest(values: Array) -> float:
    return float(abs(values).max()) if math.prod(values.shape) else 0.0
