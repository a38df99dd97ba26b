"""Find a group to describe in place of one that was found beside a reference.

Where groups are compared with the mean of one that is named, that mean is known: a subgroup that is
the named group, or the rest of it, but for few rows tells of these, and is not described.
"""

from collections.abc import Callable, Sequence

import numpy as np

from gerrymend.auditing.examined import Examined
from gerrymend.auditing.rare_values import lists_any
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.subgroups import Conjunctions, LinearThresholds, Trees, ValueSets
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.marginals import marginal_groups
from gerrymend.subgroups.rules import Rare, Rule


def shown_instead(
    part: Examined, rare: Rare, min_group_size: int, may_be_shown: Callable[[Subgroup], bool]
) -> Subgroup | None:
    """Return the worst group of one attribute, or of a list, that may be shown; None if none may.

    Groups of one attribute are subgroups of every class that is not a list.

    Parameters
    ----------
    part : Examined
        The notion with its class. With a `sign` only groups of that side are looked at.
    rare : mapping of str to frozenset
        Values by attribute that too few rows have; no group that lists one is returned.
    min_group_size : int
        The floor of `small_groups`, for a group and for the rest.
    may_be_shown : callable
        Says of a measured group whether it discloses no small one beside what is known. It is
        asked of groups from the worst on, and no more once it says yes.
    """
    seen = part.seen
    columns = {column.name: column for column in seen.tally.columns}
    found = []
    for rule in _rules(part):
        members = rule.members(columns)[seen.cells.active]
        value = float(seen.residual[members].sum())
        inside = int(seen.rows[members].sum())
        large = may_be_described(inside, seen.rows.sum(), min_group_size)
        if large and part.sign * value >= 0 and not lists_any(rule, rare):
            found.append((abs(value), rule, members))
    for _, rule, members in sorted(found, key=lambda one: -one[0]):
        subgroup = seen.measure(rule, members, min_group_size)
        if subgroup is not None and may_be_shown(subgroup):
            return subgroup
    return None


def _rules(part: Examined) -> Sequence[Rule]:
    """Return the groups of a list, or those of one attribute where they are of the class."""
    if isinstance(part.bound, ListedClass):
        return part.bound.rules
    if isinstance(part.subgroups, LinearThresholds | Conjunctions | ValueSets | Trees):
        tally = part.seen.tally
        return marginal_groups(tally.columns, np.sum(tally.weight, axis=0)).rules
    return ()
