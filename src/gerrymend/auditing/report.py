"""AuditReport: the findings of an audit, as data first, with hooks for those who render it."""

from dataclasses import dataclass
from typing import Any

from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.calibration_curve import CalibrationCurve
from gerrymend.auditing.doubts import Doubt
from gerrymend.auditing.in_a_sentence import SentenceGroup
from gerrymend.auditing.inference.discovery import Discovery
from gerrymend.auditing.inference.held_out import HeldOut
from gerrymend.auditing.inference.intervals import GroupEstimate
from gerrymend.auditing.inference.permutation_result import PermutationTest
from gerrymend.auditing.inference.population import PopulationBound, planned_rows
from gerrymend.auditing.intersections import NO_INTERSECTIONS, Intersections
from gerrymend.auditing.marginal_rates import OverallRate
from gerrymend.auditing.missing_values import NONE_MISSING, MissingValues
from gerrymend.auditing.provenance import Provenance
from gerrymend.auditing.rendered import Rendered
from gerrymend.auditing.sharpest import LEVEL, SharpestGroup
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.strata import EmptyStrata, Stratum
from gerrymend.auditing.subgroup import ROUNDING, Subgroup
from gerrymend.auditing.verdict import verdict
from gerrymend.inputs.settings import check_gamma
from gerrymend.notions import AnyNotion
from gerrymend.subgroups.base import SubgroupClass


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport(Rendered):
    """The findings of an audit, on the rows that it was given.

    Attributes
    ----------
    worst : Subgroup or None
        The worst subgroup found, of those large enough to be described; None where none differs.
    unfairness : float
        The largest absolute unfairness found, in groups of any size. It is a lower bound for the
        class, unless `exact`.
    upper_bound : float
        No subgroup of the class exceeds it, on these rows.
    gamma, n_rows : float, int
        The unfairness that is allowed, and the number of rows that were audited.
    subgroups : SubgroupClass
        The class that was searched.
    covers : str
        The class in words: all that `upper_bound` is about.
    no_bound : str or None
        If no bound was proven, why, and what to change. `upper_bound` then holds for any set of
        rows.
    partial : tuple of (str, float)
        Parts of the class, in words, and an upper bound for each of them.
    min_group_size : int
        Groups with fewer rows in the event of a rate (for false positives: negatives), inside or
        outside, are not described. The bounds cover them all the same.
    labels : pair
        The negative and the positive label; of decisions, where rows have no labels.
    is_labelled : bool
        Whether rows have labels.
    notions : tuple of FairnessNotion, or of OutcomeNotion
        What was compared; the bounds hold for all of them. They can be passed to audit() again.
    favourable : {"positive", "negative"} or None
        The decision that people want; None if it was not given.
    side : {"both", "disadvantaged"}
        Whether figures, bounds and verdict are over all subgroups, or over those that are treated
        worse than the overall.
    disadvantaged, favoured : Subgroup or None
        The subgroups that are treated worst and best, of those large enough to be described. None
        if there is none, or if it is not known whether a higher rate is better or worse for a
        group. `favoured` is also None if `side` is "disadvantaged".
    favoured_is_rest : bool
        Whether `favoured` are all who are not in `disadvantaged`.
    in_a_sentence : SentenceGroup or None
        The worst group of at most three conditions, if the worst of all (`disadvantaged` or
        `worst`) is a formula.
    lead : Subgroup or None
        The group that text and page begin with: `in_a_sentence` where that has most, else
        `disadvantaged`, or `worst` where it is not known who is; but where the p-value of these is
        above 5 %, or none but a formula tells who is in, the group of `sharpest` if there is one.
        In to_dict() with a sentence, and whose the p-value is ("group" or "search").
    core : Subgroup or None
        The part of the worst group that has at least 80 % of its unfairness and 1.5 times its gap.
    top : tuple of Subgroup
        Subgroups that differ from each other, `worst` first, up to the number asked for.
    why_fewer : tuple of str
        Why `top` has fewer than were asked for: "alike", "shared", "little", "few_rows", "time".
    permutation_test : PermutationTest or None
        How large an unfairness chance alone makes, if `n_permutations` were asked for.
    sharpest : SharpestGroup or None
        The group whose rate is least likely chance, by the same permutations.
    held_out : HeldOut or None
        The group that leads, and others, as measured on rows that were held out of the search.
    intervals : tuple of GroupEstimate
        For classes that list their groups: each group, with intervals that hold simultaneously.
    population : PopulationBound or None
        Bounds for the population that the rows were drawn from, if `confidence` was passed.
    discovery : Discovery or None
        How many groups are flagged of those listed and of all intersections, where
        `discovery_rate` was passed; its `groups` are the flagged ones that are in no list.
    attributes : tuple of str
        The protected columns.
    overall_rates : tuple of OverallRate
        The rate that groups are compared with, for each notion.
    control_features : tuple of str
        The columns within whose values groups are compared; empty where there are none.
    strata : tuple of Stratum
        Each stratum with the rate that its rows are compared with, for each notion, except for
        `strata_left_out` strata with too few rows to be described.
    empty_strata : tuple of EmptyStrata
        For each notion, the strata in which no row counts for it, which were left out on request.
    marginals : tuple of GroupEstimate
        The groups of one attribute at a time, whatever the class, with intervals that hold
        simultaneously, except for `marginals_left_out` groups too small to be described.
    marginal_unfairness : float
        The largest absolute unfairness of these groups.
    single_unfairness : float
        The same, also over each interval of a number that may be described: the most that an audit
        of one attribute at a time would find.
    single_interval : Subgroup or None
        The interval of a number that has that, where it has more than every marginal group and no
        small group follows from it beside all else that is told.
    intersections : Intersections
        The groups in which two categories meet, by `intersection` of audit() or the first two of
        few values, without those that may not be described or would tell of these.
    weighted : bool
        Whether rows have different weights.
    protected_used : tuple of str or None
        The protected columns that the model itself decides by; None where that is not known.
    provenance : Provenance or None
        When, by what and from which data the report was made.
    missing : MissingValues
        Rows in which an attribute is missing: in a category of their own, or dropped.
    rare_values : tuple of (str, int)
        Attributes with values that fewer than `min_group_size` rows have, and how many these are.
    kept_back : tuple of str
        Parts that are left out because, with the others, they would reveal fewer than
        `min_group_size` rows:
        "disadvantaged", "favoured", "in_a_sentence" and "sharpest" if a worse group is not told,
        "core", "composition" if some of who is in is not, "time" if there was none to rule it out.
    calibration : CalibrationCurve or None
        Of multicalibration, what was predicted and what happened by bins of the score, to the group
        that the report begins with and to everyone.
    warnings : tuple of Doubt
        Reasons to doubt the verdict, each with a `code` and a `sentence`; shown before it.
    rounding : float
        Differences up to this are taken for rounding errors: 10⁻¹² of the largest outcome.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    check_report
        Verify a report against the data that it was made from, in exact rational arithmetic.
    AuditDisplay
        Draw rates of groups, one a line: those that an audit found, and others to compare.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0] * 40, ([1] * 10 + [0] * 10) + ([0] * 10 + [1] * 10), sensitive_features={
    ...     "race": ["blue"] * 20 + ["green"] * 20, "sex": (["M"] * 10 + ["F"] * 10) * 2})
    >>> report.marginal_unfairness, report.unfairness
    (0.0, 0.125)
    >>> print(report.to_markdown().splitlines()[0])
    # Subgroup fairness audit
    """

    worst: Subgroup | None
    unfairness: float
    upper_bound: float
    gamma: float
    n_rows: int
    subgroups: SubgroupClass
    covers: str
    no_bound: str | None = None
    partial: tuple[tuple[str, float], ...] = ()
    min_group_size: int = MIN_GROUP_SIZE
    labels: tuple[Any, Any] = (0, 1)
    is_labelled: bool = True
    notions: tuple[AnyNotion, ...] = ()
    favourable: str | None = None
    side: str = "both"
    disadvantaged: Subgroup | None = None
    favoured: Subgroup | None = None
    favoured_is_rest: bool = False
    in_a_sentence: SentenceGroup | None = None
    lead: Subgroup | None = None
    core: Subgroup | None = None
    top: tuple[Subgroup, ...] = ()
    why_fewer: tuple[str, ...] = ()
    permutation_test: PermutationTest | None = None
    sharpest: SharpestGroup | None = None
    held_out: HeldOut | None = None
    intervals: tuple[GroupEstimate, ...] = ()
    population: PopulationBound | None = None
    discovery: Discovery | None = None
    attributes: tuple[str, ...] = ()
    overall_rates: tuple[OverallRate, ...] = ()
    control_features: tuple[str, ...] = ()
    strata: tuple[Stratum, ...] = ()
    strata_left_out: int = 0
    empty_strata: tuple[EmptyStrata, ...] = ()
    marginals: tuple[GroupEstimate, ...] = ()
    marginals_left_out: int = 0
    marginal_unfairness: float = 0.0
    single_unfairness: float = 0.0
    single_interval: Subgroup | None = None
    intersections: Intersections = NO_INTERSECTIONS
    weighted: bool = False
    protected_used: tuple[str, ...] | None = None
    provenance: Provenance | None = None
    missing: MissingValues = NONE_MISSING
    rare_values: tuple[tuple[str, int], ...] = ()
    kept_back: tuple[str, ...] = ()
    calibration: CalibrationCurve | None = None
    warnings: tuple[Doubt, ...] = ()
    rounding: float = ROUNDING

    @property
    def exact(self) -> bool:
        """Return whether no subgroup of the class exceeds what was found."""
        return self.upper_bound <= self.unfairness + self.rounding

    @property
    def verdict(self) -> str:
        """Return "within gamma" (proven), "exceeds gamma" (a subgroup shows it) or "undecided"."""
        return verdict(self.unfairness, self.upper_bound, self.gamma, self.rounding)

    @property
    def p_value(self) -> float | None:
        """Return the p-value of the largest unfairness, of "no subgroup differs at all".

        None if that was not tested. Of notions that are tested apart it is that of the one with the
        largest unfairness; `permutation_test.families` has all of them.
        """
        return None if self.permutation_test is None else self.permutation_test.p_value

    @property
    def stands_out(self) -> bool | None:
        """Return whether a group stands out from chance, with a p-value of at most 5 %.

        It may be within gamma all the same: unfairness counts how many people are hit. `sharpest`
        tells who it is, where that may be told. None where it was not tested, or by so few
        permutations that none could.
        """
        if self.sharpest is None or self.permutation_test is None:
            return None
        if self.sharpest.p_value <= LEVEL:
            return True
        return False if self.permutation_test.is_enough else None

    @property
    def n_permutations(self) -> int:
        """Return the number of permutations behind the p-values."""
        return 0 if self.permutation_test is None else self.permutation_test.n_draws

    @property
    def detectable(self) -> float | None:
        """Return the least unfairness that can be told from chance at 5 %; None if not tested."""
        return None if self.permutation_test is None else self.permutation_test.detectable

    @property
    def population_bound(self) -> float | None:
        """Return what no subgroup of the people exceeds, with `confidence`; None if not asked."""
        return None if self.population is None else self.population.upper_bound

    def rows_needed(self, gamma: float | None = None, power: float = 0.8) -> int | None:
        """Return how many rows would tell whether the people are within gamma, to plan a sample.

        Needs `confidence` of audit(). If the largest unfairness is as on these rows, an audit of so
        many tells on which side of gamma it is with a probability of `power` or more. None where no
        number is enough: this audit is undecided itself, or what it found is exactly gamma.

        >>> from gerrymend import audit
        >>> report = audit([0] * 400, [1, 0, 0, 0] * 50 + [1, 0, 0] * 66 + [0] * 2, confidence=0.95,
        ...                sensitive_features={"race": ["blue"] * 200 + ["green"] * 200})
        >>> report.population.verdict, report.population.rows_needed, report.rows_needed()
        ('undecided', 1831, 5302)
        """
        found = {
            "unfairness": self.unfairness,
            "upper_bound": self.upper_bound,
            "gamma": self.gamma if gamma is None else check_gamma(gamma),
            "rounding": self.rounding,
        }
        return planned_rows(self.population, self.n_rows, **found, power=power)

    @property
    def withheld(self) -> bool:
        """Return whether a group too small to be described is worse than `worst`."""
        described = 0.0 if self.worst is None else abs(self.worst.unfairness)
        return self.unfairness > described + self.rounding

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; nothing of a row is in it.

        It is what JSON, Markdown, pages and text are made from, and what check_report() checks.
        Its names are a format that programs read: they are added to, not changed.
        """
        from gerrymend.auditing.report_data import report_data

        return report_data(self)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the groups that are told, a row each, as a frame of a library.

        `told_as` says where the report has a group: "worst", "marginal", "intersection", …; one may
        be there more than once. Intervals are of groups that are listed.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Or another library that narwhals makes frames of.

        Examples
        --------
        >>> from gerrymend import audit
        >>> A = {"race": ["blue"] * 20 + ["green"] * 20}
        >>> report = audit([0] * 40, [1] * 10 + [0] * 30, sensitive_features=A)
        >>> print(report.to_frame()[["told_as", "group", "size", "rate"]].to_string(index=False))
         told_as        group  size  rate
           worst  race = blue    20   0.5
             top  race = blue    20   0.5
        marginal  race = blue    20   0.5
        marginal race = green    20   0.0
        """
        from gerrymend.auditing.report_frame import report_frame

        return report_frame(self.to_dict(), backend)

    def __repr__(self) -> str:
        names = ("verdict", "unfairness", "upper_bound", "gamma")
        # Who every output leads with: the worst may take a formula.
        lead = None if self.lead is None else self.lead.describe()
        told = {name: getattr(self, name) for name in names}
        return short_repr(self, **told, lead=lead, n_rows=self.n_rows)
