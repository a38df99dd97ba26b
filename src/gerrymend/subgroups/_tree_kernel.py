"""Compiled search for the best second split on either side of every first split of a tree.

The worth of a side is the sum of its positive leaves. Fix the attributes of the first and of the
second split, and run through the values of the first in order. From one value to the next, the sums
of the one side (by value of the second attribute) change only by the cells of that value, and the
sums of the other side are the total less these. So a pass over the cells serves all first splits.

Sums are of whole numbers (`_numeric.sums.as_whole`), so subtraction is exact.

Loops are written out because of compile time: numba takes a tenth of a second for each loop, and
four seconds for an assignment between slices, most of it for an error message that can't occur.
"""

import numpy as np

from gerrymend._runtime.compiling import njit


@njit(cache=True)
def sorted_by(rank, cells, size):
    """Sort cells by rank with a counting sort.

    Returns the cells in order of `rank[cell]`, ties as given, and `first`, of length `size + 1`:
    the cells of rank v are `order[first[v]:first[v + 1]]`.
    """
    first = np.zeros(size + 1, np.int64)
    for cell in cells:
        first[rank[cell] + 1] += 1
    for v in range(size):
        first[v + 1] += first[v]
    order = np.empty(len(cells), np.int64)
    next_free = np.empty(size, np.int64)
    for v in range(size):
        next_free[v] = first[v]
    for cell in cells:
        order[next_free[rank[cell]]] = cell
        next_free[rank[cell]] += 1
    return order, first


@njit(cache=True)
def _best_split(w, rows, ordered, min_group_size):
    """Return the worth of the best split of a side, and the value it splits at.

    `w` and `rows` are sums by value of the attribute. The place is −1 if no split is worth more
    than the undivided side, and −2 if even that has fewer than `min_group_size` rows.
    """
    total = total_rows = 0
    for v in range(len(w)):
        total += w[v]
        total_rows += rows[v]
    if total_rows < min_group_size:
        return 0, -2
    best = max(total, 0)
    where = -1
    part = part_rows = 0
    for v in range(len(w)):
        if ordered:
            part += w[v]
            part_rows += rows[v]
        else:
            part = w[v]
            part_rows = rows[v]
        worth = max(part, 0) + max(total - part, 0)
        rows_of_smaller = min(part_rows, total_rows - part_rows)
        # Strictly better: among equals the tree with fewer leaves, or the first cut, is kept.
        if worth > best and rows_of_smaller >= min_group_size:
            best = worth
            where = v
    return best, where


@njit(cache=True)
def second_splits(
    values, order, first, ordered, rank, second_ordered, attribute, w, rows, min_group_size,
    inside, everyone, worth, splits,
):  # fmt: skip
    """Update the best second splits by one attribute, for first splits at some values of another.

    Parameters
    ----------
    values : (begin, end), the values of the first attribute to split at
    order, first : the cells by value of the first attribute, from `sorted_by`
    ordered, second_ordered : whether the first and the second attribute are numbers
    rank : value of the second attribute, by cell
    attribute : position of the second attribute, to be recorded in `splits`
    w, rows : whole residual and number of rows, by cell
    inside, everyone : int64 of shape (2, n_values); the sums of `w` and `rows` by value of the
        second attribute, over the cells that meet the first condition and over all. `inside` is
        updated in place, and must be passed on to the call for the next values.
    worth : (n_first, 2), updated in place; the best of each side so far, −2 if it has too few rows
    splits : (n_first, 2, 2), updated in place; its attribute and value, −1 for no split
    """
    n_values = everyone.shape[1]
    outside = np.empty((2, n_values), np.int64)
    for v in range(values[0], values[1]):
        # "At most v" grows with v; "equal to v" starts anew.
        if not ordered:
            for u in range(n_values):
                inside[0, u] = inside[1, u] = 0
        for i in range(first[v], first[v + 1]):
            inside[0, rank[order[i]]] += w[order[i]]
            inside[1, rank[order[i]]] += rows[order[i]]
        for u in range(n_values):
            outside[0, u] = everyone[0, u] - inside[0, u]
            outside[1, u] = everyone[1, u] - inside[1, u]
        for side, sums in enumerate((inside, outside)):
            best, where = _best_split(sums[0], sums[1], second_ordered, min_group_size)
            if where == -2:
                worth[v, side] = -2
            elif best > worth[v, side]:
                worth[v, side] = best
                splits[v, side, 0] = attribute if where >= 0 else -1
                splits[v, side, 1] = where
