"""Check of a report's statements about chance: its p-value, and what goes with it.

A p-value can't be recomputed without drawing the permutations again, so it is only checked to be a
possible one: (k + 1) / (permutations + 1) for a whole k, and consistent with the figures beside it.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import floor
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import TOLERANCE
from gerrymend.checker.scores import of_scores

# The level that `detectable` is for.
LEVEL = Fraction(5, 100)
# Classes that are searched in full; so are trees of up to two levels.
_EXACT = ("Conjunctions", "ValueSets", "Marginals", "ExplicitGroups")


def check_permutations(case: Case) -> None:
    """Check that the permutation test is possible, and note that no permutation was drawn again."""
    if case.stated["p_value"] is None:
        case.problem(*_wrong_absence(case.stated))
        case.leave("no_p_value", "that no p-value was asked for, or the reason why there is none")
        return
    problems = list(_wrong_test(case))
    case.problem(*problems)
    possible = (
        "the p-value can be one of so many permutations, and is at most 5 % where the figures "
        "beside it make it so; "
    )
    case.leave(
        "null p_value n_permutations permutations_asked detectable searched_unfairness",
        f"{'' if problems else possible}the permutations were not made again",
    )


def _wrong_absence(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each figure of a permutation test that is stated without a p-value."""
    if "null" in stated:
        yield "null is stated, and there is no p-value."
    if "permutations_asked" in stated:
        yield "permutations_asked is stated, and there is no p-value."
    absent = {"n_permutations": 0, "detectable": None, "searched_unfairness": None}
    for name, nothing in absent.items():
        if stated[name] != nothing:
            yield f"{name} is stated as {stated[name]!r}, and there is no p-value."


def _wrong_test(case: Case) -> Iterator[str]:
    """Yield what can't be true of a p-value of so many permutations, and of what goes with it."""
    stated = case.stated
    draws = stated["n_permutations"]
    if stated["no_p_value"] is not None:
        yield "no_p_value states why there is no p-value, and there is one."
    if draws < 1:
        yield f"p_value is stated as {stated['p_value']!r}, of {draws} permutations."
        return
    if stated.get("permutations_asked", draws + 1) <= draws:
        yield f"permutations_asked is stated, and {draws} permutations are as many."
    null = None
    if of_scores(stated):
        null = "symmetric_errors" if stated["labels"] == [None, None] else "right_scores"
    if stated.get("null") != null:
        yield f"null is stated as {stated.get('null')!r}, and what is tested is {null!r}."
    yield from wrong_p_value("p_value", stated["p_value"], stated)
    yield from _wrong_level(_families(stated), case)


def wrong_p_value(name: str, value: float, stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what can't be true of a p-value of so many permutations, of this name.

    It is (k + 1) / (permutations + 1), where k permutations have as much as what was found: never
    0, and one of finitely many values. With two families of notions the smaller of two p-values is
    doubled (Bonferroni).
    """
    p = exact(value)
    draws = stated["n_permutations"]
    families = _families(stated)
    reached = p * (draws + 1) / families - 1
    whole = round(reached)
    if p != 1 and (abs(reached - whole) > TOLERANCE * (draws + 1) or not 0 <= whole <= draws):
        yield (
            f"{name} is stated as {value!r}, which is {families} · (k + 1) / ({draws} + 1) for no "
            "whole number k."
        )
    if not 0 < p <= 1:
        yield f"{name} is stated as {value!r}, and is above 0 and at most 1."


def _families(stated: Mapping[str, Any]) -> int:
    """Return how many tests a p-value is over.

    Notions over all rows and over those of one label are two, and so are those of each class and
    the mean of each kind of numbers.
    """
    return len(
        {
            (
                all(notion["event"]),
                notion["class"],
                None if notion["unit"] is None else notion["name"],
            )
            for notion in stated["notions"]
        }
    )


def _wrong_level(families: int, case: Case) -> Iterator[str]:
    """Yield what is wrong with `detectable` and `searched_unfairness`, given the p-value.

    `detectable` is the smallest unfairness that would have been significant at 5 %; it exists only
    where the level leaves at least one permutation in the tail.
    """
    stated = case.stated
    found = stated["searched_unfairness"]
    least = stated["detectable"]
    if found is None:
        yield "searched_unfairness is not stated, and there is a p-value."
    elif exact(found) > exact(stated["upper_bound"]) + case.tolerance:
        yield f"searched_unfairness is stated as {found!r}, above upper_bound."
    elif _finds_the_worst(stated) and exact(found) < exact(stated["unfairness"]) - case.tolerance:
        yield (
            f"searched_unfairness is stated as {found!r}, and such a search finds the worst, "
            f"{stated['unfairness']!r}."
        )
    enough = floor(LEVEL / families * (stated["n_permutations"] + 1)) >= 1
    if enough != (least is not None):
        yield (
            f"detectable is stated as {least!r}, and {stated['n_permutations']} permutations are "
            f"{'enough' if enough else 'too few'} for it."
        )
    if least is None or found is None:
        return
    # Unfairness is e·ḡ·(1 − ḡ)·Δ (see `confidence`), so at most 1/4 of the outcomes' span. Errors
    # of scores are compared with 0, and everyone may be off by as much as is possible: 1 of labels.
    span = case.span
    if of_scores(stated):
        span = 4.0 if stated["labels"] != [None, None] else math.inf
    if least > span / 4 + float(case.tolerance):
        yield f"detectable is stated as {least!r}, and no unfairness exceeds {span / 4:g}."
    yield from _wrong_side(exact(stated["p_value"]), exact(found), exact(least), families, case)


def _finds_the_worst(stated: Mapping[str, Any]) -> bool:
    """Return whether the class is one whose search is exact, however often it is repeated."""
    name = stated["class"]["name"]
    two_levels = name == "Trees" and stated["class"]["parameters"].get("max_depth") in (1, 2)
    return stated["exact"] and (two_levels or name in _EXACT)


def _wrong_side(
    p: Fraction, found: Fraction, least: Fraction, families: int, case: Case
) -> Iterator[str]:
    """Yield a sentence if what was found is on the wrong side of what is detectable.

    `least` is the draw that no more draws may reach than 5 % allow: whatever is above it has a
    p-value of at most 5 %, and nothing else has. Of several families each has a line of its own,
    and `least` is the highest of these: what is above it is above its own, and what is below may be
    as well.
    """
    beside = f"searched_unfairness, {float(found)!r}, is"
    if p > LEVEL and found > least + case.rounding:
        yield (
            f"p_value is stated as {float(p)!r}, and {beside} above what is detectable, "
            f"{float(least)!r}: that makes it at most 0.05."
        )
    if p <= LEVEL and families == 1 and found <= least:
        yield (
            f"p_value is stated as {float(p)!r}, and {beside} not above what is detectable, "
            f"{float(least)!r}."
        )
