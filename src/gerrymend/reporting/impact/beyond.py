"""Say what was found in no table, and what no subgroup exceeds; from plain data."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.impact.rules import rule_of
from gerrymend.reporting.impact.words import FOUR_FIFTHS, ratio_words
from gerrymend.reporting.wording import bound, count, p_equals, percent, unfairness

# The part of all rows by which a bound is told as a rate.
_PART = 0.1


def beyond_sentences(data: Mapping[str, Any]) -> list[str]:
    """Say who was found, how bad any subgroup can be, and whether chance was tested."""
    found = data["unlisted"]
    if found is None:
        return ["No subgroup that is in no table was looked for."]
    sentences = [_who(found, data)]
    if found["listed"] is not None:
        which = (
            "The worst of those that were searched is in a table"
            if found["subgroup"] is None
            else "One that is in a table has more unfairness"
        )
        sentences.append(f"{which}: {found['listed']}.")
    return [*sentences, *_bound(found, data), _chance(found)]


def beyond_lead(data: Mapping[str, Any]) -> list[str]:
    """Say in a sentence who was found in no table, where its rate is below four fifths of all."""
    group = None if data["unlisted"] is None else data["unlisted"]["subgroup"]
    if group is None or group["ratio"] is None or group["ratio"] >= FOUR_FIFTHS:
        return []
    return [
        f"The tables don't show all: {group['subgroup']} is in none of them. Of its "
        f"{count(group['size'])} rows {percent(group['rate'])} are {rule_of(data).selected}, and "
        f"{percent(group['overall_rate'])} of all rows."
    ]


def _who(found: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Return who was found, beside everyone and the most selected group of the tables."""
    rule = rule_of(data)
    group = found["subgroup"]
    if group is None:
        return (
            f"No subgroup was found that is in no table, is {rule.selected} less often than "
            f"everyone, and has {found['min_group_size']} rows or more, inside and outside."
        )
    told = (
        f"The worst subgroup that was found and is in no table: {group['subgroup']}. "
        f"Of its {count(group['size'])} rows {percent(group['rate'])} are {rule.selected}, of all "
        f"{count(data['n_rows'])} rows {percent(group['overall_rate'])}: "
        f"{ratio_words(group['ratio'])} of everyone's rate"
    )
    other = _reference(data)
    if other is None:
        return f"{told}."
    ratio = group["rate"] / other["rate"]
    return f"{told}, and {ratio_words(ratio)} of that of {other['group']}."


def _reference(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the reference group with the highest rate, of those that are not small."""
    references = [
        group
        for table in data["tables"]
        for group in table["groups"]
        if group["is_reference"] and not (group["is_small"] or group["is_few"])
    ]
    return max(references, key=lambda group: group["rate"], default=None)


def _bound(found: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    """Return what no subgroup exceeds, and what follows for a tenth of the people."""
    if found["no_bound"] is not None:
        return [f"What any other can have at most was not proven: {found['no_bound']}."]
    at_most = found["upper_bound"]
    exact = "That is exact" if found["exact"] else "That is proven"
    sentences = [
        f"No subgroup has an unfairness above {bound(at_most)}, its share of all rows times how "
        f"far its rate is below everyone's"
        + (f"; what was found has {unfairness(found['unfairness'])}" * (not found["exact"]))
        + f". {exact}, over {found['covers']}, in a table or not."
    ]
    overall = found["overall_rate"]
    least = overall - at_most / _PART
    if least > 0:
        sentences.append(
            f"So of no subgroup with a tenth of all rows or more are fewer than {percent(least)} "
            f"{rule_of(data).selected}, {ratio_words(least / overall)} of everyone's rate."
        )
    return sentences


def _chance(found: Mapping[str, Any]) -> str:
    """Say whether chance may have made as much."""
    if found["p_value"] is None:
        return (
            "Whether chance alone makes as much was not tested (n_permutations=199, --permutations "
            "199 would): the worst of many groups looks bad even where none differs."
        )
    how = "Chance alone hardly makes" if found["p_value"] <= 0.05 else "Chance alone may make"
    return (
        f"{how} a subgroup as unfair: {p_equals(found['p_value'])}, by "
        f"{count(found['n_permutations'])} shuffles of who was selected, each searched alike."
    )
