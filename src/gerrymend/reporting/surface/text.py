"""Lay the worst group of each round of a surface out as text and as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import wording
from gerrymend.reporting.markdown import escaped


def as_text(surface: Mapping[str, Any]) -> str:
    """Return a line on what is compared, and two on the worst group of each round or model."""
    first, second = surface["attributes"]
    rate = in_words(surface["notion"]["name"])
    lines = [f"Discrimination surface of {first} and {second}: {rate}, {_rows(surface)}"]
    for played, group, figures in _worst(surface):
        lines += [f"  {round_name(played['name'])}: {group}"]
        lines += [f"    {figures}"] if figures else []
    return wording.visible("\n".join(lines))


def as_markdown(surface: Mapping[str, Any]) -> str:
    """Return a table in Markdown; names from the data are escaped."""
    first, second = map(escaped, surface["attributes"])
    rate = escaped(in_words(surface["notion"]["name"]))
    few = f"{surface['min_group_size']} {wording.event_noun([surface['notion']])}"
    lines = [
        f"# Discrimination surface: {first} and {second}",
        "",
        f"The {rate} of half-planes of the two, over {escaped(_rows(surface))}. "
        f"Groups of fewer than {few}, inside or outside, are not shown, and "
        "groups that differ by fewer are shown as one.",
        "",
        "| | worst group shown | its figures |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {escaped(round_name(played['name']))} | {escaped(group)} | {escaped(figures)} |"
        for played, group, figures in _worst(surface)
    ]
    return "\n".join([*lines, ""])


def compared_words(surface: Mapping[str, Any]) -> str:
    """Return what the rate of a group is compared with.

    >>> compared_words({"control_features": ["job"]}), compared_words({"control_features": []})
    ('in the same strata', 'overall')
    """
    return "in the same strata" if surface["control_features"] else "overall"


def round_name(name: int | str) -> str:
    """Return the name of a model, or of a round of a training."""
    return f"round {name}" if isinstance(name, int) else name


def _rows(surface: Mapping[str, Any]) -> str:
    """Return how many rows there are, and within what they are compared."""
    return (
        f"{wording.count(surface['n_rows'])} rows"
        f"{wording.within_strata(surface['control_features'])}"
    )


def _worst(surface: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yield each round, its worst group in words, and the group's figures."""
    for played in surface["rounds"]:
        worst = played["worst"]
        if worst is None:
            yield played, "no group is large enough to be shown", ""
            continue
        yield played, str(worst["subgroup"]), (
            f"{wording.count(worst['size'])} rows; rate {wording.percent(worst['rate'])}, "
            f"{compared_words(surface)} {wording.percent(worst['expected_rate'])}; "
            f"unfairness {wording.unfairness(worst['unfairness'])}"
        )  # fmt: skip
