"""Compiled passes over the cells of clusters."""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.compiling import njit


@njit(cache=True, nogil=True)
def add_up(columns: Array, of_cell: NDArray[np.intp], sums: Array, squares: Array) -> None:
    """Add each column, and its squares, to the cluster of each cell, in the order of the cells."""
    for k in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            cluster = of_cell[i]
            value = columns[k, i]
            sums[k, cluster] += value
            squares[k, cluster] += value * value


@njit(cache=True, nogil=True)
def halve(
    columns: Array, of_cell: NDArray[np.intp], widest: NDArray[np.intp], cut: Array
) -> NDArray[np.intp]:
    """Return which half of its cluster each cell is in, above a cut of its widest column or not."""
    halves = np.empty(len(of_cell), dtype=np.intp)
    for i in range(len(of_cell)):
        cluster = of_cell[i]
        halves[i] = 2 * cluster + (columns[widest[cluster], i] > cut[cluster])
    return halves
