"""check_report(): whether all that a report states is so."""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.classes import NotListedError, bits, subgroups_of
from gerrymend.checker.exact import ZERO, Table, exact, read_table
from gerrymend.checker.figures import (
    NOTIONS,
    TOLERANCE,
    Figures,
    Measured,
    outcomes_of,
    shown,
)
from gerrymend.checker.listed import check_listed
from gerrymend.checker.result import CheckResult
from gerrymend.checker.rules import RuleError, cuts, members, members_in_floats
from gerrymend.checker.words import members_by_words

# By how much a report lets a number exceed another one before it says so.
ROUNDING = Fraction(1, 10**12)

_FIELDS = (
    "verdict", "gamma", "unfairness", "upper_bound", "exact", "withheld", "n_rows",
    "min_group_size", "class", "notions", "worst",
)  # fmt: skip
_FIGURES = ("size", "share", "rate", "overall_rate", "unfairness", "gap", "ratio")
_OF_SUBGROUPS = ("subgroup", "rule", "notion", *_FIGURES)


def check_report(
    report: Any,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
) -> CheckResult:
    """Verify a report against the data that it was made from, in exact rational arithmetic.

    Members of every subgroup are worked out anew from the plain data of its rule, and its figures
    summed in fractions; a stated figure may differ by 10⁻⁹. A float is taken as the decimal that it
    prints as. Where the class of subgroups is small (200,000 subgroups, for linear thresholds some
    30 distinct rows in 4 dimensions), all are listed, and none may exceed the upper bound; where it
    is not, the bound is only verified if no set of rows whatever could exceed it.

    None of the auditors' code is used. It loops over rows in Python: a second for some 200,000 of
    them, ten times that where each has a weight of its own.

    Parameters
    ----------
    report : AuditReport, its `to_dict()`, or the JSON of that
    y_true, y_pred, sensitive_features, sample_weight, threshold, decision_probabilities, pos_label
        As they were passed to `audit()`.

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> from gerrymend import audit, check_report
    >>> data = dict(y_true=[0] * 40, y_pred=[1, 1, 0, 1] * 10,
    ...             sensitive_features={"race": ["blue", "blue", "green", "green"] * 10})
    >>> report = audit(**data).to_dict()
    >>> print(check_report(report, **data))
    The report holds.
    Checked:
    - The worst subgroup: its members, 20 of 40 rows, and all of its figures.
    - The 2 groups that are listed, and the overall rates.
    - The verdict, and that the figures agree with each other.
    - The upper bound: none of the 4 subgroups of the class, all listed, has an unfairness above
    1/8, over 2 distinct rows that count.
    Not checked:
    - What is said of chance: generalisation.
    >>> report["worst"]["rate"] = 0.9
    >>> check_report(report, **data).problems
    ['The worst subgroup: its rate is stated as 0.9, and is 1.']
    """
    stated = _plain_data(report)
    table = read_table(
        y_true, y_pred, sensitive_features, sample_weight, threshold, decision_probabilities,
        pos_label,
    )  # fmt: skip
    return _Check(stated, table).run()


def _plain_data(report: Any) -> Mapping[str, Any]:
    if isinstance(report, str | bytes):
        try:
            report = json.loads(report)
        except json.JSONDecodeError as problem:
            raise ValueError(f"report is text, and not the JSON of a report: {problem}.") from None
    stated = report.to_dict() if hasattr(report, "to_dict") else report
    if not isinstance(stated, Mapping):
        raise TypeError(
            "report must be what audit() returned, its to_dict(), or the JSON of that; got "
            f"{type(report).__name__}."
        )
    missing = [name for name in _FIELDS if name not in stated]
    if missing:
        raise ValueError(
            f"report has no {', '.join(map(repr, missing))}; pass what audit() returned, its "
            "to_dict(), or the JSON of that."
        )
    for name in ("gamma", "unfairness", "upper_bound", "n_rows", "min_group_size"):
        _number(stated, name, "report")
    for part in filter(None, [stated["worst"], *(stated.get("top") or [])]):
        if missing := [name for name in _OF_SUBGROUPS if name not in part]:
            raise ValueError(f"A subgroup of report has no {', '.join(map(repr, missing))}.")
    return stated


def _number(stated: Mapping[str, Any], name: str, where: str) -> Fraction:
    try:
        return exact(stated[name])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name!r} of {where} must be a finite number; got {stated.get(name)!r}."
        ) from None


class _Check:
    """The checks of one report, and what they have found so far."""

    def __init__(self, stated: Mapping[str, Any], table: Table) -> None:
        self.stated, self.table = stated, table
        self.result = CheckResult()
        self.measured: dict[str, Measured] = {}
        self.found: list[tuple[str, list[bool], Fraction]] = []
        self.gamma, self.unfairness, self.upper_bound = (
            _number(stated, name, "report") for name in ("gamma", "unfairness", "upper_bound")
        )
        self.described = [("The worst subgroup", stated["worst"])] if stated["worst"] else []
        self.described += [
            (f"Subgroup {i} of the top ones", one)
            for i, one in enumerate(stated.get("top") or [], start=1)
            if one != stated["worst"]
        ]

    def run(self) -> CheckResult:
        """All checks."""
        if (n := self.table.n_rows) != self.stated["n_rows"]:
            self.problem(f"n_rows is stated as {self.stated['n_rows']}, and the data has {n} rows.")
        self.read_notions()
        for where, one in self.described:
            self.check_subgroup(where, one)
        check_listed(self.stated, self.table, self.measured, self.result)
        before = len(self.result.problems)
        self.check_agreement()
        if len(self.result.problems) == before:
            self.result.checked.append("The verdict, and that the figures agree with each other.")
        if self.measured:
            self.check_bounds()
        if self.stated.get("partial"):
            self.result.not_checked.append("Bounds over parts of the class: they are in words.")
        statistics = ("p_value", "held_out", "intervals", "generalisation")
        if stated := [name for name in statistics if self.stated.get(name)]:
            self.result.not_checked.append(f"What is said of chance: {', '.join(stated)}.")
        return self.result

    def problem(self, sentence: str) -> None:
        """Note what is not as stated."""
        self.result.problems.append(sentence)

    def read_notions(self) -> None:
        """What counts, and as what, for each notion of the report."""
        for stated in self.stated["notions"]:
            name = stated["name"]
            outcomes = outcomes_of(stated)
            if outcomes != NOTIONS.get(name, outcomes):
                self.problem(f"The notion {name} is stated to be another rate than it is.")
                outcomes = NOTIONS[name]
            measured = Measured.of(outcomes, self.table)
            if measured.active:
                self.measured[name] = measured
            else:
                self.problem(f"No row of the data counts for the notion {name}.")

    def check_subgroup(self, where: str, stated: Mapping[str, Any]) -> None:
        """Its members, and every figure that is stated of it."""
        measured = self.measured.get(stated["notion"])
        if measured is None:
            self.problem(f"{where}: its notion, {stated['notion']}, is none of the report's.")
            return
        try:
            inside = members(stated["rule"], self.table)
        except RuleError as unreadable:
            self.problem(f"{where}: {unreadable}.")
            return
        figures = measured.figures(inside)
        self.found.append((stated["notion"], inside, abs(figures.unfairness)))
        problems = [
            *_wrong_figures(stated, figures, measured.scale, where),
            *self.too_small(figures),
            *self.unsafe_numbers(stated["rule"], inside),
        ]
        by_words = members_by_words(stated["subgroup"], self.table)
        if by_words is None:
            self.result.not_checked.append(f"{where}: its description in words, only its rule.")
        elif by_words != inside:
            problems.append("its description in words selects other rows than its rule.")
        for sentence in problems:
            self.problem(f"{where}: {sentence}")
        if not problems:
            self.result.checked.append(
                f"{where}: its members, {figures.size:,} of {self.table.n_rows:,} rows, and all of "
                "its figures."
            )

    def too_small(self, figures: Figures) -> Iterator[str]:
        """A described group leaves enough rows on either side that no one is identified."""
        smallest = self.stated["min_group_size"]
        if min(figures.rows_inside, figures.rows_outside) < smallest:
            yield (
                f"it has {figures.rows_inside} rows that count, and {figures.rows_outside} are "
                f"outside; a group is not described if either is below min_group_size, {smallest}."
            )

    def unsafe_numbers(self, rule: Mapping[str, Any], inside: list[bool]) -> Iterator[str]:
        """No number shown is a row's own, and rounding moves no row; the user's own cuts may."""
        if self.stated["class"]["name"] != "ExplicitGroups":
            for what, cut, values in cuts(rule, self.table):
                if exact(cut) in values:
                    yield f"{what}, {cut!r}, equals that of a row."
        if rule["kind"] == "linear" and members_in_floats(rule, self.table) != inside:
            yield "rounding decides who is in: float64 and exact arithmetic select different rows."

    def check_agreement(self) -> None:
        """Each stated number and word against the others."""
        unfairness, upper, stated = self.unfairness, self.upper_bound, self.stated
        described = [abs(_number(one, "unfairness", where)) for where, one in self.described]
        if upper < unfairness:
            self.problem(
                f"upper_bound is stated as {stated['upper_bound']}, below unfairness, "
                f"{stated['unfairness']}."
            )
        for (where, _), value in zip(self.described, described, strict=True):
            if value > unfairness + ROUNDING:
                self.problem(
                    f"unfairness is stated as {stated['unfairness']}, and {where[0].lower()}"
                    f"{where[1:]} has {float(value)}."
                )
        worst = described[0] if stated["worst"] else ZERO
        flags = {
            "verdict": self.verdict(),
            "exact": upper <= unfairness + ROUNDING,
            "withheld": unfairness > worst + ROUNDING,
        }
        for name, implied in flags.items():
            if stated[name] != implied:
                self.problem(
                    f"{name} is stated as {stated[name]!r}, and the report's numbers make it "
                    f"{implied!r}."
                )

    def verdict(self) -> str:
        """What follows from the stated bounds."""
        if self.unfairness > self.gamma + ROUNDING:
            return "exceeds gamma"
        return "within gamma" if self.upper_bound <= self.gamma + ROUNDING else "undecided"

    def check_bounds(self) -> None:
        """The two bounds, against all subgroups of the class where these can be listed."""
        tolerance = TOLERANCE * max(measured.scale for measured in self.measured.values())
        any_rows = max(measured.worst_of_any_rows() for measured in self.measured.values())
        if self.unfairness > any_rows + tolerance:
            self.problem(
                f"unfairness is stated as {self.stated['unfairness']}, and no set of rows has more "
                f"than {shown(any_rows)}."
            )
        try:
            listed = {
                name: subgroups_of(self.stated["class"], self.table, measured.active)
                for name, measured in self.measured.items()
            }
        except NotListedError as reason:
            self.without_listing(reason, any_rows, tolerance)
            return
        for name, inside, _ in self.found:
            if bits(inside[cell] for cell in self.measured[name].active) not in listed[name]:
                self.problem(f"A subgroup that is described is none of {self.stated['subgroups']}.")
        self.with_listing(listed, tolerance)

    def without_listing(
        self, reason: NotListedError, any_rows: Fraction, tolerance: Fraction
    ) -> None:
        """A bound that no set of rows exceeds holds for every class."""
        if self.upper_bound >= any_rows - tolerance:
            self.result.checked.append(
                f"The upper bound: no set of rows at all has an unfairness above {shown(any_rows)}."
            )
        else:
            self.result.not_checked.append(
                f"The upper bound was not checked by enumeration: {reason}."
            )
        if self.stated["withheld"]:
            self.result.not_checked.append("That a group which is not described has `unfairness`.")
        elif self.stated["verdict"] == "exceeds gamma":
            worst = max((value for *_, value in self.found), default=ZERO)
            if worst <= self.gamma:
                self.problem("verdict is stated as 'exceeds gamma', and no subgroup shows it.")

    def with_listing(self, listed: dict[str, set[int]], tolerance: Fraction) -> None:
        """The worst of all subgroups is what every claim about the class comes down to."""
        worst = max(measured.worst(listed[name]) for name, measured in self.measured.items())
        verdict = self.stated["verdict"]
        claims = {
            "upper_bound": worst <= self.upper_bound + tolerance,
            "unfairness": self.unfairness <= worst + tolerance,
            "verdict": not (verdict == "within gamma" and worst > self.gamma + ROUNDING)
            and not (verdict == "exceeds gamma" and worst <= self.gamma),
        }
        for name, holds in claims.items():
            if not holds:
                self.problem(
                    f"{name} is stated as {self.stated[name]!r}, and the worst subgroup of the "
                    f"class has {shown(worst)}."
                )
        if all(claims.values()):
            count = sum(map(len, listed.values()))
            cells = max(len(measured.active) for measured in self.measured.values())
            self.result.checked.append(
                f"The upper bound: none of the {count:,} subgroups of the class, all listed, has "
                f"an unfairness above {shown(worst)}, over {cells:,} distinct rows that count."
            )


def _wrong_figures(
    stated: Mapping[str, Any], figures: Figures, scale: Fraction, where: str
) -> Iterator[str]:
    for name in _FIGURES:
        value = getattr(figures, name)
        tolerance = TOLERANCE * scale if name != "size" else ZERO
        if name == "ratio":
            if value is None or stated["ratio"] is None:
                if value is not stated["ratio"]:
                    yield f"its ratio is stated as {stated['ratio']!r}, and is {shown(value)}."
                continue
            # A quotient of two figures that are each as near as that.
            tolerance = tolerance * (1 + abs(value)) / abs(figures.overall_rate)
        if abs(_number(stated, name, where) - value) > tolerance:
            yield f"its {name} is stated as {stated[name]!r}, and is {shown(value)}."
