"""The two labels of rows, the positive one second, and decisions as 0 and 1."""

from typing import Any

from gerrymend.checker.plain import of_one_type


def classes_of(labels: list[Any], decisions: list[Any], pos_label: Any) -> list[Any]:
    """Return the two labels, the positive one last.

    Where `labels` show only one, `decisions` may show the other. Raises a ValueError unless there
    are two, or if `pos_label` is neither.

    >>> classes_of(["no", "no"], ["yes", "no"], None)
    ['no', 'yes']
    >>> classes_of([0, 1], [], pos_label=0)
    [1, 0]
    >>> classes_of(["a", "b", "c"], [], pos_label="b")
    ['not b', 'b']
    """
    classes = _in_order(labels)
    if len(classes) == 1:
        classes = _in_order(of_one_type([*labels, *decisions]))
    if len(classes) > 2 and pos_label in classes:
        own = classes[classes.index(pos_label)]
        return [f"not {own}", own]
    if len(classes) != 2:
        named = " Pass pos_label, as in the audit." if len(classes) > 2 else ""
        raise ValueError(
            f"y_true must have two labels, as it had in the audit; it has {len(classes)}: "
            f"{', '.join(map(repr, classes[:6]))}.{named}"
        )
    if pos_label is None:
        return classes
    if pos_label not in classes:
        raise ValueError(
            f"pos_label={pos_label!r} is no label of y_true; its labels are "
            f"{', '.join(map(repr, classes))}."
        )
    return sorted(classes, key=lambda label: bool(label == pos_label))


def _in_order(labels: list[Any]) -> list[Any]:
    """Return the distinct labels in order, numbers before text."""
    return sorted(set(labels), key=lambda label: (isinstance(label, str), label))


def decisions_of(predicted: list[Any], positive: Any, known: list[Any]) -> list[int]:
    """Return decisions as 0 and 1, or raise a ValueError for a value that is no known label."""
    unknown = sorted(map(repr, set(predicted) - set(known)))
    if unknown:
        raise ValueError(
            f"y_pred has values that are no label: {', '.join(unknown[:3])}. Pass what was passed "
            "to audit(): threshold for scores, decision_probabilities=True for a mixture's."
        )
    return [int(decision == positive) for decision in predicted]
