"""Conversion of models to plain data: dicts, lists, texts, numbers, arrays and estimators.

No type of this package is in a saved file, so that none has to be trusted to load one.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from gerrymend.models.derandomization_cost import DerandomizationCost
from gerrymend.models.features import FeatureReader
from gerrymend.models.mixture import (
    ConstantPredictor,
    CostPredictor,
    LabelPredictor,
    LinearPredictor,
    LinearPredictors,
    Mixture,
    ScorePredictor,
    ThresholdPredictor,
)
from gerrymend.models.mixture_classifier import MixtureClassifier

# A predictor is stored as its kind and the fields of its dataclass. Files hold these names: a kind
# may be added, but none renamed.
KINDS: dict[str, type[Any]] = {
    "constant": ConstantPredictor,
    "linear": LinearPredictor,
    "cost": CostPredictor,
    "label": LabelPredictor,
    "score": ScorePredictor,
    "threshold": ThresholdPredictor,
}


def plain_of_model(model: MixtureClassifier) -> dict[str, Any]:
    """Convert a model to plain data, from which `model_of_plain` makes it again."""
    names = getattr(model, "feature_names_in_", None)
    return {
        "mixture": _plain_of_mixture(model.mixture),
        "classes": model.classes_,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "reader": asdict(model.reader),
        "seed": model.seed,
        "training": model.training,
        "cost": None if model.cost is None else model.cost.to_dict(),
    }


def model_of_plain(plain: Mapping[str, Any]) -> MixtureClassifier:
    """Make the model again that `plain_of_model` converted."""
    rebuilt = {
        "mixture": _mixture_of_plain(plain["mixture"]),
        "reader": FeatureReader(**plain["reader"]),
        "cost": None if plain["cost"] is None else DerandomizationCost.from_dict(plain["cost"]),
    }
    # Names are those of the constructor's parameters; the plain form of three is replaced.
    return MixtureClassifier(**{**plain, **rebuilt})


def _plain_of_mixture(mixture: Mixture) -> dict[str, Any]:
    predictors = mixture.predictors
    if isinstance(predictors, LinearPredictors):  # often many: two arrays are small and fast
        stored: Any = {"coef": predictors.coef, "intercept": predictors.intercept}
    else:
        stored = [_plain_of_predictor(predictor) for predictor in predictors]
    return {"predictors": stored, "weights": mixture.weights}


def _mixture_of_plain(plain: Mapping[str, Any]) -> Mixture:
    stored = plain["predictors"]
    if isinstance(stored, list):
        return Mixture([_predictor_of_plain(predictor) for predictor in stored], plain["weights"])
    return Mixture(LinearPredictors(stored["coef"], stored["intercept"]), plain["weights"])


def _plain_of_predictor(predictor: Any) -> dict[str, Any]:
    """Convert a predictor to its kind and fields; raise TypeError for a type not in `KINDS`."""
    for kind, made in KINDS.items():
        # The exact type: a subclass would be loaded as its base, and decide differently.
        if type(predictor) is made:
            values = {field.name: getattr(predictor, field.name) for field in fields(made)}
            if "mixture" in values:
                values["mixture"] = _plain_of_mixture(values["mixture"])
            return {"kind": kind, **values}
    raise TypeError(
        f"A predictor of type {type(predictor).__name__} can't be saved; those of "
        "SubgroupParityClassifier and MarginalParityClassifier can."
    )


def _predictor_of_plain(plain: Mapping[str, Any]) -> Any:
    values = {name: value for name, value in plain.items() if name != "kind"}
    if "mixture" in values:
        values["mixture"] = _mixture_of_plain(values["mixture"])
    return KINDS[plain["kind"]](**values)
