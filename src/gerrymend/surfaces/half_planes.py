"""The groups of a surface: half-planes of two attributes, through their mean.

With x the two attributes, m their mean and s their standard deviations, z = (x − m) / s, and the
group of θ = (θ₁, θ₂) is {θ·z > 0}: who has much of what θ weighs. The paper's Figure 4 has s = 1
and θ·z < 0, so that its surface is this one turned half round. Only the direction of θ matters: a
surface is constant along rays from 0, and at 0 itself nobody is in.
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
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import did_you_mean
from gerrymend.inputs.validation import as_vector
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.rules import Term, category_label
from gerrymend.surfaces.likeness import Parts, nearest

# One number more than the paper, which ends at 0.9: each group then has its complement.
THETAS = tuple(np.arange(-10, 11) / 10)


@dataclass(frozen=True, eq=False)
class HalfPlanes:
    """The groups of all θ of a grid; θ₁ by row, θ₂ by column."""

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
        """The half-planes of two attributes of some cells, with the weight of each cell."""
        encoding = two_terms(columns, weight, attributes)
        grid = _check_thetas(THETAS if thetas is None else thetas)
        design, n = encoding.matrix(columns), total(weight)
        mean = np.array([total(weight * values) for values in design.T]) / n
        spread = np.sqrt([total(weight * (design - mean)[:, k] ** 2) / n for k in (0, 1)])
        for term, width in zip(encoding.terms, spread, strict=True):
            if not width > TIE:
                raise ValueError(
                    f"{term.describe()} is the same in every row that has weight: no threshold "
                    "parts them. Name other attributes."
                )
        return cls(encoding, mean, spread if standardize else np.ones(2), grid)

    @property
    def names(self) -> tuple[str, str]:
        """The two attributes in words."""
        first, second = self.encoding.terms
        return _words(first), _words(second)

    def sums(self, columns: Sequence[Column], values: Array) -> Array:
        """Σ over the members of each group: (r, k, k) of values (r, m) by cell.

        A row of the grid at a time, so that memory is of the order of k·m and never k²·m.
        """
        z = self._standard(columns)
        return np.stack([values @ self._inside(z, first).T for first in self.thetas], axis=1)

    def shown(
        self,
        columns: Sequence[Column],
        rows: Array,
        counted: Array,
        places: NDArray[np.bool_],
        smallest: int,
    ) -> NDArray[np.intp]:
        """The place (i·k + j) of the group that each square shows; −1 where it shows none.

        `places` are the groups that are large enough; `rows` and `counted` are by cell. Groups are
        kept in the order of their angle, and others shown as the nearest that is kept. If a single
        row may be shown, all are kept.
        """
        theta = np.array(np.meshgrid(self.thetas, self.thetas, indexing="ij")).reshape(2, -1) + 0.0
        at = np.flatnonzero(places)
        rays, one, ray = np.unique(
            np.round(np.arctan2(theta[1, at], theta[0, at]), 12),
            return_index=True, return_inverse=True,
        )  # fmt: skip
        parts, z = Parts(rows, counted, smallest), self._standard(columns)
        kept = [
            i for i, place in enumerate(at[one])
            if smallest == 1 or parts.take(z @ theta[:, place] > TIE)
        ]  # fmt: skip
        shown = np.full(places.size, -1)
        if kept:
            near, is_near = nearest(rays, rays[kept])
            shown[at] = np.where(is_near, at[one][np.array(kept)[near]], -1)[ray]
        return shown.reshape(places.shape)

    def describe(
        self, columns: Sequence[Column], shown: NDArray[np.intp]
    ) -> list[list[str | None]]:
        """Who is in the group that each square shows, in words; None where it shows none.

        A rule in few digits that selects exactly the group's members of these cells.
        """
        z, by_name = self._standard(columns), {column.name: column for column in columns}
        words: dict[int, str | None] = {-1: None}
        for place in np.setdiff1d(shown, [-1]).tolist():
            theta = self.thetas[list(divmod(place, len(self.thetas)))]
            direction = theta / self.scale  # θ·z > 0 is (θ/s)·x > (θ/s)·m
            rule = self.encoding.linear_rule(direction, TIE + float(direction @ self.mean))
            words[place] = rule.in_few_digits(by_name, z @ theta > TIE).describe()
        return [[words[place] for place in row] for row in shown.tolist()]

    def _standard(self, columns: Sequence[Column]) -> Array:
        standard: Array = (self.encoding.matrix(columns) - self.mean) / self.scale
        return standard

    def _inside(self, z: Array, first: float) -> NDArray[np.bool_]:
        """Members of a row of the grid: (k, m)."""
        inside: NDArray[np.bool_] = first * z[:, 0] + self.thetas[:, None] * z[:, 1] > TIE
        return inside


def two_terms(columns: Sequence[Column], weight: Array, attributes: Any) -> LinearEncoding:
    """The two attributes as terms of a linear rule: a number, or the indicator of one value."""
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
    terms = tuple(_term(one, by_name, weight) for one in attributes)
    if terms[0] == terms[1]:
        raise ValueError(f"attributes names {_words(terms[0])} twice; name two that differ.")
    used = (term.attribute for term in terms)
    return LinearEncoding(terms, {name: by_name[name].categories for name in used})


def check_not_rare(
    encoding: LinearEncoding, columns: Sequence[Column], rows: Array, smallest: int
) -> None:
    """Refuse a value that so few rows have, or lack, that its name is about them."""
    by_name = {column.name: column for column in columns}
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


def _term(asked: Any, columns: dict[str, Column], weight: Array) -> Term:
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
    if not values:  # of two categories, the less common one
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
    if not term.categorical:
        return term.attribute
    return f"{term.attribute} = {category_label(term.value)}"


def _check_thetas(thetas: Any) -> Array:
    grid = as_numbers(as_vector(thetas, "thetas"), "thetas")
    if len(grid) < 2 or not np.isfinite(grid).all() or (np.diff(grid) <= 0).any():
        raise ValueError(
            f"thetas must be at least two finite numbers, each above the last; got {thetas!r}."
        )
    return grid
