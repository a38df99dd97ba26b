"""Hold a block of rows and its state in the game, and answer with sums over it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.projection import RANK_TOLERANCE, TIE, OrthonormalBasis, WeightedColumns
from gerrymend._numeric.sums import Array
from gerrymend.models.mixture import Predictor
from gerrymend.notions import FairnessNotion

T = TypeVar("T")

Sums = tuple[Any, ...]
"""Arrays that are added over blocks."""

Columns = Literal["features", "protected"]

# Rows × games that are handled at once: in the cache of a core, or as a device can hold them.
_CPU_NUMBERS = 1 << 16
_DEVICE_NUMBERS = 1 << 28
# Plays that are looked at at once outside of the event: enough for a core's full speed.
_CPU_PLAYS = 256
# Terms that are added in float32, before float64 takes over.
_FLOAT32_TERMS = 4096


def tie(dtype: Any) -> float:
    """Return how close to 0 a fitted value ties; in float32 it is known to about 1e-7."""
    return TIE if "64" in str(dtype) else 1e-6


def rank_tolerance(dtype: Any) -> float:
    """Return the share of the largest singular value below which others are rounding."""
    return RANK_TOLERANCE if "64" in str(dtype) else 1e-6


class ArrayBlock:
    """Keep some rows of the game: bases, weights, votes, and the pressure on each, w·b·k.

    Rows are kept with those of the event first, so that the event's part of every array is a view.
    Arrays are of any library of the array API (NumPy, torch, CuPy), on any device, and stay there;
    games are the rows of all arrays of the game. The pressure counts groups: k = Σ ±1·g. Products
    are in the type of the features; in float32 no more than 4096 terms are added before float64
    takes over, so that a sum of n terms is off by some 10⁻⁷ of its terms' size, and not by n times
    that.

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
        # Rows without weight are no one's: they count as outside of the event, where they cost
        # nothing.
        order = xp.argsort(xp.astype(~counted, xp.int8), stable=True)
        self._n_event = int(xp.count_nonzero(counted))
        event = order[: self._n_event]
        self.features = WeightedColumns(features, weight[order], order)
        self.protected = WeightedColumns(protected, weight[event], event)
        self._terms = protected
        self._order = order
        self.dtype = features.dtype

        def by_label(values: tuple[float, float], rows: Any) -> Any:
            of_one = float(values[1])
            of_zero = float(values[0])
            where = xp.astype(positive[rows], self.dtype)
            return where * of_one + (1.0 - where) * of_zero

        self._weight = xp.astype(weight[order], self.dtype)
        self._positive = positive[order]
        self._weighted_base = self._weight * by_label((1.0, -1.0), order)
        # Of the rows of the event: w, and w times the a and the b of the outcome a + b·p.
        self._event_weight = self._weight[: self._n_event]
        self._offset = self._event_weight * by_label(notion.a, event)
        self._slope = self._event_weight * by_label(notion.b, event)

    def answer(self, method: Callable[..., T], *arguments: Any) -> T:
        """Answer a question, which is one of the methods below."""
        return method(self, *arguments)

    def factor(self, columns: Columns, method: Callable[..., T], *arguments: Any) -> T:
        """Return what these rows bring to the factorisation of their features, or of the others."""
        return method(self.features if columns == "features" else self.protected, *arguments)

    @property
    def on_cpu(self) -> bool:
        """Return whether rows are in the memory of this machine's cores."""
        return str(device(self._weight)) == "cpu"

    def n_features(self) -> int:
        """Return how many columns the features have."""
        return int(self.features.columns.shape[1])

    def prepare(
        self, features: OrthonormalBasis, protected: OrthonormalBasis, n_games: int
    ) -> Sums:
        """Make the bases, and the state of so many games; return what doesn't change.

        Bᵀ(w·(1 − 2y)), Bᵀ(w·b) and Bᵀw; Pᵀ(w·a) and Pᵀw; then total weight, that of positives, of
        the event, Σ w·a, and how many rows outside of it have a cost above and below 0.
        """
        xp = self._xp
        n = self._n_event
        self._basis = self.features.basis(features, self.dtype)
        self._protected_basis = basis = self.protected.basis(protected, self.dtype)
        # What votes, and what members, are multiplied with for the sums that are asked for.
        self._of_votes = xp.concat(
            [basis * self._slope, xp.stack([self._slope, self._weighted_base[:n]])]
        )
        self._of_members = xp.stack([self._event_weight, self._offset])
        self._votes, self._pressure, self._members = (self._zeros((n_games, n)) for _ in range(3))
        self._outside = self._zeros((n_games,), xp.float64)

        slope = self._zeros((self._weight.shape[0],))
        slope[:n] = self._slope
        learner = xp.stack([self._weighted_base, slope, self._weight])
        auditor = xp.stack([self._offset, self._event_weight])
        positive = self._positive
        outside = self._weighted_base[n:]
        scalars = [
            *(self._weight, self._weight * positive, self._event_weight, self._offset),
            *(outside > 0, outside < 0),
        ]
        return (
            self._products(learner, self._basis),
            self._products(auditor, basis),
            xp.stack([xp.sum(values, dtype=xp.float64) for values in scalars]),
        )

    def signs(self, multipliers: Any, mean: Any, scale: Any) -> Any:
        """Count rows of the event with a cost above 0, and below, under the next pressure."""
        xp = self._xp
        counts = self._zeros((multipliers.shape[0], 2), xp.float64)
        multipliers, mean, scale = (
            self._cast(values)[:, None] for values in (multipliers, mean, scale)
        )
        for rows in self._pieces(self._n_event, counts.shape[0]):
            pressure = self._pressure[:, rows] + multipliers * self._members[:, rows]
            # w·(1 − 2y) + w·b·(k − mean k)·C/t, of which the pressure is w·b·k.
            cost = self._weighted_base[rows] + (pressure - self._slope[rows] * mean) * scale
            above = xp.sum(cost > 0, axis=1)
            below = xp.sum(cost < 0, axis=1)
            counts += xp.astype(xp.stack([above, below], axis=1), xp.float64)
        return counts

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Press on what was found last, ±1 or 0, and take the Learner's decisions into the votes.

        Returns, over the event and all rounds, Pᵀ(w·b·votes) with Σ w·b·votes beside it;
        Σ w·(1 − 2y)·votes; and Σ k·w·b·votes, with the pressure k that the Learner answered.
        """
        multipliers = self._cast(multipliers)[:, None]
        coordinates = self._cast(coordinates)
        n_games = coordinates.shape[0]
        products = self._zeros((n_games, self._of_votes.shape[0]), self._xp.float64)
        pressed = self._zeros((n_games,), self._xp.float64)
        for rows in self._pieces(self._n_event, n_games):
            self._take_votes(coordinates @ self._basis[:, rows], rows, multipliers, pressed)
            products += self._products(self._votes[:, rows], self._of_votes[:, rows])
        return products[:, :-1], products[:, -1], pressed

    def _take_votes(self, fitted: Any, rows: slice, multipliers: Any, pressed: Any) -> None:
        """Press on a piece, vote where the fitted cost is below 0, and add Σ k·w·b·votes."""
        pressure = self._pressure[:, rows]
        votes = self._votes[:, rows]
        # The pressure comes first: the play has answered costs that had it, and `pressed` is of
        # these.
        pressure += multipliers * self._members[:, rows]
        votes += self._cast(fitted < -tie(self.dtype))
        pressed += self._dots(pressure, votes)

    def costs(self, multipliers: Array, mean: Array, scale: Array, game: int) -> Any:
        """Return the cheaper label of each row, in the order they came in, and what it saves."""
        n = self._n_event
        pressure = self._pressure[game] + multipliers[game] * self._members[game]
        cost = np.empty(len(self._weight))
        cost[self._order] = self._weighted_base
        cost[self._order[:n]] += (pressure - self._slope * mean[game]) * scale[game]
        return (cost < 0).astype(np.int8), np.abs(cost)

    def vote(self, multipliers: Array, predictors: Sequence[Predictor]) -> Sums:
        """Take in decisions as `decide` does, those of one predictor a game, and over all rows."""
        n = self._n_event
        rows = self.features.columns
        decisions = self._zeros((len(predictors), len(rows)))
        if len(rows):
            decisions[:] = [predictor.decide(rows)[self._order] for predictor in predictors]
        self._pressure += multipliers[:, None] * self._members
        self._votes += decisions[:, :n]
        # Unlike coordinates, predictors are dear to ask again: rows outside are counted at once.
        self._outside += decisions[:, n:] @ self._weighted_base[n:]
        products = self._products(self._votes, self._of_votes)
        errors = products[:, -1] + self._outside
        return products[:, :-1], errors, self._dots(self._pressure, self._votes)

    def find(self, coordinates: Any) -> Sums:
        """Select the group g where the regression of the residual is above 0.

        Returns, over the event, Bᵀ(w·b·g); and Σ w·g, Σ w·a·g and Σ w·b·votes·g as columns.
        """
        coordinates = self._cast(coordinates)
        n_games = coordinates.shape[0]
        products = self._zeros((n_games, self._basis.shape[0]), self._xp.float64)
        sums = self._zeros((n_games, 3), self._xp.float64)
        for rows in self._pieces(self._n_event, n_games):
            members = self._select(coordinates @ self._protected_basis[:, rows], rows, sums)
            products += self._products(members, self._basis[:, rows])
        return products, sums

    def _select(self, fitted: Any, rows: slice, sums: Any) -> Any:
        """Select the members of a piece, and add their sums; returns w·b·g."""
        members = self._cast(fitted > tie(self.dtype))
        sums[:, :2] += self._products(members, self._of_members[:, rows])
        # Kept as w·b·g, which is what the group adds to the pressure if it is pressed on.
        members *= self._slope[rows]
        self._members[:, rows] = members
        sums[:, 2] += self._dots(members, self._votes[:, rows])
        return members

    def replay(self, multipliers: Any, plays: Any, groups: Any) -> None:
        """Do again what `decide` and `find` of many rounds have done, of which no sum is wanted.

        Round by round, in products of the same shape: others round differently, and would decide
        other rows.
        """
        n_games = multipliers.shape[1]
        pressed = self._zeros((n_games,), self._xp.float64)
        sums = self._zeros((n_games, 3), self._xp.float64)
        for number in range(multipliers.shape[0]):
            placed = self._cast(multipliers[number, :])[:, None]
            # Copies, as a part of a larger array may not lie at a boundary of memory, as they did.
            play, group = (
                self._xp.asarray(self._cast(values[number, ...]), copy=True)
                for values in (plays, groups)
            )
            for rows in self._pieces(self._n_event, n_games):
                self._take_votes(play @ self._basis[:, rows], rows, placed, pressed)
                self._select(group @ self._protected_basis[:, rows], rows, sums)

    def bound(self, mean: Any, share: Any) -> Any:
        """Return Σ w·(u − mean)⁺ over the event, which no group exceeds; a vote counts `share`."""
        xp = self._xp
        total = self._zeros(mean.shape, xp.float64)
        mean, share = (self._cast(self._there(values))[:, None] for values in (mean, share))
        for rows in self._pieces(self._n_event, mean.shape[0]):
            centred = self._offset[rows] - mean * self._event_weight[rows]
            residual = centred + self._slope[rows] * self._votes[:, rows] * share
            total += xp.sum(residual * (residual > 0), axis=1, dtype=xp.float64)
        return total

    def decided_outside(self, plays: Any) -> Any:
        """Return Σ w·(1 − 2y)·d over rows outside of the event, for the decisions of many plays."""
        xp = self._xp
        n = self._n_event
        basis = self._basis[:, n:]
        base = self._weighted_base[n:]
        at_once = _CPU_PLAYS if self.on_cpu else plays.shape[0]
        total = self._zeros((plays.shape[0],), xp.float64)
        for first in range(0, plays.shape[0], at_once):
            some = self._cast(plays[first : first + at_once, :])
            for rows in self._pieces(base.shape[0], some.shape[0]):
                decisions = some @ basis[:, rows] < -tie(self.dtype)
                decided = xp.sum(decisions * base[rows], axis=1, dtype=xp.float64)
                total[first : first + at_once] += decided
        return total

    def sizes(self) -> Array:
        """Return the largest size of each protected term."""
        return WeightedColumns(self._terms, self._weight).largest()

    def ends(self, rules: Array, thresholds: Array, rounded: Array) -> Array:
        """Return the highest rounded score of rows out of each rule, and the lowest of those in.

        A rule is a row of coefficients, of all terms.
        """
        xp = self._xp
        low = self._there(np.full(len(rules), -np.inf))
        high = self._there(np.full(len(rules), np.inf))
        for rows in self._pieces(self._order.shape[0], len(rules)):
            inside = self._scores(rules, rows) >= self._there(thresholds)[:, None]
            scores = self._scores(rounded, rows)
            low = xp.maximum(low, xp.max(xp.where(inside, -xp.inf, scores), axis=1))
            high = xp.minimum(high, xp.min(xp.where(inside, scores, xp.inf), axis=1))
        return on_host(xp.stack([low, high]))

    def treated(self, rules: Array, thresholds: Array, share: Array) -> Array:
        """Return rows that each rule selects; their weight and outcomes in the event; all outcomes.

        One rule for each game, of which a vote counts `share`.
        """
        xp = self._xp
        n = self._n_event
        step = len(rules)
        sums = self._zeros((4, step), xp.float64)
        thresholds, share = (self._there(values)[:, None] for values in (thresholds, share))
        for rows in self._pieces(self._order.shape[0], step):
            members = self._scores(rules, rows) >= thresholds
            sums[0, :] += xp.sum(members, axis=1, dtype=xp.float64)
            event = slice(rows.start, min(rows.stop, n))
            if event.start >= event.stop:
                continue
            inside = members[:, : event.stop - event.start]
            outcome = self._offset[event] + self._slope[event] * self._votes[:, event] * share
            parts = (inside * self._event_weight[event], inside * outcome, outcome)
            sums[1:, :] += xp.stack([xp.sum(part, axis=1, dtype=xp.float64) for part in parts])
        return on_host(sums)

    def _scores(self, rules: Array, rows: slice) -> Any:
        """Return Σ coefficient·term, a rule a row, added as a rule adds; the event comes first."""
        terms = self._xp.astype(self._terms[self._order[rows], :], self._xp.float64)
        rules = self._there(rules)
        score = self._zeros((rules.shape[0], terms.shape[0]), self._xp.float64)
        for term in range(terms.shape[1]):
            score += rules[:, term, None] * terms[:, term]
        return score

    def _products(self, values: Any, basis: Any) -> Any:
        """Return values @ basisᵀ; in float32, sums of 4096 terms are then added in float64."""
        xp = self._xp
        n = values.shape[1]
        if self.dtype == xp.float64 or n <= _FLOAT32_TERMS:
            return xp.astype(values @ basis.T, xp.float64)
        # A batch of products, one for every 4096 rows, and one more for what is left of them.
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
        step = max(1, (_CPU_NUMBERS if self.on_cpu else _DEVICE_NUMBERS) // n_games)
        return (slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step))

    def _there(self, values: Array) -> Any:
        return self._xp.asarray(values, dtype=self._xp.float64, device=device(self._weight))

    def _zeros(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        dtype = self.dtype if dtype is None else dtype
        return self._xp.zeros(shape, dtype=dtype, device=device(self._weight))

    def _cast(self, values: Any) -> Any:
        return self._xp.astype(values, self.dtype, copy=False)
