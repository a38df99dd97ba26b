"""Exact search for the worst product of conditions on different attributes, with bounds on the way.

Every combination of attributes has a table, and each table a depth-first search
(`_product_kernel`). All searches share the worst value known so far. A search that turns out long
is put off until every table has been visited, and then resumed, the most promising first.
"""

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, Whole, as_whole
from gerrymend.subgroups.base import BoundClass, Bracket, Found, check_cells, value_of_all
from gerrymend.subgroups.products._product_kernel import (
    CATEGORY,
    HALF_LINE,
    INTERVAL,
    SET,
    continue_search,
    start_search,
)
from gerrymend.subgroups.products.scales import Axis, Scale
from gerrymend.subgroups.products.tables import Table, Tables
from gerrymend.subgroups.rules import Conjunction

# Table entries visited by one compiled call: few enough that a deadline or Ctrl-C is noticed soon.
_STRETCH = 20_000_000

# Above every sum of whole numbers (`as_whole` leaves room), and every number of rows.
_MOST = 2**62

_KINDS = {"category": CATEGORY, "interval": INTERVAL, "half_line": HALF_LINE, "set": SET}

# A condition: the position of the attribute, and the ranks that meet it.
Choice = tuple[int, tuple[int, ...]]
Key = tuple[Choice, ...]


def _on_side(positive: int, negative: int, side: int) -> int:
    """Return the larger of two sums, or that of one side where only values of its sign count."""
    return max(positive, negative) if side == 0 else positive if side > 0 else negative


def n_options(kind: str, size: int) -> int:
    """Return the number of conditions of a kind on an attribute with `size` values.

    >>> [n_options(kind, 4) for kind in ("category", "half_line", "interval", "set")]
    [4, 6, 10, 15]
    """
    if kind == "interval":
        return size * (size + 1) // 2
    return {"category": size, "half_line": 2 * (size - 1), "set": 2**size - 1}[kind]


@dataclass(frozen=True)
class ProductRules:
    """Makes rules in the user's units of the ranks that were chosen."""

    scales: tuple[Scale, ...]

    def rule(self, key: Key) -> Conjunction:
        """Return the conjunction of the choices, in the order of the user's columns."""
        conditions = []
        for position, ranks in sorted(key):
            scale = self.scales[position]
            if scale.is_number:
                conditions.append(scale.within(min(ranks), max(ranks) + 1))
            else:
                conditions.append(scale.among(ranks))
        return Conjunction(tuple(conditions), {scale.name: scale.kind for scale in self.scales})


@dataclass
class _Known:
    """The worst product known so far, shared by all searches.

    `to_exceed` is its |value|, or the |value| below which nothing matters to the caller, if that is
    more; `sign` is 0 while nothing has exceeded it. The product is kept as its attributes and the
    options of each; between equals the one with fewer conditions is kept.
    """

    to_exceed: int = 0
    attributes: tuple[int, ...] = ()
    sign: int = 0
    options: Whole = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    def threshold(self, n_conditions: int) -> int:
        """Return the |value| that a product of `n_conditions` must exceed to be kept."""
        # One less, so that an equal value with fewer conditions is an improvement.
        simpler = self.sign != 0 and n_conditions < len(self.attributes)
        return self.to_exceed - simpler


class _Search:
    """The search of one table, which can be interrupted and resumed."""

    def __init__(self, table: Table, kinds: Sequence[int], sizes: Sequence[int], side: int) -> None:
        self.attributes = table.attributes
        self._side = side
        self._kinds = np.array([kinds[j] for j in table.attributes])
        self._sizes = np.array([sizes[j] for j in table.attributes])
        self._levels = table.levels
        depth = len(table.attributes)
        # The table is the first level; the search fills the others.
        rest = np.zeros(int(table.levels.start[-1] - table.levels.start[1]), dtype=np.int64)
        self._w = np.concatenate([table.sums[0], rest])
        self._rows = np.concatenate([table.sums[1], rest]) if len(table.sums) > 1 else rest[:0]
        self._level = 0
        self._sums = np.zeros((depth, 3), dtype=np.int64)
        self._left = np.zeros((depth, 2), dtype=np.int64)
        self._sweeps, self._steps = np.zeros((2, depth), dtype=np.int64)
        start_search(
            self._levels.start, self._w, self._rows, self._sums, self._left, self._sweeps,
            self._steps,
        )  # fmt: skip

    @property
    def bound(self) -> int:
        """A |value| that no product that is still to be visited exceeds."""
        return _on_side(int(self._left[0, 0]), int(self._left[0, 1]), self._side)

    def go_on(self, known: _Known, limits: tuple[int, int]) -> bool:
        """Search one stretch further; return True if nothing worse can be left.

        `known` is updated, `limits` are the fewest and most rows of a group.
        """
        threshold = known.threshold(len(self.attributes))
        if self.bound <= threshold:
            return True
        best = np.array([threshold, 0])
        options = np.zeros((len(self.attributes), 2), np.int64)
        first, child, start = self._levels
        self._level = continue_search(
            self._kinds, self._sizes, first, child, start, self._w, self._rows, limits, self._side,
            self._level, self._sums, self._left, self._sweeps, self._steps, best, options,
            _STRETCH,
        )  # fmt: skip
        if best[1] != 0:
            known.to_exceed, known.sign = best.tolist()
            known.attributes = self.attributes
            known.options = options
        return self._level < 0 or self.bound <= known.threshold(len(self.attributes))


class _Hunt:
    """The searches of all tables for one residual.

    `left` has, for each combination of attributes that isn't done, a |value| that none of its
    products exceeds.
    """

    def __init__(
        self,
        tables: Tables,
        w: Whole,
        kinds: Sequence[int],
        sizes: Sequence[int],
        side: int,
        everyone: _Known,
    ) -> None:
        self._tables = tables
        self._how = (kinds, sizes, side)
        self._values = [w]
        self._limits = (0, _MOST)
        self.known = everyone
        # No set of cells takes more than all that is positive, or all that is negative.
        most = _on_side(int(np.maximum(w, 0).sum()), int(np.maximum(-w, 0).sum()), side)
        self.left = dict.fromkeys(tables.combinations, most)

    def only_of_size(self, rows: NDArray[np.intp], min_group_size: int) -> None:
        """Restrict the search to products with at least `min_group_size` rows in and out."""
        self._values.append(rows.astype(np.int64))
        self._limits = (min_group_size, int(rows.sum()) - min_group_size)
        self.known = _Known(-1)  # a product of value 0 is found too, if it is large enough

    def run(self, at_most: int = _MOST, seconds: float = math.inf) -> None:
        """Search until nothing is left, something exceeds `at_most`, or time runs out."""
        deadline = time.monotonic() + seconds
        for search in self._stretches():
            if search.go_on(self.known, self._limits):
                self.left.pop(search.attributes, None)
            else:
                self.left[search.attributes] = search.bound
            exceeds = self.known.sign != 0 and self.known.to_exceed > at_most
            if exceeds or time.monotonic() >= deadline:
                return

    def _stretches(self) -> Iterator[_Search]:
        """Yield each search once, then those that are left until they end, largest bound first.

        The caller removes a search that has ended from `left`.
        """
        for table in self._tables.of(self._values):
            yield _Search(table, *self._how)
        # A search is made anew, as to keep all of them would keep all tables in memory.
        for subset in sorted(self.left, key=lambda attributes: -self.left[attributes]):
            search = _Search(self._tables.one(subset, self._values), *self._how)
            while subset in self.left:
                yield search


class ProductSearch(BoundClass):
    """The class of products of one condition an attribute, bound to cells.

    Parameters
    ----------
    axes : sequence of Axis
    kinds : sequence of {"category", "interval", "half_line", "set"}
        The conditions on each attribute.
    max_depth : int
        The largest number of attributes of a product.
    words : callable
        Describes the class of products of at most a given number of conditions.
    """

    exact = True
    has_everyone = True
    _side = 0  # both

    def __init__(
        self,
        axes: Sequence[Axis],
        kinds: Sequence[str],
        max_depth: int,
        words: Callable[[int], str],
    ) -> None:
        # The last attribute of a table isn't enumerated, so it should be the one with most options.
        options = [n_options(kind, axis.scale.size) for kind, axis in zip(kinds, axes, strict=True)]
        self._order = sorted(range(len(axes)), key=lambda j: options[j])
        self._options = [options[j] for j in self._order]
        self._ranks = [axes[j].rank for j in self._order]
        self._kinds = [_KINDS[kinds[j]] for j in self._order]
        self._sizes = [axes[j].scale.size for j in self._order]
        self._tables = Tables(self._ranks, self._sizes, max_depth)
        self.source = ProductRules(tuple(axis.scale for axis in axes))
        self._max_depth = max_depth
        self._words = words
        self.covers = words(max_depth)

    @property
    def n_steps(self) -> int:
        """How many sums a search reads at most, where nothing is passed over.

        Of each table every choice of all attributes but the last, with a sum for each value of it.
        """
        return sum(
            math.prod(self._options[j] for j in attributes[:-1]) * self._sizes[attributes[-1]]
            for attributes in self._tables.combinations
        )

    def one_sided(self, sign: int) -> "ProductSearch":
        """Return the same products, of which only those with values of this sign count."""
        side = copy.copy(self)
        side._side = sign
        return side

    def worst(self, residuals: Array) -> Found:
        """Return the worst product for each residual; everyone, if none is worse than they are."""
        found = []
        for residual in residuals:
            hunt = self._hunt(residual)
            hunt.run()
            found.append(self._found(residual, hunt.known))
        values, members, keys = zip(*found, strict=True)
        return Found(np.concatenate(values), np.concatenate(members), np.concatenate(keys))

    def search(self, residual: Array, *, seconds: float = math.inf) -> Found:
        """Return the worst product that was found when the time was up."""
        return self.prove(residual, seconds=seconds).found

    def prove(
        self,
        residual: Array,
        *,
        at_most: float | None = None,
        seconds: float = math.inf,
    ) -> Bracket:
        """Search until nothing worse can be left, `at_most` is decided, or time runs out.

        If time runs out, `partial` has the numbers of conditions that were searched to the end.
        """
        hunt = self._hunt(residual)
        unit = as_whole(residual)[1]
        deadline = time.monotonic() + seconds
        if at_most is not None:
            # The least of the two first: in units so small, a large number is infinite.
            limit = max(0, math.floor(min(_MOST, at_most / unit)))
            if limit >= hunt.known.to_exceed:  # products up to it need no search
                hunt.known = _Known(limit)
            hunt.run(limit, seconds)
        found = self._found(residual, hunt.known)
        value = abs(float(found.values[0]))
        if at_most is None or (hunt.known.sign and value <= at_most):
            # Either there is no `at_most`, or it was exceeded in whole units only, by rounding.
            hunt.run(seconds=deadline - time.monotonic())
            found = self._found(residual, hunt.known)
            value = abs(float(found.values[0]))
        searched = value if at_most is None or value > at_most else max(at_most, 0.0)
        fewest_left = min(map(len, hunt.left), default=0)
        partial = [(self._words(k), searched) for k in range(1, fewest_left)]
        bounds = [unit * bound for bound in hunt.left.values()]
        return Bracket(found, max([searched, *bounds]), tuple(partial))

    def worst_of_size(
        self,
        residual: Array,
        rows: NDArray[np.intp],
        min_group_size: int,
        *,
        seconds: float = math.inf,
    ) -> Found | None:
        """Return the worst product with at least `min_group_size` rows in and out, or None."""
        check_cells(len(self._ranks[0]), rows)
        hunt = self._hunt(residual)
        hunt.only_of_size(rows, min_group_size)
        hunt.run(seconds=seconds)
        return self._found(residual, hunt.known) if hunt.known.sign else None

    def _hunt(self, residual: Array) -> _Hunt:
        check_cells(len(self._ranks[0]), residual)
        whole = as_whole(residual)[0]
        everyone = _Known()
        sign = int(np.sign(value_of_all(residual)))
        if sign and sign != -self._side:  # a product of no conditions at all
            everyone = _Known(abs(int(whole.sum())), sign=sign)
        return _Hunt(self._tables, whole, self._kinds, self._sizes, self._side, everyone)

    def _found(self, residual: Array, known: _Known) -> Found:
        """Decode the options of the worst product into its ranks, members and value."""
        key: list[Choice] = []
        members = np.ones(len(residual), dtype=bool)
        for level, j in enumerate(known.attributes):
            low, high = known.options[level].tolist()
            if self._kinds[j] != SET:
                ranks = tuple(range(low, high))
            elif level < len(known.attributes) - 1:
                ranks = tuple(v for v in range(self._sizes[j]) if low >> v & 1)
            else:
                # The last set is kept as a number of values in decreasing order of their sums over
                # the cells that meet the other conditions, equals in order as in the kernel.
                by_value = np.zeros(self._sizes[j], dtype=np.int64)
                np.add.at(by_value, self._ranks[j][members], as_whole(residual)[0][members])
                order = np.argsort(-known.sign * by_value, kind="stable")
                ranks = tuple(sorted(order[:low].tolist()))
            chosen = np.zeros(self._sizes[j], dtype=bool)
            chosen[list(ranks)] = True
            members &= chosen[self._ranks[j]]
            key.append((self._order[j], ranks))
        keys = np.empty(1, dtype=object)
        keys[0] = tuple(key)
        inside = members.astype(np.float64)
        value = float(residual @ inside)
        if not known.sign and self._side * value < 0:  # everyone is on the other side
            value = 0.0
            inside = np.zeros(len(residual))
        return Found(np.array([value]), inside[None], keys)


def conditions(count: int) -> str:
    """Put a number of conditions in words.

    >>> conditions(1), conditions(3)
    ('one condition', 'at most 3 conditions')
    """
    return "one condition" if count == 1 else f"at most {count} conditions"
