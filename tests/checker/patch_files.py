"""Patches of every kind, as plain data with the rows that they were learnt on."""

import functools
import hashlib
import json

import numpy as np

from gerrymend import ExplicitGroups, LinearThresholds, calibrate
from tests.calibration.made import made_scores

GROUPS = ExplicitGroups({"women of A": {"sex": "F", "town": "A"}, "the old": {"age": (50, None)}})
TWO = ["sex", "town"]
ALL = ["sex", "town", "age"]
# By name: the attributes, and how the patches are learnt.
HOW = {
    "proven": (TWO, {"alpha": 0.02, "level": 1}),
    "chance": (ALL, {}),
    "averages": (TWO, {"notion": "multiaccuracy", "alpha": 0.01}),
    "marginals": (TWO, {"subgroups": "marginals", "max_patches": 1}),
    "value sets": (TWO, {"subgroups": "value_sets"}),
    "trees": (TWO, {"subgroups": "trees"}),
    "linear": (TWO, {"subgroups": LinearThresholds()}),
    "groups": (ALL, {"subgroups": GROUPS}),
    "weights": (TWO, {"alpha": 0.05, "level": 1}),
    "numbers": (TWO, {}),
    "none": (TWO, {}),
    "a part": (TWO, {}),
}
KINDS = list(HOW)


@functools.cache
def patches_of(kind):
    """Return patches as plain data, and the arguments that they were learnt from."""
    columns, how = HOW[kind]
    y, score, A = made_scores(120, seed=3, planted=0.0 if kind == "none" else 3.0)
    data = {"y_true": y, "y_pred": score.round(3), "sensitive_features": A[columns]}
    if kind == "weights":
        data["sample_weight"] = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    if kind == "numbers":
        data |= {"y_true": (10 * score + y).round(2), "y_pred": (8 * score).round(2)}
    patches = calibrate(**data, n_draws=19, **how)
    if kind == "a part":
        patches = patches.undo()
    return json.loads(json.dumps(patches.to_dict())), data


def sealed(plain):
    """Return plain data with the sha256 that a forger would put in, too."""
    rest = {name: value for name, value in plain.items() if name != "sha256"}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()}
