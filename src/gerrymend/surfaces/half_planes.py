"""Half-planes of two attributes through their mean: the groups of a discrimination surface.

With x the two attributes, m their mean and s their standard deviations, z = (x − m) / s, and the
group of θ = (θ₁, θ₂) is {θ·z > 0}: the people with much of what θ weighs. The paper's Figure 4 has
s = 1 and θ·z < 0, so that its surface is this one turned by half a circle. Only the direction of θ
matters: a surface is constant along rays from 0, and at 0 itself the group is empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array, total
from gerrymend.auditing.small_groups import identifies
from gerrymend.inputs.categories import as_category
from gerrymend.inputs.numbers import as_numbers
from gerrymend.inputs.protected import Cells, Column, distinct_rows
from gerrymend.inputs.settings import did_you_mean
from gerrymend.inputs.validation import as_vector
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.linear_rule import Term
from gerrymend.subgroups.rules import category_label
from gerrymend.surfaces.likeness import Parts, nearest

# One more than in the paper, whose grid ends at 0.9: with 1.0 each group has its complement.
THETAS = tuple(np.arange(-10, 11) / 10)


@dataclass(frozen=True, eq=False)
class HalfPlanes:
    """Define a group for each θ of a grid, with θ₁ by row and θ₂ by column.

    Attributes
    ----------
    encoding : LinearEncoding
        The two attributes as terms of a linear rule.
    mean, scale : arrays (2,)
        z = (x − mean) / scale; scale is 1 where attributes are not standardized.
    thetas : array (k,)
        The values of θ₁ and of θ₂, in increasing order.
    """

    encoding: LinearEncoding
    mean: Array
    scale: Array
    thetas: Array

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        weight: Array,
        attributes: Any,
        thetas: Any = None,
        *,
        standardize: bool = True,
    ) -> "HalfPlanes":
        """Return the half-planes of two attributes, from cells and the weight of each.

        Raises a ValueError or TypeError for `attributes` that can't be found or don't vary, and for
        `thetas` that are no increasing finite numbers.
        """
        encoding = two_terms(columns, weight, attributes)
        grid = _check_thetas(THETAS if thetas is None else thetas)
        design = encoding.matrix(columns)
        n = total(weight)
        # By total(), which sums exactly: the grid, and with it who is in, must not depend on the
        # order of the rows.
        mean = np.array([total(weight * values) for values in design.T]) / n
        spread = np.sqrt([total(weight * (design - mean)[:, k] ** 2) / n for k in (0, 1)])
        for term, width in zip(encoding.terms, spread, strict=True):
            if not width > TIE:
                raise ValueError(
                    f"{term.describe()} is the same in every row that has weight: no threshold "
                    "separates them. Name other attributes."
                )
        return cls(encoding, mean, spread if standardize else np.ones(2), grid)

    @property
    def names(self) -> tuple[str, str]:
        """The two attributes in words, as a report prints them."""
        first, second = self.encoding.terms
        return _words(first), _words(second)

    def sums(self, columns: Sequence[Column], values: Array) -> Array:
        """Return the sum over the members of each group: (r, k, k), of values (r, m) by cell.

        Goes by row of the grid, so that memory is of the order of k·m and never k²·m.
        """
        z = self._standard(columns)
        # r sums for each of k groups: (r, m) @ (m, k); stacked over θ₁ that is (r, k, k).
        return np.stack([values @ self._inside(z, first).T for first in self.thetas], axis=1)

    def shown(
        self,
        columns: Sequence[Column],
        rows: NDArray[np.intp],
        counted: NDArray[np.intp],
        places: NDArray[np.bool_],
        min_group_size: int,
    ) -> NDArray[np.intp]:
        """Return the group that each square shows, as i·k + j, or −1 where it shows none.

        Groups are tried in the order of their angle, and kept if `Parts` allows it; a square whose
        group is not kept shows the nearest that is. If groups of a single row may be shown, all are
        kept.

        Parameters
        ----------
        columns : sequence of Column
            The protected values by cell.
        rows, counted : arrays (strata, m)
            The number of rows of each stratum in each cell, and of those in the notion's event.
        places : bool array (k, k)
            True for the groups that are large enough.
        min_group_size : int
            The fewest rows that sums may be over.
        """
        theta = np.array(np.meshgrid(self.thetas, self.thetas, indexing="ij")).reshape(2, -1) + 0.0
        at = np.flatnonzero(places)
        # θ along one ray make one group. Rounding the angle joins those that differ in the last
        # bits; + 0.0 above turns −0.0 into 0.0, since arctan2 tells the two apart (−π and π).
        rays, first, ray = np.unique(
            np.round(np.arctan2(theta[1, at], theta[0, at]), 12),
            return_index=True, return_inverse=True,
        )  # fmt: skip
        parts = Parts(rows, counted, min_group_size)
        z = self._standard(columns)
        kept = [
            i for i, place in enumerate(at[first])
            # take() changes the parts, so that the order matters: groups of small angle are kept
            # first, and a later one is left out if it differs from these by a few rows.
            if min_group_size == 1 or parts.take(z @ theta[:, place] > TIE)
        ]  # fmt: skip
        shown = np.full(places.size, -1)
        if kept:
            near, is_near = nearest(rays, rays[kept])
            # `near` is a place among the kept rays; at[first] turns rays into squares of the grid,
            # and [ray] gives every square on a ray what its ray shows.
            shown[at] = np.where(is_near, at[first][np.array(kept)[near]], -1)[ray]
        return shown.reshape(places.shape)

    def describe(
        self, columns: Sequence[Column], shown: NDArray[np.intp]
    ) -> list[list[str | None]]:
        """Return the rule of the group that each square shows in words, None where it shows none.

        It is a rule in few digits that selects exactly the group's members of these cells.
        """
        z = self._standard(columns)
        by_name = {column.name: column for column in columns}
        words: dict[int, str | None] = {-1: None}
        for place in np.setdiff1d(shown, [-1]).tolist():
            # place = i·k + j, as in shown().
            theta = self.thetas[list(divmod(place, len(self.thetas)))]
            direction = theta / self.scale  # θ·z > 0 is (θ/s)·x > (θ/s)·m
            # The line is moved by TIE, as in _inside(), so that the rule and the sums have the same
            # members.
            rule = self.encoding.linear_rule(direction, TIE + float(direction @ self.mean))
            words[place] = rule.in_few_digits(by_name, z @ theta > TIE).describe()
        return [[words[place] for place in row] for row in shown.tolist()]

    def _standard(self, columns: Sequence[Column]) -> Array:
        """Return z by cell: (m, 2)."""
        standard: Array = (self.encoding.matrix(columns) - self.mean) / self.scale
        return standard

    def _inside(self, z: Array, first: float) -> NDArray[np.bool_]:
        """Return the members of each group in one row of the grid: (k, m)."""
        # A cell on the line is out, on both sides: within TIE of it float64 can't tell.
        inside: NDArray[np.bool_] = first * z[:, 0] + self.thetas[:, None] * z[:, 1] > TIE
        return inside


def two_terms(columns: Sequence[Column], weight: Array, attributes: Any) -> LinearEncoding:
    """Return the two attributes as terms of a linear rule: a number, or the indicator of one value.

    Raises a TypeError where `attributes` is no pair, and a ValueError where it names an attribute
    or a value that is not there, the same one twice, or nothing while there are more than two.
    """
    by_name = {column.name: column for column in columns}
    if attributes is None:
        attributes = tuple(by_name)
        if len(attributes) != 2:
            raise ValueError(
                f"attributes is not given, and sensitive_features has {len(by_name)}: "
                f"{', '.join(by_name)}. Name two of them."
            )
    if not isinstance(attributes, tuple | list) or len(attributes) != 2:
        raise TypeError(
            "attributes must be a pair, each the name of an attribute or, for one value of a "
            f"category, (name, value); got {attributes!r}."
        )
    terms = tuple(_term(asked, by_name, weight) for asked in attributes)
    if terms[0] == terms[1]:
        raise ValueError(f"attributes names {_words(terms[0])} twice; name two that differ.")
    used = (term.attribute for term in terms)
    return LinearEncoding(terms, {name: by_name[name].categories for name in used})


def cells_of_two(
    columns: Sequence[Column], weight: Array, rows: Array, attributes: Any, smallest: int
) -> Cells:
    """Return the cells of the two attributes alone, given weight and number of rows by cell.

    Raises a ValueError if a value is named that fewer than `smallest` rows have, or lack: its name
    alone would be about these few people.
    """
    encoding = two_terms(columns, weight, attributes)
    by_name = {column.name: column for column in columns}
    # Numbers name nobody; a value of a category does.
    for term in encoding.terms:
        if not term.categorical:
            continue
        have = int(rows[by_name[term.attribute].equals(term.value)].sum())
        fewest = min(have, int(rows.sum()) - have)
        if identifies(fewest, smallest):
            do = "have" if fewest == have else "lack"
            raise ValueError(
                f"attributes has {_words(term)}, which fewer than min_group_size={smallest} rows "
                f"{do}. Name another value, or merge rare ones."
            )
    return distinct_rows([column for column in columns if column.name in encoding.levels])


def _term(asked: Any, columns: dict[str, Column], weight: Array) -> Term:
    """Return the term for one of `attributes`: a name, or a pair (name, value)."""
    name, *values = asked if isinstance(asked, tuple | list) and asked else (asked,)
    if not isinstance(name, str) or name not in columns or len(values) > 1:
        hint = did_you_mean(name, columns) if isinstance(name, str) else ""
        raise ValueError(
            f"attributes has {asked!r}, which names no attribute of sensitive_features{hint}. "
            f"There are {', '.join(columns)}; one value of a category is (name, value)."
        )
    column = columns[name]
    values = [as_category(value) for value in values]
    if column.categories is None:
        if values:
            raise ValueError(f"{name!r} is a number; name it alone, not as {asked!r}.")
        return Term(name, categorical=False)
    if not values:  # with two categories, the indicator of the less common one
        found = LinearEncoding.of([column], weight).terms
        if len(found) == 1:
            return found[0]
    if not values or values[0] not in column.categories:
        there = ", ".join(repr(value) for value in column.categories[:20])
        raise ValueError(
            f"attributes has {asked!r}, and {name!r} is a category of {len(column.categories)} "
            f"values; name one as ({name!r}, value). There are {there}."
        )
    return Term(name, categorical=True, value=values[0])


def _words(term: Term) -> str:
    """Return a term as an axis prints it."""
    if not term.categorical:
        return term.attribute
    return f"{term.attribute} = {category_label(term.value)}"


def _check_thetas(thetas: Any) -> Array:
    """Return the grid as an array, or raise a ValueError unless it increases and is finite."""
    grid = as_numbers(as_vector(thetas, "thetas"), "thetas")
    if len(grid) < 2 or not np.isfinite(grid).all() or (np.diff(grid) <= 0).any():
        raise ValueError(
            f"thetas must be at least two finite numbers, each above the last; got {thetas!r}."
        )
    return grid
