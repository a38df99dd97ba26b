"""Changes of scores: the odds of a probability times a factor, or a number plus a shift.

Both are monotone, so that within a subgroup and an interval no two rows change places. Odds keep
probabilities inside of (0, 1), where a constant that is added would have to be cut off: of scores
of rare events it makes zeros.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.inputs.held_numbers import held

# A probability of 0 or 1 has no odds that a factor changes: it counts as so far from the end.
_EDGE = 2.0**-20
# Newton's steps are few; the logarithms of odds that can matter are within ± this.
_MOST_STEPS = 100
_MOST_LOG_ODDS = 40.0
# Of a step that is smaller nothing is left in a score.
_NO_STEP = 1e-13


def log_odds(score: Array) -> Array:
    """Return the logarithms of the odds of probabilities.

    >>> log_odds(np.array([0.5, 0.75])).round(4).tolist()
    [0.0, 1.0986]
    """
    inside = np.clip(score, _EDGE, 1 - _EDGE)
    found: Array = np.log(inside / (1 - inside))
    return found


@dataclass(frozen=True)
class OddsChange:
    """Odds to a power, times a factor; the power is 1 but for everyone's.

    >>> OddsChange(3.0).apply(np.array([0.25, 0.5])).tolist()
    [0.5, 0.75]
    >>> print(OddsChange(0.5), OddsChange(1.25, power=0.5))
    odds × 0.5 odds^0.5 × 1.25
    """

    factor: float
    power: float = 1.0

    def apply(self, score: Array) -> Array:
        """Return the changed probabilities."""
        # p/(1 − p) → f·p/(1 − p), by additions and products alone: the same on every machine.
        happens = np.clip(score, _EDGE, 1 - _EDGE)
        fails = 1 - happens
        if self.power != 1:
            happens = happens**self.power
            fails = fails**self.power
        happens = self.factor * happens
        changed: Array = happens / (happens + fails)
        return changed

    def __str__(self) -> str:
        base = "odds" if self.power == 1 else f"odds^{self.power:.4g}"
        return f"{base} × {self.factor:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {"kind": "odds", "factor": self.factor, "power": self.power}


@dataclass(frozen=True)
class NumberChange:
    """A number times a slope, plus a shift; the slope is 1 but for everyone's.

    >>> NumberChange(2.0).apply(np.array([1.0, 5.0])).tolist()
    [3.0, 7.0]
    >>> print(NumberChange(-2.0), NumberChange(1.0, slope=0.5))
    − 2 × 0.5 + 1
    """

    shift: float
    slope: float = 1.0

    def apply(self, score: Array) -> Array:
        """Return the changed numbers."""
        changed: Array = self.slope * score + self.shift
        return changed

    def __str__(self) -> str:
        times = "" if self.slope == 1 else f"× {self.slope:.4g} "
        return f"{times}{'−' if self.shift < 0 else '+'} {abs(self.shift):.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {"kind": "number", "shift": self.shift, "slope": self.slope}


Change: TypeAlias = OddsChange | NumberChange

_KINDS: dict[str, type[OddsChange] | type[NumberChange]] = {
    "odds": OddsChange,
    "number": NumberChange,
}


def change_of_plain(plain: dict[str, Any]) -> Change:
    """Make the change again that `to_dict` made plain data of.

    >>> change_of_plain(OddsChange(2.0).to_dict())
    OddsChange(factor=2.0, power=1.0)
    """
    kind = _KINDS[plain["kind"]]
    parts = {field.name: held(plain[field.name], field.name) for field in fields(kind)}
    if not all(map(math.isfinite, parts.values())):
        raise ValueError(f"a change must be of finite numbers; got {parts}")
    return kind(**parts)


def towards_mean(y: Array, score: Array, weight: Array, *, probabilities: bool) -> Change:
    """Return the change after which scores are right on average.

    One more row is counted that happened as it was predicted. Of many rows it changes next to
    nothing, and of few to which the same happened it keeps their scores from the ends.

    >>> y, score = np.array([1.0, 1.0, 0.0]), np.full(3, 0.5)
    >>> towards_mean(y, score, np.ones(3), probabilities=True).apply(score).round(3).tolist()
    [0.625, 0.625, 0.625]
    """
    missing = float(weight @ (y - score)) * len(y) / (len(y) + 1)
    if not probabilities:
        return NumberChange(missing / float(weight.sum()))
    return _with_sum(score, weight, float(weight @ score) + missing)


def _with_sum(score: Array, weight: Array, wanted: float) -> OddsChange:
    """Return the change after which Σ w·p is as wanted, by Newton's method."""
    low = -_MOST_LOG_ODDS
    high = _MOST_LOG_ODDS
    shift = 0.0
    for _ in range(_MOST_STEPS):
        # Σ w·p rises with the shift of log-odds, by Σ w·p·(1 − p).
        p = OddsChange(math.exp(shift)).apply(score)
        too_low = wanted - float(weight @ p)
        low, high = (shift, high) if too_low > 0 else (low, shift)
        slope = float(weight @ (p * (1 - p)))
        # Where all p are 0 or 1, to the last digit, there is no slope.
        following = shift + too_low / slope if slope > 0 else math.nan
        # Newton's step where it stays between what is too low and too high, else the middle.
        if not low < following < high:
            following = (low + high) / 2
        step = abs(following - shift)
        shift = following
        if step <= _NO_STEP * max(1.0, abs(shift)):
            break
    return OddsChange(math.exp(shift))
