"""Values of thousands of signs are shown by their ends, and are whole in the JSON alone."""

import json
import warnings

import numpy as np
import pytest

from gerrymend import SubgroupParityClassifier, audit
from tests.checking import assert_checked

LONG = "start " + "x" * 2500 + " y" * 1250 + " end"
TOWN = np.repeat([LONG, "Ulm"], 60)
SEX = np.tile(["F", "M"], 60)
D = np.r_[np.tile([1, 1, 0], 20), np.tile([0, 0, 1], 20)]
DATA = {"y_true": 0 * D, "y_pred": D, "sensitive_features": {"town": TOWN, "sex": SEX}}


@pytest.mark.parametrize("subgroups", ["linear", "value_sets", "marginals"])
def test_people_read_the_ends_of_a_long_value(subgroups):
    report = audit(**DATA, subgroups=subgroups, favourable="negative", top=2)
    shown = [str(report), report.to_markdown(), report.to_html(), repr(report)]
    shown += [report._repr_html_(), str(report.worst), report.worst.describe()]
    shown += [one.group for one in report.marginals]
    assert not [text for text in shown if "x" * 100 in text]
    assert f"town = {LONG[:74]}…{LONG[-25:]}" in [one.group for one in report.marginals]
    assert LONG in json.dumps(report.to_dict()["marginals"][0]["rule"] | report.to_dict()["worst"])
    assert_checked(report, **DATA)


def test_long_values_that_begin_and_end_alike_are_not_taken_for_one():
    town = np.repeat(["a" * 200 + end for end in ("", "b" + "a" * 50)], 60)
    data = DATA | {"sensitive_features": {"town": town}}
    report = audit(**data, subgroups="value_sets")
    assert report.worst.size == 60
    assert_checked(report, **data)


@pytest.mark.parametrize("settings", [
    {"pos_label": LONG}, {"notion": LONG}, {"intersection": ["sex", LONG]}, {"y_true": TOWN},
    {"threshold": LONG}, {"sensitive_features": {"town": [*TOWN[:-1], 3.5]}},
])  # fmt: skip
def test_errors_show_the_ends_of_a_long_value(settings):
    with pytest.raises(ValueError, match=r"\S") as caught:
        audit(**DATA | settings)
    assert len(str(caught.value)) < 1000


def test_a_fit_shows_the_ends_of_a_long_value():
    clf = SubgroupParityClassifier(gamma=0.5, max_iter=2, notion="statistical_parity")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(D[:, None], D, sensitive_features={"town": TOWN})
    assert len(str(clf.worst_subgroup_)) < 400
