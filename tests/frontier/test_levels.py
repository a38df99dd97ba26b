"""Whose rates rose to make a model fairer is said, and whether any group is better off."""

import html
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gerrymend import SubgroupParityClassifier, audit, pareto_frontier
from gerrymend.datasets import make_intersectional
from gerrymend.reporting.audit.levels import level_words, levels
from tests.cli.calling import call


def decided(rates, seed=0):
    """An audit of decisions of 400 people, half of them in Au and half in Ulm, by these rates."""
    town = np.repeat(["Au", "Ulm"], 200)
    p = np.concatenate([np.arange(200) < round(200 * rate) for rate in rates]).astype(int)
    return audit(None, p, sensitive_features={"town": town}, notion="statistical_parity",
                 favourable="negative", subgroups="marginals")  # fmt: skip


LEVELLED_DOWN = (
    "the overall rate of positive decisions rose from 15 % to 20 %; of 2 groups of one attribute "
    "it rose in 1 and fell in none, so that none of them is better off"
)


def test_levels_are_those_of_the_two_reports():
    before, after = (decided(rates).to_dict() for rates in ((0.2, 0.1), (0.2, 0.2)))
    (level,) = levels(before, after)
    assert level == {
        "notion": "statistical_parity", "unit": None, "worse": "higher", "before": 0.15,
        "after": 0.2, "groups": 2, "rose": 1, "fell": 0,
    }  # fmt: skip
    assert level_words(level) == LEVELLED_DOWN


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((0.1, 0.1), "fell from 15 % to 10 %; of 2 groups of one attribute it rose in none and "
         "fell in 1"),
        ((0.25, 0.25), "rose from 15 % to 25 %; of 2 groups of one attribute it rose in all and "
         "fell in none, so that none of them is better off"),
        ((0.15, 0.15), "stayed at 15 %; of 2 groups of one attribute it rose in 1 and fell in 1"),
    ],
)  # fmt: skip
def test_who_is_better_off_is_said_as_it_is(rates, words):
    (level,) = levels(decided((0.2, 0.1)).to_dict(), decided(rates).to_dict())
    assert level_words(level) == f"the overall rate of positive decisions {words}"
    unknown = level_words(level | {"worse": None})
    assert "better off" not in unknown


def test_a_report_says_what_changed_since_an_earlier_one():
    before, after = decided((0.2, 0.1)), decided((0.2, 0.2))
    told = f"T{LEVELLED_DOWN[1:]}."
    assert told in after.to_markdown(since=before).replace("\\", "")
    assert told in " ".join(
        html.unescape(after.to_html(since=before)).replace("\u00a0", " ").split()
    )
    # Reports of earlier versions may not say.
    old = {name: part for name, part in before.to_dict().items() if name != "overall_rates"}
    assert "the overall rate of" not in after.to_markdown(since=old)


@pytest.fixture(scope="module")
def frontier():
    data = make_intersectional(600, random_state=0)
    how = {"subgroups": "value_sets", "tol": None, "max_iter": 10}
    clf = SubgroupParityClassifier(LogisticRegression(), **how)
    return data, pareto_frontier(clf, data.data, data.target, gammas=[0.02, 0.05],
                                 sensitive_features=data.sensitive_features,
                                 favourable="negative")  # fmt: skip


def test_a_frontier_says_it_of_the_fairest_model(frontier):
    """By brute force: the rate of all, and of each value, without constraint and with."""
    data, found = frontier
    plain = LogisticRegression().fit(data.data, data.target).predict(data.data)
    fairest = min(found.points, key=lambda point: (point.train.unfairness, point.train.error))
    p = fairest.model.predict_proba(data.data)[:, 1]
    negatives = data.target == 0
    (reference,) = found.to_dict()["references"]
    (level,) = reference["levels"][found.points.index(fairest)]
    assert level["before"] == pytest.approx(plain[negatives].mean())
    assert level["after"] == pytest.approx(p[negatives].mean())
    moved = [
        p[negatives & (values == value)].mean() - plain[negatives & (values == value)].mean()
        for values in map(np.asarray, data.sensitive_features.values())
        if values.dtype.kind not in "fi"
        for value in np.unique(values)
    ]
    assert level["groups"] >= len(moved)
    assert level["rose"] >= sum(one > 1e-9 for one in moved)
    assert level["fell"] >= sum(one < -1e-9 for one in moved)
    told = f"From the one without constraint to the fairest of them, {level_words(level)}."
    page = " ".join(html.unescape(found.to_html()).split())
    assert told in " ".join(str(found).split())
    assert told in found.to_markdown().replace("\\", "")
    assert told in page
    assert "False positive rate of all, training rows" in page


def test_with_a_model_of_today_it_starts_there(frontier):
    data, found = frontier
    today = pareto_frontier(found.points[0].model, data.data, data.target, gammas=[0.05],
                            sensitive_features=data.sensitive_features, today=data.target,
                            favourable="negative")  # fmt: skip
    told = " ".join(str(today).split())
    assert "From your model today to it, the overall false positive rate rose from 0 % to " in told
    assert "From the one without" not in told


def test_a_fit_says_where_to_find_it_or_what_changed(tmp_path, frontier):
    data, _ = frontier
    file = tmp_path / "people.csv"
    sex = np.where(data.data[:, 0] > 0, "F", "M")
    x = data.data[:, 1]
    rows = zip(sex, x, data.target, strict=True)
    file.write_text("sex,x,y\n" + "\n".join(f"{a},{b:.3f},{c}" for a, b, c in rows))
    usual = ["fit", file, "--label", "y", "--protected", "sex", "--out", tmp_path / "m.skops"]
    usual += ["--max-iter", 5]
    page = tmp_path / "m.html"
    _, out, _ = call(*usual, "--report", page)
    unknown = "is not known from a fit: a comparison with an earlier report tells, and so does a "
    for shown in (out, html.unescape(page.read_text(encoding="utf-8"))):
        assert unknown in f"{' '.join(shown.split())} "
    earlier = tmp_path / "earlier.json"
    report = audit(data.target, (x > 0).astype(int), sensitive_features={"sex": sex}).to_dict()
    earlier.write_text(json.dumps(report, default=str))
    _, out, _ = call(*usual, "--report", page, "--since", earlier)
    for shown in (out, html.unescape(page.read_text(encoding="utf-8"))):
        words = " ".join(shown.replace("\u00a0", " ").split())
        assert unknown not in words
        assert "of 2 groups of one attribute it " in words
