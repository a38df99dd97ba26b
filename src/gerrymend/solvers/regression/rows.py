"""The seam between the game and its rows: what the game asks, wherever the rows are.

`CellRows` are NumPy's rows in memory. `SummedBlocks` are blocks of rows, in this process or on the
workers of a cluster, which answer as one: all that the game asks for are sums.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.projection import OrthonormalBasis
from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.inputs.attribute_bins import AttributeBins
from gerrymend.inputs.protected import Column
from gerrymend.models.mixture import Predictor
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.base import State
from gerrymend.solvers.blocks import Blocks, LocalBlocks
from gerrymend.solvers.regression.array_block import ArrayBlock, Columns, Sums
from gerrymend.subgroups.encoding import DirectionRules
from gerrymend.subgroups.linear_rule import DIGITS, LinearRule, leaves_room

Told = Iterable[tuple[Any, Any, Any]]
"""Multipliers, plays and groups of some rounds at a time."""

# Rounds after which the plays are looked at outside of the event, in one product.
_ROUNDS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Measured:
    """Hold the last groups of games in figures, and make the words of one when it is asked for."""

    unfairness: Array  # of each game's group, with its sign; 0 where nobody is in it
    subgroup: Callable[[int], Subgroup | None]


class RowsRead(NamedTuple):
    """Facts that a fit needs of its rows, and the function that begins games on them."""

    classes: NDArray[Any]
    """The two labels."""

    protected: tuple[Column, ...]
    """The protected attributes, with their categories and no rows."""

    counts: Mapping[str, Mapping[Any, float]]
    """The number of rows of each category, by attribute."""

    digests: Callable[[], dict[str, str]]
    """The sha256 of each argument; to be asked for before a game begins."""

    begin: Callable[[Any, Any, list[float], float], Any]
    """Begins games, given the estimator, the solver, the gammas and C."""

    controls: tuple[str, ...] = ()
    """Names of the control features, within whose strata groups are compared."""

    bins: AttributeBins = AttributeBins()
    """Those of numeric attributes, if these were cut into any."""


class RegressionRows(Protocol):
    """Rows that the game between linear regressions asks for sums; a game is a row of all arrays.

    `prepare` comes first; a round is `decide`, `find` and `pull`, of which none may wait for a
    device. See `ArrayBlock` for what the answers hold.
    """

    at_hand: bool
    """Whether they are on a device of this process, where a question waits for nobody."""

    def basis(self, columns: Columns, tolerance: float) -> OrthonormalBasis:
        """Return how orthonormal bases are made of columns."""
        ...

    def prepare(
        self, features: OrthonormalBasis, protected: OrthonormalBasis, n_games: int
    ) -> Sums:
        """Make the state of so many games; return what doesn't change."""
        ...

    def rounds_at_once(self, *, heard: bool) -> int:
        """Return after how many rounds the plays are to be looked at outside of the event."""
        ...

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Press on the last groups, and take decisions of the Learner's fits into the votes."""
        ...

    def find(self, coordinates: Any) -> Any:
        """Select the groups g of regressions of the residual: Σ w·g, Σ w·a·g, Σ w·b·votes·g."""
        ...

    def pull(self, multipliers: Any) -> Any:
        """Return multipliers·Bᵀ(w·b·g) of these groups."""
        ...

    def decided_outside(self, plays: Any) -> Any:
        """Return Σ w·(1 − 2y)·d over rows outside of the event, for decisions of many plays."""
        ...

    def bound(self, mean: Any, numbers: Array) -> Array:
        """Return what the residual of no group exceeds, after so many rounds of each game."""
        ...

    def measure(
        self, notion: FairnessNotion, rules: DirectionRules, groups: Array, numbers: Array
    ) -> Measured:
        """Measure the last groups, by the rows that their words select."""
        ...

    def state(self, number: int) -> State | None:
        """Return the state after so many rounds; None if rows are to be told of them again."""
        ...

    def restore(self, state: State | None, told: Told) -> None:
        """Go on from a state, or from what they are told."""
        ...


class SummedBlocks:
    """Rows in blocks, as one: sums are added in the order of the blocks, whoever has them.

    Parameters
    ----------
    blocks : Blocks
        Of `ArrayBlock`, or of what answers like them.
    at_hand : bool, default=False
        Whether they are on a device of this process.

    Examples
    --------
    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> x, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.ones(2)
    >>> rows = SummedBlocks(LocalBlocks([ArrayBlock(x, x, y, w, FALSE_POSITIVE_RATE)] * 2))
    >>> rows.ends(np.array([[1.0]]), np.array([1.5]), np.array([[1.01]])).tolist()
    [[1.01], [2.02]]
    """

    def __init__(self, blocks: Blocks, *, at_hand: bool = False) -> None:
        self._blocks = blocks
        self.at_hand = at_hand

    @classmethod
    def of(cls, block: ArrayBlock) -> "SummedBlocks":
        """Return the rows of a single block in this process."""
        return cls(LocalBlocks([block]), at_hand=not block.on_cpu)

    def basis(self, columns: Columns, tolerance: float) -> OrthonormalBasis:
        """Return how orthonormal bases are made of columns, from what each block brings to it."""
        argument = "X" if columns == "features" else "sensitive_features"
        ask = partial(self._blocks.gather, ArrayBlock.factor, columns)
        return OrthonormalBasis.of(ask, tolerance, argument)

    def n_features(self) -> int:
        """Return how many columns the features have."""
        return self._blocks.gather(ArrayBlock.n_features)[0]

    def prepare(
        self, features: OrthonormalBasis, protected: OrthonormalBasis, n_games: int
    ) -> Sums:
        """Prepare each block."""
        sums = _added(self._blocks.gather(ArrayBlock.prepare, features, protected, n_games))
        # Read from the device here, once: no question of a round may wait for it.
        self._total, _, self._event_weight, *_ = on_host(sums[-1]).tolist()
        return sums

    def rounds_at_once(self, *, heard: bool) -> int:
        """Return a number that makes one product of many plays, whoever hears of them."""
        return _ROUNDS_AT_ONCE

    def signs(self, multipliers: Any, mean: Any, scale: Any) -> Any:
        """Count rows with a cost above 0, and below."""
        return _total(self._blocks.gather(ArrayBlock.signs, multipliers, mean, scale))

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Take the decisions of fits."""
        return _added(self._blocks.gather(ArrayBlock.decide, multipliers, coordinates))

    def vote(self, multipliers: Any, predictors: Sequence[Predictor]) -> Sums:
        """Take the decisions of predictors."""
        return _added(self._blocks.gather(ArrayBlock.vote, multipliers, predictors))

    def find(self, coordinates: Any) -> Any:
        """Select groups; what they pull with comes in the same message, and is kept for `pull`."""
        self._pull, sums = _added(self._blocks.gather(ArrayBlock.find, coordinates))
        return sums

    def pull(self, multipliers: Any) -> Any:
        """Return what the groups found last pull with."""
        return multipliers[:, None] * self._pull

    def decided_outside(self, plays: Any) -> Any:
        """Return the sums over rows outside of the event."""
        return _total(self._blocks.gather(ArrayBlock.decided_outside, plays))

    def bound(self, mean: Any, numbers: Array) -> Array:
        """Return what the residual of no group exceeds."""
        share = 1.0 / numbers
        return on_host(_total(self._blocks.gather(ArrayBlock.bound, mean, share)))

    def ends(self, rules: Array, thresholds: Array, rounded: Array) -> Array:
        """Return the highest rounded score of rows out of each rule, and the lowest of those in."""
        # A maximum of maxima and a minimum of minima: unlike sums, exact whatever the blocks.
        ends = np.array(self._blocks.gather(ArrayBlock.ends, rules, thresholds, rounded))
        return np.stack([ends[:, 0].max(axis=0), ends[:, 1].min(axis=0)])

    def measure(
        self, notion: FairnessNotion, rules: DirectionRules, groups: Array, numbers: Array
    ) -> Measured:
        """Measure the last groups of all games at once."""
        found = rules.rules(groups)
        coefficients = np.array([rule.coefficients for rule in found])
        thresholds = np.array([rule.threshold for rule in found])
        treated = self._blocks.gather(ArrayBlock.treated, coefficients, thresholds, 1.0 / numbers)
        size, weight, outcome, outcomes = np.sum(treated, axis=0)
        overall = outcomes / self._event_weight
        # A group without weight has no rate. The overall one makes its unfairness 0.
        rate = np.divide(outcome, weight, out=overall.copy(), where=weight > 0)
        share = weight / self._total
        unfairness = share * (rate - overall)
        # The largest value of each attribute, over all blocks: what a rounded coefficient may
        # shift.
        sizes = np.max(self._blocks.gather(ArrayBlock.sizes), axis=0).tolist()
        ends = self._ends_by_digits(found, coefficients, thresholds, sizes)

        def subgroup(game: int) -> Subgroup | None:
            if weight[game] == 0:
                return None
            return Subgroup(
                rule=found[game].shortened(ends[game].__getitem__, sizes),
                notion=notion,
                unfairness=float(unfairness[game]),
                share=float(share[game]),
                size=int(size[game]),
                rate=float(rate[game]),
                overall_rate=float(overall[game]),
            )

        return Measured(unfairness, subgroup)

    def _ends_by_digits(
        self, rules: list[LinearRule], coefficients: Array, thresholds: Array, sizes: list[float]
    ) -> list[dict[tuple[float, ...], tuple[float, float]]]:
        """Ask for all that `LinearRule.shortened` will ask of each rule, of many rules at a time.

        Few digits are tried for all of them, and then more for those whose members they change.
        """
        ends: list[dict[tuple[float, ...], tuple[float, float]]] = [{} for _ in rules]
        left = list(range(len(rules)))
        for digits in DIGITS:
            few = [rules[i].rounded(digits) for i in left]
            answers = self.ends(coefficients[left], thresholds[left], np.array(few)).T.tolist()
            open_still = []
            for i, rounded, (low, high) in zip(left, few, answers, strict=True):
                ends[i][rounded] = low, high
                if not leaves_room(rounded, low, high, sizes):
                    open_still.append(i)
            left = open_still
            if not left:
                break
        return ends

    def state(self, number: int) -> None:
        """Return nothing: votes and pressure follow from the plays and the groups."""

    def restore(self, state: State | None, told: Told) -> None:
        """Do again what many rounds have done."""
        for multipliers, plays, groups in told:
            self._blocks.gather(ArrayBlock.replay, multipliers, plays, groups)


def _total(parts: Sequence[Any]) -> Any:
    """Add up one after the other: the order of the blocks decides the last bit."""
    return reduce(lambda total, part: total + part, parts)


def _added(parts: Sequence[Sums]) -> Sums:
    """Add up the sums of blocks, each of its own kind."""
    return tuple(map(_total, zip(*parts, strict=True)))
