"""A compiled pass over values that adds their parts by key, for many rows."""

from typing import Any

from gerrymend._runtime.compiling import njit


@njit(cache=True)
def add_parts_by_key(keys: Any, values: Any, shifts: Any, sums: Any) -> None:
    """Add the parts of each value on some grids to `sums`, of shape (grids, keys).

    The parts are those of `exact_parts`, so that no addition makes an error, in whatever order.
    """
    for i in range(len(values)):
        rest = values[i]
        grid = 0
        while rest != 0.0 and grid < len(shifts):
            shift = shifts[grid]
            part = (rest + shift) - shift
            sums[grid, keys[i]] += part
            rest -= part
            grid += 1
