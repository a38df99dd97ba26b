"""Say what was audited, and how: the facts at the end of a report."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.class_words import class_list, rate_names
from gerrymend.reporting.audit.direction import in_unit, labelled, of_numbers
from gerrymend.reporting.audit.score_words import draws_of, of_scores
from gerrymend.reporting.audit.strata import strata_facts
from gerrymend.reporting.audit.words import allowed_words, missing_sentence
from gerrymend.reporting.wording import (
    capitalised,
    count,
    decision_words,
    event_noun,
    label_words,
    percent,
)

Report = Mapping[str, Any]
Facts = list[tuple[str, str]]


def date_words(iso: str) -> str:
    """Return a date as it is read.

    >>> date_words("2025-01-31T09:05:00+00:00")
    '31 January 2025, 09:05 UTC'
    """
    date = datetime.fromisoformat(iso)
    return f"{date.day} {date:%B %Y, %H:%M} UTC"


def _rate_words(notion: Mapping[str, Any], report: Report) -> str:
    """Return the name of a rate, and the rows that it is over."""
    noun = event_noun(report["notions"], notion["name"])
    over = "all rows" if noun == "rows" else noun
    return f"{in_words(notion['name'])} (over {over})"


def _smallest(report: Report) -> str:
    """Return the floor of small groups, in the rows that it is about."""
    noun = event_noun(report["notions"])
    return f"{count(report['min_group_size'])} {noun} inside, and as many outside"


def _label_facts(report: Report) -> Facts:
    """Return which label is which, and who is decided positive."""
    if len(report["labels"]) > 2:
        return [(f"{labelled(report).capitalize()}s", class_list(report))]
    negative, positive = label_words(report)
    _, granted = decision_words(report)
    return [
        (
            f"{labelled(report).capitalize()}s",
            f"{negative} is negative, {positive} is positive",
        ),
        ("Decided positive", granted),
    ]


def _score_facts(report: Report) -> Facts:
    """Return what scores are of, and where they are cut."""
    of_labels = report["labels"] != [None, None]
    what = f"the probability of {label_words(report)[1]}" if of_labels else "a predicted number"
    facts = [("Scores", what)]
    for one in report["notions"]:
        if one.get("cuts"):
            facts.append(
                (f"{one['score']} is cut at", ", ".join(f"{cut:g}" for cut in one["cuts"]))
            )
    return facts


def _asked_for(report: Report) -> Facts:
    """Return what was asked for beside the audit: what holds for the people, and flags."""
    facts = []
    population = report["population"]
    if population is not None:
        sure = f"{percent(population['confidence'])} confidence"
        resamples = f"{count(population['n_resamples'])} resamples"
        facts.append(("For the people behind the rows", f"{sure}, {resamples}"))
    discovery = report["discovery"]
    if discovery is not None:
        rate = f"false discovery rate {percent(discovery['rate'])}"
        facts.append(("Flags", f"{rate}, {count(discovery['tested'])} groups tested"))
    return facts


def how_facts(report: Report) -> Facts:
    """Return what was audited, and how."""
    rates = [_rate_words(notion, report) for notion in report["notions"]]
    if len(report["labels"]) > 2:
        rates = rate_names(report["notions"])
    facts = [
        ("Rows", count(report["n_rows"]) + (", weighted" if report["weighted"] else "")),
        *(_score_facts(report) if of_scores(report) else []),
        *([] if of_numbers(report) or of_scores(report) else _label_facts(report)),
        ("Protected columns", ", ".join(report["attributes"])),
        ("Missing values", missing_sentence(report) or "none in protected columns"),
        ("Compared", ", ".join(rates)),
        *strata_facts(report),
        ("Subgroups searched", report["covers"]),
        ("Unfairness allowed", allowed_words(report)),
        ("Smallest group described", _smallest(report)),
        (capitalised(draws_of(report, "value").noun), _draws(report)),
        *_asked_for(report),
    ]
    made = report["provenance"]
    if made is None:
        return facts
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return [
        *facts,
        ("Time for the proof", f"{made['budget']:g} s at most"),
        ("Seed", str(made["random_state"])),
        ("Made on", date_words(made["date"])),
        ("Versions", versions),
        ("Fingerprint of the data", made["fingerprint"]),
    ]


def expert_facts(report: Report) -> Facts:
    """Return the figures behind the words, to six digits."""

    def exactly(value: float) -> str:
        return in_unit(f"{value:.6g}", report)

    searched = report["class"]
    # Groups that were named are data, and may be many: the JSON has them.
    settings = ", ".join(
        f"{name}={value!r}"
        for name, value in searched["parameters"].items()
        if isinstance(value, str | int | float | bool | None)
    )
    facts = [
        ("Class", f"{searched['name']}({settings})"),
        ("Found", exactly(report["unfairness"])),
        ("Upper bound over the class", exactly(report["upper_bound"])),
        *(
            (f"Upper bound over {part['covers']}", exactly(part["upper_bound"]))
            for part in report["partial"]
        ),
        ("Largest over single attributes", exactly(report["single_unfairness"])),
        ("Largest over the groups in the table", exactly(report["marginal_unfairness"])),
    ]
    if report["detectable"] is not None:
        facts += [
            (f"95 % line of the {draws_of(report, 'value').noun}", exactly(report["detectable"])),
            ("The same search on the rows as they are", exactly(report["searched_unfairness"])),
        ]
    if report["population"] is not None and report["population"]["distance"] is not None:
        population = report["population"]
        facts.append(
            (
                "Distance of resamples from the rows",
                f"{exactly(population['distance'])} ({percent(population['confidence'])}, "
                f"{count(population['n_resamples'])} resamples"
                f"{', approximate' if population['approximate'] else ''})",
            )
        )
    return facts


def _draws(report: Mapping[str, Any]) -> str:
    """Return how many draws were made, and were asked for where the time was over before."""
    asked = report.get("permutations_asked")
    more = "" if asked is None else f"; {count(asked)} were asked for, and the time was over"
    return f"{count(report['n_permutations'])}{more}"
