"""Reading of what users pass into a tally: arrays, columns of a frame by name, or a lazy frame."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gerrymend.auditing.from_engine import tally_of_lazy
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import (
    check_kinds,
    check_spreads,
    distinct_rows,
    read_columns,
    select_columns,
    warn_of_identifiers,
)
from gerrymend.inputs.validation import (
    as_pair,
    as_vector,
    check_attribute_names,
    check_classes,
    check_column,
    check_no_missing,
    check_same_length,
    check_weights,
    columns_of,
    decisions_from,
    is_lazy,
)


def read_tally(data: Any, given: Mapping[str, Any], decided: Mapping[str, Any]) -> Tally:
    """Return the tally of the rows that audit() was given.

    Parameters
    ----------
    data : frame, lazy frame or None
        Where the columns are that `given` names; None where `given` has the arrays themselves.
    given : mapping
        y_true, y_pred, sensitive_features and sample_weight, by argument.
    decided : mapping
        threshold, decision_probabilities and pos_label: they say what y_pred holds.

    Raises a TypeError or a ValueError that names the argument, and warns of attributes that look
    like identifiers.
    """
    if data is None:
        _refuse_frames(given)
        tally = tally_of_rows(**given, **decided)
    elif is_lazy(data):
        tally = tally_of_lazy(data, **given, **decided)
    else:
        tally = tally_of_rows(**_chosen(data, **given), **decided)
    check_spreads(tally.columns)
    # The warning is to point at the line that calls audit(), prove() or discrimination_surface().
    warn_of_identifiers(tally.columns, int(tally.n_rows.sum()), stacklevel=4)
    return tally


def tally_of_rows(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    kinds: Mapping[str, str] | None = None,
) -> Tally:
    """Check rows that are at hand, and sum them; the arguments are those of audit().

    `kinds` are the attributes of a first sample, with the kind of each: a second sample is read
    with the same ones.
    """
    labels = as_vector(y_true, "y_true")
    predicted = as_vector(y_pred, "y_pred")
    check_no_missing(labels, "y_true")
    check_no_missing(predicted, "y_pred")
    if kinds is None:
        protected = read_columns(sensitive_features)
    else:
        protected = tuple(select_columns(sensitive_features, kinds).values())
    check_same_length(y_true=labels, y_pred=predicted, sensitive_features=protected[0].values)
    weight = check_weights(sample_weight, len(labels))
    are_decisions = threshold is None and not decision_probabilities
    # Decisions may show a label that no row has; scores and probabilities can't.
    classes = check_classes(labels, predicted if are_decisions else None, pos_label)
    p = decisions_from(predicted, classes, threshold, decision_probabilities)
    y = (labels == classes[1]).astype(np.intp)
    return Tally.of_rows(distinct_rows(protected), y, p, weight, as_pair(classes))


def _chosen(data: Any, **names: Any) -> dict[str, Any]:
    """Return the columns of an eager frame that the arguments name, by argument."""
    columns = columns_of(data, "data")
    attributes = check_attribute_names(names.pop("sensitive_features"))
    for name in attributes:
        check_column(name, "sensitive_features", columns, "data")
    chosen = {
        argument: columns[check_column(name, argument, columns, "data")]
        for argument, name in names.items()
        if name is not None or argument != "sample_weight"
    }
    return chosen | {"sensitive_features": {name: columns[name] for name in attributes}}


def _refuse_frames(given: Mapping[str, Any]) -> None:
    """Raise a TypeError for a lazy frame, or a column's name, that comes without `data`."""
    for argument, values in given.items():
        if isinstance(values, str) or is_lazy(values):
            got = repr(values) if isinstance(values, str) else f"a lazy {type(values).__name__}"
            raise TypeError(
                f"{argument} is {got}, and data is not given. Pass the frame as data=, and the "
                "names of its columns as y_true, y_pred and sensitive_features."
            )


def second_sample(
    holdout: Any, like: Tally, data: Any, given: Mapping[str, Any], decided: Mapping[str, Any]
) -> Tally:
    """Return the tally of `holdout`, which has the form of the first sample.

    It is a frame if the first was one, and otherwise a tuple of arrays. Labels and attributes are
    those of the first; errors begin with "In holdout:".
    """
    if data is None:
        if not isinstance(holdout, tuple) or len(holdout) not in (3, 4):
            raise ValueError(
                "holdout must be a tuple (y_true, y_pred, sensitive_features), and weights as a "
                f"fourth if rows weigh differently; got {type(holdout).__name__}"
                + (f" of {len(holdout)}." if isinstance(holdout, tuple) else ".")
            )
        given = dict(zip(given, holdout, strict=False))
    kinds = {column.name: column.kind for column in like.columns}
    try:
        if data is None:
            tally = tally_of_rows(**given, **decided, kinds=kinds)
        elif is_lazy(holdout):
            tally = tally_of_lazy(holdout, **given, **decided)
            check_kinds({column.name: column for column in tally.columns}, kinds, "data")
        else:
            tally = tally_of_rows(**_chosen(holdout, **given), **decided, kinds=kinds)
    except (TypeError, ValueError) as error:
        raise type(error)(f"In holdout: {error}") from None
    if tally.labels != like.labels:
        raise ValueError(
            f"The labels of holdout are {tally.labels!r}, and those of y_true {like.labels!r}; a "
            "second sample has the same two."
        )
    return tally
