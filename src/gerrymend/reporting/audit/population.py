"""Word what the rows tell of the people that they were drawn from."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.wording import at_least, bound, count, percent

Report = Mapping[str, Any]

_PEOPLE = "the people that the rows were drawn from"


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
        f"For {_PEOPLE} these rows can't tell, over all subgroups at once, on which side of "
        f"{allowed} it is: {sure} the largest unfairness there is between {low} and {high}. "
        f"{_needed(report, population)}"
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
