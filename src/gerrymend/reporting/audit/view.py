"""Arrange what an audit says, in the order in which it is read: sentences, facts and figures.

`audit_view` makes it from the plain data alone. The page, Markdown and the notebook's fragment lay
it out, and so does `text` for terminals.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit import subgroup_words, words
from gerrymend.reporting.audit.calibration import calibration_view
from gerrymend.reporting.audit.cards import part_of_axis, subgroup_cards
from gerrymend.reporting.audit.chance import chance_of, is_of_another, quick_search_words
from gerrymend.reporting.audit.changes import changes_view
from gerrymend.reporting.audit.class_words import rate_names
from gerrymend.reporting.audit.direction import (
    average,
    direction_sentences,
    in_unit,
    reference_words,
)
from gerrymend.reporting.audit.document import PLAIN, Document
from gerrymend.reporting.audit.findings import cautions
from gerrymend.reporting.audit.flags import flag_legend, flag_of, flagged_facts
from gerrymend.reporting.audit.heat_map import heat_map_sentence, heat_maps
from gerrymend.reporting.audit.how import date_words, expert_facts, how_facts
from gerrymend.reporting.audit.left_out import fewer_sentences
from gerrymend.reporting.audit.model import model_view, samples_sentences
from gerrymend.reporting.audit.next_steps import next_commands, next_sentences
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.said import FEW
from gerrymend.reporting.audit.score_words import of_scores
from gerrymend.reporting.audit.subgroup_facts import cases_sentence, excess
from gerrymend.reporting.audit.verdict import look, verdict_sentences, warning_sentences
from gerrymend.reporting.audit.who_leads import (
    as_object,
    described,
    headline,
    is_calm,
    is_for_experts,
    is_named,
    is_rest,
    is_tested_itself,
    leads,
    own_p_value,
    own_test,
    says_most,
    sharpest,
    sharpest_leads,
    stands_alone,
    stands_for,
    tells_rest,
)
from gerrymend.reporting.wording import (
    bound,
    capitalised,
    compared,
    count,
    figure,
    interval_ends,
    p_value,
    unfairness,
)

# Rates of more groups than this are in the JSON; a page shows those that differ most.
MOST_GROUPS = 40

# Student's intervals of skewed numbers are too narrow for groups of fewer rows.
_ENOUGH = 300

Report = Mapping[str, Any]
Facts = list[tuple[str, str]]


def audit_view(
    report: Report, model: Mapping[str, Any] | None = None, document: Document = PLAIN
) -> dict[str, Any]:
    """Return all that a reader sees of a report; `model` is what `gerrymend fit` knows of its own.

    Parameters
    ----------
    report : mapping
        `AuditReport.to_dict()`.
    model : mapping, optional
        `cli.fit_text.as_data()`: estimator, gamma, columns, and figures on each sample.
    document : Document
        What its author says of the model, and an earlier report to compare with.

    Returns
    -------
    dict
        By section: plain text that the renderer escapes, pairs of name and text, and positions in
        percent for a style sheet. Its order is that of the page.
    """
    report = document.with_columns(report)
    rows = "rows" if model is None else model["audited"]
    shown = look(report)
    cautious = cautions(report)
    title = "Subgroup fairness audit" if model is None else "Audit of a trained model"
    axis = _axis(report)
    people = people_figures(report, rows)
    # Figures on top are not told twice in the paragraph below them.
    first = headline(report)
    is_drawn = first is not None and len(people) > 1 and excess(first, report) is not None
    drawn: dict[str | None, str] = {}
    if first is not None and is_drawn:
        drawn[cases_sentence(first, report)] = ""
    # Of chance what a figure has no room for is left.
    if people and own_p_value(report) is not None:
        told = chance_of(report)
        # That no group stands out is a figure too, where that is so.
        left = told.more if len(people) > 1 else f"{told.nor}{told.more}"
        drawn[told.sentence] = left.lstrip()
    unit = report["notions"][0].get("unit")
    return {
        "title": document.title or title,
        "about": document.facts,
        "subtitle": _subtitle(report, rows, document.file),
        "kind": shown.kind,
        "sign": shown.sign,
        "heading": shown.heading,
        "titles": words.titles(report),
        "average": average(report),
        "reference": reference_words(report),
        "expected": "predicted" if of_scores(report) else "expected",
        "warnings": warning_sentences(report),
        "cautions": cautious,
        "verdict": [
            *([] if model is None else samples_sentences(model)),
            *_not_drawn(verdict_sentences(report, rows), {**dict.fromkeys(cautious, ""), **drawn}),
        ],
        "direction": " ".join(direction_sentences(report)),
        "people": people,
        "changes": None if document.since is None else changes_view(report, document.since),
        "figures": _figures(report),
        "unfairness_means": words.unfairness_means(report),
        "model": None
        if model is None
        else model_view(model, is_compared=document.since is not None),
        "subgroups": subgroup_cards(report, axis),
        "nobody": words.NOBODY if is_calm(report) else "",
        "fewer": fewer_sentences(report),
        "calibration": calibration_view(report),
        "scale": f"from {figure(axis[0], unit)} to {figure(axis[1], unit)}",
        "no_subgroups": f"{words.nothing_sentence(report)} {words.proof_sentences(report)}",
        "gap": {"bars": _bars(report), "sentence": words.gap_sentence(report)},
        "rates": [_rates(report, overall, axis) for overall in report["overall_rates"]],
        "no_groups": words.NO_GROUPS,
        "maps": heat_maps(report),
        "maps_sentence": heat_map_sentence(report),
        "flagged": flagged_facts(report),
        "flagged_means": flag_legend(report),
        "detection": words.detection_sentences(report),
        "protected": words.protected_sentences(report),
        "next": next_sentences(report) if model is None else [],
        "commands": [*document.commands] or next_commands(report) if model is None else [],
        "how": how_facts(report),
        "experts_note": words.experts_note(report),
        "expert": expert_facts(report),
    }


def _not_drawn(sentences: Sequence[str], drawn: Mapping[str | None, str]) -> list[str]:
    """Return sentences with what is left in place of those that are drawn, if anything is."""
    left = (drawn.get(sentence, sentence) for sentence in sentences)
    return [sentence for sentence in left if sentence]


def _subtitle(report: Report, rows: str, file: str | None) -> str:
    rates = " and ".join(rate_names(report["notions"]))
    dropped = report["missing"]["dropped"]
    less = f" ({count(dropped)} more were dropped: a value is missing)" if dropped else ""
    of_file = "" if file is None else f" of {file}"
    audited = f"{count(report['n_rows'])} {rows}{of_file}{less}"
    return f"{capitalised(rates)}, {audited}{_on_date(report)}"


def _on_date(report: Report) -> str:
    made = report["provenance"]
    return "" if made is None else f", {date_words(made['date']).partition(',')[0]}"


def _figures(report: Report) -> list[tuple[str, str, str]]:
    """Return the key figures: name, value and a remark.

    Values are rounded so that they stay on their side of gamma; bounds are rounded up.
    """
    gamma = report["gamma"]
    remark = (
        "exact: none searched has more"
        if report["exact"]
        else f"so far; none is above {in_unit(bound(report['upper_bound'], gamma), report)}"
    )
    found = in_unit(unfairness(report["unfairness"], gamma), report)
    largest = ("Largest unfairness found", found, remark)
    if stands_alone(report):
        one = report["in_a_sentence"]["subgroup"]
        value = in_unit(unfairness(one["unfairness"], gamma), report)
        largest = ("Unfairness", value, as_object(one, report))
    figures = [
        largest,
        ("Unfairness allowed", in_unit(f"{gamma:g}", report), "gamma"),
    ]
    # A figure of nobody in particular is left for below.
    alone = report["single_unfairness"]
    told = words.alone_words(report) or words.interval_alone_words(report)
    who = told if alone else "largest unfairness of any value or interval"
    if who is not None:
        value = in_unit(unfairness(alone, gamma), report)
        figures.append(("One attribute at a time", value, who))
    for one in _in_figures(report):
        rate = capitalised(in_words(one["notion"]))
        who = "everyone else" if is_rest(one, report) else as_object(one, report)
        rest = "" if is_rest(one, report) else subgroup_words.rest_words(one)
        against = f"{who}, against {subgroup_words.against_words(one)}"
        against += f" and {rest}" if rest else ""
        figures.append((rate, subgroup_words.compared_rates(one).rate, against))
    return [*figures, _p_value(report)]


def _p_value(report: Report) -> tuple[str, str, str]:
    """Return the p-value of who leads, with the group or the search that it is of.

    One is enough on top of a page: those of others are where these are told.
    """
    asks = "could chance explain it?"
    if is_tested_itself(report):
        tested = report["sharpest"]
        looked_at = f"It counts all of the {count(tested['n_groups'])} groups looked at"
        return ("p-value", p_value(tested["p_value"]), f"{asks} {looked_at}")
    value = own_p_value(report)
    if value is None:
        return ("p-value", "not tested", asks)
    if own_test(report) is not None:
        return ("p-value", p_value(value), f"{asks} It counts all groups with {FEW}")
    counts = f"it counts the whole search{quick_search_words(report)}"
    whose = f"Of {stands_for(report)}; {counts}" if is_of_another(report) else capitalised(counts)
    return ("p-value", p_value(value), f"{asks} {whose}")


def _in_figures(report: Report) -> list[Mapping[str, Any]]:
    """Return the subgroups whose rates are among the key figures, but for what is for experts.

    Nor any that may all be chance.
    """
    one = sharpest(report)
    if is_calm(report):
        return []
    if is_for_experts(report) and one is not None:
        return [one]
    shown = [one for one in leads(report) if not is_rest(one, report) or tells_rest(report)]
    if says_most(report):
        shown[:1] = [report["in_a_sentence"]["subgroup"]]
    # Who stands out is in the heading where nothing exceeds gamma, and the first of all then.
    is_first = sharpest_leads(report) or report["verdict"] != "exceeds gamma"
    if one is None or not is_first or any(is_named(one, other) for other in shown):
        return shown
    return [one, *shown]


def _bars(report: Report) -> dict[str, Any]:
    """Return the gerrymandering gap as bars: one attribute at a time, and the worst of all."""
    values = [
        ("One attribute at a time", report["single_unfairness"], "single"),
        ("All subgroups searched", report["unfairness"], "found"),
    ]
    if not report["exact"]:
        values.append(("Not ruled out", report["upper_bound"], "open"))
    # A little room, so that a mark at the end is seen.
    largest = 1.05 * max(report["gamma"], *(value for _, value, _ in values)) or 1.0
    return {
        "gamma": in_unit(f"{report['gamma']:g}", report),
        "gamma_at": part_of_axis(report["gamma"], 0.0, largest),
        "values": [
            {
                "name": name,
                "value": in_unit(
                    (bound if kind == "open" else unfairness)(value, report["gamma"]), report
                ),
                "width": part_of_axis(value, 0.0, largest),
                "kind": kind,
            }
            for name, value, kind in values
        ],
    }


def _groups(report: Report, name: str) -> tuple[list[Mapping[str, Any]], int]:
    """Return the groups of one notion that a page shows, and how many there are."""
    # Other classes that list their groups have too many, or those of one attribute.
    named = report["intervals"] if report["class"]["name"] == "ExplicitGroups" else []
    groups = [group for group in [*named, *report["marginals"]] if group["notion"] == name]
    if len(groups) <= MOST_GROUPS:
        return groups, len(groups)
    furthest = sorted(groups, key=lambda group: -abs(group["unfairness"]))[:MOST_GROUPS]
    return [group for group in groups if group in furthest], len(groups)


def _axis(report: Report) -> tuple[float, float]:
    """Return the ends of the one axis of all rates on a page, so that any two can be compared."""
    rates = [
        overall.get("reference", overall["rate"]) or 0.0 for overall in report["overall_rates"]
    ]
    drawn = [subgroup for _, subgroup in described(report)]
    for subgroup in (*drawn, *filter(None, [report.get("core")])):
        rates += [subgroup["rate"], subgroup["overall_rate"]]
        rates += [] if subgroup.get("rest_rate") is None else [subgroup["rest_rate"]]
    for overall in report["overall_rates"]:
        for group in _groups(report, overall["notion"])[0]:
            rates += [*group["rate_interval"], group["overall_rate"]]
    return min(0.0, *rates), _round_up(max(rates))


def _rates(report: Report, overall: Mapping[str, Any], axis: tuple[float, float]) -> dict[str, Any]:
    """Return the groups of one notion, with rates and intervals placed on the axis."""
    name = overall["notion"]
    shown, n_groups = _groups(report, name)
    low, high = axis
    unit = subgroup_words.unit_of(report, name)
    within = bool(report.get("control_features")) or of_scores(report)
    return {
        "name": capitalised(in_words(name)),
        "legend": " ".join(filter(None, [flag_legend(report), _narrow(shown, unit)])),
        "sentence": subgroup_words.group_rate_sentence(overall, report),
        "axis": (figure(low, unit), figure(high, unit)),
        "not_shown": _not_shown(len(shown), n_groups),
        "groups": [_group(group, axis, unit, within_strata=within) for group in shown],
    }


def _group(
    group: Mapping[str, Any], axis: tuple[float, float], unit: str | None, *, within_strata: bool
) -> dict[str, Any]:
    """Return a group of a table: its figures in words, and their places on the axis."""
    low, high = (part_of_axis(end, *axis) for end in group["rate_interval"])
    shown = compared(group["rate"], group["overall_rate"], unit)
    return {
        "name": group["group"],
        "mark": flag_of(group),
        "size": count(group["size"]),
        "rate": shown.rate,
        "interval": interval_ends(group["rate_interval"], unit),
        "expected": shown.reference if within_strata else "",
        "gap": shown.gap,
        "at": part_of_axis(group["rate"], *axis),
        "reference_at": part_of_axis(group["overall_rate"], *axis),
        "from": low,
        "width": round(high - low, 2),
        "unfairness": f"{unfairness(group['unfairness'])} {unit or ''}".rstrip(),
    }


def _narrow(groups: Sequence[Mapping[str, Any]], unit: str | None) -> str:
    """Warn of intervals of means that may be too narrow; nothing where all groups are large."""
    if unit is None or all(group["size"] >= _ENOUGH for group in groups):
        return ""
    return (
        "Of skewed numbers, such as costs that are 0 for most, the intervals of groups of fewer "
        f"than some {_ENOUGH} rows can be too narrow."
    )


def _not_shown(shown: int, groups: int) -> str:
    """Say that some groups are in the JSON only; nothing where all are shown."""
    if shown == groups:
        return ""
    return (
        f"These are the {shown} groups that differ most; {groups - shown} more are in the report's "
        "JSON."
    )


def _round_up(value: float) -> float:
    """Return an end for an axis: the next larger number of few digits.

    >>> _round_up(0.562), _round_up(0.031), _round_up(1.0), _round_up(0.0)
    (0.6, 0.035, 1.0, 1.0)
    """
    if value <= 0:
        return 1.0
    # Half of the leading decimal place: 0.05 for 0.562. An end that is whole stays as it is,
    # although its quotient may be a rounding above.
    step = 10 ** math.floor(math.log10(value)) / 2
    if step == 0:  # half of the smallest number that there is
        return value
    return float(f"{math.ceil(value / step - 1e-9) * step:.12g}")
