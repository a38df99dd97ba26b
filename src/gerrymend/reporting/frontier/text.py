"""Lay a frontier out as text, for rich and as Markdown, from its plain data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import wording
from gerrymend.reporting.audit.direction import (
    average,
    counts_sentence,
    direction_sentences,
    size_word,
)
from gerrymend.reporting.audit.subgroup_words import reference_noun, rest_words
from gerrymend.reporting.audit.who_leads import standing
from gerrymend.reporting.audit.words import missing_sentence, unfairness_words
from gerrymend.reporting.frontier.opening import REFERENCES, openings, samples
from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.text import PLAIN_WIDTH, wrapped

_NARROW = {"today": "your model\ntoday", "unconstrained": "uncon-\nstrained"}
# "size" is the number of predictors; the figures of a sample end with its mark.
_POINT = "{mark:1} {gamma:>8} {size:>5} {reported:>9}"
_SAMPLE = "  {error:>7} {unfair:>7} {most:>7}{mark:>2}"
_MARGINAL = "MARGINAL, for contrast"
# What the columns are.
_FIGURES = (
    "size: predictors that a model draws from; unfair: the largest unfairness that the audit "
    "found; at most: what none exceeds, proven (same: it is exact)"
)
_REPORTED = "reported: the unfairness that the training itself found, on its rows"


def tables(data: Mapping[str, Any]) -> Iterator[tuple[str, bool, list[Any]]]:
    """Yield title, whether it is MARGINAL's, and points, for each notion, estimator and kind."""
    for kind in ("points", "marginal_points"):
        parts: dict[tuple[str, str], list[Any]] = {}
        for point in data[kind]:
            parts.setdefault((point["notion"], point["estimator"]), []).append(point)
        # In the order of the data: dictionaries keep it.
        for (notion, estimator), points in parts.items():
            title = f"{in_words(notion)}, {estimator}"
            marginal = kind == "marginal_points"
            title = wording.visible(f"{_MARGINAL}: {title}" if marginal else title)
            yield title, marginal, points


def references(data: Mapping[str, Any], point: Mapping[str, Any]) -> list[Any]:
    """List the references to read beside a point: its estimator's own, and today's model."""
    return [
        reference
        for kind in ("unconstrained", "today")
        for reference in data["references"]
        if reference["kind"] == kind
        and reference["notion"] == point["notion"]
        # Today's model has no estimator of ours, and stands beside every one.
        and reference["estimator"] in (None, point["estimator"])
    ]


def reference_words(data: Mapping[str, Any]) -> list[str]:
    """Say what the references are, and how the points compare with today's model."""
    today = [one for one in data["references"] if one["kind"] == "today"]
    if not data["references"]:
        return []
    words = "“Unconstrained” is the estimator fitted once, with no regard to fairness"
    were = "it was audited on the same rows over the same subgroups. It is no point"
    of_them = "it"
    if today:
        words += ", and “your model today” what you gave"
        were = "both were audited on the same rows over the same subgroups. They are no points"
        of_them = "them"
    words += f"; {were}: nothing is marked beaten, or suggested, because of {of_them}."
    flatter = "If your model was fitted to some of these rows, its figures on them flatter it."
    return [words, *(f"{beaten_sentence(data, one)} {flatter}" for one in today)]


def beaten_sentence(data: Mapping[str, Any], reference: Mapping[str, Any]) -> str:
    """Say how many points beat a reference, and how many it beats, on the rows to choose by."""
    notions = [point["notion"] for point in data["points"]]
    number = notions.count(reference["notion"])
    # The last sample is the test rows where there are any: those that models are chosen by.
    rows = [name for name, _ in samples(reference)][-1]
    about = f", by {in_words(reference['notion'])}," if len(set(notions)) > 1 else ""
    # "None" rather than 0: the sentence reads on with "of the … models".
    better, worse = (
        wording.count(reference[name]) if reference[name] else "none"
        for name in ("beaten_by", "beats")
    )
    beat = "beats" if reference["beaten_by"] == 1 else "beat"
    return (
        f"On the {rows} rows{about} {better} of the {wording.count(number)} models trained {beat} "
        f"{REFERENCES[reference['kind']]} (no more error and no more unfairness, and less of one), "
        f"and it beats {worse} of them."
    )


def chance_sentences(data: Mapping[str, Any]) -> list[str]:
    """Say what figures are of, how far rows that were not trained on differ, and how to test."""
    sentences = [
        "All figures are of these rows, and chance is not tested here: the worst of many subgroups "
        "looks bad even where none differs, and the best of several models better than it is."
    ]
    apart = [
        abs(point["test"]["unfairness"] - point["train"]["unfairness"])
        for point in data["points"]
        if point["test"] is not None
    ]
    if apart:
        sentences.append(
            "From training to test rows the unfairness of a model differs here by up to "
            f"{wording.unfairness(max(apart))}."
        )
    sentences += beyond_gamma_sentences(data["points"])
    sentences.append(
        "To test the model that is chosen, let it decide rows that it was neither trained nor "
        "chosen by (gerrymend predict), and audit these with permutations: gerrymend audit "
        "--permutations 199, audit(n_permutations=199)."
    )
    return sentences


def beyond_gamma_sentences(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how many models exceed the gamma they were trained for on rows they were not trained on.

    >>> point = {"gamma": 0.01, "test": {"unfairness": 0.012}}
    >>> print(*beyond_gamma_sentences([point, point | {"gamma": 0.02}]))
    On the test rows 1 of 2 models exceeds the gamma it was trained for: what holds on the rows \
that a model was trained on need not hold on others.
    """
    tested = [point for point in points if point["test"] is not None]
    beyond = sum(exceeds_gamma(point, point["test"]) for point in tested)
    if not beyond:
        return []
    those = "exceeds the gamma it was" if beyond == 1 else "exceed the gamma they were"
    return [
        f"On the test rows {beyond} of {len(tested)} models {those} trained for: what holds on the "
        "rows that a model was trained on need not hold on others."
    ]


def exceeds_gamma(point: Mapping[str, Any], sample: Mapping[str, Any]) -> bool:
    """Return whether a model's unfairness on some rows is above its gamma, as both are printed."""
    # As printed: 0.01 + 10⁻⁹ shows as 0.0100, and a reader would see nothing that exceeds 0.01.
    return float(wording.unfairness(sample["unfairness"])) > point["gamma"]


def legend(data: Mapping[str, Any]) -> list[str]:
    """Say what the columns and marks mean, and what is missing."""
    everyone = [*data["points"], *data["marginal_points"], *data["references"]]
    lines = []
    if any(sample["dominated"] for model in everyone for _, sample in samples(model)):
        lines.append("× beaten: another has no more error and no more unfairness on these rows")
    if data["marginal_points"]:
        lines.append("MARGINAL's are models too: they beat as others do, and are no knee")
    if any(point["suggested"] for point in data["points"]):
        where = [name for name, _ in samples(data["points"][0])][-1]
        lines.append(f"* knee on the {where} rows; which to take is a question of policy")
    lines += direction_sentences(data)
    lines.append(f"Unfairness: {unfairness_words(data)}")
    lines += filter(None, [missing_sentence(data)])
    if any(sample["worst"] for point in data["points"] for _, sample in samples(point)):
        known = any(notion["worse"] for notion in data["notions"])
        lines.append(counts_sentence(size_word("worse" if known else None), average(data)))
    lines.append(" ".join(data["chance"]))
    if data["n_missing"]:
        more = "1 more point was" if data["n_missing"] == 1 else f"{data['n_missing']} more were"
        lines.append(f"Interrupted: {more} asked for.")
    return lines + reference_words(data)


def as_text(data: Mapping[str, Any]) -> str:
    """Return tables of at most 80 characters a line, from `ParetoFrontier.to_dict()`."""
    lines: list[str] = []
    for title, marginal, points in tables(data):
        lines += [title, *_header(points[0]), *map(_line, points)]
        lines += [] if marginal else map(_reference_line, references(data, points[0]))
        lines.append("")
    for words in [*openings(data), _FIGURES, _REPORTED, *legend(data)]:
        lines += wrapped(words, PLAIN_WIDTH)
    return "\n".join(lines)


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
    return line + _figures(point)


def _reference_line(reference: Mapping[str, Any]) -> str:
    """Return a reference as a line of the table, its name in place of gamma and size."""
    width = len(_POINT.format(mark="", gamma="", size="", reported=""))
    return f"  {REFERENCES[reference['kind']]:<{width - 2}}" + _figures(reference)


def _figures(point: Mapping[str, Any]) -> str:
    """Return the end of a line: the figures of a point or a reference on each sample."""
    line = ""
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
    for title, marginal, points in tables(data):
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
            lead = [f"{point['gamma']:g}", str(point["n_predictors"])]
            mark = "*" if point["suggested"] else ""
            table.add_row(*map(Text, [mark, *lead, *_rich_cells(point)]), style=style)
        for reference in [] if marginal else references(data, points[0]):
            lead = ["", _NARROW[reference["kind"]], ""]
            table.add_row(*map(Text, [*lead, *_rich_cells(reference)]))
        parts.append(table)
    return Group(*parts, *map(Text, [*openings(data), _FIGURES, *legend(data)]))


def _rich_cells(point: Mapping[str, Any]) -> list[str]:
    """Return the figures of a point as the cells of a row, in the order of the heads."""
    cells = []
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
        f"{rates_words(sample)}"
    )


def rates_words(sample: Mapping[str, Any]) -> str:
    """Return the rate, or mean, of the worst subgroup, beside what it is compared with."""
    rate, expected = (
        wording.figure(sample[name], sample["unit"]) for name in ("worst_rate", "overall_rate")
    )
    rest = rest_words({**sample, "rate": sample["worst_rate"]})
    told = f"{sample['worst_rate_of']} {rate}, {reference_noun(sample)} {expected}"
    return f"{told} ({rest})" if rest else told


def as_markdown(data: Mapping[str, Any]) -> str:
    """Return tables in Markdown; names from the data are escaped."""
    lines = ["# What each unfairness costs in error", "", *map(escaped, openings(data)), ""]
    for title, marginal, points in tables(data):
        kinds = [kind for kind, _ in samples(points[0])]
        heads = ["", "gamma", "predictors"]
        for kind in kinds:
            heads += [f"error, {kind}", "unfairness", "at most", "subgroup"]
        lines += [f"## {escaped(wording.capitalised(title))}", ""]
        lines += [_row(heads), _row(["---"] * len(heads)), *map(_markdown_line, points)]
        lines += [
            _row([f"**{REFERENCES[one['kind']]}**", "", "", *_markdown_cells(one)])
            for one in references(data, points[0])
            if not marginal
        ]
        lines.append("")
    return "\n".join([*lines, *(f"- {escaped(line)}" for line in legend(data)), ""])


def _markdown_line(point: Mapping[str, Any]) -> str:
    mark = "knee" if point["suggested"] else ""
    return _row([mark, f"{point['gamma']:g}", point["n_predictors"], *_markdown_cells(point)])


def _markdown_cells(point: Mapping[str, Any]) -> list[Any]:
    """Return the figures of a point or a reference as cells of a row."""
    cells: list[Any] = []
    for _, sample in samples(point):
        cells += [
            wording.percent(sample["error"]) + (" ×" if sample["dominated"] else ""),
            wording.unfairness(sample["unfairness"]),
            _at_most(sample, "the same"),
            escaped(worst_in_words(sample)),
        ]
    return cells


def _row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
