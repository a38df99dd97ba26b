"""Bad values × what is checked: each is refused by the name of its argument, none from below."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from gerrymend import audit, calibrate, check_patches, check_report

N = 60
Y = [0, 1] * (N // 2)
D = [0, 0, 1, 1] * (N // 4)
SCORES = [0.3, 0.6] * (N // 2)
CLASSES = ["a", "b", "c"] * (N // 3)
SEX = ["F", "M"] * (N // 2)
A = {"sex": SEX}
K = {"k": ["x", "y", "y"] * (N // 3)}
ASKED = {"subgroups": "marginals", "min_group_size": 2}


def ways():
    """Return, by what is audited, what checks it and the rows that it is given."""
    rows = {"sensitive_features": A, "sample_weight": None}
    audits = {
        "decisions": {"y_true": Y, "y_pred": D},
        "scores decided": {"y_true": Y, "y_pred": SCORES, "threshold": 0.5},
        "probabilities": {"y_true": Y, "y_pred": SCORES, "decision_probabilities": True},
        "numbers": {"y_true": Y, "y_pred": SCORES, "notion": "mean_error"},
        "scores": {"y_true": Y, "y_pred": SCORES, "notion": "multiaccuracy"},
        "classes": {"y_true": CLASSES, "y_pred": CLASSES[1:] + CLASSES[:1]},
        "no labels": {"y_true": None, "y_pred": D, "notion": "statistical_parity"},
    }
    made = {}
    for name, given in audits.items():
        report = audit(**given, **rows, **ASKED).to_dict()
        given = {part: value for part, value in given.items() if part != "notion"}
        made[name] = check_report, report, given | rows
    patched = {"y_true": Y, "y_pred": SCORES, **rows}
    made["patches"] = check_patches, calibrate(**patched, subgroups="marginals").to_dict(), patched
    return made


WAYS = ways()
COLUMN = {
    "lists": ([["a"]] * N, "has values of type list; pass numbers"),
    "dicts": ([{}] * N, "has values of type dict"),
    "bytes": ([b"a"] * N, "has values of type bytes"),
    "complex": ([1j] * N, "has values of type complex"),
    "mixed": ([1, "a"] * (N // 2), "mixes values of types int, str; convert it to one type"),
    "booleans beside numbers": ([1, True] * (N // 2), "mixes values of types bool, int"),
    "vast": ([10**400, 1] * (N // 2), "is a number and has missing or infinite values"),
    "one": (["a"], r"has 1[.,]"),
    "text": ("abc", "must be an array, Series, frame or list; got str"),
    "number": (5, "must be an array, Series, frame or list; got int"),
    "mapping": ({"a": 1}, "must be an array, Series, frame or list; got dict"),
}
ATTRIBUTES = {f"column of {name}": ({"z": values}, f"'z' of ARGUMENT .*{message}|'z' of ARGUMENT "
              f"{message}") for name, (values, message) in COLUMN.items()}  # fmt: skip
ATTRIBUTES |= {
    "ragged": ([[1, 2], [3]], "ARGUMENT has rows that differ in length"),
    "rows beside numbers": ([[1]] * (N - 1) + [2], "ARGUMENT has rows that differ in length"),
    "text": ("x", "ARGUMENT must be an array"),
    "numbers": ([1], "'attribute_0' of ARGUMENT has 1"),
}
VECTOR = {
    "lists": ([["a"]] * N, "ARGUMENT must have one dimension"),
    "dicts": ([{}] * N, "ARGUMENT has values of type dict"),
    "a list among numbers": ([1, [1]] * (N // 2), "ARGUMENT has values of type list"),
    "bytes": ([b"a"] * N, "ARGUMENT has values of type bytes"),
    "complex": ([1j] * N, "ARGUMENT has values of type complex"),
    "mapping": ({"a": 1}, "ARGUMENT must be an array, Series, frame or list; got dict"),
    "one": ([1], "ARGUMENT has 1[.,]|y_true must have two labels"),
}
NUMBERS = {
    "text": (["a"] * N, "ARGUMENT (has the (value|score) 'a'|must be finite numbers)"),
    "text of numbers": (
        ["0.5"] * N,
        "ARGUMENT (has the (value|score) '0.5'|must be finite numbers)",
    ),
    "vast": ([10**400] * N, "ARGUMENT (has the (value|score) 1000|must be finite numbers)"),
    "vaster": ([10**9999] * N, "ARGUMENT (has the (value|score) a whole|must be finite numbers)"),
    "infinite": ([np.inf] * N, "ARGUMENT (has the (value|score) inf|must be finite numbers)"),
}
MIXED = {"mixed": ([0, "a"] * (N // 2), "ARGUMENT mixes labels of types int, str")}
CASES = {
    f"{way}, {argument}: {name}": (way, argument, *fault)
    for way in WAYS
    for argument, faults in {
        "sensitive_features": ATTRIBUTES,
        "control_features": ATTRIBUTES,
        "sample_weight": VECTOR | NUMBERS,
        "y_pred": VECTOR | (MIXED if way in ("decisions", "classes", "no labels") else NUMBERS),
        "y_true": VECTOR | (NUMBERS if way == "numbers" else MIXED),
    }.items()
    for name, fault in faults.items()
    # Of scores nothing is compared within strata.
    if argument != "control_features" or way in ("decisions", "numbers", "classes")
}


def refused(way, change):
    call, stated, rows = WAYS[way]
    with pytest.raises((TypeError, ValueError)) as told:
        call(stated, **rows | change)
    return str(told.value)


@pytest.mark.parametrize(("way", "argument", "value", "message"), CASES.values(), ids=CASES)
def test_a_fault_is_refused_by_name(way, argument, value, message):
    told = refused(way, {argument: value})
    expected = message.replace("ARGUMENT", argument)
    assert re.search(expected, told), told


@pytest.mark.parametrize("part", range(5))
def test_a_fault_of_held_out_rows_is_told_as_such(part):
    rows = [Y, D, A, [1.0] * N, K]
    names = ("y_true", "y_pred", "'sex' of sens", "sample_weight", "'k' of control_features")
    rows[part] = {name: [{}] * N for name in rows[part]} if part in (2, 4) else [{}] * N
    told = refused("decisions", {"holdout": tuple(rows), "control_features": K})
    assert told.startswith(f"holdout: {names[part]}")


@pytest.mark.parametrize("value", [Decimal("sNaN"), np.array([1, 2]), pd.NA, [1], b"a"], ids=str)
@pytest.mark.parametrize("way", ["decisions", "scores", "patches"])
def test_a_positive_label_that_is_none_is_refused(way, value):
    assert refused(way, {"pos_label": value}).startswith("pos_label=")
