"""Tell who is in groups by their traits, where these tell of no small group."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gerrymend.auditing.inference.disclosure import KnownSums, cells_of
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import NotionTally

# Subgroups as they were measured, each with what may be told of it.
Told = dict[Subgroup, Subgroup]


def with_traits(seen: NotionTally, groups: Sequence[Subgroup], people: KnownSums) -> Told:
    """Return each subgroup with its traits, or with none where one tells of a small group."""
    return {one: _with_guarded_traits(seen, one, people) for one in groups}


def _with_guarded_traits(seen: NotionTally, subgroup: Subgroup, people: KnownSums) -> Subgroup:
    """Return a subgroup with its traits, or with none where one tells of a small group.

    A share tells the number of people with the value in the group, and everyone's; one that is "at
    least" tells everyone's alone. Some of the traits without the others would name people who are
    no more than a part of the group: "all green" of green women.
    """
    columns = {column.name: column for column in seen.tally.columns}
    inside = cells_of(seen, subgroup)
    for trait in subgroup.composition:
        # A median tells no number of people.
        if trait.median is not None:
            continue
        blocks = columns[trait.attribute].equals(trait.value).astype(np.intp)
        if not trait.at_least:
            # Four blocks, by value and by group: in and out of each.
            blocks += 2 * inside
        if people.told(blocks) is not None:
            return replace(subgroup, composition=())
        people.add(blocks)
    return subgroup
