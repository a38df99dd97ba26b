"""The frontier as a page to choose on: every word of it is made here, its script only shows them.

The page holds a static table, which is all there is without scripts; with them, a picture, two
points side by side, and the code or command that trains the chosen one.
"""

import datetime
import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

from gerrymend.notions import in_words
from gerrymend.reporting import page, wording

View = dict[str, Any]
_KINDS = {"train": "training rows", "test": "test rows"}


def page_view(data: Mapping[str, Any]) -> View:
    """What the page shows, in words, from `ParetoFrontier.to_dict()`."""
    everyone = [
        _point(place, one, marginal=marginal)
        for place, (one, marginal) in enumerate(
            [(one, False) for one in data["points"]]
            + [(one, True) for one in data["marginal_points"]]
        )
    ]
    shown = ["train"] if data["points"][0]["test"] is None else ["test", "train"]
    notions = list(dict.fromkeys(one["notion"] for one in everyone))
    return {
        "points": everyone,
        "rows": [{"key": key, "words": _rows_words(data, key)} for key in shown],
        "notions": [_notion(name, everyone, shown[0]) for name in notions],
        "estimators": list(dict.fromkeys(one["estimator"] for one in everyone)),
        "has_marginal": bool(data["marginal_points"]),
        "n_missing": data["n_missing"],
        "covers": list(dict.fromkeys(one["train"]["covers"] for one in data["points"])),
        "min_group_size": data["points"][0]["train"]["min_group_size"],
    }


def html(data: Mapping[str, Any]) -> str:
    """The whole page."""
    return page.render_page(
        "frontier.html",
        title="What a fairer treatment costs",
        scripts=[page.own_script("frontier.js"), page.plotly_script()],
        view=page.visible_data(page_view(data)),
        version=importlib.metadata.version("gerrymend"),
        date=f"{datetime.date.today():%-d %B %Y}",
    )


def fragment(data: Mapping[str, Any]) -> str:
    """The table alone, for notebooks."""
    return page.render("frontier_fragment.html", view=page.visible_data(page_view(data)))


def _rows_words(data: Mapping[str, Any], key: str) -> str:
    return f"{wording.count(data['points'][0][key]['n_rows'])} {_KINDS[key]}"


def _notion(name: str, everyone: Sequence[View], key: str) -> View:
    """A notion, and the tables of its points: an estimator each, then MARGINAL's."""
    points = [one for one in everyone if one["notion"] == name]
    pairs = dict.fromkeys((one["marginal"], one["estimator"]) for one in points)
    return {
        "name": name,
        "words": in_words(name),
        "summary": _summary(points, key),
        "tables": [
            {
                "estimator": estimator,
                "marginal": marginal,
                "points": [
                    one for one in points
                    if (one["marginal"], one["estimator"]) == (marginal, estimator)
                ],
            }
            for marginal, estimator in pairs
        ],
    }  # fmt: skip


def _summary(everyone: Sequence[View], key: str) -> str:
    """The two ends of what there is to choose from, MARGINAL's aside."""
    points = [one for one in everyone if not one["marginal"]]
    aside = ", MARGINAL’s aside" if len(points) < len(everyone) else ""
    figures = [one["samples"][key] for one in points]
    on = f"On the {_KINDS[key]}"
    if len(points) == 1:
        (one,) = figures
        return (
            f"One model was trained{aside}. {on} {one['error_words']} of decisions are wrong, and "
            f"the unfairness to the worst-treated subgroup found is {one['unfairness_words']}."
        )
    accurate = min(figures, key=lambda one: (one["error"], one["unfairness"]))
    fair = min(figures, key=lambda one: (one["unfairness"], one["error"]))
    if accurate is fair:
        return (
            f"{len(points)} models were trained{aside}. {on} one of them is both the most accurate "
            f"and the fairest: {fair['error_words']} of its decisions are wrong, and the "
            f"unfairness to its worst-treated subgroup is {fair['unfairness_words']}."
        )
    return (
        f"{len(points)} models were trained{aside}. {on} the most accurate of them decides "
        f"{accurate['error_words']} wrongly, with an unfairness of "
        f"{accurate['unfairness_words']} to its worst-treated subgroup; the fairest of them "
        f"decides {fair['error_words']} wrongly, with {fair['unfairness_words']}."
    )


def _point(place: int, one: Mapping[str, Any], *, marginal: bool) -> View:
    samples = {key: _sample(one[key]) for key in ("train", "test") if one[key] is not None}
    kind = "MARGINAL, " if marginal else ""
    return {
        "place": place,
        "marginal": marginal,
        "suggested": one["suggested"],
        "notion": one["notion"],
        "estimator": one["estimator"],
        "name": f"{kind}gamma {one['gamma']:g}",
        "gamma_words": f"{one['gamma']:g}",
        "predictors_words": wording.count(one["n_predictors"]),
        "samples": samples,
        "facts": _facts(one, samples, marginal=marginal),
        "refit": _refit(one, marginal=marginal),
    }


def _sample(sample: Mapping[str, Any]) -> View:
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
    if sample["worst"] is not None:
        return str(sample["worst"])
    return "Not described: too few of its rows count." if sample["withheld"] else "None differs."


def _treatment(sample: Mapping[str, Any]) -> str:
    """How the worst subgroup that may be described fares, and whether one is withheld."""
    words = []
    if sample["worst"] is not None:
        words.append(
            f"{wording.count(sample['worst_size'])} rows; {sample['worst_rate_of']} "
            f"{wording.percent(sample['worst_rate'])}, overall "
            f"{wording.percent(sample['overall_rate'])}."
        )
        if sample["withheld"]:
            words.append("A worse one is too small to be described.")
    return " ".join(words)


def _facts(one: Mapping[str, Any], samples: View, *, marginal: bool) -> list[View]:
    """What is shown of a point beside another: names and values, the same names for every one."""
    facts = [
        {"name": "Gamma", "value": f"{one['gamma']:g}", "detail": "unfairness allowed in training"},
        {"name": "Trained", "value": one["estimator"],
         "detail": "MARGINAL: fair to one attribute at a time" if marginal else ""},
    ]  # fmt: skip
    for key in reversed(samples):
        sample, rows = samples[key], _KINDS[key]
        beaten = "another model is no worse in both" if sample["dominated"] else ""
        facts += [
            {"name": f"Error, {rows}", "value": sample["error_words"], "detail": beaten},
            {"name": f"Unfairness, {rows}", "value": sample["unfairness_words"],
             "detail": sample["bound_words"]},
            {"name": f"Worst subgroup found, {rows}", "value": sample["worst"],
             "detail": sample["treatment"]},
        ]  # fmt: skip
    size = one["n_predictors"]
    drawn = "one is drawn for each decision" if size > 1 else "it decides alone"
    return [*facts, {"name": "Predictors", "value": wording.count(size), "detail": drawn}]


def _refit(one: Mapping[str, Any], *, marginal: bool) -> View:
    """The command or code that trains the point's model again, and what to know of it."""
    if one["command"] is not None:
        note = (
            "This command trains the model alone; beside other gammas it shares what they find, "
            "so that its figures can differ a little from these. It prints its own."
        )
        return {"text": one["command"], "note": note}
    if one["code"] is not None:
        note = "With the same training rows this code gives the same model."
        return {"text": one["code"], "note": note}
    if marginal:
        return {"text": "", "note": "This model is here for contrast; no command trains it."}
    note = (
        "This estimator can't be written as code; frontier.model(gamma) is the model that was "
        "trained."
    )
    return {"text": "", "note": note}
