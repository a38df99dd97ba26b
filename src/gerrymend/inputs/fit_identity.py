"""By what a fit is known again: its parameters as text, and its data as sha256, part by part."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import joblib
import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.inputs.column_words import words_of_columns
from gerrymend.inputs.protected import Column
from gerrymend.inputs.validation import is_frame

# What is brought from a device at once.
_NUMBERS = 1 << 24


def parameters_as_text(given: Mapping[str, Any]) -> dict[str, str]:
    """Parameters, and those of what they hold, by name.

    >>> from sklearn.linear_model import Ridge
    >>> told = parameters_as_text({"C": 10.0, "estimator": Ridge(alpha=2.0)})
    >>> told["C"], told["estimator"], told["estimator__alpha"]
    ('10.0', 'sklearn.linear_model._ridge.Ridge', '2.0')
    """
    return {name: text for one, value in given.items() for name, text in _told(one, value)}


def _told(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield name, f"{type(value).__name__} of {len(value)}"
        for i, (key, one) in enumerate(value.items()):
            yield from _told(f"{name}[{i}]", [key, one])
    elif isinstance(value, list | tuple):
        yield name, f"{type(value).__name__} of {len(value)}"
        for i, one in enumerate(value):
            yield from _told(f"{name}[{i}]", one)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        yield name, f"{type(value).__module__}.{type(value).__qualname__}"
        for parameter, one in sorted(value.get_params(deep=False).items()):
            yield from _told(f"{name}__{parameter}", one)
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield name, repr(value)
    else:
        yield name, f"{type(value).__name__} {_hash(name, value)}"


def _hash(name: str, value: Any) -> str:
    try:
        return str(joblib.hash(value))
    except Exception as error:  # joblib walks any object, and any object can object
        raise TypeError(
            f"{name}={value!r} can't be told from others in another process, and so a checkpoint "
            "would not know its fit again. Give a function that a module has, in place of a "
            "lambda or a local one; or set checkpoint=None."
        ) from error


def data_digests(
    features: Any,
    classes: NDArray[Any],
    labels: NDArray[np.intp],
    protected: Sequence[Column],
    weight: Array,
) -> dict[str, str]:
    """The sha256 of each argument, in the order of its rows.

    >>> y, w = np.array([0, 1]), np.ones(2)
    >>> one = data_digests(np.array([[1.0], [2.0]]), y, y, [], w)
    >>> other = data_digests(np.array([[1.0], [3.0]]), y, y, [], w)
    >>> [name for name in one if one[name] != other[name]]
    ['X']
    """
    columns = [(one.name, one.kind, repr(one.categories)) for one in protected]
    return {
        "X": _digest(_head(features), words_of_columns(features)),
        "y": _digest([str(classes.dtype), repr(classes.tolist())], [labels.astype(np.int64)]),
        "sensitive_features": _digest(columns, [one.values for one in protected]),
        "sample_weight": _digest([], [weight]),
    }


def combined_digests(parts: Sequence[Mapping[str, str]], sizes: Sequence[int]) -> dict[str, str]:
    """The digests of rows that are in partitions of these sizes, in their order.

    >>> one, other = {"X": "1f", "y": "2e"}, {"X": "3d", "y": "4c"}
    >>> sorted(combined_digests([one, other], [10, 20]))
    ['X', 'partitions', 'y']
    """
    names = dict.fromkeys(name for part in parts for name in part)
    digests = {name: _digest([part.get(name) for part in parts], []) for name in names}
    return digests | {"partitions": _digest(list(sizes), [])}


def array_digests(**arrays: Any) -> dict[str, str]:
    """The sha256 of arrays, wherever they are; they are brought to the host piece by piece.

    >>> array_digests(y=np.array([0, 1])) == array_digests(y=np.array([0, 2]))
    False
    """
    return {
        name: _digest([str(array.dtype), list(array.shape)], map(on_host, _pieces(array)))
        for name, array in arrays.items()
    }


def _pieces(array: Any) -> Iterator[Any]:
    step = max(1, _NUMBERS // math.prod(array.shape[1:]))
    return (array[first : first + step] for first in range(0, array.shape[0], step))


def _head(features: Any) -> list[Any]:
    """What words don't tell: names and types."""
    if not is_frame(features):
        return [list(features.shape)]
    schema = nw.from_native(features, eager_only=True).schema
    return [[name, str(dtype)] for name, dtype in schema.items()]


def _digest(head: Any, columns: Iterable[NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(head).encode())
    for values in columns:
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
