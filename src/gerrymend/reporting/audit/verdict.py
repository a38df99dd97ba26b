"""Word the verdict of an audit: its heading, its sentences, its sign and colour."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend.reporting.audit.chance import chance_sentence
from gerrymend.reporting.audit.subgroup_words import (
    cases_sentence,
    is_formula,
    is_long,
    rate_sentence,
)
from gerrymend.reporting.wording import bound, count, percent, signed_unfairness, unfairness

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

    That is where the report warns of what was audited, or one attribute alone exceeds gamma.
    """
    plain = LOOKS[report["verdict"]]
    if report["warnings"]:
        return reserved(plain, "with warnings")
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
    return bool(report["marginal_unfairness"] > report["gamma"] >= report["unfairness"])


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
    verdict = report["verdict"]
    worst = report["worst"]
    described = [_worst_sentence(report, rows)] if worst else []
    if verdict == "within gamma":
        return [_within(report, rows), *described, *_not_searched(report)]
    if verdict == "undecided":
        return [_undecided(report), *described, *_not_searched(report)]
    # It exceeds gamma, and none that may be described does.
    if worst is None or abs(worst["unfairness"]) <= report["gamma"]:
        return [_too_small(report), *described, chance_sentence(report)]
    return [*described, *_exceeding(report), chance_sentence(report), *_confirmation(report)]


def _within(report: Report, rows: str) -> str:
    """Say what is proven, and of which rows."""
    limit = bound(report["upper_bound"], report["gamma"])
    return (
        f"Proven: on these {count(report['n_rows'])} {rows} no subgroup that was searched has an "
        f"unfairness above {limit}; {report['gamma']:g} is allowed."
    )


def _undecided(report: Report) -> str:
    """Say what was found and what is not ruled out, on either side of gamma."""
    gamma = report["gamma"]
    return (
        f"The worst subgroup found has an unfairness of {unfairness(report['unfairness'], gamma)}; "
        f"{gamma:g} is allowed. But the search can miss a worse one: up to "
        f"{bound(report['upper_bound'], gamma)} is not ruled out."
    )


def _too_small(report: Report) -> str:
    """Say that a group exceeds gamma that may not be described."""
    gamma = report["gamma"]
    return (
        "A subgroup that is too small to be described has an unfairness of "
        f"{unfairness(report['unfairness'], gamma)}; {gamma:g} is allowed."
    )


def _worst_sentence(report: Report, rows: str) -> str:
    """Say who the worst subgroup is and how it fares; a long rule is left for below."""
    worst = report["worst"]
    which = "that may be described" if report["withheld"] else "found"
    who = "the first one below" if is_formula(worst) or is_long(worst) else worst["subgroup"]
    return (
        f"The worst subgroup {which} is {who}, {count(worst['size'])} of "
        f"{count(report['n_rows'])} {rows}: {rate_sentence(worst)}."
    )


def _exceeding(report: Report) -> list[str]:
    """Say by how much the worst subgroup exceeds what is allowed, and whether it is the worst."""
    worst = report["worst"]
    gamma = report["gamma"]
    if report["withheld"]:
        beside = f"a group that is too small to be described has {unfairness(report['unfairness'])}"
    elif report["exact"]:
        beside = "no subgroup that was searched is worse"
    else:
        beside = f"a worse one, up to {bound(report['upper_bound'])}, is not ruled out"
    value = f"Its unfairness is {unfairness(worst['unfairness'], gamma)}, and {gamma:g} is allowed"
    return [*filter(None, [cases_sentence(worst, report)]), f"{value}; {beside}."]


def _not_searched(report: Report) -> list[str]:
    """Warn where a single attribute shows more than is allowed, and the search nothing."""
    if not exceeds_alone(report):
        return []
    return [
        "But one attribute at a time the largest unfairness is "
        f"{unfairness(report['marginal_unfairness'], report['gamma'])}, more than is allowed: "
        f"{why_not_found(report)}."
    ]


def why_not_found(report: Report) -> str:
    """Say why the search did not find a group of one attribute that is worse than all it found."""
    # Above what is proven of the class: the group can't be of the class.
    if report["marginal_unfairness"] > report["upper_bound"]:
        return "that group is none of those that were searched"
    return "the search missed that group, or it is none of those that were searched"


def _confirmation(report: Report) -> list[str]:
    """Say whether rows that were not searched confirm the worst subgroup; nothing if they can't."""
    held_out = report["held_out"]
    gamma = report["gamma"]
    if held_out is None or held_out["subgroup"] is None or not held_out["unfairness_interval"]:
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
    there = signed_unfairness(held_out["subgroup"]["unfairness"], gamma)
    between = " and ".join(signed_unfairness(end, gamma) for end in (low, high))
    return [
        f"The {count(held_out['n_rows'])} rows that were not searched {verdict}: there the group's "
        f"unfairness is {there}, between {between} with {percent(held_out['level'])} confidence."
    ]
