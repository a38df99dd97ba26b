"""Classes of subgroups small enough to be listed, so that the worst one is exact."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.base import BoundClass, Found
from gerrymend.subgroups.rules import Rule


@dataclass(frozen=True)
class ListedRules:
    """A list of rules; a key is a position in it."""

    rules: tuple[Rule, ...]

    def rule(self, key: Any) -> Rule:
        """Return the rule at this position."""
        return self.rules[int(key)]


class ListedClass(BoundClass):
    """A class whose subgroups are the rows of a sparse membership matrix.

    Parameters
    ----------
    rules : sequence of Rule
    members : sequence of bool arrays, or sparse matrix of shape (n_rules, n_cells)
        The members of each rule, over the cells with rows in the event.
    covers : str
        The class in words.
    """

    exact = True
    _sign = 0  # both sides

    def __init__(self, rules: Sequence[Rule], members: Any, covers: str = "") -> None:
        self.covers = covers or f"these {len(rules):,} subgroups"
        self.rules = tuple(rules)
        self.source = ListedRules(self.rules)
        # Sparse, since a cell is in few of the groups: one for each attribute, of the marginals.
        if not sparse.issparse(members):
            rows: Any = [sparse.csr_array(group[None], dtype=float) for group in members]
            members = sparse.vstack(rows, format="csr")
        self.membership: Any = members

    @classmethod
    def of(
        cls, columns: tuple[Column, ...], rules: Sequence[Rule], covers: str = ""
    ) -> "ListedClass":
        """Make the class of these rules, over the cells that these columns describe."""
        by_name = {column.name: column for column in columns}
        return cls(rules, [rule.members(by_name) for rule in rules], covers)

    def one_sided(self, sign: int) -> "ListedClass":
        """Return the same list, of which only values of this sign count."""
        side = copy.copy(self)
        side._sign = sign
        return side

    def values(self, residuals: Array) -> Array:
        """Return the signed value of every subgroup, of shape (n_residuals, n_rules)."""
        values: Array = (self.membership @ residuals.T).T
        return values

    def worst(self, residuals: Array) -> Found:
        """Return the worst subgroup for each residual; between equals, one of too high a rate."""
        return self._furthest(self.values(residuals))

    def worst_of_size(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst subgroup with at least `min_group_size` rows in and out, or None."""
        inside = self.membership @ rows
        outside = rows.sum() - inside
        fits = (inside >= min_group_size) & (outside >= min_group_size)
        if not fits.any():
            return None
        found = self._furthest(self.values(residual[None])[:, fits], np.flatnonzero(fits))
        return found if found.members.any() else None

    def _furthest(self, values: Array, among: NDArray[np.intp] | None = None) -> Found:
        """Return the subgroup furthest from 0 in each row of `values`.

        `values` has a column for every subgroup, or for each of those numbered in `among`. Values
        of the wrong sign are no one's, on one side alone.
        """
        highest = values.argmax(axis=1)
        lowest = values.argmin(axis=1)
        high = values.max(axis=1)
        low = values.min(axis=1)
        # A group and its complement have opposite values. Rounding must not choose between them,
        # so equal to twelve digits counts as equal.
        places = np.where(high >= -low * (1 - 1e-12), highest, lowest)
        if self._sign:
            places = highest if self._sign > 0 else lowest
        keys = places if among is None else among[places]
        found = values[np.arange(len(keys)), places]
        counts = self._sign * found >= 0
        return Found(
            values=np.where(counts, found, 0.0),
            members=np.where(counts[:, None], self.membership[keys].toarray(), 0.0),
            keys=keys,
        )
