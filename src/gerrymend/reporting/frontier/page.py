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
from gerrymend.reporting.audit.direction import direction_sentences, of_numbers
from gerrymend.reporting.audit.who_leads import standing
from gerrymend.reporting.audit.words import missing_sentence, unfairness_words
from gerrymend.reporting.frontier.opening import REFERENCES, openings
from gerrymend.reporting.frontier.text import (
    beaten_sentence,
    exceeds_gamma,
    rates_words,
)

View = dict[str, Any]
_KINDS = {"train": "training rows", "test": "test rows"}
_NOT_TRAINED = {
    "today": "This is the model that you have.",
    "unconstrained": "This is the estimator fitted as it is, without gerrymend.",
}


def page_view(data: Mapping[str, Any]) -> View:
    """Return what the page shows, in words, from `ParetoFrontier.to_dict()`.

    Models are numbered over MARGINAL's and the references too, in the order of the data: `place` is
    how the script and the tables name one. Test rows come first, where there are any: they are what
    to choose by.
    """
    listed = [
        *((point, "point") for point in data["points"]),
        *((point, "marginal") for point in data["marginal_points"]),
        *((reference, reference["kind"]) for reference in data["references"]),
    ]
    everyone = [_model(place, model, kind) for place, (model, kind) in enumerate(listed)]
    # Either all points have test rows or none has, so that the first one tells.
    shown = ["train"] if data["points"][0]["test"] is None else ["test", "train"]
    notions = list(dict.fromkeys(point["notion"] for point in everyone))
    return {
        "points": everyone,
        "rows": [{"key": key, "words": _rows_words(data, key)} for key in shown],
        "notions": [
            _notion(name, summary, everyone, data)
            for name, summary in zip(notions, openings(data), strict=True)
        ],
        "estimators": list(dict.fromkeys(point["estimator"] for point in data["points"])),
        "has_marginal": bool(data["marginal_points"]),
        "has_today": any(model["kind"] == "today" for model in everyone),
        "has_references": bool(data["references"]),
        "has_beaten": any(
            sample["dominated"] for model in everyone for sample in model["samples"].values()
        ),
        "n_missing": data["n_missing"],
        "covers": list(dict.fromkeys(point["train"]["covers"] for point in data["points"])),
        "min_group_size": data["points"][0]["train"]["min_group_size"],
        "direction": " ".join(
            [*direction_sentences(data), *filter(None, [missing_sentence(data)])]
        ),
        "unfairness": unfairness_words(data),
        "of_numbers": of_numbers(data),
        "chance": " ".join(data["chance"]),
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


def _notion(name: str, summary: str, everyone: Sequence[View], data: Mapping[str, Any]) -> View:
    """Return a notion and the tables of its models: today's, one an estimator, MARGINAL's."""
    models = [model for model in everyone if model["notion"] == name]
    titles = {"today": "Your model today", "marginal": "MARGINAL, for contrast: {}"}
    # An estimator and its unconstrained fit share a title, and so a table, which begins with the
    # fit.
    order = ["today", "unconstrained", "point", "marginal"]
    tables: dict[str, list[View]] = {}
    for kind in order:
        for model in models:
            if model["kind"] == kind:
                title = titles.get(kind, "{}").format(model["estimator"])
                tables.setdefault(title, []).append(model)
    return {
        "name": name,
        "words": in_words(name),
        "summary": summary,
        "standing": [
            beaten_sentence(data, reference)
            for reference in data["references"]
            if (reference["notion"], reference["kind"]) == (name, "today")
        ],
        "tables": [
            {"title": title, "estimator": of_title[0]["estimator"], "points": of_title}
            for title, of_title in tables.items()
        ],
    }


def _model(place: int, model: Mapping[str, Any], kind: str) -> View:
    """Return all that is shown of a model: a point, one of MARGINAL's, or a reference."""
    samples = {key: _sample(model[key]) for key in ("train", "test") if model[key] is not None}
    is_point = kind in ("point", "marginal")
    lead = "MARGINAL, " if kind == "marginal" else ""
    return {
        "place": place,
        "kind": kind,
        "suggested": is_point and model["suggested"],
        "notion": model["notion"],
        "estimator": model["estimator"],
        "name": f"{lead}gamma {model['gamma']:g}" if is_point else REFERENCES[kind],
        "gamma_words": f"{model['gamma']:g}" if is_point else REFERENCES[kind],
        "predictors_words": wording.count(model["n_predictors"]) if is_point else "–",
        "samples": samples,
        "facts": _facts(model, samples, kind),
        "refit": _refit(model, kind) if is_point else {"text": "", "note": _NOT_TRAINED[kind]},
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
        "overall": [
            (in_words(one["notion"]), wording.figure(one["rate"], sample["unit"]))
            for one in sample["overall_rates"]
            if one["rate"] is not None
        ],
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
        words.append(f"{wording.count(sample['worst_size'])} rows; {rates_words(sample)}.")
        if sample["withheld"]:
            words.append("One with more unfairness may not be described: few rows identify people.")
    return " ".join(words)


def _facts(model: Mapping[str, Any], samples: View, kind: str) -> list[View]:
    """Return what is shown of a model beside another, under names that every model has."""
    is_point = kind in ("point", "marginal")
    trained = {
        "marginal": "MARGINAL: fair to one attribute at a time",
        "unconstrained": "fitted once, with no regard to fairness",
    }
    facts = [
        {"name": "Gamma", "value": f"{model['gamma']:g}" if is_point else "none",
         "detail": "unfairness allowed in training" if is_point else REFERENCES[kind]},
        {"name": "Trained", "value": model["estimator"] or "your model today",
         "detail": trained.get(kind, "")},
    ]  # fmt: skip
    # Test rows first, as everywhere on the page; samples are made in the order of the data.
    for key in reversed(samples):
        sample = samples[key]
        rows = _KINDS[key]
        beaten = "another model is no worse in both" if sample["dominated"] else ""
        beyond = "above its gamma; " if is_point and exceeds_gamma(model, sample) else ""
        facts += [
            {"name": f"Error, {rows}", "value": sample["error_words"], "detail": beaten},
            {"name": f"Unfairness, {rows}", "value": sample["unfairness_words"],
             "detail": beyond + sample["bound_words"]},
            {"name": f"Subgroup, {rows}", "value": sample["worst"],
             "detail": sample["treatment"]},
            *({"name": f"{wording.capitalised(name)} of all, {rows}", "value": rate, "detail": ""}
              for name, rate in sample["overall"]),
        ]  # fmt: skip
    if not is_point:
        return [*facts, {"name": "Predictors", "value": "–", "detail": ""}]
    size = model["n_predictors"]
    drawn = "one is drawn for each decision" if size > 1 else "it decides alone"
    return [*facts, {"name": "Predictors", "value": wording.count(size), "detail": drawn}]


def _refit(point: Mapping[str, Any], kind: str) -> View:
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
    if kind == "marginal":
        return {"text": "", "note": "This model is here for contrast; no command trains it."}
    note = (
        "This estimator can't be written as code; frontier.model(gamma) is the model that was "
        "trained."
    )
    return {"text": "", "note": note}
