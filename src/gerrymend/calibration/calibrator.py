"""SubgroupCalibrator: a scikit-learn model whose scores are patched, and how it is fitted."""

import warnings
from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter, indexable

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError, users_line
from gerrymend._runtime.workers import check_jobs
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.calibration.attributes import ProtectedReader
from gerrymend.calibration.calibrate import learn_patches
from gerrymend.calibration.folds import folds_of, is_prefit
from gerrymend.calibration.settings import BUDGET, LEVEL, MAX_PATCHES, N_DRAWS, Settings
from gerrymend.calibration.targets import check_target, known_classes, of_one_type
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.classes import Decided, Names
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.numbers import short
from gerrymend.inputs.sample import finite, read_vector
from gerrymend.inputs.scores import NO_LABELS, Scores
from gerrymend.inputs.seeds import draw_seed
from gerrymend.inputs.validation import as_pair, check_same_length, is_frame
from gerrymend.inputs.weights import check_weights
from gerrymend.models.features import FeatureReader, naming_features


def _is_classifier(calibrator: "SubgroupCalibrator") -> bool:
    """Return whether there are probabilities; for `available_if`."""
    return is_classifier(calibrator._resolved())


class SubgroupCalibrator(MetaEstimatorMixin, BaseEstimator):
    """A model whose scores are right in every subgroup, as far as rows can tell.

    The scores of a classifier or a regressor are patched: the subgroup and the interval of the
    score where what happens is furthest from what is predicted is changed, and again, until it is
    proven that no subgroup exceeds `alpha`, or what is left can't be told from chance. Patches are
    learnt on scores of rows that the model was not trained on.

    Parameters
    ----------
    estimator : scikit-learn classifier or regressor or None, default=None
        The model. A classifier needs `predict_proba` and two labels. None is LogisticRegression.
    notion, subgroups, alpha
        As in `calibrate`.
    cv : int, splitter, iterable or "prefit", default=5
        How rows are split, so that each gets a score of a model that was not trained on it. The
        model that is deployed is trained on all rows. "prefit" takes an estimator that is fitted
        already, and all rows for the patches: rows that it has not seen.
    level, max_patches, n_draws, min_group_size, budget
        As in `calibrate`.
    n_jobs : int or None, default=None
        Fits of the estimator to run in parallel.
    random_state : int, RandomState or None, default=0
        Seed of the draws of chance.

    Attributes
    ----------
    estimator_ : estimator
        The model, trained on all rows, or as it was with cv="prefit".
    patches_ : ScorePatches
        What is done to its scores; ``print(calibrator.patches_)`` is a table of them.
    classes_, n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.
    ScorePatches
        Patches of a score in the order in which they are applied, as `calibrate` learns them.
    SubgroupParityClassifier
        A classifier of least error whose rates differ by at most gamma in every subgroup.

    Examples
    --------
    >>> from gerrymend import SubgroupCalibrator
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(2000, random_state=0)
    >>> A = data.sensitive_features
    >>> model = SubgroupCalibrator().fit(data.data, data.target, sensitive_features=A)
    >>> first = model.patches_[0]
    >>> print(first.rule, "|", first.interval("score"), "|", first.change)
    category_0 = v0 and category_1 = v0 | score ≥ 0.6 | odds × 0.1577
    >>> model.predict_proba(data.data, sensitive_features=A).shape
    (2000, 2)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        notion: Any = "multicalibration",
        subgroups: Any = "conjunctions",
        alpha: float | None = None,
        cv: Any = 5,
        level: float = LEVEL,
        max_patches: int = MAX_PATCHES,
        n_draws: int = N_DRAWS,
        min_group_size: int = MIN_GROUP_SIZE,
        budget: float = BUDGET,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.notion = notion
        self.subgroups = subgroups
        self.alpha = alpha
        self.cv = cv
        self.level = level
        self.max_patches = max_patches
        self.n_draws = n_draws
        self.min_group_size = min_group_size
        self.budget = budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Score rows that the model was not trained on, learn patches, and train it on all.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features)
            What the model predicts by.
        y : array of n_rows labels of two values, or numbers
            What happened.
        sensitive_features : frame, Series, mapping, array, or list of column names of X
            The protected attributes, matched to X by position of the rows. A list of strings names
            columns if X is a frame. None is every column of X, with a warning.
        sample_weight : array of n_rows weights, optional
            For the patches, and for the estimator if its fit takes them.
        **fit_params : dict
            Further arguments of the estimator's fit.

        Returns
        -------
        self
        """
        settings = self._settings()
        estimator = self._checked()
        check_same_index(
            X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        self._features = None
        if sensitive_features is None:  # which are columns of X: a table of numbers, or a frame
            allow_nan = get_tags(self).input_tags.allow_nan
            self._features = FeatureReader(is_frame(X), allow_nan, allow_missing=allow_nan)
            X = self._features.read(X, self, reset=True)
        labels = check_target(y, classifier=is_classifier(estimator))
        check_same_length(X=_n_rows(X), y=len(labels))
        (X,) = indexable(X)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, len(labels))
        reader, protected = ProtectedReader.of(X, sensitive_features)
        metadata = {"sample_weight": sample_weight, "sensitive_features": sensitive_features}
        routed = self._routed(estimator, metadata, fit_params)
        classes = NO_LABELS
        if is_classifier(estimator):
            self.classes_ = np.unique(labels)
            if is_prefit(self.cv):
                self.classes_ = known_classes(estimator, labels)
            classes = as_pair(self.classes_)
        with naming_features(X, self, estimator):
            score = self._unseen_scores(estimator, X, labels, routed)
        names = Names(decisions=f"{self._method}() of estimator")
        read = Scores.read(
            labels, score, protected, sample_weight, decided=Decided(labels=classes), names=names
        )
        self.patches_ = learn_patches(read, settings, names=names)
        self._reader = reader
        self.estimator_ = estimator
        if not is_prefit(self.cv):
            self.estimator_ = clone(estimator).fit(X, labels, **routed)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @available_if(_is_classifier)
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Array:
        """Return the patched probability of each class.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_features)
        sensitive_features : frame, Series, mapping or array, optional
            The protected attributes of these rows. It may be left out where fit took columns of X.
        """
        p = self._patched(X, sensitive_features)
        return np.stack([1 - p, p], axis=1)

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Return the more probable label of each row, or the patched number.

        The parameters are those of `predict_proba`.
        """
        score = self._patched(X, sensitive_features)
        if not _is_classifier(self):
            return score
        return self.classes_[(score > 0.5).astype(int)]

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None
    ) -> float:
        """Return the accuracy of the labels, or R² of the numbers."""
        of_labels = _is_classifier(self)
        y = read_vector(y, "y") if of_labels else finite(y, "y")
        if of_labels:
            check_label_types(y, "y")
            y = of_one_type(y)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, len(y))
        predicted = self.predict(X, sensitive_features=sensitive_features)
        check_same_length(X=len(predicted), y=len(y))
        measure = accuracy_score if of_labels else r2_score
        return float(measure(y, predicted, sample_weight=sample_weight))

    def undo(self, n: int = 1) -> Self:
        """Return the same model without its last n patches."""
        check_is_fitted(self, "patches_")
        other = copy(self)
        other.patches_ = self.patches_.undo(n)
        return other

    def _patched(self, X: Any, sensitive_features: Any) -> Array:
        check_is_fitted(self, "patches_")
        check_same_index(X=X, sensitive_features=sensitive_features)
        if self._features is not None:
            X = self._features.read(X, self, reset=False)
        with naming_features(X, self, self.estimator_):
            score = _positive(getattr(self.estimator_, self._method)(X))
        columns = self._reader.read(X, sensitive_features, self.patches_.attributes)
        return self.patches_.apply(score, columns)

    @property
    def _method(self) -> str:
        return "predict_proba" if _is_classifier(self) else "predict"

    def _resolved(self) -> Any:
        """Return the estimator, or that which None stands for."""
        if self.estimator is not None:
            return self.estimator
        model = LogisticRegression()
        return model.set_fit_request(sample_weight=True) if _routing_enabled() else model

    def _checked(self) -> Any:
        """Return the estimator; raise an ArgumentError if it has no scores."""
        estimator = self._resolved()
        usable = not isinstance(estimator, type) and hasattr(estimator, "__sklearn_tags__")
        if not usable or not (is_classifier(estimator) or is_regressor(estimator)):
            raise ArgumentError(
                "estimator",
                f"must be a classifier or a regressor of scikit-learn; got {short(estimator)}. "
                "Scores alone are patched by calibrate().",
            )
        if is_prefit(self.cv):
            check_is_fitted(estimator)
        if not hasattr(estimator, self._method):
            raise ArgumentError(
                "estimator",
                f"is {short(estimator)}, which has no {self._method}: there are no scores to "
                "patch. Pass a classifier that has, such as LogisticRegression(), or wrap it in "
                "sklearn.calibration.CalibratedClassifierCV.",
            )
        return estimator

    def _settings(self) -> Settings:
        check_jobs(self.n_jobs)
        seed = self.random_state
        if seed is None or isinstance(seed, np.random.RandomState):
            seed = draw_seed(seed)
        return Settings.check(
            notion=self.notion,
            subgroups=self.subgroups,
            alpha=self.alpha,
            level=self.level,
            max_patches=self.max_patches,
            n_draws=self.n_draws,
            min_group_size=self.min_group_size,
            budget=self.budget,
            random_state=seed,
        )

    def _unseen_scores(self, estimator: Any, X: Any, labels: Any, routed: dict[str, Any]) -> Array:
        """Return the score of each row by a model that was not trained on it."""
        if is_prefit(self.cv):
            return _positive(getattr(estimator, self._method)(X))
        folds = folds_of(self.cv, X, labels, classifier=is_classifier(estimator))
        scores = cross_val_predict(
            estimator, X, labels, cv=folds, method=self._method, n_jobs=self.n_jobs, params=routed
        )
        return _positive(scores)

    def _routed(
        self, estimator: Any, metadata: dict[str, Any], fit_params: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments of the estimator's fit."""
        if _routing_enabled():
            routed: dict[str, Any] = process_routing(self, "fit", **metadata, **fit_params)
            return dict(routed["estimator"]["fit"])
        weight = metadata["sample_weight"]
        if weight is None or is_prefit(self.cv):
            return dict(fit_params)
        if has_fit_parameter(estimator, "sample_weight"):
            return {**fit_params, "sample_weight": weight}
        warnings.warn(
            f"The fit of {type(estimator).__name__} takes no sample_weight: the weights count for "
            "the patches, and not for the estimator.",
            UserWarning,
            stacklevel=users_line(),
        )
        return dict(fit_params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who takes which metadata: this model, and the fit of its estimator."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=self._resolved(),
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._resolved())
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = deepcopy(own.classifier_tags)
        tags.regressor_tags = deepcopy(own.regressor_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = False
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags


def _n_rows(X: Any) -> int:
    """Return how many rows there are; what is in them, such as texts, the estimator checks."""
    try:
        return int(_num_samples(X))
    except TypeError:
        raise ArgumentError("X", f"must be a frame, an array or a list; got {short(X)}.") from None


def _positive(scores: Any) -> Array:
    """Return the probability of the second class, or the number."""
    found = np.asarray(scores, dtype=np.float64)
    return found[:, 1] if found.ndim == 2 else found
