"""Publish the groups of a report one after the other, in the order of their worth to its readers.

What is told later must not disclose small groups beside what was told before, so that each step is
told what is published, and adds to it. Who is treated worst comes first; then the group in a
sentence that stands for them and where in it most lies, and who stands out most from chance (before
these, where they may be chance or take a formula); then each attribute's values and where two of
them meet; who is in these groups comes last, unless that alone says who leads.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gerrymend.auditing.apart import apart_from, part_within
from gerrymend.auditing.calibration_curve import calibration_curve
from gerrymend.auditing.chosen_subgroups import Sides
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.in_a_sentence import (
    SentenceGroup,
    SentenceTest,
    can_be_said,
    sentence_group,
)
from gerrymend.auditing.inference.crossed_groups import CrossedGroups, attributes_that_meet
from gerrymend.auditing.inference.disclosure import KnownSums, Published, cells_of, published_by
from gerrymend.auditing.inference.discovery import flag_groups
from gerrymend.auditing.inference.intervals import group_estimates, named_groups, shown_groups
from gerrymend.auditing.inference.permutation_result import PermutationTest
from gerrymend.auditing.inference.standing_out import NamedGroups
from gerrymend.auditing.intersections import intersection_rates
from gerrymend.auditing.marginal_rates import marginal_rates
from gerrymend.auditing.sharpest import LEVEL, SharpestGroup, sharpest_group
from gerrymend.auditing.strata import empty_strata, stratum_rates
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally
from gerrymend.auditing.told_traits import Told, with_traits
from gerrymend.auditing.where_it_lies import where_it_lies
from gerrymend.notions import FairnessNotion
from gerrymend.reporting.audit.who_leads import sentence_leads, stands_before
from gerrymend.subgroups import Marginals
from gerrymend.subgroups.explicit import ExplicitGroups
from gerrymend.subgroups.rules import Rule


@dataclass(frozen=True, eq=False)
class ToTell:
    """What is there to tell, and all that the steps of telling it need.

    Attributes
    ----------
    examined : sequence of Examined
        The rows and the class, as each notion sees them.
    top : sequence of Subgroup
        The worst subgroups that are described, the worst first.
    sides : Sides
        Who is treated worst, and who best.
    gamma, side, intersection, discovery_rate
        As in `examine`.
    exceeds : bool
        Whether the largest unfairness is shown to be above gamma.
    min_group_size : int
        The floor of `small_groups`.
    named : sequence of NamedGroups
        The groups that may stand out from chance, one a notion, if that was tested.
    test : PermutationTest or None
        By which they do.
    seconds : float
        Time for the search for a group in a sentence, and for that within it.
    test_sentence : callable or None
        Tests a group in a sentence by the same draws, if chance was tested.
    seconds_to_guard : float
        Time to work out what tells of a small group; what isn't known by then is not told.
    """

    examined: Sequence[Examined]
    top: Sequence[Subgroup]
    sides: Sides
    gamma: float
    exceeds: bool
    min_group_size: int
    side: str
    intersection: tuple[str, ...] | None
    discovery_rate: float | None
    named: Sequence[NamedGroups]
    test: PermutationTest | None
    seconds: float
    seconds_to_guard: float
    test_sentence: Callable[[Subgroup], SentenceTest | None] | None = None

    @cached_property
    def seen(self) -> list[NotionTally]:
        """The rows, as each notion sees them."""
        return [part.seen for part in self.examined]

    @cached_property
    def lead(self) -> Subgroup | None:
        """The subgroup that the report begins with."""
        return self.sides.leading(self.top)

    @cached_property
    def published(self) -> dict[FairnessNotion, Published]:
        """All that is told so far; each step adds to it."""
        return published_by(self.seen, self.described, self.min_group_size, self.seconds_to_guard)

    @property
    def described(self) -> tuple[Subgroup, ...]:
        """All subgroups of the class that are described."""
        return self.sides.beside(self.top)

    @property
    def people(self) -> KnownSums:
        """Return what is told so far of the numbers of people, whatever their label."""
        people = self.published[self.seen[0].notion].people
        assert people is not None
        return people

    def has_class(self, *kinds: type) -> bool:
        """Return whether the class that was searched is one of these."""
        return isinstance(self.examined[0].subgroups, kinds)


def listed_groups(ask: ToTell) -> dict[str, Any]:
    """Return the fields of a report that tell of groups, of which none discloses a small one."""
    deadline = time.monotonic() + ask.seconds
    # Who stands out will lead then, so it is told before what might keep it back.
    first = _stands_before(ask, ask.lead)
    sharpest, sharpest_kept_back = _tell_sharpest(ask) if first else (None, [])
    said, said_kept_back = _tell_sentence(ask)
    kept_back = [*ask.sides.kept_back, *said_kept_back]
    told: Told = {}
    by_traits = _is_led_by_traits(ask, said)
    # The same for traits: where they alone say who leads they come first, otherwise last.
    if by_traits:
        told = with_traits(ask.seen[0], ask.described, ask.people)
    core, core_kept_back = _tell_core(ask, said, deadline)
    kept_back += core_kept_back
    if not first:
        sharpest, sharpest_kept_back = _tell_sharpest(ask)
    kept_back += sharpest_kept_back
    fields, rules = _tell_tables(ask)
    if said is not None and not by_traits:
        said = replace(said, test=_test_of(ask, said))
    sentence = None if said is None else said.subgroup
    sharp = None if sharpest is None else sharpest.subgroup
    largest = ask.lead if said is None or by_traits else said.subgroup
    lead = _leading(ask, largest, sharp, said)
    curve = calibration_curve(ask.seen[0], lead, ask.published, ask.min_group_size)
    others = [one for one in (sentence, core, sharp, *ask.described) if one is not None]
    told |= with_traits(ask.seen[0], [one for one in others if one not in told], ask.people)
    # Traits are withheld in silence above; the report says so here, once for all groups.
    if any(len(one.composition) > len(told[one].composition) for one in told):
        kept_back.append("composition")
    if sharpest and sharp and largest and not is_same(largest, sharp):
        within = part_within(ask.seen, largest, sharp, ask.published)
        sharpest = replace(sharpest, within=within)
    # Beside who stands out, all others are further groups; else those that are none of the lead.
    further = [largest, ask.lead, *ask.top] if lead is sharp else list(ask.top)
    for one in dict.fromkeys(further):
        if lead is not None and one is not None and (lead is sharp or one is not ask.lead):
            told[one] = replace(told[one], apart=apart_from(ask.seen, lead, one, ask.published))
    for one in ask.described:
        told[one] = replace(told[one], p_value=_p_value_of(ask, one))
    # What was not worked out in time was not told, which the report must not pass off as all.
    if ask.people.allowance.ran_out:
        kept_back.append("time")
    rules = [*((one.notion.name, one.rule) for one in told), *rules]
    return {
        **_strata_fields(ask.seen, ask.min_group_size, rules),
        "worst": told[ask.top[0]] if ask.top else None,
        "lead": lead and told[lead],
        "top": tuple(told[one] for one in ask.top),
        "disadvantaged": ask.sides.disadvantaged and told[ask.sides.disadvantaged],
        "favoured": ask.sides.favoured and told[ask.sides.favoured],
        "favoured_is_rest": ask.sides.favoured_is_rest,
        "in_a_sentence": said and replace(said, subgroup=told[said.subgroup]),
        "core": core and told[core],
        "sharpest": sharpest and replace(sharpest, subgroup=sharp and told[sharp]),
        "kept_back": tuple(kept_back),
        "calibration": curve,
        **fields,
    }


def _leading(
    ask: ToTell,
    largest: Subgroup | None,
    sharp: Subgroup | None,
    said: SentenceGroup | None,
) -> Subgroup | None:
    """Return who leads: who stands out, or who has the largest unfairness."""
    if sharp is None or (largest is not None and is_same(largest, sharp)):
        return largest
    return sharp if _stands_before(ask, largest, said) else largest


def _stands_before(
    ask: ToTell, largest: Subgroup | None, said: SentenceGroup | None = None
) -> bool:
    """Return whether who stands out comes before the largest unfairness, as in every wording."""
    is_chance = _is_chance(ask, None if said is None else said.test)
    return stands_before(exceeds=ask.exceeds, is_chance=is_chance, is_told=_is_told(largest))


def is_same(one: Subgroup, other: Subgroup) -> bool:
    """Return whether two groups are told by the same words, for the same notion."""
    return one.notion == other.notion and one.describe() == other.describe()


def _p_value_of(ask: ToTell, group: Subgroup) -> float | None:
    """Return the p-value of a group of the class, by the test that its notion is in."""
    number = next(i for i, one in enumerate(ask.seen) if one.notion == group.notion)
    own = None if ask.test is None else ask.test.of_notion(number)
    return None if own is None else own.p_value_of(group.unfairness)


def _is_told(group: Subgroup | None) -> bool:
    """Return whether a group can be named."""
    return group is not None and can_be_said(group)


def _tell_sentence(ask: ToTell) -> tuple[SentenceGroup | None, list[str]]:
    """Return the group in a sentence that stands for a lead that is none, and what is kept back."""
    if ask.lead is None or _is_told(ask.lead):
        return None, []
    said, not_said = sentence_group(
        next(one for one in ask.seen if one.notion == ask.lead.notion),
        ask.lead,
        ask.published[ask.lead.notion],
        min_group_size=ask.min_group_size,
        gamma=ask.gamma,
        seconds=ask.seconds,
    )
    return said, ["in_a_sentence"] if not_said else []


def _test_of(ask: ToTell, said: SentenceGroup) -> SentenceTest | None:
    """Return the test of a group in a sentence that leads; None if it is the worst by other words.

    That is tested by the search.
    """
    assert ask.lead is not None
    has_same_rows = said.overlap == 1.0 and said.subgroup.size == ask.lead.size
    if ask.test_sentence is None or has_same_rows:
        return None
    return ask.test_sentence(said.subgroup)


def _is_led_by_traits(ask: ToTell, said: SentenceGroup | None) -> bool:
    """Return whether readers are told by composition who leads: a formula, and no sentence does."""
    if ask.lead is None or _is_told(ask.lead):
        return False
    return said is None or not sentence_leads(
        said.subgroup.unfairness, ask.lead.unfairness, ask.gamma
    )


def _tell_core(
    ask: ToTell, said: SentenceGroup | None, deadline: float
) -> tuple[Subgroup | None, list[str]]:
    """Return where most of what leads lies, and what is kept back."""
    group = ask.lead if said is None else said.subgroup
    if ask.has_class(ExplicitGroups):
        group = None  # no others are told beside those that users name
    core, not_told = where_it_lies(
        ask.seen, group, ask.published, min_group_size=ask.min_group_size, deadline=deadline
    )
    return core, ["core"] if not_told else []


def _is_chance(ask: ToTell, own: SentenceTest | None) -> bool:
    """Return whether what leads may be chance, or the largest unfairness where nothing does.

    By its own test, if it is a group in a sentence that has one.
    """
    if own is not None:
        return own.p_value > LEVEL
    if ask.test is None or ask.test.p_value is None:
        return False
    value = None if ask.lead is None else _p_value_of(ask, ask.lead)
    return (ask.test.p_value if value is None else value) > LEVEL


def _tell_sharpest(ask: ToTell) -> tuple[SharpestGroup | None, list[str]]:
    """Return the group that stands out most from chance, and what is kept back."""
    sharpest, not_told = sharpest_group(
        ask.seen, ask.named, ask.test, ask.published, min_group_size=ask.min_group_size
    )
    return sharpest, ["sharpest"] if not_told else []


def _tell_tables(ask: ToTell) -> tuple[dict[str, Any], list[tuple[str, Rule]]]:
    """Return the fields of groups that were named beforehand, and their rules with their notions.

    These are the groups of a class that lists them, each attribute's values, and where two
    attributes meet.
    """
    floor = ask.min_group_size
    own = not ask.has_class(Marginals)  # which are listed in any case
    named = named_groups(ask.examined) if own else []
    shown = shown_groups(named, ask.published, min_group_size=floor)
    marginals = marginal_rates(ask.seen, ask.published, min_group_size=floor, side=ask.side)
    intersections = intersection_rates(
        ask.seen, ask.published, ask.intersection, min_group_size=floor
    )
    lists = {
        "named": group_estimates(named, shown),
        "marginals": marginals.groups,
        "intersections": intersections.groups,
    }
    discovery = None
    if ask.discovery_rate is not None:
        # Groups that are withheld were tested too: without them too many others
        # would be flagged.
        tested = len(marginals.groups) + marginals.left_out
        tested += len(intersections.groups) + intersections.left_out
        tested += sum(len(groups.rules) for groups in named)
        lists, discovery = flag_groups(
            ask.seen,
            lists,
            CrossedGroups.of(
                ask.seen[0].tally,
                intersections.attributes,
                wanted=attributes_that_meet(ask.examined[0].subgroups),
                n_notions=len(ask.seen),
            ),
            ask.published,
            tested=tested,
            rate=ask.discovery_rate,
            min_group_size=floor,
        )
    interval = _tell_interval(ask, marginals.interval)
    fields = {
        "intervals": lists["named"] if own else lists["marginals"],
        "marginals": lists["marginals"],
        "marginals_left_out": marginals.left_out,
        "marginal_unfairness": marginals.unfairness,
        "single_unfairness": marginals.single,
        "single_interval": interval,
        "intersections": intersections._replace(groups=lists["intersections"]),
        "discovery": discovery,
    }
    told = [*lists.values(), () if discovery is None else discovery.groups]
    rules = [(one.notion, one.rule) for groups in told for one in groups]
    return fields, rules + [(one.notion.name, one.rule) for one in [interval] if one is not None]


def _tell_interval(ask: ToTell, interval: Subgroup | None) -> Subgroup | None:
    """Return an interval of a number if it discloses no small group beside all that is told."""
    if interval is None or ask.has_class(ExplicitGroups):  # no others beside those that users name
        return None
    published = ask.published[interval.notion]
    blocks = cells_of(ask.seen[0], interval).astype(np.intp)
    if published.told(blocks) is not None:
        return None
    published.add(blocks)
    return interval


def _strata_fields(
    seen: Sequence[NotionTally], min_group_size: int, groups: Sequence[tuple[str, Rule]]
) -> Mapping[str, Any]:
    """Return the fields of a report about control features, given the groups that it shows.

    `groups` are rules, each with the name of its notion.
    """
    strata = seen[0].tally.strata
    if strata is None:
        return {}
    columns = {column.name: column for column in seen[0].tally.columns}
    members = [(name, rule.members(columns)) for name, rule in groups]
    shown = [
        stratum_rates(
            one, min_group_size, [inside for name, inside in members if name == one.notion.name]
        )
        for one in seen
    ]
    every = [inside for _, inside in members]
    empty = (empty_strata(one, min_group_size, every) for one in seen)
    return {
        "control_features": tuple(column.name for column in strata.columns),
        "strata": tuple(stratum for rates, _ in shown for stratum in rates),
        "strata_left_out": sum(left_out for _, left_out in shown),
        "empty_strata": tuple(one for one in empty if one is not None),
    }
