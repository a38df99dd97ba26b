"""Encoding of a game's state as bytes: a line of JSON for its form, then the bytes of its arrays.

Nothing is pickled. Arrays are stored as their bytes and estimators as archives of skops, which
builds only types that are trusted. Of this package's types only the records in `_RECORDS` are made,
from their fields.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import is_device_array, on_host
from gerrymend._runtime.extras import need
from gerrymend.auditing.composition import Trait
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.models.mixture import (
    ConstantPredictor,
    CostPredictor,
    LabelPredictor,
    LinearPredictor,
    ScorePredictor,
    content_of,
    remember_content,
)
from gerrymend.notions import FairnessNotion
from gerrymend.solvers.base import Ending
from gerrymend.solvers.pool.certificate import Certificate
from gerrymend.solvers.pool.pool import PooledGroup
from gerrymend.solvers.pool.program import Weighing
from gerrymend.solvers.pool.standing import Standing
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.rules import Condition, Conjunction
from gerrymend.subgroups.tree_rule import Split, TreeRule

_PREDICTORS = (ConstantPredictor, LinearPredictor, CostPredictor, LabelPredictor, ScorePredictor)
_RULES = (Condition, Conjunction, Term, LinearRule, Split, TreeRule)
_GAME = (Ending, Certificate, PooledGroup, Standing, Weighing, Subgroup, Trait, FairnessNotion)
_RECORDS: dict[str, type[Any]] = {
    record.__name__: record for record in (*_PREDICTORS, *_RULES, *_GAME)
}
_WITH_ESTIMATOR = (CostPredictor, LabelPredictor, ScorePredictor)

# Numbers and fixed-width text; not objects, whose bytes are addresses.
_KINDS_OF_ARRAYS = "biufcUS"

Trusted = Callable[[], set[str]]


class Packer:
    """Pack states into bytes, one after another; an estimator is written once and used again.

    A checkpoint holds every predictor so far, and most were in the last one too.

    >>> content = Packer().pack({"votes": np.array([3, 0, 2]), "number": 3})
    >>> unpack(content)
    {'votes': array([3, 0, 2]), 'number': 3}
    """

    def __init__(self) -> None:
        # By id(); the object is kept beside it, so that no later object can have the same id.
        self._archives: dict[int, tuple[Any, bytes]] = {}
        self._contents: dict[int, tuple[Any, str | None]] = {}

    def pack(self, state: Any) -> bytes:
        """Return a line of JSON, followed by the bytes that it refers to.

        Parameters
        ----------
        state : Any
            None, numbers, text, arrays, estimators and the package's records, in lists, tuples
            and dicts.

        Raises
        ------
        TypeError
            For anything else, and for an estimator that skops can't write so that it can be read.
        """
        page = _Page(self._archives, self._contents)
        form = json.dumps(page.form(state), separators=(",", ":")).encode()
        # Only what this state uses: an estimator that left the pool must not be held forever.
        self._archives = page.archives
        self._contents = page.contents
        return b"".join([form, b"\n", *page.parts])


class _Page:
    """Encode one state; `parts` collects its bytes.

    `archives` and `contents` are those that this state uses: the packer keeps them for the next
    state, and drops the others.
    """

    def __init__(self, archives: dict[int, Any], contents: dict[int, Any]) -> None:
        self._known_archives = archives
        self._known_contents = contents
        self.archives: dict[int, tuple[Any, bytes]] = {}
        self.contents: dict[int, tuple[Any, str | None]] = {}
        self.parts: list[bytes] = []
        self._size = 0
        self._placed: dict[int, tuple[Any, Any]] = {}

    def form(self, value: Any) -> Any:
        """Return the value as JSON; raise a TypeError where that can't be done.

        A JSON object never stands for a dict: its only key says what to build from its value.
        """
        # First, as float64 is a float too, and would come back as Python's.
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            if _can_be_stacked(value):  # arrays of many rounds are stored as one
                return {"stack": self._array(np.stack(value))}
            return [self.form(item) for item in value]
        if isinstance(value, np.ndarray):
            return self._once(value, self._array)
        # Whoever goes on puts it where it was, by what its rows are now.
        if is_device_array(value):
            return self._once(value, lambda there: self._array(on_host(there)))
        # By the very type: a subclass could have other fields.
        if _RECORDS.get(type(value).__name__) is type(value):
            return self._record(value)
        if type(value) is tuple:
            return {"tuple": [self.form(item) for item in value]}
        if isinstance(value, Mapping):
            # As pairs, since keys of JSON are text and those of a state may be numbers or tuples.
            return {"dict": [[self.form(key), self.form(item)] for key, item in value.items()]}
        if hasattr(value, "get_params"):
            return self._once(value, self._estimator)
        raise TypeError(f"A checkpoint can't hold {type(value).__name__} objects; got {value!r}.")

    def _once(self, value: Any, form: Callable[[Any], Any]) -> Any:
        """Return the form of a value, encoding what a state has in several places only once."""
        # The value is kept beside its form: were it freed, a temporary array could get its id.
        if id(value) not in self._placed:
            self._placed[id(value)] = value, form(value)
        return self._placed[id(value)][1]

    def _place(self, content: bytes) -> list[int]:
        """Add bytes to the parts, and return their start and size."""
        place = [self._size, len(content)]
        self.parts.append(content)
        self._size += len(content)
        return place

    def _array(self, values: NDArray[Any]) -> dict[str, Any]:
        """Return the form of an array: bits of booleans, bytes of numbers, forms of objects.

        Raises a TypeError for other types, such as dates or structures.
        """
        shape = list(values.shape)
        if values.dtype == object:
            return {"objects": [shape, [self.form(item) for item in values.ravel()]]}
        if values.dtype.kind not in _KINDS_OF_ARRAYS:
            raise TypeError(f"A checkpoint can't hold an array of {values.dtype}.")
        # The order of memory is kept, as products can round differently in another.
        order: Literal["C", "F"] = "C"
        if values.flags.f_contiguous and not values.flags.c_contiguous:
            order = "F"
        if values.dtype == bool:
            bits = np.packbits(values.ravel(order=order))
            return {"bits": [self._place(bits.tobytes()), shape, order]}
        content = values.tobytes(order=order)
        return {"array": [self._place(content), values.dtype.str, shape, order]}

    def _record(self, value: Any) -> dict[str, Any]:
        """Return the form of a record: the name of its type and its fields, in order."""
        if dataclasses.is_dataclass(value):
            fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        else:
            fields = list(value)
        form = {"record": [type(value).__name__, [self.form(item) for item in fields]]}
        if isinstance(value, _WITH_ESTIMATOR):
            form["content"] = self._content(value)
        return form

    def _content(self, predictor: Any) -> Any:
        """Return the digest that tells a predictor from others, or None where it has none.

        It is stored because a copy of an estimator needn't have the same one.
        """
        if id(predictor) not in self._known_contents:
            self._known_contents[id(predictor)] = predictor, content_of(predictor)
        self.contents[id(predictor)] = self._known_contents[id(predictor)]
        return self.contents[id(predictor)][1]

    def _estimator(self, estimator: Any) -> dict[str, Any]:
        """Return the form of an estimator: the place of its archive."""
        if id(estimator) not in self._known_archives:
            self._known_archives[id(estimator)] = estimator, self._archive(estimator)
        self.archives[id(estimator)] = self._known_archives[id(estimator)]
        return {"estimator": self._place(self.archives[id(estimator)][1])}

    def _archive(self, estimator: Any) -> bytes:
        """Return an estimator as an archive of skops, or raise a TypeError if skops can't."""
        skops = skops_io()
        try:
            archive: bytes = skops.dumps(estimator)
            if not self._known_archives:
                # skops writes some things, such as a lambda, that it can't read. Trying it with the
                # first estimator shows that before any round is lost.
                skops.loads(archive, trusted=skops.get_untrusted_types(data=archive))
        except Exception as error:  # skops walks any estimator, and any estimator can object
            raise TypeError(
                f"{type(estimator).__name__} can't be kept in a checkpoint: skops can't write it, "
                f"or not so that it can be read ({type(error).__name__}: {error}). Pass an "
                "estimator of scikit-learn, with no lambda or local function in it; or set "
                "checkpoint=None."
            ) from error
        return archive


def _can_be_stacked(values: list[Any]) -> bool:
    """Return whether all values are arrays of one type and shape, each stored by row.

    >>> _can_be_stacked([np.zeros(2), np.ones(2)]), _can_be_stacked([np.zeros(2), np.zeros(3)])
    (True, False)
    """
    if len(values) < 2 or not all(type(array) is np.ndarray for array in values):
        return False
    first = values[0]
    return (
        # Not objects, whose items may be anything; and not scalars, which would come back as such.
        first.dtype != object
        and first.ndim > 0
        and all(
            array.dtype == first.dtype and array.shape == first.shape and array.flags.c_contiguous
            for array in values
        )
    )


def skops_io() -> ModuleType:
    """Return the module `skops.io`, or raise an ImportError that names the extra."""
    return need("skops.io", "checkpoint needs")


def unpack(content: bytes, trusted: Trusted = set, *, start: int = 0) -> Any:
    """Return the state that `Packer.pack` wrote to `content` from `start` on.

    Parameters
    ----------
    content : bytes
        Not copied, as it can be large.
    trusted : callable
        Returns the types of estimators to trust beside those that skops trusts by itself; called
        only if there are others.
    start : int
        Where the state begins.

    Raises
    ------
    UntrustedError
        Where an estimator has another type; nothing of it has been built.
    ValueError
        Where the content is not of the form.
    """
    end = content.index(b"\n", start)  # by place, as a slice would copy what can be large
    form = json.loads(content[start:end])
    return _Reading(memoryview(content)[end + 1 :], trusted).value(form)


class UntrustedError(ValueError):
    """Raised for estimators of types that are not trusted; the message lists these types."""


class _Reading:
    """Decode one state from its parts."""

    def __init__(self, parts: memoryview, trusted: Trusted) -> None:
        self._parts = parts
        self._ask = trusted
        self._trusted: set[str] = set()
        self._estimators: dict[tuple[int, ...], Any] = {}

    def value(self, form: Any) -> Any:
        """Return the value that a form describes; raise a ValueError where it is no form."""
        match form:
            case None | bool() | int() | float() | str():
                return form
            case list():
                return [self.value(item) for item in form]
            case {"tuple": parts}:
                return tuple(self.value(item) for item in parts)
            case {"dict": pairs}:
                return {self.value(key): self.value(item) for key, item in pairs}
            case {"stack": array}:
                return list(self.value(array))
            case {"scalar": array}:
                return self.value(array)[()]
            case {"bits": [place, shape, order]}:
                bits = np.frombuffer(self._at(place), np.uint8)
                values = np.unpackbits(bits, count=math.prod(shape)).astype(bool)
                return values.reshape(shape, order=order)
            case {"array": [place, dtype, shape, order]}:
                # A forged type of objects would make addresses of the bytes.
                if np.dtype(dtype).kind not in _KINDS_OF_ARRAYS:
                    raise ValueError(f"an array of {dtype}")
                # Copied, since an array over the file's bytes could not be written to; "K" keeps
                # its order.
                return np.frombuffer(self._at(place), dtype).reshape(shape, order=order).copy("K")
            case {"objects": [shape, forms]}:
                objects = np.empty(len(forms), dtype=object)
                # One by one: np.array(list) would make two axes of items that are lists of equal
                # length.
                for i, item in enumerate(forms):
                    objects[i] = self.value(item)
                return objects.reshape(shape)
            case {"record": [name, fields], **more}:
                record = _RECORDS[name](*map(self.value, fields))
                if isinstance(content := more.get("content"), str):
                    remember_content(record, content)
                return record
            case {"estimator": place}:
                return self._estimator(tuple(place))
        raise ValueError(f"a form {form!r:.80}")

    def _at(self, place: Any) -> memoryview:
        """Return the bytes at a place, or raise a ValueError where there are none."""
        start, size = place
        # A slice would quietly be cut at the end, or count from it for a negative start.
        if not 0 <= start <= start + size <= len(self._parts):
            raise ValueError(f"bytes {start} to {start + size} of {len(self._parts)}")
        return self._parts[start : start + size]

    def _estimator(self, place: tuple[int, ...]) -> Any:
        """Return the estimator at a place, which is built once.

        Raises an UntrustedError where one of its types is not trusted.
        """
        if place not in self._estimators:
            skops = skops_io()
            archive = bytes(self._at(place))
            needed = set(skops.get_untrusted_types(data=archive))
            if needed - self._trusted:
                # Asking trains a predictor of this fit to see its types: done once, and only if
                # needed.
                self._trusted |= self._ask()
            if unknown := needed - self._trusted:
                raise UntrustedError(", ".join(sorted(unknown)))
            # By place, so that predictors which shared an estimator share it again.
            self._estimators[place] = skops.loads(archive, trusted=sorted(needed))
        return self._estimators[place]


def types_in(value: Any) -> set[str]:
    """Return the types of estimators in a value that skops doesn't trust by itself."""
    page = _Page({}, {})
    # Encoded for its archives alone: they list types as a file would, at any depth.
    page.form(value)
    archives = [archive for _, archive in page.archives.values()]
    return {name for data in archives for name in skops_io().get_untrusted_types(data=data)}
