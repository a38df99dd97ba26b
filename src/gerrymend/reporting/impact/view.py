"""Prepare the tables for whatever shows them: every word and figure as text, in sections."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend._runtime.versions import versions
from gerrymend.reporting.audit.document import PLAIN, Document
from gerrymend.reporting.impact.beyond import beyond_lead, beyond_sentences
from gerrymend.reporting.impact.rows import UNKNOWN
from gerrymend.reporting.impact.rules import NO_ADVICE, Rule, rule_of
from gerrymend.reporting.impact.words import (
    deviation_words,
    few_sentence,
    interval_words,
    is_below,
    lead_sentences,
    mark_words,
    number_words,
    p_words,
    rate_words,
    ratio_words,
    table_notes,
    value_words,
    who_is_selected,
)
from gerrymend.reporting.wording import capitalised, count

View = dict[str, Any]


def impact_view(data: Mapping[str, Any], document: Document = PLAIN) -> View:
    """Return all that is shown of `ImpactTable.to_dict()`, in words, by section."""
    rule = rule_of(data)
    few = few_sentence(data)
    return {
        "title": document.title or rule.title,
        "about": document.facts,
        "subtitle": _subtitle(data),
        "advice": NO_ADVICE,
        "lead": [*lead_sentences(data), *beyond_lead(data)],
        "warning": few,
        "tables": [_table(table, data, rule) for table in data["tables"]],
        "beyond_title": "The worst subgroup in no table",
        "beyond": beyond_sentences(data),
        "rule": _rule(rule),
        "how": _how(data, rule),
    }


def _subtitle(data: Mapping[str, Any]) -> str:
    """Return how many rows there are, when and by what the tables were made."""
    words = f"{count(data['n_rows'])} rows. {who_is_selected(data)}"
    made = data["provenance"]
    version = versions()["gerrymend"]
    when = "" if made is None else f" on {made['date'][:10]}"
    return f"{words} Made{when} by gerrymend {version}."


def heads(data: Mapping[str, Any], rule: Rule) -> list[str]:
    """Return the names of the columns after those of the attributes."""
    level = f"{100 * data['confidence']:g} % interval"
    return [
        "n", capitalised(rule.selected), capitalised(rule.rate), capitalised(rule.ratio), level,
        "Fisher's p", "Standard deviations", "Short of 4/5", "Mark",
    ]  # fmt: skip


def _table(table: Mapping[str, Any], data: Mapping[str, Any], rule: Rule) -> View:
    """Return a table with its groups in words."""
    return {
        "title": " × ".join(table["attributes"]),
        "attributes": table["attributes"],
        "heads": heads(data, rule),
        "groups": [
            *(_group(group, data["min_group_size"]) for group in table["groups"]),
            *([_unknown(table)] if table["n_unknown"] else []),
        ],
        "notes": table_notes(table, data),
    }


def _group(group: Mapping[str, Any], min_group_size: int) -> View:
    return {
        "values": [value_words(value) for value in group["values"].values()],
        "figures": [
            count(group["n"]),
            number_words(group["selected"]),
            rate_words(group["rate"]),
            ratio_words(group["ratio"]),
            interval_words(group),
            p_words(group),
            deviation_words(group),
            "–" if group["ratio"] is None else number_words(group["shortfall"]),
        ],
        "mark": mark_words(group, min_group_size),
        "kind": "reference" if group["is_reference"] else "below" if is_below(group) else "",
    }


def _unknown(table: Mapping[str, Any]) -> View:
    """Return the rows of unknown category, which are counted and compared with nobody."""
    known = [
        count(table["n_unknown"]),
        number_words(table["unknown_selected"]),
        rate_words(table["unknown_rate"]),
    ]
    blank = [""] * (len(table["attributes"]) - 1)
    return {
        "values": [UNKNOWN, *blank],
        "figures": [*known, *["–"] * 5],
        "mark": "not compared",
        "kind": "unknown",
    }


def _rule(rule: Rule) -> View:
    """Return what the rule is, asks, and doesn't ask."""
    return {
        "title": "The rule",
        "sentence": rule.rule,
        "lists": [
            (title, list(sentences))
            for title, sentences in (
                ("What it asks", rule.asks),
                ("What it doesn't", rule.asks_not),
            )
            if sentences
        ],
    }


def _how(data: Mapping[str, Any], rule: Rule) -> list[tuple[str, str]]:
    """Return what was done, a name and a text each."""
    facts = {
        "Who counts": who_is_selected(data),
        capitalised(rule.ratio): "The rate of a group over that of the reference group of the same "
        "table. (An audit, and the unfairness below the tables, compare with everyone's rate.)",
        "Interval": f"Koopman's score interval for a ratio of two rates, "
        f"{100 * data['confidence']:g} %, each for itself; where nobody of a group is selected the "
        "upper end is exact, from the intervals of Clopper and Pearson.",
        "Fisher's p": _tested(data),
        "Standard deviations": "How far the group's rate is from the reference's, over the "
        "standard error where both are the pooled rate; 2 or more is hardly chance.",
        "Chance": "A reference group that was chosen for its rate is one that intervals and tests "
        "don't allow for: of groups that are alike, the ratios of the others come out below 1. "
        "None is corrected for the number of groups.",
        "Short of 4/5": f"How many more of the group would have to be {rule.selected} for four "
        "fifths of the reference's rate, all else the same.",
        "Under 2 %": _small(data),
    }
    return [*facts.items(), *_left_out(data)]


def _tested(data: Mapping[str, Any]) -> str:
    """Say which exact test there is."""
    if data["weighted"]:
        return (
            "There is none: rows weigh differently, and it is about counts. Intervals and standard "
            "deviations are those of the effective number of rows."
        )
    return "Fisher's exact test of a group against the reference group, two-sided."


def _small(data: Mapping[str, Any]) -> str:
    """Say what was done with groups of less than 2 % of their table."""
    if data["exclude_small"]:
        return (
            "Groups of less than 2 % of their table were given no ratio, as was asked, and are no "
            "reference; their rows and rates are shown. A rule may want a reason for that."
        )
    return (
        "Groups of less than 2 % of their table are marked, and compared as all others are: some "
        "rules allow to leave their ratios out (exclude_small, --exclude-small), none asks for it."
    )


def _left_out(data: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return who and what is in no table."""
    facts = []
    if data["unknown"]:
        by = ", ".join(f"{name}: {count(rows)}" for name, rows in data["unknown"].items())
        facts.append(
            (
                "Unknown",
                f"{count(data['n_unknown'])} of {count(data['n_rows'])} rows are of an unknown "
                f"category ({by}). A row is in every table whose categories it has.",
            )
        )
    if data["untabled"]:
        facts.append(
            (
                "Without a table",
                f"{', '.join(data['untabled'])}: numbers, which are no categories until they are "
                "cut into ranges; the search below the tables is over them too.",
            )
        )
    return facts
