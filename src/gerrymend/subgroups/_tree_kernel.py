"""For each first split, what the best second split on either side is worth.

A side is worth the sum of its leaves that are positive. Fix the attribute of the first split and
of the second, and run through the values of the first in order: the sums of the one side by the
values of the second change by the cells of one value, and those of the other side are the rest.
Sums are of whole numbers (`_sums.as_whole`).

Loops are written out: numba compiles each in a tenth of a second, and an assignment between slices
in four seconds, most of them for the words of an error that can't occur.
"""

import numpy as np

from gerrymend._runtime.compiling import njit


@njit(cache=True)
def sorted_by(rank, cells, size):
    """Cells in the order of their rank, and where each rank begins (a counting sort)."""
    first = np.zeros(size + 1, np.int64)
    for cell in cells:
        first[rank[cell] + 1] += 1
    for v in range(size):
        first[v + 1] += first[v]
    order, at = np.empty(len(cells), np.int64), np.empty(size, np.int64)
    for v in range(size):
        at[v] = first[v]
    for cell in cells:
        order[at[rank[cell]]] = cell
        at[rank[cell]] += 1
    return order, first


@njit(cache=True)
def _best_split(w, rows, ordered, smallest):
    """What a split of a side is worth, and where it is: −1 for no split, −2 if none fits."""
    total = total_rows = 0
    for v in range(len(w)):
        total += w[v]
        total_rows += rows[v]
    if total_rows < smallest:
        return 0, -2
    best, where = max(total, 0), -1
    part = part_rows = 0
    for v in range(len(w)):
        if ordered:
            part += w[v]
            part_rows += rows[v]
        else:
            part, part_rows = w[v], rows[v]
        worth = max(part, 0) + max(total - part, 0)
        if worth > best and part_rows >= smallest and total_rows - part_rows >= smallest:
            best, where = worth, v
    return best, where


@njit(cache=True)
def second_splits(
    values, order, first, ordered, rank, second_ordered, attribute, w, rows, smallest,
    inside, everyone, worth, splits,
):  # fmt: skip
    """Better the second splits, by one attribute, for first splits at some values of another.

    `inside` and `everyone` have the sums and rows by value of the second attribute, of the side
    that meets the first condition and of all; the side is kept from call to call. `worth` and
    `splits` have for each first split and side the best so far: attribute and value, −1 for none.
    """
    n_values = everyone.shape[1]
    outside = np.empty((2, n_values), np.int64)
    for v in range(values[0], values[1]):
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
            best, where = _best_split(sums[0], sums[1], second_ordered, smallest)
            if where == -2:
                worth[v, side] = -2
            elif best > worth[v, side]:
                worth[v, side] = best
                splits[v, side, 0], splits[v, side, 1] = (attribute if where >= 0 else -1), where
