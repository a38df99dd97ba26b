"""Reading of labels: two, one of many against the rest, or as many as there are."""

import math
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.categories import as_category, check_label_types, plain_type
from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.numbers import as_float, is_number_type, short
from gerrymend.inputs.settings import check_flag, same_but_for_case
from gerrymend.inputs.validation import check_labels

# For more than two labels where two are needed, by whether one can be compared with the rest.
_REMEDIES: dict[bool, tuple[str | Argument, ...]] = {
    False: ("Merge them into two.",),
    True: (
        "Merge them into two, or name one as ",
        Argument("pos_label"),
        ", and it is compared with the rest.",
    ),
}
# For numbers where labels are needed: in place of decisions, and of labels.
_SCORES: tuple[str | Argument, ...] = (
    "Cut scores into decisions by ",
    Argument("threshold", value="0.5"),
    ", say; pass ",
    Argument("decision_probabilities", value="True"),
    " for the probabilities with which a randomised model decides; or compare means of the numbers "
    "themselves, by ",
    Argument("notion", value="'mean_outcome'"),
    ".",
)
_NUMBERS: tuple[str | Argument, ...] = (
    "Merge them into few classes; or compare means of numbers, by ",
    Argument("notion", value="'mean_error'"),
    " or 'absolute_error'.",
)
# Rows a class, on average, below which labels are scores or identifiers.
_FEWEST = 2


class Names(NamedTuple):
    """The arguments by which a caller has the parts of a sample, for messages to name."""

    labels: str = "y"
    decisions: str = "y_pred"
    protected: str = "sensitive_features"
    weight: str = "sample_weight"
    features: str = "X"
    control: str = "control_features"


FIT = Names()
AUDIT = Names(labels="y_true")


class Decided(NamedTuple):
    """Say how decisions are read: as labels, scores to cut, or probabilities of a mixture.

    With `many` there may be more than two labels; a second sample has the `labels` of a first.
    """

    threshold: float | None = None
    decision_probabilities: bool = False
    pos_label: Any = None
    many: bool = False
    labels: tuple[Any, ...] | None = None

    @property
    def by_label(self) -> bool:
        """True if decisions are labels, and may show one that no row has."""
        are_probabilities = check_flag(self.decision_probabilities, "decision_probabilities")
        return self.threshold is None and not are_probabilities


BY_LABEL = Decided()


class Labels(NamedTuple):
    """Labels that were read.

    `classes` are two, the positive one second, or all of more than two, sorted; `known` are all
    that decisions may have. They differ where one class is compared with the rest, which is then
    called “not” that class.
    """

    classes: NDArray[Any]
    known: NDArray[Any]


def read_labels(
    labels: NDArray[Any] | None,
    decisions: NDArray[Any] | None,
    decided: Decided,
    names: Names,
    *,
    cut_off: bool = False,
    merges: bool = True,
) -> Labels:
    """Return the labels; raise an ArgumentError unless there are two, or more are allowed.

    Without labels they are the values of the decisions, or 0 and 1 where these are numbers. More
    than two are allowed where `decided` says so, or has the positive one and this `merges` the
    rest. `cut_off` says that only the first of many labels are given, for the message.

    >>> read_labels(np.array(["a", "b", "c"]), None, Decided(pos_label="b"), AUDIT).classes.tolist()
    ['not b', 'b']
    """
    numbers = _NUMBERS
    if labels is None:
        numbers = _SCORES
        names = names._replace(labels=names.decisions)
        if decisions is None or not decided.by_label:
            return _positive(np.array([0, 1]), decided, names)
        labels = decisions
    check_label_types(labels, names.labels)
    # A sample may hold one label only: the false positive rate of negatives is well defined. Then
    # decisions may show the other; scores and probabilities can't.
    if decisions is not None and decided.by_label:
        check_label_types(decisions, names.decisions)
        if len(labels) and (labels == labels[0]).all():
            both = set(decisions.tolist()) | {labels.tolist()[0]}
            labels = _together(labels, decisions) if len(both) == 2 else labels
    if decided.labels is not None and (first := _of_first(labels, decisions, decided)):
        return first
    many = decided.many or (merges and decided.pos_label is not None)
    remedies = _REMEDIES[merges], numbers
    classes = check_labels(labels, names.labels, cut_off, many, *remedies)
    if len(classes) > 2 and not decided.by_label and decided.pos_label is None:
        raise ArgumentError(
            names.labels,
            f"has {len(classes)} classes, {', '.join(map(repr, classes.tolist()))}, and scores or "
            "probabilities are those of one. Name it as ",
            Argument("pos_label"),
            ", and it is compared with the rest; or pass decisions.",
        )
    return _positive(classes, decided, names)


def check_class_number(known: NDArray[Any], n_rows: int, argument: str) -> None:
    """Raise an ArgumentError for more than two classes where they are nearly as many as rows."""
    number = len(known)
    if number > 2 and n_rows < _FEWEST * number:
        raise ArgumentError(
            argument,
            f"has {number} classes in {n_rows} rows; scores and identifiers are no labels. Merge "
            "classes, or pass what was decided.",
        )


def _together(labels: NDArray[Any], decisions: NDArray[Any]) -> NDArray[Any]:
    """Return both in one array; numbers of several types as the widest of these."""
    both = np.concatenate([labels, decisions])
    plain = np.array(both.tolist()) if both.dtype == object else both
    return plain if plain.dtype.kind in "biuf" else both


def _of_first(
    labels: NDArray[Any], decisions: NDArray[Any] | None, decided: Decided
) -> Labels | None:
    """Return the labels of a first sample, where they are many, or one against the rest.

    A second sample may lack some; None is returned where it has others.
    """
    assert decided.labels is not None
    if decided.pos_label is not None and decided.labels == _pair_of(decided.labels[-1]):
        # The rest may be other classes here than in the first sample: any that is there is known.
        shown = labels if decisions is None else np.concatenate([labels, decisions])
        return Labels(np.array(decided.labels, dtype=object), np.unique(shown))
    if len(decided.labels) > 2 and set(labels.tolist()) <= set(decided.labels):
        every = np.array(decided.labels)
        return Labels(every, every)
    return None


def class_numbers(values: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each value among the classes, one of which it is.

    >>> class_numbers(np.array(["b", "a", "b"]), np.array(["a", "b"])).tolist()
    [1, 0, 1]
    """
    numbers = np.zeros(len(values), dtype=np.intp)
    for number, label in enumerate(classes.tolist()):
        numbers[values == label] = number
    return numbers


def _positive(classes: NDArray[Any], decided: Decided, names: Names) -> Labels:
    """Return labels that were read, the positive one of two second."""
    if len(classes) == 2 or decided.pos_label is None:
        return Labels(positive_second(classes, decided.pos_label, names), classes)
    place = check_positive(classes, decided.pos_label, names)
    return Labels(np.array(_pair_of(classes.tolist()[place]), dtype=object), classes)


def _pair_of(label: Any) -> tuple[Any, Any]:
    """Return what a class and the rest are called, where it is compared with that."""
    return f"not {label}", label


def plain_label(pos_label: Any) -> Any:
    """Return a label as plain data, to be stored; raise an ArgumentError for what can be none.

    >>> plain_label(np.int64(1)), plain_label(np.True_), plain_label(Decimal("0.5"))
    (1, True, 0.5)
    """
    kind = type(pos_label)
    if is_number_type(kind) and not math.isfinite(as_float(pos_label)):
        kind = type(None)  # NaN and ∞ are labels of nobody
    if plain_type(kind) is not None:
        return as_category(pos_label)
    if is_number_type(kind):
        return held(pos_label, "pos_label")
    raise ArgumentError(
        Argument("pos_label", value=short(pos_label)),
        "is no label: pass text, a number or a boolean.",
    )


def check_positive(classes: NDArray[Any], pos_label: Any, names: Names) -> int:
    """Return the place of the positive label; raise an ArgumentError if it is none of these."""
    known = classes.tolist()
    is_label = plain_type(type(pos_label)) is not None or is_number_type(type(pos_label))
    # A signalling NaN can't even be compared.
    if not is_label or (isinstance(pos_label, Decimal) and pos_label.is_snan()):
        alike = []
    elif pos_label in known:
        return known.index(pos_label)
    else:
        alike = same_but_for_case(pos_label, known)
    raise ArgumentError(
        Argument("pos_label", value=repr(pos_label)),
        "is no label of ",
        Argument(names.labels),
        f"; its labels are {', '.join(map(repr, known))}",
        *(f" (did you mean {one!r}?)" for one in alike),
        ".",
    )


def positive_second(classes: NDArray[Any], pos_label: Any, names: Names) -> NDArray[Any]:
    """Return the two labels in an order that has the positive one second; None keeps the order."""
    if pos_label is None:
        return classes
    place = check_positive(classes, pos_label, names)
    return classes[[1 - place, place]]  # as labels are given, whatever equals them
