"""Check of the group in a sentence: that it is one, how much of the worst it shares, its bound.

And of the part of it, or of the worst, where most of it lies.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.classes import NotListedError, subgroups_of
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import TOLERANCE, Measured, shown
from gerrymend.checker.lead import check_lead, says_who
from gerrymend.checker.rules import RuleError, members
from gerrymend.checker.scope import class_in_words
from gerrymend.checker.sentence_test import check_sentence_test

_CONDITIONS = 3
# Sets of values are searched where no category has more values than this, and all have not more.
_MOST_VALUES = 6
_MOST_SETS = 16
# Numbers of more values are cut into bins.
_MOST_NUMBERS = 100
_BINS = 32
# A simpler group than the worst has so much of its unfairness.
_SIMPLER_HAS = Fraction(9, 10)
# The part where most lies has so much of the unfairness, and so many times the gap.
_CORE_HAS = Fraction(4, 5)
_CORE_TIMES = Fraction(3, 2)


def check_said(case: Case) -> None:
    """Check the group in a sentence; its members and figures are checked as those of others."""
    stated = case.stated
    said = stated["in_a_sentence"]
    lead = lead_of(stated)
    check_lead(lead, case)
    is_sentence = lead is None or says_who(lead)
    if said is None:
        if not is_sentence:
            case.leave("in_a_sentence", "that no group that can be said may be described")
        return
    if lead is None or is_sentence:
        case.problem("in_a_sentence is stated, and the worst is a sentence itself.")
        return
    check_sentence_test(lead, case)
    seen = case.measured.get(said["subgroup"]["notion"])
    if seen is None:
        return  # which was noted with the subgroup
    try:
        case.problem(*_wrong_shared(lead, seen, case))
        case.problem(*_wrong_bound(seen, case))
    except RuleError:
        return  # which was noted with the subgroup
    except ZeroDivisionError:
        case.problem("in_a_sentence, or the worst, has no rows that count.")


def lead_of(stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the subgroup that a report begins with."""
    worst: Mapping[str, Any] | None = stated["worst"]
    if worst is not None and worst["treated"] is None:
        return worst
    return stated["disadvantaged"] or stated["favoured"] or worst


def check_core(case: Case) -> None:
    """Check that a part of the group has most of it; its figures are checked as those of others."""
    core = case.stated["core"]
    said = case.stated["in_a_sentence"]
    group = said["subgroup"] if said else lead_of(case.stated)
    case.leave("core", "that no tighter part of the group has most of its unfairness")
    if core is None:
        return
    if group is None:
        case.problem("core is stated, and no group that it is a part of.")
        return
    seen = case.measured.get(core["notion"])
    if seen is None:
        return  # which was noted with the subgroup
    try:
        case.problem(*_wrong_core(core, group, seen, case))
    except RuleError:
        return  # which was noted with the subgroup


def _wrong_core(
    core: Mapping[str, Any], group: Mapping[str, Any], seen: Measured, case: Case
) -> Iterator[str]:
    """Yield what is wrong with a part of a group as the one where most of it lies."""
    if core["notion"] != group["notion"]:
        yield "core is of another notion than the group that it is a part of."
        return
    whole = members(group["rule"], case.table)
    part = members(core["rule"], case.table)
    if any(a and not b for a, b in zip(part, whole, strict=True)):
        yield "core is not a part of the group."
    if core["rule"]["kind"] != "conjunction":
        yield "core is no conjunction."
    own = seen.figures(part)
    of_all = seen.figures(whole)
    sign = 1 if of_all.unfairness > 0 else -1
    if sign * own.unfairness < (_CORE_HAS - TOLERANCE) * abs(of_all.unfairness):
        yield "core has less than 80 % of the unfairness of the group."
    if sign * own.gap < (_CORE_TIMES - TOLERANCE) * abs(of_all.gap):
        yield "core has less than 1.5 times the gap of the group."


def _wrong_shared(lead: Mapping[str, Any], seen: Measured, case: Case) -> Iterator[str]:
    """Yield what is wrong with the kind of the group, and with what it shares with the worst."""
    said = case.stated["in_a_sentence"]
    smallest = case.stated["min_group_size"]
    one = said["subgroup"]
    rule = one["rule"]
    first = members(lead["rule"], case.table)  # which refuses rules that can't be read
    second = members(rule, case.table)
    # An interval of the score is one more.
    most = _CONDITIONS + (case.table.score is not None)
    if rule["kind"] != "conjunction" or len(rule["conditions"]) > most:
        yield "in_a_sentence is no conjunction of at most 3 conditions."
    if one["notion"] != lead["notion"] or one["unfairness"] * lead["unfairness"] <= 0:
        yield "in_a_sentence is of another notion, or on another side, than the worst."
        return
    regions = {(a, b): [x == a and y == b for x, y in zip(first, second, strict=True)]
               for a in (True, False) for b in (True, False)}  # fmt: skip
    few = any(0 < seen.sums(cells).rows < smallest for cells in regions.values())
    both = seen.figures(regions[True, True])
    either = [x or y for x, y in zip(first, second, strict=True)]
    worst = seen.figures(first).unfairness
    shares = {
        "overlap": both.share / seen.figures(either).share,
        "accounts_for": both.unfairness / worst,
    }
    # Floats hold both to some 2⁻⁵² of outcomes, which a quotient by a small one makes larger.
    off = seen.scale / 2**52 / abs(worst)
    allowed = {"overlap": TOLERANCE, "accounts_for": TOLERANCE + off}
    for name, value in shares.items():
        if said[name] is None:
            if not few:
                case.leave(f"in_a_sentence.{name}", "that it would tell of few rows")
        elif few:
            yield f"{name} of in_a_sentence tells of fewer rows than min_group_size."
        elif abs(exact(said[name]) - value) > allowed[name] * (1 + abs(value)):
            yield f"{name} of in_a_sentence is stated as {said[name]!r}, and is {shown(value)}."
    if (said["overlap"] is None) != (said["accounts_for"] is None):
        yield "in_a_sentence states one of overlap and accounts_for."


def _wrong_bound(seen: Measured, case: Case) -> Iterator[str]:
    """Yield what is wrong with the class that was searched, and with its bound on this side."""
    said = case.stated["in_a_sentence"]
    table = case.table
    sizes = [len(set(one.values)) for one in table.attributes.values() if not one.is_number]
    few = max(sizes, default=0) <= _MOST_VALUES and sum(sizes) <= _MOST_SETS
    name = "ValueSets" if few else "Conjunctions"
    numbers = [len(set(one.values)) for one in table.attributes.values() if one.is_number]
    bins = _BINS if max(numbers, default=0) > _MOST_NUMBERS else None
    parameters: dict[str, Any] = {"max_depth": _CONDITIONS, "bins": bins}
    if name == "Conjunctions":
        parameters["numeric"] = "intervals"
    expected = class_in_words(name, parameters, table)
    if bins is not None and said["covers"].startswith(expected):
        case.leave("in_a_sentence.covers", "at which numbers its bins are cut")
    elif said["covers"] != expected:
        yield f"covers of in_a_sentence is stated as {said['covers']!r}, and is {expected!r}."
    value = abs(exact(said["subgroup"]["unfairness"]))
    upper = exact(said["upper_bound"])
    tolerance = TOLERANCE * seen.scale
    names = "in_a_sentence.upper_bound in_a_sentence.exact"
    if said["simpler_than"] is not None:
        own = value
        value = exact(said["simpler_than"])
        if not _SIMPLER_HAS * value - tolerance <= own <= value + tolerance:
            yield f"simpler_than of in_a_sentence, {said['simpler_than']!r}, is not near its value."
        names += " in_a_sentence.simpler_than"
    if upper < value - tolerance or (said["exact"] and upper > value + tolerance):
        yield f"upper_bound of in_a_sentence, {said['upper_bound']!r}, is not that of its value."
    try:
        groups = subgroups_of({"name": name, "parameters": parameters}, table, seen.active)
    except NotListedError as reason:
        case.leave(names, str(reason))
        return
    worst: Fraction = seen.worst(groups, 1 if said["subgroup"]["unfairness"] > 0 else -1)
    if worst > upper + tolerance or (said["exact"] and worst < value - tolerance):
        yield f"upper_bound of in_a_sentence is stated as {said['upper_bound']!r}, and the worst " \
            f"has {shown(worst)}."  # fmt: skip
    if not said["exact"]:
        case.leave(names, "that it was not exact")
