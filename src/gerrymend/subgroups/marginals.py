"""One attribute at a time: the paper's marginal groups."""

from collections.abc import Iterator

import numpy as np

from gerrymend._sums import Array, total
from gerrymend.protected import Column, take_rows
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import Condition, Conjunction, shortest_between


class Marginals(SubgroupClass):
    """Each value of a categorical attribute, and both sides of the mean of each numeric one.

    The mean is weighted, over all rows, and rounded to as few digits as keep both sides as they
    are. A number that stands for a category should be passed as a string or a categorical.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 1, 0],
    ...                sensitive_features={"age": [20, 30, 40, 50, 60, 70]}, subgroups=Marginals())
    >>> print(report.worst)
    age < 45
    """

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> ListedClass:
        """List the groups."""
        rules = [
            Conjunction((condition,), {column.name: column.kind})
            for column in columns
            for condition in _conditions(column, weight)
        ]
        return ListedClass.of(
            take_rows(columns, event_weight > 0),
            rules,
            "each value of a category, and both sides of the mean of each number",
        )


def _conditions(column: Column, weight: Array) -> Iterator[Condition]:
    if column.categories is not None:
        for value in column.categories:
            yield Condition(column.name, values=(value,))
        return
    mean = total(weight * column.values) / total(weight)
    below, above = column.values[column.values < mean], column.values[column.values >= mean]
    if below.size == 0 or above.size == 0:  # a constant has no two sides
        yield Condition(column.name)
        return
    cut = shortest_between(float(np.max(below)), float(np.min(above)), target=mean)
    yield Condition(column.name, low=cut)
    yield Condition(column.name, high=cut)
