"""Decide whom a report leads with, and in which order it tells of subgroups."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.formulas import is_sentence

Report = Mapping[str, Any]
Subgroup = Mapping[str, Any]

# A subgroup as a reader finds it at the head of a list, by how it is treated.
_FIRST = {"worse": "Treated worst", "better": "Most favoured", None: "Differs most"}
_ANOTHER = {"worse": "Also worse off", "better": "Also favoured", None: "Also"}
_SENTENCE = {
    "worse": "The subgroup treated worst",
    "better": "The most favoured subgroup",
    None: "The subgroup that differs most",
}
# Who leads by its unfairness where chance may have made it: nobody is said to be treated so.
_MAY_BE_CHANCE = "May be chance"
_LARGEST = {
    "worse": "The largest difference to a group's disadvantage",
    "better": "The largest difference in a group's favour",
    None: "The largest difference",
}
# The one that a group in a sentence stands for, and of which class it is.
_WORST = {
    "worse": "the worst of all",
    "better": "the most favoured of all",
    None: "the one that differs most of all",
}
# What a group in a sentence is called that doesn't lead: it may be other people.
_FEW_CONDITIONS = "Few conditions"
_CLASSES = {"LinearThresholds": "linear thresholds", "Trees": "decision trees"}
# What the one is called that takes a formula, beside another one that leads.
EXPERTS = "For experts"
# What the group is called that stands out most from chance for its size.
STANDS_OUT = "Stands out"
# A group in a sentence leads if it has this part of the worst's unfairness, or more.
MOST = 0.8
_ROUNDING = 1e-9
# A part of it is another finding if its rate is so many times as far off.
_TIMES = 2.0
# Up to this a p-value speaks against chance.
SMALL = 0.05
# And up to this loudly.
TINY = 0.01


def leads(report: Report) -> list[Subgroup]:
    """Return the subgroups that come first: who is treated worst and best, or who differs most."""
    worst = report["worst"]
    if worst is not None and worst["treated"] is None:
        return [worst]
    return _sides(report) or [*filter(None, [worst])]


def _sides(report: Report) -> list[Subgroup]:
    """Return who is treated worst, and who best, as far as they are described."""
    return [one for one in (report["disadvantaged"], report["favoured"]) if one is not None]


def is_chance(report: Report) -> bool:
    """Return whether chance was tested, and may well have made who leads by its unfairness."""
    value = own_p_value(report)
    return value is not None and value > SMALL


def names_nobody(report: Report) -> bool:
    """Return whether chance may have made who leads by its unfairness, whoever else stands out.

    Not where it stands out itself by its rate, nor where too few permutations were made to tell:
    who is treated worst is then not known to be nobody.
    """
    tested = report.get("sharpest")
    if tested is None or report["detectable"] is None or not is_chance(report):
        return False
    return not (tested["subgroup"] and is_named(tested["subgroup"], largest(report)))


def is_nobody(subgroup: Subgroup, report: Report) -> bool:
    """Return whether chance may have made a subgroup, as who leads; never who stands out."""
    one = sharpest(report)
    if one is not None and is_named(one, subgroup):
        return False
    return names_nobody(report) and subgroup.get("p_value", 1.0) > SMALL


def is_calm(report: Report) -> bool:
    """Return whether chance was tested, and may have made all that was found: there is nobody."""
    if not names_nobody(report) or not may_be_chance(report):
        return False
    tests = [report["sharpest"], *report.get("p_values", ())]
    return all(one["p_value"] > SMALL for one in tests)


def may_be_chance(report: Report) -> bool:
    """Return whether chance may have made all that the verdict is about, as far as was tested.

    It has not where the largest unfairness is none, nor where that of who leads in a sentence, or
    of rates that are tested apart, is none and exceeds what is allowed as well.
    """
    own = own_test(report)
    values = [report["p_value"], None if own is None else own["p_value"]]
    tested = [value for value in values if value is not None]
    if not tested or min(tested) <= SMALL:
        return False
    return not any(
        one["p_value"] <= SMALL and one["searched_unfairness"] > report["gamma"]
        for one in report.get("p_values", ())
    )


def own_test(report: Report) -> Mapping[str, Any] | None:
    """Return the test of the group in a sentence, where that leads for another; None elsewhere."""
    if not stands_alone(report):
        return None
    test: Mapping[str, Any] | None = report["in_a_sentence"].get("test")
    return test


def own_p_value(report: Report) -> float | None:
    """Return the p-value of who leads by its unfairness; None where chance was not tested.

    Of a group in a sentence it is that of so large an unfairness of any that can be said so; of
    others that of the search.
    """
    own = own_test(report)
    if own is None:
        return search_p_value(report)
    value: float = own["p_value"]
    return value


def search_p_value(report: Report) -> float | None:
    """Return the p-value of who leads of the class that was searched; None if it was not tested.

    That of the report is of the largest unfairness, which the most favoured may have, or a group
    that may not be described; these may be of another notion, which is tested apart.
    """
    value: float | None = report["p_value"]
    first = next(iter(leads(report)), None)
    if value is None or first is None or is_largest(report):
        return value
    own: float = first.get("p_value", value)
    return own


def is_largest(report: Report) -> bool:
    """Return whether who leads by its unfairness has the largest, and none that isn't told."""
    first = next(iter(leads(report)), None)
    return first == report["worst"] and not report["withheld"]


def sharpest(report: Report) -> Subgroup | None:
    """Return the group that stands out from chance and is told; None where there is none."""
    return (report.get("sharpest") or {}).get("subgroup")


def headline(report: Report) -> Subgroup | None:
    """Return the subgroup that a report is about, and leads with.

    It is the one of the largest unfairness, or the one that stands out from chance, if there is
    one and `stands_before` says so: that can be named, and is tested for itself.
    """
    first = largest(report)
    one = sharpest(report)
    if one is None or is_named(one, first):
        return first
    before = stands_before(
        exceeds=report["verdict"] == "exceeds gamma",
        is_chance=is_chance(report),
        is_told=is_told(first),
    )
    return one if before else first


def stands_before(*, exceeds: bool, is_chance: bool, is_told: bool) -> bool:
    """Return whether who stands out from chance comes before the largest unfairness.

    That leads only where it exceeds what is allowed, is no chance and can be named.

    >>> stands_before(exceeds=True, is_chance=False, is_told=True)
    False
    >>> stands_before(exceeds=False, is_chance=False, is_told=True)
    True
    """
    return is_chance or not (exceeds and is_told)


def is_told(first: Subgroup | None) -> bool:
    """Return whether who has the largest unfairness can be named, and takes no formula."""
    return first is not None and is_sentence(first)


def sharpest_leads(report: Report) -> bool:
    """Return whether a report leads with who stands out, before the largest unfairness."""
    return headline(report) != largest(report)


def is_for_experts(report: Report) -> bool:
    """Return whether the largest unfairness is of a formula that another group leads before."""
    first = largest(report)
    return first is not None and sharpest_leads(report) and not is_told(first)


def is_tested_itself(report: Report) -> bool:
    """Return whether the p-value beside who leads is of its rate, as of who stands out.

    Else it is of so large an unfairness, of any group that was searched or can be said as shortly.
    """
    one = sharpest(report)
    first = headline(report)
    if one is None or first is None or not is_named(one, first):
        return False
    if sharpest_leads(report) or is_chance(report):
        return True
    # Without a test of its own, or of the search, there is no other p-value of it.
    return own_test(report) is None and (report["p_value"] is None or stands_alone(report))


def is_within(report: Report) -> bool:
    """Return whether who stands out is, as far as it is told, a part of the largest one."""
    within = (report.get("sharpest") or {}).get("within")
    return within is not None and within >= MOST


def is_part(report: Report) -> bool:
    """Return whether who stands out is a part of who leads, and much like it: no second finding."""
    one = sharpest(report)
    first = largest(report)
    if one is None or first is None or sharpest_leads(report) or not is_within(report):
        return False
    return bool(abs(one["gap"]) < _TIMES * abs(first["gap"]))


def is_named(one: Subgroup, other: Subgroup | None) -> bool:
    """Return whether two groups are told by the same words, for the same rate."""
    if other is None or one["notion"] != other["notion"]:
        return False
    return bool(one["subgroup"] == other["subgroup"])


def largest(report: Report) -> Subgroup | None:
    """Return who has the largest unfairness: the worst or, for it, the group in a sentence."""
    if says_most(report):
        said: Subgroup = report["in_a_sentence"]["subgroup"]
        return said
    return next(iter(leads(report)), None)


def says_most(report: Report) -> bool:
    """Return whether the group in a sentence leads: it has most of the worst's unfairness.

    A sum of ten terms names nobody, and who is in it by composition makes a sharp group look
    diluted. Both have to be on the same side of gamma, which the verdict is about.
    """
    said = report["in_a_sentence"]
    if said is None:
        return False
    own = said["subgroup"]["unfairness"]
    return sentence_leads(own, leads(report)[0]["unfairness"], report["gamma"])


def sentence_leads(own: float, worst: float, gamma: float) -> bool:
    """Return whether a group in a sentence leads, by its unfairness and that of the worst.

    >>> sentence_leads(0.016, 0.018, 0.01), sentence_leads(0.009, 0.011, 0.01)
    (True, False)
    """
    # Less than rounding, so that a part of exactly four fifths is one on every machine.
    has_most = abs(own) >= (MOST - _ROUNDING) * abs(worst)
    return has_most and (abs(own) > gamma) == (abs(worst) > gamma)


def is_the_same(report: Report) -> bool:
    """Return whether the group in a sentence has the very rows of the one that it stands for."""
    said = report["in_a_sentence"]
    if said is None or said["overlap"] is None:
        return False
    same_size = said["subgroup"]["size"] == leads(report)[0]["size"]
    return bool(said["overlap"] == 1.0 and same_size)


def stands_alone(report: Report) -> bool:
    """Return whether a group in a sentence leads that is another than the one it stands for."""
    return says_most(report) and not is_the_same(report)


def of_all(report: Report) -> str:
    """Return what the one is called that a group in a sentence stands for, and leads before."""
    return "As a formula" if is_the_same(report) else EXPERTS


def stands_for(report: Report) -> str:
    """Return the one of the class that a group in a sentence, or who stands out, leads before."""
    worst = _WORST[leads(report)[0]["treated"]]
    return f"{worst} {_CLASSES.get(report['class']['name'], 'that was searched')}"


def is_rest(subgroup: Subgroup, report: Report) -> bool:
    """Return whether a subgroup is described as all who are not in the one before it."""
    return bool(report["favoured_is_rest"]) and subgroup == report["favoured"]


def described(report: Report) -> list[tuple[str, Subgroup]]:
    """Return all subgroups that are described, in the order of reading, each with its standing."""
    first = leads(report)
    if is_calm(report) and first:
        if says_most(report):
            said_first = report["in_a_sentence"]["subgroup"]
            return [(_MAY_BE_CHANCE, said_first), (of_all(report), first[0])]
        return [(_MAY_BE_CHANCE, first[0])]
    others: list[Subgroup] = []
    for one in (*_sides(report), *report["top"]):
        if one not in (*first, *others) and not is_chance_beside(one, report):
            others.append(one)
    said = report["in_a_sentence"]
    shown = [
        (_MAY_BE_CHANCE if is_nobody(one, report) else _FIRST[one["treated"]], one) for one in first
    ]
    if says_most(report):
        shown[0:1] = [(shown[0][0], said["subgroup"]), (of_all(report), first[0])]
    elif said is not None and not sharpest_leads(report):  # a third group would only confuse
        shown[1:1] = [(_FEW_CONDITIONS, said["subgroup"])]
    sharp = sharpest(report)
    if is_for_experts(report):
        shown[0] = (EXPERTS, shown[0][1])
    if sharp is not None and sharpest_leads(report):
        shown = [(STANDS_OUT, sharp), *(one for one in shown if not is_named(sharp, one[1]))]
    elif sharp is not None and not (
        is_part(report) or any(is_named(sharp, one) for _, one in shown)
    ):
        shown.append((STANDS_OUT, sharp))
    shown += [(_ANOTHER[one["treated"]], one) for one in others]
    # All others are not alike: those who are most favoured are some of them.
    named = [("Everyone else" if is_rest(one, report) else name, one) for name, one in shown]
    return [(name, one) for name, one in named if name != "Everyone else" or tells_rest(report)]


def is_chance_beside(subgroup: Subgroup, report: Report) -> bool:
    """Return whether chance alone finds as much as a further subgroup has, which is not told then.

    Who stands out is tested for itself.
    """
    if is_nobody(subgroup, report):
        return True
    line = line_of(subgroup, report)
    beyond = line is None or abs(subgroup["unfairness"]) > line
    return not beyond and not is_named(subgroup, sharpest(report))


def line_of(subgroup: Subgroup, report: Report) -> float | None:
    """Return up to what chance alone finds for the rate of a subgroup; None where not tested.

    Rates that are tested apart have a line each.
    """
    line: float | None = report.get("detectable")
    for one in report.get("p_values", ()):
        if subgroup["notion"] in one["notions"]:
            line = one["detectable"]
    return line


def tells_rest(report: Report) -> bool:
    """Return whether everyone else is told of: not where these are not the rest of who leads."""
    return not (stands_alone(report) or sharpest_leads(report))


def standing(treated: str | None) -> str:
    """Return what a subgroup that leads is called, by how it is treated.

    >>> standing("worse"), standing(None)
    ('Treated worst', 'Differs most')
    """
    return _FIRST[treated]


def who_is(subgroup: Subgroup, report: Report, which: str = "") -> str:
    """Return the words before the name of a subgroup that leads; `which` says of which ones.

    Where chance may have made it nobody is said to be treated worst.
    """
    if is_nobody(subgroup, report):
        return f"{_LARGEST[subgroup['treated']]}{which} may be chance, and is that of"
    return f"{_SENTENCE[subgroup['treated']]}{which} is"


def as_object(subgroup: Subgroup, report: Report) -> str:
    """Return a subgroup that leads as it is called within a sentence."""
    if subgroup == sharpest(report) and not is_named(subgroup, largest(report)):
        return "the group that stands out"
    if is_for_experts(report) and subgroup == largest(report):
        return stands_for(report)
    if is_nobody(subgroup, report):
        words = _LARGEST[subgroup["treated"]].replace("The", "the", 1)
        return f"the group with {words}, perhaps by chance"
    return _SENTENCE[subgroup["treated"]].replace("The", "the", 1)
