"""Cases of impact_ratios(): rows, groups and settings, valid and hostile."""

import json
from typing import Any

import numpy as np

from gerrymend import impact_ratios
from tests.fuzz.oracle import Case
from tests.fuzz.row_cases import ROWS, draw_rows, draw_settings
from tests.fuzz.samples import CLASSES, make_sample, pick
from tests.fuzz.weight_cases import make_weights

NAMES = (*ROWS, "rate", "reference", "depth", "profile", "unknown", "exclude_small", "confidence",
         "search", "n_permutations", "random_state")  # fmt: skip


def impact_case(rng: np.random.Generator) -> Case:
    """Make tables of rows in some disguise, with settings of which one may be odd."""
    sample = make_sample(rng)
    rows, decided = draw_rows(rng, sample)
    weights = make_weights(rng, len(sample))
    is_far = "sample_weight" in rows.plain and rng.random() < 0.4
    # A disguise of the weights must reach the product.
    is_far = is_far and ("sample_weight", "") not in rows.disguised
    for data in (rows.given, rows.plain):
        del data["y_true"]
        if is_far:  # over all scales
            data["sample_weight"] = weights
    if decided.pop("decision_probabilities", False):
        decided = {"rate": "scoring"}
    own: dict[str, Any] = {
        "depth": pick(rng, (None, 1, 2, 3)),
        "reference": pick(rng, (*["highest"] * 6, "red", {"attribute 0": 1})),
        "profile": pick(rng, (*[None] * 4, "ll144", "four-fifths", "lending")),
        "unknown": pick(rng, (None, [], ["red"], [0, "other"])),
        "exclude_small": pick(rng, (False, True)),
        "confidence": pick(rng, (0.5, 0.95)),
        "search": pick(rng, (True, False)),
        "subgroups": pick(rng, (None, *CLASSES)),
        "budget": 0.3,
        "min_group_size": pick(rng, (1, 2, 10)),
        "n_permutations": pick(rng, (0, 0, 19)),
    }
    how, odd = draw_settings(rng, own | decided)
    # What is wrong with labels is nothing here, where they are not passed.
    labels_differ = ("y_true", "") in rows.disguised
    comparable = rows.expect in ("result", "either") and not odd

    def call(data: dict[str, Any]) -> Any:
        return _shown(impact_ratios(**data, **how))

    return Case(
        entry="impact_ratios",
        told="; ".join([*rows.told, *odd, repr(how)[:300]]),
        call=lambda: call(rows.given),
        names=NAMES,
        # Decisions may be all alike, attributes numbers alone, and a group named that is not there.
        expect="error" if rows.expect == "error" and not labels_differ else "either",
        plain=(lambda: call(rows.plain)) if comparable else None,
        figures=_figures if comparable else None,
    )


def _shown(made: Any) -> Any:
    """Make all forms of the tables: each has to be made of whatever was compared."""
    json.loads(made.to_json())
    for text in (str(made), repr(made), made.to_markdown(), made.to_html(), made.to_csv()):
        assert text
    assert len(made.to_frame("polars")) >= len(made.groups)
    return made


def _figures(made: Any) -> Any:
    """Return what has to be the same in every disguise of the rows."""
    return [(group.n, group.rate, group.ratio) for group in made.groups]
