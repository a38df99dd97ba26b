"""Word the tests of rates that are permuted apart: each p-value is of its own rates."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.direction import in_unit
from gerrymend.reporting.audit.who_leads import SMALL, TINY, is_largest, leads, own_p_value
from gerrymend.reporting.wording import count, p_equals, unfairness

Report = Mapping[str, Any]

# So many rates are told beside who leads, and so many in all.
_MOST_BESIDE = 3
_MOST_LISTED = 6


def tested_apart_sentences(report: Report) -> list[str]:
    """Say what the tests of other groups than who leads came to; nothing where there are none.

    The largest unfairness, where another group has it; and of rates that are tested apart, those
    that are no chance where who leads may be.
    """
    first = next(iter(leads(report)), None)
    told = []
    if first is not None and not is_largest(report):
        whose = "a group that is not described" if report["withheld"] else "the most favoured group"
        told.append(f"The largest of all, that of {whose}, has {p_equals(report['p_value'])}.")
    own = own_p_value(report)
    if own is None or own <= SMALL:
        return told
    others = [
        one
        for one in _smallest_first(report)
        if one["p_value"] <= SMALL and (first is None or first["notion"] not in one["notions"])
    ]
    for one in others[:_MOST_BESIDE]:
        sure = "hardly" if one["p_value"] <= TINY else "unlikely to be"
        told.append(
            f"But the largest for {_rates(one['notions'])}, {_found(one, report)}, is {sure} "
            f"chance ({p_equals(one['p_value'])}, tested apart)."
        )
    return told


def families_sentence(report: Report) -> str | None:
    """Say which rates are tested apart, and what came of each; None where all are one test."""
    tests = _smallest_first(report)
    if not tests:
        return None
    told = [
        f"{_rates(one['notions'])}, {_found(one, report)} ({p_equals(one['p_value'])})"
        for one in tests[:_MOST_LISTED]
    ]
    left = len(tests) - len(told)
    told += [f"{count(left)} more with no smaller p-value"] if left else []
    return (
        f"{count(len(tests))} tests were made apart, each p-value multiplied by their number: the "
        f"largest for {'; '.join(told)}."
    )


def _smallest_first(report: Report) -> list[Mapping[str, Any]]:
    """Return the tests of rates that are permuted apart, those of the smallest p-value first."""
    return sorted(report.get("p_values", ()), key=lambda one: one["p_value"])


def _found(test: Mapping[str, Any], report: Report) -> str:
    """Return the largest unfairness that a test found in the rows as they are."""
    return in_unit(unfairness(test["searched_unfairness"], report["gamma"]), report)


def _rates(notions: Sequence[str]) -> str:
    """Return the rates that are tested together, in words.

    >>> _rates(["false_positive_rate", "false_negative_rate"])
    'the false positive rate and the false negative rate'
    """
    return " and ".join(f"the {in_words(name)}" for name in notions)
