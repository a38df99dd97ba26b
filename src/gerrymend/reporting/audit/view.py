"""What stands on an audit's page, in order: words and figures, and where to draw them.

`audit_view` makes it from the plain data alone. The page, Markdown, the notebook's fragment and the
terminal's table are four ways to set it.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting.audit import subgroup_words, words
from gerrymend.reporting.audit.next_steps import next_commands, next_sentences
from gerrymend.reporting.wording import bound, capitalised, count, p_value, percent, unfairness

# Rates of more groups than this are in the JSON; a page shows those that differ most.
MOST_GROUPS = 40
_KINDS = {"exceeds gamma": "exceeds", "within gamma": "within", "undecided": "undecided"}
_SIGNS = {"exceeds gamma": "✕", "within gamma": "✓", "undecided": "?"}

Report = Mapping[str, Any]
Facts = list[tuple[str, str]]


def audit_view(report: Report, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All that a reader sees of a report; `model` is what `gerrymend fit` knows of its own."""
    return {
        "title": "Subgroup fairness audit" if model is None else "Audit of a trained model",
        "subtitle": _subtitle(report, model),
        "kind": "undecided" if words.exceeds_alone(report) else _KINDS[report["verdict"]],
        "sign": "!" if words.exceeds_alone(report) else _SIGNS[report["verdict"]],
        "heading": words.heading(report),
        "verdict": words.verdict_sentences(report),
        "figures": _figures(report),
        "model": None if model is None else model_view(model),
        "subgroups": _subgroups(report),
        "gap": {"bars": _bars(report), "sentence": words.gap_sentence(report)},
        "rates": [_rates(report, one) for one in report["overall_rates"]],
        "detection": words.detection_sentences(report),
        "protected": words.protected_sentences(report),
        "next": next_sentences(report) if model is None else [],
        "commands": next_commands(report) if model is None else [],
        "how": _how(report),
        "expert": _expert(report),
    }


def _subtitle(report: Report, model: Mapping[str, Any] | None) -> str:
    rates = " and ".join(in_words(one["name"]) for one in report["notions"])
    rows = "rows" if model is None else model["audited"]
    return f"{capitalised(rates)}, {count(report['n_rows'])} {rows}{_on_date(report)}"


def _on_date(report: Report) -> str:
    made = report["provenance"]
    return "" if made is None else f", {_date(made['date']).partition(',')[0]}"


def _date(iso: str) -> str:
    """A date as it is read.

    >>> _date("2025-01-31T09:05:00+00:00")
    '31 January 2025, 09:05 UTC'
    """
    date = datetime.fromisoformat(iso)
    return f"{date.day} {date:%B %Y, %H:%M} UTC"


def _figures(report: Report) -> list[tuple[str, str, str]]:
    """Name, value and a remark."""
    worst, gamma = report["worst"], report["gamma"]
    remark = (
        "exact: none searched is worse"
        if report["exact"]
        else f"a lower bound; none above {bound(report['upper_bound'], gamma)}"
    )
    figures = [
        ("Largest unfairness found", unfairness(report["unfairness"], gamma), remark),
        ("Unfairness allowed", f"{gamma:g}", "gamma"),
        (
            "One attribute at a time",
            unfairness(report["marginal_unfairness"], gamma),
            "largest unfairness of single attributes",
        ),
    ]
    if worst is not None:
        rate = capitalised(in_words(worst["notion"]))
        against = f"in the worst subgroup, against {percent(worst['overall_rate'])} overall"
        figures.append((rate, percent(worst["rate"]), against))
    tested = report["p_value"] is not None
    value = p_value(report["p_value"]) if tested else "not tested"
    figures.append(("p-value", value, "could it be chance?"))
    return figures


def described(report: Report) -> list[Mapping[str, Any]]:
    """The subgroups to show, the worst first."""
    return [*report["top"]] or [*filter(None, [report["worst"]])]


def _subgroups(report: Report) -> list[dict[str, Any]]:
    views = []
    for i, one in enumerate(described(report)):
        facts = subgroup_words.subgroup_facts(one, report)
        if i == 0:
            test = (
                "not tested"
                if report["p_value"] is None
                else f"{p_value(report['p_value'])}, of “no subgroup differs at all”"
            )
            facts += [
                ("Proof", words.bound_sentence(report)),
                ("p-value", test),
                ("On other rows", words.interval_sentence(report)),
            ]
        scale = max(one["rate"], one["overall_rate"], 1e-12)
        views.append(
            {
                "name": subgroup_words.short_name(one),
                "in_full": one["subgroup"] if subgroup_words.is_long(one) else None,
                "is_formula": subgroup_words.is_formula(one),
                "facts": facts,
                "rate": percent(one["rate"]),
                "overall": percent(one["overall_rate"]),
                "rate_width": _part(one["rate"], 0.0, scale),
                "overall_width": _part(one["overall_rate"], 0.0, scale),
            }
        )
    return views


def _part(value: float, low: float, high: float) -> float:
    """Where a value is between two ends, in percent, for a style sheet.

    >>> _part(0.25, 0.0, 0.5), _part(2.0, 0.0, 1.0)
    (50.0, 100.0)
    """
    return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)


def _bars(report: Report) -> dict[str, Any]:
    """The gerrymandering gap: one attribute at a time, and the worst of all."""
    values = [
        ("One attribute at a time", report["marginal_unfairness"], "single"),
        ("Worst subgroup found", report["unfairness"], "found"),
    ]
    if not report["exact"]:
        values.append(("Not ruled out", report["upper_bound"], "open"))
    largest = 1.05 * max(report["gamma"], *(value for _, value, _ in values)) or 1.0
    return {
        "gamma": f"{report['gamma']:g}",
        "gamma_at": _part(report["gamma"], 0.0, largest),
        "values": [
            {
                "name": name,
                "value": (bound if kind == "open" else unfairness)(value, report["gamma"]),
                "width": _part(value, 0.0, largest),
                "kind": kind,
            }
            for name, value, kind in values
        ],
    }


def _rates(report: Report, overall: Mapping[str, Any]) -> dict[str, Any]:
    """The groups of one notion, and where their rates and intervals are on a common axis."""
    name = overall["notion"]
    named = report["intervals"] if report["class"]["name"] == "ExplicitGroups" else []
    groups = [one for one in [*named, *report["marginals"]] if one["notion"] == name]
    shown = groups
    if len(groups) > MOST_GROUPS:
        furthest = sorted(groups, key=lambda one: -abs(one["unfairness"]))[:MOST_GROUPS]
        shown = [one for one in groups if one in furthest]
    ends = [end for one in shown for end in one["rate_interval"]]
    middle = overall["rate"] or 0.0
    low, high = min([0.0, middle, *ends]), _round_up(max([middle, *ends]))
    return {
        "name": capitalised(in_words(name)),
        "meaning": subgroup_words.notion_meaning(name, report["labels"]),
        "overall": "not shown" if overall["rate"] is None else percent(overall["rate"]),
        "overall_at": _part(middle, low, high),
        "rows": count(overall["rows"]),
        "axis": (percent(low), percent(high)),
        "not_shown": len(groups) - len(shown),
        "groups": [
            {
                "name": one["group"],
                "size": count(one["size"]),
                "rate": percent(one["rate"]),
                "interval": " to ".join(percent(end) for end in one["rate_interval"]),
                "at": _part(one["rate"], low, high),
                "from": _part(one["rate_interval"][0], low, high),
                "width": round(
                    _part(one["rate_interval"][1], low, high)
                    - _part(one["rate_interval"][0], low, high),
                    2,
                ),
                "unfairness": unfairness(one["unfairness"]),
            }
            for one in shown
        ],
    }


def _round_up(value: float) -> float:
    """An end for an axis: the next larger number of few digits.

    >>> _round_up(0.562), _round_up(0.031), _round_up(1.0), _round_up(0.0)
    (0.6, 0.035, 1.0, 1.0)
    """
    if value <= 0:
        return 1.0
    step = 10 ** math.floor(math.log10(value)) / 2
    return round(math.ceil(value / step - 1e-9) * step, 12)


def _how(report: Report) -> Facts:
    negative, positive = report["labels"]
    facts = [
        ("Rows", count(report["n_rows"]) + (", weighted" if report["weighted"] else "")),
        ("Labels", f"“{negative}” is negative, “{positive}” is positive"),
        ("Protected columns", ", ".join(report["attributes"])),
        ("Rates compared", ", ".join(in_words(one["name"]) for one in report["notions"])),
        ("Subgroups searched", report["covers"]),
        ("Unfairness allowed", f"{report['gamma']:g} (gamma)"),
        ("Smallest group described", f"{count(report['min_group_size'])} rows that count"),
        ("Permutations", count(report["n_permutations"])),
    ]
    made = report["provenance"]
    if made is None:
        return facts
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return [
        *facts,
        ("Time for the proof", f"{made['budget']:g} s at most"),
        ("Seed", str(made["random_state"])),
        ("Made on", _date(made["date"])),
        ("Versions", versions),
        ("Fingerprint of the data", made["fingerprint"]),
    ]


def _expert(report: Report) -> Facts:
    searched = report["class"]
    settings = ", ".join(
        f"{name}={value!r}"
        for name, value in searched["parameters"].items()
        if isinstance(value, str | int | float | bool | None)
    )
    facts = [
        ("Class", f"{searched['name']}({settings})"),
        ("Found", f"{report['unfairness']:.6g}"),
        ("Upper bound over the class", f"{report['upper_bound']:.6g}"),
        *(
            (f"Upper bound over {one['covers']}", f"{one['upper_bound']:.6g}")
            for one in report["partial"]
        ),
        ("Largest over single attributes", f"{report['marginal_unfairness']:.6g}"),
    ]
    if report["detectable"] is not None:
        facts += [
            ("95 % line of the permutations", f"{report['detectable']:.6g}"),
            ("The same search on the rows as they are", f"{report['searched_unfairness']:.6g}"),
        ]
    if (general := report["generalisation"]) is not None:
        facts.append(
            (
                "Uniform bound for other rows",
                f"± {general['distance']:.4g} ({general['basis']}, "
                f"{percent(general['confidence'])} confidence"
                f"{'; says nothing' if general['vacuous'] else ''})",
            )
        )
    return facts


def model_view(model: Mapping[str, Any]) -> dict[str, Any]:
    """A model that was trained: what it is, and how it does on each sample."""
    number = model["n_predictors"]
    drawn = "one of them is drawn for each row" if number > 1 else "it decides alone"
    return {
        "sentence": words.model_sentence(model),
        "facts": [
            ("Predictors", f"{count(number)} × {model['estimator']}; {drawn}"),
            ("Trained to allow", f"{model['gamma']:g} (gamma)"),
            ("Decides by", ", ".join(model["columns"])),
        ],
        "samples": [
            {
                "name": capitalised(one["name"]),
                "rows": count(one["n_rows"]),
                "error": percent(one["error"]),
                "unfairness": unfairness(one["unfairness"]),
                "bound": "exact" if one["exact"] else f"at most {bound(one['upper_bound'])}",
                "verdict": words.HEADINGS[one["verdict"]].lower(),
            }
            for one in model["samples"]
        ],
    }
