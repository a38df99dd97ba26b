"""Plants lies in a report's JSON, one at a time: every leaf altered, every list and mapping too."""

import copy
import fnmatch
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
REFUSED, NAMED, SILENT = "refused", "named as not checked", "accepted in silence"


class Plant(NamedTuple):
    """A report with one change: where it is, what was done, and the report."""

    path: Path
    change: str
    report: Any

    @property
    def field(self) -> str:
        """The path without places in lists, as the checker names fields."""
        return ".".join(part for part in self.path if isinstance(part, str))


def plants(report: Any) -> Iterator[Plant]:
    """Every plausible single change of plain data."""
    for path, value in walk(report):
        if isinstance(value, dict):
            for key in value:
                rest = {name: part for name, part in value.items() if name != key}
                yield Plant((*path, key), "removed", _with(report, path, rest))
            added = {**value, "planted": 1}
            yield Plant((*path, "planted"), "added", _with(report, path, added))
        for change, other in _others(value, _siblings(report, path)):
            if not _same(other, value):
                yield Plant(path, change, _with(report, path, other))


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every part of plain data, and where it is; the whole first."""
    yield path, value
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, part in inside:
        yield from walk(part, (*path, key))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1.

    A stated figure may be 10⁻⁹ off, so that this is no other one.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return max(one, other) < 1e308 and abs(one - other) <= 1e-9
    return bool(one == other)


def _siblings(report: Any, path: Path) -> list[Any]:
    """What is beside a part, in the same list or mapping."""
    if not path:
        return []
    parent = _at(report, path[:-1])
    items = parent.items() if isinstance(parent, dict) else enumerate(parent)
    return [value for key, value in items if key != path[-1]]


def _others(value: Any, siblings: list[Any]) -> Iterator[tuple[str, Any]]:
    """What could stand in place of a value."""
    if isinstance(value, dict):
        yield "null", None
        return
    if isinstance(value, list):
        yield from _other_lists(value)
        return
    if isinstance(value, bool):
        yield "flipped", not value
        yield "null", None
    elif isinstance(value, int | float):
        yield from _other_numbers(value)
    elif isinstance(value, str):
        yield "appended to", value + "x"
        yield "first character changed", ("b" if value[:1] == "a" else "a") + value[1:]
        yield "emptied", ""
        yield "null", None
    else:
        yield "zero for null", 0
        yield "half for null", 0.5
        yield "text for null", "x"
        yield "list for null", []
    for sibling in siblings:
        if type(sibling) is type(value) and not isinstance(value, bool):
            yield "swapped", sibling


def _other_numbers(value: float) -> Iterator[tuple[str, Any]]:
    step = 1 if isinstance(value, int) else 0.001
    yield "a bit more", value + step
    yield "a bit less", value - step
    if isinstance(value, float):
        yield "a millionth more", value * (1 + 1e-6)
        yield "a millionth less", value * (1 - 1e-6)
    yield "sign", -value
    yield "doubled", 2 * value
    yield "halved", value / 2
    yield "nearly infinite", 1e308
    yield "beyond floats", 10**400
    yield "null", None
    yield "text", str(value)


def _other_lists(value: list[Any]) -> Iterator[tuple[str, Any]]:
    for i, part in enumerate(value):
        yield "removed", value[:i] + value[i + 1 :]
        yield "duplicated", [*value[: i + 1], copy.deepcopy(part), *value[i + 1 :]]
    yield "reversed", value[::-1]
    yield "emptied", []
    yield "added to", [*value, "x"]
    yield "null", None


def _at(report: Any, path: Path) -> Any:
    for part in path:
        report = report[part]
    return report


def _with(report: Any, path: Path, value: Any) -> Any:
    """The report with another value in a place; what is not on the way is shared."""
    if not path:
        return value
    here = copy.copy(report)
    here[path[0]] = _with(here[path[0]], path[1:], value)
    return here


def outcome(field: str, check: Callable[[], Any], document: str) -> str:
    """What becomes of a lie in a field; any error but those of a bad document is a bug."""
    try:
        result = check()
    except (ValueError, TypeError) as refusal:
        told = str(refusal)
        if f"of the {document}" not in told and not told.startswith(f"{document} "):
            raise
        return REFUSED
    if not result.ok:
        return REFUSED
    fields = result.fields_not_checked
    return NAMED if any(fnmatch.fnmatchcase(field, one) for one in fields) else SILENT
