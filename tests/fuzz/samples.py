"""Small samples in their plainest form, lists of Python's own values, and hostile scalars."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

NOTIONS = ("false_positive_rate", "false_negative_rate", "statistical_parity", "error_rate")
CLASSES = ("linear", "conjunctions", "value_sets", "trees", "marginals")

# Names and values that break quoting, formats, markup, terminals and sorting.
HOSTILE_WORDS = (
    "",
    " ",
    "a,b",
    'q"uote',
    "it's",
    "line\nbreak",
    "tab\there",
    "NUL\x00x",
    "\x1b[31mred",
    "[bold]x[/bold]",
    "<script>alert(1)</script>",
    "=1+1",
    "{0}%s{name}",
    "naïve",
    "日本語",
    "עברית",
    "\u202eevil",
    "\ufeffbom",
    "e\u0301",
    "👩‍👩‍👧",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "None",
    "nan",
    "(missing)",
    "true",
    "1e5",
    "x" * 300,
    "__class__",
    "y_true",
)

# Values that no number, name or flag should be taken for; or just the ends of what is allowed.
ODD_VALUES = (
    None, True, False, np.True_, -1, 0, 1, 2, 3, 0.5, -0.0, 1e-320, 1e-17, 1e17, 1e308, -1e308,
    float("nan"), float("inf"), -float("inf"), 2**31, 2**53 + 1, 2**63, 2**64, 10**30, -(10**30),
    1.5, "", "0.1", "linear", "x" * 50, b"1", 1j, 1 + 0j, Decimal("0.1"), Decimal("NaN"),
    Fraction(1, 10), np.float16(0.1), np.float32(0.1), np.float64("nan"), np.int8(3),
    np.uint64(2**63), np.longdouble(0.25), np.complex128(1), np.datetime64("2020-01-01"),
    np.datetime64("NaT"), np.timedelta64(1, "s"), np.array(0.1), np.array([0.1]), np.array([]),
    np.ma.masked, [], [0.1], [1, 2], (), (1,), (0.1, 0.2), {}, {"a": 1}, {1, 2}, range(3), object(),
    int, len, ..., NotImplemented, slice(1), "\ud800", np.str_("linear"), 5e-324, 100, 7,
)  # fmt: skip


def pick(rng: np.random.Generator, choices: Any) -> Any:
    """Draw one of the choices, as it is; NumPy would make arrays of them."""
    listed = list(choices)
    return listed[int(rng.integers(len(listed)))]


@dataclass
class Sample:
    """Rows to audit or to train on, each column a list of Python's own values."""

    attributes: dict[str, list[Any]]
    labels: list[Any]
    decisions: list[Any]
    probabilities: list[float]
    weights: list[float]
    features: list[list[float]]

    def __len__(self) -> int:
        return len(self.labels)

    def taken(self, rows: Any) -> "Sample":
        """Take some of the rows, in this order."""
        return Sample(
            {name: [values[i] for i in rows] for name, values in self.attributes.items()},
            *([column[i] for i in rows] for column in (
                self.labels, self.decisions, self.probabilities, self.weights, self.features)),
        )  # fmt: skip


def make_sample(rng: np.random.Generator, *, tame: bool = False) -> Sample:
    """Make a sample of 20 to 60 rows, or a hostile one: few rows, one label, constant columns."""
    n = int(rng.integers(20, 61))
    if not tame and rng.random() < 0.08:
        n = int(rng.integers(1, 6))
    negative, positive = (0, 1) if tame else pick(rng, LABEL_PAIRS)
    attributes = {
        _name(rng, j, tame): make_attribute(rng, n, tame) for j in range(int(rng.integers(1, 4)))
    }
    y, decided = rng.integers(0, 2, n), rng.integers(0, 2, n)
    if tame:
        y[:2] = 0, 1
    elif rng.random() < 0.04:
        y[:] = 1
    return Sample(
        attributes,
        [positive if one else negative for one in y],
        [positive if one else negative for one in decided],
        (rng.integers(0, 65, n) / 64).tolist(),
        rng.integers(1, 5, n).astype(float).tolist(),
        np.column_stack([rng.standard_normal((n, 2)), y + rng.standard_normal(n)]).tolist(),
    )


LABEL_PAIRS = ((0, 1), (0, 1), (0, 1), (-1, 1), (1, 2), ("no", "yes"), (False, True), (0.0, 1.0),
               ("", "x"), ("a,b", "c\nd"), (0, 100), ("<b>", "[red]"))  # fmt: skip


def _name(rng: np.random.Generator, number: int, tame: bool) -> str:
    if tame or rng.random() < 0.7:
        return f"attribute {number}"
    return f"{pick(rng, HOSTILE_WORDS)}{number}"


def make_attribute(rng: np.random.Generator, n: int, tame: bool = False) -> list[Any]:
    """Make a column: whole numbers, fractions, words or booleans; or a constant."""
    kind = pick(rng, ("whole", "whole", "fraction", "word", "word", "bool"))
    if not tame and rng.random() < 0.06:
        return [pick(rng, (0, 1.5, "a", True))] * n
    if kind == "whole":
        return rng.integers(-3, int(rng.integers(-1, 9)), n).tolist()
    if kind == "fraction":
        return (rng.integers(0, 9, n) / 4).tolist()
    if kind == "bool":
        return (rng.random(n) < 0.5).tolist()
    words = ["red", "green", "blue"] if tame else [pick(rng, HOSTILE_WORDS) for _ in range(3)]
    return [pick(rng, [*words, "other"]) for _ in range(n)]


def kind_of(values: list[Any]) -> str:
    """Say whether a column holds "whole" numbers, a "fraction", a "word" or a "bool"."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "whole"
    return "fraction" if kinds <= {int, float} else "word"
