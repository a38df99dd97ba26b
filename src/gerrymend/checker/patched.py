"""Rows with scores that patches change, one after the other: each change is worked out anew.

A score is a float64, as it is deployed. What a patch makes of one is worked out in fractions, of
the decimal that the score prints as, and rounded once. The code that applies patches rounds after
each operation: a score may be another in its last digits, and no figure that is stated shows it.
Whether a score is in an interval could be decided by that rounding; then it is said, and nothing
after it is checked.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from gerrymend.checker.arguments import check_lengths, read_columns, read_weights
from gerrymend.checker.documents import PATCHES
from gerrymend.checker.exact import ZERO, Table, exact, weigh
from gerrymend.checker.form import NUMBER, Plain, is_number, unknown_fields, unlike
from gerrymend.checker.rules import RuleError, members
from gerrymend.checker.scores import read_happened, read_predicted, score_table

# A probability of 0 or 1 counts as so far from the end, or no factor would change its odds.
_EDGE = Fraction(1, 2**20)
# Digits of a power that is no fraction, before it is rounded to float64.
_DIGITS = 60
# So many steps of float64 from the end of an interval rounding may decide.
_NEAR = 8

_POSITIVE = Plain("a number above 0", lambda value: is_number(value) and value > 0)
_CHANGES = {
    "odds": {"kind": Plain("'odds'", "odds".__eq__), "factor": _POSITIVE, "power": _POSITIVE},
    "number": {"kind": Plain("'number'", "number".__eq__), "shift": NUMBER, "slope": _POSITIVE},
}


class RoundingError(Exception):
    """Raised where rounding decides whether a row is in an interval."""


def check_change(change: Mapping[str, Any], *, probabilities: bool) -> list[str]:
    """Return the unknown fields of a change; raise a ValueError if it is none of scores like these.

    >>> check_change({"kind": "number", "shift": 2.0, "slope": 1.0}, probabilities=False)
    []
    """
    kind = "odds" if probabilities else "number"
    if change.get("kind") != kind:
        raise unlike("patches.change.kind", repr(kind), change.get("kind"), PATCHES)
    return unknown_fields(change, _CHANGES[kind], "patches.change", PATCHES)


def is_line(change: Mapping[str, Any]) -> bool:
    """Return whether a change also stretches scores, as that of everyone does."""
    return bool(change["power" if change["kind"] == "odds" else "slope"] != 1)


def changed_by(change: Mapping[str, Any]) -> Callable[[float], float]:
    """Return what a change makes of a score.

    >>> changed_by({"kind": "odds", "factor": 3.0, "power": 1.0})(0.25)
    0.5
    >>> changed_by({"kind": "number", "shift": 2.0, "slope": 0.5})(5.0)
    4.5
    """
    if change["kind"] == "number":
        slope = exact(change["slope"])
        shift = exact(change["shift"])
        return lambda score: float(slope * exact(score) + shift)
    factor = exact(change["factor"])
    power = change["power"]

    def with_odds(score: float) -> float:
        happens = min(max(exact(score), _EDGE), 1 - _EDGE)
        fails = 1 - happens
        if power != 1:
            happens = _raised(happens, power)
            fails = _raised(fails, power)
        return float(factor * happens / (factor * happens + fails))

    return with_odds


def _raised(number: Fraction, power: float) -> Fraction:
    """Return a fraction to a power, to many more digits than float64 has.

    >>> float(_raised(Fraction(1, 4), 0.5))
    0.5
    """
    with localcontext(prec=_DIGITS):
        return Fraction((Decimal(number.numerator) / number.denominator) ** Decimal(repr(power)))


class Group(NamedTuple):
    """Sums over the rows of a patch: their number, weight, scores and what happened."""

    rows: int
    mass: Fraction
    predicted: Fraction
    happened: Fraction


@dataclass
class ScoredRows:
    """Rows that have weight, in their order: what happened, the score so far, and the cell.

    `columns` has the protected values by row, and `table` by cell, for rules; the cell of a row is
    its place there. Of all these only `scores` change; `moved` says of which rows they have.
    """

    columns: dict[str, tuple[bool, list[Any]]]
    happened: list[Fraction]
    weights: list[Fraction]
    scores: list[float]
    of_labels: bool
    moved: list[bool] = field(init=False)
    table: Table = field(init=False)
    cells: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """Sum the rows by protected values, in the order in which they are first seen."""
        self.moved = [False] * len(self.scores)
        keys = list(zip(*(values for _, values in self.columns.values()), strict=True))
        place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        self.cells = [place[key] for key in keys]
        self.table = self.summed({"unit": None if self.of_labels else ""})

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_pred: Any,
        sensitive_features: Any,
        sample_weight: Any,
        pos_label: Any,
        *,
        of_labels: bool,
    ) -> "ScoredRows":
        """Read the arguments of calibrate(); raise a ValueError or a TypeError that names one."""
        happened, _ = read_happened(y_true, pos_label, of_labels=of_labels)
        predicted = read_predicted(y_pred, of_labels=of_labels)
        columns = read_columns(sensitive_features)
        given = read_weights(sample_weight, len(predicted))
        check_lengths(columns, y_true=happened, y_pred=predicted, sample_weight=given)
        weights = [weigh(weight) for weight in given]
        rows = [row for row, weight in enumerate(weights) if weight > 0]
        if not rows:
            raise ValueError("sample_weight is zero in every row; pass at least one positive one.")
        return cls(
            {name: (is_number, [values[row] for row in rows])
             for name, (is_number, values) in columns.items()},
            [happened[row] for row in rows],
            [weights[row] for row in rows],
            [float(predicted[row]) for row in rows],
            of_labels,
        )  # fmt: skip

    def summed(self, notion: Mapping[str, Any]) -> Table:
        """Return the rows with their scores as they are, summed as a notion has them in bins."""
        predicted = [exact(score) for score in self.scores]
        return score_table(notion, self.happened, predicted, self.columns, self.weights)

    @property
    def total_weight(self) -> Fraction:
        """The weight of all rows."""
        return sum(self.weights, ZERO)

    @property
    def scale(self) -> Fraction:
        """The largest size of a score or of what happened, 1 at least: figures are held to it."""
        sizes = [abs(y) for y in self.happened] + [abs(exact(score)) for score in self.scores]
        return max([Fraction(1), *sizes])

    @property
    def squared_error(self) -> Fraction:
        """The mean squared error of the scores as they are."""
        squares = (
            weight * (y - exact(score)) ** 2
            for weight, y, score in zip(self.weights, self.happened, self.scores, strict=True)
        )
        return sum(squares, ZERO) / self.total_weight

    def inside(self, rule: Mapping[str, Any], low: float | None, high: float | None) -> list[int]:
        """Return the rows of a rule with low ≤ score < high, where None is no end.

        Raises a RuleError for a rule that can't be read, and a RoundingError.
        """
        in_cell = members_of_patch(rule, self.table)
        found = []
        for row, cell in enumerate(self.cells):
            if in_cell[cell]:
                score = self.scores[row]
                if self.moved[row] and any(_is_near(score, end) for end in (low, high)):
                    raise RoundingError
                if (low is None or low <= score) and (high is None or score < high):
                    found.append(row)
        return found

    def check_far_from(self, cuts: Sequence[float]) -> None:
        """Raise a RoundingError where a score that was changed is next to a cut."""
        scores = {score for score, moved in zip(self.scores, self.moved, strict=True) if moved}
        if any(_is_near(score, cut) for score in scores for cut in cuts):
            raise RoundingError

    def group(self, rows: Sequence[int]) -> Group:
        """Return the sums over some rows."""
        weights = [self.weights[row] for row in rows]
        return Group(
            len(rows),
            sum(weights, ZERO),
            sum((w * exact(self.scores[row]) for w, row in zip(weights, rows, strict=True)), ZERO),
            sum((w * self.happened[row] for w, row in zip(weights, rows, strict=True)), ZERO),
        )

    def apply(self, change: Mapping[str, Any], rows: Sequence[int]) -> None:
        """Change the scores of some rows; raise an ArithmeticError for one that has no number."""
        change_of = changed_by(change)
        known: dict[float, float] = {}  # rows of one score are many
        for row in rows:
            score = self.scores[row]
            if score not in known:
                known[score] = change_of(score)
            self.moved[row] = self.moved[row] or known[score] != score
            self.scores[row] = known[score]


def _is_near(score: float, end: float | None) -> bool:
    """Return whether rounding may decide on which side of an end a score is.

    >>> _is_near(0.1 + 0.2, 0.3), _is_near(0.3, 0.3), _is_near(0.31, 0.3)
    (True, False, False)
    """
    if end is None or score == end:
        return False
    return abs(score - end) <= _NEAR * math.ulp(max(abs(score), abs(end)))


def members_of_patch(rule: Mapping[str, Any], table: Table) -> list[bool]:
    """Return whether each cell is in, by the rule of a patch.

    It has more than that of a report: the name of a group that a user named, and the categories
    that a linear rule knows, of which others are out.
    """
    own = {name: part for name, part in rule.items() if name not in ("name", "levels")}
    inside = members(own, table)
    levels = rule.get("levels", {})
    if not isinstance(levels, Mapping) or ("levels" in rule and rule["kind"] != "linear"):
        raise RuleError("its rule has levels, and is not linear")
    if rule["kind"] == "linear" and not set(levels) <= set(table.attributes):
        raise RuleError("its linear rule has levels of other attributes than there are")
    for name, known in levels.items():
        attribute = table.attributes[name]
        if (known is None) != attribute.is_number:
            raise RuleError(f"its rule takes {name!r} for a number, or for none, wrongly")
        if known is not None:
            inside = [
                member and _is_known(value, known)
                for member, value in zip(inside, attribute.values, strict=True)
            ]
    return inside


def _is_known(value: Any, known: Any) -> bool:
    """Return whether a category is among those of a linear rule, some of which may be all others.

    >>> _is_known("a", ["b", {"other_than": ["b"]}]), _is_known("a", ["b"])
    (True, False)
    """
    if not isinstance(known, list | tuple):
        raise RuleError(f"its rule has {known!r}, where a list of categories is wanted")
    others = [one for one in known if isinstance(one, Mapping)]
    for one in others:
        if set(one) != {"other_than"} or not isinstance(one["other_than"], list | tuple):
            raise RuleError(f"its rule has {one!r}, where a category is wanted")
    told = [one for one in known if not isinstance(one, Mapping)]
    return value in told or any(value not in one["other_than"] for one in others)
