"""Look for the worst subgroup that is in no table, and bound all subgroups of a class.

It is an audit of statistical parity for those who are selected less often than everyone. Its bound
is over the whole class, in a table or not; of the subgroups that it describes, the first is told
whose members are those of no group of a table. An audit describes subgroups that differ from each
other, so that a part of a group of a table may be passed by: groups in which more attributes meet
than in the tables are listed as well, and one that is worse is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import total
from gerrymend.auditing.examine import examine
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import identifies
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import Tally
from gerrymend.impact.category_tables import CategoryTable
from gerrymend.impact.group_sums import group_sums, told
from gerrymend.impact.meetings import meetings
from gerrymend.impact.selected import Selected
from gerrymend.inputs.classes import Decided
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Sample
from gerrymend.subgroups import Conjunctions, ExplicitGroups, SubgroupClass, ValueSets
from gerrymend.subgroups.rules import Members

# Subgroups that the audit describes, to find one among them that is in no table.
_DESCRIBED = 12
# Groups of joint values that are looked at one by one, where the audit's are in tables.
_TRIED = 20


@dataclass(frozen=True, eq=False)
class Unlisted:
    """The worst subgroup that is in no table, with what no subgroup exceeds.

    Attributes
    ----------
    subgroup : Subgroup or None
        Who is in, with its rate of being selected; None where none was found that may be described.
    listed : str or None
        The group of a table that has more unfairness than it, where one has most of the class.
    overall_rate : float
        That of all rows.
    report : AuditReport
        The audit: its `upper_bound` holds for every subgroup of its class, in a table or not.

    Examples
    --------
    >>> from gerrymend import impact_ratios
    >>> made = impact_ratios([1, 0, 1, 1] * 20, depth=1, sensitive_features={
    ...     "race": ["B", "B", "W", "W"] * 20, "sex": ["F", "M"] * 40})
    >>> print(made.unlisted.subgroup, made.unlisted.subgroup.rate)
    race = B and sex = M 0.0
    """

    subgroup: Subgroup | None
    listed: str | None
    overall_rate: float
    report: AuditReport

    @property
    def upper_bound(self) -> float:
        """The largest unfairness that any subgroup of the class can have on these rows."""
        return self.report.upper_bound

    def least_rate(self, share: float) -> float:
        """Return a rate that no subgroup with this part of all rows, or more, falls below.

        Its unfairness is its share times how far its rate is below everyone's, so that the rate is
        no more than upper_bound / share below that.
        """
        return max(0.0, self.overall_rate - self.upper_bound / share)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data, with the audit behind it."""
        report = self.report
        return {
            "subgroup": None if self.subgroup is None else self.subgroup.to_dict(),
            "listed": self.listed,
            "upper_bound": report.upper_bound,
            "exact": report.exact,
            "no_bound": report.no_bound,
            "covers": report.covers,
            "unfairness": report.unfairness,
            "overall_rate": self.overall_rate,
            "p_value": report.p_value,
            "n_permutations": report.n_permutations,
            "min_group_size": report.min_group_size,
        }


def default_class(columns: Sequence[Column], depth: int) -> SubgroupClass:
    """Return conjunctions of one condition more than tables have; or sets, where there are none.

    >>> sex, race = (Column(name, np.zeros(1), ("a",)) for name in ("sex", "race"))
    >>> default_class([sex, race], 2), default_class([sex, race, Column("age", np.zeros(1))], 2)
    (ValueSets(), Conjunctions(max_depth=3))
    """
    all_tabled = all(column.is_categorical for column in columns)
    if all_tabled and depth >= len(columns):
        return ValueSets(max_depth=min(2, len(columns)))
    return Conjunctions(max_depth=min(depth + 1, len(columns)))


def look_beyond(
    read: Selected,
    columns: Sequence[Column],
    tables: Sequence[CategoryTable],
    *,
    subgroups: Any,
    budget: float,
    min_group_size: int,
    n_permutations: int,
    random_state: int,
) -> Unlisted:
    """Search and bound the subgroups of a class; the arguments are those of impact_ratios()."""
    settings = check_settings(
        notion="statistical_parity",
        reference=None,
        favourable="positive",
        side="disadvantaged",
        subgroups=subgroups,
        gamma=0.01,
        budget=budget,
        min_group_size=min_group_size,
        n_permutations=n_permutations,
        top=_DESCRIBED,
        random_state=random_state,
    )
    sample = Sample.read(
        None,
        {column.name: column for column in columns},
        read.weight if read.is_weighted else None,
        decisions=read.is_in.astype(np.intp),
        decided=Decided(pos_label=1),
    )
    tally = Tally.of_sample(sample)
    report = examine(tally, **settings)
    listed = Listed.of(tally, tables, min_group_size)
    found, worst = _first_unlisted(report.top, listed)
    overall = total(read.weight * read.is_in) / total(read.weight)
    # Of groups that are nearly the same people an audit describes one, perhaps that of a table.
    chosen = settings["subgroups"]
    if worst is not None and isinstance(chosen, Conjunctions):
        joint = _joint_values(read, columns, tables, chosen.max_depth, overall)
        for values, unfairness in joint:
            if found is not None and unfairness <= abs(found.unfairness):
                break
            one = _measured(tally, settings, values)
            if one is not None and _first_unlisted([one], listed)[0] is not None:
                found = one
                break
    return Unlisted(found, worst, overall, report)


def _first_unlisted(
    subgroups: Sequence[Subgroup], listed: "Listed"
) -> tuple[Subgroup | None, str | None]:
    """Return the first subgroup that is in no table, and the group of a table before it."""
    worst = None
    for subgroup in subgroups:
        members = subgroup.rule.members(listed.cells)
        who = listed.name_of(members)
        if who is None and subgroup.treated == "worse" and not listed.tells_of_few(members):
            return subgroup, worst
        worst = worst or who
    return None, worst


def _joint_values(
    read: Selected,
    columns: Sequence[Column],
    tables: Sequence[CategoryTable],
    max_depth: int,
    overall: float,
) -> list[tuple[dict[str, Any], float]]:
    """Return groups in which more attributes meet than in tables, the most unfair first.

    Only those that are selected less often than everyone, each with its unfairness.
    """
    depth = max(len(table.attributes) for table in tables)
    chosen = [one for one in meetings(columns, max_depth) if len(one) > depth]
    weight = total(read.weight)
    found = []
    for meeting in chosen:
        sums = group_sums(meeting, read.weight, read.is_in)
        unfairness = (overall * sums.weight - sums.selected) / weight
        found += list(zip(sums.values, unfairness.tolist(), strict=True))
    below = [pair for pair in found if pair[1] > 0]
    return sorted(below, key=lambda pair: -pair[1])[:_TRIED]


def _measured(
    tally: Tally, settings: Mapping[str, Any], values: Mapping[str, Any]
) -> Subgroup | None:
    """Return a group as an audit of it alone describes it; None where it is too small for that."""
    alone = {"subgroups": ExplicitGroups({told(values): dict(values)}), "n_permutations": 0}
    worst = examine(tally, **{**settings, **alone, "top": 1}).worst
    return None if worst is None else replace(worst, p_value=None)


class Listed(NamedTuple):
    """The groups of the tables: their members by cell, and who they are in words."""

    cells: Mapping[str, Column]
    n_rows: NDArray[np.intp]
    members: list[Members]
    names: list[str]
    min_group_size: int

    @classmethod
    def of(cls, tally: Tally, tables: Sequence[CategoryTable], min_group_size: int) -> "Listed":
        """Return the groups of tables as members of the cells of a tally."""
        cells = {column.name: column for column in tally.columns}
        groups = [group for table in tables for group in table.groups]
        members = [
            np.logical_and.reduce([cells[name].equals(value) for name, value in one.values.items()])
            for one in groups
        ]
        names = [group.describe() for group in groups]
        return cls(cells, tally.n_rows.sum(axis=0), members, names, min_group_size)

    def name_of(self, members: Members) -> str | None:
        """Return the group of a table that has the same members, in words; None if none has."""
        for name, other in zip(self.names, self.members, strict=True):
            if np.array_equal(members, other):
                return name
        return None

    def tells_of_few(self, members: Members) -> bool:
        """Return whether a group and one of a table that holds it, or is in it, differ by few."""
        inside = int(self.n_rows[members].sum())
        for other in self.members:
            shared = int(self.n_rows[members & other].sum())
            of_other = int(self.n_rows[other].sum())
            if shared in (inside, of_other) and identifies(
                abs(inside - of_other), self.min_group_size
            ):
                return True
        return False
