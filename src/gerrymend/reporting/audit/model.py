"""Word what `gerrymend fit` knows of a model that it trained, beside the audit of it."""

import math
from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.verdict import LOOKS
from gerrymend.reporting.wording import (
    bound,
    capitalised,
    count,
    percent,
    unfairness,
    within_strata,
)

# Verdicts within a sentence.
_STATED = {
    "within gamma": "proven to be within gamma",
    "undecided": "undecided",
    "exceeds gamma": "above gamma",
}


# A fit trains no model without constraint to compare with.
LEVELS_UNKNOWN = (
    "whether rates came to be alike by falling for some or by rising for all is not known from a "
    "fit: a comparison with an earlier report tells, and so does a frontier of models, which "
    "begins with the one without constraint"
)


def model_view(model: Mapping[str, Any], *, is_compared: bool = False) -> dict[str, Any]:
    """Return what a reader sees of a trained model (`cli.fit_text.as_data()`), on each sample.

    A sentence, pairs of name and text, and a table: its heads and a tuple of texts a sample. If it
    `is_compared` with an earlier one, whose rates moved is told there.
    """
    within = within_strata(model.get("control_features"))
    return {
        "sentence": _sentence(model),
        "facts": [
            ("Predictors", predictors_words(model)),
            (
                "Trained to allow",
                f"{model['gamma']:g} (gamma){within}",
            ),
            ("Decides by", ", ".join(model["columns"])),
            *([] if is_compared else [("Who pays for it", LEVELS_UNKNOWN)]),
        ],
        "heads": ("Sample", "Rows", "Error", "Unfairness", "Proven", "Verdict"),
        "samples": [
            (
                capitalised(sample["name"]),
                count(sample["n_rows"]),
                percent(sample["error"]),
                unfairness(sample["unfairness"], model["gamma"]),
                proven_words(sample, model["gamma"]),
                LOOKS[sample["verdict"]].heading.lower(),
            )
            for sample in model["samples"]
        ],
    }


def predictors_words(model: Mapping[str, Any]) -> str:
    """Return how many predictors a model has, and how they decide."""
    number = model["n_predictors"]
    drawn = "one of them is drawn for each row" if number > 1 else "it decides alone"
    return f"{count(number)} × {model['estimator']}; {drawn}"


def proven_words(sample: Mapping[str, Any], gamma: float) -> str:
    """Return what is proven of the unfairness that was found on a sample."""
    return "exact" if sample["exact"] else f"at most {bound(sample['upper_bound'], gamma)}"


def _sentence(model: Mapping[str, Any]) -> str:
    """Say what the rows that a model was audited on can say of others."""
    if len(model["samples"]) > 1:
        part = "had no part" if model["audited"] == "test rows" else "were used"
        return (
            f"What is said on this page, but for the table below, is of the {model['audited']}, "
            f"which {part} in the training."
        )
    return (
        "These are the rows that the model was trained on; expect it to be less fair on others. "
        "Rows that are kept out of the training would tell."
    )


def samples_sentences(model: Mapping[str, Any]) -> list[str]:
    """Say in one sentence how training and test rows fare; nothing where there is one sample."""
    if len(model["samples"]) == 1:
        return []
    parts = [
        f"on the {count(sample['n_rows'])} {sample['name']} the largest unfairness found is "
        f"{unfairness(sample['unfairness'], model['gamma'])} ({_STATED[sample['verdict']]})"
        for sample in model["samples"]
    ]
    decides = {"both": "the worse of the two decides"}.get(
        model["gate"], f"the {model['audited']} decide"
    )
    return [f"{capitalised(', and '.join(parts))}: {decides}."]


def remedy_sentences(report: Mapping[str, Any], model: Mapping[str, Any]) -> list[str]:
    """Say what to change where a model was not shown to keep to gamma.

    It is for users of the command line: what it names are options of `gerrymend fit`.
    """
    trained = model["samples"][0]["verdict"]
    if report["verdict"] == "exceeds gamma" and trained != "exceeds gamma":
        return [
            "A model is less fair on rows that it was not trained on: a smaller --gamma leaves "
            "room for that."
        ]
    if report["verdict"] == "exceeds gamma":
        kept = math.ceil(report["unfairness"] * 1e4) / 1e4  # not below what was found
        return [
            "Gamma was not reached. --certify goes on until it is proven, a larger --max-iter "
            f"plays on, and --gamma {kept:g} is what this model keeps."
        ]
    if report["verdict"] == "undecided":
        return ["A longer --budget, --certify or a smaller class of subgroups can decide it."]
    return []
