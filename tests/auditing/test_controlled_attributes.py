"""Control features that are a protected attribute leave nothing to compare, and are warned of."""

import numpy as np
import polars as pl
import pytest

from gerrymend import audit, audit_counts, check_report


@pytest.mark.parametrize("outcome", ["decisions", "numbers", "counted", "lazy"])
@pytest.mark.parametrize(
    ("attributes", "control", "told"),
    [
        (["sex"], "sex", ["sex"]),
        (["sex"], "gender", ["sex"]),
        (["sex", "town"], "gender", ["sex"]),
        (["sex"], "finer", ["sex"]),
        (["sex", "town"], "finer", ["sex"]),
        (["sex", "town"], "town", ["town"]),
        (["sex"], "town", []),
        (["sex", "one"], "town", ["constant"]),
        (["sex"], "nearly", []),
    ],
)
def test_what_is_protected_and_controlled_for_is_told(outcome, attributes, control, told):
    """Where a stratum has one value of an attribute nobody is compared with people of another."""
    rng = np.random.default_rng(0)
    sex = np.array(["F", "M"])[rng.integers(0, 2, 200)]
    town = np.array(["Au", "Ulm"])[rng.integers(0, 2, 200)]
    gender = np.where(sex == "F", "w", "m")
    table = {
        "sex": sex,
        "town": town,
        "one": np.full(200, "x"),
        "gender": gender,
        "finer": np.where(sex == "F", town, "m"),
        "nearly": np.where(np.arange(200) == 7, np.where(sex == "F", "m", "w"), gender),
        "d": (rng.random(200) < np.where(sex == "F", 0.2, 0.7)).astype(int),
        "days": rng.gamma(2, 5, 200),
    }
    how = {"subgroups": "conjunctions", "gamma": 0.2, "notion": "statistical_parity"}
    pred = "d"
    if outcome == "numbers":
        pred = "days"
        how["notion"] = "mean_outcome"
    people = {"sensitive_features": {name: table[name] for name in attributes}}
    controls = {"control_features": {control: table[control]}}
    if outcome == "counted":
        frame = pl.DataFrame(table).group_by(list(dict.fromkeys([*attributes, control, "d"]))).len()
        report = audit_counts(
            frame, label=None, prediction="d", count="len", sensitive_features=attributes,
            control_features=[control], **how,
        )  # fmt: skip
    elif outcome == "lazy":
        report = audit(
            None, "d", sensitive_features=attributes, control_features=[control],
            data=pl.DataFrame(table).lazy(), **how,
        )  # fmt: skip
    else:
        report = audit(None, table[pred], **people, **controls, **how)
    found = [one for one in report.warnings if one.code.startswith(("control", "constant_a"))]
    assert len(found) == len(told)
    for doubt, attribute in zip(found, told, strict=True):
        if attribute == "constant":
            assert doubt.code == "constant_attribute"
            continue
        assert doubt.code == "control_is_protected"
        assert f"one value of the protected attribute {attribute}:" in doubt.sentence
    rows = {"y_true": None, "y_pred": table[pred], **people, **controls}
    assert check_report(report, **rows).ok
    if told:
        assert not check_report(report.to_dict() | {"warnings": []}, **rows).ok
