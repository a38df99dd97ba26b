"""MixtureClassifier: what is needed to decide, without how it was learned."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.externals.array_api_compat import array_namespace, device
from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

from gerrymend._numeric.arrays import in_words, is_dask_collection, is_device_array, on_host
from gerrymend._numeric.sums import Array, modest_scale
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.seeds import draw_seed
from gerrymend.inputs.settings import check_whole
from gerrymend.inputs.validation import (
    are_missing,
    as_vector,
    check_labels,
    check_none,
    check_same_length,
)
from gerrymend.inputs.weights import check_finite_weights, no_weight
from gerrymend.models.dask_predictions import by_partition, sums_over_partitions
from gerrymend.models.features import FeatureReader
from gerrymend.models.mixture import LinearPredictors, Mixture, row_draws
from gerrymend.notions import NotionLike

if TYPE_CHECKING:
    from gerrymend.models.derandomization_cost import DerandomizationCost

# The error that rounding may leave in a sum of probabilities.
_ROUNDING = 1e-9


class MixtureTrainer:
    """Base of the classifiers whose `fit` makes `mixture_` a MixtureClassifier."""

    @property
    def mixture_(self) -> "MixtureClassifier":
        """The mixture that was learned."""
        raise AttributeError("fit() was not called.")


class MixtureClassifier:
    """A fitted classifier that decides by one of its predictors, drawn with known probabilities.

    It is what `SubgroupParityClassifier.fit` sets as `mixture_`, and all that a deployment needs:
    it can be saved (`save_model`) and made deterministic (`derandomize`), but not fitted again.

    Parameters
    ----------
    mixture : Mixture
        Predictors, and the probability of each.
    classes : array-like of length 2
        The labels; the second is the positive one.
    n_features : int
        Number of columns of X.
    feature_names : list of str, optional
        Names of the columns of X.
    reader : FeatureReader, optional
        The way X is read; by default as an array of numbers without missing values.
    seed : int, default=0
        Seed of the draws of `predict`.
    training : mapping, optional
        Plain data about the training: gamma, notions, error, unfairness, ….
    cost : DerandomizationCost, optional
        For a deterministic classifier, its figures beside those of the mixture it came from.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ :
        As in scikit-learn.
    predictors_, weights_ :
        The predictors and their probabilities.
    mixture, reader, seed, training, cost :
        As they were given.

    See Also
    --------
    SubgroupParityClassifier : Learns a mixture that treats every subgroup alike, within gamma.
    save_model : Save all that a model needs to decide, without pickle.
    DerandomizationCost
        Figures of a deterministic classifier beside those of the mixture that it came from.

    Examples
    --------
    >>> from gerrymend import MixtureClassifier
    >>> from gerrymend.models.mixture import Mixture
    >>> mixture = Mixture.of_linear(np.array([[1.0], [1.0]]), np.array([0.0, -5.0]))
    >>> model = MixtureClassifier(mixture, classes=["no", "yes"], n_features=1)
    >>> model
    MixtureClassifier(2 predictors, 1 feature, classes=['no', 'yes'])
    >>> model.predict_proba([[-1.0], [2.0], [9.0]])[:, 1].tolist()
    [0.0, 0.5, 1.0]
    >>> model.predict([[-1.0], [9.0]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        mixture: Mixture,
        *,
        classes: ArrayLike,
        n_features: int,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
        reader: FeatureReader | None = None,
        seed: int = 0,
        training: Mapping[str, Any] | None = None,
        cost: "DerandomizationCost | None" = None,
    ) -> None:
        self.classes_ = as_vector(classes, "classes")
        if len(check_labels(self.classes_, "classes")) != len(self.classes_):
            raise ValueError(f"classes must be two labels; got {self.classes_.tolist()!r}.")
        self.n_features_in_ = check_whole(n_features, "n_features", low=1)
        if feature_names is not None:
            self.feature_names_in_ = _check_names(feature_names, self.n_features_in_)
        self.mixture = _check_mixture(mixture, n_features)
        self.reader = FeatureReader() if reader is None else reader
        self.seed = check_whole(seed, "seed", low=0)
        if not isinstance(training, Mapping | None):
            raise TypeError(f"training must be a mapping, or None; got {training!r}.")
        self.training = dict(training or {})
        self.cost = cost

    @property
    def predictors_(self) -> Sequence[Any]:
        """The predictors of the mixture."""
        return self.mixture.predictors

    @property
    def weights_(self) -> Array:
        """The probability of each predictor."""
        return self.mixture.weights

    @property
    def is_deterministic(self) -> bool:
        """True if there is a single predictor, so that nothing is drawn."""
        return len(self.predictors_) == 1

    def predict_proba(self, X: Any) -> Any:
        """Return the probability with which the mixture makes each *decision*; not P(y | x).

        The result has shape (n_rows, 2), in the order of `classes_`, in the library of X: an array
        of NumPy, torch or CuPy, or a collection of Dask.
        """
        if is_dask_collection(X):
            return by_partition(self.read(X), self.predict_proba, self.classes_.tolist())
        positive = self.mixture.positive_probability(self.read(X))
        return array_namespace(positive).stack([1.0 - positive, positive], axis=1)

    def predict(self, X: Any, random_state: Any = None) -> Any:
        """Draw a decision for each row, or return that of the predictor if there is only one.

        The draw of a row depends only on the seed and the row's values, so a person gets the same
        decision in any batch and any order.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
        random_state : int, RandomState or None
            None repeats the draws of the seed; anything else draws anew.
        """
        return self._draw(X, self.seed if random_state is None else draw_seed(random_state))

    def _draw(self, X: Any, seed: int) -> Any:
        X = self.read(X)
        if is_dask_collection(X):
            return by_partition(X, partial(self._draw, seed=seed))
        positive = self.mixture.positive_probability(X)
        # Draws are in [0, 1): a row of probability 0 is never above its draw, one of 1 always is.
        decided = positive > (0.5 if self.is_deterministic else row_draws(X, seed))
        if is_device_array(X):
            xp = array_namespace(X)
            return self._labels_beside(X)[xp.astype(decided, xp.int64)]
        return self.classes_[decided.astype(np.intp)]

    def _labels_beside(self, X: Any) -> Any:
        """Return the two labels as an array on the device of X; raise TypeError for texts."""
        if self.classes_.dtype.kind not in "biuf":
            raise TypeError(
                f"The labels are {self.classes_.tolist()!r}, and {in_words(X)} holds numbers only. "
                "Pass X as a NumPy array, or take predict_proba."
            )
        return array_namespace(X).asarray(self.classes_, device=device(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the expected accuracy of the decisions, over all draws."""
        if is_dask_collection(X):
            measure = partial(self._right, scaled=False)
            right, weight = sums_over_partitions(measure, self.read(X), y, sample_weight)
        else:
            right, weight = self._right(X, _from_device(y), _from_device(sample_weight))
        if weight == 0:
            raise no_weight()
        return right / weight

    def _right(
        self, X: Any, y: Any, sample_weight: Any, *, scaled: bool = True
    ) -> tuple[float, float]:
        """Return the expected weight of rows that are decided correctly, and that of all rows.

        Both are `scaled` by a power of two where weights are so large that their sum is infinite.
        """
        positive = on_host(self.mixture.positive_probability(self.read(X)))
        labels = as_vector(y, "y")
        check_none(int(are_missing(labels).sum()), "y")
        check_label_types(labels, "y")
        weight = np.ones(len(labels))
        if sample_weight is not None:
            weight = check_finite_weights(sample_weight)
            if scaled:
                weight = weight * modest_scale(float(weight.max()))
        check_same_length(X=len(positive), y=len(labels), sample_weight=len(weight))
        check_same_index(X=X, y=y, sample_weight=sample_weight)
        right = np.where(labels == self.classes_[1], positive, 1.0 - positive)
        # As scikit-learn's accuracy does, count a label that is unknown here as wrong.
        right[~np.isin(labels, self.classes_)] = 0.0
        return float(right @ weight), float(weight.sum())

    def derandomize(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        gamma: float,
        notion: NotionLike = "false_positive_rate",
        subgroups: Any = "linear",
        how: str = "best",
        sample_weight: Any = None,
        budget: float = 30.0,
        control_features: Any = None,
        leave_out_empty_strata: bool = False,
    ) -> "MixtureClassifier":
        """Return a deterministic classifier in place of the mixture.

        It is the candidate with the least error in which an audit finds no subgroup above gamma.
        Candidates that decide the same for every row are left out unless there are no others, as a
        constant is fair but useless.

        Parameters
        ----------
        X, y, sensitive_features
            The rows to choose and audit on, as in `SubgroupParityClassifier.fit`. A choice on the
            rows of the training may do worse on others; audit it there.
        gamma : float
            The largest unfairness to allow.
        notion, subgroups
            As in audit().
        how : {"best", "predictor", "threshold"}
            "predictor" chooses one of the predictors. "threshold" decides 1 where the mixture does
            so with at least some probability, chosen among all that make a difference. "best"
            chooses among both.
        sample_weight
            Weights of these rows.
        budget : float, default=30.0
            Seconds for the proof of each audit: one of the mixture, and as a rule one of the
            candidate that is chosen.
        control_features, leave_out_empty_strata
            As in audit(): groups are compared within strata. A warning tells if the mixture was
            trained within strata, and none are given here.

        Returns
        -------
        MixtureClassifier
            With one predictor. Its `cost` has error, unfairness and upper bound of the mixture and
            of the deterministic classifier, side by side.

        Raises
        ------
        ValueError
            If no candidate is within gamma; the message has the least unfair one.

        Examples
        --------
        >>> from sklearn.linear_model import LinearRegression
        >>> from gerrymend import SubgroupParityClassifier
        >>> from gerrymend.datasets import make_intersectional
        >>> data = make_intersectional(1000, cardinalities=(2, 3), random_state=0)
        >>> A = data.sensitive_features
        >>> clf = SubgroupParityClassifier(LinearRegression(), gamma=0.02, subgroups="marginals")
        >>> mixture = clf.fit(data.data, data.target, sensitive_features=A).mixture_
        >>> fixed = mixture.derandomize(
        ...     data.data, data.target, sensitive_features=A, gamma=0.03, subgroups="marginals"
        ... )
        >>> fixed.is_deterministic, fixed.cost.deterministic.unfairness <= 0.03
        (True, True)
        """
        # Imported here: a deployment that only decides needs none of the audit's code.
        from gerrymend.models.derandomizing import derandomize

        return derandomize(
            self, X, y, sensitive_features=sensitive_features, gamma=gamma, notion=notion,
            subgroups=subgroups, how=how, sample_weight=sample_weight, budget=budget,
            control_features=control_features, leave_out_empty_strata=leave_out_empty_strata,
        )  # fmt: skip

    def with_predictor(self, predictor: Any, cost: "DerandomizationCost") -> "MixtureClassifier":
        """Return a copy with a single predictor and the figures of its derandomisation."""
        return MixtureClassifier(
            Mixture([predictor], np.ones(1)),
            classes=self.classes_,
            n_features=self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
            reader=self.reader,
            seed=self.seed,
            training=self.training,
            cost=cost,
        )

    def read(self, X: Any) -> Any:
        """Check that X has the features of the model, and return it as the predictors take it."""
        return self.reader.read(X, self, reset=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Raise TypeError: a mixture is the result of a fit."""
        raise TypeError(
            "A MixtureClassifier is fitted already, and can't be fitted again; fit a "
            "SubgroupParityClassifier, whose mixture_ is one."
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return an empty dict: there are no parameters, and clone() returns the same model."""
        return {}

    def set_params(self, **params: Any) -> Self:
        """Raise ValueError for any parameter."""
        if params:
            raise ValueError(
                f"A MixtureClassifier has no parameters; got {', '.join(params)}. Set those of "
                "SubgroupParityClassifier, and fit it again."
            )
        return self

    def __sklearn_clone__(self) -> Self:
        return self  # what was fitted is not in parameters, so a copy by these would lose it

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(allow_nan=self.reader.allow_nan),
        )

    def __repr__(self) -> str:
        return (
            f"MixtureClassifier({_count(len(self.predictors_), 'predictor')}, "
            f"{_count(self.n_features_in_, 'feature')}, classes={self.classes_.tolist()!r})"
        )


def _from_device(data: Any) -> Any:
    return on_host(data) if is_device_array(data) else data


def _check_names(names: Any, n_features: int) -> NDArray[Any]:
    """Return the names of the features as an array of objects, as scikit-learn keeps them."""
    listed = list(names) if isinstance(names, list | tuple | np.ndarray) and np.ndim(names) else []
    if not listed or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"feature_names must be a list of names, or None; got {names!r}.")
    check_same_length(n_features=n_features, feature_names=len(listed))
    return np.array(listed, dtype=object)


def _check_mixture(mixture: Any, n_features: int) -> Mixture:
    """Return the mixture if its weights are probabilities and its predictors fit the features."""
    if not isinstance(mixture, Mixture):
        raise TypeError(
            f"mixture must be a Mixture; got {type(mixture).__name__}. Make one of predictors with "
            "Mixture.of_predictors([...])."
        )
    weights = np.asarray(mixture.weights, dtype=np.float64)
    predictors = mixture.predictors
    if weights.shape != (len(predictors),) or len(predictors) == 0:
        raise ValueError(
            f"mixture has {len(predictors)} predictors and weights of shape {weights.shape}; it "
            "needs one weight for each of at least one predictor."
        )
    if not ((weights >= 0).all() and abs(weights.sum() - 1.0) <= _ROUNDING):
        raise ValueError(
            f"The weights of mixture are probabilities, and must be at least 0 and sum to 1; they "
            f"range from {weights.min():g} to {weights.max():g} and sum to {weights.sum():g}."
        )
    if isinstance(predictors, LinearPredictors) and predictors.coef.shape[1:] != (n_features,):
        raise ValueError(
            f"The predictors of mixture have coefficients of shape {predictors.coef.shape}, and "
            f"n_features={n_features}; pass as many columns as features."
        )
    return mixture


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
