"""check_report(): verify every statement of a report, or name it as not checked."""

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.bounds import ROUNDING, Found, check_bounds
from gerrymend.checker.chance import check_generalisation, check_permutations
from gerrymend.checker.composition import wrong_composition
from gerrymend.checker.direction import check_direction, check_sides, wrong_treated
from gerrymend.checker.disclosed import listed_rare_values, wrong_reference
from gerrymend.checker.exact import ZERO, Table, exact, read_table
from gerrymend.checker.figures import NOTIONS, Figures, Measured, outcomes_of, wrong_figures
from gerrymend.checker.form import check_groups, unknown_fields
from gerrymend.checker.given import check_not_parted, plain_data, second_sample
from gerrymend.checker.groups import named_groups, named_key
from gerrymend.checker.held_out import check_held_out
from gerrymend.checker.listed import check_listed
from gerrymend.checker.probes import same_by_words
from gerrymend.checker.result import CheckResult
from gerrymend.checker.rules import (
    RuleError,
    cuts,
    members,
    members_in_floats,
)
from gerrymend.checker.said import check_said
from gerrymend.checker.scope import check_scope, class_in_words


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
    holdout: Any = None,
) -> CheckResult:
    """Verify a report against the data that it was made from, in exact rational arithmetic.

    Members of every subgroup are worked out anew from the plain data of its rule, and its figures
    summed in fractions; a stated figure may differ by 10⁻⁹. A float is taken as the decimal that it
    prints as. Intervals are worked out from their definitions. Where the class of subgroups is
    small (200,000 subgroups, for linear thresholds some 30 distinct rows in 4 dimensions), all are
    listed, and none may exceed the upper bound; where it is not, the bound is only verified if no
    set of rows whatever could exceed it.

    Each field of the report is checked, or the result names it as not checked and says why: a
    field that is not known is named too, one that is missing or of another type makes it no report.

    None of the auditors' code is used. It loops over rows in Python: a second for some 200,000 of
    them, ten times that where each has a weight of its own.

    Parameters
    ----------
    report : AuditReport, its `to_dict()`, or the JSON of that
    y_true, y_pred, sensitive_features, sample_weight, threshold, decision_probabilities, pos_label
        As they were passed to `audit()`.
    holdout : tuple (y_true, y_pred, sensitive_features), optional
        The second sample, as it was passed to `audit()`, weights fourth if there are any.

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
    The report holds, as far as checked.
    Checked:
    - What it is about: 40 rows, their labels and attributes, the notions, and the class of
    subgroups in words.
    - The worst subgroup: its members, 20 of 40 rows, and all of its figures.
    - The overall rates, and the 2 groups that are listed: who is in each, its rate, its unfairness
    and the intervals of both.
    - The verdict, and that the figures agree with each other.
    - The upper bound: none of the 4 subgroups of the class, all listed, has an unfairness above
    1/8, over 2 distinct rows that count.
    Not checked:
    - gamma, min_group_size: settings of the audit, taken as stated.
    - class.parameters.search, class.parameters.restarts, class.parameters.random_state: how the
    class was searched.
    - protected_used, provenance: what the model decides by, and when, by what, from which file and
    with which seed and budget the report was made.
    - favourable, side: settings of the audit, taken as stated.
    - top: that no more subgroups were to be described.
    - disadvantaged, favoured: that none of those which may be described is treated worse than the
    one, or better than the other.
    - partial: that nothing was proven of parts of the class.
    - no_p_value: that no p-value was asked for, or the reason why there is none.
    - held_out: that no rows were held out.
    >>> report["worst"]["rate"] = report["top"][0]["rate"] = 0.9
    >>> check_report(report, **data).problems
    ['The worst subgroup: its rate is stated as 0.9, and is 1.']
    """
    stated = plain_data(report)
    # The form comes first: all that follows takes each field to be there and of its type.
    unknown = unknown_fields(stated)
    check_groups(stated["class"])
    how: dict[str, Any] = {
        "threshold": threshold,
        "decision_probabilities": decision_probabilities,
        "pos_label": pos_label,
    }
    table = read_table(y_true, y_pred, sensitive_features, sample_weight, **how)
    if holdout is None:
        check_not_parted(stated, table)
        second = None
    else:
        second = read_table(*second_sample(holdout), **how, like=table)
    result = _Check(stated, table, second).run()
    if unknown:
        names = " ".join(f"{name} {name}.*" for name in unknown)
        result.leave(names, "fields that the checker doesn't know")
    return result


class _Check:
    """Run the checks of one report, and collect what they find in `result`.

    `measured` holds, by name, each notion that has rows in its event, and `found` the described
    subgroups whose rules could be read. Later checks use both, so the order in `run` matters.
    """

    def __init__(self, stated: Mapping[str, Any], table: Table, holdout: Table | None) -> None:
        self.stated = stated
        self.table = table
        self.holdout = holdout
        self.result = CheckResult()
        self.measured: dict[str, Measured] = {}
        self.found: list[Found] = []
        self.described = [("The worst subgroup", stated["worst"])] if stated["worst"] else []
        self.described += [
            (f"Subgroup {i} of the top ones", one)
            for i, one in enumerate(stated["top"], start=1)
            if one != stated["worst"]
        ]
        known = [one for _, one in self.described]
        self.described += [
            (f"The {name} subgroup", stated[name])
            for name in ("disadvantaged", "favoured")
            if stated[name] is not None and stated[name] not in known
        ]
        if stated["in_a_sentence"] is not None:
            self.described.append(("The group in a sentence", stated["in_a_sentence"]["subgroup"]))

    def run(self) -> CheckResult:
        """Run every check, and return the result.

        A check that can't be made for lack of a notion or a rule that can be read has noted that as
        a problem, and the others go on: one result names all that is wrong.
        """
        stated = self.stated
        table = self.table
        result = self.result
        # Notions and subgroups are read before the checks that use `measured` and `found`.
        check_scope(stated, table, result)
        check_direction(stated, result)
        self.read_notions()
        for where, one in self.described:
            self.check_subgroup(where, one)
        self.check_top()
        check_sides(stated, table, result)
        check_said(stated, table, self.measured, class_in_words, result)
        # Rows that were held out and are not at hand were part of the same data, perhaps.
        parted = stated["held_out"] is not None and self.holdout is None
        check_listed(stated, table, self.measured, result, parted=parted)
        before = len(result.problems)
        self.check_agreement()
        if len(result.problems) == before:
            result.checked.append("The verdict, and that the figures agree with each other.")
        # Without a notion that has rows there is no unfairness to bound, and a problem was noted.
        if self.measured:
            check_bounds(stated, table, self.measured, self.found, result)
        self.leave_bounds()
        check_permutations(stated, self.measured, result)
        check_generalisation(stated, table, self.measured, result, parted=parted)
        check_held_out(stated, table, self.holdout, result)
        return result

    def problem(self, sentence: str) -> None:
        """Add a sentence to the problems."""
        self.result.problems.append(sentence)

    def read_notions(self) -> None:
        """Sum the rows by the outcome of each notion of the report.

        A notion with a known name is taken by its name: where the stated coefficients differ from
        it, `check_scope` has said so.
        """
        for stated in self.stated["notions"]:
            name = stated["name"]
            outcomes = NOTIONS.get(name) or outcomes_of(stated)
            measured = Measured.of(outcomes, self.table) if outcomes else None
            if measured is not None and measured.active:
                self.measured[name] = measured
            else:
                self.problem(f"No row of the data counts for the notion {name}.")

    def check_subgroup(self, where: str, stated: Mapping[str, Any]) -> None:
        """Check the members of a described subgroup, and every figure that is stated of it.

        `where` begins each sentence about it. A rule that can't be read is a problem, and ends its
        check.
        """
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
        said = stated is (self.stated["in_a_sentence"] or {}).get("subgroup")
        # Kept even if its figures are wrong: the bounds are judged by the true ones.
        if not said:
            self.found.append(Found(stated["notion"], inside, abs(figures.unfairness)))
        problems = [
            *wrong_figures(stated, figures, measured.scale),
            *wrong_treated(stated, figures.unfairness, self.stated),
            *wrong_composition(
                stated["composition"],
                inside,
                self.table,
                self.stated["min_group_size"],
                kept_back="composition" in self.stated["kept_back"],
            ),
            *wrong_reference(
                stated["rule"],
                self.table,
                self.stated["min_group_size"],
                held_out=self.stated["held_out"] is not None,
            ),
            *self.too_small(figures),
            *self.listed(stated["rule"]),
            *self.unsafe_numbers(stated["rule"], inside),
            *self.wrong_words(where, stated),
        ]
        for sentence in problems:
            self.problem(f"{where}: {sentence}")
        if not problems:
            self.result.checked.append(
                f"{where}: its members, {figures.size:,} of {self.table.n_rows:,} rows, and all of "
                "its figures."
            )

    def too_small(self, figures: Figures) -> Iterator[str]:
        """Yield a sentence if too few rows are inside or outside of a described group.

        Either could identify people: what is outside follows from the overall figures by
        subtraction.
        """
        smallest = self.stated["min_group_size"]
        if min(figures.rows_inside, figures.rows_outside) < smallest:
            yield (
                f"it has {figures.rows_inside} rows that count, and {figures.rows_outside} are "
                f"outside; a group is not described if either is below min_group_size, {smallest}."
            )

    def listed(self, rule: Mapping[str, Any]) -> Iterator[str]:
        """Yield a sentence if values of few rows are listed; groups that users name are theirs."""
        if self.stated["class"]["name"] != "ExplicitGroups":
            yield from listed_rare_values(rule, self.table, self.stated["min_group_size"])

    def unsafe_numbers(self, rule: Mapping[str, Any], inside: list[bool]) -> Iterator[str]:
        """Yield a sentence if a cut is a row's own number, or if rounding moves a row across it.

        A cut that equals a row's value discloses that value; cuts that the user named are the
        user's own.
        """
        if self.stated["class"]["name"] != "ExplicitGroups":
            for what, cut, values in cuts(rule, self.table):
                if exact(cut) in values:
                    yield f"{what}, {cut!r}, equals that of a row."
        if rule["kind"] == "linear" and members_in_floats(rule, self.table) != inside:
            yield "rounding decides who is in: float64 and exact arithmetic select different rows."

    def wrong_words(self, where: str, stated: Mapping[str, Any]) -> Iterator[str]:
        """Yield a sentence if the description differs from the rule, or lacks the group's name.

        Words that can't be read are noted as not checked.
        """
        named = self.stated["class"]["name"] == "ExplicitGroups"
        if named:
            try:
                groups = named_groups(self.stated["class"]["parameters"], self.table)
            except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
                yield f"its class can't be read: {unreadable}."
                return
            if named_key(stated["subgroup"], stated["rule"], groups) is None:
                yield "it is none of the groups that were named."
        same = same_by_words(stated["subgroup"], stated["rule"], self.table, named=named)
        if same is None:
            fields = ("worst", "disadvantaged", "favoured")
            field = next((name for name in fields if stated == self.stated[name]), "top")
            if where == "The group in a sentence":
                field = "in_a_sentence.subgroup"
            self.result.leave(f"{field}.subgroup", f"{where} in words; only its rule")
        elif not same:
            yield "its description in words selects other rows than its rule."

    def check_top(self) -> None:
        """Check that the top subgroups start with the worst and are in order, none twice."""
        top = self.stated["top"]
        first = top[0] if top else None
        if first != self.stated["worst"]:
            self.problem("The first of the top subgroups is not the worst one.")
        sizes = [abs(one["unfairness"]) for one in top]
        if any(later > sooner + ROUNDING for sooner, later in itertools.pairwise(sizes)):
            self.problem("The top subgroups are not in the order of their unfairness.")
        if any(one in top[:i] for i, one in enumerate(top)):
            self.problem("A subgroup is twice among the top ones.")
        self.result.leave("top", "that no more subgroups were to be described")

    def check_agreement(self) -> None:
        """Check the stated numbers, flags and verdict against each other.

        None of this needs the rows: the bounds are in order, no described subgroup exceeds
        `unfairness`, and the verdict, `exact` and `withheld` follow from the numbers.
        """
        stated = self.stated
        unfairness = exact(stated["unfairness"])
        upper = exact(stated["upper_bound"])
        if upper < unfairness:
            self.problem(
                f"upper_bound is stated as {stated['upper_bound']}, below unfairness, "
                f"{stated['unfairness']}."
            )
        said = (stated["in_a_sentence"] or {}).get("subgroup")
        for where, one in self.described:
            if one is said:  # of another class, it may have more
                continue
            value = abs(exact(one["unfairness"]))
            if value > unfairness + ROUNDING:
                self.problem(
                    f"unfairness is stated as {stated['unfairness']}, and {where[0].lower()}"
                    f"{where[1:]} has {float(value)}."
                )
        worst = abs(exact(stated["worst"]["unfairness"])) if stated["worst"] else ZERO
        # Each of these is a function of the stated numbers, within the rounding that reports allow.
        flags = {
            "verdict": _verdict(unfairness, upper, exact(stated["gamma"])),
            "exact": upper <= unfairness + ROUNDING,
            "withheld": unfairness > worst + ROUNDING,
        }
        for name, implied in flags.items():
            if stated[name] != implied:
                self.problem(
                    f"{name} is stated as {stated[name]!r}, and the report's numbers make it "
                    f"{implied!r}."
                )

    def leave_bounds(self) -> None:
        """Note what a listing of subgroups can't show of the bounds."""
        if not self.stated["exact"]:
            self.result.leave("upper_bound", "that no smaller one was proven")
        if self.stated["partial"]:
            self.result.leave(
                "partial partial.covers partial.upper_bound",
                "bounds over parts of the class, which are in words",
            )
        else:
            self.result.leave("partial", "that nothing was proven of parts of the class")


def _verdict(unfairness: Fraction, upper_bound: Fraction, gamma: Fraction) -> str:
    """Return the verdict that follows from the stated bounds."""
    if unfairness > gamma + ROUNDING:
        return "exceeds gamma"
    return "within gamma" if upper_bound <= gamma + ROUNDING else "undecided"
