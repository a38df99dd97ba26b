"""Say how far permutations can tell: the least p-value that so many of them give."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.wording import count

Report = Mapping[str, Any]


def is_least(p_value: float, report: Report) -> bool:
    """Return whether a p-value is the least that so many permutations can give.

    (1 + draws at or above) / (1 + draws), times the number of families that are tested.
    """
    draws = report["n_permutations"]
    return bool(p_value * (1 + draws) <= families(report) * (1 + 1e-9))


def cut_short_words(report: Report) -> str:
    """Return that the clock cut draws off, which may give another p-value next time; "" if not.

    >>> cut_short_words({"n_permutations": 57, "permutations_asked": 199})
    'by 57 of the 199 draws that were asked for; a longer budget (--budget) makes them all'
    """
    asked = report.get("permutations_asked")
    if asked is None:
        return ""
    made = count(report["n_permutations"])
    return (
        f"by {made} of the {count(asked)} draws that were asked for; a longer budget (--budget) "
        "makes them all"
    )


def no_time_words(report: Report) -> str:
    """Return that there was no time for all draws, and what gives more; "" if all were made.

    >>> no_time_words({})
    ''
    """
    asked = report.get("permutations_asked")
    if asked is None:
        return ""
    return f"{count(asked)} were asked for, and a longer budget (--budget) makes them"


def too_few(report: Report) -> bool:
    """Return whether so few draws were made that none could tell a difference from chance.

    >>> one = {"name": "false_positive_rate", "event": [True, False]}
    >>> [too_few({"notions": [one], "p_value": 0.5, "n_permutations": n}) for n in (1, 18, 19)]
    [True, True, False]
    """
    return report["p_value"] is not None and report["n_permutations"] < enough_draws(report)


def enough_draws(report: Report) -> int:
    """Return how many draws can give a p-value of 5 %, over all that is tested at once."""
    return fewest_draws(families(report))


def fewest_draws(n_families: int = 1) -> int:
    """Return how many draws can give a p-value of 5 %, over so many tests.

    >>> fewest_draws()
    19
    """
    return 20 * n_families - 1


def families(report: Report) -> int:
    """Return how many tests the p-value is over.

    Rates over all rows are tested apart from those over rows of one label; so is each class of more
    than two, and each mean of numbers.
    """

    def family(notion: Mapping[str, Any]) -> tuple[Any, ...]:
        of_numbers = None if notion.get("unit") is None else notion["name"]
        return all(notion["event"]), notion.get("class"), of_numbers

    return len(set(map(family, report["notions"])))
