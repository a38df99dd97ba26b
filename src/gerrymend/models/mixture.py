"""Mixtures of predictors: a randomised classifier that decides 1 with a known probability."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload
from weakref import WeakKeyDictionary

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.externals.array_api_compat import array_namespace, device

from gerrymend._numeric.arrays import is_device_array
from gerrymend._numeric.sums import Array
from gerrymend.inputs.column_words import words_of_columns

# Scores that are held at once: a few megabytes, so that they stay in the cache.
_BLOCK_SCORES = 1 << 19


# How a classifier's score is asked for, the first that it has.
SCORE_METHODS = ("decision_function", "predict_proba")


class Predictor(Protocol):
    """Decides 0 or 1 for each row."""

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Whether each row is decided 1."""
        ...


@dataclass(frozen=True)
class ConstantPredictor:
    """Decides the same for every row."""

    decision: bool

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """The same for each row."""
        return np.full(X.shape[0], self.decision)


@dataclass(frozen=True, eq=False)
class LinearPredictor:
    """Decides 1 where x·coef + intercept > 0."""

    coef: Array
    intercept: float

    def score(self, X: Any) -> Array:
        """x·coef + intercept."""
        score: Array = np.asarray(X) @ self.coef + self.intercept
        return score

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Whether each row lies on the positive side."""
        return self.score(X) > 0

    def cut_at(self, cut: float) -> "LinearPredictor":
        """The same score, cut elsewhere."""
        return LinearPredictor(self.coef, self.intercept - cut)


@dataclass(frozen=True, eq=False)
class CostPredictor:
    """A fitted regressor of the cost of deciding 1: decides 1 where it predicts little enough."""

    regressor: Any
    cut: float = 0.0

    def score(self, X: Any) -> Array:
        """What deciding 1 is predicted to save."""
        score = -np.asarray(self.regressor.predict(X), dtype=np.float64).ravel()
        return _checked_score(score, self.regressor)

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Whether the saving is above the cut."""
        return self.score(X) > self.cut

    def cut_at(self, cut: float) -> "CostPredictor":
        """The same score, cut elsewhere."""
        return CostPredictor(self.regressor, cut)


@dataclass(frozen=True, eq=False)
class ScorePredictor:
    """A fitted classifier of the labels 0 and 1, its score cut where it costs least."""

    classifier: Any
    method: str
    cut: float

    def __post_init__(self) -> None:
        if self.method not in SCORE_METHODS:  # it may come from a file
            raise ValueError(f"method must be one of {SCORE_METHODS}; got {self.method!r}.")

    def score(self, X: Any) -> Array:
        """The decision function, or the probability of label 1."""
        score = np.asarray(getattr(self.classifier, self.method)(X), dtype=np.float64)
        return _checked_score(score[:, 1] if score.ndim == 2 else score, self.classifier)

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Whether the score is above the cut."""
        return self.score(X) > self.cut

    def cut_at(self, cut: float) -> "ScorePredictor":
        """The same score, cut elsewhere."""
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
    """A fitted classifier of the labels 0 and 1 that has no score."""

    classifier: Any

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Whether label 1 is predicted."""
        return np.asarray(self.classifier.predict(X)).ravel() == 1


@dataclass(frozen=True, eq=False)
class ThresholdPredictor:
    """Decides 1 where a mixture does so with at least the probability `cut`."""

    mixture: "Mixture"
    cut: float

    def decide(self, X: Any) -> NDArray[np.bool_]:
        """Whether the probability reaches the cut."""
        return self.mixture.positive_probability(X) >= self.cut


class LinearPredictors(Sequence[LinearPredictor]):
    """Many linear predictors as one matrix of coefficients, one a row."""

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
        """Total weight of the predictors that decide 1, for each row, a block of scores at a time.

        Weights are often all equal, and then the count of predictors, times the weight, is exact.
        Scores are in float64, in the library of X and on its device.
        """
        xp = array_namespace(X)

        def there(values: Array) -> Any:
            return xp.asarray(values, device=device(X))

        share = xp.empty((X.shape[0],), dtype=xp.float64, device=device(X))
        equal = bool((weights == weights[0]).all())
        coef, cut, weight = there(self.coef.T), there(-self.intercept), there(weights)
        step = max(1, _BLOCK_SCORES // len(self))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            decided = xp.astype(X[rows], xp.float64, copy=False) @ coef > cut
            if equal:
                share[rows] = xp.astype(xp.count_nonzero(decided, axis=1), xp.float64)
            else:
                share[rows] = xp.astype(decided, xp.float64) @ weight
        return share / len(self) if equal else xp.clip(share, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Predictors and the probability with which each is used."""

    predictors: Sequence[Any]
    weights: Array

    @classmethod
    def of_linear(cls, coef: Array, intercept: Array, weights: Array | None = None) -> "Mixture":
        """A mixture of linear predictors, uniform without weights; identical ones are merged."""
        both = np.column_stack([intercept, coef])
        distinct, place = np.unique(both, axis=0, return_inverse=True)
        total = np.bincount(place.ravel(), weights)
        return cls(LinearPredictors(distinct[:, 1:].copy(), distinct[:, 0]), total / total.sum())

    @classmethod
    def of_predictors(
        cls, predictors: Sequence[Predictor], weights: Array | None = None
    ) -> "Mixture":
        """A mixture of any predictors, uniform without weights; identical ones are merged."""
        linear = [one for one in predictors if isinstance(one, LinearPredictor)]
        constants = [one for one in predictors if isinstance(one, ConstantPredictor)]
        if linear and len(linear) + len(constants) == len(predictors):
            shape = np.zeros_like(linear[0].coef)
            coef = [one.coef if isinstance(one, LinearPredictor) else shape for one in predictors]
            intercept = [_intercept(one) for one in predictors]
            return cls.of_linear(np.array(coef), np.array(intercept), weights)
        distinct: dict[str, Predictor] = {}
        total: dict[str, float] = {}
        for i, predictor in enumerate(predictors):
            key = content_of(predictor) or f"id {id(predictor)}"
            distinct.setdefault(key, predictor)
            total[key] = total.get(key, 0.0) + (1.0 if weights is None else float(weights[i]))
        summed = np.array(list(total.values()))
        return cls(list(distinct.values()), summed / summed.sum())

    def positive_probability(self, X: Any) -> Array:
        """Probability that each row is decided 1."""
        if isinstance(self.predictors, LinearPredictors):
            return self.predictors.share_deciding_one(X, self.weights)
        p = np.zeros(X.shape[0])
        for weight, predictor in zip(self.weights, self.predictors, strict=True):
            p += weight * predictor.decide(X)
        return np.clip(p, 0.0, 1.0)


def _intercept(predictor: Any) -> float:
    if isinstance(predictor, ConstantPredictor):
        return 1.0 if predictor.decision else -1.0
    return float(predictor.intercept)


# The content of predictors that came from a file: copies of estimators may hash differently.
_REMEMBERED: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def content_of(predictor: Predictor) -> str | None:
    """A text that identical predictors share; None for one that can't be hashed."""
    if predictor in _REMEMBERED:
        return _REMEMBERED[predictor]
    try:
        return str(joblib.hash(predictor))
    except Exception:  # joblib walks any object, and any object can object
        return None


def remember_content(predictor: Predictor, content: str) -> None:
    """Let a predictor be told by the content of the one that it is a copy of."""
    _REMEMBERED[predictor] = content


def row_draws(X: Any, seed: int) -> Any:
    """A number in [0, 1) for each row that depends on the seed and the row's values alone.

    So a person gets the same decision in any batch and any order, and another seed draws anew.
    The values of a row are folded into 64 bits by the finaliser of splitmix64.

    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> bool(row_draws(X, seed=1)[1] == row_draws(X[1:], seed=1)[0])
    True
    """
    xp = array_namespace(X) if is_device_array(X) else np
    state = _scramble(np.array([seed], dtype=np.int64))
    if xp is not np:
        state = xp.asarray(state, device=device(X))
    for words in words_of_columns(X):
        state = _scramble(state ^ words)
    return xp.asarray(_shifted(state, 11), dtype=xp.float64) * 2.0**-53


def _scramble(state: Any) -> Any:
    """The finaliser's unsigned arithmetic, whose products and sums have the same bits if signed."""
    state = state + _signed(0x9E3779B97F4A7C15)
    state = (state ^ _shifted(state, 30)) * _signed(0xBF58476D1CE4E5B9)
    state = (state ^ _shifted(state, 27)) * _signed(0x94D049BB133111EB)
    return state ^ _shifted(state, 31)


def _shifted(state: Any, bits: int) -> Any:
    """Shifted to the right, with zeros from the left."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
