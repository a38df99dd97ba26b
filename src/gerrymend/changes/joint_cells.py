"""Cells of two samples together, so that a residual over both is one over cells."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.inputs.categories import sorted_categories
from gerrymend.inputs.protected import Column, distinct_rows


class JointCells(NamedTuple):
    """The distinct protected rows of two samples, and where the cells of each are among them."""

    columns: tuple[Column, ...]
    of_old: NDArray[np.intp]
    of_new: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.columns[0].values)

    @classmethod
    def of(cls, old: Sequence[Column], new: Sequence[Column]) -> "JointCells":
        """Join the cells of two samples that have attributes of the same names and kinds.

        >>> old = (Column("sex", np.array([0.0, 1.0]), ("F", "M")),)
        >>> new = (Column("sex", np.array([0.0, 1.0]), ("D", "M")),)
        >>> joint = JointCells.of(old, new)
        >>> joint.columns[0].categories, joint.of_old.tolist(), joint.of_new.tolist()
        (('D', 'F', 'M'), [1, 2], [0, 2])
        """
        by_name = {column.name: column for column in new}
        cells = distinct_rows([_joined(column, by_name[column.name]) for column in old])
        n_old = len(old[0].values)
        return cls(cells.columns, cells.index[:n_old], cells.index[n_old:])


def _joined(old: Column, new: Column) -> Column:
    """Return the values of one column and then those of the other, in codes of both."""
    if old.categories is None or new.categories is None:
        return replace(old, values=np.r_[old.values, new.values])
    every = {*old.categories, *new.categories}
    known = sorted_categories([value for value in every if value is not None], old.name)
    categories = (*known, None) if None in every else tuple(known)
    code = {value: float(number) for number, value in enumerate(categories)}

    def coded(column: Column) -> Array:
        table = np.array([code[value] for value in column.categories or ()])
        return table[column.values.astype(np.intp)]

    return replace(old, values=np.r_[coded(old), coded(new)], categories=categories)
