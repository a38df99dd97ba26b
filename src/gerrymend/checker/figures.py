"""The rates of a group, without rounding, and the notions by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

from gerrymend.checker.exact import ZERO, Table, exact

# A notion by the labels that count: the outcome of a row decided 0, and of one decided 1.
Outcomes = dict[int, tuple[Fraction, Fraction]]

# A stated figure is a float64 that was summed and divided in float64. Audits sum on a grid that,
# for a million rows, moves a sum by no more than some 10⁻¹⁰ of it, and figures are shown to 4
# digits: what is off by more than this is no rounding, and what is off by less misleads no one.
TOLERANCE = Fraction(1, 10**9)

_NO, _YES = Fraction(0), Fraction(1)
NOTIONS: dict[str, Outcomes] = {
    "false_positive_rate": {0: (_NO, _YES)},
    "false_negative_rate": {1: (_YES, _NO)},
    "statistical_parity": {0: (_NO, _YES), 1: (_NO, _YES)},
    "error_rate": {0: (_NO, _YES), 1: (_YES, _NO)},
}


def shown(value: Fraction | int | None) -> str:
    """A fraction as it is where that is short, and otherwise its first digits."""
    if value is None or len(str(value)) <= 12:
        return str(value)
    return f"{float(value):.15g}"


def outcomes_of(stated: Mapping[str, Any]) -> Outcomes:
    """A notion from its plain data: u = a(y) + b(y)·p for the labels of the event.

    >>> outcomes_of({"event": [True, False], "a": [0.0, 0.0], "b": [1.0, 1.0]})
    {0: (Fraction(0, 1), Fraction(1, 1))}
    """
    return {
        y: (exact(stated["a"][y]), exact(stated["a"][y]) + exact(stated["b"][y]))
        for y in (0, 1)
        if stated["event"][y]
    }


class Figures(NamedTuple):
    """What a report states of a subgroup, and the rows that count inside and outside."""

    size: int
    share: Fraction
    rate: Fraction
    overall_rate: Fraction
    unfairness: Fraction
    gap: Fraction
    ratio: Fraction | None
    rows_inside: int
    rows_outside: int


@dataclass(frozen=True)
class Measured:
    """A table as one notion sees it: by cell the rows that count, their weight and outcomes."""

    table: Table
    rows: list[int]
    mass: list[Fraction]
    outcome: list[Fraction]
    scale: Fraction

    @classmethod
    def of(cls, outcomes: Outcomes, table: Table) -> "Measured":
        """Sum over the labels that count."""

        def outcome(cell: int, y: int) -> Fraction:
            decided_0, decided_1 = outcomes[y]
            positive = table.positive[cell][y]
            return decided_0 * (table.weight[cell][y] - positive) + decided_1 * positive

        cells = range(len(table))
        counted = table.rows if table.weighty is None else table.weighty
        return cls(
            table=table,
            rows=[sum(counted[cell][y] for y in outcomes) for cell in cells],
            mass=[sum((table.weight[cell][y] for y in outcomes), ZERO) for cell in cells],
            outcome=[sum((outcome(cell, y) for y in outcomes), ZERO) for cell in cells],
            scale=max(_YES, *(abs(value) for pair in outcomes.values() for value in pair)),
        )

    @property
    def active(self) -> list[int]:
        """Cells with weight in the event."""
        return [cell for cell, mass in enumerate(self.mass) if mass > 0]

    @property
    def overall_rate(self) -> Fraction:
        """The rate over all rows that count."""
        return sum(self.outcome, ZERO) / sum(self.mass, ZERO)

    def figures(self, inside: Sequence[bool]) -> Figures:
        """The figures of a group of cells."""
        cells = [cell for cell, member in enumerate(inside) if member]
        mass = sum((self.mass[cell] for cell in cells), ZERO)
        overall = self.overall_rate
        rate = sum((self.outcome[cell] for cell in cells), ZERO) / mass if mass else overall
        share = mass / self.table.total_weight
        counted = sum(self.rows[cell] for cell in cells)
        return Figures(
            size=sum(sum(self.table.rows[cell]) for cell in cells),
            share=share,
            rate=rate,
            overall_rate=overall,
            unfairness=share * (rate - overall),
            gap=rate - overall,
            ratio=rate / overall if overall else None,
            rows_inside=counted,
            rows_outside=sum(self.rows) - counted,
        )

    def residuals(self) -> tuple[list[int], Fraction]:
        """Of each active cell what it adds to a group's unfairness, in whole numbers of a unit."""
        overall, total = self.overall_rate, self.table.total_weight
        exactly = [(self.outcome[c] - overall * self.mass[c]) / total for c in self.active]
        scale = lcm(*(value.denominator for value in exactly))
        return [int(value * scale) for value in exactly], Fraction(1, scale)

    def worst(self, groups: set[int]) -> Fraction:
        """The largest |unfairness| of some sets of active cells, each a bit."""
        residuals, unit = self.residuals()
        eights = [_sums(residuals[i : i + 8]) for i in range(0, len(residuals), 8)]

        def value(group: int) -> int:
            parts = group.to_bytes(len(eights), "little")
            return sum(sums[part] for sums, part in zip(eights, parts, strict=True))

        return max((abs(value(group)) for group in groups), default=0) * unit

    def worst_of_any_rows(self) -> Fraction:
        """No set of cells has a larger |unfairness|: all that is positive, which sums to this."""
        residuals, unit = self.residuals()
        return sum(value for value in residuals if value > 0) * unit


def _sums(values: Sequence[int]) -> list[int]:
    """The sum of every subset, by its bits.

    >>> _sums([1, 10])
    [0, 1, 10, 11]
    """
    sums = [0]
    for value in values:
        sums += [one + value for one in sums]
    return sums
