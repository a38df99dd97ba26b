"""Examine sums: search, prove, describe and test, as every audit does once its data is summed."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gerrymend._runtime.interrupts import check_stopped, interruptible
from gerrymend.auditing.chosen_subgroups import described_sides
from gerrymend.auditing.doubts import Doubt
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.further_groups import described_subgroups
from gerrymend.auditing.in_a_sentence import sentence_class
from gerrymend.auditing.inference.discovery import check_exact
from gerrymend.auditing.inference.held_out import measure_held_out
from gerrymend.auditing.inference.permutation import permutation_test, why_no_test
from gerrymend.auditing.inference.population import N_RESAMPLES, population_bound
from gerrymend.auditing.inference.standing_out import NamedGroups
from gerrymend.auditing.intersections import check_intersection
from gerrymend.auditing.listed import ToTell, is_same, listed_groups
from gerrymend.auditing.marginal_rates import overall_rates
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.provenance import Provenance
from gerrymend.auditing.rare_values import rare_values
from gerrymend.auditing.references import check_references
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.sentence_test import sentence_test
from gerrymend.auditing.subgroup import Subgroup, beyond_rounding
from gerrymend.auditing.tally import NotionTally, Tally, largest_rounding
from gerrymend.auditing.verdict import EXCEEDS, verdict
from gerrymend.notions import OVERALL, AnyNotion
from gerrymend.subgroups import LinearThresholds, SubgroupClass, Trees
from gerrymend.subgroups.base import Bracket, most_of_any, value_of_all
from gerrymend.subgroups.compiling import compile_proofs

logger = logging.getLogger("gerrymend.proving")

# The part of a budget that proofs leave to the searches for subgroups to describe.
_DESCRIBING = 0.2
# And the part that these leave to the searches for a group in a sentence, and within it.
_SAYING = 0.1
# The part of the time for permutations that the test of that group has, if the search takes all.
_TESTING = 0.2
# Seconds in which it is worked out what tells of small groups, however short the budget is.
_LEAST_TO_GUARD = 1.0


@interruptible
def examine(
    tally: Tally,
    *,
    notions: Sequence[AnyNotion],
    subgroups: SubgroupClass,
    gamma: float,
    budget: float,
    min_group_size: int,
    favourable: str | None = None,
    side: str = "both",
    n_permutations: int = 0,
    held_out: Tally | None = None,
    top: int = 1,
    random_state: int = 0,
    on_draw: Callable[[int, int], None] | None = None,
    features: tuple[str, ...] | None = None,
    intersection: tuple[str, ...] | None = None,
    n_jobs: int | None = None,
    confidence: float | None = None,
    n_resamples: int = N_RESAMPLES,
    discovery_rate: float | None = None,
    doubts: tuple[Doubt, ...] = (),
) -> AuditReport:
    """Audit a tally: search, prove, describe and test, and return the report.

    Parameters
    ----------
    tally : Tally
        Sums by cell and label of the rows to search.
    notions, favourable, side, subgroups, gamma, budget, min_group_size, n_permutations, top, \
random_state, on_draw, features, intersection, n_jobs, confidence, n_resamples, discovery_rate
        As `check_settings` returns them; see audit().
    held_out : Tally, optional
        Rows that are not searched, to measure the subgroups on that are told of.
    doubts : tuple of Doubt
        What the report is to warn of.

    Returns
    -------
    AuditReport
    """
    check_references(tally, notions, min_group_size)
    check_intersection(intersection, tally.protected)
    if discovery_rate is not None:
        check_exact(tally.of_notion(notion) for notion in notions)
    classes = [subgroups]
    if isinstance(subgroups, LinearThresholds | Trees):  # whose worst may need a sentence
        classes.append(sentence_class(tally.protected))
    compile_proofs(classes, tally.protected)
    end = time.monotonic() + budget
    deadline = end - _SAYING * budget
    examined = prove_each(tally, notions, subgroups, (1 - _DESCRIBING) * budget, side=side)
    n = tally.total_weight
    brackets = [part.bracket for part in examined]
    several, why_fewer = described_subgroups(
        examined, number=top, min_group_size=min_group_size, deadline=deadline
    )
    worst = several[0] if several else None
    sides = described_sides(
        examined, several, side=side, min_group_size=min_group_size, deadline=deadline
    )
    left = max(_LEAST_TO_GUARD, end - time.monotonic())
    rounding = largest_rounding(part.seen for part in examined)
    unfairness = beyond_rounding(_largest(brackets, worst, n), rounding)
    upper_bound = max(unfairness, *(bracket.upper_bound / n for bracket in brackets))
    drawing: dict[str, Any] = {
        "seconds": budget,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "on_draw": on_draw,
    }
    no_test = why_no_test(tally, examined)
    is_tested = n_permutations > 0 and not no_test
    named = [NamedGroups.of(part, min_group_size) for part in examined if is_tested]
    test = None
    start = time.monotonic()
    if n_permutations or (no_test and any(notion.reference != OVERALL for notion in notions)):
        test = permutation_test(
            tally,
            examined,
            n_permutations=n_permutations,
            named=named,
            about=_worst_notion(examined, worst, unfairness - rounding),
            **drawing,
        )
    test_sentence = None
    if is_tested:
        test_sentence = partial(
            sentence_test,
            examined,
            n_permutations=n_permutations,
            seconds=max(_TESTING * budget, start + budget - time.monotonic()),
            random_state=random_state,
            n_jobs=n_jobs,
        )
    # Tables are made of other large arrays, and seldom search.
    for part in examined:
        part.bound.release()
    listed = listed_groups(
        ToTell(
            examined=examined,
            top=several,
            sides=sides,
            gamma=gamma,
            exceeds=verdict(unfairness, upper_bound, gamma, rounding) == EXCEEDS,
            min_group_size=min_group_size,
            side=side,
            intersection=intersection,
            discovery_rate=discovery_rate,
            named=named,
            test=test,
            seconds=_SAYING * budget,
            seconds_to_guard=left,
            test_sentence=test_sentence,
        )
    )
    return AuditReport(
        unfairness=unfairness,
        upper_bound=upper_bound,
        no_bound=why_no_bound(examined, unfairness, upper_bound, gamma, budget),
        gamma=gamma,
        n_rows=int(tally.n_rows.sum()),
        subgroups=subgroups,
        covers=examined[0].bound.covers,
        partial=_partial(brackets, n),
        min_group_size=min_group_size,
        labels=tally.labels,
        is_labelled=tally.is_labelled,
        notions=tuple(notions),
        favourable=favourable,
        side=side,
        why_fewer=why_fewer,
        permutation_test=test,
        held_out=None
        if held_out is None
        else measure_held_out(
            listed["lead"],
            held_out,
            searched=tally,
            min_group_size=min_group_size,
            others=_to_confirm(listed, gamma),
            seconds=_SAYING * budget,
        ),
        population=None
        if confidence is None
        else population_bound(
            tally,
            examined,
            unfairness=unfairness,
            upper_bound=upper_bound,
            gamma=gamma,
            confidence=confidence,
            n_resamples=n_resamples,
            **drawing,
        ),
        provenance=Provenance.of(tally, random_state=random_state, budget=budget, top=top),
        warnings=doubts,
        rounding=rounding,
        **_of_the_data(tally, [part.seen for part in examined], min_group_size, features),
        **listed,
    )


def _to_confirm(listed: Mapping[str, Any], gamma: float) -> list[Subgroup]:
    """Return whom rows that were not searched tell of beside who leads.

    Those are who stands out, and each subgroup that exceeds gamma of those that text and page speak
    of.
    """
    sharp, said = (
        None if listed[name] is None else listed[name].subgroup
        for name in ("sharpest", "in_a_sentence")
    )
    exceeding = [said, listed["worst"], listed["disadvantaged"]]
    if not listed["favoured_is_rest"]:
        exceeding.append(listed["favoured"])
    exceeding = [one for one in exceeding if one is not None and abs(one.unfairness) > gamma]
    lead = listed["lead"]
    others: list[Subgroup] = []
    for one in (sharp, *exceeding):
        if one is not None and not any(is_same(one, other) for other in (lead, *others)):
            others.append(one)
    return others


def why_no_bound(
    examined: Sequence[Examined],
    unfairness: float,
    upper_bound: float,
    allowed: float,
    budget: float,
) -> str | None:
    """Say why the upper bound is only that of any set of rows; None where it is better, or enough.

    No set of rows does better than to take every positive residual, or every negative one. That
    bound costs nothing, and is enough where it is allowed, or reached.
    """
    n = examined[0].seen.tally.total_weight
    of_any_rows = max(map(_most_of_any_rows, examined)) / n
    rounding = largest_rounding(part.seen for part in examined)
    enough = max(unfairness, allowed) + rounding
    if upper_bound <= enough or upper_bound < of_any_rows * (1 - 1e-9):
        return None
    return next(filter(None, (part.bound.unprovable for part in examined)), None) or (
        f"the proof was not done within {budget:g} s; give it more time (budget, --budget) or "
        "fewer attributes"
    )


def _most_of_any_rows(part: Examined) -> float:
    """Return the largest sum of residuals of any set of rows, on the side that is searched."""
    residual = part.seen.residual
    if value_of_all(residual) == 0 or not part.sign:
        return float(most_of_any(residual))
    return float(np.maximum(part.sign * residual, 0.0).sum())


def _largest(brackets: Sequence[Bracket], worst: Subgroup | None, n: float) -> float:
    """Return the largest unfairness that was found, whatever the size of its group."""
    found = max(abs(float(bracket.found.values[0])) / n for bracket in brackets)
    # The same value as the description has it, or a worse one that turned up later.
    if worst is not None:
        found = max(found, abs(worst.unfairness))
    return found


def _worst_notion(
    examined: Sequence[Examined], worst: Subgroup | None, unfairness: float
) -> int | None:
    """Return the number of the notion of the worst group; None if it has less than this."""
    if worst is None or abs(worst.unfairness) < unfairness:
        return None
    return [part.seen.notion for part in examined].index(worst.notion)


def _of_the_data(
    tally: Tally, seen: Sequence[NotionTally], min_group_size: int, features: tuple[str, ...] | None
) -> dict[str, Any]:
    """Return the fields of a report that don't depend on the class of subgroups."""
    attributes = tuple(column.name for column in tally.protected)
    used = None if features is None else tuple(name for name in attributes if name in features)
    return {
        "attributes": attributes,
        "missing": MissingValues.kept(tally),
        "rare_values": tuple(
            (name, len(values))
            for name, values in rare_values(tally, min_group_size, with_rows=True).items()
        ),
        "overall_rates": overall_rates(seen, min_group_size=min_group_size),
        "weighted": not np.array_equal(tally.weight, tally.n_rows),
        "protected_used": used,
    }


def prove_each(
    tally: Tally,
    notions: Sequence[AnyNotion],
    subgroups: SubgroupClass,
    budget: float,
    at_most: float | None = None,
    side: str = "both",
) -> list[Examined]:
    """Search and bound the worst subgroup of each notion; time that one leaves is the others'.

    Parameters
    ----------
    tally, notions, subgroups
        As in examine().
    budget : float
        Seconds for all notions together; call `compile_proofs` before, which takes seconds.
    at_most : float, optional
        An unfairness: each search ends as soon as it is known whether a subgroup exceeds it.
    side : {"both", "disadvantaged"}
        Which subgroups count; with "disadvantaged" each notion knows its direction.

    Returns
    -------
    list of Examined
        One a notion, in their order.
    """
    deadline = time.monotonic() + budget
    every = [tally.of_notion(notion) for notion in notions]
    limit = None if at_most is None else as_sum(at_most, every)
    examined = []
    for i, (notion, seen) in enumerate(zip(notions, every, strict=True)):
        bound = seen.bind(subgroups)
        # Of a closed class both sides are equally bad where everyone's value is 0, and the
        # disadvantaged one is named.
        alike = bound.is_closed and value_of_all(seen.residual) == 0
        sign = notion.harm if side == "disadvantaged" or alike else 0
        if sign:
            bound = bound.one_sided(sign)
        check_stopped()  # compilation drops a Ctrl-C now and then
        if bound.unprovable:
            logger.info("No bound will be proven: %s.", bound.unprovable)
        # An even part of what is left, so that a quick proof leaves time for the slow ones.
        seconds = max(0.0, deadline - time.monotonic()) / (len(notions) - i)
        bracket = bound.prove(seen.residual, at_most=limit, seconds=seconds)
        examined.append(Examined(seen, bound, bracket, subgroups, sign))
    return examined


def as_sum(unfairness: float, seen: Sequence[NotionTally]) -> float:
    """Return the largest sum of residuals that is within an unfairness, with room for rounding."""
    return (unfairness + largest_rounding(seen)) * seen[0].tally.total_weight


def _partial(brackets: Sequence[Bracket], n: float) -> tuple[tuple[str, float], ...]:
    """Return the parts of the class that were proven for every notion, with their bounds."""
    bounds = [dict(bracket.partial) for bracket in brackets]
    shared = [words for words, _ in brackets[0].partial if all(words in bound for bound in bounds)]
    return tuple((words, max(bound[words] for bound in bounds) / n) for words in shared)
