"""Outcomes of numbers as formulas, which an engine can compute where the rows are.

An outcome is a function of arrays. Called with columns that record what is done to them it returns
a formula, unless it does what engines do differently, or not at all.
"""

import operator
from collections.abc import Callable
from numbers import Real
from typing import Any

import narwhals as nw

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.held_numbers import is_lost
from gerrymend.inputs.numbers import short
from gerrymend.notions import OutcomeNotion


class _LostError(Exception):
    """Tell of a constant that float64, in which engines compute, does not hold."""


class Formula:
    """Record what is done to columns of float64, or to masks of them.

    These are sums, differences and products, squares, sizes (`abs`) and comparisons, of which
    IEEE 754 leaves nothing open; of masks `&`, `|` and `~`. All else raises a TypeError: means and
    roundings are not the same everywhere, nor are quotients (Polars multiplies by the reciprocal,
    and not all divide by 0), and NumPy's functions of arrays can't be recorded.
    """

    # NumPy's scalars leave their operators to these, and its functions raise a TypeError.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: nw.Expr, is_mask: bool = False) -> None:
        self.expression = expression
        self.is_mask = is_mask

    def __bool__(self) -> bool:
        raise TypeError("whether a column is true depends on its rows")

    def _with(self, other: Any, made: Callable[[Any, Any], Any], *, is_mask: bool) -> "Formula":
        """Combine two columns of numbers, or a column and a number."""
        if isinstance(other, Formula):
            return Formula(made(self._numbers, other._numbers), is_mask)
        if not isinstance(other, Real) or isinstance(other, bool):
            raise TypeError(f"{other!r} is no number")
        # Not `held`: its error would be taken for that of a function that is no formula.
        if is_lost(other):
            raise _LostError(short(other))
        return Formula(made(self._numbers, float(other)), is_mask)

    @property
    def _numbers(self) -> nw.Expr:
        if self.is_mask:
            raise TypeError("a mask is no number")
        return self.expression

    def _and(self, other: Any, made: Callable[[Any, Any], Any]) -> "Formula":
        """Combine two masks."""
        if not (self.is_mask and isinstance(other, Formula) and other.is_mask):
            raise TypeError("two masks are combined")
        return Formula(made(self.expression, other.expression), True)

    def __add__(self, other: Any) -> "Formula":
        return self._with(other, operator.add, is_mask=False)

    def __sub__(self, other: Any) -> "Formula":
        return self._with(other, operator.sub, is_mask=False)

    def __rsub__(self, other: Any) -> "Formula":
        return self._with(other, lambda mine, its: its - mine, is_mask=False)

    def __mul__(self, other: Any) -> "Formula":
        return self._with(other, operator.mul, is_mask=False)

    __radd__ = __add__
    __rmul__ = __mul__

    def __pow__(self, power: Any) -> "Formula":
        if power != 2:
            raise TypeError("other powers than squares are rounded differently")
        return self * self

    def __neg__(self) -> "Formula":
        return self * -1.0

    def __abs__(self) -> "Formula":
        return Formula(self._numbers.abs())

    def __lt__(self, other: Any) -> "Formula":
        return self._with(other, operator.lt, is_mask=True)

    def __le__(self, other: Any) -> "Formula":
        return self._with(other, operator.le, is_mask=True)

    def __gt__(self, other: Any) -> "Formula":
        return self._with(other, operator.gt, is_mask=True)

    def __ge__(self, other: Any) -> "Formula":
        return self._with(other, operator.ge, is_mask=True)

    def __eq__(self, other: object) -> "Formula":  # type: ignore[override]
        return self._with(other, operator.eq, is_mask=True)

    def __ne__(self, other: object) -> "Formula":  # type: ignore[override]
        return self._with(other, operator.ne, is_mask=True)

    def __and__(self, other: Any) -> "Formula":
        return self._and(other, operator.and_)

    def __or__(self, other: Any) -> "Formula":
        return self._and(other, operator.or_)

    def __invert__(self) -> "Formula":
        if not self.is_mask:
            raise TypeError("a mask is inverted")
        return Formula(~self.expression, True)


def formulas_of(notion: OutcomeNotion, y: Any, p: Any) -> tuple[nw.Expr, nw.Expr | None] | None:
    """Return the outcome and the event of a notion as expressions, or None if they are no formulas.

    `y` and `p` are expressions of the columns, `y` None where rows have no labels. The event is
    None where all rows count.

    >>> from gerrymend.notions import MEAN_ERROR
    >>> formulas_of(MEAN_ERROR, nw.col("true"), nw.col("predicted")) is None
    False
    >>> ranks = OutcomeNotion("rank", lambda y, p: p.argsort())
    >>> formulas_of(ranks, nw.col("true"), nw.col("predicted")) is None
    True
    """
    columns = [None if column is None else Formula(column) for column in (y, p)]
    try:
        outcome = notion.outcome(*columns)
        event = None if notion.event is None else notion.event(*columns)
    except _LostError as lost:
        raise ArgumentError(
            "notion",
            f"{notion.name!r} computes with {lost}, a number that float64 does not hold: it would "
            "be rounded. Subtract a constant from the columns, and from it.",
        ) from None
    except Exception:  # whatever it is, the function will tell when it is called with arrays
        return None
    if not isinstance(outcome, Formula) or outcome.is_mask:
        return None
    if event is None:
        return outcome.expression, None
    if not isinstance(event, Formula) or not event.is_mask:
        return None
    return outcome.expression, event.expression
