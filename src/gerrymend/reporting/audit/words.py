"""Word what an audit found beside its verdict, for people who don't read arrays.

Sentences are plain text, with names and values from the data as they are: whoever renders them
escapes them. Every renderer (text, terminal, Markdown, page) has its sentences from here, from
`verdict`, `chance`, `subgroup_words` and `next_steps`, and adds none.
"""

from collections.abc import Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit.chance import permutation_sentences
from gerrymend.reporting.audit.direction import (
    average,
    has_group,
    in_unit,
    of_numbers,
    reference_words,
)
from gerrymend.reporting.audit.flags import discovery_sentences
from gerrymend.reporting.audit.left_out import kept_back_sentence, or_late
from gerrymend.reporting.audit.population import (
    population_means,
    population_sentences,
)
from gerrymend.reporting.audit.score_words import (
    SCORE_UNFAIRNESS_MEANS,
    in_intervals,
    of_scores,
    predicted_words,
)
from gerrymend.reporting.audit.subgroup_words import rate_alone, unit_of
from gerrymend.reporting.audit.verdict import why_not_found
from gerrymend.reporting.wording import (
    bound,
    capitalised,
    compared,
    count,
    event_noun,
    figure,
    percent,
    unfairness,
)

Report = Mapping[str, Any]

# The headings of the sections, in their order.
TITLES = {
    "changes": "What changed",
    "model": "The model",
    "subgroups": "Who is treated differently",
    "calibration": "Predicted and happened",
    "gap": "One attribute at a time, and combinations",
    "rates": "{}s by group",
    "maps": "Where two attributes meet",
    "flagged": "Flagged where other attributes meet",
    "detection": "What this sample can and can't show",
    "protected": "Does the model use protected columns?",
    "next": "What next",
    "how": "How it was done",
    "expert": "For experts",
}
# Of a report in which all may be chance.
NOBODY = (
    "Nobody is shown to be: chance alone makes differences as large as the largest one, which "
    "follows."
)
UNFAIRNESS_MEANS = (
    "The unfairness of a subgroup is how far its rate is from the overall one, times the part of "
    "all rows that are in the group and that the rate is over: 0.01 is a rate that is 10 points "
    "off for a tenth of all rows, or 2 points off for half of them."
)
STRATA_UNFAIRNESS_MEANS = (
    "The unfairness of a subgroup is how far its rate is from the one that its members would have "
    "at the rates of their strata, times the part of all rows that are in the group and that the "
    "rate is over: 0.01 is a rate that is 10 points off for a tenth of all rows."
)
MEAN_UNFAIRNESS_MEANS = (
    "The unfairness of a subgroup is how far its mean is from the one it is compared with, in the "
    "unit of the outcome, times the part of all rows that are in the group and that count: 0.3 is "
    "3 more for a tenth of all rows, or 0.6 more for half of them."
)
REFERENCE_UNFAIRNESS_MEANS = (
    "The unfairness of a subgroup is how far its rate is from the one it is compared with, times "
    "the part of all rows that are in the group and that the rate is over: 0.01 is a rate that is "
    "10 points off for a tenth of all rows."
)
FORMULA_MEANS = (
    "A sum over a row's attributes; [a=b] is 1 where a is b, and 0 elsewhere. Rows for which it "
    "holds are in the group."
)
_EXPERTS_NOTE = (
    "For a group g, the rows E that the {0} is over, and the {0} u: unfairness = P(g, E) · "
    "(u(g) − {1}). What was found is the largest over the class by a search and, where time "
    "allowed, by a proof; no subgroup of the class exceeds the upper bound on these rows. All of "
    "this is in the report's JSON, which check_report() verifies against the data in exact "
    "arithmetic."
)
# Of audit(): made for rates, and for numbers right by chance alone.
_DEFAULT_GAMMA = 0.01
NO_GROUPS = "No group of one attribute has enough rows, in and out, to be described."


def unfairness_means(report: Report) -> str:
    """Say what unfairness is, of what is compared here."""
    if of_numbers(report):
        return MEAN_UNFAIRNESS_MEANS
    if of_scores(report):
        return SCORE_UNFAIRNESS_MEANS
    if any(overall.get("reference") is not None for overall in report["overall_rates"]):
        return REFERENCE_UNFAIRNESS_MEANS
    return STRATA_UNFAIRNESS_MEANS if report.get("control_features") else UNFAIRNESS_MEANS


def unfairness_line(report: Report) -> str:
    """Say in a line how unfairness is reckoned here, and what gamma allows in people."""
    return f"{unfairness_words(report)} Allowed: {allowed_words(report)}."


def unfairness_words(report: Report) -> str:
    """Say how the unfairness of a group is reckoned, and of numbers in which unit."""
    noun = event_noun(report["notions"])
    part = "A group's share of all rows"
    if noun not in ("rows", "rows that count"):
        part = f"A group's {noun}, as a share of all rows,"
    far = f"how far its {average(report)} is from the {reference_words(report)}"
    units = {one["unit"] for one in report["notions"]} - {None, ""}
    return f"{part} times {far}{', in ' if units else ''}{' or '.join(sorted(units))}."


def allowed_words(report: Report) -> str:
    """Say what gamma allows: so many cases, or so much of what numbers are counted in.

    The unfairness of a group times the number of rows is how many cases more it has than at the
    rate that it is compared with.
    """
    gamma = report["gamma"]
    if not of_numbers(report):
        n = report["n_rows"]
        cases = "" if report["weighted"] else f", {gamma * n:.3g} cases too many in {count(n)} rows"
        return f"{gamma:g} (gamma){cases}"
    units = {one["unit"] for one in report["notions"]}
    unit = units.pop() if len(units) == 1 else ""
    default = "; the default: set what matters, gamma or --gamma" * (gamma == _DEFAULT_GAMMA)
    return (
        f"{figure(gamma, unit)}{'' if unit else ' in the unit of the outcome'} (gamma{default}), "
        f"or {figure(10 * gamma, unit)} for a tenth of the rows"
    )


def titles(report: Report) -> dict[str, str]:
    """Return the headings of the sections, by name."""
    return {**TITLES, "rates": TITLES["rates"].format(capitalised(average(report)))}


def experts_note(report: Report) -> str:
    """Say what the figures are, in a formula."""
    reference = "Σ_s P(s | g, E) · u(s) over strata s" if report.get("control_features") else "u"
    if any(overall.get("reference") is not None for overall in report["overall_rates"]):
        reference = "s(g), its mean score" if of_scores(report) else "r, the reference"
    return _EXPERTS_NOTE.format(average(report), reference)


def proof_sentences(report: Report) -> str:
    """Say whether what was found is all there is, of the class and of parts of it.

    A search alone gives a lower bound, and is never called more than that.
    """
    if report["exact"]:
        whole = f"Exact: none has more. Proven over {_covers(report)}."
    else:
        limit = in_unit(bound(report["upper_bound"], report["gamma"]), report)
        rest = f", but none is above {limit}. Proven over {_covers(report)}."
        if report["no_bound"] is not None:
            rest = (
                f". No bound was proven over {_covers(report)}: {report['no_bound']}. No set of "
                f"rows at all is above {limit}."
            )
        whole = f"A lower bound: the search may have missed a larger one{rest}"
    parts = [
        f"None is above {in_unit(bound(part['upper_bound']), report)} over {part['covers']}."
        for part in report["partial"]
    ]
    return " ".join([whole, *parts])


def _covers(report: Report) -> str:
    """Return what a proof is about: the class, or those of it that are treated worse."""
    one_sided = report["side"] == "disadvantaged"
    return f"{report['covers']}{', of those that are treated worse' if one_sided else ''}"


def nothing_sentence(report: Report) -> str:
    """Say why there is no subgroup to describe."""
    if report["withheld"]:
        return "No subgroup that is large enough to be described was found to differ."
    return "No subgroup was found that differs at all."


def _single(report: Report) -> str:
    whole = "; at all scores together" * in_intervals(report)
    return f"one attribute at a time (each value, each interval of a number{whole})"


def gap_sentence(report: Report) -> str:
    """Say how the worst unfairness compares with the largest of one attribute at a time.

    That is over each value of a category and each interval of a number, so that no group of one
    attribute that can be said so is counted as a combination. It need not be the same people.
    """
    alone = report["single_unfairness"]
    together = report["unfairness"]
    # Either may be larger: the class may lack a group of one attribute, or a search miss it.
    if together == 0 and alone == 0:
        return f"Neither {_single(report)} nor any subgroup that was found differs at all."
    of_one, of_all = (in_unit(unfairness(value), report) for value in (alone, together))
    single = capitalised(_single(report))
    # Within half a percent the two are called the same.
    if alone > together * 1.005:
        return (
            f"{single} shows more, an unfairness of {of_one}, of "
            f"{_who_alone(report)}, and the search found {of_all}: {why_not_found(report)}."
        )
    if alone >= together * 0.995:
        return f"{single} shows {_all_of_it(report)}."
    if alone == 0:
        return (
            f"{single} shows nothing of it: the largest unfairness there is 0, and "
            f"over all subgroups {of_all}."
        )
    return (
        f"{single} shows an unfairness of {of_one} at most, of {_who_alone(report)}: "
        f"{percent(alone / together)} of the {of_all} over all subgroups, which need not be the "
        "same people."
    )


def alone_words(report: Report) -> str | None:
    """Return which listed group of one attribute has the largest unfairness there, with its rate.

    None where an interval has it, which is not listed. Of two that have as much, such as women and
    men, it is the one that is treated worse.
    """
    worse = {one["name"]: one["worse"] for one in report["notions"]}

    def harm(group: Mapping[str, Any]) -> float:
        value: float = group["unfairness"]
        return -value if worse.get(group["notion"]) == "lower" else value

    least = 0.995 * report["single_unfairness"]
    listed = [one for one in report["marginals"] if abs(one["unfairness"]) >= least]
    if not listed:
        return None
    one = max(listed, key=harm)
    unit = unit_of(report, one["notion"])
    rates = compared(one["rate"], one["overall_rate"], unit)
    if of_scores(report):
        return f"{one['group']} ({predicted_words(rates, unit)})"
    return f"{one['group']} ({in_words(one['notion'])} {rates.rate}, against {rates.reference})"


def interval_alone_words(report: Report) -> str | None:
    """Return which interval of a number has the largest unfairness of one attribute, with its rate.

    None where a listed group has it, or where it may not be told.
    """
    one = report.get("single_interval")
    return one and f"{one['subgroup']} ({rate_alone(one)})"


def _who_alone(report: Report) -> str:
    """Return who has the largest unfairness of one attribute: a group, or an interval of which."""
    numbers = [
        condition["attribute"]
        for one in report["marginals"]
        for condition in one["rule"]["conditions"]
        if "values" not in condition
    ]
    told = alone_words(report) or interval_alone_words(report)
    return told or f"an interval of {' or '.join(dict.fromkeys(numbers)) or 'a number'}"


def _all_of_it(report: Report) -> str:
    """Say what it means that no combination was found that is worse than a single attribute."""
    name = report["class"]["name"]
    if name == "Marginals":
        return "no less than what was searched: there were no combinations among it"
    if name == "ExplicitGroups":
        return "as much as the groups that were named"
    if report["exact"]:
        return "as much as the largest of all: the combinations that were searched are no worse"
    return "as much as was found; a combination that is worse is not ruled out"


def detection_sentences(report: Report) -> list[str]:
    """Say what this sample could and couldn't show.

    Chance, everyone from whom the rows were drawn, and groups that are too small to be described,
    in this order; names of categories are not kept back, and a reader has to know that.
    """
    sentences = permutation_sentences(report)
    sentences += [*population_sentences(report), *population_means(report)]
    sentences += discovery_sentences(report)
    sentences.append(
        f"Groups with {_few(report)}, are not described: few rows identify people. What is proven "
        "covers them too; what is said of one attribute at a time does not."
    )
    if report["withheld"]:
        sentences.append(withheld_sentence(report))
    if left_out := report["marginals_left_out"]:
        are = "is" if left_out == 1 else "are"
        sentences.append(
            f"For that reason {count(left_out)} of the groups of one attribute {are} left out: too "
            "small, or so much like others that a group of few rows would follow by subtraction"
            f"{or_late(report)}."
        )
    if sentence := kept_back_sentence(report):
        sentences.append(sentence)
    sentences.append(rare_values_sentence(report))
    return sentences


def rare_values_sentence(report: Report) -> str:
    """Say which values are not listed, by number, and how their rows are told of."""
    few = f"fewer than {count(max(2, report['min_group_size']))} rows have"
    if not report["rare_values"]:
        return f"Values that {few} would not be listed; there are none."
    told = ", ".join(
        f"{count(rare['values'])} of {rare['attribute']}" for rare in report["rare_values"]
    )
    return (
        f"Values that {few} are not listed, as they may name people: {told}. Where a group is told "
        "by such an attribute they are taken together; what is proven is about each of them."
    )


def missing_sentence(report: Report) -> str | None:
    """Say in how many rows which attribute is missing, and what became of them; None if in none."""
    missing = report["missing"]
    by_column = ", ".join(f"{one['column']} in {count(one['rows'])}" for one in missing["columns"])
    if missing["dropped"] or missing["dropped_of_holdout"]:
        told = (
            f"{count(missing['dropped'])} of {count(missing['of'])} rows were dropped"
            f"{f', as a value is missing: {by_column}' if by_column else ''}. "
        )
        if missing["dropped_of_holdout"]:
            told += f"Of the second file {count(missing['dropped_of_holdout'])} were. "
        return f"{told}Nothing is said of these people."
    if not by_column:
        return None
    return (
        f"Of {count(missing['of'])} rows a value is missing: {by_column}. These rows are kept, in "
        "a category of their own, (missing)."
    )


def withheld_sentence(report: Report) -> str:
    """Say that the subgroup of the largest unfairness is too small to be described."""
    return (
        "The subgroup of the largest unfairness, "
        f"{in_unit(unfairness(report['unfairness'], report['gamma']), report)}, has {_few(report)}"
        f"{_or_rare(report)}{_or_alike(report)}, and is not described: few rows identify people."
    )


def _or_rare(report: Report) -> str:
    """Say that a group may be withheld for values that few rows have, where there are any."""
    few = f"fewer than {count(max(2, report['min_group_size']))} rows have"
    return f", or is told by values that {few}" if report["rare_values"] else ""


def _or_alike(report: Report) -> str:
    """Say that a group may be withheld beside that of a reference, where there is one."""
    return ", or differs by as few from the group of the reference" if has_group(report) else ""


def _few(report: Report) -> str:
    """Say which groups are too small to be described."""
    noun = event_noun(report["notions"])
    return f"fewer than {count(report['min_group_size'])} {noun} inside, or outside"


def protected_sentences(report: Report) -> list[str]:
    """Say whether the model decides by protected columns, where that is known."""
    used = report["protected_used"]
    if used is None:
        return [
            "Not known: an audit sees decisions, not the model. Whoever runs it can name the "
            "columns that the model decides by."
        ]
    others = "Other columns can stand in for protected ones; the audit counts what comes of both."
    if not used:
        names = ", ".join(report["attributes"])
        return [f"No: the model decides by none of {names}. {others}"]
    return [f"Yes: the model decides by {', '.join(used)}."]
