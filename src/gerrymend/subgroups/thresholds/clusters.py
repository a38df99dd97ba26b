"""Merge cells that lie near one another: the start of a search of very many cells.

W of a cluster is the sum of its cells', so nothing is sampled: of a group of clusters only those
that its threshold runs through are told wrongly.
"""

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.subgroups.thresholds._cluster_kernel import add_up, halve


def clusters_of(columns: Array, most: int) -> tuple[NDArray[np.intp], Array]:
    """Return the cluster of each cell, and the means of each cluster.

    All clusters are cut in two again and again, each at its mean, across the column in which its
    cells are spread the most.

    Parameters
    ----------
    columns : array of shape (n_columns, n_cells)
    most : int
        The number of clusters is no larger.

    Returns
    -------
    of_cell : array of int of shape (n_cells,)
    means : array of shape (n_columns, n_clusters)

    Examples
    --------
    >>> of_cell, means = clusters_of(np.array([[0.0, 1.0, 10.0, 12.0]]), most=2)
    >>> of_cell.tolist(), means.tolist()
    ([0, 0, 1, 1], [[0.5, 11.0]])
    """
    of_cell = np.zeros(columns.shape[1], dtype=np.intp)
    while True:
        count = np.bincount(of_cell)
        means = np.zeros((len(columns), len(count)))
        squares = np.zeros_like(means)
        add_up(columns, of_cell, means, squares)
        means /= count
        squares /= count
        widest = (squares - means**2).argmax(axis=0)
        cut = means[widest, np.arange(len(count))]
        halves = halve(columns, of_cell, widest, cut)
        filled = np.bincount(halves, minlength=2 * len(count)) > 0
        n_filled = int(np.count_nonzero(filled))
        if n_filled > most or n_filled == len(count):
            return of_cell, means
        of_cell = (np.cumsum(filled) - 1)[halves]
