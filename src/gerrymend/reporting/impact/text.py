"""Lay tables of impact ratios out as text: print(table), rich and `gerrymend impact` show it."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.reporting.impact.beyond import beyond_lead, beyond_sentences
from gerrymend.reporting.impact.rows import UNKNOWN
from gerrymend.reporting.impact.rules import NO_ADVICE, rule_of
from gerrymend.reporting.impact.words import (
    deviation_words,
    few_sentence,
    interval_words,
    is_below,
    lead_sentences,
    number_words,
    p_words,
    rate_words,
    ratio_words,
    table_notes,
    value_words,
    who_is_selected,
)
from gerrymend.reporting.text import (
    PLAIN_WIDTH,
    Facts,
    Span,
    as_plain,
    fact_spans,
    joined,
    paragraph_spans,
    wrapped,
)
from gerrymend.reporting.wording import capitalised, count, visible

Data = Mapping[str, Any]
# After the name of a group: n, rate, ratio, interval, p, standard deviations, people short, marks.
_FIGURES = "{:>7}{:>8}{:>7} {:>13}{:>8}{:>7}{:>6} {}"
_HEADS = ("n", "rate", "ratio", "interval", "p", "SDs", "short", "")
_WIDTH = len(_FIGURES.format(*_HEADS)) + 3
_LEGEND = (
    "= the reference group, < a ratio below 0.8, s less than 2 % of its table, f so few rows that "
    "figures are about persons. p: Fisher's exact test; SDs: standard deviations; short: people "
    "more who would have to be {selected} for four fifths of the reference's rate."
)


def impact_text(data: Data) -> str:
    """Return the tables as plain text, in lines of at most 80 characters.

    >>> from gerrymend import impact_ratios
    >>> made = impact_ratios([1, 1, 1, 0, 1, 0, 0, 0], search=False, sensitive_features={
    ...     "sex": ["M"] * 4 + ["F"] * 4})
    >>> print(impact_text(made.to_dict()).splitlines()[0])
    Impact ratios
    """
    return as_plain(impact_spans(data, PLAIN_WIDTH))


def impact_spans(data: Data, width: int, more: Facts = ()) -> list[Span]:
    """Return what leads, the tables, and what was found beyond them, in lines of `width`."""
    rule = rule_of(data)
    lead = [*lead_sentences(data), *beyond_lead(data)]
    few = few_sentence(data)
    legend = " ".join([_LEGEND.format(selected=rule.selected), *([few] if few else [])])
    return joined(
        [
            paragraph_spans("bold", rule.title, lead, width),
            *(_table_spans(table, data, width) for table in data["tables"]),
            fact_spans([("Marks", legend)], width),
            paragraph_spans(
                "bold", "The worst subgroup in no table", beyond_sentences(data), width
            ),
            fact_spans([*_facts(data), *more], width),
        ]
    )


def _facts(data: Data) -> Facts:
    """Return the rule in a line, who counts, and who is left out."""
    rule = rule_of(data)
    facts = [("Rule", rule.rule), ("", NO_ADVICE), ("Counted", who_is_selected(data))]
    if data["untabled"]:
        facts.append(("No table", f"{', '.join(data['untabled'])} (numbers)"))
    return facts


def _table_spans(table: Data, data: Data, width: int) -> list[Span]:
    """Return a table: its attributes, a group a line, and notes."""
    name_width = max(width - _WIDTH, 16)
    title = visible(" × ".join(table["attributes"]))
    of = capitalised(rule_of(data).rate)
    spans: list[Span] = [("bold", "\n".join(wrapped(f"{title}: {of}", width)) + "\n")]
    spans.append(("dim", f"{'':{name_width}}{_FIGURES.format(*_HEADS)}".rstrip() + "\n"))
    for group in table["groups"]:
        name = " × ".join(value_words(value) for value in group["values"].values())
        style = "yellow" if is_below(group) else ""
        spans += _line(name, _figures(group), name_width, style)
    if table["n_unknown"]:
        shown = rate_words(table["unknown_rate"])
        figures = (count(table["n_unknown"]), shown, *["–"] * 5, "")
        spans += _line(UNKNOWN, figures, name_width, "dim")
    notes = "\n".join(wrapped(" ".join(table_notes(table, data)), width))
    return [*spans, ("dim", f"{notes}\n")]


def _line(name: str, figures: Sequence[str], name_width: int, style: str) -> list[Span]:
    """Return a group as a line, its name in as many above it as it needs."""
    *above, last = textwrap.wrap(visible(name), name_width - 1) or [""]
    lines = [*above, f"{last:<{name_width}}{_FIGURES.format(*figures)}".rstrip()]
    return [(style, "\n".join(lines) + "\n")]


def _figures(group: Data) -> tuple[str, ...]:
    marks = {
        "=": group["is_reference"],
        "<": is_below(group),
        "s": group["is_small"],
        "f": group["is_few"],
    }
    return (
        count(group["n"]),
        rate_words(group["rate"]),
        ratio_words(group["ratio"]),
        interval_words(group),
        p_words(group),
        deviation_words(group),
        "–" if group["ratio"] is None else number_words(group["shortfall"]),
        "".join(mark for mark, is_so in marks.items() if is_so),
    )
