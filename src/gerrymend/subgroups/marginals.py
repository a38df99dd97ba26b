"""Marginal groups: the values of one attribute at a time, as the paper compares them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.short_numbers import shortest_between
from gerrymend._numeric.sums import Array, total
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import Condition, Conjunction


class Marginals(SubgroupClass):
    """Each value of a categorical attribute, and both sides of the mean of each numeric one.

    The mean is weighted and over all rows, rounded to the fewest digits that keep both sides as
    they are. Pass a number that stands for a category as a string or a categorical.

    See Also
    --------
    ExplicitGroups : Groups given by conditions on the protected attributes.
    Conjunctions : Every conjunction of a few conditions, each on a different attribute. Exact.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 1, 0],
    ...                sensitive_features={"age": [20, 30, 40, 50, 60, 70]}, subgroups=Marginals(),
    ...                min_group_size=1)
    >>> print(report.worst)
    age < 45
    """

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> ListedClass:
        """List the groups and the cells of each."""
        groups = marginal_groups(columns, weight)
        return ListedClass(
            groups.rules,
            groups.membership[:, event_weight > 0],
            "each value of a category, and both sides of the mean of each number",
        )


class MarginalGroups(NamedTuple):
    """The rules, and a sparse matrix of shape (n_rules, n_cells) with 1 for each member."""

    rules: list[Conjunction]
    membership: Any


def marginal_groups(columns: tuple[Column, ...], weight: Array) -> MarginalGroups:
    """Return all marginal groups of some cells, each cell in one group of every attribute.

    >>> groups = marginal_groups((Column("age", np.array([20.0, 30.0, 70.0])),), np.ones(3))
    >>> [rule.describe() for rule in groups.rules], groups.membership.toarray().tolist()
    (['age ≥ 40', 'age < 40'], [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    """
    rules: list[Conjunction] = []
    # One entry for each cell and column: the cell is in exactly one group of the column. Groups are
    # rows of the matrix, written as it keeps them: from pairs it takes several times the memory.
    n_cells = len(columns[0].values)
    n_entries = n_cells * len(columns)
    is_small = n_entries < np.iinfo(np.int32).max
    cells = np.empty(n_entries, dtype=np.int32 if is_small else np.int64)
    ends = [0]
    for number, column in enumerate(columns):
        conditions, which = _conditions(column, weight)
        # Stable: the cells of a group stay in order.
        cells[number * n_cells : (number + 1) * n_cells] = np.argsort(which, kind="stable")
        sizes = np.bincount(which, minlength=len(conditions))
        ends += (number * n_cells + np.cumsum(sizes)).tolist()
        kind = {column.name: column.kind}
        rules += [Conjunction((condition,), kind) for condition in conditions]
    entries = (np.ones(n_entries), cells, np.array(ends, dtype=cells.dtype))
    return MarginalGroups(rules, sparse.csr_array(entries, shape=(len(rules), n_cells)))


def _conditions(column: Column, weight: Array) -> tuple[list[Condition], NDArray[np.int32]]:
    """Return the conditions on one attribute, and the position of the one that each cell meets."""
    if column.categories is not None:
        values = [Condition(column.name, values=(value,)) for value in column.categories]
        return values, column.values.astype(np.int32)
    # Relative to the minimum, so that a large offset (a year, a timestamp) costs no digits.
    low = float(column.values.min())
    mean = low + total(weight * (column.values - low)) / total(weight)
    below = column.values[column.values < mean]
    above = column.values[column.values >= mean]
    if below.size == 0 or above.size == 0:  # a constant has no two sides
        return [Condition(column.name)], np.zeros(len(column.values), dtype=np.int32)
    cut = shortest_between(float(np.max(below)), float(np.min(above)), target=mean)
    sides = [
        Condition(column.name, low=cut, whole=column.is_whole),
        Condition(column.name, high=cut, whole=column.is_whole),
    ]
    return sides, (column.values < cut).astype(np.int32)
