"""Word what a watch says of a batch: a heading, sentences, and facts by name."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.subgroup_words import rate_alone, rule_words
from gerrymend.reporting.text import (
    PLAIN_WIDTH,
    Span,
    as_plain,
    fact_spans,
    joined,
    paragraph_spans,
)
from gerrymend.reporting.wording import count, percent, unfairness

Data = Mapping[str, Any]


def look_text(data: Data) -> str:
    """Return a look as plain text, in lines of at most 80 characters."""
    return as_plain(look_spans(data, PLAIN_WIDTH))


def look_spans(data: Data, width: int) -> list[Span]:
    """Return whether there is an alarm, why, and what was found in the batch."""
    heading, style = ("Alarm", "bold red") if data["alarm"] else ("No alarm", "bold green")
    facts = [
        ("Batch", f"{number_words(data)}, {count(data['n_rows'])} rows"),
        ("Evidence", f"{figure(data['e_value'])}; the alarm is at {1 / data['level']:g}"),
        ("Most against", leading_words(data)),
        ("Worst in it", worst_words(data)),
        ("Watched", f"{groups_words(data['n_watched'])} from the next batch on"),
    ]
    return joined(
        [
            paragraph_spans(style, heading, [alarm_sentence(data)], width),
            fact_spans([(name, words) for name, words in facts if words], width),
        ]
    )


def alarm_sentence(data: Data) -> str:
    """Say what the alarm means, or what its absence does.

    >>> alarm_sentence({"alarm": False, "gamma": 0.01, "level": 0.05})
    'So far there is not enough evidence that a subgroup exceeds 0.01. That is no proof that none \
does.'
    """
    if not data["alarm"]:
        return (
            f"So far there is not enough evidence that a subgroup exceeds {data['gamma']:g}. That "
            "is no proof that none does."
        )
    return (
        f"A subgroup exceeds {data['gamma']:g}: the evidence reached {1 / data['level']:g} at "
        f"batch {count(data['raised'])}, which it ever does by chance with a probability of at "
        f"most {percent(data['level'])}, however often one looks."
    )


def groups_words(number: int) -> str:
    """Return a number of groups.

    >>> groups_words(1), groups_words(20)
    ('1 group', '20 groups')
    """
    return f"{count(number)} group{'' if number == 1 else 's'}"


def number_words(data: Data) -> str:
    """Return which batch it is."""
    at = "" if data["at"] is None else f" ({data['at']})"
    return f"{count(data['number'])}{at}"


def figure(e_value: float) -> str:
    """Return an amount of evidence to three digits.

    >>> figure(0.51234), figure(34.21), figure(12345678.0)
    ('0.512', '34.2', '1.23e+07')
    """
    return f"{e_value:.3g}"


def leading_words(data: Data) -> str:
    """Return the group against which there is most of the evidence, as it is treated now."""
    if data["leading"] is None:
        return ""
    now = data["leading_now"]
    if now is None:
        return f"{data['leading']}: too few rows of this batch to tell"
    return f"{rule_words(now)}: {rate_alone(now)}; unfairness {unfairness(now['unfairness'])}"


def worst_words(data: Data) -> str:
    """Return the worst subgroup of the batch alone."""
    worst = data["worst"]
    if worst is None:
        return ""
    told = f"{rule_words(worst)}: {rate_alone(worst)}; unfairness {unfairness(worst['unfairness'])}"
    return f"{told}, by this batch alone, in which chance may have made it"
