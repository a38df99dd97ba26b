"""Check of the figures that groups have on rows that were held out of the search."""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.confidence import wrong_intervals
from gerrymend.checker.direction import wrong_treated
from gerrymend.checker.exact import Table, exact
from gerrymend.checker.figures import TOLERANCE, Measured, outcomes_of, wrong_figures
from gerrymend.checker.references import with_reference
from gerrymend.checker.rules import RuleError, members, own_rule

# What makes it the same subgroup, described in the same way; figures differ on other rows.
_SAME = ("subgroup", "rule", "notion", "unit", "within_strata")
_INTERVALS = ("unfairness_interval", "gap_interval")
# Fields that only the held-out rows could verify.
_OF_GROUP = (
    "subgroup", *_INTERVALS,
    *(f"subgroup.{one}" for one in ("size", "share", "rate", "overall_rate", "rest_rate")),
    *(f"subgroup.{one}" for one in ("unfairness", "gap", "ratio", "treated", "composition")),
)  # fmt: skip
_UNSEEN = " ".join(
    f"held_out.{name}"
    for name in (
        *("n_rows", "same_rows", "level", *_OF_GROUP),
        *(f"others.{one}" for one in _OF_GROUP),
    )
)


def check_held_out(case: Case) -> None:
    """Check the figures on held-out rows, against these rows or, without them, each other."""
    stated = case.stated
    holdout = case.holdout
    claims = stated["held_out"]
    if claims is None:
        if holdout is not None:
            case.problem("held_out is not stated, and holdout was passed.")
        else:
            case.leave("held_out", "that no rows were held out")
        return
    problems = list(_wrong_groups(stated))
    groups = groups_there(claims)
    if holdout is None:
        for one in groups if not problems else ():
            problems += _wrong_among_themselves(one, claims["n_rows"])
        case.leave(
            f"held_out held_out.others {_UNSEEN}",
            "the rows that were held out were not passed; that its figures agree is all that was "
            "seen",
        )
    elif not problems:
        problems += _wrong_on_rows(holdout, case)
        if _could_be_told(stated):
            why = "whether a further group could be told of, beside those that are"
            case.leave("held_out.others", why)
    case.problem(*(f"held_out: {sentence}" for sentence in problems))
    if holdout is None or problems:
        return
    checked = "all of it"
    without = [one for one in groups if _states_no_interval(one)]
    if without:
        checked = "all but that there are no intervals"
        fields = (f"held_out.{where}{name}" for name in _INTERVALS for where in ("", "others."))
        case.leave(" ".join(fields), "that the audit had the sums of weights alone, and no rows")
    if len(without) == len(groups):
        checked += ", and the level" if groups else " but the level"
        case.leave("held_out.level", "at which level an interval would be, and none is stated")
    case.result.checked.append(f"held_out: {checked}, on its {holdout.n_rows:,} rows.")


def groups_there(claims: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the groups that are measured on held-out rows: who leads, and others."""
    if claims is None:
        return []
    return [one for one in (claims, *claims["others"]) if one["subgroup"] is not None]


def _wrong_groups(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with which groups are measured.

    That is who leads, and of the others who stands out and those that exceed gamma, each once. Of
    rows that were searched nothing but who leads is measured again.
    """
    claims = stated["held_out"]
    lead = _measured(stated)
    if claims["subgroup"] is not None and (lead is None or not _is_same(claims["subgroup"], lead)):
        yield "its subgroup is not the one that leads."
    others = claims["others"]
    if others and claims["same_rows"]:
        yield "others are measured on the rows that were searched."
    known = [] if lead is None else [lead]
    for group in (one["subgroup"] for one in others):
        if any(_is_same(group, other) for other in known):
            yield f"{group['subgroup']} is measured twice."
        if not any(_is_same(group, other) for other in _to_confirm(stated)):
            yield f"{group['subgroup']} is none of the groups that stand out or exceed gamma."
        known.append(group)
    wanted = _to_confirm(stated)
    places = [
        next((i for i, other in enumerate(wanted) if _is_same(one["subgroup"], other)), -1)
        for one in others
    ]
    if places != sorted(places):
        yield "others are not in their order: who stands out, and then those that exceed gamma."


def _could_be_told(stated: Mapping[str, Any]) -> bool:
    """Return whether one of the groups to measure is not measured."""
    there = [one["subgroup"] for one in groups_there(stated["held_out"])]
    lead = _measured(stated)
    return any(
        not any(_is_same(one, other) for other in (lead, *there) if other is not None)
        for one in _to_confirm(stated)
        if not (stated["favoured_is_rest"] and one == stated["favoured"])
    )


def _to_confirm(stated: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return who stands out, and the groups of the report that exceed gamma, in that order."""
    sharp = (stated["sharpest"] or {}).get("subgroup")
    gamma = exact(stated["gamma"])
    told = _told(stated)
    return [one for one in told if one == sharp or abs(exact(one["unfairness"])) > gamma]


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a subgroup is described in the same way as another."""
    return all(one[name] == other[name] for name in _SAME)


def _told(stated: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the groups that a report may lead with, or has beside that."""
    groups = [(stated[name] or {}).get("subgroup") for name in ("sharpest", "in_a_sentence")]
    groups += [stated[name] for name in ("worst", "disadvantaged", "favoured")]
    return [one for one in groups if one is not None]


def _measured(stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the subgroup that is measured: the one that leads; None where none is described.

    Reports of before don't say who leads, and have measured the worst.
    """
    if "lead" not in stated:
        worst: Mapping[str, Any] | None = stated["worst"]
        return worst
    lead = stated["lead"]
    if lead is None:
        return None
    same = ("subgroup", "notion")
    alike = (one for one in _told(stated) if all(one[name] == lead[name] for name in same))
    return next(alike, None)


def _wrong_among_themselves(claims: Mapping[str, Any], n_rows: int) -> Iterator[str]:
    """Yield what the stated figures contradict in each other, without the rows behind them.

    gap = rate − overall rate, unfairness = share·gap and ratio = rate / overall rate; a subgroup
    has no more rows than there are, and an interval contains the figure that it is of.
    """
    one = claims["subgroup"]
    rate, overall, share = (exact(one[name]) for name in ("rate", "overall_rate", "share"))
    implied = {"gap": rate - overall, "unfairness": share * (rate - overall)}
    if one["ratio"] is not None and overall:
        implied["ratio"] = rate / overall
    for name, value in implied.items():
        if abs(exact(one[name]) - value) > TOLERANCE * (1 + abs(value) + abs(rate)):
            yield f"its {name} is stated as {one[name]!r}, and its rates make it {float(value)!r}."
    if not 0 <= one["size"] <= n_rows or share > 1:
        yield "its subgroup has more rows than there are."
    for name, ends in zip(("unfairness", "gap"), map(claims.get, _INTERVALS), strict=True):
        if ends is not None and not ends[0] <= one[name] <= ends[1]:
            yield f"its {name}, {one[name]!r}, is not in the interval that is stated for it."


def _wrong_on_rows(holdout: Table, case: Case) -> Iterator[str]:
    """Yield what is wrong with the figures, given the rows that were held out.

    The subgroup is only measured if at least `min_group_size` rows in the event are inside, and as
    many outside.
    """
    stated = case.stated
    claims = stated["held_out"]
    if claims["n_rows"] != holdout.n_rows:
        yield f"n_rows is stated as {claims['n_rows']}, and holdout has {holdout.n_rows} rows."
    same = _sums_by_cell(case.table) == _sums_by_cell(holdout)
    if claims["same_rows"] != same:
        yield f"same_rows is stated as {claims['same_rows']!r}, and is {same!r}."
    lead = _measured(stated)
    if lead is None:
        yield from _wrong_nothing(claims)
    else:
        yield from _wrong_group(claims, lead, holdout, case)
    for one in claims["others"]:
        yield from _wrong_group(one, one["subgroup"], holdout, case)


def _wrong_group(
    claims: Mapping[str, Any], found: Mapping[str, Any], holdout: Table, case: Case
) -> Iterator[str]:
    """Yield what is wrong with the figures of a group that was `found`, on held-out rows."""
    stated = case.stated
    one = claims["subgroup"]
    notion = next((one for one in stated["notions"] if one["name"] == found["notion"]), None)
    if notion is None:
        yield f"its notion, {found['notion']}, is none of the report's."
        return
    table = holdout.view(notion)
    measured = Measured.of(outcomes_of(notion), table)
    try:
        inside = _members(found["rule"], case.table, holdout)
    except RuleError as unreadable:
        yield f"{unreadable}."
        return
    smallest = stated["min_group_size"]
    # Without rows in the event there is no rate, and nothing may be described.
    large = False
    if measured.active:
        try:
            measured = with_reference(measured, notion, table)
        except RuleError:  # none of the group to compare with is among these rows
            yield from _wrong_nothing(claims)
            return
        figures = measured.figures(inside)
        large = _is_large(figures.rows_inside, measured, smallest)
        if measured.compared is not None:
            large = large and _is_large(measured.sums(measured.compared).rows, measured, smallest)
    if large != (one is not None):
        enough = "enough" if large else "too few"
        yield f"its subgroup is {one and 'described'}, and {enough} of its rows count there."
    elif one is None:
        yield from _wrong_nothing(claims)
    else:
        yield from wrong_figures(one, figures, measured.scale)
        yield from wrong_treated(one, figures.unfairness, stated, measured)
        if one["composition"]:
            yield "its composition is stated, and is that of the rows that were searched."
        # Where weights differ, an audit may have had only their sums, not those of their squares.
        if not _states_no_interval(claims) or holdout.weight == holdout.rows:
            level = stated["held_out"]["level"]
            yield from wrong_intervals(claims, _INTERVALS, measured, inside, level)


def _is_large(rows: int, measured: Measured, smallest: int) -> bool:
    """Return whether so many rows that count may be told of: enough of them, and of the others.

    Where there is a reference, everyone may be.
    """
    outside = measured.everyone.rows - rows
    everyone = measured.reference is not None and outside == 0
    return rows >= smallest and (everyone or outside >= smallest)


def _sums_by_cell(table: Table) -> dict[tuple[Any, ...], list[Any]]:
    """Return rows, weights and decisions by protected values, in whatever order the rows are."""
    values = zip(*(column.values for column in table.columns.values()), strict=True)
    tables = [table, *table.by_class.values()]
    return {
        cell: [sums for one in tables for sums in (*one.rows[i], *one.weight[i], *one.positive[i])]
        for i, cell in enumerate(values)
    }


def _wrong_nothing(claims: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence if figures are stated where there is no subgroup to measure."""
    if any(claims[name] is not None for name in ("subgroup", *_INTERVALS)):
        yield "there is no subgroup to measure, and figures are stated."


def _states_no_interval(claims: Mapping[str, Any]) -> bool:
    return all(claims[name] is None for name in _INTERVALS)


def _members(rule: Mapping[str, Any], table: Table, holdout: Table) -> list[bool]:
    """Return the members on held-out rows, without rows of categories that are new there.

    A linear rule has no term for a category that the searched rows didn't have, and says nothing of
    it.
    """
    inside = members(rule, holdout)
    rule = own_rule(rule)
    if rule["kind"] != "linear":
        return inside
    # In a category that the rule has no term for, a row would score as if it were the one left out.
    for name in {term["attribute"] for term in rule["terms"] if "value" in term}:
        known = set(table.attributes[name].values)
        values = holdout.attributes[name].values
        inside = [member and value in known for member, value in zip(inside, values, strict=True)]
    return inside
