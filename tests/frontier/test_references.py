"""Your model today and the unconstrained estimator: audited as points are, and no points."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from gerrymend import SubgroupParityClassifier, audit, pareto_frontier
from gerrymend.datasets import make_intersectional
from gerrymend.frontier.tradeoffs import beats
from tests.all_rounds import MAY_EXCEED_GAMMA

pytestmark = MAY_EXCEED_GAMMA

GAMMAS = [0.0, 0.01, 0.05]


@pytest.fixture(scope="module")
def data():
    return make_intersectional(400, cardinalities=(2, 3), n_numeric=0, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return DecisionTreeClassifier(max_depth=3).fit(data.data, data.target)


def classifier(estimator=None):
    return SubgroupParityClassifier(
        estimator or LinearRegression(), subgroups="conjunctions", max_iter=20, tol=None,
        random_state=3,
    )  # fmt: skip


def frontier_of(data, clf=None, **options):
    usual = {"sensitive_features": data.sensitive_features, "gammas": GAMMAS}
    X = options.pop("X", data.data)
    y = options.pop("y", data.target)
    return pareto_frontier(clf or classifier(), X, y, **usual | options)


def figures(frontier):
    """All that is told of points but how long they took and how the call was written."""
    return [{**point, "seconds": 0, "code": ""} for point in frontier.to_dict()["points"]]


def assert_is_audit_of(rows, decisions, labels, protected, **options):
    report = audit(
        labels, decisions, sensitive_features=protected, subgroups="conjunctions", budget=10.0,
        gamma=0.0, **options,
    )  # fmt: skip
    weight = options.get("sample_weight")
    assert rows.error == pytest.approx(np.average(decisions != labels, weights=weight), abs=1e-12)
    assert rows.report.unfairness == report.unfairness
    assert rows.report.upper_bound == report.upper_bound
    assert str(rows.report.worst) == str(report.worst)


def test_today_is_a_model_or_its_decisions(data, fitted):
    decisions = fitted.predict(data.data)
    frontiers = [
        frontier_of(data, today=fitted, test_size=0.3),
        frontier_of(data, today=decisions.tolist(), test_size=0.3),
        frontier_of(data, today=pd.Series(decisions, index=np.arange(400)[::-1]), test_size=0.3),
    ]
    plain = [frontier.to_dict()["references"] for frontier in frontiers]
    assert plain[0] == plain[1] == plain[2]
    assert [one.kind for one in frontiers[0].references] == ["today", "unconstrained"]
    (today,) = [one for one in frontiers[0].references if one.kind == "today"]
    assert (today.train.report.n_rows, today.test.report.n_rows) == (280, 120)
    assert (today.estimator, today.notion) == (None, "false_positive_rate")
    # Without a split, against an audit of the same decisions.
    today = frontier_of(data, today=fitted).references[0]
    assert_is_audit_of(today.train, decisions, data.target, data.sensitive_features)


def test_today_on_a_second_sample(data, fitted):
    half = slice(0, 200), slice(200, 400)
    parts = [
        (data.data[rows], data.target[rows],
         {name: values[rows] for name, values in data.sensitive_features.items()})
        for rows in half
    ]  # fmt: skip
    (X, y, protected), (X_test, y_test, protected_test) = parts
    second = {"X": X, "y": y, "sensitive_features": protected, "X_test": X_test, "y_test": y_test,
              "sensitive_features_test": protected_test}  # fmt: skip
    by_model = frontier_of(data, today=fitted, **second)
    by_row = frontier_of(data, today=fitted.predict(X), today_test=fitted.predict(X_test), **second)
    assert by_model.to_dict()["references"] == by_row.to_dict()["references"]
    today = by_row.references[0]
    assert_is_audit_of(today.test, fitted.predict(X_test), y_test, protected_test)


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression()])
@pytest.mark.parametrize("weighted", [False, True])
def test_unconstrained_is_scikit_learns_own_fit(data, estimator, weighted):
    weight = np.arange(400) % 3 + 1.0 if weighted else None
    frontier = frontier_of(data, classifier(estimator), gammas=[0.0], sample_weight=weight)
    (reference,) = frontier.references
    assert reference.estimator == type(estimator).__name__
    alone = estimator.fit(data.data, data.target, sample_weight=weight).predict(data.data)
    options = {"sample_weight": weight} if weighted else {}
    assert_is_audit_of(
        reference.train, (alone >= 0.5).astype(int), data.target, data.sensitive_features, **options
    )


def test_a_randomised_model_is_taken_by_its_probabilities(data):
    clf = classifier().fit(data.data, data.target, sensitive_features=data.sensitive_features)
    for today in (clf, clf.mixture_):
        reference = frontier_of(data, today=today, gammas=[0.05]).references[0]
        p = clf.predict_proba(data.data)[:, 1]
        assert ((p > 0) & (p < 1)).any()  # so that a draw would differ
        assert reference.train.error == pytest.approx(np.abs(p - data.target).mean(), abs=1e-12)


def test_references_mark_and_suggest_nothing(data):
    without = frontier_of(data, test_size=0.3)
    perfect = frontier_of(data, test_size=0.3, today=data.target)  # no error, and fair
    assert figures(perfect) == figures(without)
    for frontier, words in (
        (without, "It is no point: nothing is marked beaten, or suggested, because of it."),
        (perfect, "They are no points: nothing is marked beaten, or suggested, because of them."),
    ):
        assert words in " ".join(str(frontier).split())
    assert [point.gamma for point in perfect.suggested] == [p.gamma for p in without.suggested]
    today, plain = perfect.to_dict()["references"]
    assert (today["beaten_by"], today["beats"]) == (0, 3)
    assert (today["test"]["error"], today["test"]["unfairness"]) == (0.0, 0.0)
    assert today["test"]["verdict"] is None
    wrong = frontier_of(data, test_size=0.3, today=1 - data.target).to_dict()["references"][0]
    assert wrong["beats"] == 0
    for model, told in zip(perfect.references, (today, plain), strict=True):
        seen = [point.test for point in perfect.points]
        assert told["beaten_by"] == sum(beats(one, model.test) for one in seen)
        assert told["beats"] == sum(beats(model.test, one) for one in seen)
        assert model.test.dominated == (told["beaten_by"] > 0)


def test_each_notion_and_estimator_has_its_own(data, fitted):
    frontier = frontier_of(
        data, today=fitted, gammas=[0.05], notions=["false_positive_rate", "error_rate"],
        estimators={"a": LinearRegression(), "b": LinearRegression(fit_intercept=False)},
        marginal=True,
    )  # fmt: skip
    told = [(one.kind, one.notion, one.estimator) for one in frontier.references]
    assert told == [
        ("today", "false_positive_rate", None),
        ("today", "error_rate", None),
        *(
            ("unconstrained", notion, name)
            for notion in ("false_positive_rate", "error_rate")
            for name in "ab"
        ),
    ]


def test_every_form_shows_them(data, fitted):
    frontier = frontier_of(data, today=fitted, gammas=[0.0, 0.05])
    today, plain = frontier.references
    text = str(frontier)
    for words, reference in (("your model today", today), ("unconstrained", plain)):
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {words}")]
        assert f"{reference.train.error:.4f}" in line
        assert f"{reference.train.unfairness:.4f}" in line
        (line,) = [ln for ln in frontier.to_markdown().splitlines() if f"| **{words}** |" in ln]
        assert reference.train.worst.replace("_", r"\_") in line
    assert max(map(len, text.splitlines())) <= 80
    plain = json.loads(frontier.to_json())["references"]
    assert [one["kind"] for one in plain] == ["today", "unconstrained"]
    assert "your model today" in frontier._repr_html_()
    assert "kind='today'" in repr(today)


BAD = [
    ({"today": [0, 1]}, ValueError, "differ in their number of rows: y has 400, today has 2"),
    ({"today": np.linspace(0, 1, 400)}, ValueError, "today has decisions that are no label: 0.0"),
    ({"today": ["no"] * 400}, ValueError, "today has decisions that are no label: 'no'.*labels: 0"),
    ({"today": [None] * 400}, ValueError, "today has 400 missing"),
    ({"today": [{0}] * 400}, ValueError, "today has labels of type set; convert them"),
    ({"today": [{"a": 0}] * 400}, ValueError, "today has labels of type dict; convert them"),
    (
        {"today": LogisticRegression()},
        ValueError,
        "today is LogisticRegression.., which is not fit",
    ),
    ({"today": SubgroupParityClassifier()}, ValueError, "today is Subgroup.* which is not fitted"),
    ({"today": LogisticRegression}, ValueError, "today is the class LogisticRegression; pass a"),
    ({"today_test": [0]}, ValueError, "today_test are decisions .*, and today is not given"),
    ({"today": [0] * 400, "today_test": [0]}, ValueError, "and X_test is not given"),
    ({"today": [0] * 400, "X_test": [[0.0]], "y_test": [0]}, ValueError, "today_test is not given"),
]


@pytest.mark.parametrize(("options", "kind", "message"), BAD)
def test_bad_calls_are_told_before_any_work(data, options, kind, message, monkeypatch):
    monkeypatch.setattr(SubgroupParityClassifier, "fit_path", pytest.fail)
    with pytest.raises(kind, match=message):
        frontier_of(data, **options)


def test_a_model_of_other_labels_is_told(data):
    other = np.array(["no", "yes"])[data.target]
    clf = classifier().fit(data.data, other, sensitive_features=data.sensitive_features)
    with pytest.raises(
        ValueError, match=r"today decides between 'no' and 'yes', and y has .* 0 and"
    ):
        frontier_of(data, today=clf)


def test_the_first_label_may_be_the_positive_one(data, fitted):
    decisions = fitted.predict(data.data)
    frontier = frontier_of(data, today=decisions, gammas=[0.0], pos_label=0, test_size=0.3)
    usual = frontier_of(data, today=decisions, gammas=[0.0], test_size=0.3)
    for turned, one in zip(frontier.references, usual.references, strict=True):
        assert turned.train.error == one.train.error
        assert turned.test.error == one.test.error
    today = frontier_of(data, today=decisions, gammas=[0.0], pos_label=0).references[0]
    assert_is_audit_of(today.train, decisions, data.target, data.sensitive_features, pos_label=0)
