"""Check of a report's statements about chance: its p-value, and what goes with it.

A p-value can't be recomputed without drawing the permutations again, so it is only checked to be a
possible one: (k + 1) / (permutations + 1) for a whole k, and consistent with the figures beside it.
Where notions are tested apart, that each figure is of the test of its own notion.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple

from gerrymend.checker.case import Case
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import TOLERANCE
from gerrymend.checker.scores import of_scores

# The level that `detectable` is for.
LEVEL = Fraction(5, 100)
# Classes that are searched in full; so are trees of up to two levels.
_EXACT = ("Conjunctions", "ValueSets", "Marginals", "ExplicitGroups")


# Where a report has groups of the class, whose p-values are by the search of it; and others.
_OF_CLASS = ("worst", "disadvantaged", "favoured")
_OF_OTHERS = ("in_a_sentence", "sharpest", "held_out")


class _Test(NamedTuple):
    """A test as a report states it: of which notions, and its three figures."""

    where: str
    notions: list[str]
    p_value: float
    detectable: float | None
    searched_unfairness: float | None


def check_permutations(case: Case) -> None:
    """Check that the permutation test is possible, and note that no permutation was drawn again."""
    if case.stated["p_value"] is None:
        case.problem(*_wrong_absence(case.stated))
        if case.stated["n_permutations"]:
            case.leave("n_permutations permutations_asked", "the permutations were not made again")
        case.leave("no_p_value", "that no p-value was asked for, or the reason why there is none")
        return
    problems = list(_wrong_test(case))
    case.problem(*problems)
    possible = (
        "the p-value can be one of so many permutations, and is at most 5 % where the figures "
        "beside it make it so; "
    )
    case.leave(
        "null p_value n_permutations permutations_asked detectable searched_unfairness p_values "
        "p_values.p_value p_values.detectable p_values.searched_unfairness top.p_value "
        + " ".join(f"{name}.p_value" for name in _OF_CLASS),
        f"{'' if problems else possible}the permutations were not made again",
    )


def _wrong_absence(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each figure of a permutation test that is stated without a p-value.

    Who stands out is tested by permutations that need no search of the class, where there was no
    time for that.
    """
    of_named = stated["sharpest"] is not None and stated["no_p_value"] is not None
    for name in ("null", "p_values", *(() if of_named else ("permutations_asked",))):
        if name in stated:
            yield f"{name} is stated, and there is no p-value."
    if stated.get("permutations_asked", math.inf) <= stated["n_permutations"]:
        yield f"permutations_asked is stated, and {stated['n_permutations']} are as many."
    absent: dict[str, int | None] = {"detectable": None, "searched_unfairness": None}
    if not of_named:
        absent["n_permutations"] = 0
    for name, nothing in absent.items():
        if stated[name] != nothing:
            yield f"{name} is stated as {stated[name]!r}, and there is no p-value."
    for where, _ in _groups_with_p_value(stated):
        yield f"p_value of {where} is stated, and none of the report."


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
    figures = (stated["p_value"], stated["detectable"], stated["searched_unfairness"])
    whole = _Test("the report", [one["name"] for one in stated["notions"]], *figures)
    yield from _wrong_figures(whole, case)
    tests = [
        _Test(f"test {i}", one["notions"], one["p_value"], one["detectable"],
              one["searched_unfairness"])
        for i, one in enumerate(stated.get("p_values", ()), start=1)
    ]  # fmt: skip
    yield from _wrong_tests(whole, tests, case)
    yield from _wrong_groups(tests or [whole], case)


def _wrong_tests(whole: _Test, tests: list[_Test], case: Case) -> Iterator[str]:
    """Yield what is wrong with the tests of notions that are permuted apart.

    The figures of the report are those of the notion with the largest unfairness.
    """
    stated = case.stated
    families = _families(stated)
    if not tests and "p_values" not in stated:  # as in reports of before, and of one test
        return
    if [one.notions for one in tests] != families or len(families) < 2:
        yield (
            f"p_values is stated of {[one.notions for one in tests]!r}, and the notions that are "
            f"tested together are {families!r}."
        )
        return
    for test in tests:
        yield from _wrong_figures(test, case)
    worst = stated["worst"]
    of_largest = tests
    if worst is not None and not stated["withheld"]:
        of_largest = [test for test in tests if worst["notion"] in test.notions]
    if all(test[2:] != whole[2:] for test in of_largest):
        yield (
            "p_value, detectable and searched_unfairness are not those of the test that the "
            "largest unfairness is in."
        )


def _wrong_groups(tests: list[_Test], case: Case) -> Iterator[str]:
    """Yield what is wrong with the p-values of groups, each by the test that its notion is in.

    It is that of the test for a group that has as much as the search found, and no smaller for one
    that has less; of two groups of a test, the one that has less has no smaller one.
    """
    stated = case.stated
    known: list[tuple[_Test, Fraction, Fraction]] = []
    for where, group in _groups_with_p_value(stated):
        own = next((test for test in tests if group["notion"] in test.notions), None)
        if where.split(".")[0] in (*_OF_OTHERS, "core"):
            yield f"p_value of {where} is stated, and it is no group of the class."
        elif own is None or own.searched_unfairness is None:
            continue  # which was noted with the subgroup, or with the test
        else:
            name = f"p_value of {where}"
            yield from wrong_p_value(name, group["p_value"], stated)
            p = exact(group["p_value"])
            value = min(abs(exact(group["unfairness"])), exact(own.searched_unfairness))
            is_all = value >= exact(own.searched_unfairness) - case.rounding / 2
            if p < exact(own.p_value) or (is_all and p != exact(own.p_value)):
                yield f"{name} is stated as {group['p_value']!r}, and its test has {own.p_value!r}."
            if own.detectable is not None and not is_all:
                line = exact(own.detectable)
                yield from _wrong_side(name, p, "its unfairness", value, line, True, case)
            known.append((own, value, p))
    for test, value, p in known:
        for other, less, larger in known:
            if test is other and less < value - case.rounding and larger < p:
                yield "p_value of a group is smaller than that of one with a larger unfairness."


def _groups_with_p_value(stated: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the described groups that state a p-value of their own, by where they are."""
    places: list[tuple[str, Any]] = [(name, stated[name]) for name in (*_OF_CLASS, "core")]
    places += [(f"top.{i}", one) for i, one in enumerate(stated["top"])]
    places += [(f"{name}.subgroup", (stated[name] or {}).get("subgroup")) for name in _OF_OTHERS]
    others = (stated["held_out"] or {}).get("others", ())
    places += [(f"held_out.others.{i}", one["subgroup"]) for i, one in enumerate(others)]
    for where, group in places:
        if group is not None and "p_value" in group:
            yield where, group


def wrong_p_value(name: str, value: float, stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what can't be true of a p-value of so many permutations, of this name.

    It is (k + 1) / (permutations + 1), where k permutations have as much as what was found: never
    0, and one of finitely many values. With two families of notions it is doubled (Bonferroni).
    """
    p = exact(value)
    draws = stated["n_permutations"]
    families = len(_families(stated))
    reached = p * (draws + 1) / families - 1
    whole = round(reached)
    if p != 1 and (abs(reached - whole) > TOLERANCE * (draws + 1) or not 0 <= whole <= draws):
        yield (
            f"{name} is stated as {value!r}, which is {families} · (k + 1) / ({draws} + 1) for no "
            "whole number k."
        )
    if not 0 < p <= 1:
        yield f"{name} is stated as {value!r}, and is above 0 and at most 1."


def are_enough(stated: Mapping[str, Any]) -> bool:
    """Return whether so many permutations can give a p-value of 5 %."""
    return floor(LEVEL / len(_families(stated)) * (stated["n_permutations"] + 1)) >= 1


def _families(stated: Mapping[str, Any]) -> list[list[str]]:
    """Return the notions that are tested together, by name.

    Notions over all rows and over those of one label are two tests, and so are those of each class
    and the mean of each kind of numbers.
    """
    families: dict[tuple[Any, ...], list[str]] = {}
    for notion in stated["notions"]:
        of_numbers = None if notion["unit"] is None else notion["name"]
        key = (all(notion["event"]), notion["class"], of_numbers)
        families.setdefault(key, []).append(notion["name"])
    return list(families.values())


def _wrong_figures(test: _Test, case: Case) -> Iterator[str]:
    """Yield what is wrong with a p-value, and `detectable` and `searched_unfairness` beside it.

    `detectable` is the smallest unfairness that would have been significant at 5 %; it exists only
    where the level leaves at least one permutation in the tail.
    """
    stated = case.stated
    found = test.searched_unfairness
    least = test.detectable
    families = len(_families(stated))
    of_all = test.where == "the report"
    suffix = "" if of_all else f" of {test.where}"
    yield from wrong_p_value(f"p_value{suffix}", test.p_value, stated)
    if found is None:
        yield f"searched_unfairness{suffix} is not stated, and there is a p-value."
    elif exact(found) > exact(stated["upper_bound"]) + case.tolerance:
        yield f"searched_unfairness{suffix} is stated as {found!r}, above upper_bound."
    elif _finds_the_worst(stated):
        yield from _wrong_search(test, suffix, case)
    enough = are_enough(stated)
    if enough != (least is not None):
        yield (
            f"detectable{suffix} is stated as {least!r}, and {stated['n_permutations']} "
            f"permutations are {'enough' if enough else 'too few'} for it."
        )
    if least is None or found is None:
        return
    # Unfairness is e·ḡ·(1 − ḡ)·Δ (see `confidence`), so at most 1/4 of the outcomes' span. Errors
    # of scores are compared with 0, and everyone may be off by as much as is possible: 1 of labels.
    span = case.span
    if of_scores(stated):
        span = 4.0 if stated["labels"] != [None, None] else math.inf
    if least > span / 4 + float(case.tolerance):
        yield f"detectable{suffix} is stated as {least!r}, and no unfairness exceeds {span / 4:g}."
    # Reports of before have the highest of several lines: what is below it may be above its own.
    is_own = families == 1 or "p_values" in stated
    p = exact(test.p_value)
    name = f"p_value{suffix}"
    yield from _wrong_side(name, p, "searched_unfairness", exact(found), exact(least), is_own, case)


def _wrong_search(test: _Test, suffix: str, case: Case) -> Iterator[str]:
    """Yield a sentence if a search that is exact found less than what is described, or told."""
    stated = case.stated
    described = [stated[name] for name in _OF_CLASS] + stated["top"]
    values = [
        abs(exact(one["unfairness"]))
        for one in described
        if one is not None and one["notion"] in test.notions
    ]
    if test.where == "the report":
        values.append(exact(stated["unfairness"]))
    found = test.searched_unfairness
    assert found is not None
    if values and exact(found) < max(values) - case.tolerance:
        yield (
            f"searched_unfairness{suffix} is stated as {found!r}, and such a search finds the "
            f"worst, {float(max(values))!r}."
        )


def _finds_the_worst(stated: Mapping[str, Any]) -> bool:
    """Return whether the class is one whose search is exact, however often it is repeated."""
    name = stated["class"]["name"]
    two_levels = name == "Trees" and stated["class"]["parameters"].get("max_depth") in (1, 2)
    return stated["exact"] and (two_levels or name in _EXACT)


def _wrong_side(
    name: str,
    p: Fraction,
    what: str,
    found: Fraction,
    least: Fraction,
    is_own: bool,
    case: Case,
) -> Iterator[str]:
    """Yield a sentence if what was `found` is on the wrong side of what is detectable.

    `least` is the draw that no more draws may reach than 5 % allow: whatever is above it has a
    p-value of at most 5 %, and nothing else has. It `is_own` unless it is the highest of several.
    """
    beside = f"{what}, {float(found)!r}, is"
    if p > LEVEL and found > least + case.rounding:
        yield (
            f"{name} is stated as {float(p)!r}, and {beside} above what is detectable, "
            f"{float(least)!r}: that makes it at most 0.05."
        )
    if p <= LEVEL and is_own and found <= least:
        yield (
            f"{name} is stated as {float(p)!r}, and {beside} not above what is detectable, "
            f"{float(least)!r}."
        )
