"""Word what an audit found: who leads, by how much, who is beside them, and what other rows say."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.chance import chance_sentence
from gerrymend.reporting.audit.direction import (
    average,
    counts_sentence,
    has_group,
    in_unit,
    size_word,
)
from gerrymend.reporting.audit.formulas import is_formula, is_long
from gerrymend.reporting.audit.other_rows import are_confirmed, confirmation
from gerrymend.reporting.audit.population import population_sentences
from gerrymend.reporting.audit.said import among_words, core_sentences, said_sentences
from gerrymend.reporting.audit.standing_out import sharpest_sentence
from gerrymend.reporting.audit.subgroup_facts import cases_sentence
from gerrymend.reporting.audit.subgroup_words import (
    mix_words,
    rate_in_words,
    rate_sentence,
)
from gerrymend.reporting.audit.who_leads import (
    is_calm,
    is_for_experts,
    is_rest,
    is_the_same,
    largest,
    leads,
    names_nobody,
    own_p_value,
    says_most,
    sharpest,
    sharpest_leads,
    stands_alone,
    stands_for,
    who_is,
)
from gerrymend.reporting.wording import bound, capitalised, count, unfairness

Report = Mapping[str, Any]


def amount(value: float, report: Report) -> str:
    """Return an unfairness on its side of gamma, with the unit that it has of numbers."""
    return in_unit(unfairness(value, report["gamma"]), report)


def allowed_words(report: Report) -> str:
    """Say what gamma is, within a sentence."""
    return f"{in_unit(format(report['gamma'], 'g'), report)} is allowed"


def withheld_as(report: Report) -> str:
    """Say why a group is not described: its size, values of few rows, or the reference's group."""
    rare = " or told by values too rare" if report["rare_values"] else ""
    like = " or too like the group of the reference" if has_group(report) else ""
    return f"too small{rare}{like} to be described"


def _lead_sentences(report: Report, rows: str) -> list[str]:
    """Say who is treated worst and best, or who differs most; a long rule is left for below.

    Everyone else is not said again: their rate is beside that of a group that is large.
    """
    which = " of those that may be described" if report["withheld"] else ""
    sentences: list[str] = []
    for one in leads(report):
        lead = one
        who = f"{who_is(one, report, which)} {_named(one)}"
        if is_rest(one, report):
            continue
        if not sentences and says_most(report):
            lead = report["in_a_sentence"]["subgroup"]
            among = which if is_the_same(report) else among_words(report)
            who = f"{who_is(one, report, among)} {lead['subgroup']}"
        sentences.append(
            f"{who}, {count(lead['size'])} of {count(report['n_rows'])} {rows}: "
            f"{rate_sentence(lead) if sentences else rate_in_words(lead, report)}."
        )
    return sentences


def lead_sentence(report: Report) -> str:
    """Say who leads; there is such a subgroup."""
    one = sharpest(report)
    if one is not None and sharpest_leads(report):
        return sharpest_sentence(one, report)
    return _lead_sentences(report, "rows")[0]


def _named(one: Mapping[str, Any]) -> str:
    """Return who is in a subgroup, by composition if it is a formula, or where that is told."""
    if is_formula(one):
        return mix_words(one) or "one that takes a formula, below"
    words = str(one["subgroup"])
    if one["rule"]["kind"] == "linear" and words.startswith("not (") and not is_long(one):
        return f"all but {words[len('not (') : -1]}"
    return "one that takes many words, below" if is_long(one) else words


def leading_sentences(report: Report, rows: str) -> list[str]:
    """Say who has the largest unfairness, in how many cases that shows, and by what it leads.

    One that takes a formula, before which who stands out leads, is for experts. Of one that chance
    may have made, as all that was found, cases would be counted of nobody.
    """
    first = largest(report)
    if first is None:
        return []
    worst = report["worst"]
    exceeds = worst is not None and abs(worst["unfairness"]) > report["gamma"]
    if is_for_experts(report):
        beside = exceeding_beside(report) or _below_for_experts(report)
        return [beside] if exceeds else []
    is_mean = first.get("unit") is not None  # which is told for how many, allowed or not
    cases = cases_sentence(first, report) if exceeds or is_mean else None
    # Of two groups it was said already, of the one that leads, that unfairness counts its size.
    word = None if sharpest_leads(report) else _size_word(first, report)
    counts = counts_sentence(word, average(report)) if word else None
    lead = _lead_sentences(report, rows)[0]
    if is_calm(report):
        return [lead]
    return [lead, *filter(None, [cases, counts])]


def _size_word(first: Mapping[str, Any], report: Report) -> str:
    """Return the word by which who has the largest unfairness was told."""
    if names_nobody(report):
        return "Largest"
    return size_word(first["treated"])


def inner_sentences(report: Report) -> list[str]:
    """Say where in the group of the largest unfairness most of it lies, if that is known."""
    first = largest(report)
    return [] if first is None else core_sentences(first, report)


def other_sentences(report: Report, rows: str) -> list[str]:
    """Say who else can be said in a sentence, and who is most favoured.

    What is for experts is left to the facts.
    """
    if largest(report) is None or is_calm(report):
        return []
    favoured = _lead_sentences(report, rows)[1:]
    if sharpest_leads(report):
        return favoured
    return [*said_sentences(report), *favoured]


def _below_for_experts(report: Report) -> str:
    """Say whose the largest unfairness is, where a group that can be named leads."""
    first = leads(report)[0]
    found = f"{amount(first['unfairness'], report)}, and {_not_ruled_out(report)}"
    only = "only a formula tells" if is_formula(first) else "takes many words"
    return f"{capitalised(stands_for(report))}, which {only} (below, for experts), has {found}."


def exceeding_beside(report: Report) -> str | None:
    """Say which group exceeds gamma, where one that is allowed leads before it; None elsewhere.

    Few are in the one that stands out, and the formula of the other one is for experts.
    """
    one = sharpest(report)
    first = leads(report)[0]
    if one is None or _exceeds(one, report) or not _exceeds(first, report):
        return None
    other = "a larger" if first["size"] > one["size"] else "another"
    return (
        f"The verdict is about {other} group ({stands_for(report)}), whose unfairness of "
        f"{amount(first['unfairness'], report)} is not allowed: {_named(first)}, "
        f"{count(first['size'])} of {count(report['n_rows'])} rows: {rate_sentence(first)}; "
        f"{_not_ruled_out(report)}."
    )


def _exceeds(one: Mapping[str, Any], report: Report) -> bool:
    return bool(abs(one["unfairness"]) > report["gamma"])


def _not_ruled_out(report: Report) -> str:
    """Say whether a subgroup that has more is ruled out, or is not described."""
    if report["withheld"]:
        return f"a group that is {withheld_as(report)} has {amount(report['unfairness'], report)}"
    if report["exact"]:
        return "no subgroup that was searched has more"
    limit = in_unit(bound(report["upper_bound"], report["gamma"]), report)
    return f"more, up to {limit}, is not ruled out"


def exceeding_sentences(report: Report) -> list[str]:
    """Say by how much the worst subgroup exceeds what is allowed, and whether it is the worst.

    Of two that lead, the one of the larger unfairness may be the favoured one. Of one that is for
    experts it was said.
    """
    if is_for_experts(report):
        return []
    first = leads(report)[0]
    own = report["in_a_sentence"]["subgroup"] if stands_alone(report) else first
    value = f"This group's unfairness is {amount(own['unfairness'], report)}"
    if abs(first["unfairness"]) < abs(report["worst"]["unfairness"]):
        worst = amount(report["worst"]["unfairness"], report)
        value += f", that of the most favoured one {worst}"
    told = f"{value}, and {allowed_words(report)}"
    if stands_alone(report):
        return [f"{told}."]
    return [f"{told}; {_not_ruled_out(report)}."]


def formula_sentences(report: Report) -> list[str]:
    """Say what the worst of all has that a group in a sentence leads before; nothing elsewhere."""
    return [_below_for_experts(report)] if stands_alone(report) else []


def cautions(report: Report) -> list[str]:
    """Say before all else that what exceeds gamma on these rows may be chance; nothing if not.

    That is where chance was not tested, and neither rows that were not searched nor what is known
    of the people behind the rows tell more.
    """
    if report["verdict"] != "exceeds gamma" or own_p_value(report) is not None:
        return []
    confirmed = are_confirmed(report)
    population = report["population"]
    is_known = population is not None and population["distance"] is not None
    if confirmed is None and not is_known:
        return [chance_sentence(report)]
    told = confirmation(report) if confirmed is False else []
    if is_known and population["verdict"] != "exceeds gamma":
        told += population_sentences(report)
    return told
