"""Refuse rows whose pandas indexes say that they are in different orders.

Rows are matched by position. Where two arguments have an index each, and these disagree, one of
them was sorted, sampled or filtered without the other, or an index means nothing: only the user
knows which, and a wrong guess audits people with the decisions of others.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw

from gerrymend._runtime.errors import Argument, ArgumentError


def check_same_index(**given: Any) -> None:
    """Raise an ArgumentError where two arguments of as many rows have indexes that disagree.

    The numbers 0, 1, 2, … that pandas gives to rows without an index say nothing beside other
    labels; beside the same ones in another order they do. Whatever has no index is passed by.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["F", "M", "F"]}, index=[7, 8, 9])
    >>> check_same_index(y_true=pd.Series([0, 1, 1]), sensitive_features=people, y_pred=[0, 1, 0])
    >>> check_same_index(y_true=pd.Series([0, 1, 1], [9, 7, 8]), sensitive_features=people)
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: sensitive_features has the same index as y_true, in \
another order: row 0 is 7 there, and 9 in y_true. Rows are matched by position. If the index tells \
who is who, pass sensitive_features.reindex(y_true.index); else drop it, with \
.reset_index(drop=True) or .to_numpy().
    """
    known: list[tuple[Argument, Any]] = []
    for argument, values in given.items():
        for subject, index in _indexes(Argument(argument), values):
            for other, first in known:
                _check_pair(subject, index, other, first)
            # One of each kind is enough to compare with: as many comparisons as distinct indexes,
            # and not as pairs of arguments.
            if not any(index.equals(first) for _, first in known):
                known.append((subject, index))


def _indexes(subject: Argument, values: Any) -> Iterator[tuple[Argument, Any]]:
    """Yield the index of a frame or Series of pandas, or of each of a mapping of columns."""
    if isinstance(values, Mapping):
        for name, column in values.items():
            yield from _indexes(Argument(subject.name, column=repr(name)), column)
        return
    try:
        wrapped = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:  # a frame with two columns of the same name
        wrapped = values
    index = nw.maybe_get_index(wrapped) if wrapped is not values else None
    if index is not None:
        yield subject, index


def _check_pair(subject: Argument, index: Any, other: Argument, first: Any) -> None:
    """Raise an ArgumentError unless two indexes agree, or one of them says nothing."""
    # Other lengths are an error of their own, with a better message elsewhere.
    if len(index) != len(first) or index.equals(first):
        return
    own = _labels(index)
    others = _labels(first)
    if own.equals(others):
        return
    # The first row that differs, for the message.
    row = int((own != others).argmax())
    labels = f"row {row} is {own[row]!s} there, and {others[row]!s} in "
    by_position = ". Rows are matched by position. "
    drop = "drop it, with .reset_index(drop=True) or .to_numpy()."
    # Before the test for 0, 1, 2, …: the same numbers in another order do say who is who.
    if own.isin(others).all() and others.isin(own).all():
        raise ArgumentError(
            subject,
            "has the same index as ",
            other,
            f", in another order: {labels}",
            other,
            f"{by_position}If the index tells who is who, pass ",
            subject,
            ".reindex(",
            other,
            f".index); else {drop}",
        )
    if _says_nothing(index) or _says_nothing(first):
        return
    raise ArgumentError(
        subject,
        "has another index than ",
        other,
        f": {labels}",
        other,
        f"{by_position}If the index tells who is who, bring both to the same rows with .loc; else "
        f"{drop}",
    )


def _labels(index: Any) -> Any:
    """Return an index of the labels as Python's objects, tuples where there are several levels.

    pandas refuses to compare, or to look up, the labels of some types of index in those of others.

    >>> import pandas as pd
    >>> _labels(pd.MultiIndex.from_tuples([(7, "a"), (8, "a")])).tolist()
    [(7, 'a'), (8, 'a')]
    """
    return index.to_flat_index().astype(object)


def _says_nothing(index: Any) -> bool:
    """Return whether an index is the numbers that rows have without one: 0, 1, 2, …"""
    start, stop, step = (getattr(index, end, None) for end in ("start", "stop", "step"))
    return (start, stop, step) == (0, len(index), 1)
