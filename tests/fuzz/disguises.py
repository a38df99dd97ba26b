"""The same values in other containers and types, and values that are no longer the same.

A disguise is a function of a plain list. It says what must come of it: "result" (the same as of
the plain list), "error" (the values can't be told, or mean something else), "either", or "loose"
where it may be taken in more than one way. That can depend on what the column is used as: an
attribute, a label, a number for each row (a weight, a probability), or a score that is compared
with a threshold.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.fuzz.samples import kind_of, pick

# A column may be of a kind for which it makes no sense: that case is drawn again.
KINDS = {
    "number": ("whole", "fraction"),
    "whole": ("whole",),
    "word": ("word",),
    "bool": ("bool",),
    "any": ("whole", "fraction", "word", "bool"),
}


@dataclass(frozen=True)
class Disguise:
    """A way to pass a column, for columns of some kind.

    `expect` is what must come of it as an attribute, `label`, `number` and `score` as these, where
    it differs; "skip" where it makes no sense. `plain` is a list that means the same as an
    attribute or a label, where the column itself is none.
    """

    name: str
    kind: str
    expect: str
    make: Callable[[list[Any]], Any]
    label: str = ""
    number: str = ""
    score: str = ""
    plain: Callable[[list[Any]], list[Any]] = list

    def expected(self, role: str) -> str:
        """Say what must come of it as an "attribute", a "label", a "number" or a "score"."""
        own = {"label": self.label, "number": self.number, "score": self.score or self.number}
        return own.get(role) or self.expect

    def meaning(self, values: list[Any], role: str) -> list[Any]:
        """Return the plain list that means the same: a number is one in whatever it comes."""
        return list(values) if role in ("number", "score") else self.plain(values)


def _strided(values: list[Any]) -> Any:
    array = np.asarray(values)
    return np.stack([array, array], axis=1).ravel()[::2]


def _read_only(values: list[Any]) -> Any:
    array = np.asarray(values)
    array.flags.writeable = False
    return array


def _shuffled_index(values: list[Any]) -> Any:
    return pd.Series(values, index=np.arange(len(values))[::-1] % 3)


def _many_indexed(values: list[Any]) -> Any:
    return pd.Series(values, index=pd.MultiIndex.from_product([["x"], range(len(values))]))


def _with_first(values: list[Any], other: Any) -> list[Any]:
    return [other, *values[1:]]


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _masked(values: list[Any], masked: bool) -> Any:
    mask = np.zeros(len(values), dtype=bool)
    mask[0] = masked
    return np.ma.masked_array(np.asarray(values), mask=mask)


def _structured(values: list[Any]) -> Any:
    return np.array([(value,) for value in values], dtype=[("f", np.asarray(values).dtype)])


def _arrow_chunks(values: list[Any]) -> Any:
    middle = len(values) // 2
    whole = pa.array(values)
    return pa.chunked_array([whole[:middle], whole[middle:]], type=whole.type)


def _as_words(values: list[Any]) -> list[str]:
    """Whole numbers as words in the same order: the larger of two labels is the positive one."""
    return [f"v{value + 10**9:012d}" for value in values]


_LONG = np.longdouble(1) + np.finfo(np.longdouble).eps  # beside 1, and 1 as a float64

# The same values: the result is the same.
SAME = (
    Disguise("tuple", "any", "result", tuple),
    Disguise("numpy", "any", "result", np.asarray),
    Disguise("object array", "any", "result", _objects),
    Disguise("non-contiguous", "any", "result", _strided),
    Disguise("read-only", "any", "result", _read_only),
    Disguise("big-endian", "number", "result", lambda v: np.asarray(v).astype(">f8")),
    Disguise("int8", "whole", "result", lambda v: np.asarray(v, dtype=np.int8)),
    Disguise("int16", "whole", "result", lambda v: np.asarray(v, dtype=np.int16)),
    Disguise("float16", "number", "result", lambda v: np.asarray(v, dtype=np.float16)),
    Disguise("float32", "number", "result", lambda v: np.asarray(v, dtype=np.float32)),
    Disguise("float64", "number", "result", lambda v: np.asarray(v, dtype=np.float64)),
    Disguise("negative zeros", "number", "result", lambda v: [x if x else -0.0 for x in v]),
    Disguise("NumPy scalars in a list", "number", "result", lambda v: list(np.asarray(v))),
    Disguise("Series", "any", "result", pd.Series),
    Disguise("Series, index twice", "any", "result", _shuffled_index),
    Disguise("Series, MultiIndex", "any", "result", _many_indexed),
    Disguise("nullable Int64", "whole", "result", lambda v: pd.Series(v, dtype="Int64")),
    Disguise("nullable Float64", "number", "result", lambda v: pd.Series(v, dtype="Float64")),
    Disguise("nullable boolean", "bool", "result", lambda v: pd.Series(v, dtype="boolean")),
    Disguise("string dtype", "word", "result", lambda v: pd.Series(v, dtype="string")),
    Disguise("arrow dtype", "whole", "result", lambda v: pd.Series(v, dtype="int64[pyarrow]")),
    Disguise("categorical", "word", "result", lambda v: pd.Series(v, dtype="category")),
    Disguise("arrow strings", "word", "result", lambda v: pd.Series(v, dtype="string[pyarrow]")),
    Disguise("polars", "any", "result", pl.Series),
    Disguise("polars category", "word", "result", lambda v: pl.Series(v, dtype=pl.Categorical)),
    Disguise(
        "polars enum", "word", "result", lambda v: pl.Series(v, dtype=pl.Enum(sorted(set(v))))
    ),
    Disguise("arrow", "any", "result", pa.array),
    Disguise("arrow chunks", "any", "result", _arrow_chunks),
)

# They can be taken for what they are, or be refused.
STRANGE = (
    Disguise("longdouble", "number", "either", lambda v: np.asarray(v, dtype=np.longdouble)),
    Disguise("masked array, no mask", "any", "either", lambda v: _masked(v, False)),
    Disguise("Decimal", "number", "either", lambda v: [Decimal(x) for x in v]),
    Disguise("Fraction", "number", "either", lambda v: [Fraction(x) for x in v]),
    Disguise("arrow decimal", "whole", "either", lambda v: pa.array([Decimal(x) for x in v])),
    Disguise("polars Int128", "whole", "either", lambda v: pl.Series(v, dtype=pl.Int128)),
    Disguise("arrow dictionary", "word", "either", lambda v: pa.array(v).dictionary_encode()),
    Disguise("NumPy strings", "word", "either",
             lambda v: np.asarray(v, dtype=np.dtypes.StringDType())),
    Disguise("polars decimal", "whole", "either", lambda v: pl.Series([Decimal(x) for x in v])),
    Disguise("bytes", "word", "either", lambda v: [x.encode() for x in v]),
    Disguise("NumPy bytes", "word", "either", lambda v: np.array([x.encode() + b"." for x in v])),
    Disguise("categorical numbers", "whole", "either", lambda v: pd.Series(v, dtype="category"),
             plain=_as_words),
    Disguise("numbers as text", "whole", "either", lambda v: [str(x + 100) for x in v],
             number="error", plain=lambda v: [f"v{x + 100}" for x in v]),
    Disguise("one column", "any", "either", lambda v: np.asarray(v)[:, None]),
    Disguise("iterator", "any", "either", iter),
    Disguise("generator", "any", "either", lambda v: (x for x in v)),
    Disguise("pandas Index", "any", "either", pd.Index),
    Disguise("bare Categorical", "word", "either", pd.Categorical),
    Disguise("memoryview", "whole", "either", lambda v: memoryview(np.asarray(v))),
    Disguise("masked words", "word", "either", lambda v: _masked(v, True), label="error",
             number="error", plain=lambda v: _with_first(v, None)),
    Disguise("functions", "any", "loose", lambda v: [len for _ in v], number="error"),
    Disguise("infinite", "number", "error", lambda v: _with_first(v, float("inf")),
             label="loose", score="loose"),  # a score may be: it is beside every threshold
    Disguise("complex", "number", "error", lambda v: np.asarray(v, dtype=complex), label="either"),
    Disguise("complex list", "number", "error", lambda v: [complex(x) for x in v], label="either"),
    Disguise("structured", "any", "error", _structured, label="either"),
    Disguise("void", "whole", "error", lambda v: np.asarray(v, dtype=np.int64).view("V8"),
             label="loose"),
)  # fmt: skip

# Whole numbers moved or scaled: who is in which group stays the same.
MOVED = tuple(
    Disguise(name, "whole", "either", make, number="skip", plain=plain)
    for name, make, plain in (
        ("beyond 2^53", lambda v: [x + 2**53 for x in v], list),
        ("int64 beyond 2^53", lambda v: np.asarray(v) + 2**53, list),
        ("uint64 beyond 2^63", lambda v: np.array([x + 2**63 + 8 for x in v], np.uint64), list),
        ("beyond 2^64", lambda v: [x + 2**80 for x in v], list),
        ("Decimal beyond 2^53", lambda v: [Decimal(x) + 2**53 for x in v], list),
        ("Fraction beyond 2^53", lambda v: [Fraction(x) + 2**53 for x in v], list),
        ("polars int64 beyond 2^53", lambda v: pl.Series(v) + 2**53, list),
        ("nullable beyond 2^53", lambda v: pd.Series([x + 2**53 for x in v], dtype="Int64"), list),
        ("arrow beyond 2^53", lambda v: pa.array([x + 2**53 for x in v]), list),
        ("subnormal", lambda v: [(x + 4) * 5e-324 for x in v], list),
        ("tiny", lambda v: [x * 1e-300 for x in v], list),
        ("huge", lambda v: [x * 1e300 for x in v], list),
        (
            "long doubles that differ",
            lambda v: np.where(np.asarray(v) > 0, _LONG, np.longdouble(1)),
            lambda v: [int(x > 0) for x in v],
        ),
    )
)

# Numbers, words or rows that are no longer there to be had.
RUINED = (
    Disguise("masked numbers", "number", "error", lambda v: _masked(v, True)),
    Disguise("masked in a list", "number", "error", lambda v: _with_first(v, np.ma.masked)),
    Disguise("400 digits", "number", "error", lambda v: _with_first(v, 10**400), label="loose",
             score="loose"),
    Disguise("1e-400", "number", "error", lambda v: _with_first(v, Decimal("1e-400")),
             label="loose", score="loose"),
    Disguise("0-d", "any", "error", lambda v: np.asarray(v[0])),
    Disguise("3-d", "any", "error", lambda v: np.asarray(v)[:, None, None]),
    Disguise("empty", "any", "error", lambda v: []),
    Disguise("too many", "any", "error", lambda v: [*v, *v]),
    Disguise("ragged", "any", "error", lambda v: _with_first([[x] for x in v], [1, 2])),
    Disguise("lists", "any", "error", lambda v: _objects([[x, x] for x in v])),
    Disguise("dicts", "any", "error", lambda v: [{"a": x} for x in v]),
    Disguise("sets", "any", "error", lambda v: _objects([{x} for x in v])),
    Disguise("arrays", "any", "error", lambda v: _objects([np.array([x, x]) for x in v])),
    Disguise("objects", "any", "error", lambda v: [object() for _ in [*v, 0]][: len(v)]),
    Disguise("NaN", "number", "error", lambda v: _with_first(v, float("nan"))),
    Disguise("Decimal NaN", "number", "error", lambda v: _with_first(v, Decimal("sNaN"))),
    Disguise("nullable NA", "whole", "error",
             lambda v: pd.Series(_with_first(v, None), dtype="Int64")),
    Disguise("polars null", "whole", "error", lambda v: pl.Series(_with_first(v, None))),
    Disguise("mixed", "number", "error", lambda v: _with_first(v, "a")),
    Disguise("list among numbers", "number", "error", lambda v: _with_first(v, [1])),
    Disguise("polars lists", "any", "error", lambda v: pl.Series([[x] for x in v])),
    Disguise("polars structs", "any", "error", lambda v: pl.Series([{"a": x} for x in v])),
    Disguise("a string", "any", "error", lambda v: "y"),
    Disguise("a number", "any", "error", lambda v: 3),
    Disguise("nothing", "any", "error", lambda v: None, number="skip"),
    Disguise("an ellipsis", "any", "error", lambda v: ...),
)  # fmt: skip


def _timed(name: str, make: Callable[[list[Any]], Any]) -> Disguise:
    """A moment or a span is no number; as an attribute it may be refused, or be a category."""
    return Disguise(name, "whole", "loose", make, label="either", number="error")


TIMED = (
    _timed("datetime64", lambda v: np.asarray(v).astype("datetime64[D]")),
    _timed("timedelta64", lambda v: np.asarray(v).astype("timedelta64[s]")),
    _timed("Timestamps", lambda v: pd.Series(pd.to_datetime([10**18 + x for x in v]))),
    _timed("Timestamps as objects", lambda v: [pd.Timestamp(10**18 + x * 10**9) for x in v]),
    _timed("Periods", lambda v: pd.Series(
        pd.PeriodIndex(pd.to_datetime(["2020-01-01"] * len(v)), freq="D") + np.asarray(v))),
    _timed("Intervals", lambda v: pd.Series(
        pd.arrays.IntervalArray.from_arrays(v, [x + 1 for x in v]))),
    _timed("polars dates", lambda v: pl.Series(np.asarray(v).astype("datetime64[D]"))),
)  # fmt: skip

# Of these one value is missing, in whatever it is.
MISSING = {"masked words", "masked numbers", "masked in a list", "NaN", "Decimal NaN",
           "nullable NA", "polars null"}  # fmt: skip

ALL = (*SAME, *STRANGE, *MOVED, *RUINED, *TIMED)


def disguise_of(
    rng: np.random.Generator, values: list[Any], role: str, chosen: Any = ALL
) -> Disguise | None:
    """Draw a disguise that a column of this kind can have where it is used."""
    kind = kind_of(values)
    fitting = [one for one in chosen if kind in KINDS[one.kind] and one.expected(role) != "skip"]
    return pick(rng, fitting) if fitting else None
