"""Changes of scores: the odds of a probability times a factor, or a number plus a shift.

Both are monotone, so that within a subgroup and an interval no two rows change places. Odds keep
probabilities inside of (0, 1), where a constant that is added would have to be cut off: of scores
of rare events it makes zeros.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import chi2

from gerrymend._numeric.sums import Array
from gerrymend.inputs.held_numbers import held

# A probability of 0 or 1 has no odds that a factor changes: it counts as so far from the end.
_EDGE = 2.0**-20
# Newton's steps are few; the logarithms of odds that can matter are within ± this.
_MOST_STEPS = 100
_MOST_LOG_ODDS = 40.0
# Of a step that is smaller nothing is left in a score.
_NO_STEP = 1e-13


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


@dataclass(frozen=True)
class ForEveryone:
    """A change of all scores that makes them less, or more, extreme, with its p-value."""

    change: Change
    p_value: float


def for_everyone(
    y: Array, score: Array, weight: Array, *, probabilities: bool
) -> ForEveryone | None:
    """Return the change that makes all scores as extreme as they should be.

    Of probabilities it is a logistic regression on their log-odds (Platt), of numbers a regression
    on them. The p-value is that of a slope of 1. That averages are off is no reason for a change:
    they may be off for a few alone, and are left to subgroups, of which everyone is one.

    None is returned for a slope that falls: higher scores happen less often, and a change of all
    would take away what they say of subgroups.

    >>> rng = np.random.default_rng(0)
    >>> right = rng.uniform(0.1, 0.9, 4000)
    >>> y = (rng.random(4000) < right) * 1.0
    >>> too_sure = OddsChange(1.0, power=2.0).apply(right)
    >>> found = for_everyone(y, too_sure, np.ones(4000), probabilities=True)
    >>> round(found.change.power, 1), found.p_value < 0.001
    (0.5, True)
    """
    if not probabilities:
        centre = float(weight @ score / weight.sum())
        fitted = _line(score - centre, y, weight)
        change: Change = NumberChange(fitted.shift - fitted.slope * centre, fitted.slope)
    else:
        inside = np.clip(score, _EDGE, 1 - _EDGE)
        fitted = _platt(np.log(inside / (1 - inside)), y, weight)
        change = OddsChange(math.exp(fitted.shift), fitted.slope)
    return ForEveryone(change, fitted.p_value) if fitted.slope > 0 else None


class _Fitted(NamedTuple):
    """A line that was fitted, and the p-value of a slope of 1."""

    shift: float
    slope: float
    p_value: float


def _platt(x: Array, y: Array, weight: Array) -> _Fitted:
    """Return the line of a logistic regression of y on x."""
    # Platt's targets are a little away from 0 and 1, so that no slope is infinite.
    n_positive = float((y > 0).sum())
    highest = (n_positive + 1) / (n_positive + 2)
    target = np.where(y > 0, highest, 1 / (len(y) - n_positive + 2))
    design = np.stack([np.ones(len(x)), x])
    line = np.array([0.0, 1.0])
    loss = _loss(line @ design, target, weight)
    for _ in range(_MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(line @ design, -700, 700)))
        information = _inverse((design * (weight * p * (1 - p))) @ design.T)
        step = information @ (design @ (weight * (target - p)))
        # Halved until it helps: the loss is convex, and a full step may be too long.
        while _loss((line + step) @ design, target, weight) > loss:
            step = step / 2
        line = line + step
        loss = _loss(line @ design, target, weight)
        if np.abs(step).max() <= 1e-10:
            break
    return _tested(line, design, information, weight**2 * p * (1 - p))


def _loss(log_odds: Array, target: Array, weight: Array) -> float:
    """Return the logistic loss."""
    return float(weight @ (np.logaddexp(0.0, log_odds) - target * log_odds))


def _line(x: Array, y: Array, weight: Array) -> _Fitted:
    """Return the line of a regression of y on x."""
    design = np.stack([np.ones(len(x)), x])
    information = _inverse((design * weight) @ design.T)
    line = information @ (design @ (weight * y))
    return _tested(line, design, information, (weight * (y - line @ design)) ** 2)


def _inverse(matrix: Array) -> Array:
    """Return the inverse, or what is nearest to one: x may be constant."""
    return np.linalg.pinv(matrix, rcond=1e-12, hermitian=True).astype(np.float64)


def _tested(line: Array, design: Array, information: Array, variances: Array) -> _Fitted:
    """Return a line with the p-value of a slope of 1, by its variance (a sandwich)."""
    shift, slope = line.tolist()
    variance = float((information @ ((design * variances) @ design.T) @ information)[1, 1])
    p_value = float(chi2.sf((slope - 1) ** 2 / variance, df=1)) if variance > 0 else 1.0
    return _Fitted(shift, slope, p_value)
