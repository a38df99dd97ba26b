"""Word the verdict of an audit: its heading, its sentences, its sign and colour."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend.reporting.audit.chance import chance_sentence, tells_own_chance
from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.findings import (
    allowed_words,
    amount,
    cautions,
    exceeding_beside,
    exceeding_sentences,
    formula_sentences,
    inner_sentences,
    leading_sentences,
    other_sentences,
    withheld_as,
)
from gerrymend.reporting.audit.other_rows import confirmation, reversed_words
from gerrymend.reporting.audit.permutations import too_few
from gerrymend.reporting.audit.population import population_sentences
from gerrymend.reporting.audit.standing_out import (
    leads_too,
    standing_out_sentences,
    standing_out_words,
    stands_out,
)
from gerrymend.reporting.audit.who_leads import (
    is_chance,
    may_be_chance,
    own_p_value,
    sharpest_leads,
)
from gerrymend.reporting.wording import bound, count

Report = Mapping[str, Any]

# What is this part of gamma or more is said to be close to it.
_CLOSE = 0.9


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
    gamma, tested or not, or where one attribute alone does. Who stands out from chance though
    nothing exceeds gamma is in the same sentence, with what to do: green would end the reading.
    So is that rows that were not searched show the opposite.
    """
    shown = _look(report)
    return shown._replace(heading="; ".join([shown.heading, *reversed_words(report)]))


def _look(report: Report) -> Look:
    """Return how the verdict on the rows that were searched looks."""
    plain = LOOKS[report["verdict"]]
    if cautions(report):
        plain = plain._replace(heading=f"{plain.heading} on these rows")
    if report["warnings"]:
        return reserved(plain, "with warnings")
    exceeds = report["verdict"] == "exceeds gamma"
    if exceeds and too_few(report) and not stands_out(report):
        return reserved(plain, "but too few shuffles were made to rule out chance")
    if exceeds and may_be_chance(report):
        if not stands_out(report):
            return reserved(plain, "which could be chance")
        one = f"which could be chance, but {standing_out_words(report)}: look at it first"
        return plain._replace(heading=f"{plain.heading}, {one}")
    if stands_out(report) and not exceeds:
        next_step = "look at it before signing off"
        return reserved(plain, f"but {standing_out_words(report)}: {next_step}")
    return reserved(plain, "of what was searched") if exceeds_alone(report) else plain


def reserved(plain: Look, reservation: str) -> Look:
    """Return a look with a reservation, which must not be green."""
    undecided = LOOKS["undecided"]
    return Look(f"{plain.heading}, {reservation}", "!", undecided.kind, undecided.style)


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
    # What may be chance, or was not tested, is said to be so before anyone is named.
    cautious = cautions(report)
    untested = exceeds and own_p_value(report) is None
    chance = [chance_sentence(report)] if (worst or exceeds) and not untested else []
    before = is_chance(report) or own_p_value(report) is None
    first, last = (chance, []) if before else ([], chance)
    sharp = standing_out_sentences(report, rows)
    beside = []
    if tells_own_chance(report) and not exceeding_beside(report):
        last = []
    # And who is no chance all the same comes before that, unless it is who leads.
    if leads_too(report):
        last = [*last, *sharp]
    elif is_chance(report) or sharpest_leads(report) or not exceeds:
        first = [*sharp, *first]
    else:
        beside = sharp[:1]
    lead = leading_sentences(report, rows)
    core = inner_sentences(report)
    others = other_sentences(report, rows)
    people = population_sentences(report)
    if not exceeds:
        shown = _within(report, rows) if report["verdict"] == "within gamma" else _undecided(report)
        elsewhere = confirmation(report) if stands_out(report) else []
        more = [*_not_searched(report), *last, *elsewhere, *people]
        return [shown, *first, *lead, *core, *others, *more]
    # It exceeds gamma, and none that may be described does.
    if worst is None or abs(worst["unfairness"]) <= report["gamma"]:
        found = [_too_small(report), *first, *lead, *last, *core, *beside, *others]
        return [*cautious, *found, *people]
    exceeding = exceeding_sentences(report)
    experts = formula_sentences(report)
    found = [*first, *lead, *exceeding, *last, *core, *beside, *others, *experts]
    known = [one for one in (*people, *confirmation(report)) if one not in cautious]
    return [*cautious, *found, *known]


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
            f"{amount(report['unfairness'], report)}"
        )
    else:
        proven = (
            f"no subgroup that was searched{treated} has an unfairness above "
            f"{in_unit(bound(report['upper_bound'], gamma), report)}"
        )
    # So close to it that the next rows may exceed it.
    near = ", and that is close" if _CLOSE * gamma <= report["upper_bound"] < gamma else ""
    allowed = f"{allowed_words(report)}{near}"
    return f"Proven: on these {count(report['n_rows'])} {rows} {proven}; {allowed}."


def _undecided(report: Report) -> str:
    """Say what was found and what is not ruled out, on either side of gamma."""
    gamma = report["gamma"]
    return (
        f"The largest unfairness found is {amount(report['unfairness'], report)}; "
        f"{allowed_words(report)}. But the search can miss a larger one: up to "
        f"{in_unit(bound(report['upper_bound'], gamma), report)} is not ruled out."
    )


def _too_small(report: Report) -> str:
    """Say that a group exceeds gamma that may not be described."""
    return (
        f"A subgroup that is {withheld_as(report)} has an unfairness of "
        f"{amount(report['unfairness'], report)}; {allowed_words(report)}."
    )


def _not_searched(report: Report) -> list[str]:
    """Warn where a single attribute shows more than is allowed, and the search nothing."""
    if not exceeds_alone(report):
        return []
    return [
        "But one attribute at a time, each value and each interval, the largest unfairness is "
        f"{amount(report['single_unfairness'], report)}, more than is allowed: "
        f"{why_not_found(report)}."
    ]


def why_not_found(report: Report) -> str:
    """Say why the search did not find a group of one attribute that is worse than all it found."""
    # Above what is proven of the class: the group can't be of the class.
    if report["single_unfairness"] > report["upper_bound"]:
        return "that group is none of those that were searched"
    return "the search missed that group, or it is none of those that were searched"
