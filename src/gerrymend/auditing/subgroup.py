"""Measure a subgroup: its rule, and its rate on the rows that the rule selects."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import inert
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.composition import Trait, composition
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.inputs.bins import protected
from gerrymend.inputs.protected import Column
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.rules import Members, Rare, Rule

# Differences below this are rounding, not unfairness, where outcomes are of size 1 as in rates.
ROUNDING = 1e-12
# Two groups are the same where they share more than this part of what either covers.
MOST_SHARED = 0.5


def rounding_of(*outcomes: float) -> float:
    """Return what rounding alone may make of an unfairness, by the ends of what is averaged.

    A sum is off by a part of the largest of its terms. Of a rate these are of size 1; of salaries
    they are not. A power of ten is enough to know, and tells of no row how much it has.

    >>> rounding_of(0.0, 1.0), rounding_of(-20_000.0, 53_000.0)
    (1e-12, 1e-07)
    """
    largest = max(map(abs, outcomes))
    return ROUNDING * 10.0 ** math.ceil(math.log10(largest)) if largest else 0.0


def beyond_rounding(unfairness: float, rounding: float = ROUNDING) -> float:
    """Return an unfairness, or 0 where it is no more than rounding.

    >>> beyond_rounding(0.02), beyond_rounding(4e-13), beyond_rounding(4e-10, rounding_of(5e4))
    (0.02, 0.0, 0.0)
    """
    return unfairness if unfairness > rounding else 0.0


class Apart(NamedTuple):
    """What a further group has without those of it who are in the group that leads.

    `shared` is the part of the group's weight in the event that is in both, `rate` that of those
    who are left of it, and `overall_rate` that of all who are left, which it is compared with: at
    the rates of their strata, if there are any, or the reference of the notion's own.
    """

    shared: float
    rate: float
    overall_rate: float


@dataclass(frozen=True, eq=False, repr=False)
class Subgroup:
    """A subgroup and how it is treated, on the rows that were audited.

    Attributes
    ----------
    rule : Rule
        Who is in.
    notion : FairnessNotion
        The rate that was compared.
    unfairness : float
        share·(rate − overall_rate): positive where the group's rate is the higher one.
    share : float
        The weight of the group's rows in the event, over the weight of all rows. For false
        positives this is the group's negatives over all rows, not its share of the population.
    size : int
        Rows in the group, in the event or not.
    rate, overall_rate : float
        The rate in the group, and the one it is compared with: overall; with control features, the
        one that its members would have at the rates of their strata; or the notion's own reference.
        Of notions of scores, what happened to the group, and what was predicted for it.
    rest_rate : float or None
        The rate of everyone else, while the overall rate includes the group. None if groups are
        compared with strata or a reference, or if there is nobody else.
    composition : tuple of Trait
        Who is in the group, by its most common values beside everyone's; those that differ most
        first. Empty where that was not worked out.
    within_strata : bool
        Whether `overall_rate` is that of the strata of its members.
    reference : str or None
        What `overall_rate` is, in words, where the notion has a reference of its own.
    apart : Apart or None
        Of a further group of a report, what it has without those who are in the one that leads;
        None where they share nobody, or where that would tell of few rows.
    rounding : float
        An unfairness up to this is taken for a rounding error.
    p_value : float or None
        Of so large an unfairness of any group that was searched, by the permutations of its own
        notion: adjusted for the search, and for other notions that are tested apart. None where
        that was not tested, and of groups that are not of the class.

    See Also
    --------
    AuditReport : The findings of an audit, on the rows that it was given.
    Movement
        The subgroup whose treatment, beside everyone's, moved most; and what none moved by more.

    Examples
    --------
    >>> from gerrymend import audit
    >>> A = {"race": ["blue", "blue", "green", "green"] * 10}
    >>> worst = audit([0] * 40, [1, 1, 0, 1] * 10, sensitive_features=A).worst
    >>> worst.describe(), worst.size, worst.rate, worst.overall_rate
    ('race = blue', 20, 1.0, 0.75)
    >>> worst.gap, round(worst.ratio, 3)
    (0.25, 1.333)
    >>> worst.contains({"race": ["green", "blue"]}).tolist()
    [False, True]
    """

    rule: Rule
    notion: FairnessNotion
    unfairness: float
    share: float
    size: int
    rate: float
    overall_rate: float
    rest_rate: float | None = None
    composition: tuple[Trait, ...] = ()
    within_strata: bool = False
    reference: str | None = None
    apart: Apart | None = None
    rounding: float = ROUNDING
    p_value: float | None = None

    @property
    def gap(self) -> float:
        """Return rate − overall_rate: the plain difference, whatever the size of the group."""
        return self.rate - self.overall_rate

    @property
    def ratio(self) -> float:
        """Return rate / overall_rate; NaN where both are 0, infinite where only the latter is."""
        if self.overall_rate == 0:
            return float("nan") if self.rate == 0 else float("inf")
        return self.rate / self.overall_rate

    @property
    def differs(self) -> bool:
        """Return whether its unfairness is more than rounding."""
        return abs(self.unfairness) > self.rounding

    @property
    def treated(self) -> str | None:
        """Return "worse" or "better" than the overall; None where neither is known to be so."""
        if not self.differs or not self.notion.harm:
            return None
        return "worse" if self.unfairness * self.notion.harm > 0 else "better"

    def describe(self) -> str:
        """Return who is in, in words."""
        return inert(self.rule.describe())

    def withholding(self, rare: Rare) -> "Subgroup":
        """Return the same subgroup, described without these values."""
        return replace(self, rule=self.rule.withholding(rare))

    def contains(self, sensitive_features: Any) -> Members:
        """Return who is in, for any rows that have the attributes."""
        return self.rule.contains(sensitive_features)

    def to_dict(self) -> dict[str, Any]:
        """Return the subgroup as plain data."""
        return {
            "subgroup": self.describe(),
            "rule": self.rule.to_dict(),
            "notion": self.notion.name,
            "unit": self.notion.unit,
            "unfairness": self.unfairness,
            "share": self.share,
            "size": self.size,
            "rate": self.rate,
            "overall_rate": self.overall_rate,
            "rest_rate": self.rest_rate,
            "within_strata": self.within_strata,
            **({} if self.reference is None else {"reference": self.reference}),
            **({} if self.apart is None else {"apart": self.apart._asdict()}),
            **({} if self.p_value is None else {"p_value": self.p_value}),
            "gap": self.gap,
            "ratio": self.ratio if math.isfinite(self.ratio) else None,
            "treated": self.treated,
            "composition": [trait.to_dict() for trait in self.composition],
        }

    def __repr__(self) -> str:
        return short_repr(
            self,
            who=self.describe(),
            unfairness=self.unfairness,
            size=self.size,
            rate=self.rate,
            overall_rate=self.overall_rate,
        )

    def __str__(self) -> str:
        """Return who is in, in words, a sum of many terms by the largest of them."""
        from gerrymend.reporting.audit.subgroup_words import who_words
        from gerrymend.reporting.wording import visible

        return visible(who_words(self.to_dict()))

    def _repr_html_(self) -> str | None:
        from gerrymend.reporting.audit.page import subgroup_fragment

        return subgroup_fragment(self.to_dict())


def shared_part(mass: Array, group: Members, other: Members, *, divisions: bool = True) -> float:
    """Return the part that two groups share of what they cover, by mass (Jaccard).

    With `divisions` a group and its complement are one division of the rows, and count as one.
    """

    def jaccard(first: Members, second: Members) -> float:
        either = float(mass[first | second].sum())
        return float(mass[first & second].sum()) / either if either > 0 else 1.0

    return max(jaccard(group, other), jaccard(group, ~other) if divisions else 0.0)


@dataclass(frozen=True, eq=False)
class EventCells:
    """The cells of some rows, as one notion sees them: which have rows in its event, and how much.

    `columns` and `n_rows` are over all cells; `mass`, the weight in the event, is over the
    `active` ones, those that have any, and so is `expected`, what their outcomes would sum to at
    the rates of their strata: None where there are none, and the rate of all is expected. With a
    `reference` of the notion's own that is, `compared_with` in words. Of notions of scores outcomes
    are errors, and `predicted` is what scores sum to. `rounding` is what rounding alone may make of
    an unfairness (`rounding_of`).
    """

    notion: FairnessNotion
    columns: tuple[Column, ...]
    n_rows: NDArray[np.intp]
    active: NDArray[np.intp]
    mass: Array
    total_weight: float
    expected: Array | None = None
    reference: float | None = None
    compared_with: str | None = None
    predicted: Array | None = None
    rounding: float = ROUNDING

    def measure(
        self,
        rule: Rule,
        members: Members,
        outcomes: Array,
        min_group_size: int = MIN_GROUP_SIZE,
    ) -> Subgroup | None:
        """Shorten a rule to few digits and measure it on the rows that its description selects.

        Parameters
        ----------
        rule : Rule
            As the search has it, in all its digits.
        members : array of bool over active cells
            Who is in; it has the last word over the rule, whose arithmetic may round.
        outcomes : array over active cells
            Σ w·u of each.
        min_group_size : int
            The floor of `small_groups`, for who is in it.

        Returns
        -------
        Subgroup or None
            None where nobody is in.
        """
        if not members.any():
            return None
        columns = {column.name: column for column in self.columns}
        # Cells without rows in the event had no part in the search: there the rule decides.
        selected = rule.members(columns)
        selected[self.active] = members
        measured = self.as_treated(rule.in_few_digits(columns, selected), outcomes)
        who = composition(protected(self.columns), self.n_rows, selected, min_group_size)
        return replace(measured, composition=who)

    def as_treated(self, rule: Rule, outcomes: Array) -> Subgroup:
        """Measure a rule as it is, without shortening it; `outcomes` is Σ w·u by active cell."""
        selected = rule.members({column.name: column for column in self.columns})
        members = selected[self.active]
        mass = float(self.mass[members].sum())
        overall = self.reference
        if overall is None:
            overall = float(outcomes.sum() / self.mass.sum())
        if self.expected is not None and mass > 0:
            overall = float(self.expected[members].sum()) / mass
        # Of a group without rows in the event nothing differs.
        rate = float(outcomes[members].sum()) / mass if mass > 0 else overall
        rest = None
        others = float(self.mass[~members].sum())
        if self.reference is None and self.expected is None and others > 0:
            rest = float(outcomes[~members].sum()) / others
        share = mass / self.total_weight
        size = int(self.n_rows[selected].sum())
        unfairness = share * (rate - overall)
        if self.predicted is not None and mass > 0:
            score = float(self.predicted[members].sum()) / mass
            rate += score
            overall += score
        return Subgroup(
            rule,
            self.notion,
            unfairness,
            share,
            size,
            rate,
            overall,
            rest,
            within_strata=self.expected is not None,
            reference=self.compared_with,
            rounding=self.rounding,
        )
