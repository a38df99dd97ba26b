"""What patches are said to have reached, against every subgroup of the class where these are few.

The worst violation is worked out of the scores before the first patch and after the last, over all
subgroups within all intervals of the score. Where the class can't be listed, the sum of all
positive errors still bounds every set of rows whatever.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gerrymend.checker.binned import binned
from gerrymend.checker.classes import PARAMETERS, NotListedError, subgroups_of
from gerrymend.checker.exact import Attribute, Table, exact
from gerrymend.checker.figures import TOLERANCE, Measured, outcomes_of, shown
from gerrymend.checker.patched import RoundingError, ScoredRows, is_line
from gerrymend.checker.references import with_reference
from gerrymend.checker.result import CheckResult
from gerrymend.checker.scope import class_in_words
from gerrymend.checker.scores import NAMES, PREDICTED
from gerrymend.checker.words import NUMBER, behind_name, members_by_words, number_in_words

_REASONS = ("proven", "chance", "few_rows", "unchanged", "max_patches", "undecided")
# Their search is a proof itself; trees that are deeper are not searched through.
_EXACT = ("Conjunctions", "ValueSets", "Marginals", "ExplicitGroups", "Trees")
_EXACT_TREES = 2
_SETTINGS = (
    "standing.settings.alpha standing.settings.level standing.settings.max_patches "
    "standing.settings.n_draws standing.settings.min_group_size standing.settings.random_state "
    "standing.settings.notion standing.settings.cuts standing.settings.subgroups "
    "standing.settings.subgroups.name standing.settings.subgroups.parameters "
    "standing.settings.subgroups.parameters.*"
)


@dataclass(frozen=True)
class Worst:
    """The worst violation of scores, by enumeration: `value` is None where that was not possible.

    `any_rows` bounds every set of rows, and `why` is why the class was not listed.
    """

    any_rows: Fraction
    value: Fraction | None
    listed: int
    why: str
    scale: Fraction


@dataclass(frozen=True)
class Before:
    """What is known of the scores before the first patch: their error and their worst violation."""

    error: Fraction
    worst: Worst | None

    @classmethod
    def of(cls, stated: Mapping[str, Any], rows: ScoredRows) -> "Before":
        """Return it, for patches as plain data; there is no worst without a standing."""
        known = stated["standing"] is not None and not _wrong_settings(stated)
        return cls(rows.squared_error, _worst(stated, _in_bins(stated, rows)) if known else None)


def check_standing(
    stated: Mapping[str, Any], rows: ScoredRows, before: Before, result: CheckResult
) -> None:
    """Check what is stated of the scores after the last patch, and of those before the first."""
    standing = stated["standing"]
    if standing is None:
        result.leave("standing", "that nothing is known of a part of the patches")
        return
    result.leave(_SETTINGS, "settings, taken as stated")
    result.leave("standing.stopped", "that no further patch was worth it")
    if wrong := _wrong_settings(stated):
        result.problems.extend(wrong)
        return
    count = len(result.problems)
    result.problems.extend(_wrong_error("error_before", standing, before.error, rows))
    result.problems.extend(_wrong_error("error_after", standing, rows.squared_error, rows))
    if standing["n_rows"] != len(rows.scores):
        result.problems.append(
            f"n_rows is stated as {standing['n_rows']}, and {len(rows.scores)} rows have weight."
        )
    result.problems.extend(_wrong_end(stated))
    _check_refused(stated, rows, result)
    try:
        seen = _in_bins(stated, rows)
    except RoundingError:
        result.leave(
            "standing.before standing.after standing.upper_bound standing.covers",
            "rounding decides in which bin a score is",
        )
        return
    assert before.worst is not None
    _check_covers(standing, seen.table, result)
    _check_before(stated, before.worst, result)
    _check_after(stated, _worst(stated, seen), result)
    if len(result.problems) == count:
        result.checked.append(
            "What was reached: the error before and after, and that the figures agree."
        )


def _wrong_settings(stated: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the settings, on which all else depends."""
    settings = stated["standing"]["settings"]
    notion = settings["notion"]
    cuts = settings["cuts"]
    found = []
    if notion not in NAMES or (notion == "multicalibration") != (cuts is not None):
        found.append(f"The notion {notion!r} has cuts of the score, and is stated without; or not.")
    if any(low >= high for low, high in pairwise(cuts or ())):
        found.append(f"The cuts of the score are stated as {cuts!r}, not in order.")
    if stated["score"] in stated["attributes"]:
        found.append(f"The score is stated to be called {stated['score']!r}, as an attribute is.")
    name = settings["subgroups"]["name"]
    parameters = settings["subgroups"]["parameters"]
    known = PARAMETERS.get(name, {})
    for parameter in [one for one in known if one not in parameters]:
        found.append(f"The class {name} is stated without its {parameter}.")
    for parameter, value in parameters.items():
        if parameter in known and not known[parameter](value):
            found.append(f"{parameter} of the class {name} can't be {value!r}.")
    return found


def _in_bins(stated: Mapping[str, Any], rows: ScoredRows) -> Measured:
    """Return the sums of errors by protected row and bin of the score, as it is now.

    Raises a RoundingError where that may depend on the last digits of a score.
    """
    settings = stated["standing"]["settings"]
    rows.check_far_from(settings["cuts"] or ())
    notion = {
        "name": settings["notion"], "event": [True, True], "a": [0, 0], "b": [1, 1],
        "class": None, "unit": None if stated["probabilities"] else "", "reference": PREDICTED,
        "cuts": settings["cuts"], "score": stated["score"],
    }  # fmt: skip
    table = rows.summed(notion)
    return with_reference(Measured.of(outcomes_of(notion), table), notion, table)


def _worst(stated: Mapping[str, Any], seen: Measured) -> Worst:
    """Return the worst violation of all subgroups of the class."""
    any_rows = seen.worst_of_any_rows()
    try:
        groups = subgroups_of(*_listable(stated["standing"], seen.table), seen.active)
    except NotListedError as reason:
        return Worst(any_rows, None, 0, str(reason), seen.scale)
    return Worst(any_rows, seen.worst(groups), len(groups), "", seen.scale)


def _listable(standing: Mapping[str, Any], table: Table) -> tuple[Mapping[str, Any], Table]:
    """Return the class as it can be listed, with numbers in the bins that its words tell."""
    searched = standing["settings"]["subgroups"]
    parameters = searched["parameters"]
    if parameters.get("bins") is None:
        return searched, table
    expected = class_in_words(searched["name"], parameters, table)
    if expected is not None and expected.endswith("bins"):
        in_bins = binned(table, standing["covers"], expected)
        if in_bins is None:
            raise NotListedError("its numbers are in bins, and covers doesn't tell of which")
        table = in_bins
    return {**searched, "parameters": {**parameters, "bins": None}}, table


def _is_exact(stated: Mapping[str, Any]) -> bool:
    """Return whether the search of a class is a proof, so that what is found is what is proven."""
    searched = stated["standing"]["settings"]["subgroups"]
    if searched["name"] == "Trees":
        return bool((searched["parameters"]["max_depth"] or 0) <= _EXACT_TREES)
    return searched["name"] in _EXACT


def _wrong_error(
    name: str, standing: Mapping[str, Any], value: Fraction, rows: ScoredRows
) -> Iterator[str]:
    """Yield a sentence if a stated mean squared error is not that of the scores."""
    if abs(exact(standing[name]) - value) > TOLERANCE * rows.scale**2:
        yield f"{name} is stated as {standing[name]!r}, and is {shown(value)}."


def _wrong_end(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with why it ended, beside what else is stated."""
    standing = stated["standing"]
    settings = standing["settings"]
    stopped = standing["stopped"]
    alpha = settings["alpha"]
    made = len(stated["patches"])
    if stopped not in _REASONS:
        yield f"stopped is stated as {stopped!r}, which is no reason."
    if made > settings["max_patches"]:
        yield f"{made} patches are stated, and at most {settings['max_patches']} were to be made."
    if stopped == "max_patches" and made < settings["max_patches"]:
        yield f"stopped is stated as 'max_patches', and there are {made} patches."
    if stopped == "proven" and (alpha is None or standing["upper_bound"] > alpha):
        yield f"stopped is stated as 'proven', and upper_bound is not within alpha, {alpha!r}."
    if stopped == "undecided" and (alpha is None or standing["upper_bound"] <= alpha):
        yield f"stopped is stated as 'undecided', and upper_bound is within alpha, {alpha!r}."
    if standing["after"] > standing["upper_bound"]:
        yield f"after is stated as {standing['after']!r}, and upper_bound as less."
    if standing["refused"] and stopped not in ("chance", "few_rows"):
        yield f"refused is stated, and stopped is {stopped!r}."
    if stopped == "chance" and not standing["refused"]:
        yield "stopped is stated as 'chance', and no patch is refused."


def _check_covers(standing: Mapping[str, Any], table: Table, result: CheckResult) -> None:
    """Check the class in words; `table` has the score in its bins."""
    searched = standing["settings"]["subgroups"]
    expected = class_in_words(searched["name"], searched["parameters"], table)
    if expected is None:
        result.leave("standing.covers", "the class in words, for a class that is not known here")
    elif expected.endswith("bins"):
        result.leave("standing.covers", "at which numbers its bins are cut, taken as stated")
        if binned(table, standing["covers"], expected) is None:
            result.problems.append(
                f"covers is stated as {standing['covers']!r}, and is {expected!r}, with its cuts."
            )
    elif standing["covers"] != expected:
        result.problems.append(
            f"covers is stated as {standing['covers']!r}, and the class is {expected!r}."
        )


def _check_refused(stated: Mapping[str, Any], rows: ScoredRows, result: CheckResult) -> None:
    """Check the patches that were not made: the violation of each, by its words, and its limit."""
    standing = stated["standing"]
    result.leave("standing.refused", "that no other patch was considered last")
    result.leave("standing.refused.limit", "what draws of chance make")
    for refused in standing["refused"]:
        result.problems.extend(_wrong_refusal(refused, standing["settings"]["level"]))
        if all(refused[name] is not None for name in ("subgroup", "interval", "violation")):
            result.problems.extend(_wrong_interval(refused["interval"], stated))
            _check_refused_violation(refused, stated, rows, result)


def _wrong_refusal(refused: Mapping[str, Any], level: float) -> Iterator[str]:
    """Yield a sentence for each part of a patch that was not made that can't be."""
    told = [refused[name] is not None for name in ("subgroup", "interval", "violation")]
    if refused["part"] != level:
        yield f"refused: its part, {refused['part']!r}, is not the level, {level!r}."
    if refused["reason"] == "few_rows":
        if any(told):
            yield "refused: it is of few rows, and is told."
    elif refused["reason"] != "chance":
        yield f"refused: {refused['reason']!r} is no reason."
    elif not all(told):
        yield "refused: chance makes as much of it, and it is not told."
    elif abs(refused["violation"]) > refused["limit"]:
        yield "refused: its violation is above the limit that it is held to."


def _wrong_interval(interval: str, stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for an interval in words that has an end which is no cut of the score."""
    cuts = [exact(cut) for cut in stated["standing"]["settings"]["cuts"] or ()]
    score = re.escape(stated["score"])
    found = re.fullmatch(
        rf"{score} [<≥] ({NUMBER})|({NUMBER}) ≤ {score} < ({NUMBER})", interval, re.DOTALL
    )
    ends = [number_in_words(end) for end in found.groups() if end is not None] if found else []
    if interval == "everyone" or (not cuts and interval != "all"):
        yield f"refused: its interval, {interval!r}, is none of the score."
    elif any(all(abs(end - cut) > TOLERANCE * (1 + abs(cut)) for cut in cuts) for end in ends):
        yield f"refused: its interval, {interval!r}, has an end that is no cut."


def _check_refused_violation(
    refused: Mapping[str, Any], stated: Mapping[str, Any], rows: ScoredRows, result: CheckResult
) -> None:
    """Work out the violation of a patch that was not made, by its words."""
    searched = stated["standing"]["settings"]["subgroups"]
    names = searched["parameters"]["groups"] if searched["name"] == "ExplicitGroups" else ()
    # One name may begin another, as "A" does "A (B)": behind the wrong one nothing can be read.
    told = [behind_name(refused["subgroup"], name) for name in names]
    read = (
        _violation_by_words(words, refused["interval"], stated["score"], rows)
        for words in [refused["subgroup"], *told]
        if words is not None
    )
    value = next((value for value in read if value is not None), None)
    if value is None:
        result.leave(
            "standing.refused.subgroup standing.refused.interval standing.refused.violation",
            "words that can't be read",
        )
    elif abs(exact(refused["violation"]) - value) > TOLERANCE * rows.scale:
        result.problems.append(
            f"refused: its violation is stated as {refused['violation']!r}, and is {shown(value)}."
        )


def _violation_by_words(words: str, interval: str, score: str, rows: ScoredRows) -> Fraction | None:
    """Return the violation of a group that is told in words alone; None if they can't be read."""
    inside = members_by_words(words, rows.table, named=False)
    distinct = list(dict.fromkeys(rows.scores))
    column = Attribute(score, True, tuple(map(exact, distinct)))
    by_score = Table({score: column}, [[1, 0]] * len(distinct), [], [])
    within = "everyone" if interval == "all" else interval
    there = members_by_words(within, by_score, named=False)
    if inside is None or there is None:
        return None
    held = dict(zip(distinct, there, strict=True))
    found = [row for row, cell in enumerate(rows.cells) if inside[cell] and held[rows.scores[row]]]
    group = rows.group(found)
    return (group.happened - group.predicted) / rows.total_weight


def _check_before(stated: Mapping[str, Any], worst: Worst, result: CheckResult) -> None:
    """Check the worst violation before the first patch."""
    standing = stated["standing"]
    patches = stated["patches"]
    if not stated["probabilities"] and patches and is_line(patches[0]["change"]):
        result.leave("standing.before", "where scores were cut before everyone's were changed")
        return
    _check_found("before", standing, worst, stated, result)


def _check_after(stated: Mapping[str, Any], worst: Worst, result: CheckResult) -> None:
    """Check the worst violation after the last patch, and what is proven of it."""
    standing = stated["standing"]
    most = exact(standing["upper_bound"]) + TOLERANCE * worst.scale
    _check_found("after", standing, worst, stated, result)
    if not _is_exact(stated):
        result.leave("standing.upper_bound", "that no smaller one was proven")
    elif standing["upper_bound"] - standing["after"] > TOLERANCE * worst.scale:
        result.problems.append(
            f"upper_bound is stated as {standing['upper_bound']!r}, and the search of the class, "
            f"which is a proof, found {standing['after']!r}."
        )
    if worst.any_rows <= most:
        result.checked.append(
            f"What is proven: no set of rows at all has a violation above {shown(worst.any_rows)}."
        )
    elif worst.value is None:
        result.leave("standing.upper_bound", f"not by enumeration: {worst.why}")
    elif worst.value <= most:
        result.checked.append(
            f"What is proven: none of {worst.listed:,} subgroups within intervals, all listed, has "
            f"a violation above {shown(worst.value)}{_within_alpha(standing, worst.value)}."
        )
    else:
        result.problems.append(
            f"upper_bound is stated as {standing['upper_bound']!r}, and the worst subgroup of the "
            f"class has {shown(worst.value)}."
        )


def _within_alpha(standing: Mapping[str, Any], value: Fraction) -> str:
    """Return what that says of alpha, as the end of a sentence."""
    alpha = standing["settings"]["alpha"]
    return "" if alpha is None or value > exact(alpha) else f", nor above alpha, {alpha:g}"


def _check_found(
    name: str,
    standing: Mapping[str, Any],
    worst: Worst,
    stated: Mapping[str, Any],
    result: CheckResult,
) -> None:
    """Check a worst violation that was found: some has it and, of exact classes, none more."""
    found = exact(standing[name])
    tolerance = TOLERANCE * worst.scale
    if found > worst.any_rows + tolerance:
        result.problems.append(
            f"{name} is stated as {standing[name]!r}, and no set of rows has more than "
            f"{shown(worst.any_rows)}."
        )
        return
    if worst.value is None:
        result.leave(f"standing.{name}", f"not by enumeration: {worst.why}")
        return
    is_less = found < worst.value - tolerance
    if found > worst.value + tolerance or (is_less and _is_exact(stated)):
        result.problems.append(
            f"{name} is stated as {standing[name]!r}, and the worst subgroup of the class has "
            f"{shown(worst.value)}."
        )
    elif not _is_exact(stated):
        result.leave(f"standing.{name}", "that no more was found")
