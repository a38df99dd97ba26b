"""Read what is given to check_report(): the report in any of its forms, and a second sample."""

import json
from collections.abc import Mapping
from typing import Any

from gerrymend.checker.documents import A_REPORT, Document
from gerrymend.checker.exact import Table


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
