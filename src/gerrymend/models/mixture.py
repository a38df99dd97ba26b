"""Mixtures of predictors: a randomised classifier that decides 1 with a known probability."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload
from weakref import WeakKeyDictionary

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import beside, is_device_array, on_host
from gerrymend._numeric.sums import Array
from gerrymend.inputs.column_words import words_of_columns

# Scores computed at once: 4 MB of float64, so that they stay in the cache.
_BLOCK_SCORES = 1 << 19


# Methods that return the score of a classifier; the first that it has is used.
SCORE_METHODS = ("decision_function", "predict_proba")


class Predictor(Protocol):
    """A deterministic rule that decides 0 or 1 for each row of X."""

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows that are decided 1."""
        ...


@dataclass(frozen=True)
class ConstantPredictor:
    """A predictor with the same decision for every row."""

    decision: bool

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return the decision for each row."""
        return np.full(X.shape[0], self.decision)


@dataclass(frozen=True, eq=False)
class LinearPredictor:
    """A linear predictor: decides 1 where x·coef + intercept > 0."""

    coef: Array
    intercept: float

    def score(self, X: Any) -> Array:
        """Return x·coef + intercept for each row."""
        score: Array = np.asarray(X) @ self.coef + self.intercept
        return score

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows with a positive score."""
        return self.score(X) > 0

    def cut_at(self, cut: float) -> "LinearPredictor":
        """Return a predictor that decides 1 where this score is above `cut`."""
        # x·coef + b > cut is x·coef + (b − cut) > 0.
        return LinearPredictor(self.coef, self.intercept - cut)


@dataclass(frozen=True, eq=False)
class CostPredictor:
    """A fitted regressor of the cost of deciding 1; decides 1 where minus that is above `cut`."""

    regressor: Any
    cut: float = 0.0

    def score(self, X: Any) -> Array:
        """Return what deciding 1 is predicted to save."""
        score = -np.asarray(on_host(self.regressor.predict(X)), dtype=np.float64).ravel()
        return _checked_score(score, self.regressor)

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows with a score above the cut."""
        return self.score(X) > self.cut

    def cut_at(self, cut: float) -> "CostPredictor":
        """Return a predictor with the same score and another cut."""
        return CostPredictor(self.regressor, cut)


@dataclass(frozen=True, eq=False)
class ScorePredictor:
    """A fitted classifier of the labels 0 and 1; decides 1 where its score is above `cut`.

    `method` is the one of `SCORE_METHODS` that returns the score.
    """

    classifier: Any
    method: str
    cut: float

    def __post_init__(self) -> None:
        if self.method not in SCORE_METHODS:  # it may come from a file
            raise ValueError(f"method must be one of {SCORE_METHODS}; got {self.method!r}.")

    def score(self, X: Any) -> Array:
        """Return the decision function, or the probability of label 1, for each row."""
        score = np.asarray(on_host(getattr(self.classifier, self.method)(X)), dtype=np.float64)
        return _checked_score(score[:, 1] if score.ndim == 2 else score, self.classifier)

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows with a score above the cut."""
        return self.score(X) > self.cut

    def cut_at(self, cut: float) -> "ScorePredictor":
        """Return a predictor with the same score and another cut."""
        return ScorePredictor(self.classifier, self.method, cut)


def _checked_score(score: Array, model: Any) -> Array:
    """Refuse scores that are NaN: compared with a cut they would be decisions that nobody made."""
    if undecided := int(np.isnan(score).sum()):
        raise ValueError(
            f"estimator: {type(model).__name__} gives NaN as the score of {undecided:,} of "
            f"{len(score):,} rows. Look for columns of X that are constant or of an extreme size, "
            "or pass another estimator."
        )
    return score


@dataclass(frozen=True, eq=False)
class LabelPredictor:
    """A fitted classifier of the labels 0 and 1 without a score; decides what it predicts."""

    classifier: Any

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows for which label 1 is predicted."""
        return on_host(self.classifier.predict(X)).ravel() == 1


@dataclass(frozen=True, eq=False)
class ThresholdPredictor:
    """A deterministic form of a mixture: decides 1 where its probability of 1 is at least `cut`."""

    mixture: "Mixture"
    cut: float

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of the rows whose probability reaches the cut."""
        return self.mixture.positive_probability(X) >= self.cut


class LinearPredictors(Sequence[LinearPredictor]):
    """A sequence of linear predictors, kept as arrays.

    `coef` has shape (n_predictors, n_features) and `intercept` (n_predictors,).
    """

    def __init__(self, coef: Array, intercept: Array) -> None:
        self.coef = coef
        self.intercept = intercept

    def __len__(self) -> int:
        return len(self.coef)

    @overload
    def __getitem__(self, index: int) -> LinearPredictor: ...
    @overload
    def __getitem__(self, index: slice) -> "LinearPredictors": ...
    def __getitem__(self, index: int | slice) -> "LinearPredictor | LinearPredictors":
        if isinstance(index, slice):
            return LinearPredictors(self.coef[index], self.intercept[index])
        return LinearPredictor(self.coef[index], float(self.intercept[index]))

    def __iter__(self) -> Iterator[LinearPredictor]:
        return (self[i] for i in range(len(self)))

    def share_deciding_one(self, X: Any, weights: Array) -> Any:
        """Return, for each row, the total weight of the predictors that decide 1.

        Scores are float64, in the library of X and on its device. `weights` are probabilities.
        """
        xp = array_namespace(X)

        def there(values: Array) -> Any:
            return xp.asarray(values, device=device(X))

        share = xp.empty((X.shape[0],), dtype=xp.float64, device=device(X))
        # Weights are often equal, as for plays of a game; the share is then a count, and exact.
        equal = bool((weights == weights[0]).all())
        coef = there(self.coef.T)
        cut = there(-self.intercept)
        weight = there(weights)
        # A block has step × len(self) scores.
        step = max(1, _BLOCK_SCORES // len(self))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            decided = xp.astype(X[rows], xp.float64, copy=False) @ coef > cut
            if equal:
                share[rows] = xp.astype(xp.count_nonzero(decided, axis=1), xp.float64)
            else:
                share[rows] = xp.astype(decided, xp.float64) @ weight
        # A count over a number of predictors is in [0, 1] as it is; a sum of weights may round to
        # just above 1.
        return share / len(self) if equal else xp.clip(share, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Mixture:
    """A randomised classifier: predictors, and the probability with which each is used."""

    predictors: Sequence[Any]
    weights: Array

    @classmethod
    def of_linear(cls, coef: Array, intercept: Array, weights: Array | None = None) -> "Mixture":
        """Mix linear predictors, uniformly without weights; identical ones are merged.

        `coef` has shape (n_predictors, n_features). Weights are scaled to sum to 1.
        """
        # One row a predictor, so that np.unique finds those that are identical.
        both = np.column_stack([intercept, coef])
        distinct, place = np.unique(both, axis=0, return_inverse=True)
        # Without weights bincount counts: plays of a game, each as likely as any other.
        total = np.bincount(place.ravel(), weights)
        return cls(LinearPredictors(distinct[:, 1:].copy(), distinct[:, 0]), total / total.sum())

    @classmethod
    def of_predictors(
        cls, predictors: Sequence[Predictor], weights: Array | None = None
    ) -> "Mixture":
        """Mix any predictors, uniformly without weights; identical ones are merged.

        Weights are scaled to sum to 1.
        """
        linear = [p for p in predictors if isinstance(p, LinearPredictor)]
        constants = [p for p in predictors if isinstance(p, ConstantPredictor)]
        # A constant is linear too, with coefficients of 0 and an intercept of ±1.
        if linear and len(linear) + len(constants) == len(predictors):
            zeros = np.zeros_like(linear[0].coef)
            coef = [p.coef if isinstance(p, LinearPredictor) else zeros for p in predictors]
            intercept = [_intercept(predictor) for predictor in predictors]
            return cls.of_linear(np.array(coef), np.array(intercept), weights)
        distinct: dict[str, Predictor] = {}
        total: dict[str, float] = {}
        for i, predictor in enumerate(predictors):
            # One that can't be hashed is identical to itself only.
            key = content_of(predictor) or f"id {id(predictor)}"
            distinct.setdefault(key, predictor)
            total[key] = total.get(key, 0.0) + (1.0 if weights is None else float(weights[i]))
        summed = np.array(list(total.values()))
        return cls(list(distinct.values()), summed / summed.sum())

    def positive_probability(self, X: Any) -> Array:
        """Return the probability with which each row is decided 1."""
        if isinstance(self.predictors, LinearPredictors):
            return self.predictors.share_deciding_one(X, self.weights)
        p = np.zeros(X.shape[0])
        for weight, predictor in zip(self.weights, self.predictors, strict=True):
            p += weight * on_host(predictor.decide(X))
        # Weights sum to 1 but for rounding, and a probability of 1 + 2⁻⁵² would be refused by
        # audits.
        share: Array = beside(X, np.clip(p, 0.0, 1.0))
        return share


def _intercept(predictor: Any) -> float:
    if isinstance(predictor, ConstantPredictor):
        return 1.0 if predictor.decision else -1.0
    return float(predictor.intercept)


# Content of predictors that were loaded from a file. A copy of an estimator may hash differently
# from the original, and a resumed fit must merge it with equal ones as the first fit would have.
_REMEMBERED: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def content_of(predictor: Predictor) -> str | None:
    """Return a text that identical predictors share, or None for one that can't be hashed."""
    if predictor in _REMEMBERED:
        return _REMEMBERED[predictor]
    try:
        return str(joblib.hash(predictor))
    except Exception:  # joblib walks any object, and any object can object
        return None


def remember_content(predictor: Predictor, content: str) -> None:
    """Make `content_of` return this content for a copy of a predictor."""
    _REMEMBERED[predictor] = content


def row_draws(X: Any, seed: int) -> Any:
    """Draw a number in [0, 1) for each row that depends only on the seed and the row's values.

    So a person gets the same decision in any batch and any order, and another seed draws anew.
    The values of a row are folded into 64 bits by the finaliser of splitmix64, and the upper 53
    of them are the digits of the number.

    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> bool(row_draws(X, seed=1)[1] == row_draws(X[1:], seed=1)[0])
    True
    """
    xp = array_namespace(X) if is_device_array(X) else np
    state = _scramble(np.array([seed], dtype=np.int64))
    if xp is not np:
        state = xp.asarray(state, device=device(X))
    for words in words_of_columns(X):
        # Chained, column by column: the same values in other columns give another number. The first
        # state, from the seed alone, broadcasts over the rows.
        state = _scramble(state ^ words)
    # 53 bits are what float64 holds exactly, so that every draw is a multiple of 2⁻⁵³, below 1.
    return xp.asarray(_shifted(state, 11), dtype=xp.float64) * 2.0**-53


def _scramble(state: Any) -> Any:
    """Apply the finaliser of splitmix64 to int64 words.

    It is defined on unsigned words, which torch lacks; sums and products have the same bits.
    """
    state = state + _signed(0x9E3779B97F4A7C15)
    state = (state ^ _shifted(state, 30)) * _signed(0xBF58476D1CE4E5B9)
    state = (state ^ _shifted(state, 27)) * _signed(0x94D049BB133111EB)
    return state ^ _shifted(state, 31)


def _shifted(state: Any, bits: int) -> Any:
    """Shift to the right as unsigned words are, with zeros from the left."""
    # A signed shift repeats the sign; the mask sets these bits to 0.
    return (state >> bits) & ((1 << (64 - bits)) - 1)


def _signed(word: int) -> int:
    """Return the signed number with the same 64 bits."""
    return word - (1 << 64) if word >> 63 else word
