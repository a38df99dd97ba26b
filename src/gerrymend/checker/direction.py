"""Check of who is called disadvantaged or favoured, and of which side a report is about."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import ZERO, Table, exact
from gerrymend.checker.figures import TOLERANCE, Measured, rate_of, shown
from gerrymend.checker.rules import RuleError, members

_SIGNS = {"higher": 1, "lower": -1, None: 0}
# The worse rate of a known notion, by the favourable decision: a false positive is good for those
# who wish for the positive decision, and an error of either kind is never good.
_WORSE: dict[str, dict[str | None, str | None]] = {
    "false_positive_rate": {"positive": "lower", "negative": "higher", None: None},
    "false_negative_rate": {"positive": "higher", "negative": "lower", None: None},
    "statistical_parity": {"positive": "lower", "negative": "higher", None: None},
    "error_rate": {"positive": "higher", "negative": "higher", None: "higher"},
    # Of numbers, "positive" is a high prediction; an error is what was true less that.
    "mean_outcome": {"positive": "lower", "negative": "higher", None: None},
    "mean_error": {"positive": "higher", "negative": "lower", None: None},
    "multiaccuracy": {"positive": "higher", "negative": "lower", None: None},
    "multicalibration": {"positive": "higher", "negative": "lower", None: None},
    "absolute_error": {"positive": "higher", "negative": "higher", None: "higher"},
    "squared_error": {"positive": "higher", "negative": "higher", None: "higher"},
}


def harm_of(stated: Mapping[str, Any], name: str) -> int:
    """Return the sign of the unfairness of a group that is treated worse, 0 where not known."""
    worse = next((one["worse"] for one in stated["notions"] if one["name"] == name), None)
    return _SIGNS.get(worse, 0)


def side_of(stated: Mapping[str, Any], name: str) -> int:
    """Return the sign of the values that count for a notion; 0 where both do."""
    return harm_of(stated, name) if stated["side"] == "disadvantaged" else 0


def check_direction(case: Case) -> None:
    """Check the directions of known notions, and that a side that is asked for can be known."""
    case.leave("favourable side", "settings of the audit, taken as stated")
    case.problem(*_wrong_settings(case.stated))
    for notion in case.stated["notions"]:
        if rate_of(notion) not in _WORSE:
            case.leave("notions.worse", f"of {notion['name']}, a notion of one's own")


def _wrong_settings(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what can't be of the favourable decision, of the side and of the directions."""
    favourable = stated["favourable"]
    if favourable not in (None, "positive", "negative"):
        yield f"favourable can't be {favourable!r}."
        return
    if stated["side"] not in ("both", "disadvantaged"):
        yield f"side can't be {stated['side']!r}."
    for notion in stated["notions"]:
        name = notion["name"]
        worse = notion["worse"]
        rate = rate_of(notion)
        # Of many classes none is known to be favourable.
        if notion["class"] is not None and favourable is not None:
            yield f"favourable is stated as {favourable!r}, and there are many classes."
        elif rate in _WORSE and worse != _WORSE[rate][favourable]:
            yield (
                f"The worse {name} is stated as {worse!r}, and is "
                f"{_WORSE[rate][favourable]!r} where favourable is {favourable!r}."
            )
        elif worse not in _SIGNS:
            yield f"The worse {name} can't be {worse!r}."
        if worse is None and stated["side"] == "disadvantaged":
            yield f"side is stated as 'disadvantaged', and which {name} is worse is not known."


def wrong_treated(
    one: Mapping[str, Any], unfairness: Fraction, stated: Mapping[str, Any], seen: Measured
) -> Iterator[str]:
    """Yield a sentence if a subgroup is not treated as is said, or counted in another unit."""
    harm = harm_of(stated, one["notion"])
    treated = None
    # A group that has no more than rounding is treated like everyone.
    if abs(unfairness) > seen.rounding and harm:
        treated = "worse" if unfairness * harm > 0 else "better"
    # Audits sum in float64: what is that close to nothing may be called either, or neither.
    is_close = abs(unfairness) <= TOLERANCE * seen.scale
    close = harm and is_close and one["treated"] in (None, "worse", "better")
    if one["treated"] != treated and not close:
        yield f"it is stated to be treated {one['treated']!r}, and is {treated!r}."
    if all(one["unit"] != notion["unit"] for notion in stated["notions"]
           if notion["name"] == one["notion"]):  # fmt: skip
        yield f"its unit is stated as {one['unit']!r}, which is not that of its notion."


def check_sides(case: Case) -> None:
    """Check that the two sides are on theirs, and as far as what else is described.

    Figures and members of both are checked as those of every described subgroup.
    """
    case.problem(*_wrong_sides(case), *_wrong_rest(case.stated, case.table))
    case.leave(
        "disadvantaged favoured",
        "that none of those which may be described is treated worse than the one, or better than "
        "the other",
    )


def _wrong_sides(case: Case) -> Iterator[str]:
    """Yield what is wrong with who is called disadvantaged, and who favoured."""
    stated = case.stated
    known = any(notion["worse"] for notion in stated["notions"])
    for name, treated in (("disadvantaged", "worse"), ("favoured", "better")):
        one = stated[name]
        others = [other for other in (*stated["top"], stated["worst"]) if other is not None]
        furthest = max((abs(other["unfairness"]) for other in others
                        if other["treated"] == treated), default=None)  # fmt: skip
        if one is None:
            asked = name == "disadvantaged" or stated["side"] == "both"
            if furthest is not None and asked:
                yield f"{name} is stated as null, and a subgroup is treated {treated}."
        elif one["treated"] != treated or not known:
            yield f"The {name} subgroup is treated {one['treated']!r}."
        elif furthest is not None and furthest > abs(one["unfairness"]) + float(case.rounding):
            yield f"A subgroup that is described is treated {treated} by more than the {name} one."
    if stated["side"] == "disadvantaged" and stated["favoured"] is not None:
        yield "favoured is stated, and side is 'disadvantaged'."
    if stated["side"] == "disadvantaged":
        for one in stated["top"]:
            if one["treated"] == "better":
                yield "A top subgroup is treated better, and side is 'disadvantaged'."


def _wrong_rest(stated: Mapping[str, Any], table: Table) -> Iterator[str]:
    """Yield a sentence if the favoured are called the rest, and are not, or the other way round."""
    rest = False
    if stated["disadvantaged"] is not None and stated["favoured"] is not None:
        try:
            one, other = (members(stated[side]["rule"], table) for side in _SIDES)
        except RuleError:
            return  # which was noted with the subgroup
        rest = all(a != b for a, b in zip(one, other, strict=True))
    if stated["favoured_is_rest"] != rest:
        yield f"favoured_is_rest is stated as {stated['favoured_is_rest']!r}, and is {rest!r}."


_SIDES = ("disadvantaged", "favoured")


def wrong_single(case: Case) -> Iterator[str]:
    """Yield a sentence if `single_unfairness` is not the worst over listed values and intervals.

    Every interval is summed: quadratic in the values of a number, and nothing to get wrong. Those
    with too few rows inside or outside don't count.
    """
    worst = listed_worst(case)
    smallest = case.stated["min_group_size"]
    for name, seen in case.measured.items():
        sign = side_of(case.stated, name)
        residuals, unit = seen.residuals
        enough = range(smallest, seen.everyone.rows - smallest + 1)
        for attribute in case.table.attributes.values():
            values = [attribute.values[cell] for cell in seen.active]
            rows = [seen.rows[cell] for cell in seen.active]
            if attribute.is_number:
                sums = [total for total, n in _sums_of(values, residuals, rows) if n in enough]
                most = max((sign * total if sign else abs(total) for total in sums), default=0)
                worst = max(worst, most * unit)
    stated = case.stated["single_unfairness"]
    if abs(exact(stated) - worst) > case.tolerance:
        yield f"single_unfairness is stated as {stated!r}, and is {shown(worst)}."


def wrong_interval(case: Case) -> Iterator[str]:
    """Yield a sentence if the interval that is told is none, or has not the largest unfairness."""
    one = case.stated.get("single_interval")
    if one is None:
        case.leave("single_interval", "that it would tell of few rows where it is not stated")
        return
    conditions = one["rule"].get("conditions")
    is_one = isinstance(conditions, list | tuple) and len(conditions) == 1
    if not is_one or not isinstance(conditions[0], Mapping) or "values" in conditions[0]:
        yield "single_interval is no interval of one number."
    stated = case.stated["single_unfairness"]
    if abs(abs(exact(one["unfairness"])) - exact(stated)) > case.tolerance:
        yield f"single_interval has not the unfairness of {stated!r} that single_unfairness states."


def listed_worst(case: Case) -> Fraction:
    """Return the largest unfairness of the groups of one attribute that are listed, or 0."""
    values = [
        side * exact(one["unfairness"]) if side else abs(exact(one["unfairness"]))
        for one in case.stated["marginals"]
        for side in [side_of(case.stated, one["notion"])]
    ]
    return max([ZERO, *values])


def _sums_of(
    values: Sequence[Any], residuals: Sequence[int], rows: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the sum of each interval of values, and its number of rows."""
    by_value: dict[Any, tuple[int, int]] = {}
    for value, residual, number in zip(values, residuals, rows, strict=True):
        total, n = by_value.get(value, (0, 0))
        by_value[value] = total + residual, n + number
    ordered = [by_value[value] for value in sorted(by_value)]
    for low in range(len(ordered)):
        total, n = 0, 0
        for value, number in ordered[low:]:
            total += value
            n += number
            yield total, n
