"""Decisions of the models that a frontier is held against: today's, and the estimator as it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.categories import check_label_types
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.sample import Sample, read_vector
from gerrymend.inputs.validation import check_same_length
from gerrymend.models.mixture_classifier import MixtureClassifier, MixtureTrainer
from gerrymend.solvers.players.estimator_checks import check_estimator_kind
from gerrymend.solvers.players.learners import make_learner, seed_estimator
from gerrymend.training.fit import ParityClassifier


def check_today(today: Any, today_test: Any, *, second: bool) -> None:
    """Raise ArgumentError unless today's decisions are told for all rows, and for no others.

    `second` is whether X_test was given.
    """
    is_model = hasattr(today, "predict")
    # Before `is_model` is used: a class has a `predict` too, and calling that would fail with a
    # message about `self`.
    if isinstance(today, type):
        raise ArgumentError(
            "today", f"is the class {today.__name__}; pass a fitted model, or decisions by row."
        )
    if today_test is not None and (today is None or is_model or not second):
        why = "X_test is not given"
        if today is None:
            why = "today is not given"
        elif is_model:
            why = "today is a model, which decides them itself"
        raise ArgumentError("today_test", f"are decisions of the rows of X_test, and {why}.")
    if second and today is not None and today_test is None and not is_model:
        raise ArgumentError(
            "today_test",
            "is not given, and today are decisions of the rows of X alone; pass those of X_test "
            "too, or a fitted model as today.",
        )


def with_today(rows: Sample, today: Any, argument: str = "today") -> Sample:
    """Return the rows with `p`, the probability that today's model decides the positive label.

    `today` is a fitted model, decisions by row, or None. A mixture of ours is taken by its
    probabilities rather than by one draw; any other model by what it predicts.
    """
    if today is None:
        return rows
    # One draw of a randomised model would add noise that the points, which are measured by their
    # probabilities, don't have.
    if isinstance(today, MixtureTrainer | MixtureClassifier):
        p = _told_of_fit(today, "predict_proba", rows)
        mixture = today.mixture_ if isinstance(today, MixtureTrainer) else today
        # A column of probabilities has no labels on it. Other models tell labels, which are
        # compared with those of y below.
        labels = mixture.classes_.tolist()
        if labels != rows.classes.tolist():
            raise ArgumentError(
                argument,
                f"decides between {labels[0]!r} and {labels[1]!r}, and y has the labels "
                f"{rows.pair[0]!r} and {rows.pair[1]!r}; they must agree.",
            )
        return replace(rows, p=np.asarray(p)[:, 1])
    decided = _told_of_fit(today, "predict", rows) if hasattr(today, "predict") else today
    vector = read_vector(decided, argument)
    check_same_length(y=len(rows.labels), **{argument: len(vector)})
    # Decisions with an index of their own that is in another order would be read by position, as
    # those of other people.
    check_same_index(X=rows.features, **{argument: decided})
    check_label_types(vector, argument)
    unknown = sorted(map(repr, set(vector.tolist()) - set(rows.classes.tolist())))
    if unknown:
        shown = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
        raise ArgumentError(
            argument,
            f"has decisions that are no label: {shown} (labels: "
            f"{', '.join(map(repr, rows.pair))}). Pass one of the two labels for each row; cut "
            "scores first, at the value that is used.",
        )
    return replace(rows, p=(vector == rows.classes[1]).astype(np.float64))


def _told_of_fit(today: Any, method: str, rows: Sample) -> Any:
    """Call a method of today's model on the features; raise ArgumentError if it is not fitted."""
    try:
        return getattr(today, method)(rows.features)
    except NotFittedError:
        raise ArgumentError(
            "today", f"is {today!r}, which is not fitted; fit it first, or pass its decisions."
        ) from None


def plain_decisions(
    classifier: ParityClassifier, model: Any, samples: Sequence[Sample]
) -> list[Array]:
    """Fit the estimator of a classifier once, with no constraint, and decide for each sample.

    The first sample is the training rows. `model` is the classifier fitted to them, which has read
    their features before. With a cost of −1 for the positive and 1 for the negative label the
    Learner's answer is the estimator fitted to the labels: the model that a game starts from.
    """
    estimator = clone(check_estimator_kind(classifier.estimator, weighted=False))
    seed_estimator(estimator, classifier.random_state)
    train = samples[0]
    # By the reader of the fitted model, so that encodings and column order are those that the
    # estimator of the points has seen.
    features = [model.mixture_.read(sample.features) for sample in samples]
    cost = np.where(train.y == 1, -1.0, 1.0)
    learner = make_learner(estimator, features[0], train.weight, cost, slice(0, len(cost)))
    _, keys = learner.best_response(cost[None])
    mixture = learner.mixture(keys)
    return [mixture.positive_probability(X) for X in features]
