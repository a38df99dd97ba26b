"""Cases of what compares two sides, and of what takes in batches."""

import json
from typing import Any

import numpy as np

from gerrymend import Comparison, Watch, compare
from gerrymend.changes.look import Look
from tests.fuzz.oracle import Case
from tests.fuzz.row_cases import ROWS, _case, _settings, draw_rows, draw_settings
from tests.fuzz.samples import make_sample, pick

CHANGES = (*ROWS, "old", "tolerance", "n_permutations", "random_state", "on_draw", "favourable",
           "side", "control_features", "level", "max_groups", "at", "groups", "reference",
           "top", "n_resamples", "confidence")  # fmt: skip


def _shown(found: Comparison | Look) -> Any:
    json.dumps(found.to_dict(), allow_nan=False)
    str(found)
    return found


def _as_given(case: Case) -> Case:
    case.names = CHANGES
    return case


def compare_case(rng: np.random.Generator) -> Case:
    """Compare a model with itself, on the same rows or as two samples: nothing changed."""
    rows, decided = draw_rows(rng, make_sample(rng))
    of_models = rng.random() < 0.5

    def call(**given: Any) -> Comparison:
        parts = ("y_true", "y_pred", "sensitive_features", "sample_weight")
        old = given["y_pred"] if of_models else tuple(given.get(part) for part in parts)
        return compare(old, **given)

    how = _settings(rng) | {
        "gamma": pick(rng, (0, 0.01, 0.05)),
        "min_group_size": pick(rng, (1, 2, 5)),
        "n_permutations": pick(rng, (0, 0, 9)),
        "tolerance": pick(rng, (None, 0.0, 0.1)),
    }
    how, odd = draw_settings(rng, how | decided)

    def figures(found: Comparison) -> list[Any]:
        assert found.change == 0
        assert found.moved is not None
        assert found.moved.moved == 0
        return [found.verdict, found.new.unfairness]

    return _as_given(_case(call, rows, how, odd, _shown, figures))


def watch_case(rng: np.random.Generator) -> Case:
    """Take in a batch twice, each with a time of its own."""
    rows, decided = draw_rows(rng, make_sample(rng))
    for values in (rows.given, rows.plain):
        values.pop("sample_weight", None)
    if ("sample_weight", "") in rows.disguised:  # what is wrong with weights is nothing here
        rows.expect = "either"

    def call(y_true: Any, y_pred: Any, sensitive_features: Any, **settings: Any) -> Look:
        watch = Watch(**settings)
        for at in (1, 2):
            look = watch.update(y_true, y_pred, sensitive_features=sensitive_features, at=at)
        return look

    how = _settings(rng) | {
        "gamma": pick(rng, (0, 0.01, 0.05)),
        "min_group_size": pick(rng, (1, 2, 5)),
        "level": pick(rng, (0.05, 0.5)),
        "max_groups": pick(rng, (1, 20)),
    }
    how, odd = draw_settings(rng, how | decided)

    def figures(look: Look) -> list[Any]:
        return [look.e_value, look.unfairness, look.alarm]

    return _as_given(_case(call, rows, how, odd, _shown, figures))
