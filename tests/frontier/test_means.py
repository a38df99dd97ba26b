"""Frontiers of means that are linear in decisions: trained, audited and told of in their unit."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import FrontierDisplay, OutcomeNotion, SubgroupParityClassifier, audit
from gerrymend import pareto_frontier as sweep
from gerrymend._runtime.errors import ArgumentWarning
from tests.training.test_strata import JOB, A, X, Y

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
AMOUNT = np.random.default_rng(0).integers(1, 500, len(Y)).astype(float)
PAY = OutcomeNotion("payment", lambda y, p: AMOUNT * p, unit="EUR", worse="lower")


def frontier(notion=PAY, **changes):
    clf = SubgroupParityClassifier(
        LinearRegression(), notion=notion, subgroups="marginals", max_iter=30, random_state=0
    )
    asked = {"X": X, "y": Y, "sensitive_features": A, "gammas": [1.0, 40.0]} | changes
    return sweep(clf, asked.pop("X"), asked.pop("y"), **asked)


@pytest.mark.parametrize("control", [None, JOB])
def test_every_point_is_what_audits_make_of_it(control):
    made = frontier(control_features=control, today=Y, marginal=True)
    for point, gamma in zip(made.points, [1.0, 40.0], strict=True):
        p = point.model.predict_proba(X)[:, 1]
        paid = audit(
            None, AMOUNT * p, sensitive_features=A, control_features=control, gamma=gamma,
            notion="mean_outcome", subgroups="marginals",
        )  # fmt: skip
        assert point.train.unfairness == pytest.approx(paid.unfairness, abs=1e-9)
        assert point.train.unfairness <= gamma + 1e-9
        assert point.reported_unfairness == pytest.approx(paid.unfairness, abs=1e-9)
        assert point.train.error == pytest.approx(np.mean(np.abs(p - Y)))
    (today,) = (one for one in made.references if one.kind == "today")
    paid = audit(
        None, AMOUNT * Y, sensitive_features=A, control_features=control, notion="mean_outcome",
        subgroups="marginals",
    )  # fmt: skip
    assert today.train.unfairness == pytest.approx(paid.unfairness, abs=1e-9)


def test_it_is_told_in_its_unit():
    made = frontier()
    data = json.loads(made.to_json())
    assert data["points"][0]["train"]["unit"] == "EUR"
    worst = made.points[0].train.shown
    for text in (made.to_markdown(), made.to_html()):
        assert f"payment {worst.rate:.4g} EUR, overall" in text
    for text in (str(made), made.to_markdown(), made.to_html(), made._repr_html_()):
        assert "how far its mean is from the overall mean, in EUR" in " ".join(text.split())
    table, _, _ = str(made).partition("models were trained")
    assert "%" not in table
    assert made.points[0].code is None, "a function of one's own can't be written"
    assert FrontierDisplay.from_report(made).points == made.points


def test_means_that_have_a_name_are_the_rates_that_they_are_of_decisions():
    means = frontier(notions=["mean_outcome", "absolute_error"], gammas=[0.01], test_size=0.3)
    rates = frontier(notions=["statistical_parity", "error_rate"], gammas=[0.01], test_size=0.3)
    for mean, rate in zip(means.points, rates.points, strict=True):
        for own, other in ((mean.train, rate.train), (mean.test, rate.test)):
            assert own.unfairness == pytest.approx(other.unfairness, abs=1e-9)
            assert own.error == pytest.approx(other.error, abs=1e-9)
    assert "notion='mean_outcome'" in means.points[0].code


SECOND = {"X_test": X, "y_test": Y, "sensitive_features_test": A}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (SECOND, r"notion 'payment' depends on the place of a row, .* leave the second sample out"),
        ({"test_size": 0.3}, r"notion 'payment' has an outcome that raised ValueError"),
        ({"pos_label": 0}, "pos_label=0 is for rates, and the payment is a mean of numbers"),
        ({"notions": [PAY, "error_rate"]}, "the rate 'error rate', .* and the mean 'payment'"),
        ({"notions": ["squared_error"]}, "'squared_error' is not linear in decisions"),
        ({"notions": [PAY.against(3)]}, r"compares the payment with 3\.0"),
        ({"y": np.where(Y, "yes", "no")}, "the labels 'no' and 'yes', .* code them as 0 and 1"),
        ({"sensitive_features": {"sex": A["sex"][:5]}}, "sensitive_features has 5"),
    ],
)
def test_what_can_not_be_is_refused_before_any_work(changes, message, monkeypatch):
    monkeypatch.setattr(SubgroupParityClassifier, "fit_path", None)
    with pytest.raises((TypeError, ValueError), match=message):
        frontier(**changes)


@pytest.mark.parametrize(
    ("notion", "gamma", "words"),
    [
        ("false_positive_rate", 3, r"gamma=3 allows everything: .* rates, .* by more than 1\."),
        (PAY, 1e4, r"gamma=10000 allows everything: .* in EUR, .* differ by more than 498\."),
    ],
    ids=str,
)
def test_a_gamma_beyond_the_range_of_outcomes_is_warned_of(notion, gamma, words):
    clf = SubgroupParityClassifier(
        LinearRegression(), notion=notion, gamma=gamma, max_iter=2, subgroups="marginals"
    )
    with pytest.warns(ArgumentWarning, match=words) as told:
        clf.fit(X, Y, sensitive_features=A)
    assert told[0].filename == __file__
    with pytest.warns(ArgumentWarning, match=words):
        frontier(notions=[notion], gammas=[0.1, gamma])
    if isinstance(notion, str):
        with pytest.warns(ArgumentWarning, match=words) as told:
            clf.mixture_.derandomize(X, Y, sensitive_features=A, gamma=gamma, subgroups="marginals")
        assert told[0].filename == __file__


def test_gammas_of_rates_are_no_default_for_a_mean():
    clf = SubgroupParityClassifier(LinearRegression(), notion=PAY)
    with pytest.raises(ValueError, match=r"gammas is not given, .* allow, in EUR"):
        sweep(clf, X, Y, sensitive_features=A)


def test_a_second_sample_of_an_audit_is_not_given_the_first_one_s_numbers():
    how = {"sensitive_features": A, "notion": PAY, "subgroups": "marginals"}
    holdout = (Y[::-1], Y[::-1], {name: values[::-1] for name, values in A.items()})
    with pytest.raises(ValueError, match="In holdout: notion 'payment' depends on the place"):
        audit(Y, Y, **how, holdout=holdout)
    centred = OutcomeNotion("apart", lambda y, p: p / 3 - (p / 3).mean())
    for notion in ("mean_outcome", centred):
        assert audit(Y, Y, **how | {"notion": notion}, holdout=holdout).held_out.n_rows == len(Y)
