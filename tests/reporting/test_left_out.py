"""Why fewer subgroups are told than were asked for is said, and only what is so."""

import html
import math
from types import SimpleNamespace

import numpy as np
import pytest

from gerrymend import audit, check_report
from gerrymend.auditing import further_groups
from gerrymend.reporting.audit.left_out import fewer_sentences


def shown(report):
    texts = (str(report), report.to_markdown(), html.unescape(report.to_html()))
    return [" ".join(text.replace("\\", "").split()) for text in texts]


def two_towns(**how):
    """One division of the rows, whichever side is told."""
    decided = np.r_[np.ones(40, int), np.zeros(40, int)]
    return audit(None, decided, sensitive_features={"town": np.repeat(["Au", "Ulm"], 40)},
                 notion="statistical_parity", **how)  # fmt: skip


@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
def test_nothing_but_the_other_side_is_left(subgroups):
    report = two_towns(subgroups=subgroups, top=3)
    assert len(report.top) == 1
    assert report.why_fewer == ("little",)
    told = (
        "No more subgroups are told: among people who are in none of the groups told no other has "
        "a tenth of the largest unfairness."
    )
    assert all(told in text for text in shown(report))
    assert report.to_dict()["why_fewer"] == ["little"]


def test_one_that_is_much_the_same_is_said_to_be():
    """Of 300 people of Au all but 10 are old, and of the others none."""
    old = np.r_[np.full(290, 70), np.full(10, 30), np.full(300, 30)]
    town = np.repeat(["Au", "Ulm"], 300)
    rng = np.random.default_rng(0)
    decided = (rng.random(600) < np.where(town == "Au", 0.8, 0.3)).astype(int)
    report = audit(None, decided, sensitive_features={"town": town, "age": old}, top=3,
                   notion="statistical_parity", subgroups="conjunctions")  # fmt: skip
    assert len(report.top) < 3
    assert set(report.why_fewer) <= {"alike", "little", "shared"}
    (sentence,) = fewer_sentences(report.to_dict())
    assert "few rows" not in sentence
    assert "time" not in sentence


def test_time_is_said_to_be_up_only_where_it_was(monkeypatch):
    rng = np.random.default_rng(0)
    town = rng.choice(list("abcdef"), 900)
    decided = (rng.random(900) < np.select([town == "a", town == "b"], [0.9, 0.7], 0.3)).astype(int)
    rows = {"y_true": None, "y_pred": decided, "sensitive_features": {"town": town}}
    how = {"notion": "statistical_parity", "subgroups": "marginals", "top": 2}
    assert audit(**rows, **how).why_fewer == ()
    monkeypatch.setattr(further_groups, "time", SimpleNamespace(monotonic=lambda: math.inf))
    report = audit(**rows, **how)
    assert report.why_fewer == ("time",)
    told = "No more subgroups are told: there was no time to search for more (budget, --budget)."
    assert all(told in text for text in shown(report))
    assert check_report(report, **rows).ok


def test_several_reasons_are_told_together():
    report = {"provenance": {"top": 5}, "top": [{}, {}],
              "why_fewer": ["few_rows", "alike", "shared", "time"]}  # fmt: skip
    assert fewer_sentences(report) == [
        "No more subgroups are told: the others that were found are much the same as these, or not "
        "much beside those of their people who are in these, or of a kind that would tell of few "
        "rows beside these, and there was no time to search for more (budget, --budget)."
    ]
    old = {name: part for name, part in report.items() if name != "why_fewer"}
    assert fewer_sentences(old) == ["No more subgroups are told."]


def test_the_checker_knows_the_reasons():
    report = two_towns(top=3)
    rows = {
        "y_true": None,
        "y_pred": np.r_[np.ones(40, int), np.zeros(40, int)],
        "sensitive_features": {"town": np.repeat(["Au", "Ulm"], 40)},
    }
    data = report.to_dict()
    assert check_report(data, **rows).ok
    wrong = "why_fewer is stated as ['because'], which are no reasons, one each."
    assert wrong in check_report({**data, "why_fewer": ["because"]}, **rows).problems
    one = two_towns().to_dict() | {"why_fewer": ["time"]}
    wrong = "why_fewer is stated, and there are as many subgroups as were asked for."
    assert wrong in check_report(one, **rows).problems
