"""Rates and unfairness of groups without rounding, and the notions by name."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import lcm
from typing import Any, NamedTuple

from gerrymend.checker.exact import ZERO, Table, exact

# A notion by the labels that count: the outcome of a row decided 0, and of one decided 1.
Outcomes = dict[int, tuple[Fraction, Fraction]]

# A stated figure is a float64 that was summed and divided in float64. Audits sum on a grid that,
# for a million rows, moves a sum by no more than some 10⁻¹⁰ of it, and figures are shown to 4
# digits: what is off by more than this is no rounding, and what is off by less misleads no one.
TOLERANCE = Fraction(1, 10**9)
# By how much a report lets a number exceed another one before it says so, where outcomes are of
# size 1 as in rates.
ROUNDING = Fraction(1, 10**12)

_STATED = ("size", "share", "rate", "overall_rate", "rest_rate", "unfairness", "gap", "ratio")
# What reports of before don't state of a subgroup.
_LATER = "rest_rate"
# Outcomes of a rate that counts decisions or errors.
_NO = Fraction(0)
_YES = Fraction(1)
NOTIONS: dict[str, Outcomes] = {
    "false_positive_rate": {0: (_NO, _YES)},
    "false_negative_rate": {1: (_YES, _NO)},
    "statistical_parity": {0: (_NO, _YES), 1: (_NO, _YES)},
    "error_rate": {0: (_NO, _YES), 1: (_YES, _NO)},
}


# What float64, and so a report, can hold.
_LARGEST = Fraction(sys.float_info.max)


def shown(value: Fraction | int | None) -> str:
    """Return a fraction as text: itself where that is short, and otherwise 15 digits.

    >>> shown(Fraction(1, 8)), shown(Fraction(1, 3**30)), shown(-(10**400))
    ('1/8', '4.85693574961886e-15', '-1e400 or so')
    """
    if value is None or len(str(value)) <= 12:
        return str(value)
    size: Fraction = abs(Fraction(value))
    if size > _LARGEST:
        return f"{'-' * (value < 0)}1e{len(str(int(size))) - 1} or so"
    return f"{float(value):.15g}"


def rounding_of(largest: Fraction) -> Fraction:
    """Return what reports take for rounding, by the largest size of what they average.

    >>> rounding_of(Fraction(1)) == ROUNDING, rounding_of(Fraction(2, 100)) * 10**14
    (True, Fraction(10, 1))
    """
    power = Fraction(1)
    while power < largest:
        power *= 10
    while 0 < largest <= power / 10:
        power /= 10
    return ROUNDING * power


def outcomes_of(stated: Mapping[str, Any]) -> Outcomes:
    """Return a notion's outcomes from its plain data: u = a(y) + b(y)·p for labels in the event.

    >>> outcomes_of({"event": [True, False], "a": [0.0, 0.0], "b": [1.0, 1.0]})
    {0: (Fraction(0, 1), Fraction(1, 1))}
    """
    return {
        y: (exact(stated["a"][y]), exact(stated["a"][y]) + exact(stated["b"][y]))
        for y in (0, 1)
        if stated["event"][y]
    }


def rate_of(stated: Mapping[str, Any]) -> str:
    """Return the name of a notion without the class that it is of.

    >>> rate_of({"name": "error_rate[a]", "class": "a"}), rate_of({"name": "x[a]", "class": None})
    ('error_rate', 'x[a]')
    """
    if stated["class"] is None:
        return str(stated["name"])
    return str(stated["name"]).removesuffix(f"[{stated['class']}]")


def same_notion(stated: Mapping[str, Any]) -> bool | None:
    """Return whether a notion with a known name is what it is called, None for an unknown name.

    >>> same_notion({"name": "error_rate", "class": None, "event": [True, True],
    ...              "a": [0, 0], "b": [1, 1]})
    False
    """
    known = NOTIONS.get(rate_of(stated))
    return None if known is None else known == outcomes_of(stated)


class Figures(NamedTuple):
    """Hold the figures of a subgroup, and the rows in the event inside and outside of it."""

    size: int
    share: Fraction
    rate: Fraction
    overall_rate: Fraction
    unfairness: Fraction
    gap: Fraction
    ratio: Fraction | None
    rest_rate: Fraction | None
    rows_inside: int
    rows_outside: int


class Sums(NamedTuple):
    """Hold sums over some rows in the event: their number, weight, squared weight and outcomes.

    Of numbers, `first` and `second` are those of outcomes and of their squares, by squared weight.
    """

    rows: int
    mass: Fraction
    squares: Fraction
    outcome: Fraction
    first: Fraction = ZERO
    second: Fraction = ZERO

    def without(self, other: "Sums") -> "Sums":
        """Return the sums over the rest, where the other rows are some of these.

        >>> Sums(10, Fraction(10), Fraction(10), Fraction(4)).without(
        ...     Sums(3, Fraction(3), Fraction(3), Fraction(1)))[:4]
        (7, Fraction(7, 1), Fraction(7, 1), Fraction(3, 1))
        """
        return Sums(
            self.rows - other.rows,
            self.mass - other.mass,
            self.squares - other.squares,
            self.outcome - other.outcome,
            self.first - other.first,
            self.second - other.second,
        )


@dataclass(frozen=True)
class Measured:
    """Hold a table as one notion sees it: the rows in its event, weight and outcomes by cell.

    `squares` are squared weights. Outcomes are between `lowest` and `span` more than that, and
    none is larger than `scale`; whole decisions give `kinds` different ones. With a `reference` of
    the notion's own groups are compared with that: a number, or `factor` times the rate of the
    cells that are `compared` with. Of scores outcomes are errors, and `predicted` what scores sum
    to: rates are what happened, and what was predicted.
    """

    table: Table
    rows: list[int]
    mass: list[Fraction]
    outcome: list[Fraction]
    squares: list[Fraction]
    scale: Fraction
    lowest: float
    span: float
    kinds: int = 2
    strata: "tuple[Measured, ...]" = ()
    reference: Fraction | None = None
    factor: Fraction = _YES
    compared: list[bool] | None = None
    predicted: list[Fraction] | None = None

    @classmethod
    def of(cls, outcomes: Outcomes, table: Table) -> "Measured":
        """Return the sums of a table over the labels in a notion's event.

        A row's outcome is between those of deciding 0 and of deciding 1, by its probability.
        """

        def outcome(cell: int, y: int) -> Fraction:
            decided_0, decided_1 = outcomes[y]
            positive = table.positive[cell][y]
            return decided_0 * (table.weight[cell][y] - positive) + decided_1 * positive

        strata = (cls.of(outcomes, part) for part in table.strata.values())
        cells = range(len(table))
        counted = table.rows if table.weighty is None else table.weighty
        squares = table.squared_weight
        # A report may state a notion that counts no label.
        ends = [value for pair in outcomes.values() for value in pair] or [ZERO]
        if table.spread is not None:
            ends = list(table.ends)
        return cls(
            table=table,
            rows=[sum(counted[cell][y] for y in outcomes) for cell in cells],
            mass=[sum((table.weight[cell][y] for y in outcomes), ZERO) for cell in cells],
            outcome=[sum((outcome(cell, y) for y in outcomes), ZERO) for cell in cells],
            squares=[sum((squares[cell][y] for y in outcomes), ZERO) for cell in cells],
            scale=max(map(abs, ends)) or _YES,
            lowest=float(min(ends)),
            span=float(max(ends) - min(ends)) or 1.0,
            kinds=len(set(ends)),
            predicted=table.predicted,
            # One without rows that count has no part in any sum.
            strata=tuple(stratum for stratum in strata if stratum.active),
        )

    @property
    def rounding(self) -> Fraction:
        """Return what a report takes for rounding in an unfairness."""
        return rounding_of(self.scale)

    @cached_property
    def active(self) -> list[int]:
        """Cells with weight in the event, in order."""
        return [cell for cell, mass in enumerate(self.mass) if mass > 0]

    @cached_property
    def overall_rate(self) -> Fraction:
        """Rate over all rows in the event."""
        return self.everyone.outcome / self.everyone.mass + self.score([True] * len(self.rows))

    def score(self, inside: Sequence[bool]) -> Fraction:
        """Return what was predicted for some cells, on average; 0 where there are no scores."""
        mass = sum(compress(self.mass, inside), ZERO)
        if self.predicted is None or not mass:
            return ZERO
        return sum(compress(self.predicted, inside), ZERO) / mass

    @cached_property
    def _whole(self) -> list[tuple[list[int], int]]:
        """Weights, squared weights and outcomes as whole numbers, each with its denominator.

        Sums of whole numbers need no common denominator for each addition, as sums of fractions do.
        """

        def whole(values: list[Fraction]) -> tuple[list[int], int]:
            scale = lcm(*(value.denominator for value in values))
            return [int(value * scale) for value in values], scale

        parts = [self.mass, self.squares, self.outcome]
        if (spread := self.table.spread) is not None:
            parts += [[by_label[1][power] for by_label in spread] for power in (0, 1)]
        return [whole(part) for part in parts]

    @cached_property
    def everyone(self) -> Sums:
        """Sums over all rows in the event."""
        return self.sums([True] * len(self.rows))

    def sums(self, inside: Sequence[bool]) -> Sums:
        """Return the sums over the cells for which `inside` is true."""
        of_weight = (
            Fraction(sum(compress(values, inside)), scale) for values, scale in self._whole
        )
        return Sums(sum(compress(self.rows, inside)), *of_weight)

    def figures(self, inside: Sequence[bool]) -> Figures:
        """Return the figures of the cells for which `inside` is true.

        A group without rows in the event has the overall rate, and no unfairness.
        """
        counted, mass, _, outcome, *_ = self.sums(inside)
        overall = self.overall_rate if self.reference is None else self.reference
        if self.strata and mass:
            overall = sum(compress(self.expected, inside), ZERO) / mass
        rate = outcome / mass if mass else overall
        score = self.score(inside)
        rate += score
        overall += score
        share = mass / self.table.total_weight
        others = self.everyone.mass - mass
        rest = None
        if others and self.reference is None and not self.strata:
            rest = (self.everyone.outcome - outcome) / others
        return Figures(
            size=sum(map(sum, compress(self.table.rows, inside))),
            share=share,
            rate=rate,
            overall_rate=overall,
            unfairness=share * (rate - overall),
            gap=rate - overall,
            ratio=rate / overall if overall and abs(rate / overall) <= _LARGEST else None,
            rest_rate=rest,
            rows_inside=counted,
            rows_outside=self.everyone.rows - counted,
        )

    @cached_property
    def expected(self) -> list[Fraction]:
        """Outcomes that each cell would have at the rates of its rows' strata, or overall.

        Or at the reference of the notion's own.
        """
        if self.reference is not None:
            return [self.reference * mass for mass in self.mass]
        parts = self.strata or (self,)
        return [
            sum((part.overall_rate * part.mass[cell] for part in parts), ZERO)
            for cell in range(len(self.mass))
        ]

    @cached_property
    def residuals(self) -> tuple[list[int], Fraction]:
        """Contributions of each active cell to a group's unfairness, in whole numbers of a unit.

        (Σ outcome − what is expected) / total weight over a group is share·(rate − overall), its
        unfairness.
        """
        total = self.table.total_weight
        exactly = [(self.outcome[c] - self.expected[c]) / total for c in self.active]
        scale = lcm(*(value.denominator for value in exactly))
        return [int(value * scale) for value in exactly], Fraction(1, scale)

    def worst(self, groups: set[int], sign: int = 0) -> Fraction:
        """Return the largest |unfairness| of some sets of active cells, each given as bits.

        With a sign, 1 or −1, only sets whose unfairness has it count.
        """
        residuals, unit = self.residuals
        # Sums of all 256 subsets of every 8 cells: a set then costs a lookup a byte, not a sum a
        # cell.
        eights = [_sums(residuals[i : i + 8]) for i in range(0, len(residuals), 8)]

        def value(group: int) -> int:
            parts = group.to_bytes(len(eights), "little")
            return sum(sums[part] for sums, part in zip(eights, parts, strict=True))

        sums = map(value, groups)
        sizes = (sign * total if sign else abs(total) for total in sums)
        return max(0, max(sizes, default=0)) * unit

    def worst_of_any_rows(self, sign: int = 0) -> Fraction:
        """Return the largest |unfairness| of any set of cells, or that of one sign.

        It is the sum of all positive residuals, or of all negative ones. Compared with the overall
        rate they sum to 0 over everyone, so that one reaches as far as the other.
        """
        residuals, unit = self.residuals
        above = sum(value for value in residuals if value > 0)
        below = -sum(value for value in residuals if value < 0)
        return {0: max(above, below), 1: above, -1: below}[sign] * unit


def wrong_figures(
    stated: Mapping[str, Any], figures: Figures, scale: Fraction, names: Sequence[str] = _STATED
) -> Iterator[str]:
    """Yield a sentence for each stated figure of a subgroup that is not that of its rows."""
    for name in names:
        value = getattr(figures, name)
        if name == _LATER and name not in stated:
            continue
        tolerance = TOLERANCE * {"size": ZERO, "share": _YES}.get(name, scale)
        if value is None or stated[name] is None:
            if value is not stated[name]:
                yield f"its {name} is stated as {stated[name]!r}, and is {shown(value)}."
            continue
        if name == "ratio":
            # A quotient of two figures that are each as near as that.
            tolerance = tolerance * (1 + abs(value)) / abs(figures.overall_rate)
        if abs(exact(stated[name]) - value) > tolerance:
            yield f"its {name} is stated as {stated[name]!r}, and is {shown(value)}."


def later_fields(described: Sequence[Mapping[str, Any]]) -> str:
    """Return the fields that some of these subgroups don't state, as reports of before don't.

    >>> later_fields([{"rest_rate": 0.5}])
    ''
    """
    if all(_LATER in one for one in described):
        return ""
    places = ("worst", "top", "disadvantaged", "favoured", "in_a_sentence.subgroup", "core",
              "sharpest.subgroup", "held_out.subgroup", "held_out.others.subgroup")  # fmt: skip
    return " ".join(f"{place}.{_LATER}" for place in places)


def _sums(values: Sequence[int]) -> list[int]:
    """Return the sum of every subset, indexed by its bits.

    >>> _sums([1, 10])
    [0, 1, 10, 11]
    """
    sums = [0]
    for value in values:
        sums += [one + value for one in sums]
    return sums
