"""The worst product of conditions, each on another attribute: exact, with bounds on the way.

Every combination of attributes has its table, and each table its depth-first search
(`_product_kernel`). All searches share the worst that is known. Those that turn out long are put
off until every table was seen, and then taken up again, the most promising first.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array, Whole, as_whole
from gerrymend.subgroups.base import BoundClass, Bracket, Found, RuleSource, check_cells
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

# Table entries to visit in one call: short enough for a deadline, and for Ctrl-C, to be noticed.
_STRETCH = 20_000_000

# More than any sum of whole numbers, or of rows.
_MOST = 2**62

_KINDS = {"category": CATEGORY, "interval": INTERVAL, "half_line": HALF_LINE, "set": SET}

# A condition: the attribute's position, and the ranks that meet it.
Choice = tuple[int, tuple[int, ...]]
Key = tuple[Choice, ...]


def n_options(kind: str, size: int) -> int:
    """Number of conditions on an attribute of so many values.

    >>> [n_options(kind, 4) for kind in ("category", "half_line", "interval", "set")]
    [4, 6, 10, 15]
    """
    if kind == "interval":
        return size * (size + 1) // 2
    return {"category": size, "half_line": 2 * (size - 1), "set": 2**size - 1}[kind]


@dataclass(frozen=True)
class ProductRules:
    """From the ranks that were chosen to a rule in the user's units."""

    scales: tuple[Scale, ...]

    def rule(self, key: Key) -> Conjunction:
        """The conjunction of the choices, in the order of the user's columns."""
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
    """What a search knows so far: the worst, and what bounds the rest.

    `to_exceed` is its |value|, or the value that matters if that is more. The worst of all is
    kept by its options; between equals the one with fewer conditions.
    """

    to_exceed: int = 0
    attributes: tuple[int, ...] = ()
    sign: int = 0
    options: Whole = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    def threshold(self, n_conditions: int) -> int:
        """What a product of so many conditions must exceed to be kept."""
        simpler = self.sign != 0 and n_conditions < len(self.attributes)
        return self.to_exceed - simpler


class _Search:
    """The search of one table, which can be left and taken up again."""

    def __init__(self, table: Table, kinds: Sequence[int], sizes: Sequence[int]) -> None:
        self.attributes = table.attributes
        self._kinds = np.array([kinds[j] for j in table.attributes])
        self._sizes = np.array([sizes[j] for j in table.attributes])
        self._levels, depth = table.levels, len(table.attributes)
        rest = np.zeros(int(table.levels.start[-1] - table.levels.start[1]), dtype=np.int64)
        self._w = np.concatenate([table.sums[0], rest])
        self._rows = np.concatenate([table.sums[1], rest]) if len(table.sums) > 1 else rest[:0]
        self._level, self._sums = 0, np.zeros((depth, 3), dtype=np.int64)
        self._left = np.zeros((depth, 2), dtype=np.int64)
        self._sweeps, self._steps = np.zeros((2, depth), dtype=np.int64)
        start_search(
            self._levels.start, self._w, self._rows, self._sums, self._left, self._sweeps,
            self._steps,
        )  # fmt: skip

    @property
    def bound(self) -> int:
        """What no product that is still to be visited exceeds."""
        return int(self._left[0].max())

    def go_on(self, known: _Known, limits: tuple[int, int]) -> bool:
        """Search a stretch further; whether there is nothing left that could be worse."""
        threshold = known.threshold(len(self.attributes))
        if self.bound <= threshold:
            return True
        best, options = np.array([threshold, 0]), np.zeros((len(self.attributes), 2), np.int64)
        first, child, start = self._levels
        self._level = continue_search(
            self._kinds, self._sizes, first, child, start, self._w, self._rows, limits,
            self._level, self._sums, self._left, self._sweeps, self._steps, best, options,
            _STRETCH,
        )  # fmt: skip
        if best[1] != 0:
            known.to_exceed, known.sign = best.tolist()
            known.attributes, known.options = self.attributes, options
        return self._level < 0 or self.bound <= known.threshold(len(self.attributes))


class _Hunt:
    """The searches of all tables for one residual. `left` bounds those that are not done."""

    def __init__(
        self, tables: Tables, w: Whole, kinds: Sequence[int], sizes: Sequence[int]
    ) -> None:
        self._tables, self._kinds, self._sizes = tables, kinds, sizes
        self._values, self._limits = [w], (0, _MOST)
        self.known = _Known()
        # No set of cells takes more than all that is positive, or all that is negative.
        most = int(max(np.maximum(w, 0).sum(), np.maximum(-w, 0).sum()))
        self.left = dict.fromkeys(tables.combinations, most)

    def only_of_size(self, rows: NDArray[np.intp], smallest: int) -> None:
        """Products with at least so many rows in and out; even one that does not differ."""
        self._values.append(rows.astype(np.int64))
        self._limits = (smallest, int(rows.sum()) - smallest)
        self.known.to_exceed = -1

    def run(self, at_most: int = _MOST, seconds: float = math.inf) -> None:
        """Until nothing is left, or something exceeds `at_most`, or time is up."""
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
        """Each search once; then those that are left to their end, the most promising first."""
        for table in self._tables.of(self._values):
            yield _Search(table, self._kinds, self._sizes)
        for subset in sorted(self.left, key=lambda one: -self.left[one]):
            search = _Search(self._tables.one(subset, self._values), self._kinds, self._sizes)
            while subset in self.left:
                yield search


class ProductSearch(BoundClass):
    """Products of one condition an attribute, of at most `max_depth` attributes.

    `words` says what the class is, given a number of conditions.
    """

    exact = True

    def __init__(
        self,
        axes: Sequence[Axis],
        kinds: Sequence[str],
        max_depth: int,
        words: Callable[[int], str],
    ) -> None:
        # The last attribute of a table costs its values only, not its options: it has the most.
        options = [n_options(kind, axis.scale.size) for kind, axis in zip(kinds, axes, strict=True)]
        self._order = sorted(range(len(axes)), key=lambda j: options[j])
        self._ranks = [axes[j].rank for j in self._order]
        self._kinds = [_KINDS[kinds[j]] for j in self._order]
        self._sizes = [axes[j].scale.size for j in self._order]
        self._tables = Tables(self._ranks, self._sizes, max_depth)
        self._source = ProductRules(tuple(axis.scale for axis in axes))
        self._max_depth, self._words = max_depth, words

    @property
    def source(self) -> RuleSource:
        """What turns keys into rules."""
        return self._source

    @property
    def covers(self) -> str:
        """The class in words."""
        return self._words(self._max_depth)

    def worst(self, residuals: Array) -> Found:
        """The worst product, for each residual; everyone, where none differs."""
        found = []
        for residual in residuals:
            hunt = self._hunt(residual)
            hunt.run()
            found.append(self._found(residual, hunt.known))
        values, members, keys = zip(*found, strict=True)
        return Found(np.concatenate(values), np.concatenate(members), np.concatenate(keys))

    def prove(
        self, residual: Array, *, at_most: float | None = None, seconds: float = math.inf
    ) -> Bracket:
        """Search until nothing is left that could be worse, or time is up."""
        hunt, unit = self._hunt(residual), as_whole(residual)[1]
        deadline = time.monotonic() + seconds
        if at_most is not None:  # what is below needs no search
            hunt.known.to_exceed = min(_MOST, max(0, math.floor(at_most / unit)))
            hunt.run(hunt.known.to_exceed, seconds)
        found = self._found(residual, hunt.known)
        value = abs(float(found.values[0]))
        if at_most is None or (hunt.known.sign and value <= at_most):
            # Nothing is to be exceeded; or something was in whole units, by their rounding alone.
            hunt.run(seconds=deadline - time.monotonic())
            found = self._found(residual, hunt.known)
            value = abs(float(found.values[0]))
        searched = value if at_most is None or value > at_most else max(at_most, 0.0)
        fewest_left = min(map(len, hunt.left), default=0)
        partial = [(self._words(k), searched) for k in range(1, fewest_left)]
        bounds = [unit * bound for bound in hunt.left.values()]
        return Bracket(found, max([searched, *bounds]), tuple(partial))

    def worst_of_size(self, residual: Array, rows: NDArray[np.intp], smallest: int) -> Found | None:
        """The worst of the products with enough rows in and out."""
        check_cells(len(self._ranks[0]), rows)
        hunt = self._hunt(residual)
        hunt.only_of_size(rows, smallest)
        hunt.run()
        return self._found(residual, hunt.known) if hunt.known.sign else None

    def _hunt(self, residual: Array) -> _Hunt:
        check_cells(len(self._ranks[0]), residual)
        return _Hunt(self._tables, as_whole(residual)[0], self._kinds, self._sizes)

    def _found(self, residual: Array, known: _Known) -> Found:
        key: list[Choice] = []
        members = np.ones(len(residual), dtype=bool)
        for level, j in enumerate(known.attributes):
            low, high = known.options[level].tolist()
            if self._kinds[j] != SET:
                ranks = tuple(range(low, high))
            elif level < len(known.attributes) - 1:
                ranks = tuple(v for v in range(self._sizes[j]) if low >> v & 1)
            else:
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
        return Found(np.array([residual @ inside]), inside[None], keys)


def conditions(count: int) -> str:
    """So many conditions, in words.

    >>> conditions(1), conditions(3)
    ('one condition', 'at most 3 conditions')
    """
    return "one condition" if count == 1 else f"at most {count} conditions"
