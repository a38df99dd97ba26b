"""Lay a frontier out as text, for rich and as Markdown, from its plain data."""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import wording
from gerrymend.reporting.audit.direction import direction_sentences, standing
from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.text import wrapped

# "size" is the number of predictors; the figures of a sample end with its mark.
_POINT = "{mark:1} {gamma:>8} {size:>5} {reported:>9}"
_SAMPLE = "  {error:>7} {unfair:>7} {most:>7}{mark:>2}"
_MARGINAL = "MARGINAL, for contrast"


def tables(data: Mapping[str, Any]) -> Iterator[tuple[str, bool, list[Any]]]:
    """Yield title, whether it is MARGINAL's, and points, for each notion, estimator and kind."""
    for kind in ("points", "marginal_points"):
        parts: dict[tuple[str, str], list[Any]] = {}
        for point in data[kind]:
            parts.setdefault((point["notion"], point["estimator"]), []).append(point)
        for (notion, estimator), points in parts.items():
            title = f"{in_words(notion)}, {estimator}"
            marginal = kind == "marginal_points"
            title = wording.visible(f"{_MARGINAL}: {title}" if marginal else title)
            yield title, marginal, points


def samples(point: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the training rows' figures, and the test rows' if there are any, by name."""
    yield "training", point["train"]
    if point["test"] is not None:
        yield "test", point["test"]


def legend(data: Mapping[str, Any]) -> list[str]:
    """Say what the marks mean, and what is missing."""
    lines = ["× dominated: another has no more error and no more unfairness on these rows"]
    if data["marginal_points"]:
        lines.append("MARGINAL's are models too: they dominate as others do, and are no knee")
    if any(point["suggested"] for point in data["points"]):
        where = [name for name, _ in samples(data["points"][0])][-1]
        lines.append(f"* knee on the {where} rows; which to take is a question of policy")
    lines += direction_sentences(data)
    if data["n_missing"]:
        more = "1 more point was" if data["n_missing"] == 1 else f"{data['n_missing']} more were"
        lines.append(f"Interrupted: {more} asked for.")
    return lines


def as_text(data: Mapping[str, Any]) -> str:
    """Return tables of at most 80 characters a line, from `ParetoFrontier.to_dict()`."""
    lines: list[str] = []
    for title, _, points in tables(data):
        lines += [title, *_header(points[0]), *map(_line, points), ""]
    return "\n".join([*lines, *(line for words in legend(data) for line in wrapped(words, 80))])


def _header(point: Mapping[str, Any]) -> list[str]:
    """Return two lines: the rows that columns are of, and the names of the columns."""
    names = _SAMPLE.format(error="error", unfair="unfair", most="at most", mark="")
    over = [
        "{:>{}}  ".format(f"on {sample['n_rows']:,} {kind} rows", len(names) - 2)
        for kind, sample in samples(point)
    ]
    first = _POINT.format(mark="", gamma="gamma", size="size", reported="reported")
    return [" " * len(first) + "".join(over).rstrip(), (first + names * len(over)).rstrip()]


def _line(point: Mapping[str, Any]) -> str:
    """Return a point as a line of the table."""
    line = _POINT.format(
        mark="*" if point["suggested"] else "",
        gamma=f"{point['gamma']:g}",
        size=point["n_predictors"],
        reported=f"{point['reported_unfairness']:.4f}",
    )
    for _, sample in samples(point):
        line += _SAMPLE.format(
            error=f"{sample['error']:.4f}",
            unfair=f"{sample['unfairness']:.4f}",
            most=_at_most(sample, "same"),
            mark="×" if sample["dominated"] else "",
        )
    return line.rstrip()


def _at_most(sample: Mapping[str, Any], same: str) -> str:
    """Return what no subgroup exceeds, rounded up; or `same`, where that is what was found."""
    return same if sample["exact"] else wording.bound(sample["upper_bound"])


def as_rich(data: Mapping[str, Any]) -> Any:
    """Return the same tables for a terminal, by rich."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = []
    for title, _, points in tables(data):
        over = [f"{sample['n_rows']:,} {kind} rows" for kind, sample in samples(points[0])]
        words = Text(f"{title}; on {' and '.join(over)}")
        table = Table(title=words, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        heads = ["", "gamma", "size"]
        for kind, _ in samples(points[0]):
            heads += [f"{kind}\nerror", "\nunfair", "\nat most", ""]
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for point in points:
            style = "bold" if point["suggested"] else ""
            table.add_row(*map(Text, _rich_cells(point)), style=style)
        parts.append(table)
    return Group(*parts, *map(Text, legend(data)))


def _rich_cells(point: Mapping[str, Any]) -> list[str]:
    """Return a point as the cells of a row, in the order of the heads."""
    cells = ["*" if point["suggested"] else "", f"{point['gamma']:g}", str(point["n_predictors"])]
    for _, sample in samples(point):
        cells += [f"{value:.4f}" for value in (sample["error"], sample["unfairness"])]
        cells += [_at_most(sample, "same"), "×" if sample["dominated"] else ""]
    return cells


def worst_in_words(sample: Mapping[str, Any]) -> str:
    """Say who is treated worst, or differs most, on some rows, how many they are, and how.

    `sample` is the figures of a point on its training or test rows.
    """
    if sample["worst"] is None:
        if sample["withheld"]:
            few = f"fewer than {sample['min_group_size']} rows in the event"
            return f"not described: too small ({few}, inside or outside)"
        return "none differs at all"
    return (
        f"{standing(sample['worst_treated'])}: {wording.visible(sample['worst_who'])} "
        f"({wording.count(sample['worst_size'])} rows): "
        f"{sample['worst_rate_of']} {wording.percent(sample['worst_rate'])}, overall "
        f"{wording.percent(sample['overall_rate'])}"
    )


def as_markdown(data: Mapping[str, Any]) -> str:
    """Return tables in Markdown; names from the data are escaped."""
    lines = ["# What each unfairness costs in error", ""]
    for title, _, points in tables(data):
        kinds = [kind for kind, _ in samples(points[0])]
        heads = ["", "gamma", "predictors"]
        for kind in kinds:
            heads += [f"error, {kind}", "unfairness", "at most", "subgroup"]
        lines += [f"## {escaped(wording.capitalised(title))}", ""]
        lines += [_row(heads), _row(["---"] * len(heads)), *map(_markdown_line, points), ""]
    return "\n".join([*lines, *(f"- {escaped(line)}" for line in legend(data)), ""])


def _markdown_line(point: Mapping[str, Any]) -> str:
    cells = ["knee" if point["suggested"] else "", f"{point['gamma']:g}", point["n_predictors"]]
    for _, sample in samples(point):
        cells += [
            wording.percent(sample["error"]) + (" ×" if sample["dominated"] else ""),
            wording.unfairness(sample["unfairness"]),
            _at_most(sample, "the same"),
            escaped(worst_in_words(sample)),
        ]
    return _row(cells)


def _row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
