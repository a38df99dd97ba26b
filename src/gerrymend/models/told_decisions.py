"""Ask a fitted estimator about rows, in the form that an audit takes."""

from typing import Any

import numpy as np

from gerrymend._runtime.errors import ArgumentError
from gerrymend.models.mixture_classifier import MixtureClassifier, MixtureTrainer
from gerrymend.notions import SCORE_NAMES, NotionLike, as_notions


def told_decisions(
    estimator: Any, X: Any, *, notion: NotionLike, threshold: float | None, pos_label: Any
) -> dict[str, Any]:
    """Return y_pred and how it is meant, as arguments of audit().

    They are the decisions of predict; of a mixture of ours the probabilities of both, since what is
    known of it is about these and not about one draw; and with a threshold, or for a notion of
    scores, the probabilities of the positive label.
    """
    if isinstance(_last_step(estimator), MixtureTrainer | MixtureClassifier):
        how = {"decision_probabilities": True, "pos_label": estimator.classes_[1]}
        return {"y_pred": estimator.predict_proba(X)[:, 1], **how}
    if threshold is None and not any(one.name in SCORE_NAMES for one in as_notions(notion)):
        return {"y_pred": estimator.predict(X), "pos_label": pos_label}
    classes = list(estimator.classes_)
    if pos_label is None and len(classes) != 2:
        raise ArgumentError(
            "pos_label", f"says which of the {len(classes)} classes is scored; pass one."
        )
    positive = classes[1] if pos_label is None else pos_label
    score = np.asarray(estimator.predict_proba(X))[:, classes.index(positive)]
    return {"y_pred": score, "threshold": threshold, "pos_label": positive}


def _last_step(estimator: Any) -> Any:
    """Return what decides in the end, in pipelines and searches."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator
