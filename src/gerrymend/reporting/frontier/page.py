"""Make the page to choose a model on: every word of it is made here, its script only shows them.

The page holds a static table, which is all there is without scripts; with them, a picture, two
points side by side, and the code or command that trains the chosen one.
"""

import datetime
import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import page, wording
from gerrymend.reporting.audit.direction import direction_sentences, standing

View = dict[str, Any]
_KINDS = {"train": "training rows", "test": "test rows"}


def page_view(data: Mapping[str, Any]) -> View:
    """Return what the page shows, in words, from `ParetoFrontier.to_dict()`.

    Points are numbered over MARGINAL's too, in the order of the data: `place` is how the script and
    the tables name one. Test rows come first, where there are any: they are what to choose by.
    """
    everyone = [
        _point(place, point, marginal=marginal)
        for place, (point, marginal) in enumerate(
            [(point, False) for point in data["points"]]
            + [(point, True) for point in data["marginal_points"]]
        )
    ]
    shown = ["train"] if data["points"][0]["test"] is None else ["test", "train"]
    notions = list(dict.fromkeys(point["notion"] for point in everyone))
    return {
        "points": everyone,
        "rows": [{"key": key, "words": _rows_words(data, key)} for key in shown],
        "notions": [_notion(name, everyone, shown[0]) for name in notions],
        "estimators": list(dict.fromkeys(point["estimator"] for point in everyone)),
        "has_marginal": bool(data["marginal_points"]),
        "n_missing": data["n_missing"],
        "covers": list(dict.fromkeys(point["train"]["covers"] for point in data["points"])),
        "min_group_size": data["points"][0]["train"]["min_group_size"],
        "direction": " ".join(direction_sentences(data)),
    }


def html(data: Mapping[str, Any]) -> str:
    """Return the whole page."""
    return page.render_page(
        "frontier.html",
        title="What a fairer treatment costs",
        scripts=[page.own_script("frontier.js"), page.plotly_script()],
        view=page.visible_data(page_view(data)),
        version=importlib.metadata.version("gerrymend"),
        date=f"{datetime.date.today():%-d %B %Y}",
    )


def fragment(data: Mapping[str, Any]) -> str:
    """Return the table alone, for notebooks."""
    return page.render("frontier_fragment.html", view=page.visible_data(page_view(data)))


def _rows_words(data: Mapping[str, Any], key: str) -> str:
    return f"{wording.count(data['points'][0][key]['n_rows'])} {_KINDS[key]}"


def _notion(name: str, everyone: Sequence[View], key: str) -> View:
    """Return a notion and the tables of its points: one an estimator, then MARGINAL's."""
    points = [point for point in everyone if point["notion"] == name]
    pairs = dict.fromkeys((point["marginal"], point["estimator"]) for point in points)
    return {
        "name": name,
        "words": in_words(name),
        "summary": _summary(points, key),
        "tables": [
            {
                "estimator": estimator,
                "marginal": marginal,
                "points": [
                    point for point in points
                    if (point["marginal"], point["estimator"]) == (marginal, estimator)
                ],
            }
            for marginal, estimator in pairs
        ],
    }  # fmt: skip


def _summary(everyone: Sequence[View], key: str) -> str:
    """Say what the two ends of the choice are, MARGINAL's models aside."""
    points = [point for point in everyone if not point["marginal"]]
    aside = ", MARGINAL’s aside" if len(points) < len(everyone) else ""
    figures = [point["samples"][key] for point in points]
    on = f"On the {_KINDS[key]}"
    if len(points) == 1:
        (figure,) = figures
        return (
            f"One model was trained{aside}. {on} {figure['error_words']} of decisions are wrong, "
            "and the largest unfairness found is "
            f"{figure['unfairness_words']}."
        )
    accurate = min(figures, key=lambda figure: (figure["error"], figure["unfairness"]))
    fair = min(figures, key=lambda figure: (figure["unfairness"], figure["error"]))
    if accurate is fair:
        return (
            f"{len(points)} models were trained{aside}. {on} one of them is both the most accurate "
            f"and the fairest: {fair['error_words']} of its decisions are wrong, and the "
            f"largest unfairness found is {fair['unfairness_words']}."
        )
    return (
        f"{len(points)} models were trained{aside}. {on} the most accurate of them decides "
        f"{accurate['error_words']} wrongly, with an unfairness of up to "
        f"{accurate['unfairness_words']} in a subgroup; the fairest of them "
        f"decides {fair['error_words']} wrongly, with {fair['unfairness_words']}."
    )


def _point(place: int, point: Mapping[str, Any], *, marginal: bool) -> View:
    """Return all that is shown of a point; `marginal` is whether it is one of MARGINAL's."""
    samples = {key: _sample(point[key]) for key in ("train", "test") if point[key] is not None}
    kind = "MARGINAL, " if marginal else ""
    return {
        "place": place,
        "marginal": marginal,
        "suggested": point["suggested"],
        "notion": point["notion"],
        "estimator": point["estimator"],
        "name": f"{kind}gamma {point['gamma']:g}",
        "gamma_words": f"{point['gamma']:g}",
        "predictors_words": wording.count(point["n_predictors"]),
        "samples": samples,
        "facts": _facts(point, samples, marginal=marginal),
        "refit": _refit(point, marginal=marginal),
    }


def _sample(sample: Mapping[str, Any]) -> View:
    """Return the figures of a point on some rows, as numbers to draw and as words to read."""
    return {
        "error": sample["error"],
        "unfairness": sample["unfairness"],
        "upper_bound": sample["upper_bound"],
        "dominated": sample["dominated"],
        "error_words": wording.percent(sample["error"]),
        "unfairness_words": wording.unfairness(sample["unfairness"]),
        "at_most_words": "the same" if sample["exact"] else wording.bound(sample["upper_bound"]),
        "bound_words": "exact: proven that none is worse"
        if sample["exact"]
        else f"proven to be at most {wording.bound(sample['upper_bound'])}",
        "worst": _who(sample),
        "treatment": _treatment(sample),
    }


def _who(sample: Mapping[str, Any]) -> str:
    """Say who is treated worst, or why that is not said."""
    if sample["worst"] is not None:
        return f"{standing(sample['worst_treated'])}: {sample['worst_who']}"
    return "Not described: it is too small." if sample["withheld"] else "None differs."


def _treatment(sample: Mapping[str, Any]) -> str:
    """Say how the worst subgroup that may be described fares, and whether one is withheld."""
    words = []
    if sample["worst"] is not None:
        words.append(
            f"{wording.count(sample['worst_size'])} rows; {sample['worst_rate_of']} "
            f"{wording.percent(sample['worst_rate'])}, overall "
            f"{wording.percent(sample['overall_rate'])}."
        )
        if sample["withheld"]:
            words.append("One with more unfairness is too small to be described.")
    return " ".join(words)


def _facts(point: Mapping[str, Any], samples: View, *, marginal: bool) -> list[View]:
    """Return what is shown of a point beside another, under names that every point has."""
    facts = [
        {"name": "Gamma", "value": f"{point['gamma']:g}",
         "detail": "unfairness allowed in training"},
        {"name": "Trained", "value": point["estimator"],
         "detail": "MARGINAL: fair to one attribute at a time" if marginal else ""},
    ]  # fmt: skip
    for key in reversed(samples):
        sample = samples[key]
        rows = _KINDS[key]
        beaten = "another model is no worse in both" if sample["dominated"] else ""
        facts += [
            {"name": f"Error, {rows}", "value": sample["error_words"], "detail": beaten},
            {"name": f"Unfairness, {rows}", "value": sample["unfairness_words"],
             "detail": sample["bound_words"]},
            {"name": f"Subgroup, {rows}", "value": sample["worst"],
             "detail": sample["treatment"]},
        ]  # fmt: skip
    size = point["n_predictors"]
    drawn = "one is drawn for each decision" if size > 1 else "it decides alone"
    return [*facts, {"name": "Predictors", "value": wording.count(size), "detail": drawn}]


def _refit(point: Mapping[str, Any], *, marginal: bool) -> View:
    """Return the command or code that trains the point's model again, with a note on it."""
    if point["command"] is not None:
        note = (
            "This command trains the model alone; beside other gammas it shares what they find, "
            "so that its figures can differ a little from these. It prints its own."
        )
        return {"text": point["command"], "note": note}
    if point["code"] is not None:
        note = "With the same training rows this code gives the same model."
        return {"text": point["code"], "note": note}
    if marginal:
        return {"text": "", "note": "This model is here for contrast; no command trains it."}
    note = (
        "This estimator can't be written as code; frontier.model(gamma) is the model that was "
        "trained."
    )
    return {"text": "", "note": note}
