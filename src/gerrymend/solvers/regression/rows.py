"""The seam between the game and its rows: what the game asks, wherever the rows are.

`ArrayRows` are arrays in one place. `SummedRows` are several of them, in this process or on the
workers of a cluster, which answer as one: all that the game asks for are sums.
"""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from gerrymend._numeric.projection import Frame
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import Predictor
from gerrymend.solvers.regression.array_rows import ArrayRows, Sums

T = TypeVar("T")


class RegressionRows(Protocol):
    """Rows that the game between linear regressions asks for sums; a game is a row of all arrays.

    See `ArrayRows` for what each answer holds. `prepare` comes first; a round is `decide` (or
    `vote`) and then `find`. Neither may wait for a device.
    """

    def frame(self, columns: Literal["features", "protected"], tolerance: float) -> Frame:
        """Return how orthonormal bases are made of columns."""
        ...

    def n_features(self) -> int:
        """Return how many columns the features have."""
        ...

    def prepare(self, features: Frame, protected: Frame, n_games: int) -> Sums:
        """Make bases and the state of so many games; return what doesn't change."""
        ...

    def signs(self, multipliers: Any, mean: Any, scale: Any) -> Any:
        """Count the event's rows with a cost above 0, and below, under the next pressure."""
        ...

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Press on the last groups, and take decisions of the Learner's fits into the votes."""
        ...

    def vote(self, multipliers: Any, predictors: Sequence[Predictor]) -> Sums:
        """Press on the last groups, and take decisions of predictors into the votes."""
        ...

    def find(self, coordinates: Any) -> Sums:
        """Select the groups of regressions of the residual."""
        ...

    def replay(self, multipliers: Any, plays: Any, groups: Any) -> None:
        """Do what `decide` and `find` of many rounds have done."""
        ...

    def decided_outside(self, plays: Any) -> Any:
        """Return Σ w·(1 − 2y)·d over rows outside of the event, for decisions of many plays."""
        ...

    def bound(self, mean: Any, share: float) -> Any:
        """Return what the residual of no group exceeds."""
        ...

    def sizes(self) -> Array:
        """Return the largest size of each protected term."""
        ...

    def ends(
        self, coefficients: Sequence[float], threshold: float, rounded: Sequence[float]
    ) -> tuple[float, float]:
        """Return the highest rounded score of rows out of a rule, and the lowest of those in."""
        ...

    def treated(
        self, coefficients: Sequence[float], threshold: float, game: int, share: float
    ) -> Array:
        """Return how many rows a rule selects, their weight and outcomes, and all outcomes."""
        ...


class Blocks(Protocol):
    """Blocks of rows, wherever they are, and the one way to reach them."""

    def gather(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Return what a method of each block answers, in the order of the blocks."""
        ...


class LocalBlocks:
    """Blocks in this process.

    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> x, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.ones(2)
    >>> blocks = LocalBlocks([ArrayRows(x, x, y, w, FALSE_POSITIVE_RATE)] * 2)
    >>> blocks.gather(ArrayRows.n_features)
    [1, 1]
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self._blocks = blocks

    def gather(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Return what a method of each block answers."""
        return [getattr(block, method.__name__)(*arguments) for block in self._blocks]


class SummedRows:
    """Rows in blocks, as one: sums are added in the order of the blocks, whoever has them.

    Parameters
    ----------
    blocks : Blocks
        Of `ArrayRows`, or of what answers like them.

    Examples
    --------
    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> x, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.ones(2)
    >>> rows = SummedRows(LocalBlocks([ArrayRows(x, x, y, w, FALSE_POSITIVE_RATE)] * 2))
    >>> rows.ends([1.0], 1.5, [1.01])
    (1.01, 2.02)
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def frame(self, columns: Literal["features", "protected"], tolerance: float) -> Frame:
        """Return how orthonormal bases are made of columns, from what each block brings to it."""
        argument = "X" if columns == "features" else "sensitive_features"
        ask = partial(self._blocks.gather, ArrayRows.factor, columns)
        return Frame.of(ask, tolerance, argument)

    def n_features(self) -> int:
        """Return how many columns the features have."""
        return self._blocks.gather(ArrayRows.n_features)[0]

    def prepare(self, features: Frame, protected: Frame, n_games: int) -> Sums:
        """Prepare each block."""
        return _added(self._blocks.gather(ArrayRows.prepare, features, protected, n_games))

    def signs(self, multipliers: Any, mean: Any, scale: Any) -> Any:
        """Count rows with a cost above 0, and below."""
        return _total(self._blocks.gather(ArrayRows.signs, multipliers, mean, scale))

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Take the decisions of fits."""
        return _added(self._blocks.gather(ArrayRows.decide, multipliers, coordinates))

    def vote(self, multipliers: Any, predictors: Sequence[Predictor]) -> Sums:
        """Take the decisions of predictors."""
        return _added(self._blocks.gather(ArrayRows.vote, multipliers, predictors))

    def find(self, coordinates: Any) -> Sums:
        """Select groups."""
        return _added(self._blocks.gather(ArrayRows.find, coordinates))

    def replay(self, multipliers: Any, plays: Any, groups: Any) -> None:
        """Do again what many rounds have done."""
        self._blocks.gather(ArrayRows.replay, multipliers, plays, groups)

    def decided_outside(self, plays: Any) -> Any:
        """Return the sums over rows outside of the event."""
        return _total(self._blocks.gather(ArrayRows.decided_outside, plays))

    def bound(self, mean: Any, share: float) -> Any:
        """Return what the residual of no group exceeds."""
        return _total(self._blocks.gather(ArrayRows.bound, mean, share))

    def sizes(self) -> Array:
        """Return the largest size of each protected term."""
        sizes: Array = np.max(self._blocks.gather(ArrayRows.sizes), axis=0)
        return sizes

    def ends(
        self, coefficients: Sequence[float], threshold: float, rounded: Sequence[float]
    ) -> tuple[float, float]:
        """Return the highest rounded score of rows out of a rule, and the lowest of those in."""
        ends = self._blocks.gather(ArrayRows.ends, coefficients, threshold, rounded)
        return max(low for low, _ in ends), min(high for _, high in ends)

    def treated(
        self, coefficients: Sequence[float], threshold: float, game: int, share: float
    ) -> Array:
        """Return how many rows a rule selects, their weight and outcomes, and all outcomes."""
        parts = self._blocks.gather(ArrayRows.treated, coefficients, threshold, game, share)
        treated: Array = np.sum(parts, axis=0)
        return treated


def _total(parts: Sequence[Any]) -> Any:
    """Add up one after the other: the order of the blocks decides the last bit."""
    return reduce(lambda total, part: total + part, parts)


def _added(parts: Sequence[Sums]) -> Sums:
    """Add up the sums of blocks, each of its own kind."""
    return tuple(map(_total, zip(*parts, strict=True)))
