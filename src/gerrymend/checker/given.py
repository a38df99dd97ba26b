"""Read what is given to check_report(): the report in any of its forms, and a second sample."""

import json
from collections.abc import Mapping
from typing import Any

from gerrymend.checker.documents import A_REPORT, Document
from gerrymend.checker.exact import Table
from gerrymend.checker.plain import is_finite, plain_value, shown_value


def plain_data(given: Any, of: Document = A_REPORT) -> Mapping[str, Any]:
    """Return a report as plain data, from an AuditReport, its `to_dict()` or its JSON.

    Or another document, as `of` names it. Raises a ValueError for text that is no JSON and a
    TypeError for anything else.
    """
    if isinstance(given, str | bytes):
        try:
            given = json.loads(given)
        except (UnicodeDecodeError, json.JSONDecodeError) as problem:
            raise ValueError(
                f"{of.name} is text, and not the JSON of a {of.name}: {problem}."
            ) from None
    stated = given.to_dict() if hasattr(given, "to_dict") else given
    if not isinstance(stated, Mapping):
        raise TypeError(
            f"{of.name} must be {of.source}, its to_dict(), or the JSON of that; got "
            f"{type(given).__name__}."
        )
    return stated


def how_decided(threshold: Any, decision_probabilities: Any, pos_label: Any) -> dict[str, Any]:
    """Return how decisions are read; raise a ValueError that names an argument of another type.

    >>> how_decided(0.5, False, None)
    {'threshold': 0.5, 'decision_probabilities': False, 'pos_label': None}
    """
    cut = plain_value(threshold)
    is_number = isinstance(cut, int | float) and not isinstance(cut, bool)
    if threshold is not None and not (is_number and is_finite(cut)):
        raise ValueError(
            f"threshold must be a finite number or None; got {shown_value(threshold)}."
        )
    if type(decision_probabilities).__name__ not in ("bool", "bool_"):  # Python's, or NumPy's
        raise ValueError(
            "decision_probabilities must be True or False; got "
            f"{shown_value(decision_probabilities)}."
        )
    return {
        "threshold": cut,
        "decision_probabilities": bool(decision_probabilities),
        "pos_label": label_given(pos_label),
    }


def label_given(pos_label: Any) -> Any:
    """Return the positive label as a plain value; raise a ValueError for what is no label.

    >>> label_given(None), label_given("yes")
    (None, 'yes')
    """
    label = plain_value(pos_label)
    if pos_label is not None and not isinstance(label, str | int | float):
        raise ValueError(f"pos_label={shown_value(pos_label)} is no label: text or a number.")
    return label


def check_not_parted(stated: Mapping[str, Any], table: Table) -> None:
    """Raise a ValueError if the data still includes the rows that the report held out at random.

    The report doesn't say which rows these were, so they can't be left out here.
    """
    claims = stated["held_out"]
    if claims is not None and table.n_rows == stated["n_rows"] + claims["n_rows"]:
        raise ValueError(
            f"The data has {table.n_rows} rows, of which the report kept {claims['n_rows']} out "
            "of the search, at random; which these were is not in it. Pass the rows that were "
            "searched, or audit with holdout= in place of test_size=, and pass it here too."
        )


def second_sample(holdout: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return what a second sample has: weights and control features are None if they aren't given.

    Raises a ValueError for anything but a tuple of three to five.
    """
    if not isinstance(holdout, tuple) or not 3 <= len(holdout) <= 5:
        raise ValueError(
            "holdout must be a tuple (y_true, y_pred, sensitive_features), weights as a fourth if "
            "rows weigh differently and control features as a fifth; got "
            f"{type(holdout).__name__}."
        )
    y_true, y_pred, sensitive_features, weights, controls = (*holdout, None, None)[:5]
    return y_true, y_pred, sensitive_features, weights, controls
