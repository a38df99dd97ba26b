"""All that a watch knows between two batches: settings, evidence, groups, and no row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gerrymend._runtime.errors import ArgumentError, as_of
from gerrymend.auditing.report import AuditReport
from gerrymend.changes.earlier_report import (
    EarlierReport,
    kinds_used,
    rule_of_report,
    tells_all,
)
from gerrymend.changes.plain_settings import wanted_of_plain
from gerrymend.changes.watched import Watched
from gerrymend.inputs.numbers import short
from gerrymend.inputs.protected import Column, check_kinds
from gerrymend.notions import AnyNotion, FairnessNotion
from gerrymend.subgroups import ExplicitGroups, SubgroupClass
from gerrymend.subgroups.explicit import named_group
from gerrymend.subgroups.rules import Rule

# Where a report tells a group.
_TOLD = ("worst", "disadvantaged", "favoured", "core")


@dataclass(frozen=True)
class WatchState:
    """The settings of a watch, as in `Watch`, and what it knows after so many batches.

    `rates` are the notions as they are of the labels of the first batch, which decides `labels` and
    `kinds`, the kinds of the attributes. `cash` is the money that is not bet, of which a part was
    bet `n_bets_made` times, and `highest` the most evidence so far. `asked` are the groups to watch
    from the beginning, as plain data.
    """

    notions: tuple[AnyNotion, ...]
    subgroups: SubgroupClass
    gamma: float
    level: float
    favourable: str | None
    side: str
    threshold: float | None
    decision_probabilities: bool
    pos_label: Any
    min_group_size: int
    max_groups: int
    budget: float
    random_state: int
    asked: tuple[Mapping[str, Any], ...] = ()
    rates: tuple[FairnessNotion, ...] = ()
    labels: tuple[Any, ...] | None = None
    is_labelled: bool = True
    kinds: Mapping[str, str] | None = None
    cash: float = 1.0
    n_bets_made: int = 0
    watched: tuple[Watched, ...] = ()
    highest: float = 1.0
    raised: int | None = None
    fingerprints: tuple[str, ...] = ()
    looks: tuple[Mapping[str, Any], ...] = ()

    @property
    def e_value(self) -> float:
        """The money of all bets, with the cash."""
        return self.cash + sum(one.total for one in self.watched)

    def sides_of(self, notion: FairnessNotion) -> tuple[bool, bool]:
        """Return on which sides to bet: a higher rate, and a lower one."""
        if self.side == "disadvantaged":
            return notion.harm > 0, notion.harm < 0
        return True, True


def groups_asked_for(groups: Any) -> tuple[Mapping[str, Any], ...]:
    """Return groups to watch as plain data: those that are named, or that a report tells.

    >>> groups_asked_for(ExplicitGroups({"women": {"sex": "F"}}))
    ({'name': 'women', 'conditions': {'sex': {'values': ['F']}}},)
    """
    if groups is None:
        return ()
    if isinstance(groups, ExplicitGroups):
        named = groups.to_dict()["parameters"]["groups"]
        return tuple({"name": name, "conditions": wanted} for name, wanted in named.items())
    if not isinstance(groups, AuditReport | Mapping | str | Path):
        raise ArgumentError(
            "groups",
            "must be ExplicitGroups, or a report, whose groups are watched: an AuditReport, its "
            f"to_dict(), or a path to its JSON; got {short(groups)}.",
        )
    try:
        report = EarlierReport.of(groups).data
    except ArgumentError as error:
        raise ArgumentError("groups", *error.words) from None
    sentence = report.get("in_a_sentence")
    top = report.get("top", [])
    told = [*(report.get(name) for name in _TOLD), *(top if isinstance(top, list) else [top])]
    told.append(sentence.get("subgroup") if isinstance(sentence, Mapping) else sentence)
    found = []
    for plain in (_plain_group(one) for one in told if one is not None):
        if tells_all(plain["rule"]) and plain not in found:
            found.append(plain)
    return tuple(found)


def _plain_group(told: Any) -> dict[str, Any]:
    """Return rule and notion of a group that a report tells; raise an ArgumentError without."""
    known = told if isinstance(told, Mapping) else {}
    if not isinstance(known.get("rule"), Mapping) or not isinstance(known.get("notion"), str):
        raise ArgumentError(
            "groups",
            f"has a group that can't be read, {short(told)}: the report was changed. Pass one as "
            "audit() made it.",
        )
    return {name: known[name] for name in ("rule", "notion")}


def rules_of(
    asked: Sequence[Mapping[str, Any]], columns: Mapping[str, Column]
) -> list[tuple[Rule, str | None]]:
    """Return the rule of each group that was asked for, and its notion; None for all of them.

    Raises an ArgumentError for one that is of other attributes than these columns.
    """
    kinds = {name: column.kind for name, column in columns.items()}
    whole = [name for name, column in columns.items() if column.is_whole]
    found: list[tuple[Rule, str | None]] = []
    for one in asked:
        if "conditions" in one:
            wanted = {name: wanted_of_plain(plain) for name, plain in one["conditions"].items()}
            where = f"The explicit group {one['name']!r}"
            try:
                found.append((named_group(where, wanted, columns, one["name"]), None))
            except ValueError as error:
                raise ArgumentError("groups", f"can't be watched: {error}") from None
            continue
        with as_of("groups"):
            rule = rule_of_report(one["rule"], kinds, whole)
        check_kinds(columns, kinds_used(one["rule"]), "sensitive_features")
        found.append((rule, one["notion"]))
    return found
