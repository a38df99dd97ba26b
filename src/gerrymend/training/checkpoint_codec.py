"""The state of a game as bytes, and back: JSON for its form, raw bytes for what is in it.

Nothing is pickled. Arrays are their bytes, and estimators archives of skops, which builds none but
types that are trusted. Of the package's own types only the records in `_RECORDS` are made, from
their fields.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
from gerrymend.solvers.pool.game import Standing
from gerrymend.solvers.pool.pool import PooledGroup
from gerrymend.solvers.pool.program import Weighing
from gerrymend.subgroups.rules import Condition, Conjunction, LinearRule, Term
from gerrymend.subgroups.tree_rule import Split, TreeRule

_PREDICTORS = (ConstantPredictor, LinearPredictor, CostPredictor, LabelPredictor, ScorePredictor)
_RULES = (Condition, Conjunction, Term, LinearRule, Split, TreeRule)
_GAME = (Ending, Certificate, PooledGroup, Standing, Weighing, Subgroup, FairnessNotion)
_RECORDS: dict[str, type[Any]] = {one.__name__: one for one in (*_PREDICTORS, *_RULES, *_GAME)}
_WITH_ESTIMATOR = (CostPredictor, LabelPredictor, ScorePredictor)

# Numbers and fixed-width text; not objects, whose bytes are addresses.
_KINDS_OF_ARRAYS = "biufcUS"

Trusted = Callable[[], set[str]]


class Packer:
    """Packs one state after another; what was packed of an estimator serves the next state too.

    >>> content = Packer().pack({"votes": np.array([3, 0, 2]), "number": 3})
    >>> unpack(content)
    {'votes': array([3, 0, 2]), 'number': 3}
    """

    def __init__(self) -> None:
        # By identity; the estimator is kept with it, so that no other can have the same.
        self._archives: dict[int, tuple[Any, bytes]] = {}
        self._contents: dict[int, tuple[Any, str | None]] = {}

    def pack(self, state: Any) -> bytes:
        """A line of JSON, and then the bytes that it refers to."""
        page = _Page(self._archives, self._contents)
        form = json.dumps(page.form(state), separators=(",", ":")).encode()
        self._archives, self._contents = page.archives, page.contents
        return b"".join([form, b"\n", *page.parts])


class _Page:
    """One state that is being packed."""

    def __init__(self, archives: dict[int, Any], contents: dict[int, Any]) -> None:
        self._known_archives, self._known_contents = archives, contents
        self.archives: dict[int, tuple[Any, bytes]] = {}
        self.contents: dict[int, tuple[Any, str | None]] = {}
        self.parts: list[bytes] = []
        self._size = 0
        self._placed: dict[int, tuple[Any, Any]] = {}

    def form(self, value: Any) -> Any:
        """The value as JSON; an object of JSON is never a dict, but says what is made of it."""
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            if _can_be_stacked(value):  # those of many rounds, as one array
                return {"stack": self._array(np.stack(value))}
            return [self.form(one) for one in value]
        if isinstance(value, np.ndarray):
            return self._once(value, self._array)
        if _RECORDS.get(type(value).__name__) is type(value):
            return self._record(value)
        if type(value) is tuple:
            return {"tuple": [self.form(one) for one in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.form(key), self.form(one)] for key, one in value.items()]}
        if hasattr(value, "get_params"):
            return self._once(value, self._estimator)
        raise TypeError(f"A checkpoint can't hold {type(value).__name__} objects; got {value!r}.")

    def _once(self, value: Any, form: Callable[[Any], Any]) -> Any:
        """What several parts of a state share is in the bytes once."""
        if id(value) not in self._placed:
            self._placed[id(value)] = value, form(value)
        return self._placed[id(value)][1]

    def _place(self, content: bytes) -> list[int]:
        place = [self._size, len(content)]
        self.parts.append(content)
        self._size += len(content)
        return place

    def _array(self, values: NDArray[Any]) -> dict[str, Any]:
        shape = list(values.shape)
        if values.dtype == object:
            return {"objects": [shape, [self.form(one) for one in values.ravel()]]}
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
        if dataclasses.is_dataclass(value):
            fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        else:
            fields = list(value)
        form = {"record": [type(value).__name__, [self.form(one) for one in fields]]}
        if isinstance(value, _WITH_ESTIMATOR):
            form["content"] = self._content(value)
        return form

    def _content(self, predictor: Any) -> Any:
        """By what the predictor is told from others, which a copy of an estimator may not keep."""
        if id(predictor) not in self._known_contents:
            self._known_contents[id(predictor)] = predictor, content_of(predictor)
        self.contents[id(predictor)] = self._known_contents[id(predictor)]
        return self.contents[id(predictor)][1]

    def _estimator(self, estimator: Any) -> dict[str, Any]:
        if id(estimator) not in self._known_archives:
            self._known_archives[id(estimator)] = estimator, self._archive(estimator)
        self.archives[id(estimator)] = self._known_archives[id(estimator)]
        return {"estimator": self._place(self.archives[id(estimator)][1])}

    def _archive(self, estimator: Any) -> bytes:
        skops = skops_io()
        try:
            archive: bytes = skops.dumps(estimator)
            if not self._known_archives:
                # skops writes some things, such as a lambda, that it can't read: known at once.
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
    """Whether these are arrays of one type and shape, each in the order of its rows."""
    if len(values) < 2 or not all(type(one) is np.ndarray for one in values):
        return False
    first = values[0]
    return (
        first.dtype != object
        and first.ndim > 0
        and all(
            one.dtype == first.dtype and one.shape == first.shape and one.flags.c_contiguous
            for one in values
        )
    )


def skops_io() -> ModuleType:
    """What writes and reads estimators."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("checkpoint needs skops: pip install 'gerrymend[save]'.") from error
    return skops.io


def unpack(content: bytes, trusted: Trusted = set, *, start: int = 0) -> Any:
    """The state that was packed, and is in the content from `start` on.

    Estimators may be of types that skops trusts and of those that `trusted` names; it is asked if
    there are others. UntrustedError where it doesn't name them.
    """
    end = content.index(b"\n", start)  # content is not copied: it can be large
    form = json.loads(content[start:end])
    return _Reading(memoryview(content)[end + 1 :], trusted).value(form)


class UntrustedError(ValueError):
    """Estimators are of types that are not trusted."""


class _Reading:
    """A state that is being unpacked."""

    def __init__(self, parts: memoryview, trusted: Trusted) -> None:
        self._parts, self._ask = parts, trusted
        self._trusted: set[str] = set()
        self._estimators: dict[tuple[int, ...], Any] = {}

    def value(self, form: Any) -> Any:
        """What the form says; ValueError where it is none."""
        match form:
            case None | bool() | int() | float() | str():
                return form
            case list():
                return [self.value(one) for one in form]
            case {"tuple": parts}:
                return tuple(self.value(one) for one in parts)
            case {"dict": pairs}:
                return {self.value(key): self.value(one) for key, one in pairs}
            case {"stack": array}:
                return list(self.value(array))
            case {"scalar": array}:
                return self.value(array)[()]
            case {"bits": [place, shape, order]}:
                bits = np.frombuffer(self._at(place), np.uint8)
                values = np.unpackbits(bits, count=math.prod(shape)).astype(bool)
                return values.reshape(shape, order=order)
            case {"array": [place, dtype, shape, order]}:
                if np.dtype(dtype).kind not in _KINDS_OF_ARRAYS:
                    raise ValueError(f"an array of {dtype}")
                return np.frombuffer(self._at(place), dtype).reshape(shape, order=order).copy("K")
            case {"objects": [shape, forms]}:
                objects = np.empty(len(forms), dtype=object)
                for i, one in enumerate(forms):
                    objects[i] = self.value(one)
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
        start, size = place
        if not 0 <= start <= start + size <= len(self._parts):
            raise ValueError(f"bytes {start} to {start + size} of {len(self._parts)}")
        return self._parts[start : start + size]

    def _estimator(self, place: tuple[int, ...]) -> Any:
        if place not in self._estimators:
            skops, archive = skops_io(), bytes(self._at(place))
            needed = set(skops.get_untrusted_types(data=archive))
            if needed - self._trusted:
                self._trusted |= self._ask()
            if unknown := needed - self._trusted:
                raise UntrustedError(", ".join(sorted(unknown)))
            self._estimators[place] = skops.loads(archive, trusted=sorted(needed))
        return self._estimators[place]


def types_in(value: Any) -> set[str]:
    """The types of estimators in a value that skops doesn't trust by itself."""
    page = _Page({}, {})
    page.form(value)
    archives = [archive for _, archive in page.archives.values()]
    return {name for one in archives for name in skops_io().get_untrusted_types(data=one)}
