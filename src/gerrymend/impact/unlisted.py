"""Look for the worst subgroup that is in no table, and bound all subgroups of a class.

It is an audit of statistical parity for those who are selected less often than everyone. Its bound
is over the whole class, in a table or not; of the subgroups that it describes, the first is told
whose members are those of no group of a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gerrymend.auditing.examine import examine
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.auditing.tally import Tally
from gerrymend.impact.category_tables import CategoryTable
from gerrymend.impact.selected import Selected
from gerrymend.inputs.classes import Decided
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Sample
from gerrymend.subgroups import Conjunctions, SubgroupClass, ValueSets
from gerrymend.subgroups.rules import Members

# Subgroups that the audit describes, to find one among them that is in no table.
_DESCRIBED = 12


@dataclass(frozen=True, eq=False)
class Unlisted:
    """The worst subgroup that is in no table, with what no subgroup exceeds.

    Attributes
    ----------
    subgroup : Subgroup or None
        Who is in, with its rate of being selected; None where none was found that may be described.
    listed : str or None
        The group of a table that has more unfairness than it, where one has most of the class.
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
        overall = self.report.overall_rates[0].rate
        assert overall is not None  # of decisions there is one
        return max(0.0, overall - self.upper_bound / share)

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
            "overall_rate": report.overall_rates[0].rate,
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
    cells = {column.name: column for column in tally.columns}
    listed = {members.tobytes(): who for members, who in _listed(cells, tables)}
    worst = None
    for subgroup in report.top:
        who = listed.get(subgroup.rule.members(cells).tobytes())
        if who is None and subgroup.treated == "worse":
            return Unlisted(subgroup, worst, report)
        worst = worst or who
    return Unlisted(None, worst, report)


def _listed(
    cells: Mapping[str, Column], tables: Sequence[CategoryTable]
) -> list[tuple[Members, str]]:
    """Return the members of each group of the tables, by cell, and who they are in words."""
    found = []
    for table in tables:
        for group in table.groups:
            columns = [cells[name].equals(value) for name, value in group.values.items()]
            found.append((np.logical_and.reduce(columns), group.describe()))
    return found
