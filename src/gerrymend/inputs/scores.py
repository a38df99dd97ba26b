"""Read scores beside what happened: probabilities of a label, or predictions of a number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.classes import AUDIT, BY_LABEL, Decided, Names, read_labels
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.numbers import is_number_type, kinds_of, short
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Numbers, finite, read_vector
from gerrymend.inputs.validation import as_pair

# Numbers have no labels.
NO_LABELS = (None, None)
# Sums of probabilities may be a rounding above 1.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Scores:
    """Rows with scores that were read and checked.

    `rows` have what happened as `y`, of labels 0 or 1, and the score as `p`; `labels` are the two,
    the positive one second, or a pair of None.
    """

    rows: Numbers
    labels: tuple[Any, ...]

    @classmethod
    def read(
        cls,
        true: Any,
        predicted: Any,
        protected: Any,
        weight: Any = None,
        *,
        decided: Decided = BY_LABEL,
        target: str | None = None,
        kinds: Mapping[str, str] | None = None,
        names: Names = AUDIT,
    ) -> "Scores":
        """Read rows in any container.

        Parameters
        ----------
        true, predicted, protected, weight, kinds, names
            As for `Numbers.read`.
        decided : Decided
            With the positive label, if it was named, and the labels of a first sample.
        target : {"labels", "numbers"}, optional
            What `true` has; by default two values are labels, and more are numbers.

        Examples
        --------
        >>> town = {"town": ["Au", "Ulm", "Au"]}
        >>> read = Scores.read(["no", "yes", "no"], [0.5, 0.75, 0.25], town)
        >>> read.labels, read.rows.y.tolist()
        (('no', 'yes'), [0.0, 1.0, 0.0])
        >>> Scores.read([3, 4, 5], [2.5, 4, 6], town).labels
        (None, None)
        """
        values = read_vector(true, names.labels)
        given = {names.labels: true, names.decisions: predicted, names.protected: protected}
        check_same_index(**given, **{names.weight: weight})
        if decided.labels is not None:
            target = "numbers" if decided.labels == NO_LABELS else "labels"
        elif target is None:
            few = decided.pos_label is not None or not _are_many_numbers(values)
            target = "labels" if few else "numbers"
        if target == "numbers":
            _refuse_positive(decided, names)
            rows = Numbers.read(values, predicted, protected, weight, kinds=kinds, names=names)
            return cls(rows, NO_LABELS)
        labels = _labels(values, decided, names)
        score = _probabilities(predicted, labels, names)
        y = (values == labels[1]).astype(np.float64)
        rows = Numbers.read(y, score, protected, weight, kinds=kinds, names=names)
        return cls(rows, labels)


def _are_many_numbers(values: NDArray[Any]) -> bool:
    """Return whether values are numbers, and more than two of them differ."""
    if values.dtype.kind == "O":
        kinds = kinds_of(values.tolist())
        if not all(map(is_number_type, kinds)):
            return False
        return len(set(values.tolist())) > 2
    return values.dtype.kind in "iuf" and len(np.unique(values)) > 2


def _labels(values: NDArray[Any], decided: Decided, names: Names) -> tuple[Any, ...]:
    """Return the two labels, the positive one second; a second sample has those of the first."""
    known = decided.labels
    if known is not None and set(values.tolist()) <= set(known):
        return known
    as_scores = decided._replace(threshold=None, decision_probabilities=True, many=False)
    return as_pair(read_labels(values, None, as_scores, names).classes)


def _probabilities(predicted: Any, labels: tuple[Any, ...], names: Names) -> Array:
    """Return scores as probabilities; raise an ArgumentError for one outside of [0, 1]."""
    score = finite(predicted, names.decisions)
    wrong = (score < -_ROUNDING) | (score > 1 + _ROUNDING)
    if wrong.any():
        raise ArgumentError(
            names.decisions,
            f"has {int(wrong.sum()):,} scores outside of [0, 1], such as {score[wrong][0]:g}, and ",
            Argument(names.labels),
            f" has the labels {labels[0]!r} and {labels[1]!r}: scores are then probabilities of "
            f"{labels[1]!r}. Pass these; or, if both are numbers, ",
            Argument("notion"),
            " with target='numbers'.",
        )
    return np.clip(score, 0.0, 1.0)


def _refuse_positive(decided: Decided, names: Names) -> None:
    """Raise an ArgumentError for a positive label where there are numbers."""
    if decided.pos_label is not None:
        raise ArgumentError(
            Argument("pos_label", value=short(decided.pos_label)),
            "is for labels, and ",
            Argument(names.labels),
            " has numbers; leave it out.",
        )


def check_varied(score: Array, argument: str) -> None:
    """Raise an ArgumentError for scores that are all the same: there are no intervals of them."""
    if (score == score[0]).all():
        raise ArgumentError(
            argument,
            f"is {score[0]:g} in every row: a score that is constant has no intervals. Choose ",
            Argument("notion", value="'multiaccuracy'"),
            ", which compares averages over all scores.",
        )


def score_name(asked: str | None, given: Any, columns: tuple[Column, ...], default: str) -> str:
    """Return what the score is called in rules: as was asked, as its column, or by a default name.

    Raises an ArgumentError for the name of a protected attribute.

    >>> race = Column("race", np.zeros(1))
    >>> score_name(None, "p", (race,), "score"), score_name(None, None, (race,), "score")
    ('p', 'score')
    """
    names = [column.name for column in columns]
    name = asked or (given if isinstance(given, str) else default)
    if name not in names:
        return name
    if name == given:
        raise ArgumentError(
            "sensitive_features",
            f"has {name!r}, which is the score: its intervals are searched in any case. Leave it "
            "out.",
        )
    if asked is not None:
        raise ArgumentError(
            "notion",
            f"calls the score {name!r}, as a protected attribute is called; pass another name.",
        )
    return f"predicted {name}"
