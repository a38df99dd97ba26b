"""Values that too few rows have to be listed, and whether a rule lists one."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import Table
from gerrymend.checker.figures import Figures
from gerrymend.checker.rules import (
    condition_holds,
    cuts,
    equals_one,
    members_in_floats,
    own_rule,
    parts_of,
)


def rare_values(table: Table, min_group_size: int) -> dict[str, set[Any]]:
    """Return the categories of fewer rows than may be listed, of each attribute that has any.

    >>> from gerrymend.checker.exact import Attribute
    >>> towns = Attribute("town", False, ("Ulm", "Au"))
    >>> rare_values(Table({"town": towns}, [[1, 1], [0, 1]], [], []), 2)
    {'town': {'Au'}}
    """
    found = {}
    for attribute in table.attributes.values():
        rows: Counter[Any] = Counter()
        for value, by_label in zip(attribute.values, table.rows, strict=True):
            rows[value] += sum(by_label)
        # A value of one row is a person, whatever may be described.
        rare = {value for value, n in rows.items() if n < max(2, min_group_size)}
        if rare and not attribute.is_number:
            found[attribute.name] = rare
    return found


def listed_rare_values(rule: Mapping[str, Any], table: Table, min_group_size: int) -> Iterator[str]:
    """Yield a sentence for each attribute of which a rule lists a value that few rows have."""
    rare = rare_values(table, min_group_size)
    for part in parts_of(rule):
        values = [*part.get("values", ()), *part.get("other_than", ())]
        values += [part["value"]] if "value" in part else []
        if any(value in rare.get(part["attribute"], ()) for value in values):
            yield (
                f"it lists a value of {part['attribute']!r} that fewer than "
                f"{max(2, min_group_size)} rows have."
            )


def wrong_kept_back(case: Case) -> Iterator[str]:
    """Yield a sentence if something is said to be kept back that can't be for telling of few rows.

    Where each distinct row is there `min_group_size` times under each label that it has, no sum is
    over fewer. Rows without weight are in no rate, and don't count there.
    """
    kept_back = case.stated["kept_back"]
    parts = {
        "disadvantaged",
        "favoured",
        "in_a_sentence",
        "core",
        "sharpest",
        "composition",
        "time",
    }
    if len(set(kept_back)) < len(kept_back) or not set(kept_back) <= parts:
        yield f"kept_back is stated as {kept_back!r}, which are no parts of a report, one each."
        return
    tables = [case.table, *case.table.views.values(), *case.table.by_class.values()]
    counts = [counted for one in tables for counted in (one.rows, one.weighty or ())]
    numbers = [number for by_cell in counts for labels in by_cell for number in labels if number]
    if min(numbers) < max(2, case.stated["min_group_size"]):
        case.leave("kept_back", "whether more, or less, would tell of a group of few rows")
    elif kept_back:
        yield f"kept_back is stated as {kept_back!r}, and nothing can tell of few rows."
    if "composition" in kept_back:
        places = ["worst", "top", "disadvantaged", "favoured", "in_a_sentence.subgroup", "core"]
        places += ["sharpest.subgroup"] if (case.stated["sharpest"] or {}).get("subgroup") else []
        fields = " ".join(f"{place}.composition" for place in places)
        case.leave(fields, "that what is left out of them would tell of a group of few rows")


def wrong_reference(
    rule: Mapping[str, Any], table: Table, min_group_size: int, *, held_out: bool
) -> Iterator[str]:
    """Yield a sentence if the values without a term in a formula are not those that are stated.

    Those that few rows have are not listed. With rows `held_out` there may be values of theirs.
    """
    if rule["kind"] != "linear":
        return
    terms: dict[str, list[Any]] = {}
    for term in rule["terms"]:
        if "value" in term:
            terms.setdefault(term["attribute"], []).append(term["value"])
    stated = rule.get("reference")
    if not isinstance(stated, Mapping) or set(stated) != set(terms):
        yield f"the values without a term are stated as {stated!r}, for {[*terms]!r}."
        return
    for name, values in stated.items():
        told = values if isinstance(values, list) else [values]
        known = {str(value) for value in told}
        hidden = rare_values(table, min_group_size).get(name, set())
        there = {
            str(value)
            for value in table.attributes[name].values
            if value not in terms[name] and value not in hidden
        }
        twice = len(known) < len(told)
        listed = any(value in terms[name] or value in hidden for value in told)
        if not (there <= known if held_out else there == known) or twice or listed:
            yield f"the values of {name} without a term are stated as {values!r}."


def too_small(figures: Figures, smallest: int, *, or_everyone: bool) -> Iterator[str]:
    """Yield a sentence if too few rows are inside or outside of a described group.

    Either could identify people: what is outside follows from the overall figures by subtraction.
    Everyone, who have a value where there is a reference, leave nobody outside.
    """
    outside = smallest if or_everyone and not figures.rows_outside else figures.rows_outside
    if min(figures.rows_inside, outside) < smallest:
        yield (
            f"it has {figures.rows_inside} rows that count, and {figures.rows_outside} are "
            f"outside; a group is not described if either is below min_group_size, {smallest}."
        )


def disclosed(rule: Mapping[str, Any], inside: list[bool], case: Case) -> Iterator[str]:
    """Yield a sentence for each value in a rule that discloses a row, or that rounding moves.

    Values that few rows have must not be listed, and a cut that equals a row's number discloses it;
    values and cuts of groups that users name are their own.
    """
    if case.stated["class"]["name"] != "ExplicitGroups":
        yield from listed_rare_values(rule, case.table, case.stated["min_group_size"])
        for what, cut, values in cuts(rule, case.table):
            if equals_one(cut, values):
                yield f"{what}, {cut!r}, equals that of a row."
    own = own_rule(rule)
    if own["kind"] == "linear":
        there = [True] * len(inside)
        if own is not rule:
            there = condition_holds(rule["interval"], case.table)
        pairs = zip(members_in_floats(own, case.table), there, strict=True)
        rounded = [member and held for member, held in pairs]
        if rounded == inside:
            return
        yield "rounding decides who is in: float64 and exact arithmetic select different rows."
