"""Tables of categories, and of those in which they meet: rates, ratios, tests and shortfalls."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gerrymend._numeric.sums import total
from gerrymend.auditing.inference.intervals import Interval
from gerrymend.impact.attributes import Reference
from gerrymend.impact.group_sums import GroupSums, known_rows, told
from gerrymend.impact.meetings import (
    check_selected,
    is_named_for,
    meetings,
    reference_place,
    sums_of_meetings,
)
from gerrymend.impact.selected import Selected
from gerrymend.impact.two_rates import (
    fisher,
    ratio_interval,
    ratio_of,
    shortfall,
    standard_deviations,
)
from gerrymend.inputs.protected import Column

# The part of the rows below which a rule may leave a category's ratio out.
SMALL_SHARE = 0.02


class Settings(NamedTuple):
    """Say how tables are made: see impact_ratios()."""

    reference: Reference
    depth: int
    confidence: float
    exclude_small: bool
    min_group_size: int


@dataclass(frozen=True)
class ImpactGroup:
    """A category, or several that meet, beside the reference group of its table.

    Attributes
    ----------
    values : dict
        The category of each attribute of the table.
    n : int
        Rows in the group.
    weight, selected : float
        Their weight, and that of those who are selected: numbers of rows, unless rows weigh
        differently.
    rate : float
        selected / weight.
    share : float
        Its part of the table's weight.
    ratio : float or None
        The impact ratio: its rate over the reference group's. None where nobody of that is
        selected, or the group is excluded.
    ratio_interval : Interval or None
        Koopman's score interval; its upper end is exact where nobody of the group is selected. None
        for the reference group, as the following.
    p_value : float or None
        Of Fisher's exact test, two-sided, against the reference group; None where rows weigh
        differently.
    standard_deviations : float or None
        The difference of the two rates in standard deviations, negative where the group's is lower.
    shortfall : float
        How many more of it would have to be selected for four fifths of the reference group's rate.
    is_reference, is_small, is_excluded, is_few : bool
        Whether it is the reference group; has less than 2 % of the table; has no ratio for that;
        and has fewer than `min_group_size` rows, whose figures are about persons.

    Examples
    --------
    >>> from gerrymend import impact_ratios
    >>> made = impact_ratios([1, 1, 1, 0, 1, 0, 0, 0] * 10, sensitive_features={
    ...     "sex": ["M"] * 4 + ["F"] * 4 + (["M"] * 4 + ["F"] * 4) * 9}, search=False)
    >>> women = made.tables[0].groups[0]
    >>> women.values, women.n, women.rate, round(women.ratio, 3), women.shortfall
    ({'sex': 'F'}, 40, 0.25, 0.333, 14)
    """

    values: Mapping[str, Any]
    n: int
    weight: float
    selected: float
    rate: float
    share: float
    ratio: float | None
    ratio_interval: Interval | None
    p_value: float | None
    standard_deviations: float | None
    shortfall: float
    is_reference: bool = False
    is_small: bool = False
    is_excluded: bool = False
    is_few: bool = False

    def describe(self) -> str:
        """Return who is in, in words."""
        return told(self.values)

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data."""
        interval = self.ratio_interval
        return {
            "values": dict(self.values),
            "group": self.describe(),
            "n": self.n,
            "weight": self.weight,
            "selected": self.selected,
            "rate": self.rate,
            "share": self.share,
            "ratio": self.ratio,
            "ratio_low": None if interval is None else interval.low,
            "ratio_high": None if interval is None else interval.high,
            "p_value": self.p_value,
            "standard_deviations": self.standard_deviations,
            "shortfall": self.shortfall,
            "is_reference": self.is_reference,
            "is_small": self.is_small,
            "is_excluded": self.is_excluded,
            "is_few": self.is_few,
        }


@dataclass(frozen=True)
class CategoryTable:
    """All groups of one attribute, or of several that meet, that have rows.

    Attributes
    ----------
    attributes : tuple of str
    groups : tuple of ImpactGroup
        In the order of their values.
    is_named : bool
        Whether its reference group was named, and is not the most selected one.
    n_unknown : int
        Rows with an unknown category of one of its attributes: in no group.
    unknown_weight, unknown_selected : float
        Their weight, and that of those of them who are selected.

    Examples
    --------
    >>> from gerrymend import impact_ratios
    >>> made = impact_ratios([1, 1, 0, 1, 0, 1], sensitive_features={
    ...     "sex": ["F", "F", "F", "M", "M", None]}, search=False)
    >>> sex = made.tables[0]
    >>> sex.attributes, sex.reference.describe(), sex.n_unknown, sex.unknown_rate
    (('sex',), 'sex = F', 1, 1.0)
    """

    attributes: tuple[str, ...]
    groups: tuple[ImpactGroup, ...]
    is_named: bool
    n_unknown: int
    unknown_weight: float
    unknown_selected: float

    @property
    def unknown_rate(self) -> float | None:
        """The part of the rows of unknown category that is selected; None where there are none."""
        return self.unknown_selected / self.unknown_weight if self.unknown_weight else None

    @property
    def reference(self) -> ImpactGroup | None:
        """The group that the others are compared with; None where nobody is selected."""
        return next((group for group in self.groups if group.is_reference), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        reference = self.reference
        return {
            "attributes": list(self.attributes),
            "reference": None if reference is None else reference.describe(),
            "is_named": self.is_named,
            "n": sum(group.n for group in self.groups),
            "n_unknown": self.n_unknown,
            "unknown_weight": self.unknown_weight,
            "unknown_selected": self.unknown_selected,
            "unknown_rate": self.unknown_rate,
            "groups": [group.to_dict() for group in self.groups],
        }


def category_tables(
    read: Selected, columns: Sequence[Column], settings: Settings
) -> tuple[CategoryTable, ...]:
    """Return the tables of each attribute, and of up to `depth` that meet.

    Raises an ArgumentError for more groups than anyone reads, a group without weight, and a
    reference group without rows, or of which nobody is selected.
    """
    chosen = meetings(columns, settings.depth)
    summed = sums_of_meetings(chosen, read.weight, read.is_in)
    return tuple(
        _table(read, meeting, sums, settings) for meeting, sums in zip(chosen, summed, strict=True)
    )


def _table(
    read: Selected, meeting: Sequence[Column], sums: GroupSums, settings: Settings
) -> CategoryTable:
    """Compare each group of a table with its reference group."""
    names = tuple(column.name for column in meeting)
    share = sums.weight / sums.weight.sum() if len(sums.weight) else sums.weight
    excluded = (share < SMALL_SHARE) & settings.exclude_small
    reference = reference_place(names, sums, settings.reference, excluded)
    is_named = is_named_for(names, settings.reference)
    if is_named and reference is not None:
        check_selected(sums, reference)
        excluded[reference] = False
    groups = tuple(
        _group(place, reference, sums, settings, bool(excluded[place]), float(share[place]),
               read.is_weighted)
        for place in range(len(sums.values))
    )  # fmt: skip
    unknown = ~known_rows(meeting)
    weight, selected = (total(read.weight[one]) for one in (unknown, unknown & read.is_in))
    sums_of_unknown = (weight, selected) if read.is_weighted else (int(weight), int(selected))
    return CategoryTable(names, groups, is_named, int(unknown.sum()), *sums_of_unknown)


def _group(
    place: int,
    reference: int | None,
    sums: GroupSums,
    settings: Settings,
    is_excluded: bool,
    share: float,
    is_weighted: bool,
) -> ImpactGroup:
    """Return a group, compared with the reference group of its table unless it is that."""
    rate = sums.rate(place)
    ratio = interval = p_value = deviations = None
    lacking: float = 0
    if reference is not None and not is_excluded:
        other = sums.rate(reference)
        ratio = ratio_of(rate, other)
        lacking = float(shortfall(rate, other)) if is_weighted else shortfall(rate, other)
        if place != reference:
            pair = (sums.effective(place, is_weighted), sums.effective(reference, is_weighted))
            interval = Interval(*ratio_interval(*pair, settings.confidence))
            deviations = standard_deviations(*pair)
            p_value = None if is_weighted else fisher(*pair)
    n = int(sums.n[place])
    return ImpactGroup(
        values=sums.values[place],
        n=n,
        weight=rate.n if is_weighted else n,
        selected=rate.selected if is_weighted else int(rate.selected),
        rate=rate.value,
        share=share,
        ratio=ratio,
        ratio_interval=interval,
        p_value=p_value,
        standard_deviations=deviations,
        shortfall=lacking,
        is_reference=place == reference,
        is_small=share < SMALL_SHARE,
        is_excluded=is_excluded,
        is_few=n < settings.min_group_size,
    )


def is_below(group: ImpactGroup, part: float) -> bool:
    """Return whether a group has a ratio, and it is below a part of the reference group's rate."""
    return (
        group.ratio is not None
        and group.ratio < part
        and not math.isclose(group.ratio, part, rel_tol=1e-12)
    )
