"""Cases of scores that are patched: what learns patches, applies them, saves and loads them."""

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import (
    Multicalibration,
    ScorePatches,
    SubgroupCalibrator,
    calibrate,
    load_patches,
    save_patches,
)
from gerrymend._runtime.sealed import digest_of_plain
from gerrymend.calibration.saved import patches_json
from tests.fuzz.disguises import ALL, SAME, disguise_of
from tests.fuzz.model_cases import FEATURES, array_of
from tests.fuzz.oracle import Case
from tests.fuzz.row_cases import Rows, _case, draw_settings
from tests.fuzz.samples import CLASSES, ODD_VALUES, make_sample, pick

CALIBRATE = ("y_true", "y_pred", "sensitive_features", "sample_weight", "notion", "subgroups",
             "alpha", "pos_label", "level", "max_patches", "n_draws", "min_group_size", "budget",
             "random_state", "data", "on_step")  # fmt: skip
MODEL = (*CALIBRATE, "X", "y", "estimator", "cv", "n_jobs", "fit")


def _settings(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "notion": pick(rng, ("multicalibration", "multiaccuracy", Multicalibration([0.5]))),
        "subgroups": pick(rng, CLASSES[1:]), "alpha": pick(rng, (None, None, 0.5)),
        "level": pick(rng, (0.05, 0.5, 1)), "max_patches": pick(rng, (0, 3, 200)), "n_draws": 19,
        "min_group_size": pick(rng, (1, 5)), "budget": 0.3, "random_state": 0,
    }  # fmt: skip


def calibrate_case(rng: np.random.Generator) -> Case:
    """Learn patches of rows in disguises, of labels or numbers, or with an odd parameter."""
    sample = make_sample(rng)
    n = len(sample)
    numbers = bool(rng.random() < 0.4)
    plain: dict[str, Any] = {
        "y_true": (rng.integers(-20, 20, n) / 4).tolist() if numbers else sample.labels,
        "y_pred": (rng.integers(0, 9, n) / 8).tolist(),
        "sensitive_features": sample.attributes,
        "sample_weight": pick(rng, (None, None, sample.weights)),
    }
    # So few rows may have one score, one label, or numbers of two values.
    rows = Rows(dict(plain), dict(plain), [], "either")
    for argument in ("y_pred", "sample_weight"):
        values = rows.plain[argument]
        if values is None or rng.random() < 0.5:
            continue
        one = disguise_of(rng, values, "number", pick(rng, (SAME, ALL)))
        if one is not None:
            rows.disguise(argument, one, "number")
    column = pick(rng, sample.attributes)
    one = disguise_of(rng, sample.attributes[column], "attribute", pick(rng, (SAME, ALL)))
    if one is not None and rng.random() < 0.4:
        rows.disguise("sensitive_features", one, "attribute", column)
    rows.expect = "either" if rows.expect == "result" else rows.expect
    how, odd = draw_settings(rng, _settings(rng) | {"pos_label": None, "on_step": None})
    case = _case(calibrate, rows, how, odd, _written, _figures)
    case.names = CALIBRATE
    return case


def _written(patches: ScorePatches) -> ScorePatches:
    """Return patches that were told, saved and loaded again."""
    str(patches)
    with tempfile.TemporaryDirectory() as folder:
        save_patches(patches, Path(folder) / "patches.json")
        assert load_patches(Path(folder) / "patches.json") == patches
    return patches


def _figures(patches: ScorePatches) -> list[Any]:
    known = patches.standing
    assert known is not None
    assert known.after <= known.upper_bound
    return [len(patches), known.stopped, known.before, known.after, known.error_after]


def calibrator_case(rng: np.random.Generator) -> Case:
    """Fit a model whose scores are patched, to X in any form, or with an odd parameter."""
    sample = make_sample(rng, tame=True)
    told = []
    own = _settings(rng) | {
        "estimator": pick(rng, (None, LogisticRegression(), LinearRegression())), "cv": 2,
        "n_jobs": None,
    }  # fmt: skip
    how, odd = draw_settings(rng, own)
    X = array_of(sample)
    if rng.random() < 0.4:
        # What is in a row is for the estimator to say: rows may be texts.
        # Of numbers as small as these LinearRegression warns on its own account.
        left_out = ("a list in it", "ragged", "3-d", "huge", "tiny", "subnormal")
        forms = [form for form in FEATURES if form not in left_out]
        form = pick(rng, forms)
        X = FEATURES[form][1](X)
        told.append(f"X: {form}")
    rows = {"y": sample.labels, "sensitive_features": sample.attributes, "sample_weight": None}
    if rng.random() < 0.3:
        name = pick(rng, rows)
        rows[name] = pick(rng, ODD_VALUES)
        told.append(f"{name}={rows[name]!r}"[:80])

    def call() -> Any:
        model = SubgroupCalibrator(**how).fit(X, **rows)
        scores = model.predict(X, sensitive_features=rows["sensitive_features"])
        assert len(scores) == len(sample)
        return _written(model.patches_)

    return Case("SubgroupCalibrator", "; ".join([*told, *odd, repr(how)])[:400], call, MODEL)


@functools.cache
def _known() -> ScorePatches:
    """Return patches of three attributes."""
    rng = np.random.default_rng(0)
    A = {"sex": ["F", "M"] * 150, "old": [False, False, True] * 100, "age": list(range(50)) * 6}
    score = rng.integers(1, 9, 300) / 10
    happened = (rng.random(300) < score * np.resize([0.2, 1.0], 300)).astype(int)
    return calibrate(happened, score, sensitive_features=A, n_draws=19, level=1, max_patches=4)


def apply_case(rng: np.random.Generator) -> Case:
    """Apply patches to odd scores or attributes, or take back an odd number of them."""
    patches = _known()
    odd = pick(rng, ODD_VALUES)
    what = pick(rng, ("scores", "attributes", "column", "undo"))
    A: Any = {"sex": ["F", "M"], "old": [True, False], "age": [3, 40]}
    scores: Any = [0.25, 0.75]
    if what == "scores":
        scores = pick(rng, (odd, [odd, 0.5], [2, 0.5], [[0.5], [0.5]], np.array([0.5, 1]) * 1j))
    elif what == "attributes":
        A = pick(rng, (odd, {"sex": ["F", "M"]}, A | {"sex": ["F"]}, [["F", True, 3]] * 2))
    elif what == "column":
        name = pick(rng, A)
        A[name] = pick(rng, (odd, [odd, A[name][1]], A[name][::-1]))

    def call() -> Any:
        if what == "undo":
            return patches.undo(odd)
        changed = patches.apply(scores, A)
        assert ((changed >= 0) & (changed <= 1)).all(), "no probabilities"
        return changed

    told = f"{what}: {scores!r}, {A!r}, {odd!r}"[:300]
    return Case("ScorePatches", told, call, ("scores", "sensitive_features", "n"))


def patches_file_case(rng: np.random.Generator) -> Case:
    """Load a file of patches in which a part is another, sealed as if it had been saved so."""
    plain = json.loads(patches_json(_known()))
    part: Any = plain
    told = []
    while isinstance(part, dict | list) and part:
        key = pick(rng, part if isinstance(part, dict) else range(len(part)))
        told.append(str(key))
        if rng.random() < 0.4 or not isinstance(part[key], dict | list):
            part[key] = pick(rng, (None, True, -1, 0.5, 1e308, 10**400, "", "x", "\ud800", [], [[]],
                                   {}, {"a": 1}, float("nan")))  # fmt: skip
            told.append(f"= {part[key]!r}"[:40])
            break
        part = part[key]
    sealed = bool(rng.random() < 0.7)

    def call() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "patches.json"
            text = json.dumps(plain)
            path.write_text(text, encoding="utf-8")
            return str(load_patches(path))

    if sealed and "\\ud800" not in json.dumps(plain):
        plain["sha256"] = digest_of_plain(plain)
    return Case("load_patches", " ".join(told), call, ("path",))
