"""Labels, categories and named values of any type: as their plain form, or refused by argument."""

import datetime
import json
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from gerrymend import ExplicitGroups, GroupMean, SubgroupParityClassifier, audit, check_report
from gerrymend._runtime.errors import ArgumentError

RNG = np.random.default_rng(0)
N = 60
LABEL, DECIDED, GROUP = (RNG.integers(0, 2, N) for _ in range(3))
SEX = np.array(["F", "M"])[GROUP]
ASKED = {"subgroups": "marginals", "min_group_size": 5}


class Answer(str, Enum):  # noqa: UP042  # StrEnum prints as its value, and this as its name
    NO = "n"
    YES = "y"


class Level(IntEnum):
    LOW = 0
    HIGH = 1


def objects(pair, codes):
    """An array of objects, which NumPy doesn't look into."""
    values = np.empty(len(codes), dtype=object)
    values[:] = [pair[code] for code in codes]
    return values


def told(report):
    """A report's JSON, but for when and with what it was made."""
    return {name: part for name, part in json.loads(report.to_json()).items()
            if name != "provenance"}  # fmt: skip


PLAIN = {
    "Enum of text": ((Answer.NO, Answer.YES), ("n", "y")),
    "IntEnum": ((Level.LOW, Level.HIGH), (0, 1)),
    "int8": ((np.int8(0), np.int8(1)), (0, 1)),
    "float32": ((np.float32(0.5), np.float32(1.5)), (0.5, 1.5)),
    "bool_": ((np.False_, np.True_), (False, True)),
    "long double": ((np.longdouble(0.5), np.longdouble(1)), (0.5, 1.0)),
    "str_": ((np.str_("a"), np.str_("b")), ("a", "b")),
}


@pytest.mark.parametrize(("pair", "plain"), PLAIN.values(), ids=PLAIN)
def test_labels_and_categories_are_those_of_the_plain_values(pair, plain):
    def asked(values):
        rows = {"y_true": objects(values, LABEL), "y_pred": objects(values, DECIDED)}
        return rows | {"sensitive_features": {"group": objects(values, GROUP)}}

    report = audit(**asked(pair), **ASKED, pos_label=pair[0])
    assert told(report) == told(audit(**asked(plain), **ASKED, pos_label=plain[0]))
    assert check_report(report.to_json(), **asked(pair), pos_label=pair[0]).ok
    report.to_html()
    report.to_markdown()
    clf = SubgroupParityClassifier(gamma=0.1, subgroups="marginals", max_iter=2, tol=None)
    clf.fit(GROUP[:, None], objects(pair, LABEL), sensitive_features={"group": SEX})
    assert clf.classes_.tolist() == list(plain)
    assert {type(one) for one in clf.classes_.tolist()} == {type(plain[0])}


FOREIGN = {
    "Interval": tuple(pd.interval_range(0, 2)),
    "bytes": (b"a", b"b"),
    "Timestamp": (pd.Timestamp("2020"), pd.Timestamp("2021")),
    "date": (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)),
    "Period": (pd.Period("2020"), pd.Period("2021")),
    "Timedelta": (pd.Timedelta(1), pd.Timedelta(2)),
    "tuple": (("a", 1), ("b", 2)),
    "Enum": tuple(Enum("Kind", "A B")),
    "missing": (None, "b"),
    "NaN": (float("nan"), 1.0),
    "NUL": ("a\0", "b"),
}


@pytest.mark.parametrize("pair", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("form", [list, pd.Series])
def test_labels_that_are_no_plain_data_are_refused(pair, form):
    with pytest.raises(ArgumentError, match="y_true"):
        audit(form(objects(pair, LABEL)), LABEL, sensitive_features={"sex": SEX})
    with pytest.raises(ArgumentError, match="y_pred"):
        audit(LABEL, form(objects(pair, DECIDED)), sensitive_features={"sex": SEX})
    clf = SubgroupParityClassifier()
    with pytest.raises(ArgumentError, match=r"^y "):
        clf.fit(GROUP[:, None], form(objects(pair, LABEL)), sensitive_features={"sex": SEX})


def test_intervals_of_a_categorical_are_no_labels():
    labels = pd.Series(pd.cut(LABEL, [-1, 0, 1]))
    with pytest.raises(ArgumentError, match="y_true has labels of type Interval; convert them"):
        audit(labels, labels, sensitive_features={"sex": SEX})


@pytest.mark.parametrize("positive", [Decimal(1), Fraction(1), np.longdouble(1), 1.0, True])
def test_the_positive_label_is_told_as_the_rows_have_it(positive):
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"sex": SEX}}
    report = audit(**data, **ASKED, pos_label=positive)
    assert told(report)["labels"] == [0, 1]
    assert [type(one) for one in told(report)["labels"]] == [int, int]
    assert check_report(report.to_json(), **data, pos_label=positive).ok
    many = {**data, "y_true": LABEL + GROUP, "y_pred": DECIDED + GROUP}
    report = audit(**many, **ASKED, pos_label=positive)
    assert told(report)["labels"] == ["not 1", 1]
    assert check_report(report.to_json(), **many, pos_label=positive).ok


@pytest.mark.parametrize("value", [pd.NA, np.void(b"a"), b"a", [1], float("nan")])
@pytest.mark.parametrize("argument", ["pos_label", "favourable", "side"])
def test_values_that_are_no_choice_are_refused(argument, value):
    with pytest.raises(ArgumentError, match=f"^{argument}="):
        audit(LABEL, DECIDED, sensitive_features={"sex": SEX}, **{argument: value})


STRATA = {
    "empty": objects(("", "b"), GROUP),
    "minus zero": objects((-0.0, 1.0), GROUP),
    "floats by category": pd.Series(pd.Categorical(objects((-0.0, 0.5), GROUP))),
    "large by category": pd.Series(pd.Categorical(objects((2**60, 2**60 + 1), GROUP))),
}


@pytest.mark.parametrize("strata", STRATA.values(), ids=STRATA)
def test_strata_of_any_values_are_checked(strata):
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"sex": SEX[::-1]}}
    data["control_features"] = {"stratum": strata}
    result = check_report(audit(**data, **ASKED).to_json(), **data)
    assert result.ok, str(result)


NAMED = {
    "long double": np.array([0.5, 1.0])[GROUP].astype(np.longdouble),
    "minus zero": np.array([-0.0, 1.0])[GROUP],
    "line break": np.array(["a\nb", "c"])[GROUP],
    "escape": np.array(["a\x1bb", "c"])[GROUP],
}


@pytest.mark.parametrize("values", NAMED.values(), ids=NAMED)
def test_named_groups_and_references_of_any_values_are_checked(values):
    first = values[GROUP == 0][0]
    data = {"y_true": LABEL, "y_pred": DECIDED, "sensitive_features": {"group": values}}
    for asked in (
        {"subgroups": ExplicitGroups({"one": {"group": first}})},
        {"subgroups": "marginals", "reference": GroupMean({"group": first})},
    ):
        result = check_report(audit(**data, **asked, min_group_size=5).to_json(), **data)
        assert result.ok, str(result)
