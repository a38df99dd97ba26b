"""Word how sure an audit is: chance, rows that were not searched, and everyone else."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gerrymend._numeric.rate_intervals import rate_interval
from gerrymend.notions import NOTION_NAMES, rate_and_class
from gerrymend.reporting.audit.direction import in_unit, of_numbers
from gerrymend.reporting.audit.other_rows import held_out_rows, measured_there
from gerrymend.reporting.audit.permutations import (
    cut_short_words,
    enough_draws,
    families,
    is_least,
    no_time_words,
    too_few,
)
from gerrymend.reporting.audit.score_words import draws_of
from gerrymend.reporting.audit.standing_out import (
    least_words,
    named_groups_sentence,
    stands_out,
    within_words,
)
from gerrymend.reporting.audit.tested_apart import families_sentence, tested_apart_sentences
from gerrymend.reporting.audit.who_leads import (
    SMALL,
    TINY,
    headline,
    is_chance,
    is_for_experts,
    is_largest,
    is_named,
    is_nobody,
    is_part,
    is_tested_itself,
    largest,
    leads,
    own_p_value,
    sharpest,
    stands_alone,
    stands_for,
)
from gerrymend.reporting.wording import (
    capitalised,
    count,
    event_noun,
    figure,
    interval_ends,
    p_equals,
    percent,
    points,
    unfairness,
)

Report = Mapping[str, Any]

# The confidence of the interval of a rate.
_LEVEL = 0.95
# Shares of all rows to translate the detectable unfairness into points for, the first that gives
# a difference of less than half of the range of a rate.
_EXAMPLE_SHARES = (0.1, 0.25, 0.5)


def chance_sentence(report: Report) -> str:
    """Say whether chance alone could have made as much, and no more than was tested.

    The p-value is of the rows that were searched, and that is said where others were held out.
    """
    value = own_p_value(report)
    if value is None:
        why = _obstacle(report) or "n_permutations=199, --permutations 199 would"
        untested = f"Whether chance alone could make as much was not tested ({why})"
        # Of groups that were named beforehand none was chosen for looking bad.
        if report["class"]["name"] == "ExplicitGroups":
            return f"{untested}."
        untested = f"{untested}: the worst of many groups looks bad even where none differs"
        if report.get("sharpest") is not None:  # which was tested all the same
            return f"{untested}."
        return f"{untested}, and a small group that is hit hard may not show."
    told = f"({p_words(report)})"
    draws = count(report["n_permutations"])
    another = is_of_another(report)
    chance = draws_of(report, "value" if of_numbers(report) else "decision")
    of_others = "".join(f" {one}" for one in tested_apart_sentences(report))
    if value <= SMALL and not tells_own_chance(report):
        of_others += _untested_lead(report)
    if value <= TINY:
        whom = "" if another else ", of all that were searched"
        return (
            f"Could chance explain {stands_for(report) if another else 'it'}? Hardly: of {draws} "
            f"{chance.many} {_had(report)} a group as unfair{whom} {told}.{of_others}"
        )
    if value <= SMALL:
        whom = f" as {stands_for(report)} has" if another else ", of all groups searched,"
        often = f"in at most 1 of {int(1 / value + 1e-9)} samples {chance.where}"
        # So many that p is TINY, the least that they can give, over all that is tested at once.
        enough = max(199, round(families(report) / TINY) - 1)
        time = "" if report.get("permutations_asked") is None else " and more time"
        more = f"; {draws} {chance.noun} can't tell more, and {count(enough)}{time} would"
        more = more if is_least(value, report) else ""
        return f"Chance alone makes as much{whom} {often} {told}{more}.{of_others}"
    if too_few(report):
        time = "; ".join(filter(None, [f"{_made(report)} too few", no_time_words(report)]))
        return f"Whether it is chance can't be told: {time}.{of_others}"
    largest = "The largest unfairness" if stands_out(report) else "So large an unfairness"
    first = leads(report)[0] if leads(report) else None
    if first != report["worst"] and not report["withheld"]:  # which a favoured group has
        largest = "The largest unfairness to a group's disadvantage"
    return (
        f"{largest} could well be chance: {chance.where}, so many rows show as much in "
        f"about {percent(value)} of samples {told}.{_of_small_groups(report)}{of_others}"
    )


def is_of_another(report: Report) -> bool:
    """Return whether the p-value of the largest unfairness is of another group than who leads."""
    return stands_alone(report) or is_for_experts(report)


def tells_own_chance(report: Report) -> bool:
    """Return whether who leads is no chance by its own test, and that of a formula says no more.

    That one is told where the formula is, for experts.
    """
    is_tested = is_tested_itself(report) and not is_part(report)
    return is_tested and is_of_another(report) and not is_chance(report)


def _untested_lead(report: Report) -> str:
    """Say that a group in a sentence has no p-value of its own, and which part of it has one.

    "" where the p-value is of who leads. A part that leads nowhere else is told here.
    """
    first = largest(report)
    if first is None or not stands_alone(report):
        return ""
    whose = f" That p-value is not of {first['subgroup']}, which has none of its own"
    one = sharpest(report)
    if one is None or not is_part(report):
        return f"{whose}."
    tested = report["sharpest"]
    paid = f"{p_equals(tested['p_value'])}, after allowing for the {count(tested['n_groups'])}"
    part = f"{within_words(report)} {first['subgroup']}"
    return f"{whose}; {one['subgroup']} has one ({paid} groups looked at), and {part}."


def p_words(report: Report) -> str:
    """Return the p-value of who leads by its unfairness, on which rows, and by which search.

    One that no more shuffles were made for is said to be the least that they can give.

    The search matters where a quick search finds no more than chance, and the audit found more.
    """
    value = own_p_value(report)
    assert value is not None
    held_out = report["held_out"]
    apart = held_out is not None and not held_out["same_rows"]
    of_rows = " on the rows that were searched" if apart else ""
    told = ", ".join(filter(None, [f"{p_equals(value)}{of_rows}", cut_short_words(report)]))
    least = f"; {least_words(report)}" if value <= TINY and is_least(value, report) else ""
    return f"{told}{least}{quick_search_words(report)}"


def quick_search_words(report: Report) -> str:
    """Return that a test is by a quick search, and what that finds; "" where that changes nothing.

    Beside the largest unfairness and what chance finds, a large p-value would seem to be wrong.
    """
    found = _quickly_found(report)
    line = report["detectable"]
    if found is None or line is None or not is_chance(report) or not is_largest(report):
        return ""
    if float(unfairness(report["unfairness"])) <= float(unfairness(line)):
        return ""
    return f"; the search is a quick one, which finds {found} in these rows"


def _of_small_groups(report: Report) -> str:
    """Say what a test of the largest unfairness leaves open, or that nothing else stands out."""
    tested = report.get("sharpest")
    if tested is None:
        return (
            " That test weighs groups by their size: a small one that is hit hard may be real all "
            "the same."
        )
    if stands_out(report):
        return ""
    looked_at = f"{count(tested['n_groups'])} groups that can be named"
    return f" Nor does one of {looked_at} stand out ({p_equals(tested['p_value'])})."


def _had(report: Report) -> str:
    """Return in how many draws as much was found: p = families·(1 + these) / (1 + draws)."""
    draws = 1 + report["n_permutations"]
    number = round((own_p_value(report) or 1.0) * draws / families(report)) - 1
    return "none had" if number < 1 else f"{count(number)} had"


def _obstacle(report: Report) -> str | None:
    """Say why there can be no p-value, and what else may be asked; None where there can be one."""
    why: str | None = report["no_p_value"]
    own = any(notion.get("reference") is not None for notion in report["notions"])
    if why is None or not own or report["population"] is not None:
        return why
    people = "what holds for the people behind the rows"
    return f"{why}; confidence=0.95 (--confidence 0.95) tells {people}"


def why_not_tested(report: Report) -> str:
    """Say why it is not known whether a group stands out; `stands_out` of the report is None."""
    if report["sharpest"] is not None:
        return too_few_words(report)
    if report["p_value"] is None:
        return _obstacle(report) or "chance was not tested (n_permutations=199, --permutations 199)"
    return "no group that can be named has enough rows, inside and outside, to be described"


def too_few_words(report: Report) -> str:
    """Say that so many draws can't give a p-value of 5 %, how many can, and how to get them."""
    enough = count(enough_draws(report))
    asked = report.get("permutations_asked")
    if asked is None:
        return f"{_made(report)} too few for p = 0.05; {enough} are enough"
    made = count(report["n_permutations"])
    return (
        f"there was time for {made} of the {count(asked)} {draws_of(report, 'value').noun} that "
        f"were asked for, and p = 0.05 takes {enough}; give more time (budget, --budget)"
    )


def _made(report: Report) -> str:
    """Return how many draws were made, with the verb: "5 permutations are"."""
    number = report["n_permutations"]
    noun = draws_of(report, "value").noun
    return f"1 {noun.removesuffix('s')} is" if number == 1 else f"{count(number)} {noun} are"


def permutation_sentences(report: Report, *, example: bool = True) -> list[str]:
    """Say what chance alone makes of so many rows, with an example, and what the p-value is of."""
    draws = count(report["n_permutations"])
    if report["p_value"] is None:
        why = _obstacle(report) or (
            "no permutations were made (n_permutations=199, --permutations 199)"
        )
        untested = f"What chance alone would make of so many rows was not tested: {why}."
        return [untested, *filter(None, [named_groups_sentence(report)])]
    chance = draws_of(report, "value")
    tested = f"The p-value tests “{chance.tested}”, not “none exceeds what is allowed”."
    tested += chance.caveat
    more = filter(None, [named_groups_sentence(report), families_sentence(report)])
    tested += "".join(f" {one}" for one in more)
    line = report["detectable"]
    if line is not None and unfairness(line) == "0":
        noun = "shuffles" if chance.noun == "permutations" else chance.noun
        nothing = f"In 19 of 20 {noun} ({draws} in all) the search found no difference at all"
        return [f"{nothing}: any that is there is no chance.", tested]
    if line is None:
        return [f"{capitalised(too_few_words(report))}.", tested]
    found = in_unit(unfairness(line), report)
    # One that stands out for its size may be no chance, and have less.
    unless = ", unless the group is tested for itself" if stands_out(report) else ""
    return [
        f"{capitalised(chance.where)} the largest unfairness in so many rows is up to {found} in "
        f"19 of 20 samples ({draws} {chance.noun}{_searched(report)}): a largest unfairness of "
        f"less can't be told from chance{unless}.{_example(report, line) if example else ''}",
        tested,
    ]


def _example(report: Report, line: float) -> str:
    """Translate an unfairness into points, or into its unit, for a group of a common size."""
    unit = report["notions"][0].get("unit")
    if unit is not None:
        off = figure(line / _EXAMPLE_SHARES[0], unit)
        return f" That is, for example, {off} for {percent(_EXAMPLE_SHARES[0])} of the rows."
    share = next((share for share in _EXAMPLE_SHARES if line / share < 0.5), None)
    if share is None:
        return ""
    return (
        f" That is, for example, {points(line / share).lstrip('+')} for a group whose "
        f"{event_noun(report['notions'])} are {percent(share)} of all rows."
    )


def _searched(report: Report) -> str:
    """Say what the repeated search finds in the rows, where that is not all that was found."""
    found = _quickly_found(report)
    if found is None:
        return ""
    return f", each by a quicker search than that of the report; in these rows it finds {found}"


def _quickly_found(report: Report) -> str | None:
    """Return what the repeated search finds in the rows; None where that is all that was found.

    It is quicker than the search and the proof of the audit, and draws are compared with it.
    """
    found = report["searched_unfairness"]
    if found is None or unfairness(found) == unfairness(report["unfairness"]):
        return None
    return in_unit(unfairness(found), report)


def interval_words(group: Mapping[str, Any], report: Report) -> str | None:
    """Return an interval of the rate of a group, and what it is worth; None of most groups.

    Of who stands out it has paid for all the groups that were looked at. Of the largest unfairness
    it is Clopper and Pearson's, of rows that were held out where these tell of the group; None of
    means, of rates of the user's own, and where rows weigh differently: what it takes is not in a
    report.
    """
    there = measured_there(group, report)
    one = sharpest(report)
    if one is not None and is_named(one, group) and there is None:
        tested = report["sharpest"]
        if ends := tested.get("rate_interval"):
            looked_at = f"{count(tested['n_groups'])} groups looked at"
            return f"{_ends(ends, group)}, allowing for the {looked_at}"
    # One that chance may have made would look sure by the interval of a group chosen beforehand.
    if there is None and is_nobody(group, report):
        return None
    if group not in (headline(report), largest(report)) or report["weighted"]:
        return None
    if rate_and_class(group["notion"])[0] not in NOTION_NAMES:
        return None
    n_rows = report["n_rows"]
    worst = "worst" if group == largest(report) else "sharpest"
    worth = f", which is too narrow, as the group was chosen as the {worst} of many; "
    worth += _what_allows_for_that(report)
    if there is not None:
        group = there["subgroup"]
        n_rows = report["held_out"]["n_rows"]
        rate = figure(group["rate"], group.get("unit"))
        worth = f" on the {held_out_rows(report['held_out'])}, where it is {rate}"
    in_event = np.array(round(group["share"] * n_rows), dtype=float)
    ends = rate_interval(np.array(group["rate"]), in_event, _LEVEL)
    return f"{_ends(ends, group)}{worth}"


def _what_allows_for_that(report: Report) -> str:
    """Say what tells of other people though the group was chosen: bounds, or rows of their own."""
    population = report["population"]
    if population is not None and population["distance"] is not None:
        return "the bounds for the people behind the rows allow for that"
    return "confidence=0.95 (--confidence 0.95), or rows kept out of the search, would allow for it"


def _ends(ends: Sequence[Any], group: Mapping[str, Any]) -> str:
    return interval_ends(ends, group.get("unit"))
