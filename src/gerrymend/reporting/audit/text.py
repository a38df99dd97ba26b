"""Lay an audit out as text: `print(report)`, rich and `gerrymend audit` show the same lines."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit import words
from gerrymend.reporting.audit.chance import (
    chance_for_experts,
    permutation_sentences,
)
from gerrymend.reporting.audit.direction import (
    average,
    direction_sentences,
    in_unit,
    labelled,
    of_numbers,
)
from gerrymend.reporting.audit.flags import discovery_sentences
from gerrymend.reporting.audit.further import further_facts
from gerrymend.reporting.audit.intervals import interval_words
from gerrymend.reporting.audit.left_out import fewer_sentences, kept_back_sentence
from gerrymend.reporting.audit.next_steps import decide_sentence, look_sentences
from gerrymend.reporting.audit.other_rows import held_out_sentences
from gerrymend.reporting.audit.population import population_means
from gerrymend.reporting.audit.said import (
    brief_words,
    core_words,
    is_said,
)
from gerrymend.reporting.audit.standing_out import likelihood_words, stands_out
from gerrymend.reporting.audit.strata import strata_line
from gerrymend.reporting.audit.subgroup_words import rule_words, summary_words, who_words
from gerrymend.reporting.audit.verdict import look, verdict_sentences, warning_sentences
from gerrymend.reporting.audit.who_leads import (
    STANDS_OUT,
    described,
    is_rest,
    is_the_same,
    leads,
    stands_for,
)
from gerrymend.reporting.text import (
    PLAIN_WIDTH,
    Facts,
    Span,
    as_plain,
    fact_spans,
    joined,
    paragraph_spans,
)

Report = Mapping[str, Any]


def audit_text(report: Report) -> str:
    """Return the report as plain text, in lines of at most 80 characters.

    >>> from gerrymend import audit
    >>> countries = {"country": ["NL", "NL", "BE", "BE"] * 10}
    >>> report = audit([0] * 40, [1, 0] * 20, sensitive_features=countries)
    >>> print(audit_text(report.to_dict()).splitlines()[0])
    Within what is allowed
    """
    return as_plain(audit_spans(report, PLAIN_WIDTH))


def audit_spans(report: Report, width: int, more: Facts = ()) -> list[Span]:
    """Return the verdict, what was found, how sure that is, and `more`, in lines of `width`.

    Parameters
    ----------
    report : mapping
        `AuditReport.to_dict()`.
    width : int
        Characters of a line; a name or a number that is longer is not broken.
    more : sequence of (name, text)
        Facts that the report doesn't have, as the file that was read.
    """
    shown = look(report)
    return joined(
        [
            warning_spans(report, width),
            paragraph_spans(shown.style, shown.heading, verdict_sentences(report), width),
            fact_spans([("Unfairness", words.unfairness_line(report)), *_subgroups(report)], width),
            fact_spans([*_proof(report), *_certainty(report), *_kept_back(report)], width),
            fact_spans([*_verdict(report), *_labels(report), *more, *missing_facts(report)], width),
        ]
    )


def _kept_back(report: Report) -> Facts:
    """Return what is not told of the groups, but for who is in them, and why."""
    sentence = kept_back_sentence(report, besides=("composition",))
    return [] if sentence is None else [("Not told", sentence)]


def warning_spans(report: Report, width: int) -> list[Span]:
    """Return the warnings that come before a verdict, one a fact; nothing where there are none."""
    facts = [("Warning", sentence) for sentence in warning_sentences(report)]
    return [("bold yellow" if style else "", text) for style, text in fact_spans(facts, width)]


def _subgroups(report: Report) -> Facts:
    """Return who is treated worst and best, or who differs, each with a line of figures."""
    facts = []
    has_rest = any(is_rest(one, report) for _, one in described(report))
    for standing, subgroup in described(report):
        # Of everyone else and of who is not among them, each is the other's rest.
        is_told = has_rest and subgroup in leads(report)
        summary = summary_words({**subgroup, "rest_rate": None} if is_told else subgroup, report)
        if is_rest(subgroup, report):
            facts.append((standing, summary))
            continue
        if standing == "As a formula":
            facts.append((standing, f"{rule_words(subgroup)}; the same rows"))
            continue
        experts = f"{stands_for(report)}: " if standing == "For experts" else ""
        facts.append((standing, f"{experts}{who_words(subgroup)}"))
        facts.append(("", summary))
        if core := core_words(subgroup, report):
            facts.append(("", core))
        facts += [("", told) for _, told in further_facts(standing, subgroup, report)]
        if standing == STANDS_OUT:
            facts.append(("", likelihood_words(report)))
        if interval := interval_words(subgroup, report):
            facts.append(("", f"95 % interval of its {average(report)}: {interval}"))
        if subgroup == leads(report)[0] and (formula := chance_for_experts(report)):
            facts.append(("", formula))
        if is_said(subgroup, report) and not is_the_same(report):
            facts.append(("", brief_words(report)))
    # Withheld or not at all: either way there is none to name.
    if not facts:
        facts.append(("Subgroups", words.nothing_sentence(report)))
    facts += [("", sentence) for sentence in fewer_sentences(report)]
    if report["withheld"]:
        facts.append(("Withheld", words.withheld_sentence(report)))
    return facts


def _proof(report: Report) -> Facts:
    """Return what is proven, and what one attribute at a time would have shown."""
    return [("Proof", words.proof_sentences(report)), ("One by one", words.gap_sentence(report))]


def _certainty(report: Report) -> Facts:
    """Return what was tested; what was not is left for the page."""
    facts = []
    if report["p_value"] is not None or report["no_p_value"]:
        facts.append(("Chance", " ".join(permutation_sentences(report, example=False))))
    if report["held_out"] is not None:
        facts.append(("Other rows", " ".join(held_out_sentences(report))))
    facts += [("Other people", sentence) for sentence in population_means(report)]
    if flags := discovery_sentences(report):
        facts.append(("Flagged", " ".join(flags)))
    return facts


def _verdict(report: Report) -> Facts:
    """Return the verdict by the name that programs compare with, and what can decide it."""
    gamma = report["gamma"]
    facts = [("Verdict", f"{report['verdict']}; gamma is {in_unit(f'{gamma:g}', report)}")]
    if report["verdict"] == "undecided":
        facts.append(("", decide_sentence(report)))
    if report["verdict"] != "exceeds gamma" and stands_out(report):
        facts.append(("What next", " ".join(look_sentences(report))))
    return facts


def missing_facts(report: Report) -> Facts:
    """Return how many rows lack a protected value, and what became of them."""
    sentence = words.missing_sentence(report)
    return [] if sentence is None else [("Missing", sentence)]


def _labels(report: Report) -> Facts:
    """Return which label is positive, and which decision is favourable."""
    about = "Compared" if of_numbers(report) else f"{labelled(report).capitalize()}s"
    facts = [(about, " ".join(direction_sentences(report)))]
    if (strata := strata_line(report)) is not None:
        facts.append(("Strata", strata))
    return facts
