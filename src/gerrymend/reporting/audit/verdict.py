"""Word the verdict of an audit: its heading, its sentences, its sign and colour."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend.reporting.audit.chance import chance_sentence, held_out_rows
from gerrymend.reporting.audit.direction import average, counts_sentence, has_group, in_unit
from gerrymend.reporting.audit.population import population_sentences
from gerrymend.reporting.audit.said import (
    among_words,
    core_sentences,
    said_sentences,
    stands_for,
    whose_words,
)
from gerrymend.reporting.audit.standing_out import (
    leads_too,
    likely_words,
    shared_sentence,
    sharpest_sentence,
    standing_out_sentences,
    stands_out,
)
from gerrymend.reporting.audit.subgroup_facts import cases_sentence
from gerrymend.reporting.audit.subgroup_words import (
    is_formula,
    is_long,
    rate_sentence,
    who_is_in,
)
from gerrymend.reporting.audit.who_leads import (
    is_chance,
    is_rest,
    is_the_same,
    largest,
    leads,
    says_most,
    sharpest,
    sharpest_leads,
    stands_alone,
    subject,
    tells_rest,
)
from gerrymend.reporting.wording import (
    bound,
    count,
    percent,
    signed_unfairness,
    unfairness,
)

Report = Mapping[str, Any]


class Look(NamedTuple):
    """A heading, the page's sign for those who don't see colours, its class, and rich's style."""

    heading: str
    sign: str
    kind: str
    style: str


LOOKS = {
    "exceeds gamma": Look("More unfair than allowed", "✕", "exceeds", "bold red"),
    "within gamma": Look("Within what is allowed", "✓", "within", "bold green"),
    "undecided": Look("Not decided", "?", "undecided", "bold yellow"),
}


def look(report: Report) -> Look:
    """Return how the verdict looks, with a reservation where it is one by the letter only.

    That is where the report warns of what was audited, where chance may have made what exceeds
    gamma, or where one attribute alone does. Who stands out from chance is told in any case: then
    more is shown than by the letter, or less.
    """
    plain = LOOKS[report["verdict"]]
    if report["warnings"]:
        return reserved(plain, "with warnings")
    exceeds = report["verdict"] == "exceeds gamma"
    if is_chance(report) and stands_out(report):
        one = f"one group stands out, which is {likely_words(report)}"
        heading = f"{plain.heading}; {one}"
        return plain._replace(heading=heading) if exceeds else reserved(plain, one, "; ")
    if exceeds and is_chance(report):
        return reserved(plain, "which could be chance")
    return reserved(plain, "of what was searched") if exceeds_alone(report) else plain


def reserved(plain: Look, reservation: str, after: str = ", ") -> Look:
    """Return a look with a reservation, which must not be green."""
    undecided = LOOKS["undecided"]
    return Look(f"{plain.heading}{after}{reservation}", "!", undecided.kind, undecided.style)


def warning_sentences(report: Report) -> list[str]:
    """Say why the verdict may say nothing of fairness; they come before it."""
    return [warning["sentence"] for warning in report["warnings"]]


def exceeds_alone(report: Report) -> bool:
    """Return whether a group of one attribute, which was not found, exceeds what is allowed."""
    return bool(report["single_unfairness"] > report["gamma"] >= report["unfairness"])


def verdict_sentences(report: Report, rows: str = "rows") -> list[str]:
    """Say what was shown, who is affected and by how much, and how sure that is.

    Parameters
    ----------
    report : mapping
        `AuditReport.to_dict()`.
    rows : str, default="rows"
        What the audited rows are called, as "training rows".

    Returns
    -------
    list of str
        Sentences that can be read one after the other, or stand as paragraphs.
    """
    worst = report["worst"]
    exceeds = report["verdict"] == "exceeds gamma"
    found = worst is not None or exceeds
    # What may be chance is said to be so before anyone is named.
    chance = [chance_sentence(report)] if found else []
    first, last = (chance, []) if is_chance(report) else ([], chance)
    sharp = standing_out_sentences(report, rows)
    # And who is no chance all the same comes before that, unless it is who leads.
    if leads_too(report):
        last = [*last, *sharp]
    elif is_chance(report) or not exceeds:
        first = [*sharp, *first]
    beside = [] if is_chance(report) else sharp[:1]
    lead = _leading(report, rows)
    others = _others(report, rows)
    people = population_sentences(report)
    if not exceeds:
        shown = _within(report, rows) if report["verdict"] == "within gamma" else _undecided(report)
        return [shown, *first, *lead, *others, *_not_searched(report), *last, *people]
    # It exceeds gamma, and none that may be described does.
    if worst is None or abs(worst["unfairness"]) <= report["gamma"]:
        return [_too_small(report), *first, *lead, *others, *last, *people, *beside]
    sure = [_exceeding(report), *last]
    # All that is known of a sentence that leads is said before the formula that it stands for.
    told = [*sure, *others] if stands_alone(report) else [*others, *sure]
    return [*first, *lead, *told, *people, *_confirmation(report), *beside]


def _within(report: Report, rows: str) -> str:
    """Say what is proven, and of which rows.

    The largest unfairness, where that is known exactly, is one number and shown as one; a bound is
    rounded up, so that it stays true.
    """
    gamma = report["gamma"]
    treated = " and is treated worse" if report["side"] == "disadvantaged" else ""
    if report["exact"]:
        proven = (
            f"the largest unfairness of any subgroup that was searched{treated} is "
            f"{_amount(report['unfairness'], report)}"
        )
    else:
        proven = (
            f"no subgroup that was searched{treated} has an unfairness above "
            f"{in_unit(bound(report['upper_bound'], gamma), report)}"
        )
    return f"Proven: on these {count(report['n_rows'])} {rows} {proven}; {_allowed(report)}."


def _undecided(report: Report) -> str:
    """Say what was found and what is not ruled out, on either side of gamma."""
    gamma = report["gamma"]
    return (
        f"The largest unfairness found is {_amount(report['unfairness'], report)}; "
        f"{_allowed(report)}. But the search can miss a larger one: up to "
        f"{in_unit(bound(report['upper_bound'], gamma), report)} is not ruled out."
    )


def _withheld_as(report: Report) -> str:
    """Say why a group is not described: its size, values of few rows, or the reference's group."""
    rare = " or told by values too rare" if report["rare_values"] else ""
    like = " or too like the group of the reference" if has_group(report) else ""
    return f"too small{rare}{like} to be described"


def _too_small(report: Report) -> str:
    """Say that a group exceeds gamma that may not be described."""
    return (
        f"A subgroup that is {_withheld_as(report)} has an unfairness of "
        f"{_amount(report['unfairness'], report)}; {_allowed(report)}."
    )


def _amount(value: float, report: Report) -> str:
    """Return an unfairness on its side of gamma, with the unit that it has of numbers."""
    return in_unit(unfairness(value, report["gamma"]), report)


def _allowed(report: Report) -> str:
    return f"{in_unit(format(report['gamma'], 'g'), report)} is allowed"


def _lead_sentences(report: Report, rows: str) -> list[str]:
    """Say who is treated worst and best, or who differs most; a long rule is left for below."""
    which = " of those that may be described" if report["withheld"] else ""
    sentences = []
    for one, place in zip(leads(report), ("first", "second"), strict=False):
        lead = one
        who = f"{subject(one)}{which} is {_named(one)}"
        if is_rest(one, report):
            if not tells_rest(report):
                continue
            who = "Everyone else together"
        elif place == "first" and says_most(report):
            lead = report["in_a_sentence"]["subgroup"]
            among = which if is_the_same(report) else among_words(report)
            who = f"{subject(one)}{among} is {lead['subgroup']}"
        sentences.append(
            f"{who}, {count(lead['size'])} of {count(report['n_rows'])} {rows}: "
            f"{rate_sentence(lead)}."
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
    if is_formula(one) and who_is_in(one):
        return f"a group with {who_is_in(one)}"
    if is_formula(one):
        return "one that takes a formula, below"
    return "one that takes many words, below" if is_long(one) else str(one["subgroup"])


def _worst_of_all(report: Report) -> list[str]:
    """Say who is the worst of all that was searched, where a group in a sentence leads for it."""
    if not stands_alone(report):
        return []
    first = leads(report)[0]
    part = percent(report["in_a_sentence"]["subgroup"]["unfairness"] / first["unfairness"])
    return [
        f"For experts: {stands_for(report)} is {_named(first)}, {count(first['size'])} "
        f"rows: {rate_sentence(first)}; its unfairness is {_amount(first['unfairness'], report)}, "
        f"and {_not_ruled_out(report)}. The group above has {part} as much."
    ]


def _leading(report: Report, rows: str) -> list[str]:
    """Say who has the largest unfairness, in how many cases that shows, and where most lies."""
    first = largest(report)
    if first is None:
        return []
    worst = report["worst"]
    exceeds = worst is not None and abs(worst["unfairness"]) > report["gamma"]
    cases = cases_sentence(first, report) if exceeds else None
    sentence = _lead_sentences(report, rows)[0]
    told = [cases, shared_sentence(first, report)]
    return [sentence, *filter(None, told), *core_sentences(first, report)]


def _others(report: Report, rows: str) -> list[str]:
    """Say by what they lead who do, who else can be said in a sentence, and who is beside them."""
    first = largest(report)
    if first is None:
        return []
    return [
        counts_sentence(first["treated"], average(report)),
        *said_sentences(report),
        *_lead_sentences(report, rows)[1:],
        *_worst_of_all(report),
    ]


def _not_ruled_out(report: Report) -> str:
    """Say whether a subgroup that has more is ruled out, or is not described."""
    if report["withheld"]:
        return f"a group that is {_withheld_as(report)} has {_amount(report['unfairness'], report)}"
    if report["exact"]:
        return "no subgroup that was searched has more"
    limit = in_unit(bound(report["upper_bound"], report["gamma"]), report)
    return f"more, up to {limit}, is not ruled out"


def _exceeding(report: Report) -> str:
    """Say by how much the worst subgroup exceeds what is allowed, and whether it is the worst.

    Of two that lead, the one of the larger unfairness may be the favoured one.
    """
    worst = report["worst"]
    first = leads(report)[0]
    value = _amount(worst["unfairness"], report)
    own = _amount(first["unfairness"], report)
    if stands_alone(report):
        said = _amount(report["in_a_sentence"]["subgroup"]["unfairness"], report)
        favoured = "" if first == worst else f"; the most favoured group has {value}"
        return f"This group has an unfairness of {said}, and {_allowed(report)}{favoured}."
    if len(leads(report)) == 1:
        several = report["in_a_sentence"] is not None and not says_most(report)
        who = subject(first) if several else "This group"
        value = f"{who} has an unfairness of {value}"
    elif first == worst:
        value = f"The unfairness of the one treated worst is {value}"
    else:
        value = f"The unfairness of the one treated worst is {own}, of the most favoured {value}"
    return f"{value}, and {_allowed(report)}; {_not_ruled_out(report)}."


def _not_searched(report: Report) -> list[str]:
    """Warn where a single attribute shows more than is allowed, and the search nothing."""
    if not exceeds_alone(report):
        return []
    return [
        "But one attribute at a time, each value and each interval, the largest unfairness is "
        f"{_amount(report['single_unfairness'], report)}, more than is allowed: "
        f"{why_not_found(report)}."
    ]


def why_not_found(report: Report) -> str:
    """Say why the search did not find a group of one attribute that is worse than all it found."""
    # Above what is proven of the class: the group can't be of the class.
    if report["single_unfairness"] > report["upper_bound"]:
        return "that group is none of those that were searched"
    return "the search missed that group, or it is none of those that were searched"


def _confirmation(report: Report) -> list[str]:
    """Say whether rows that were not searched confirm the worst subgroup; nothing if they can't."""
    held_out = report["held_out"]
    gamma = report["gamma"]
    if held_out is None or held_out["same_rows"]:
        return []
    if held_out["subgroup"] is None or not held_out["unfairness_interval"]:
        return []
    low, high = held_out["unfairness_interval"]
    # In the direction in which the group was found to differ.
    least, most = (low, high) if report["worst"]["unfairness"] > 0 else (-high, -low)
    # The interval beside 0 and gamma says one of four things.
    if least > gamma:
        verdict = "confirm it"
    elif least <= 0:
        verdict = "do not confirm it"
    elif most <= gamma:
        verdict = "confirm that this group differs, but by no more than is allowed"
    else:
        verdict = "confirm that this group differs, not that it does by more than is allowed"
    there, *ends = (
        in_unit(signed_unfairness(value, gamma), report)
        for value in (held_out["subgroup"]["unfairness"], low, high)
    )
    return [
        f"The {held_out_rows(held_out)} {verdict}: there the unfairness of "
        f"{whose_words(report)} is {there}, between {' and '.join(ends)} with "
        f"{percent(held_out['level'])} confidence."
    ]
