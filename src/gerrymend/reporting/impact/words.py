"""Word the tables of impact ratios: groups, ratios, marks and what leads; from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend._runtime.reprs import shortened
from gerrymend.reporting.impact.rules import rule_of
from gerrymend.reporting.wording import count, p_value, percent, quoted

FOUR_FIFTHS = 0.8
# p-values up to this are called more than chance.
LEVEL = 0.05


def ratio_words(ratio: float | None) -> str:
    """Return a ratio to three decimals, or as many as show on which side of four fifths it is.

    >>> ratio_words(0.97921), ratio_words(0.79996), ratio_words(0.8), ratio_words(None)
    ('0.979', '0.79996', '0.800', '–')
    """
    if ratio is None:
        return "–"
    decimals = 3
    while decimals < 12 and (round(ratio, decimals) < FOUR_FIFTHS) != (ratio < FOUR_FIFTHS):
        decimals += 1
    return f"{ratio:.{decimals}f}"


def rate_words(rate: float | None) -> str:
    """Return a rate in percent with one decimal, as a column of them is read.

    >>> rate_words(0.47), rate_words(0.0004), rate_words(None)
    ('47.0 %', '0.04 %', '–')
    """
    if rate is None:
        return "–"
    # Nobody, or everyone, is not what 0.04 % or 99.96 % is.
    shown = f"{100 * rate:.1f} %"
    return percent(rate) if shown in ("0.0 %", "100.0 %") and 0 < rate < 1 else shown


def interval_words(group: Mapping[str, Any]) -> str:
    """Return the interval of a ratio; a dash where there is none."""
    if group["ratio_low"] is None:
        return "–"
    return f"{group['ratio_low']:.2f} to {group['ratio_high']:.2f}"


def p_words(group: Mapping[str, Any]) -> str:
    """Return the p-value of a group; a dash where there is none."""
    return "–" if group["p_value"] is None else p_value(group["p_value"])


def deviation_words(group: Mapping[str, Any]) -> str:
    """Return by how many standard deviations a group's rate is off, with a sign.

    >>> deviation_words({"standard_deviations": -2.3738}), deviation_words(
    ...     {"standard_deviations": None})
    ('−2.37', '–')
    """
    value = group["standard_deviations"]
    return "–" if value is None else f"{value:+.2f}".replace("-", "−").replace("+0.00", "0.00")


def number_words(value: float) -> str:
    """Return a number of people, or a sum of weights to one decimal.

    >>> number_words(1181), number_words(3.74)
    ('1,181', '3.7')
    """
    return count(value) if float(value).is_integer() else f"{value:,.1f}"


def is_below(group: Mapping[str, Any]) -> bool:
    """Return whether a group's ratio is below four fifths."""
    ratio = group["ratio"]
    return ratio is not None and ratio < FOUR_FIFTHS - 1e-12


def mark_words(group: Mapping[str, Any], min_group_size: int) -> str:
    """Return what a reader has to know of a group's figures, in a few words."""
    marks = []
    if group["is_reference"]:
        marks.append("reference")
    if is_below(group):
        marks.append("below 0.8")
    if group["is_excluded"]:
        marks.append("under 2 %, no ratio")
    elif group["is_small"]:
        marks.append("under 2 %")
    if group["is_few"]:
        marks.append(f"fewer than {min_group_size}")
    return ", ".join(marks)


def value_words(value: Any) -> str:
    """Return a category as text."""
    return shortened(str(value))


def who_is_selected(data: Mapping[str, Any]) -> str:
    """Say who counts as selected.

    >>> who_is_selected({"rate": "selection", "profile": None, "threshold": None, "median": None,
    ...                  "selected": "yes"})
    'Selected: the decision “yes”.'
    """
    if data["median"] is not None:
        return (
            f"Above the median: a score above {data['median']:g}, which is that of all "
            f"{count(data['n_rows'])} rows."
        )
    noun = rule_of(data).selected.capitalize()
    if data["threshold"] is not None:
        return f"{noun}: a score of at least {data['threshold']:g}."
    return f"{noun}: the decision {quoted(data['selected'])}."


def lead_sentences(data: Mapping[str, Any]) -> list[str]:
    """Say which ratio is lowest, how many are below four fifths, and what the rule says of it."""
    rule = rule_of(data)
    compared = [
        (group, table)
        for table in data["tables"]
        for group in table["groups"]
        if group["ratio"] is not None and not group["is_reference"]
    ]
    if not compared:
        return ["No two groups can be compared: no table has a second group with a ratio."]
    lowest, table = min(compared, key=lambda pair: pair[0]["ratio"])
    other = next(group for group in table["groups"] if group["is_reference"])
    scored = "score" if data["rate"] == "scoring" else "are"
    sentences = [
        f"The lowest {rule.ratio} is {ratio_words(lowest['ratio'])}: of "
        f"{number_words(lowest['n'])} with {lowest['group']}, {percent(lowest['rate'])} {scored} "
        f"{rule.selected}; of {number_words(other['n'])} with {other['group']} it is "
        f"{percent(other['rate'])}."
    ]
    return [*sentences, _below_sentence(data, [group for group, _ in compared]), rule.threshold]


def _below_sentence(data: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> str:
    """Say how many groups are below four fifths, and of how many chance hardly makes that."""
    below = [group for group in groups if is_below(group)]
    of = f"{count(len(groups))} other group{'s' if len(groups) != 1 else ''}"
    if not below:
        return f"None of {of} has a ratio below 0.8."
    have = "has" if len(below) == 1 else "have"
    told = f"Of {of} {count(len(below))} {have} a ratio below 0.8"
    if data["weighted"]:
        return f"{told}; rows weigh differently, and chance was not tested."
    surely = sum(group["p_value"] <= LEVEL for group in below)
    if len(below) == 1:
        how = "hardly by" if surely else "perhaps by"
        return f"{told}, {how} chance (Fisher's exact test, p {_equals(below[0]['p_value'])})."
    test = "(Fisher's exact test, p at most 0.05, each for itself)"
    if surely == len(below):
        return f"{told}, all hardly by chance {test}."
    if not surely:
        return f"{told}, each perhaps by chance (Fisher's exact test, p above 0.05)."
    return f"{told}: {count(surely)} hardly by chance {test}, the rest perhaps by chance."


def _equals(value: float) -> str:
    words = p_value(value)
    return words if words.startswith("<") else f"= {words}"


def table_notes(table: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    """Say what a reader of one table has to know: who it is compared with, and who is not in it."""
    notes = []
    reference = next((group for group in table["groups"] if group["is_reference"]), None)
    rule = rule_of(data)
    if reference is None:
        notes.append(f"Nobody of these groups is {rule.selected}, or has a ratio: there is none.")
    elif table["is_named"]:
        notes.append(f"Compared with {reference['group']}, which was named.")
    else:
        most = "highest scoring" if data["rate"] == "scoring" else f"most {rule.selected}"
        also = ": no control group was named for all of its attributes" if data["reference"] else ""
        notes.append(f"Compared with {reference['group']}, the {most} group{also}.")
        if reference["is_small"] or reference["is_few"]:
            people = "1 person" if reference["n"] == 1 else f"{count(reference['n'])} people"
            notes.append(
                f"That is {people}: every ratio of this table hangs on them. Without groups of "
                "less than 2 % (exclude_small, --exclude-small) another would be the reference."
            )
    if table["n_unknown"]:
        rate = "" if table["unknown_rate"] is None else (
            f" ({percent(table['unknown_rate'])} of them {rule.selected})"
        )  # fmt: skip
        rows = "1 row is" if table["n_unknown"] == 1 else f"{count(table['n_unknown'])} rows are"
        notes.append(f"{rows} of unknown category{rate}, and in none of these figures.")
    return notes


def few_sentence(data: Mapping[str, Any]) -> str | None:
    """Warn that figures of few rows are about persons; None where there are none."""
    few = sum(group["is_few"] for table in data["tables"] for group in table["groups"])
    if not few:
        return None
    groups = "1 group has" if few == 1 else f"{count(few)} groups have"
    return (
        f"{groups} fewer than {data['min_group_size']} rows. A rule may ask for their figures, and "
        "they are shown; whoever knows who is in such a group learns from them what was decided "
        "about persons. Publish no more of them than the rule asks for."
    )
