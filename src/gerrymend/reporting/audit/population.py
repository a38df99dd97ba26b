"""Word what the rows tell of the people that they were drawn from, and which groups are flagged."""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.wording import at_least, bound, count, p_equals, percent

Report = Mapping[str, Any]

# The mark of a group that is flagged, wherever groups are listed.
FLAG = "◆"
_PEOPLE = "the people that the rows were drawn from"
# Groups that a sentence names; the others are in the tables.
_MOST_NAMED = 4


def population_sentences(report: Report) -> list[str]:
    """Say on which side of gamma the people are, beside the rows; nothing if that was not asked."""
    population = report["population"]
    if population is None:
        return []
    gamma = report["gamma"]
    if population["distance"] is None:
        return [f"What holds for {_PEOPLE} can't be told: {population['reason']}."]
    sure = f"with {_confidence(population)} confidence"
    worse = " that is treated worse" if report["side"] == "disadvantaged" else ""
    low = in_unit(at_least(population["lower_bound"], gamma), report)
    high = in_unit(bound(population["upper_bound"], gamma), report)
    if population["verdict"] == "within gamma":
        return [
            f"It is within what is allowed for {_PEOPLE} as well: {sure} no subgroup that was "
            f"searched{worse} exceeds {high} there."
        ]
    if population["verdict"] == "exceeds gamma":
        return [
            f"It is more than is allowed for {_PEOPLE} as well: {sure} a subgroup{worse} exceeds "
            f"{low} there."
        ]
    allowed = in_unit(f"{gamma:g}", report)
    return [
        f"For {_PEOPLE} it can't be told on which side of {allowed} it is: {sure} the largest "
        f"unfairness there is between {low} and {high}. {_needed(report, population)}"
    ]


def _confidence(population: Mapping[str, Any]) -> str:
    about = "about " if population["approximate"] else ""
    return f"{about}{percent(population['confidence'])}"


def _needed(report: Report, population: Mapping[str, Any]) -> str:
    """Say how many rows would tell, where some number of them would."""
    if population["rows_needed"] is not None:
        return f"At least about {_about(population['rows_needed'])} rows like these would tell."
    if report["verdict"] == "undecided":
        return "More rows alone would not tell: it is not decided on these either."
    return "More rows like these may never tell, as what was found is exactly what is allowed."


def _about(number: int) -> str:
    """Return a number rounded up to two digits: an estimate has no more.

    >>> _about(6_341), _about(12_000), _about(7)
    ('6,400', '12,000', '7')
    """
    unit = 10 ** max(0, len(str(number)) - 2)
    return count(-(-number // unit) * unit)


def population_means(report: Report) -> list[str]:
    """Say where the confidence comes from, and what it rests on; nothing if there is none."""
    population = report["population"]
    if population is None or population["distance"] is None:
        return []
    found = "was found" if population["approximate"] else "was"
    distance = in_unit(bound(population["distance"]), report)
    means = (
        f"The confidence is a bootstrap's: as many rows were drawn from the rows, with "
        f"replacement, {count(population['n_resamples'])} times, and in {_confidence(population)} "
        f"of these no subgroup {found} more than {distance} from its "
        "unfairness on the rows. That is right for rows drawn independently of each other, and "
        "the more exact the more rows there are."
    )
    if not population["approximate"]:
        return [means]
    return [f"{means} It is approximate: the search of a resample can miss what is farthest."]


def discovery_sentence(report: Report) -> str | None:
    """Say which of the groups that are listed are flagged; None if that was not asked."""
    discovery = report["discovery"]
    if discovery is None:
        return None
    tested = f"{count(discovery['tested'])} groups that were tested"
    if untold := discovery["tested"] - len(_tested(report)):
        tested += f" {count(untold)} may not be shown, flagged or not; of the others"
    if not discovery["flagged"]:
        return f"Of the {tested} none is flagged {_rate(discovery)}."
    groups = _flagged(report)
    several = len(report["notions"]) > 1
    named = []
    for group in groups:
        rate = f"{in_words(group['notion'])}, " if several else ""
        named.append(f"{group['group']} ({rate}{p_equals(group['p_value'])})")
    more = len(named) - _MOST_NAMED
    told = "; ".join(named[:_MOST_NAMED]) + (f"; and {count(more)} more" if more > 0 else "")
    are = "is" if discovery["flagged"] == 1 else "are"
    return (
        f"Of the {tested} {count(discovery['flagged'])} {are} flagged {_rate(discovery)}: {told}."
    )


def flag_legend(report: Report) -> str:
    """Return what the mark means; an empty text if no groups were to be flagged."""
    if report["discovery"] is None:
        return ""
    return (
        f"{FLAG} differs from all others {_rate(report['discovery'])}: of the groups with this "
        "mark that part, at most, is expected not to differ. Each group was tested on its own."
    )


def flag_of(group: Mapping[str, Any]) -> str:
    """Return the mark of a group that is flagged, and an empty text for others."""
    return FLAG if group["flagged"] else ""


def _rate(discovery: Mapping[str, Any]) -> str:
    return f"at a false discovery rate of {percent(discovery['rate'])}"


def _tested(report: Report) -> list[Mapping[str, Any]]:
    """Return the groups that were tested and are shown, each once."""
    own = [] if report["class"]["name"] == "Marginals" else report["intervals"]
    return [*own, *report["marginals"], *report["intersections"]]


def _flagged(report: Report) -> list[Mapping[str, Any]]:
    """Return the groups that are flagged, the smallest p-value first."""
    return sorted((g for g in _tested(report) if g["flagged"]), key=lambda one: one["p_value"])
