"""check_report(): verify every statement of a report, or name it as not checked."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.apart import check_apart
from gerrymend.checker.bounds import Found, check_bounds, leave_bounds
from gerrymend.checker.case import Case
from gerrymend.checker.chance import check_permutations
from gerrymend.checker.composition import wrong_composition
from gerrymend.checker.curve import check_curve
from gerrymend.checker.direction import check_direction, check_sides, wrong_treated
from gerrymend.checker.disclosed import disclosed, too_small, wrong_reference
from gerrymend.checker.exact import ZERO, Table, exact, read_table
from gerrymend.checker.figures import (
    NOTIONS,
    Measured,
    later_fields,
    outcomes_of,
    rate_of,
    wrong_figures,
)
from gerrymend.checker.flags import check_flags
from gerrymend.checker.form import unknown_fields
from gerrymend.checker.given import check_not_parted, how_decided, plain_data, second_sample
from gerrymend.checker.groups import named_groups, named_key
from gerrymend.checker.held_out import check_held_out, groups_there
from gerrymend.checker.listed import check_listed
from gerrymend.checker.many import read_many
from gerrymend.checker.numbers import read_numbers
from gerrymend.checker.population import check_population
from gerrymend.checker.probes import wrong_words
from gerrymend.checker.references import with_reference, wrong_references
from gerrymend.checker.report_form import REPORT, check_is_audit, check_kinds
from gerrymend.checker.result import CheckResult
from gerrymend.checker.rules import RuleError, members, own_rule, own_words, parts_of
from gerrymend.checker.said import check_core, check_said
from gerrymend.checker.scope import check_scope
from gerrymend.checker.scores import read_scores, score_notion
from gerrymend.checker.sharpest import check_sharpest
from gerrymend.checker.strata import check_strata, wrong_reference_rate
from gerrymend.checker.top import check_top

# Groups of another class than what is bounded, which may have more, as they are called here.
_SAID = "The group in a sentence"
_CORE = "The part where most lies"
_SHARPEST = "The sharpest group"
_INTERVAL = "The interval of one number"
_FIELDS = {_SAID: "in_a_sentence.subgroup", _CORE: "core", _SHARPEST: "sharpest.subgroup",
           _INTERVAL: "single_interval"}  # fmt: skip


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
    notion: Any = None,
    control_features: Any = None,
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
    report : AuditReport, dict or str
        The report, its `to_dict()`, or the JSON of that.
    y_true, y_pred, sensitive_features, sample_weight, threshold, decision_probabilities, pos_label
        As they were passed to `audit()`.
    holdout : tuple (y_true, y_pred, sensitive_features), optional
        The second sample, as it was passed to `audit()`, weights fourth if there are any.
    notion : OutcomeNotion or tuple of these, optional
        Notions of one's own that are means of numbers: their functions are not in the report.
    control_features : frame, Series, mapping or array, optional
        As they were passed to `audit()`.

    Returns
    -------
    CheckResult
        What was checked, what was not, and each problem that was found.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    check_patches
        Verify patches against the rows that they were learnt on, in exact rational arithmetic.

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
    - protected_used, provenance, provenance.date, provenance.versions, provenance.random_state,
    provenance.budget, provenance.top: what the model decides by, and when, by what and with which
    seed, budget and number of subgroups the report was made.
    - favourable, side: settings of the audit, taken as stated.
    - top, why_fewer: that no more subgroups were to be described, and why.
    - disadvantaged, favoured: that none of those which may be described is treated worse than the
    one, or better than the other.
    - lead.sentence, lead.chance: that its words are true.
    - core: that no tighter part of the group has most of its unfairness.
    - single_interval: that it would tell of few rows where it is not stated.
    - partial: that nothing was proven of parts of the class.
    - no_p_value: that no p-value was asked for, or the reason why there is none.
    - population: that no bound for the people behind the rows was asked for.
    - discovery: that no groups were to be flagged.
    - held_out: that no rows were held out.
    >>> for one in (report["worst"], report["top"][0], report["lead"]):
    ...     one["rate"] = 0.9
    >>> check_report(report, **data).problems
    ['The worst subgroup: its rate is stated as 0.9, and is 1.']
    """
    stated = plain_data(report)
    check_is_audit(stated)
    # The form comes first: all that follows takes each field to be there and of its type.
    unknown = unknown_fields(stated, REPORT)
    check_kinds(stated)
    how = how_decided(threshold, decision_probabilities, pos_label)
    pos_label = how["pos_label"]
    scored = score_notion(stated)
    means = [one["name"] for one in stated["notions"] if one["unit"] is not None]
    own = notion if isinstance(notion, tuple | list) else [] if notion is None else [notion]

    def read(rows: tuple[Any, Any, Any, Any, Any], like: Table | None = None) -> Table:
        """Read rows as those of the audit; a second sample is `like` the first."""
        true, predicted, features, weight, controls = rows
        if scored is not None:
            return read_scores(scored, true, predicted, features, weight, pos_label, like)
        if means:
            return read_numbers(means, true, predicted, features, weight, own, controls)
        if len(stated["labels"]) > 2:
            return read_many(rows, like)
        return read_table(
            true, predicted, features, weight, **how, like=like, control_features=controls
        )

    table = read((y_true, y_pred, sensitive_features, sample_weight, control_features))
    if holdout is None:
        check_not_parted(stated, table)
        second = None
    else:
        sample = second_sample(holdout)
        try:
            second = read(sample, like=table)
        except (TypeError, ValueError) as error:
            raise type(error)(f"holdout: {error}") from None
    case = Case(stated, table, second)
    _run(case)
    if unknown:
        names = " ".join(f"{name} {name}.*" for name in unknown)
        case.leave(names, "fields that the checker doesn't know")
    return case.result


def _run(case: Case) -> None:
    """Run every check.

    A check that can't be made for lack of a notion or a rule that can be read has noted that as a
    problem, and the others go on: one result names all that is wrong.
    """
    result = case.result
    # Notions and subgroups are read before the checks that use them.
    check_scope(case)
    check_direction(case)
    _read_notions(case)
    described = _described(case.stated)
    checked = [_check_subgroup(where, one, case) for where, one in described.items()]
    there = [one["subgroup"] for one in groups_there(case.stated["held_out"])]
    if fields := later_fields([*described.values(), *there]):
        case.leave(fields, "which reports of before don't state")
    check_top(case)
    check_sides(case)
    check_said(case)
    check_core(case)
    check_apart(case)
    check_listed(case)
    check_strata(case)
    check_curve(case)
    case.problem(*wrong_references(case))
    before = len(result.problems)
    _check_agreement(case, described)
    if len(result.problems) == before:
        result.checked.append("The verdict, and that the figures agree with each other.")
    # Without a notion that has rows there is no unfairness to bound, and a problem was noted.
    if case.measured:
        found = {where: one for where, one in zip(described, checked, strict=True) if one}
        check_bounds(case, [one for where, one in found.items() if where not in _FIELDS])
    leave_bounds(case)
    check_permutations(case)
    check_sharpest(case)
    check_population(case)
    check_flags(case)
    check_held_out(case)


def _described(stated: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the subgroups that a report describes, each once, by what they are called here."""
    described = {"The worst subgroup": stated["worst"]} if stated["worst"] else {}
    for i, one in enumerate(stated["top"], start=1):
        if one != stated["worst"]:
            described[f"Subgroup {i} of the top ones"] = one
    known = list(described.values())
    for name in ("disadvantaged", "favoured"):
        if stated[name] is not None and stated[name] not in known:
            described[f"The {name} subgroup"] = stated[name]
    others = {
        _SAID: (stated["in_a_sentence"] or {}).get("subgroup"),
        _CORE: stated["core"],
        _SHARPEST: (stated["sharpest"] or {}).get("subgroup"),
        _INTERVAL: stated.get("single_interval"),
    }
    return described | {where: one for where, one in others.items() if one is not None}


def _read_notions(case: Case) -> None:
    """Sum the rows by the outcome of each notion of the report.

    A notion with a known name is taken by its name: where the stated coefficients differ from it,
    `check_scope` has said so.
    """
    for stated in case.stated["notions"]:
        name = stated["name"]
        outcomes = NOTIONS.get(rate_of(stated)) or outcomes_of(stated)
        table = case.table.view(stated)
        measured = Measured.of(outcomes, table) if outcomes else None
        if measured is None or not measured.active:
            case.problem(f"No row of the data counts for the notion {name}.")
            continue
        try:
            case.measured[name] = with_reference(measured, stated, table)
        except RuleError as unreadable:
            case.problem(f"The notion {name}: {unreadable}.")


def _check_subgroup(where: str, stated: Mapping[str, Any], case: Case) -> Found | None:
    """Check the members of a described subgroup, and every figure that is stated of it.

    `where` begins each sentence about it. A rule that can't be read is a problem, and ends its
    check. Returns its true unfairness even if what is stated is wrong: the bounds are judged by it.
    """
    measured = case.measured.get(stated["notion"])
    if measured is None:
        case.problem(f"{where}: its notion, {stated['notion']}, is none of the report's.")
        return None
    rule = stated["rule"]
    try:
        inside = members(rule, case.table)
    except RuleError as unreadable:
        case.problem(f"{where}: {unreadable}.")
        return None
    figures = measured.figures(inside)
    smallest = case.stated["min_group_size"]
    held_out = case.stated["held_out"] is not None
    problems = [
        *wrong_figures(stated, figures, measured.scale),
        *wrong_reference_rate(stated, case),
        *wrong_treated(stated, figures.unfairness, case.stated, measured),
        *wrong_composition(
            stated["composition"],
            inside,
            case.table,
            smallest,
            kept_back=where == _INTERVAL or "composition" in case.stated["kept_back"],
        ),
        *wrong_reference(own_rule(rule), case.table, smallest, held_out=held_out),
        *too_small(figures, smallest, or_everyone=measured.reference is not None),
        *disclosed(rule, inside, case),
        *_wrong_words(where, stated, case),
    ]
    case.problem(*(f"{where}: {sentence}" for sentence in problems))
    if not problems:
        case.result.checked.append(
            f"{where}: its members, {figures.size:,} of {case.table.n_rows:,} rows, and all of "
            "its figures."
        )
    return Found(stated["notion"], inside, abs(figures.unfairness))


def _wrong_words(where: str, stated: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield a sentence if the description differs from the rule, or lacks the group's name.

    Words that can't be read are noted as not checked.
    """
    named = case.stated["class"]["name"] == "ExplicitGroups"
    # A user may have named a value twice.
    for part in [] if named else parts_of(stated["rule"]):
        if (values := part.get("values")) and any(
            one in values[:i] for i, one in enumerate(values)
        ):
            yield f"its rule has a value of {part['attribute']!r} twice."
    if named:
        try:
            groups = named_groups(case.stated["class"]["parameters"], case.table)
        except (RuleError, KeyError, TypeError, AttributeError) as unreadable:
            yield f"its class can't be read: {unreadable}."
            return
        words = own_words(stated["subgroup"], stated["rule"])
        if named_key(words, own_rule(stated["rule"]), groups) is None:
            yield "it is none of the groups that were named."
    wrong = wrong_words(stated["subgroup"], stated["rule"], case.table, named=named)
    if wrong is None:
        fields = ("worst", "disadvantaged", "favoured")
        field = next((name for name in fields if stated == case.stated[name]), "top")
        case.leave(f"{_FIELDS.get(where, field)}.subgroup", f"{where} in words; only its rule")
    elif wrong:
        yield wrong


def _check_agreement(case: Case, described: Mapping[str, Mapping[str, Any]]) -> None:
    """Check the stated numbers, flags and verdict against each other.

    None of this needs the rows: the bounds are in order, no described subgroup exceeds
    `unfairness`, and the verdict, `exact` and `withheld` follow from the numbers.
    """
    stated = case.stated
    unfairness = exact(stated["unfairness"])
    upper = exact(stated["upper_bound"])
    if upper < unfairness:
        case.problem(
            f"upper_bound is stated as {stated['upper_bound']}, below unfairness, "
            f"{stated['unfairness']}."
        )
    for where, one in described.items():
        value = abs(exact(one["unfairness"]))
        if where not in _FIELDS and value > unfairness + case.rounding:
            case.problem(
                f"unfairness is stated as {stated['unfairness']}, and {where[0].lower()}"
                f"{where[1:]} has {float(value)}."
            )
    worst = abs(exact(stated["worst"]["unfairness"])) if stated["worst"] else ZERO
    # Each of these is a function of the stated numbers, within the rounding that reports allow.
    flags = {
        "verdict": _verdict(unfairness, upper, exact(stated["gamma"]), case.rounding),
        "exact": upper <= unfairness + case.rounding,
        "withheld": unfairness > worst + case.rounding,
    }
    for name, implied in flags.items():
        if stated[name] != implied:
            case.problem(
                f"{name} is stated as {stated[name]!r}, and the report's numbers make it "
                f"{implied!r}."
            )


def _verdict(
    unfairness: Fraction, upper_bound: Fraction, gamma: Fraction, rounding: Fraction
) -> str:
    """Return the verdict that follows from the stated bounds."""
    if unfairness > gamma + rounding:
        return "exceeds gamma"
    return "within gamma" if upper_bound <= gamma + rounding else "undecided"
