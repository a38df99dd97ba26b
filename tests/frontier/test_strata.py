"""Frontiers within strata: every model is trained, split and audited by control features."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import SubgroupParityClassifier, audit, pareto_frontier
from gerrymend.inputs.sample import Sample
from gerrymend.training.fit import ParityClassifier
from tests.training.test_strata import JOB, A, X, Y, people

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
GAMMAS = [0.005, 0.03]


def frontier(**changes):
    clf = SubgroupParityClassifier(
        LinearRegression(), notion="statistical_parity", subgroups="conjunctions", max_iter=60
    )
    given = {"X": X, "y": Y, "sensitive_features": A, "control_features": JOB}
    asked = given | {"gammas": GAMMAS, "random_state": 0} | changes
    return pareto_frontier(asked.pop("estimator", clf), asked.pop("X"), asked.pop("y"), **asked)


def test_points_and_references_are_audited_within_strata():
    made = frontier(today=Y, marginal=True)
    for point in (*made.points, *made.marginal_points, *made.references):
        assert point.train.report.control_features == ("job",)
        assert [one.stratum for one in point.train.report.strata] == [
            "job = cook", "job = nurse", "job = smith"
        ]  # fmt: skip
    for point, gamma in zip(made.points, GAMMAS, strict=True):
        p = point.model.predict_proba(X)[:, 1]
        own = audit(
            Y, p, sensitive_features=A, control_features=JOB, decision_probabilities=True,
            notion="statistical_parity", subgroups="conjunctions", gamma=gamma,
        )  # fmt: skip
        assert point.train.unfairness == pytest.approx(own.unfairness, abs=1e-12)
        assert point.reported_unfairness == pytest.approx(own.unfairness, abs=1e-9)
        assert own.unfairness <= gamma + 1e-9
        assert point.model.mixture_.training["control_features"] == ["job"]
    overall = frontier(control_features=None, gammas=[0.005]).points[0].model
    p = overall.predict_proba(X)[:, 1]
    within = audit(
        Y, p, sensitive_features=A, control_features=JOB, decision_probabilities=True,
        notion="statistical_parity", subgroups="conjunctions",
    )  # fmt: skip
    assert within.unfairness > 0.01, "fair overall is another question"


def test_it_is_told_within_what():
    made = frontier(gammas=[0.005])
    data = json.loads(made.to_json())
    assert data["control_features"] == ["job"]
    assert data["points"][0]["train"]["within_strata"]
    for text in (str(made), made.to_markdown(), made.to_html(), made._repr_html_()):
        assert "compared within strata of job" in " ".join(text.split())
    assert "in the same strata" in made.to_markdown()
    assert "in the same strata" in made.to_html()


def test_code_trains_a_point_again():
    made = frontier()
    names = {"X": X, "y": Y, "sensitive_features": A, "control_features": JOB}
    exec(made.points[1].code, names)
    np.testing.assert_array_equal(
        names["model"].predict_proba(X), made.points[1].model.predict_proba(X)
    )
    frame = pd.DataFrame(X, columns=["skill", "nurse", "cook", "female", "age"])
    made = frontier(X=frame, sensitive_features=["female"], control_features=["nurse", "cook"])
    assert "control_features=['nurse', 'cook']" in made.points[0].code


def test_rows_that_are_kept_out_are_of_each_label_in_each_stratum():
    job = JOB["job"].astype(object)
    job[0] = "pope"  # alone, and on one side
    sample = Sample.read(Y, A, control={"job": job}, features=X)
    train, test = sample.split(0.25, seed=3)
    assert len(test.labels) == 60
    for label in (0, 1):
        for value in ("cook", "nurse", "smith"):
            number = int(((label == Y) & (job == value)).sum())
            kept = [
                int((column.equals(value) & (side.labels == label)).sum())
                for side in (train, test)
                for column in side.controls
            ]
            assert sum(kept) == number
            assert kept[1] == pytest.approx(number / 4, abs=1.5)  # rounding, and the pope's


def test_test_rows_are_compared_within_their_own_strata():
    other = people(1, 150)
    second = {
        "X_test": other[0], "y_test": other[1], "sensitive_features_test": other[2],
        "control_features_test": other[3],
    }  # fmt: skip
    made = frontier(**second)
    p = made.points[0].model.predict_proba(other[0])[:, 1]
    own = audit(
        other[1], p, sensitive_features=other[2], control_features=other[3],
        decision_probabilities=True, notion="statistical_parity", subgroups="conjunctions",
    )  # fmt: skip
    assert made.points[0].test.unfairness == pytest.approx(own.unfairness, abs=1e-12)
    with pytest.raises(ValueError, match=r"control_features_test is not given, and control_featu"):
        frontier(**second | {"control_features_test": None})
    with pytest.raises(ValueError, match="control_features_test is given, and control_features is"):
        frontier(control_features=None, **second)
    assert all(point.test.report.control_features for point in frontier(test_size=0.3).points)


def test_what_can_not_be_is_refused_before_anything_is_trained(monkeypatch):
    def fit_path(*_, **__):
        raise AssertionError("nothing is to be trained")

    monkeypatch.setattr(ParityClassifier, "fit_path", fit_path)
    with pytest.raises(ValueError, match="makes 240 strata of 240 rows"):
        frontier(control_features={"wage": np.arange(240.0)})
    fp = {"notions": ["false_positive_rate"]}
    labels = {"repaid": np.where(Y == 1, "yes", "no")}
    with pytest.raises(ValueError, match=r"^control_features has a stratum without .*repaid = yes"):
        frontier(control_features=labels, **fp)
    other = people(1, 150)
    second = {"X_test": other[0], "y_test": other[1], "sensitive_features_test": other[2]}
    with pytest.raises(ValueError, match=r"^In the test rows: control_features has a stratum"):
        frontier(**fp, **second, control_features_test={"repaid": other[1]})


def test_empty_strata_may_be_left_out():
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="marginals", max_iter=10, leave_out_empty_strata=True
    )
    made = frontier(estimator=clf, control_features={"repaid": Y}, gammas=[0.01])
    assert made.points[0].train.report.control_features == ("repaid",)
