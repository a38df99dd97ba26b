"""A block of rows, its state in the game, and the sums that a round asks of it."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.projection import RANK_TOLERANCE, TIE, Frame, WeightedColumns
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import Predictor
from gerrymend.notions import FairnessNotion

Sums = tuple[Any, ...]
"""Arrays that are added over blocks."""

# Rows × games that are handled at once: in the cache of a core, or as a device can hold them.
_CPU_NUMBERS = 1 << 16
_DEVICE_NUMBERS = 1 << 28
# Rounds that are replayed in one pass over the rows.
_ROUNDS_AT_ONCE = 64
# Terms that are added in float32, before float64 takes over.
_FLOAT32_TERMS = 4096


def tie(dtype: Any) -> float:
    """Return how close to 0 a fitted value ties; in float32 it is known to about 1e-7."""
    return TIE if "64" in str(dtype) else 1e-6


def rank_tolerance(dtype: Any) -> float:
    """Return the share of the largest singular value below which others are rounding."""
    return RANK_TOLERANCE if "64" in str(dtype) else 1e-6


class ArrayRows:
    """Some rows of the game: their bases, weights, votes and the pressure on them, w·b·S.

    Rows are kept with those of the event first, so that the event's part of every array is a view.
    Arrays are of any library of the array API (NumPy, torch, CuPy), on any device, and stay there;
    games are the rows of all arrays of the game. Products are in the type of the features; in
    float32 no more than 4096 terms are added before float64 takes over, so that a sum of n terms
    is off by some 10⁻⁷ of its terms' size, and not by n times that.

    Parameters
    ----------
    features : array of shape (n_rows, n_features)
    protected : array of shape (n_rows, n_terms)
        The protected attributes as they enter a linear rule.
    labels : array of n_rows zeros and ones
    weight : array of n_rows weights
    notion : FairnessNotion
    """

    def __init__(
        self, features: Any, protected: Any, labels: Any, weight: Any, notion: FairnessNotion
    ) -> None:
        xp = self._xp = array_namespace(features)
        positive = labels == 1
        counted = xp.where(positive, *notion.event[::-1]) & (weight > 0)
        order = xp.argsort(xp.astype(~counted, xp.int8), stable=True)
        self._n_event = int(xp.count_nonzero(counted))
        event = order[: self._n_event]
        self.features = WeightedColumns(features, weight[order], order)
        self.protected = WeightedColumns(protected, weight[event], event)
        self._terms, self._order = protected, order
        self.dtype = features.dtype

        def by_label(values: tuple[float, float], rows: Any) -> Any:
            of_one, of_zero = float(values[1]), float(values[0])
            where = xp.astype(positive[rows], self.dtype)
            return where * of_one + (1.0 - where) * of_zero

        self._weight = xp.astype(weight[order], self.dtype)
        self._positive = positive[order]
        self._weighted_base = self._weight * by_label((1.0, -1.0), order)
        # Of the rows of the event: w, and w times the a and the b of the outcome a + b·p.
        self._event_weight = self._weight[: self._n_event]
        self._offset = self._event_weight * by_label(notion.a, event)
        self._slope = self._event_weight * by_label(notion.b, event)

    def factor(self, columns: str, method: str, *arguments: Any) -> Any:
        """Return what these rows bring to the factorisation of "features" or of "protected"."""
        return getattr(getattr(self, columns), method)(*arguments)

    def frame(self, columns: Literal["features", "protected"], tolerance: float) -> Frame:
        """Return how orthonormal bases are made of columns."""
        argument = "X" if columns == "features" else "sensitive_features"
        return Frame.of(lambda *question: [self.factor(columns, *question)], tolerance, argument)

    def n_features(self) -> int:
        """Return how many columns the features have."""
        return int(self.features.columns.shape[1])

    def prepare(self, features: Frame, protected: Frame, n_games: int) -> Sums:
        """Make the bases, and the state of so many games; return what doesn't change.

        Bᵀ(w·(1 − 2y)), Bᵀ(w·b) and Bᵀw; Pᵀ(w·a) and Pᵀw; then total weight, that of positives, of
        the event, Σ w·a, and how many rows outside of it have a cost above and below 0.
        """
        xp, n = self._xp, self._n_event
        self._basis = self.features.basis(features, self.dtype)
        self._protected_basis = basis = self.protected.basis(protected, self.dtype)
        # What decisions, and what members, are multiplied with for the sums that are asked for.
        self._of_decisions = xp.concat(
            [basis * self._slope, xp.stack([self._slope, self._weighted_base[:n]])]
        )
        self._of_members = xp.stack([self._event_weight, self._offset])
        self._votes, self._pressure, self._members = (self._zeros((n_games, n)) for _ in range(3))

        slope = self._zeros((self._weight.shape[0],))
        slope[:n] = self._slope
        learner = xp.stack([self._weighted_base, slope, self._weight])
        auditor = xp.stack([self._offset, self._event_weight])
        positive = self._positive
        scalars = [
            *(self._weight, self._weight * positive, self._event_weight, self._offset),
            *(~positive[n:], positive[n:]),
        ]
        return (
            self._products(learner, self._basis),
            self._products(auditor, basis),
            xp.stack([xp.sum(one, dtype=xp.float64) for one in scalars]),
        )

    def signs(self, multipliers: Any, mean: Any, scale: Any) -> Any:
        """Count rows of the event with a cost above 0, and below, under the next pressure."""
        xp = self._xp
        counts = self._zeros((multipliers.shape[0], 2), xp.float64)
        multipliers, mean = self._cast(multipliers)[:, None], self._cast(mean)[:, None]
        for rows in self._pieces(self._n_event, counts.shape[0]):
            pressure = self._pressure[:, rows] + multipliers * self._members[:, rows]
            cost = self._weighted_base[rows] + (pressure - self._slope[rows] * mean) * scale
            above, below = xp.sum(cost > 0, axis=1), xp.sum(cost < 0, axis=1)
            counts += xp.astype(xp.stack([above, below], axis=1), xp.float64)
        return counts

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Press on what was found last, and take the Learner's decisions d into the votes.

        Returns, over the event, Pᵀ(w·b·d), Σ w·b·d and Σ w·(1 − 2y)·d beside each other; and
        Σ S·w·b·d, with the pressure S = Σ ±C·g that the Learner answered.
        """
        multipliers, coordinates = self._cast(multipliers)[:, None], self._cast(coordinates)
        n_games = coordinates.shape[0]
        products = self._zeros((n_games, self._of_decisions.shape[0]), self._xp.float64)
        pressed = self._zeros((n_games,), self._xp.float64)
        for rows in self._pieces(self._n_event, n_games):
            pressure, votes = self._pressure[:, rows], self._votes[:, rows]
            pressure += multipliers * self._members[:, rows]
            decisions = self._cast(coordinates @ self._basis[:, rows] < -tie(self.dtype))
            votes += decisions
            products += self._products(decisions, self._of_decisions[:, rows])
            pressed += self._dots(pressure, decisions)
        return products, pressed

    def costs(self, multipliers: Array, mean: Array, scale: float, game: int) -> Any:
        """Return the cheaper label of each row, in the order they came in, and what it saves."""
        n = self._n_event
        pressure = self._pressure[game] + multipliers[game] * self._members[game]
        cost = np.empty(len(self._weight))
        cost[self._order] = self._weighted_base
        cost[self._order[:n]] += (pressure - self._slope * mean[game]) * scale
        return (cost < 0).astype(np.int8), np.abs(cost)

    def vote(self, multipliers: Array, predictors: Sequence[Predictor]) -> Sums:
        """Take in decisions as `decide` does, those of one predictor a game, and over all rows."""
        n, rows = self._n_event, self.features.columns
        decisions = self._zeros((len(predictors), len(rows)))
        if len(rows):
            decisions[:] = [one.decide(rows)[self._order] for one in predictors]
        self._pressure += multipliers[:, None] * self._members
        self._votes += decisions[:, :n]
        products = self._products(decisions[:, :n], self._of_decisions)
        products[:, -1] += decisions[:, n:] @ self._weighted_base[n:]
        return products, self._dots(self._pressure, decisions[:, :n])

    def find(self, coordinates: Any) -> Sums:
        """Select the group g where the regression of the residual is above 0.

        Returns, over the event, Bᵀ(w·b·g); Σ w·g and Σ w·a·g; and Σ w·b·votes·g.
        """
        coordinates = self._cast(coordinates)
        n_games = coordinates.shape[0]
        products = self._zeros((n_games, self._basis.shape[0]), self._xp.float64)
        masses = self._zeros((n_games, 2), self._xp.float64)
        voted = self._zeros((n_games,), self._xp.float64)
        for rows in self._pieces(self._n_event, n_games):
            fitted = coordinates @ self._protected_basis[:, rows]
            members = self._cast(fitted > tie(self.dtype))
            masses += self._products(members, self._of_members[:, rows])
            members *= self._slope[rows]
            self._members[:, rows] = members
            products += self._products(members, self._basis[:, rows])
            voted += self._dots(members, self._votes[:, rows])
        return products, masses, voted

    def replay(self, multipliers: Any, plays: Any, groups: Any) -> None:
        """`decide` and `find` of many rounds, of which no sum is wanted: one pass for many rounds.

        What is left is the same to the last bit: votes are whole numbers, and what presses is added
        up in the same order. Fitted values may round differently in a larger product, which decides
        a row in 10¹⁵ of float64; of float32 it would be one in 10⁷, and so the products are those
        that were made, round by round.
        """
        xp, n_games = self._xp, multipliers.shape[1]
        at_once = _ROUNDS_AT_ONCE if self.dtype == xp.float64 else 1
        for first in range(0, multipliers.shape[0], at_once):
            rounds = slice(first, first + at_once)
            placed = self._cast(multipliers[rounds])[:, :, None]
            play, group = (  # at the beginning of memory, as they were
                xp.asarray(self._cast(xp.reshape(values[rounds], (-1, values.shape[2]))), copy=True)
                for values in (plays, groups)
            )
            for rows in self._pieces(self._n_event, play.shape[0]):
                shape = (-1, n_games, rows.stop - rows.start)
                decisions = self._cast(play @ self._basis[:, rows] < -tie(self.dtype))
                self._votes[:, rows] += xp.sum(xp.reshape(decisions, shape), axis=0)
                fitted = group @ self._protected_basis[:, rows]
                members = self._cast(fitted > tie(self.dtype)) * self._slope[rows]
                members = xp.concat(
                    [self._members[None, :, rows], xp.reshape(members, shape)], axis=0
                )
                for t in range(placed.shape[0]):  # a group presses in the round after its own
                    self._pressure[:, rows] += placed[t] * members[t]
                self._members[:, rows] = members[-1]

    def bound(self, mean: Any, share: float) -> Any:
        """Σ w·(u − mean)⁺ over the event, which no group exceeds; a vote counts `share`."""
        xp = self._xp
        total, mean = self._zeros(mean.shape, xp.float64), self._cast(mean)[:, None]
        for rows in self._pieces(self._n_event, mean.shape[0]):
            centred = self._offset[rows] - mean * self._event_weight[rows]
            residual = centred + self._slope[rows] * self._votes[:, rows] * share
            total += xp.sum(residual * (residual > 0), axis=1, dtype=xp.float64)
        return total

    def decided_outside(self, plays: Any) -> Any:
        """Return Σ w·(1 − 2y)·d over rows outside of the event, for the decisions of many plays."""
        xp, n = self._xp, self._n_event
        plays = self._cast(plays)
        basis, base = self._basis[:, n:], self._weighted_base[n:]
        total = self._zeros((plays.shape[0],), xp.float64)
        for rows in self._pieces(base.shape[0], plays.shape[0]):
            decisions = plays @ basis[:, rows] < -tie(self.dtype)
            total += xp.sum(decisions * base[rows], axis=1, dtype=xp.float64)
        return total

    def sizes(self) -> Array:
        """Return the largest size of each protected term."""
        return WeightedColumns(self._terms, self._weight).largest()

    def ends(
        self, coefficients: Sequence[float], threshold: float, rounded: Sequence[float]
    ) -> tuple[float, float]:
        """Return the highest rounded score of rows out of a rule, and the lowest of those in."""
        xp, scores = self._xp, self._scores(rounded)
        inside = self._scores(coefficients) >= threshold
        low = xp.max(xp.where(inside, -xp.inf, scores)) if scores.shape[0] else -np.inf
        high = xp.min(xp.where(inside, scores, xp.inf)) if scores.shape[0] else np.inf
        return float(low), float(high)

    def treated(
        self, coefficients: Sequence[float], threshold: float, game: int, share: float
    ) -> Array:
        """Rows that a rule selects; their weight and outcomes in the event, and all outcomes."""
        xp, n = self._xp, self._n_event
        members = self._scores(coefficients) >= threshold
        inside = members[self._order[:n]]
        outcome = self._offset + self._slope * self._votes[game, :] * share
        parts = (members, inside * self._event_weight, inside * outcome, outcome)
        return on_host(xp.stack([xp.sum(part, dtype=xp.float64) for part in parts]))

    def _scores(self, coefficients: Sequence[float]) -> Any:
        """Σ coefficient·term in the rows as they came, added as a rule adds."""
        score = self._zeros((self._terms.shape[0],), self._xp.float64)
        for term, coefficient in enumerate(coefficients):
            score += coefficient * self._xp.astype(self._terms[:, term], self._xp.float64)
        return score

    def _products(self, values: Any, basis: Any) -> Any:
        """values @ basisᵀ; in float32, sums of at most 4096 terms are then added in float64."""
        xp, n = self._xp, values.shape[1]
        if self.dtype == xp.float64 or n <= _FLOAT32_TERMS:
            return xp.astype(values @ basis.T, xp.float64)
        whole = n - n % _FLOAT32_TERMS
        shape = (-1, whole // _FLOAT32_TERMS, _FLOAT32_TERMS)
        parts = xp.permute_dims(xp.reshape(values[:, :whole], shape), (1, 0, 2))
        bases = xp.permute_dims(xp.reshape(basis[:, :whole], shape), (1, 2, 0))
        return xp.sum(parts @ bases, axis=0, dtype=xp.float64) + xp.astype(
            values[:, whole:] @ basis[:, whole:].T, xp.float64
        )

    def _dots(self, left: Any, right: Any) -> Any:
        """Return sums of products over rows, in float64."""
        if self.dtype == self._xp.float64:
            return self._xp.vecdot(left, right)
        return self._xp.sum(left * right, axis=1, dtype=self._xp.float64)

    def _pieces(self, n_rows: int, n_games: int) -> Iterator[slice]:
        on_cpu = str(device(self._weight)) == "cpu"
        step = max(1, (_CPU_NUMBERS if on_cpu else _DEVICE_NUMBERS) // n_games)
        return (slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step))

    def _zeros(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        dtype = self.dtype if dtype is None else dtype
        return self._xp.zeros(shape, dtype=dtype, device=device(self._weight))

    def _cast(self, values: Any) -> Any:
        return self._xp.astype(values, self.dtype, copy=False)
