"""A block of rows, its state in the game, and the sums that a round asks of it."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._projection import RANK_TOLERANCE, TIE, Frame, WeightedColumns, on_host
from gerrymend._sums import Array
from gerrymend.notions import FairnessNotion

Sums = tuple[Any, ...]
"""Arrays that are added over blocks."""

# Rows × games that are handled at once: in the cache of a core, or as a device can hold them.
_CPU_NUMBERS = 1 << 16
_DEVICE_NUMBERS = 1 << 28
# Terms that are added in float32, before float64 takes over.
_FLOAT32_TERMS = 4096


def tie(dtype: Any) -> float:
    """A fitted value this close to 0 is a tie; in float32 they are known to about 1e-7."""
    return TIE if "64" in str(dtype) else 1e-6


def rank_tolerance(dtype: Any) -> float:
    """Singular values this small are rounding: columns of float32 are known to about 1e-7."""
    return RANK_TOLERANCE if "64" in str(dtype) else 1e-6


class LinearBlock:
    """Some rows of the game: their bases, weights, votes and the pressure on them.

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

        # Weights, and weights times what a row of each label brings.
        self._weight = xp.astype(weight[order], self.dtype)
        self._positive = positive[order]
        self._weighted_base = self._weight * by_label((1.0, -1.0), order)
        event_weight = self._weight[: self._n_event]
        self._offset = by_label(notion.a, event)
        self._slope = by_label(notion.b, event)
        self._weighted_slope = event_weight * self._slope

    def factor(self, columns: str, method: str, *arguments: Any) -> Any:
        """What these rows bring to the factorisation of "features" or of "protected"."""
        return getattr(getattr(self, columns), method)(*arguments)

    def prepare(self, features: Frame, protected: Frame, n_games: int) -> Sums:
        """Make the bases, and the state of so many games; return what doesn't change.

        Bᵀ(w·(1 − 2y)), Bᵀ(w·b) and Bᵀw; Pᵀ(w·a) and Pᵀw; then total weight, that of positives, of
        the event, Σ w·a, and how many rows outside of it have a cost above and below 0.
        """
        xp, n = self._xp, self._n_event
        self._basis = self.features.basis(features, self.dtype)
        self._protected_basis = self.protected.basis(protected, self.dtype)
        self._votes = self._zeros((n_games, n))
        self._pressure = self._zeros((n_games, n))  # Σ ±C·g
        self._members = xp.astype(self._votes, xp.bool)

        weight, base = self._weight, self._weighted_base
        slope = self._zeros((weight.shape[0],))
        slope[:n] = self._weighted_slope
        learner = self._products(xp.stack([base, slope, weight]), self._basis)
        offset = weight[:n] * self._offset
        auditor = self._products(xp.stack([offset, weight[:n]]), self._protected_basis)
        scalars = [
            *(weight, weight * self._positive, weight[:n], offset),
            *(~self._positive[n:], self._positive[n:]),
        ]
        return learner, auditor, xp.stack([xp.sum(one, dtype=xp.float64) for one in scalars])

    def signs(self, multipliers: Any, mean: Any, scale: float) -> Sums:
        """How many rows of the event have a cost above 0, and below, under the next pressure."""
        xp = self._xp
        counts = self._zeros((multipliers.shape[0], 2), xp.float64)
        base = xp.where(self._positive[: self._n_event], -1.0, 1.0)
        for rows in self._pieces(self._n_event, multipliers.shape[0]):
            pressure = self._pressure[:, rows] + multipliers[:, None] * self._members[:, rows]
            cost = base[rows] + self._slope[rows] * (pressure - mean[:, None]) * scale
            above, below = xp.sum(cost > 0, axis=1), xp.sum(cost < 0, axis=1)
            counts += xp.astype(xp.stack([above, below], axis=1), xp.float64)
        return (counts,)

    def decide(self, multipliers: Any, coordinates: Any) -> Sums:
        """Press on what was found last, and take the Learner's decisions d into the votes.

        Returns Pᵀ(w·b·d); then, for each game, Σ w·b·d, Σ w·(1 − 2y)·d, and with the pressure S
        that the Learner answered, Σ S·w·b·d and Σ S·w·b·votes; all over the event.
        """
        n_games = multipliers.shape[0]
        multipliers, coordinates = self._cast(multipliers)[:, None], self._cast(coordinates)
        products = self._zeros((n_games, self._protected_basis.shape[0]), self._xp.float64)
        sums = self._zeros((n_games, 4), self._xp.float64)
        for rows in self._pieces(self._n_event, n_games):
            pressure, votes = self._pressure[:, rows], self._votes[:, rows]
            pressure += multipliers * self._members[:, rows]
            decisions = coordinates @ self._basis[:, rows] < -tie(self.dtype)
            votes += decisions
            weighted = decisions * self._weighted_slope[rows]
            products += self._products(weighted, self._protected_basis[:, rows])
            pressed = pressure * self._weighted_slope[rows]
            sums += self._sums(
                weighted,
                decisions * self._weighted_base[rows],
                pressed * decisions,
                pressed * votes,
            )
        return products, sums

    def find(self, coordinates: Any, mean: Any, share: float) -> Sums:
        """The group g that the regression of the residual selects.

        Returns Bᵀ(w·b·g); then, for each game, Σ w·g, Σ w·a·g, Σ w·b·votes·g, and Σ w·(u − mean)⁺,
        which no group exceeds; all over the event. A vote counts `share`.
        """
        n_games = mean.shape[0]
        mean, coordinates = self._cast(mean)[:, None], self._cast(coordinates)
        products = self._zeros((n_games, self._basis.shape[0]), self._xp.float64)
        sums = self._zeros((n_games, 4), self._xp.float64)
        for rows in self._pieces(self._n_event, n_games):
            members = coordinates @ self._protected_basis[:, rows] > tie(self.dtype)
            self._members[:, rows] = members
            weighted = members * self._weighted_slope[rows]
            products += self._products(weighted, self._basis[:, rows])
            votes, weight = self._votes[:, rows], self._weight[rows]
            residual = self._offset[rows] - mean + self._slope[rows] * votes * share
            heavy = members * weight
            sums += self._sums(
                heavy,
                heavy * self._offset[rows],
                weighted * votes,
                weight * residual * (residual > 0),
            )
        return products, sums

    def outside(self, coordinates: Any) -> Sums:
        """Σ w·(1 − 2y)·d over rows outside of the event, for the decisions of many coordinates."""
        xp, n = self._xp, self._n_event
        coordinates = self._cast(coordinates)
        basis, base = self._basis[:, n:], self._weighted_base[n:]
        total = self._zeros((coordinates.shape[0],), xp.float64)
        for rows in self._pieces(base.shape[0], coordinates.shape[0]):
            decisions = coordinates @ basis[:, rows] < -tie(self.dtype)
            total += xp.sum(decisions * base[rows], axis=1, dtype=xp.float64)
        return (total,)

    def sizes(self) -> Array:
        """The largest size of each protected term."""
        return WeightedColumns(self._terms, self._weight).largest()

    def ends(
        self, coefficients: Sequence[float], threshold: float, rounded: Sequence[float]
    ) -> tuple[float, float]:
        """Highest rounded score of rows out of a rule, and lowest of those in."""
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
        outcome = xp.astype(outcome * self._weight[:n], xp.float64)
        parts = (members, inside * self._weight[:n], inside * outcome, outcome)
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

    def _sums(self, *values: Any) -> Any:
        """Sums over rows in float64, one a column."""
        xp = self._xp
        return xp.stack([xp.sum(one, axis=1, dtype=xp.float64) for one in values], axis=1)

    def _pieces(self, n_rows: int, n_games: int) -> Iterator[slice]:
        on_cpu = str(device(self._weight)) == "cpu"
        step = max(1, (_CPU_NUMBERS if on_cpu else _DEVICE_NUMBERS) // n_games)
        return (slice(i, min(i + step, n_rows)) for i in range(0, n_rows, step))

    def _zeros(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        dtype = self.dtype if dtype is None else dtype
        return self._xp.zeros(shape, dtype=dtype, device=device(self._weight))

    def _cast(self, values: Any) -> Any:
        return self._xp.astype(values, self.dtype, copy=False)


class Blocks(Protocol):
    """Blocks, wherever they are: all that the game needs to reach them."""

    def gather(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block answers."""
        ...

    def add(self, method: str, *arguments: Any) -> Sums:
        """The sums that a method of each block answers, added up."""
        ...


class LocalBlocks:
    """Blocks in this process.

    >>> from gerrymend.notions import FALSE_POSITIVE_RATE
    >>> x, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.ones(2)
    >>> blocks = LocalBlocks([LinearBlock(x, x, y, w, FALSE_POSITIVE_RATE)] * 2)
    >>> blocks.gather("factor", "features", "total")
    [2.0, 2.0]
    """

    def __init__(self, blocks: Sequence[LinearBlock]) -> None:
        self._blocks = blocks

    def gather(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block answers."""
        return [getattr(block, method)(*arguments) for block in self._blocks]

    def add(self, method: str, *arguments: Any) -> Sums:
        """The sums that a method of each block answers, added up."""
        return added(self.gather(method, *arguments))


def added(parts: Sequence[Sums]) -> Sums:
    """Sums over blocks, one after the other."""
    first, *others = parts
    for other in others:
        first = tuple(mine + theirs for mine, theirs in zip(first, other, strict=True))
    return first
