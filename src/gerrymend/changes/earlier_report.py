"""An audit's report of another day, read again: what it found, and how it was made."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend._runtime.versions import versions
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import Tally
from gerrymend.changes.plain_settings import class_of_plain, notion_of_plain
from gerrymend.inputs.numbers import LARGEST_WHOLE, as_float, short
from gerrymend.inputs.protected import check_kinds
from gerrymend.inputs.settings import is_same
from gerrymend.notions import AnyNotion, OutcomeNotion
from gerrymend.subgroups import SubgroupClass, as_subgroup_class
from gerrymend.subgroups.plain_rules import rule_of_plain
from gerrymend.subgroups.rules import Rule


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and math.isfinite(as_float(value))


def _is_whole(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int) and 0 <= value <= LARGEST_WHOLE


def _are(kind: Any) -> Callable[[Any], bool]:
    return lambda values: (
        isinstance(values, list) and all(isinstance(value, kind) for value in values)
    )


def _is_class(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("parameters"), Mapping)


def _is_group_or_none(value: Any) -> bool:
    """Return whether a value is a subgroup as reports tell it, or None."""
    return value is None or (
        isinstance(value, Mapping)
        and isinstance(value.get("rule"), Mapping)
        and isinstance(value.get("notion"), str)
        and all(_is_number(value.get(name)) for name in _FIGURES)
        and (value.get("rest_rate") is None or _is_number(value["rest_rate"]))
    )


# The figures of a subgroup, but for that of everyone else, which may be missing.
_FIGURES = ("unfairness", "share", "size", "rate", "overall_rate")
# What a report has to have, to be compared with, and whether a value can be that.
_FORM: dict[str, Callable[[Any], bool]] = {
    "verdict": lambda value: isinstance(value, str),
    "gamma": _is_number,
    "unfairness": _is_number,
    "upper_bound": _is_number,
    "n_rows": _is_whole,
    "worst": _is_group_or_none,
    "min_group_size": _is_whole,
    "side": lambda value: isinstance(value, str),
    "favourable": lambda value: isinstance(value, str | None),
    "notions": lambda value: bool(value) and _are(Mapping)(value),
    "class": _is_class,
    "attributes": _are(str),
    "labels": _are(str | int | float | None),
    "control_features": _are(str),
    "provenance": lambda value: isinstance(value, Mapping | None),
}
_REMEDY = "Audit the old rows again with this version, or pass these rows themselves."


@dataclass(frozen=True, eq=False)
class EarlierReport:
    """The plain data of a report, checked for what a comparison needs; `report` is it itself."""

    data: Mapping[str, Any]
    report: AuditReport | None = None

    @classmethod
    def of(cls, old: Any) -> "EarlierReport":
        """Take a report, its plain data, or a path to its JSON.

        Raises an ArgumentError for anything else, and for a report of another version.
        """
        if isinstance(old, AuditReport):
            return cls(json.loads(json.dumps(old.to_dict(), default=str)), old)
        data = _read(Path(old)) if isinstance(old, str | Path) else old
        where = f"{str(old)!r} is" if isinstance(old, str | Path) else "is"
        if not isinstance(data, Mapping):
            raise ArgumentError("old", f"{where} no report; pass the JSON that an audit wrote.")
        missing = [name for name in _FORM if name not in data]
        made = data.get("provenance")
        made = made if isinstance(made, Mapping) else {}
        theirs = _version_of(made)
        if theirs is not None and _minor(theirs) != _minor(versions()["gerrymend"]):
            raise ArgumentError(
                "old",
                f"{where} a report of gerrymend {theirs}, and this is "
                f"{versions()['gerrymend']}: the two may not measure alike. {_REMEDY}",
            )
        if missing:
            raise ArgumentError(
                "old",
                f"{where} no report of an audit, or of another version: {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing. {_REMEDY}",
            )
        odd = next((name for name, can_be in _FORM.items() if not can_be(data[name])), None)
        if odd is not None:
            raise ArgumentError(
                "old",
                f"{where} a report that was changed: its {odd!r} is {short(data[odd])}. {_REMEDY}",
            )
        return cls(data)

    @property
    def made_on(self) -> str | None:
        """The date of the report."""
        made = self.data["provenance"]
        return None if made is None else made.get("date")

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the rows that it is of."""
        made = self.data["provenance"]
        return None if made is None else made.get("fingerprint")

    def setting(self, name: str, given: Any) -> Any:
        """Return a setting of the report; raise an ArgumentError if another one is `given`."""
        own = self.data[name]
        if given is not None and not is_same(given, own):
            raise ArgumentError(
                Argument(name, value=short(given)),
                f"is not that of the old report, {short(own)}, and figures of the two can't be "
                "compared. Leave it out, or audit the old rows again with it.",
            )
        return own

    def notions(self, given: tuple[AnyNotion, ...] | None) -> tuple[AnyNotion, ...]:
        """Return the notions of the report; those `given` are checked once rows are read.

        A mean of functions of one's own has to be given.
        """
        if given is not None:
            return given
        if self.report is not None:
            return self.report.notions
        with _reading("notions"):
            return tuple(map(notion_of_plain, self.data["notions"]))

    def check_notions(self, notions: tuple[AnyNotion, ...]) -> None:
        """Raise an ArgumentError unless these are the notions of the report."""
        own = [notion.to_dict() for notion in notions]
        if json.loads(json.dumps(own, default=str)) != self.data["notions"]:
            then = ", ".join(repr(one.get("name")) for one in self.data["notions"])
            now = ", ".join(repr(one["name"]) for one in own)
            raise ArgumentError(
                "notion",
                f"is not that of the old report: {now} now, {then} then, or another unit, "
                "reference or favourable decision. Leave it out, or audit the old rows again "
                "with it.",
            )

    def subgroup_class(self, given: Any) -> SubgroupClass:
        """Return the class of the report; raise an ArgumentError if another one is `given`."""
        own = self.data["class"]
        if given is None:
            if self.report is not None:
                return self.report.subgroups
            with _reading("a class of subgroups"):
                return class_of_plain(own)
        chosen = as_subgroup_class(given)
        if json.loads(json.dumps(chosen.to_dict(), default=str)) != own:
            raise ArgumentError(
                "subgroups",
                f"is {chosen!r}, and the old report is about {self.data.get('subgroups')}: the "
                "largest of one class is not that of another. Leave it out, or audit the old rows "
                "again with it.",
            )
        return chosen

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels that a second sample must have; None where rows have none."""
        return tuple(self.data["labels"]) if self.data.get("is_labelled", True) else None

    def check_rows(self, tally: Tally) -> None:
        """Raise an ArgumentError unless rows have the labels and the attributes of the report."""
        labels = json.loads(json.dumps(list(tally.labels), default=str))
        if labels != self.data["labels"]:
            raise ArgumentError(
                "y_true" if tally.is_labelled else "y_pred",
                f"has the labels {', '.join(map(repr, labels))}, and the old report has "
                f"{', '.join(map(repr, self.data['labels']))}. Pass the same ones; of two the "
                "second is the positive one, which ",
                Argument("pos_label"),
                " names.",
            )
        for argument, field, columns in (
            ("sensitive_features", "attributes", tally.protected),
            ("control_features", "control_features", tally.strata_columns),
        ):
            now = [column.name for column in columns]
            then = self.data[field]
            if sorted(now) != sorted(then):
                raise ArgumentError(
                    argument,
                    f"are {', '.join(map(repr, now)) or 'none'}, and those of the old report "
                    f"{', '.join(map(repr, then)) or 'none'}: groups of other attributes can't be "
                    "compared. Pass the same ones, by the same names.",
                )

    def worst(self, tally: Tally, notions: tuple[AnyNotion, ...]) -> Subgroup | None:
        """Return the worst subgroup of the report, to be measured on the rows of a tally.

        None where it has none, or tells it without values that few rows had. Raises an
        ArgumentError where its attributes are of another kind.
        """
        columns = {column.name: column for column in tally.columns}
        if self.report is not None:
            if (worst := self.report.worst) is not None:
                check_kinds(columns, worst.rule.attributes, "sensitive_features")
                worst = replace(worst, composition=(), apart=None, p_value=None)
            return worst
        plain = self.data["worst"]
        if plain is None or not tells_all(plain["rule"]):
            return None
        kinds = {name: column.kind for name, column in columns.items()}
        whole = [name for name, column in columns.items() if column.is_whole]
        rule = rule_of_report(plain["rule"], kinds, whole)
        check_kinds(columns, kinds_used(plain["rule"]), "sensitive_features")
        rates = (one.rate if isinstance(one, OutcomeNotion) else one for one in notions)
        notion = next((one for one in rates if one.name == plain["notion"]), None)
        if notion is None:
            raise ArgumentError("old", "has a worst subgroup of a notion that it does not list.")
        figures = (*_FIGURES, "rest_rate")
        return Subgroup(
            rule,
            notion,
            **{name: plain.get(name) for name in figures},
            within_strata=plain.get("within_strata", False),
            reference=plain.get("reference"),
        )


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Tell what a report has that can't be read; an error that names its argument is as it is."""
    try:
        yield
    except ArgumentError as error:
        if error.argument in ("notion", "subgroups"):  # which can be passed
            raise
        raise ArgumentError("old", f"has {what} that can't be read: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ArgumentError("old", f"has {what} that can't be read: {error}. {_REMEDY}") from None


def rule_of_report(
    plain: Mapping[str, Any], kinds: Mapping[str, str], whole: Collection[str] = ()
) -> Rule:
    """Return the rule that a report has as plain data; raise an ArgumentError if it has none.

    `kinds` are of all attributes, of which `whole` have no fractions.

    >>> rule = {"kind": "linear", "threshold": 30.0, "reference": {"sex": ["M"]}, "terms": [
    ...     {"attribute": "age", "coefficient": 0.8},
    ...     {"attribute": "sex", "coefficient": -2.1, "value": "F"}]}
    >>> print(rule_of_report(rule, {"age": "number", "sex": "str"}))
    0.8·age − 2.1·[sex=F] ≥ 30
    """
    try:
        if plain["kind"] == "linear":
            reference = plain.get("reference", {})
            levels: dict[str, Any] = {}
            for term in plain["terms"]:
                name = term["attribute"]
                levels.setdefault(name, None if "value" not in term else [*reference[name]])
                if "value" in term:
                    levels[name].append(term["value"])
            plain = {**plain, "levels": levels}
        return rule_of_plain(plain, kinds, whole)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ArgumentError("old", f"has a rule that can't be read: {error}.") from None


def tells_all(plain: Any) -> bool:
    """Return whether a rule of a report tells all of its values, and none is told by its number.

    >>> condition = {"attribute": "town", "values": ["unnamed"]}
    >>> tells_all({"kind": "conjunction", "conditions": [condition]})
    True
    >>> tells_all({"kind": "conjunction", "conditions": [condition | {"unnamed": 2}]})
    False
    """
    if isinstance(plain, list):
        return all(map(tells_all, plain))
    if not isinstance(plain, Mapping):
        return True
    # The keys of `reference` are attributes, which may have any name.
    parts = (part for name, part in plain.items() if name != "reference")
    return "unnamed" not in plain and all(map(tells_all, parts))


def kinds_used(plain: Any) -> dict[str, str]:
    """Return the kind that a rule takes each of its attributes for.

    An interval is of numbers, and values are of their own type.

    >>> kinds_used({"kind": "conjunction", "conditions": [
    ...     {"attribute": "age", "low": 30, "high": None}, {"attribute": "sex", "values": ["F"]}]})
    {'age': 'number', 'sex': 'str'}
    """
    used: dict[str, str] = {}
    if isinstance(plain, list):
        for part in plain:
            used |= kinds_used(part)
    if isinstance(plain, Mapping):
        if "attribute" in plain:
            name = plain["attribute"]
            is_number = "low" in plain or ("coefficient" in plain and "value" not in plain)
            values = plain.get("values", plain.get("other_than", [plain.get("value")]))
            if is_number:
                used[name] = "number"
            elif told := [value for value in values if value is not None]:
                kind = type(told[0]).__name__
                used[name] = "number" if kind in ("int", "float") else kind
        for part in plain.values():
            used |= kinds_used(part)
    return used


def _read(path: Path) -> Any:
    """Return the content of a file of JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        why = f"{str(path)!r} can't be read: {error.strerror}."
        raise ArgumentError("old", why) from None
    except ValueError:
        return None


def _version_of(made: Mapping[str, Any]) -> str | None:
    told = made.get("versions")
    version = told.get("gerrymend") if isinstance(told, Mapping) else None
    return version if isinstance(version, str) else None


def _minor(version: str) -> list[str]:
    """Return the first two numbers of a version."""
    return version.split(".")[:2]
