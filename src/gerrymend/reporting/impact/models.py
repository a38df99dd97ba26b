"""Lay models with their adverse impact ratios out as text, Markdown and a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.reporting.impact.rules import NO_ADVICE
from gerrymend.reporting.impact.words import ratio_words
from gerrymend.reporting.markdown import escaped
from gerrymend.reporting.page import render_page, unbroken
from gerrymend.reporting.text import PLAIN_WIDTH, as_plain, fact_spans, paragraph_spans
from gerrymend.reporting.wording import count, percent, unfairness, visible

TITLE = "Less discriminatory alternatives"

Data = Mapping[str, Any]


def what_it_is(data: Data) -> list[str]:
    """Say what the table is, and what it is not."""
    control = data["reference"]
    most = "that of the group that the model approves most"
    compared = (
        most if control is None else f"that of {control} (where no such group was named, {most})"
    )
    return [
        "Each line is a model that was trained for the same purpose, with as little error as the "
        "unfairness that it may have (gamma) leaves: a search for less discriminatory "
        "alternatives, among models of these kinds alone. That none is found here does not show "
        "that there is none.",
        f"The adverse impact ratio of a group is its expected approval rate over {compared}, on "
        f"{count(data['n_rows'])} rows. Models draw some of their decisions, and nothing here "
        "allows for chance: test the one that is chosen on rows that it was neither trained nor "
        "chosen by (impact_ratios, gerrymend impact).",
        "Whether an alternative serves the purpose as well, and whether it may be used, is a "
        f"question of business and of law. {NO_ADVICE}",
    ]


def _heads(data: Data) -> list[str]:
    return ["Model", "Error", "Unfairness", *data["groups"], "Mark"]


def _cells(model: Data, groups: Sequence[str]) -> list[str]:
    """Return a model as the cells of a row."""
    error = "–" if model["error"] is None else percent(model["error"])
    unfair = "–" if model["unfairness"] is None else unfairness(model["unfairness"])
    ratios = [ratio_words(model["ratios"].get(group)) for group in groups]
    return [_name(model), error, unfair, *ratios, "beaten" if model["beaten"] else ""]


def _name(model: Data) -> str:
    kinds = [one for one in (model["estimator"], model["notion"]) if one]
    return ", ".join([model["model"], *(one.replace("_", " ") for one in kinds)])


def alternatives_markdown(data: Data) -> str:
    """Return the models as a table in Markdown; no text of the data is read as markup."""
    heads = [escaped(head) for head in _heads(data)]
    rows = [[escaped(cell) for cell in _cells(one, data["groups"])] for one in data["models"]]
    lines = [heads, ["---"] * len(heads), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([f"# {TITLE}", table, *map(escaped, what_it_is(data))]) + "\n"


def alternatives_text(data: Data) -> str:
    """Return the models as text, one after the other."""
    spans = paragraph_spans("bold", TITLE, what_it_is(data), PLAIN_WIDTH)
    for model in data["models"]:
        _, error, unfair, *ratios, mark = _cells(model, data["groups"])
        told = "; ".join(
            f"{group} {ratio}" for group, ratio in zip(data["groups"], ratios, strict=True)
        )
        figures = f"error {error}, unfairness {unfair}" + (f" ({mark})" if mark else "")
        name = visible(model["model"])[:15]
        spans += [("", "\n"), *fact_spans([(name, figures), ("", told)], PLAIN_WIDTH)]
    return as_plain(spans)


def alternatives_page(data: Data) -> str:
    """Return the whole page."""
    view = {
        "title": TITLE,
        "sentences": what_it_is(data),
        "heads": _heads(data),
        "rows": [_cells(model, data["groups"]) for model in data["models"]],
    }
    return render_page("alternatives.html", title=TITLE, view=unbroken(view))
