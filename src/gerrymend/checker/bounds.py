"""Check of a report's two bounds, against every subgroup of the class where these can be listed.

A report states that some subgroup has an unfairness of at least `unfairness`, and that none has
more than `upper_bound`. Both come down to the worst subgroup of the class. Where the class is too
large to list, the sum of all positive residuals still bounds every set of rows whatever.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from gerrymend.checker.case import Case
from gerrymend.checker.classes import NotListedError, bits, subgroups_of
from gerrymend.checker.direction import side_of
from gerrymend.checker.exact import ZERO, exact
from gerrymend.checker.figures import TOLERANCE, shown


class Found(NamedTuple):
    """Hold a described subgroup: its notion, members by cell, and absolute unfairness."""

    notion: str
    inside: list[bool]
    value: Fraction


def check_bounds(case: Case, found: list[Found]) -> None:
    """Check `unfairness`, `upper_bound` and the verdict against the worst subgroup of the class.

    There is at least one notion, each with rows in its event. The described subgroups that were
    `found` have to be subgroups of the class.
    """
    stated = case.stated
    measured = case.measured
    # Holds whatever the class is, and costs nothing: checked before the class is listed.
    any_rows = max(seen.worst_of_any_rows(side_of(stated, name)) for name, seen in measured.items())
    if exact(stated["unfairness"]) > any_rows + case.tolerance:
        case.problem(
            f"unfairness is stated as {stated['unfairness']}, and no set of rows has more than "
            f"{shown(any_rows)}."
        )
    case.problem(*_wrong_no_bound(stated, any_rows))
    if stated["no_bound"] is not None:
        case.leave("no_bound", "why no bound was proven; only that none was")
    try:
        # Which cells matter depends on the notion's event, and so does the listing.
        listed = {
            name: subgroups_of(stated["class"], case.table, seen.active)
            for name, seen in measured.items()
        }
    except NotListedError as reason:
        _without_listing(case, found, reason, any_rows)
        return
    for name, inside, _ in found:
        if bits(inside[cell] for cell in measured[name].active) not in listed[name]:
            case.problem(f"A subgroup that is described is none of {stated['subgroups']}.")
    _with_listing(case, listed)


def _wrong_no_bound(stated: Mapping[str, Any], any_rows: Fraction) -> Iterator[str]:
    """Yield a sentence if it is said that no bound was proven, and one was, or the other way round.

    None was where the upper bound is that of any set of rows, and that is neither reached nor
    allowed.
    """
    upper = exact(stated["upper_bound"])
    none_needed = stated["exact"] or stated["verdict"] == "within gamma"
    if stated["no_bound"] is None:
        if not none_needed and upper >= any_rows * (1 - TOLERANCE / 10):
            yield "no_bound is stated as null, and upper_bound is that of any set of rows."
    elif not stated["no_bound"] or none_needed or upper < any_rows * (1 - 10 * TOLERANCE):
        yield f"no_bound is stated as {stated['no_bound']!r}, and a bound was proven."


def _without_listing(
    case: Case, found: list[Found], reason: NotListedError, any_rows: Fraction
) -> None:
    """Check the bounds of a class that can't be listed, by `any_rows`, the worst of any rows.

    A bound as large holds for every class; a smaller one is left unchecked, for the `reason` that
    the class can't be listed. That some subgroup is as unfair as stated follows from one that is
    described, unless it is withheld.
    """
    stated = case.stated
    if exact(stated["upper_bound"]) >= any_rows - case.tolerance:
        case.result.checked.append(
            f"The upper bound: no set of rows at all has an unfairness above {shown(any_rows)}."
        )
    else:
        case.leave("upper_bound", f"not by enumeration: {reason}")
    case.leave(
        "class.name class.parameters class.parameters.* subgroups",
        "that the subgroups which are described are of the class, taken as stated",
    )
    if stated["withheld"]:
        case.leave("unfairness", "that a group which is not described has so much")
    elif stated["verdict"] == "exceeds gamma":
        worst = max((one.value for one in found), default=ZERO)
        if worst <= exact(stated["gamma"]):
            case.problem("verdict is stated as 'exceeds gamma', and no subgroup shows it.")


def _with_listing(case: Case, listed: dict[str, set[int]]) -> None:
    """Check the bounds and the verdict against the worst of all subgroups, which are listed.

    They are, by notion, sets of its active cells as bits.
    """
    stated = case.stated
    tolerance = case.tolerance
    seen_by_name = case.measured.items()
    worst = max(seen.worst(listed[name], side_of(stated, name)) for name, seen in seen_by_name)
    verdict = stated["verdict"]
    gamma = exact(stated["gamma"])
    # `within gamma` is only wrong if the worst exceeds gamma by more than reports round away.
    claims = {
        "upper_bound": worst <= exact(stated["upper_bound"]) + tolerance,
        "unfairness": exact(stated["unfairness"]) <= worst + tolerance,
        "verdict": not (verdict == "within gamma" and worst > gamma + case.rounding)
        and not (verdict == "exceeds gamma" and worst <= gamma),
    }
    for name, holds in claims.items():
        if not holds:
            case.problem(
                f"{name} is stated as {stated[name]!r}, and the worst subgroup of the class has "
                f"{shown(worst)}."
            )
    if all(claims.values()):
        count = sum(map(len, listed.values()))
        cells = max(len(seen.active) for _, seen in seen_by_name)
        case.result.checked.append(
            f"The upper bound: none of the {count:,} subgroups of the class, all listed, has an "
            f"unfairness above {shown(worst)}, over {cells:,} distinct rows that count."
        )
    if stated["withheld"] and not stated["exact"]:
        case.leave("unfairness", "that a group which is not described has so much, and no more")


def leave_bounds(case: Case) -> None:
    """Note what a listing of subgroups can't show of the bounds."""
    if not case.stated["exact"]:
        case.leave("upper_bound", "that no smaller one was proven")
    if case.stated["partial"]:
        case.leave(
            "partial partial.covers partial.upper_bound",
            "bounds over parts of the class, which are in words",
        )
    else:
        case.leave("partial", "that nothing was proven of parts of the class")
