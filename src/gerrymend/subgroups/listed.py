"""Classes with few enough subgroups to list them all: the worst one is then exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import BoundClass, Found, RuleSource
from gerrymend.subgroups.rules import Rule


@dataclass(frozen=True)
class ListedRules:
    """Rules by number."""

    rules: tuple[Rule, ...]

    def rule(self, key: Any) -> Rule:
        """The rule with this number."""
        return self.rules[int(key)]


class ListedClass(BoundClass):
    """Every subgroup of the class as a row of a sparse membership matrix."""

    exact = True

    def __init__(self, rules: Sequence[Rule], members: Any, covers: str = "") -> None:
        """`members` are those of each rule, one after the other, or a sparse matrix of them."""
        self._covers = covers or f"these {len(rules):,} subgroups"
        self._source = ListedRules(tuple(rules))
        if not sparse.issparse(members):
            rows: Any = [sparse.csr_array(group[None], dtype=float) for group in members]
            members = sparse.vstack(rows, format="csr")
        self.membership: Any = members

    @classmethod
    def of(
        cls, columns: tuple[Column, ...], rules: Sequence[Rule], covers: str = ""
    ) -> "ListedClass":
        """The class of some rules, over the cells that these columns describe."""
        by_name = {column.name: column for column in columns}
        return cls(rules, [rule.members(by_name) for rule in rules], covers)

    @property
    def source(self) -> RuleSource:
        """What turns keys into rules."""
        return self._source

    @property
    def covers(self) -> str:
        """The class in words."""
        return self._covers

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules of the class."""
        return self._source.rules

    def values(self, residuals: Array) -> Array:
        """Signed value of every subgroup, for each residual."""
        values: Array = (self.membership @ residuals.T).T
        return values

    def worst(self, residuals: Array) -> Found:
        """The exact worst subgroup, for each residual; between equals, one of too high a rate."""
        return self._furthest(self.values(residuals))

    def worst_of_size(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Found | None:
        """The exact worst of the subgroups with at least so many rows in and out."""
        inside = self.membership @ rows
        fits = (inside >= smallest) & (rows.sum() - inside >= smallest)
        if not fits.any():
            return None
        return self._furthest(self.values(residual[None])[:, fits], np.flatnonzero(fits))

    def _furthest(self, values: Array, among: NDArray[np.intp] | None = None) -> Found:
        """Found for each row of values, whose columns are the subgroups `among` all."""
        highest, lowest = values.argmax(axis=1), values.argmin(axis=1)
        high, low = values.max(axis=1), values.min(axis=1)
        places = np.where(high >= -low * (1 - 1e-12), highest, lowest)
        keys = places if among is None else among[places]
        return Found(
            values=values[np.arange(len(keys)), places],
            members=self.membership[keys].toarray(),
            keys=keys,
        )
