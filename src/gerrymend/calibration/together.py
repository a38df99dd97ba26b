"""A line for everyone and shifts of groups, fitted together and drawn towards no change.

Where no single subgroup can be told from chance, all of them together often can. Log-odds x become

    x + a + c·(x − mean) + Σ s

with a shift s for each condition that a row meets (`conditions.py`). That is a logistic regression
whose c and s are drawn to 0: ½·strength·(c² + Σ s²) is added to its loss, as if they were known to
be small. Of some strengths, and of no change at all, that is taken which is best on rows that it
was not fitted to. Predicted numbers have a linear regression in its place, in units of the spread
of their errors.

Sums over pairs of conditions are sums over pairs of codes: a row is visited once for two attributes
and not once for two conditions.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from gerrymend._numeric.sums import Array
from gerrymend.calibration.changes import Change, NumberChange, OddsChange, log_odds
from gerrymend.calibration.conditions import FEWEST_ROWS, Steps

# From strong to weak; a strength says that a shift is 1/√strength in size, before rows are seen.
_STRENGTHS = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
# That of the test: what it tells depends little on it.
_TESTED = 10.0
# A mean is drawn to what it was by as much as one row, so that it stays inside of (0, 1).
_OF_MEAN = 0.25
_FOLDS = 5
# Newton's steps; they end where the loss falls by no more than this part of it.
_MOST_STEPS = 50
_NO_STEP = 1e-12
_MOST_LOG_ODDS = 40.0


class Together(NamedTuple):
    """The change of everyone's scores, and the change for each condition, in their order."""

    everyone: Change
    shifts: tuple[Change, ...]


@dataclass(eq=False)
class Regression:
    """What is fitted to; `x` are log-odds, or numbers in units of the spread of their errors.

    Weights have a mean of 1. The parameters are a, then c, then the shifts.
    """

    y: Array
    x: Array
    weight: Array
    steps: Sequence[Steps]
    logistic: bool
    unit: float = 1.0

    @classmethod
    def of(
        cls, y: Array, score: Array, weight: Array, steps: Sequence[Steps], *, probabilities: bool
    ) -> "Regression":
        """Return the regression of rows that have weight."""
        weight = weight / weight.mean()
        if probabilities:
            return cls(y, log_odds(score), weight, steps, logistic=True)
        spread = _spread(y - score, weight)
        return cls(y / spread, score / spread, weight, steps, logistic=False, unit=spread)

    @cached_property
    def centre(self) -> float:
        """The mean of x."""
        return float(np.average(self.x, weights=self.weight))

    @cached_property
    def places(self) -> list[slice]:
        """Where the shifts of each step are among the parameters."""
        ends = np.cumsum([2, *(step.meets.shape[1] for step in self.steps)]).tolist()
        return [slice(first, after) for first, after in itertools.pairwise(ends)]

    @cached_property
    def size(self) -> int:
        """The number of parameters."""
        return 2 + sum(step.meets.shape[1] for step in self.steps)

    def predictor(self, parameters: Array, rows: NDArray[np.intp]) -> Array:
        """Return x as it becomes, of some rows."""
        x = self.x[rows]
        found = x + parameters[0] + parameters[1] * (x - self.centre)
        for step, place in zip(self.steps, self.places, strict=True):
            found = found + (step.meets @ parameters[place])[step.codes[rows]]
        return found

    def mean(self, predictor: Array) -> Array:
        """Return what is predicted of y."""
        if not self.logistic:
            return predictor
        mean: Array = 1 / (1 + np.exp(-np.clip(predictor, -_MOST_LOG_ODDS, _MOST_LOG_ODDS)))
        return mean

    def loss(self, predictor: Array, rows: NDArray[np.intp]) -> float:
        """Return minus the log-likelihood of some rows."""
        y = self.y[rows]
        if self.logistic:
            of_row = np.logaddexp(0.0, predictor) - y * predictor
        else:
            of_row = (y - predictor) ** 2 / 2
        return float(self.weight[rows] @ of_row)

    def sums(self, of_row: Array, rows: NDArray[np.intp]) -> Array:
        """Return, for each parameter, the sum over some rows of what they have times its column."""
        parts = [np.array([of_row.sum(), of_row @ (self.x[rows] - self.centre)])]
        parts += [
            np.bincount(step.codes[rows], of_row, len(step.meets)) @ step.meets
            for step in self.steps
        ]
        return np.concatenate(parts)

    def products(self, of_row: Array) -> Array:
        """Return the sums over all rows of what they have times the columns of two parameters."""
        found = np.zeros((self.size, self.size))
        centred = self.x - self.centre
        every = np.arange(len(self.x))
        found[0] = self.sums(of_row, every)
        found[1] = self.sums(of_row * centred, every)
        for i, (step, place) in enumerate(zip(self.steps, self.places, strict=True)):
            own = np.bincount(step.codes, of_row, len(step.meets))
            found[place, place] = (step.meets.T * own) @ step.meets
            for other, where in zip(self.steps[:i], self.places, strict=False):
                size = (len(other.meets), len(step.meets))
                pair = other.codes * size[1] + step.codes
                both = np.bincount(pair, of_row, size[0] * size[1]).reshape(size)
                found[where, place] = other.meets.T @ both @ step.meets
        upper = np.triu(found)
        symmetric: Array = upper + np.triu(found, 1).T
        return symmetric


def _spread(errors: Array, weight: Array) -> float:
    """Return the standard deviation of errors, or 1 where they are all the same."""
    mean = np.average(errors, weights=weight)
    return math.sqrt(float(np.average((errors - mean) ** 2, weights=weight))) or 1.0


def p_value_of_all(regression: Regression) -> float:
    """Return the p-value of scores that are right, for everyone and under each condition.

    It is of the score test of a ridge regression: of g the derivatives of the loss where nothing
    is changed, and of V their variance if scores are right, gᵀ(V + strength)⁻¹g is a sum of squares
    of normal numbers, of which a multiple of χ² with the same mean and variance is taken. A mean
    that is off for all is no reason for a change, and is taken out of it beforehand.

    >>> rng = np.random.default_rng(0)
    >>> right = rng.uniform(0.1, 0.9, 2000)
    >>> y = (rng.random(2000) < right) * 1.0
    >>> ask = {"weight": np.ones(2000), "steps": [], "probabilities": True}
    >>> p_value_of_all(Regression.of(y, right, **ask)) > 0.05
    True
    >>> p_value_of_all(Regression.of(y, OddsChange(1.0, power=2.0).apply(right), **ask)) < 0.001
    True
    """
    every = np.arange(len(regression.x))
    mean = regression.mean(regression.x)
    errors = regression.y - mean
    if regression.logistic:
        curvature = mean * (1 - mean)
        variance = curvature
    else:
        curvature = np.ones(len(mean))
        variance = (errors - np.average(errors, weights=regression.weight)) ** 2
    slopes = regression.sums(regression.weight * errors, every)
    information = regression.products(regression.weight * curvature)
    spread = regression.products(regression.weight**2 * variance)
    # Column by column, what the mean of all explains of it.
    into = np.eye(len(slopes))[1:]
    into[:, 0] = -information[1:, 0] / information[0, 0]
    slopes = into @ slopes
    information = into @ information @ into.T
    spread = into @ spread @ into.T
    drawn = np.linalg.inv(information + _TESTED * np.eye(len(slopes)))
    part = drawn @ spread
    first = float(np.trace(part))
    second = float(np.sum(part * part.T))
    if not second > 0:
        return 1.0
    value = float(slopes @ drawn @ slopes)
    return float(chi2.sf(value * first / second, first * first / second))


def fit_together(regression: Regression, seed: int) -> Together | None:
    """Return the changes of the strength that is best on other rows; None where none helps.

    None is returned, too, where the line would fall: a change of all would take away what scores
    say of subgroups. Of few rows nothing is left out, and the line is drawn to nothing.

    >>> rng = np.random.default_rng(0)
    >>> right = rng.uniform(0.1, 0.9, 4000)
    >>> y = (rng.random(4000) < right) * 1.0
    >>> too_sure = OddsChange(1.0, power=2.0).apply(right)
    >>> ask = {"weight": np.ones(4000), "steps": [], "probabilities": True}
    >>> round(fit_together(Regression.of(y, too_sure, **ask), seed=0).everyone.power, 1)
    0.5
    """
    every = np.arange(len(regression.x))
    parameters = np.zeros(regression.size)
    if len(regression.y) < FEWEST_ROWS:  # whose folds would decide by chance
        line = _fitted(regression, np.zeros(regression.size), parameters)
        return _changes(regression, line) if line[1] > -1 else None
    fold = _folds(regression.y, seed)
    least = regression.loss(regression.x, every)
    best = None
    for strength in _STRENGTHS:
        ridge = np.full(regression.size, strength)
        ridge[0] = _OF_MEAN
        parameters = _fitted(regression, ridge, parameters)
        loss = _loss_on_others(regression, ridge, parameters, fold)
        if loss < least:
            least = loss
            best = parameters
    if best is None or best[1] <= -1:
        return None
    return _changes(regression, best)


def _folds(y: Array, seed: int) -> NDArray[np.intp]:
    """Return the fold of each row, so that what happened is spread over all of them alike."""
    shuffled = np.random.default_rng(seed).permutation(len(y))
    fold = np.empty(len(y), dtype=np.intp)
    fold[np.lexsort((shuffled, y))] = np.arange(len(y)) % _FOLDS
    return fold


def _curvature(regression: Regression, mean: Array) -> Array:
    """Return the second derivative of the loss of each row."""
    return regression.weight * mean * (1 - mean) if regression.logistic else regression.weight


def _fitted(regression: Regression, ridge: Array, start: Array) -> Array:
    """Return the parameters of least loss, ½·Σ ridge·parameter² included, by Newton's method."""
    every = np.arange(len(regression.x))

    def loss_at(parameters: Array) -> float:
        predictor = regression.predictor(parameters, every)
        return regression.loss(predictor, every) + float(ridge @ parameters**2) / 2

    parameters = start
    loss = loss_at(parameters)
    for _ in range(_MOST_STEPS):
        mean = regression.mean(regression.predictor(parameters, every))
        slopes = regression.sums(regression.weight * (regression.y - mean), every)
        information = regression.products(_curvature(regression, mean)) + np.diag(ridge)
        step = np.linalg.solve(information, slopes - ridge * parameters)
        after = loss_at(parameters + step)
        # Halved until it helps: the loss is convex, and a full step may be too long.
        while after > loss and np.abs(step).max() > _NO_STEP:
            step = step / 2
            after = loss_at(parameters + step)
        if not after <= loss:
            break
        parameters = parameters + step
        if loss - after <= _NO_STEP * loss:
            break
        loss = after
    return parameters


def _loss_on_others(
    regression: Regression, ridge: Array, parameters: Array, fold: NDArray[np.intp]
) -> float:
    """Return the loss on the rows of each fold, of what would be fitted to the others.

    That is one step of Newton's away from what is fitted to all: without the rows of a fold, what
    they pull with is missing, and of the curvature their share, one part in as many as there are
    folds.
    """
    mean = regression.mean(regression.predictor(parameters, np.arange(len(fold))))
    information = regression.products(_curvature(regression, mean))
    inverse = np.linalg.inv((1 - 1 / _FOLDS) * information + np.diag(ridge))
    total = 0.0
    for number in range(_FOLDS):
        rows = np.flatnonzero(fold == number)
        errors = regression.weight[rows] * (regression.y[rows] - mean[rows])
        without = parameters - inverse @ regression.sums(errors, rows)
        total += regression.loss(regression.predictor(without, rows), rows)
    return total


def _changes(regression: Regression, parameters: Array) -> Together:
    """Return what parameters do to scores."""
    slope = 1 + float(parameters[1])
    # x + a + c·(x − mean) = (1 + c)·x + (a − c·mean)
    shift = float(parameters[0] - parameters[1] * regression.centre)
    shifts = parameters[2:].tolist()
    if regression.logistic:
        everyone = OddsChange(math.exp(shift), slope)
        return Together(everyone, tuple(OddsChange(math.exp(one)) for one in shifts))
    unit = regression.unit
    return Together(
        NumberChange(unit * shift, slope), tuple(NumberChange(unit * one) for one in shifts)
    )
