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
    ...                sensitive_features={"age": [20, 30, 40, 50, 60, 70]}, subgroups=Marginals(),
    ...                min_group_size=1)
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
        listed = ListedClass.of(
            take_rows(columns, event_weight > 0),
            rules,
            "each value of a category, and both sides of the mean of each number",
        )
        listed.vc_dimension = _vc_dimension(columns)
        if all(column.is_categorical for column in columns):
            listed.n_subgroups = len(rules)
        return listed


def _vc_dimension(columns: tuple[Column, ...]) -> int:
    """The largest D with 2^D ≤ 2·numbers·D + values, as so many ways to divide D rows there are.

    The mean at which a number is cut moves with the rows, so every cut counts: D + 1 places, and
    either side, of which none and all are the same from both.

    >>> age, sex = Column("age", np.zeros(0)), Column("sex", np.zeros(0), ("F", "M"))
    >>> _vc_dimension((age,)), _vc_dimension((sex,)), _vc_dimension((age, sex))
    (2, 1, 3)
    """
    numbers = sum(not column.is_categorical for column in columns)
    values = sum(len(column.categories or ()) for column in columns)
    dimension = 0
    while 2 ** (dimension + 1) <= 2 * numbers * (dimension + 1) + values:
        dimension += 1
    return dimension


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
