"""Unions of leaves of a decision tree: exact for two levels of splits, greedy for more."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, Whole, as_whole
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import check_whole
from gerrymend.subgroups.base import (
    BoundClass,
    Bracket,
    Found,
    SubgroupClass,
    check_cells,
    most_of_any,
    value_of_all,
)
from gerrymend.subgroups.conjunctions import check_bins
from gerrymend.subgroups.products.scales import Axis, Scale, axes_of, cuts_in_words
from gerrymend.subgroups.tree_rule import Node, Split, TreeRule

# Values visited by one compiled call: few enough that a deadline or Ctrl-C is noticed soon.
_STRETCH = 20_000_000
# Trees are grown, read and told by functions that call themselves, some for every level.
_DEEPEST = 100

Cells: TypeAlias = NDArray[np.int64]
# A leaf, or a split (attribute, rank, yes, no): "yes" is a rank up to this one for a number, and
# this rank alone for a category.
Key: TypeAlias = "bool | tuple[int, int, Key, Key]"


class Trees(SubgroupClass):
    """Every union of leaves of a small decision tree.

    A split asks if a number is below a cut, or if a category has one value; each answer may be
    followed by a different split. The class is closed under complement.

    Parameters
    ----------
    max_depth : int, default=2
        The largest number of splits on the way to a leaf. With one or two the worst is exact; with
        more the tree is grown greedily, and finds a lower bound.
    bins : int, optional
        Cut numbers into at most this many bins of equal weight, instead of at every value.

    See Also
    --------
    Conjunctions : Every conjunction of a few conditions, each on a different attribute. Exact.
    ValueSets : Every set of values of a category, intersected over a few attributes. Exact.
    LinearThresholds
        Subgroups Σ coefficient·attribute ≥ threshold; categories enter as indicators.

    Examples
    --------
    >>> from gerrymend import audit
    >>> A = {"race": ["blue", "green"] * 20, "sex": ["F", "F", "M", "M"] * 10}
    >>> y_pred = [int((r == "blue") == (s == "F")) for r, s in zip(A["race"], A["sex"])]
    >>> report = audit([0] * 40, y_pred, sensitive_features=A, subgroups=Trees())
    >>> print(report.worst)
    if race = blue: sex = F; otherwise: sex ≠ F
    >>> report.covers
    'every union of leaves of a decision tree of depth 2 on race, sex'
    """

    def __init__(self, max_depth: int = 2, *, bins: int | None = None) -> None:
        self.max_depth = max_depth
        self.bins = bins

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> BoundClass:
        """Check the parameters and rank the values of each attribute."""
        max_depth = check_whole(self.max_depth, "max_depth", low=1)
        if max_depth > _DEEPEST:
            raise ArgumentError(
                "max_depth",
                f"must be at most {_DEEPEST}; got {max_depth}. Nobody can read a rule of that many "
                "conditions; 2 is the default, and searched exactly.",
            )
        bins = check_bins(self.bins)
        axes = axes_of(columns, weight, event_weight > 0, bins)
        scales = [axis.scale for axis in axes]
        names = ", ".join(scale.name for scale in scales)
        covers = (
            f"every union of leaves of a decision tree of depth {max_depth} on {names}"
            + cuts_in_words(scales, bins)
        )
        return TreeSearch(axes, max_depth, covers)


@dataclass(frozen=True)
class TreeRules:
    """Makes trees in the user's units of trees over ranks."""

    scales: tuple[Scale, ...]

    def rule(self, key: Any) -> TreeRule:
        """Return the tree of a key."""
        return TreeRule(self._node(key), {scale.name: scale.kind for scale in self.scales})

    def _node(self, key: Key) -> Node:
        if isinstance(key, bool):
            return key
        attribute, rank, yes, no = key
        scale = self.scales[attribute]
        condition = scale.within(0, rank + 1) if scale.is_number else scale.among([rank])
        return Split(condition, self._node(yes), self._node(no))


class TreeSearch(BoundClass):
    """Search of all trees of two levels; deeper ones are grown two levels at a time.

    For every first split the best second split on either side is independent of the other side, so
    two levels are exact at the cost of all pairs of splits.
    """

    is_closed = True
    has_everyone = True

    def __init__(self, axes: Sequence[Axis], max_depth: int, covers: str) -> None:
        self.exact = max_depth <= 2
        self._axes = axes
        self._max_depth = max_depth
        self.covers = covers
        self.source = TreeRules(tuple(axis.scale for axis in axes))

    def worst(self, residuals: Array) -> Found:
        """Return the worst tree for each residual.

        Its rate is too high, or too low where everyone's is; the complement, on the other side, is
        in the class, and no worse.
        """
        found = [
            self._found(residual, _Growth(self._axes, residual).tree(self._max_depth))
            for residual in residuals
        ]
        values, members, keys = zip(*found, strict=True)
        return Found(np.concatenate(values), np.concatenate(members), np.concatenate(keys))

    @property
    def unprovable(self) -> str:
        """Why nothing is proven of more than two levels; "" for up to two."""
        if self.exact:
            return ""
        return (
            "trees of more than two levels are grown greedily, and no proof follows; a depth of 2 "
            "is exact"
        )

    def search(self, residual: Array, *, seconds: float = math.inf) -> Found:
        """Return the worst tree over the attributes that there was time for."""
        return self.prove(residual, seconds=seconds).found

    def prove(
        self,
        residual: Array,
        *,
        at_most: float | None = None,
        seconds: float = math.inf,
    ) -> Bracket:
        """Bracket the worst |value|; both sides meet for two levels, if time allows.

        Otherwise the upper bound is the trivial one, `most_of_any`. `at_most` doesn't shorten the
        search.
        """
        growth = _Growth(self._axes, residual, seconds=seconds)
        found = self._found(residual, growth.tree(self._max_depth))
        is_worst = self.exact and not growth.cut_short
        value = abs(float(found.values[0]))
        return Bracket(found, value if is_worst else float(most_of_any(residual)))

    def worst_of_size(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst tree whose leaves all have `min_group_size` rows, or None.

        That is a lower bound: a group may be large enough though one of its leaves is not.
        """
        growth = _Growth(
            self._axes, residual, rows=rows, least_rows=min_group_size, seconds=seconds
        )
        found = self._found(residual, growth.tree(self._max_depth))
        inside = int(rows[found.members[0] > 0].sum())
        return found if min_group_size <= inside <= rows.sum() - min_group_size else None

    def _found(self, residual: Array, key: Key) -> Found:
        members = _members(key, self._axes, len(residual)).astype(np.float64)
        keys = np.empty(1, dtype=object)
        keys[0] = key
        return Found(np.array([residual @ members]), members[None], keys)


def _members(key: Key, axes: Sequence[Axis], n_cells: int) -> NDArray[np.bool_]:
    """Return a mask of the cells that a tree over ranks leads to a leaf that is in."""
    if isinstance(key, bool):
        return np.full(n_cells, key)
    attribute, rank, yes, no = key
    holds = _holds(axes[attribute], rank)
    return np.where(holds, _members(yes, axes, n_cells), _members(no, axes, n_cells))


def _holds(axis: Axis, rank: int) -> NDArray[np.bool_]:
    return axis.rank <= rank if axis.scale.is_number else axis.rank == rank


class _Growth:
    """Growth of the tree for one residual; `cut_short` is True if time ran out before its end."""

    def __init__(
        self,
        axes: Sequence[Axis],
        residual: Array,
        *,
        rows: NDArray[np.intp] | None = None,
        least_rows: int = 0,
        seconds: float = math.inf,
    ) -> None:
        self._axes = axes
        self._least_rows = least_rows
        # Leaves that are positive are in; where everyone's value is negative, that side is worse.
        side = -1.0 if value_of_all(residual) < 0 else 1.0
        self._w = as_whole(side * residual)[0]  # whole numbers: sums are exact, and ties are ties
        self._rows = np.ones(len(residual), np.int64) if rows is None else rows.astype(np.int64)
        check_cells(len(axes[0].rank), self._w, self._rows)
        self._deadline = time.monotonic() + seconds
        self.cut_short = False

    def tree(self, depth: int) -> Key:
        """Return the best tree of up to two levels, and a greedy one if `depth` is more.

        The greedy tree keeps the first split of the best tree of two levels, and grows each side
        in the same way.
        """
        return self._grown(np.arange(len(self._w)), depth)

    def _grown(self, cells: Cells, depth: int) -> Key:
        best = self._best(cells, depth)
        if depth <= 2 or isinstance(best, bool):
            return best
        # Greedy: the first split is kept, and each side is searched anew, two levels at a time.
        attribute, rank, _, _ = best
        holds = _holds(self._axes[attribute], rank)[cells]
        yes, no = (self._grown(cells[side], depth - 1) for side in (holds, ~holds))
        return (attribute, rank, yes, no)

    def _best(self, cells: Cells, depth: int) -> Key:
        """Return the best tree of one or two levels, over fewer attributes if time runs out."""
        best_worth = max(int(self._w[cells].sum()), 0)
        best: Key = self._leaf(cells)
        for attribute, axis in enumerate(self._axes):
            if self.cut_short:
                break
            worth, splits = self._first_splits(axis, cells, depth)
            # A side that is −2 has too few rows, which rules the split out.
            both = np.where((worth >= 0).all(axis=1), worth.sum(axis=1), -1)
            rank = int(both.argmax())
            if both[rank] > best_worth:
                best_worth = int(both[rank])
                best = self._split(cells, attribute, rank, splits[rank].tolist())
        return best

    def _first_splits(self, axis: Axis, cells: Cells, depth: int) -> tuple[Whole, Whole]:
        """Return the worth of both sides of each first split by an attribute, and second splits.

        The arrays have shape (n_values, 2) and (n_values, 2, 2); see `second_splits`.
        """
        # Imported when it is needed, since it loads numba.
        from gerrymend.subgroups._tree_kernel import second_splits, sorted_by

        order, first = sorted_by(axis.rank, cells, axis.scale.size)
        worth = np.full((axis.scale.size, 2), -1)
        splits = np.full((axis.scale.size, 2, 2), -1)
        n_splits = axis.scale.size - axis.scale.is_number  # no number is above its last value
        # For one level: an attribute on which all cells are equal makes no second split.
        followers = self._axes if depth > 1 else [replace(axis, rank=0 * axis.rank)]
        for attribute, follower in enumerate(followers):
            ordered = follower.scale.is_number
            n_values = follower.scale.size
            everyone = np.zeros((2, n_values), dtype=np.int64)
            np.add.at(everyone[0], follower.rank[cells], self._w[cells])
            np.add.at(everyone[1], follower.rank[cells], self._rows[cells])
            inside = np.zeros_like(everyone)
            # A first split costs the values of the second attribute and, on average, its cells.
            stretch = max(1, _STRETCH // (n_values + len(cells) // axis.scale.size))
            for begin in range(0, n_splits, stretch):
                values = (begin, min(begin + stretch, n_splits))
                second_splits(
                    values, order, first, axis.scale.is_number, follower.rank, ordered, attribute,
                    self._w, self._rows, self._least_rows, inside, everyone, worth, splits,
                )  # fmt: skip
                if time.monotonic() >= self._deadline:
                    self.cut_short = True
                    return worth, splits
        return worth, splits

    def _split(
        self, cells: Cells, attribute: int, rank: int, second: Sequence[Sequence[int]]
    ) -> Key:
        """Return the tree of a first split and the second ones, each leaf in if it is positive."""
        holds = _holds(self._axes[attribute], rank)[cells]
        yes, no = (
            self._leaf(side) if follower < 0 else self._split(side, follower, value, [(-1, -1)] * 2)
            for side, (follower, value) in zip((cells[holds], cells[~holds]), second, strict=True)
        )
        return (attribute, rank, yes, no)

    def _leaf(self, cells: Cells) -> bool:
        """Return True if the residual of a leaf is positive, so that it adds to the value."""
        return bool(self._w[cells].sum() > 0)
