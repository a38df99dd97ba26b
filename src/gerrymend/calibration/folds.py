"""Split rows, so that each gets a score of a model that was not trained on it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import is_number_type, short
from gerrymend.inputs.settings import check_whole

PREFIT = "prefit"
_REMEDY = (
    "Pass a number of folds, such as 5, a splitter of sklearn.model_selection that tests every row "
    f"once, or {PREFIT!r}."
)


class Fold(NamedTuple):
    """The rows to train on, and those to score, by position."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def is_prefit(cv: Any) -> bool:
    """Return whether the estimator is fitted already, and rows are not split."""
    return isinstance(cv, str) and cv == PREFIT


def folds_of(cv: Any, X: Any, y: NDArray[Any], *, classifier: bool) -> list[Fold]:
    """Return the folds of rows; raise an ArgumentError unless each row is scored once.

    A classifier is trained on rows of both labels.

    >>> [fold.test.tolist() for fold in folds_of(2, np.zeros((4, 1)), np.arange(4.0),
    ...                                          classifier=False)]
    [[0, 1], [2, 3]]
    """
    if is_number_type(type(cv)):
        cv = check_whole(cv, "cv", low=2, remedy=_REMEDY)
        _check_enough(cv, y, classifier=classifier)
    try:
        splitter = check_cv(cv, y, classifier=classifier)
        folds = [Fold(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y)]
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise ArgumentError(
            "cv", f"can't be used to split these rows ({error}); got {short(cv)}. {_REMEDY}"
        ) from error
    if not _are_rows(folds, len(y)):
        raise ArgumentError(
            "cv", f"must put every row into the test rows of one fold; got {short(cv)}. {_REMEDY}"
        )
    if classifier and any(len(np.unique(y[fold.train])) < 2 for fold in folds):
        raise ArgumentError(
            "cv", "has a fold whose training rows have one label. Use fewer folds, or more rows."
        )
    return folds


def _check_enough(number: int, y: NDArray[Any], *, classifier: bool) -> None:
    """Raise an ArgumentError for more folds than there are rows, or rows of a label."""
    fewest = int(np.unique(y, return_counts=True)[1].min()) if classifier else len(y)
    if number > fewest:
        of = " of the rarer label" if classifier else ""
        raise ArgumentError(
            "cv",
            f"must be at most {fewest:,}, the number of rows{of} (n_samples={len(y)}); got "
            f"{number:,}. Use fewer folds, or more rows.",
        )


def _are_rows(folds: Sequence[Fold], n_rows: int) -> bool:
    """Return whether folds are of rows, by position, and each row is tested once."""
    parts = [part for fold in folds for part in fold]
    if not parts or any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        return False
    if any(len(part) and not (part.min() >= 0 and part.max() < n_rows) for part in parts):
        return False
    tested = np.concatenate([fold.test for fold in folds])
    return np.array_equal(np.sort(tested), np.arange(n_rows))
