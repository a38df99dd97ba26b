"""The identity of a fit: its parameters as text, and the sha256 of each part of its data.

A checkpoint keeps it, so that it is resumed with the same parameters and data only.
"""

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

# Numbers copied from a device at once: 128 MB of float64.
_NUMBERS = 1 << 24


def parameters_as_text(given: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as text by name, with those of nested estimators, lists and mappings.

    Raises TypeError for a value that can't be hashed, such as a lambda.

    >>> from sklearn.linear_model import Ridge
    >>> told = parameters_as_text({"C": 10.0, "estimator": Ridge(alpha=2.0)})
    >>> told["C"], told["estimator"], told["estimator__alpha"]
    ('10.0', 'sklearn.linear_model._ridge.Ridge', '2.0')
    """
    return {name: text for one, value in given.items() for name, text in _told(one, value)}


def _told(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield a parameter and what it holds, as pairs of name and text."""
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
    """Hash any object by its content; raise TypeError, naming the parameter, if that fails."""
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
    controls: Sequence[Column] = (),
    moments: Sequence[NDArray[Any]] = (),
) -> dict[str, str]:
    """Return the sha256 of each argument of fit, by name; the order of the rows matters.

    `moments` are what functions of a notion make of the rows: functions can't be told apart.

    >>> y, w = np.array([0, 1]), np.ones(2)
    >>> one = data_digests(np.array([[1.0], [2.0]]), y, y, [], w)
    >>> other = data_digests(np.array([[1.0], [3.0]]), y, y, [], w)
    >>> [name for name in one if one[name] != other[name]]
    ['X']
    """
    digests = {
        "X": _digest(_head(features), map(on_host, words_of_columns(features))),
        "y": _digest([str(classes.dtype), repr(classes.tolist())], [labels.astype(np.int64)]),
        "sensitive_features": _digest_of_columns(protected),
        "sample_weight": _digest([], [weight]),
    }
    if controls:
        digests["control_features"] = _digest_of_columns(controls)
    if moments:
        digests["notion"] = _digest([], moments)
    return digests


def combined_digests(parts: Sequence[Mapping[str, str]], sizes: Sequence[int]) -> dict[str, str]:
    """Combine the digests of partitions, in their order, with a digest of their sizes.

    >>> one, other = {"X": "1f", "y": "2e"}, {"X": "3d", "y": "4c"}
    >>> sorted(combined_digests([one, other], [10, 20]))
    ['X', 'partitions', 'y']
    """
    names = dict.fromkeys(name for part in parts for name in part)
    digests = {name: _digest([part.get(name) for part in parts], []) for name in names}
    return digests | {"partitions": _digest(list(sizes), [])}


def array_digests(**arrays: Any) -> dict[str, str]:
    """Return the sha256 of arrays on any device, which are copied to the host piece by piece.

    >>> array_digests(y=np.array([0, 1])) == array_digests(y=np.array([0, 2]))
    False
    """
    return {
        name: _digest([str(array.dtype), list(array.shape)], map(on_host, _pieces(array)))
        for name, array in arrays.items()
    }


def _pieces(array: Any) -> Iterator[Any]:
    """Split an array by rows into pieces of about `_NUMBERS` values."""
    # prod(()) is 1, so that a vector is cut like a matrix of one column.
    step = max(1, _NUMBERS // math.prod(array.shape[1:]))
    return (array[first : first + step] for first in range(0, array.shape[0], step))


def _head(features: Any) -> list[Any]:
    """Return the names and types of columns, or the shape of an array, which words don't hold."""
    if not is_frame(features):
        return [list(features.shape)]
    schema = nw.from_native(features, eager_only=True).schema
    return [[name, str(dtype)] for name, dtype in schema.items()]


def _digest_of_columns(columns: Sequence[Column]) -> str:
    """Return the sha256 of attributes, with their names, kinds and categories."""
    head = [(one.name, one.kind, repr(one.categories)) for one in columns]
    return _digest(head, [one.values for one in columns])


def _digest(head: Any, columns: Iterable[NDArray[Any]]) -> str:
    """Return the sha256 of plain data, followed by the bytes of arrays."""
    digest = hashlib.sha256(json.dumps(head).encode())
    for values in columns:
        # Bytes in the order of rows, whatever the order in memory: the same data has one digest.
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
