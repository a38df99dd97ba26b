"""What a model learns: numbers, or two labels as scikit-learn's classifiers take them."""

from typing import Any

import numpy as np

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import LARGEST_WHOLE, short
from gerrymend.inputs.sample import finite, read_vector
from gerrymend.inputs.validation import as_pair, check_labels


def check_target(y: Any, *, classifier: bool) -> Any:
    """Return labels of two values, or numbers; raise an ArgumentError for anything else."""
    if y is None:
        raise ArgumentError("fit", "requires y to be passed, but the target y is None.")
    if not classifier:
        return finite(y, "y")
    labels = read_vector(y, "y")
    classes = as_pair(check_labels(labels, "y"))
    plain = of_one_type(labels)
    are_numbers = plain.dtype.kind == "f" and not all(map(_is_small_whole, classes))
    if plain.dtype.kind == "O" or are_numbers:
        raise ArgumentError(
            "y",
            f"has the labels {short(classes[0])} and {short(classes[1])}, which classifiers of "
            "scikit-learn take for numbers, or for none; pass 0 and 1, or text.",
        )
    return plain


def of_one_type(labels: Any) -> Any:
    """Return labels without objects among them, of which scikit-learn takes none."""
    return np.asarray(labels.tolist()) if labels.dtype.kind in "OT" else labels


def _is_small_whole(label: float) -> bool:
    """Return whether a number is one that scikit-learn takes for a label."""
    return label.is_integer() and abs(label) <= LARGEST_WHOLE


def known_classes(estimator: Any, labels: Any) -> Any:
    """Return the two labels of a fitted classifier; raise an ArgumentError for y of others."""
    classes = estimator.classes_
    if len(classes) != 2:
        raise ArgumentError(
            "estimator",
            f"was fitted to {len(classes)} labels, and scores of two can be patched. Fit it to one "
            "of them against the rest.",
        )
    strange = set(labels.tolist()) - set(classes.tolist())
    if strange:
        raise ArgumentError(
            "y",
            f"has {short(min(strange, key=str))}, and estimator was fitted to "
            f"{' and '.join(map(repr, classes.tolist()))}; pass labels alike.",
        )
    return classes
