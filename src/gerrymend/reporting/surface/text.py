"""A surface as text and as Markdown, from its plain data: the worst group of each round."""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import wording
from gerrymend.reporting.markdown import escaped


def as_text(surface: Mapping[str, Any]) -> str:
    """A line on what is compared, and two on the worst group of each round or model."""
    first, second = surface["attributes"]
    rate = in_words(surface["notion"]["name"])
    lines = [
        f"Discrimination surface of {first} and {second}: {rate}, "
        f"{wording.count(surface['n_rows'])} rows"
    ]
    for one, group, figures in _worst(surface):
        lines += [f"  {_name(one)}: {group}"]
        lines += [f"    {figures}"] if figures else []
    return wording.visible("\n".join(lines))


def as_markdown(surface: Mapping[str, Any]) -> str:
    """A table; names from the data are escaped."""
    first, second = map(escaped, surface["attributes"])
    rate = escaped(in_words(surface["notion"]["name"]))
    smallest = surface["min_group_size"]
    lines = [
        f"# Discrimination surface: {first} and {second}",
        "",
        f"The {rate} of half-planes of the two, over {wording.count(surface['n_rows'])} rows. "
        f"Groups of fewer than {smallest} rows that count, inside or outside, are not shown, and "
        "groups that differ by fewer are shown as one.",
        "",
        "| | worst group shown | its figures |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {escaped(_name(one))} | {escaped(group)} | {escaped(figures)} |"
        for one, group, figures in _worst(surface)
    ]
    return "\n".join([*lines, ""])


def _name(one: Mapping[str, Any]) -> str:
    return f"round {one['name']}" if isinstance(one["name"], int) else str(one["name"])


def _worst(surface: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Each round, its worst group in words, and the group's figures."""
    for one in surface["rounds"]:
        worst = one["worst"]
        if worst is None:
            yield one, "no group is large enough to be shown", ""
            continue
        yield one, str(worst["subgroup"]), (
            f"{wording.count(worst['size'])} rows; rate {wording.percent(worst['rate'])}, overall "
            f"{wording.percent(one['overall_rate'])}; "
            f"unfairness {wording.unfairness(worst['unfairness'])}"
        )  # fmt: skip
