"""Word what rows that were not searched, or all people behind the rows, say of the groups told."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.formulas import is_sentence
from gerrymend.reporting.audit.subgroup_words import rate_sentence
from gerrymend.reporting.audit.who_leads import (
    as_object,
    headline,
    is_chance,
    is_for_experts,
    is_named,
    is_part,
    is_rest,
    is_the_same,
    leads,
    sharpest,
    stands_alone,
    stands_for,
)
from gerrymend.reporting.wording import (
    at_least,
    bound,
    capitalised,
    count,
    percent,
    signed_unfairness,
)

Report = Mapping[str, Any]
Subgroup = Mapping[str, Any]


class Outcome(Enum):
    """What the interval of a group's unfairness says elsewhere; the words name the group."""

    EXCEEDS = "confirm that {} differs by more than is allowed"
    WITHIN = "confirm that {} differs, but by no more than is allowed"
    DIFFERS = "confirm that {} differs, not that it does by more than is allowed"
    OPPOSITE = "show the opposite of {}"
    NOTHING = "show no such difference of {}"
    SAME_SIDE = "show the same direction for {}, and are too few to tell"
    UNCLEAR = "do not show it of {}, and are too few to rule it out"


_CONFIRMING = (Outcome.EXCEEDS, Outcome.WITHIN, Outcome.DIFFERS)


def held_out_rows(held_out: Mapping[str, Any]) -> str:
    """Return what rows that were held out are: others, or the searched ones once more."""
    rows = count(held_out["n_rows"])
    if held_out["same_rows"]:
        return f"{rows} rows of the second sample, which are those that were searched,"
    return f"{rows} rows that were not searched"


def measured_there(group: Subgroup, report: Report) -> Mapping[str, Any] | None:
    """Return how a group is measured on rows that were not searched; None where it is not."""
    held_out = report["held_out"]
    if held_out is None or held_out["same_rows"]:
        return None
    every = (held_out, *held_out.get("others", ()))
    return next(
        (one for one in every if one["subgroup"] and is_named(one["subgroup"], group)), None
    )


def _to_confirm(report: Report) -> Iterator[Subgroup]:
    """Yield who leads, who stands out and the others that the text tells of, each once."""
    said = report["in_a_sentence"]
    told = [headline(report), None if is_part(report) else sharpest(report)]
    told.append(said and said["subgroup"])
    # A formula for the same rows is no other group, and nor are all others.
    told += leads(report)[is_the_same(report) :]
    known: list[Subgroup] = []
    for one in told:
        if one is None or is_rest(one, report) or any(is_named(one, other) for other in known):
            continue
        known.append(one)
        yield one


def _measured(report: Report) -> Iterator[tuple[Subgroup, Mapping[str, Any], Outcome]]:
    """Yield each group that was measured with an interval, how it is there, and what that says."""
    for one in _to_confirm(report):
        there = measured_there(one, report)
        if there is not None and there["unfairness_interval"]:
            yield one, there, _outcome(one, there, report["gamma"])


def _outcome(found: Subgroup, there: Mapping[str, Any], gamma: float) -> Outcome:
    """Return what the interval on other rows says, beside 0, gamma and what was found."""
    low, high = there["unfairness_interval"]
    # In the direction in which the group was found to differ.
    side = 1 if found["unfairness"] > 0 else -1
    least, most = (low, high) if side > 0 else (-high, -low)
    if least > gamma:
        return Outcome.EXCEEDS
    if least > 0:
        return Outcome.WITHIN if most <= gamma else Outcome.DIFFERS
    if most < 0:
        return Outcome.OPPOSITE
    if most <= min(gamma, abs(found["unfairness"])):
        return Outcome.NOTHING
    return Outcome.SAME_SIDE if side * there["subgroup"]["unfairness"] > 0 else Outcome.UNCLEAR


def are_confirmed(report: Report) -> bool | None:
    """Return whether other rows confirm that one that exceeds gamma differs; None if unknown."""
    gamma = report["gamma"]
    said = [what in _CONFIRMING for one, _, what in _measured(report)
            if abs(one["unfairness"]) > gamma]  # fmt: skip
    return any(said) if said else None


def reversed_words(report: Report) -> list[str]:
    """Say that other rows show the opposite of who leads or stands out, for a heading, if they do.

    Of a group that a heading doesn't speak of, as it is within what is allowed, nothing is said.
    """
    about = [headline(report), next(iter(leads(report)), None)]
    return [
        f"rows that were not searched {what.value.format(name_of(one, report))}"
        for one, _, what in _measured(report)
        if what == Outcome.OPPOSITE
        and (one == sharpest(report) or (one in about and abs(one["unfairness"]) > report["gamma"]))
    ][:1]


def confirmation(report: Report) -> list[str]:
    """Say what rows that were not searched say of each group that is told; nothing if they can't.

    Each is named by the words that it is told by.
    """
    told: list[str] = []
    said = report["in_a_sentence"]
    for one, there, what in _measured(report):
        # Beside what may be chance the group in a sentence is left to the facts.
        if said and one == said["subgroup"] != headline(report) and is_chance(report):
            continue
        rows = "They" if told else f"The {held_out_rows(report['held_out'])}"
        told.append(
            f"{rows} {what.value.format(name_of(one, report))}: its unfairness there is "
            f"{_unfairness_there(there, report)}."
        )
    return told


def _unfairness_there(there: Mapping[str, Any], report: Report) -> str:
    """Return an unfairness on other rows, with its sign, and between what it is."""
    unit = there["subgroup"].get("unit") or ""
    values = (there["subgroup"]["unfairness"], *(there["unfairness_interval"] or ()))
    own, *ends = (f"{signed_unfairness(one, report['gamma'])} {unit}".rstrip() for one in values)
    if not ends:
        return own
    level = percent(report["held_out"]["level"])
    return f"{own}, between {' and '.join(ends)} with {level} confidence"


def name_of(group: Subgroup, report: Report) -> str:
    """Return the words by which a group is told: what its members share, or its standing."""
    if is_sentence(group):
        return str(group["subgroup"])
    is_first = group == next(iter(leads(report)), None)
    if is_first and (stands_alone(report) or is_for_experts(report)):
        return stands_for(report)
    return as_object(group, report).removesuffix(", perhaps by chance")


def other_rows_sentence(report: Report) -> str:
    """Say where the worst subgroup's unfairness may be for others than these rows.

    By rows that were held out, where there are any; else by the bootstrap, if it was made. A
    report without a described subgroup has no such sentence.
    """
    population = report["population"]
    if report["held_out"] is not None:
        return " ".join(held_out_sentences(report))
    if population is not None and population["distance"] is not None:
        middle = abs(report["worst"]["unfairness"])
        distance = population["distance"]
        low = in_unit(at_least(max(0.0, middle - distance)), report)
        high = in_unit(bound(middle + distance), report)
        return (
            f"Unfairness{_whose(report)} between {low} and {high} for all from whom the rows were "
            "drawn, with "
            f"{'about ' if population['approximate'] else ''}{percent(population['confidence'])} "
            "confidence."
        )
    tell = "rows that are held out of the search would tell"
    if population is not None:  # it was asked for, and there is none
        tell = f"{population['reason']}; {tell}"
    else:
        tell += ", and so would an audit with confidence bounds"
    return (
        "Not known: a subgroup that was chosen as the worst of many looks worse than it is "
        f"elsewhere. {capitalised(tell)}."
    )


def _whose(report: Report) -> str:
    """Return of whom a bootstrap tells, where that is not the group that leads: the worst."""
    if report["worst"] != leads(report)[0]:
        return " of the most favoured group"
    return f" of {stands_for(report)}" if stands_alone(report) else ""


def held_out_sentences(report: Report) -> list[str]:
    """Say how each subgroup that is told fares on rows that were not searched, and name it.

    Where they were searched on the same rows these confirm nothing, and that is said. Unfairness
    has its sign there, as a group may differ the other way than where it was found.
    """
    held_out = report["held_out"]
    rows = held_out_rows(held_out)
    if held_out["same_rows"]:
        return [
            f"On the {rows} nothing can be confirmed: what was found worst there looks worse than "
            "it is. Other rows tell (holdout, test_size; --holdout, --test-size)."
        ]
    groups = [*_to_confirm(report)]
    if not groups:
        return [f"On {rows} there is no subgroup to measure."]
    told: list[str] = []
    first = headline(report), sharpest(report)
    for one in groups:
        there = measured_there(one, report)
        where = "There" if told else f"On {rows}"
        who = f"{where}, {name_of(one, report)}"
        if there is not None:
            treated = rate_sentence(there["subgroup"])
            told.append(f"{who}: {treated}, unfairness {_unfairness_there(there, report)}.")
        elif one in first:
            told.append(f"{who} has too few rows that count to be described.")
    return told
