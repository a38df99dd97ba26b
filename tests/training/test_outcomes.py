"""Fits for means of numbers that are linear in decisions, and what is refused."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from gerrymend import (
    LinearThresholds,
    OutcomeNotion,
    SubgroupParityClassifier,
    audit,
    pareto_frontier,
)
from gerrymend.notions import STATISTICAL_PARITY
from gerrymend.training.checkpoints import CheckpointError
from tests.cut_short import FITS, Stopping, assert_same
from tests.training.test_strata import JOB, A, X, Y, best_by_linear_program, people, products

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
AMOUNT = np.random.default_rng(7).integers(1, 40, len(Y)) * 50.0


def granted(amounts=AMOUNT, scale=1.0):
    """What people are paid out, of those who asked for 100 or more."""
    return OutcomeNotion(
        "payment", lambda y, p: scale * amounts * p, event=lambda y, p: amounts >= 100,
        reads_labels=False, unit="EUR", worse="lower",
    )  # fmt: skip


def fitted(notion, gamma, data=(X, Y, A, None), estimator=None, **parameters):
    X, y, a, control = data
    parameters = {"subgroups": "conjunctions", "random_state": 0} | parameters
    clf = SubgroupParityClassifier(
        estimator or LogisticRegression(), notion=notion, gamma=gamma, **parameters
    )
    return clf.fit(X, y, sensitive_features=a, control_features=control)


def audited(clf, data=(X, Y, A, None)):
    X, y, a, control = data
    return audit(
        y, clf.predict_proba(X)[:, 1], sensitive_features=a, control_features=control,
        notion=clf.notion, gamma=clf.gamma, subgroups=clf.subgroups,
    )  # fmt: skip


def by_loops(amounts, p, group, stratum):
    value = 0.0
    for s in set(stratum):
        counts = [i for i in range(len(p)) if stratum[i] == s and amounts[i] >= 100]
        mean = sum(amounts[i] * p[i] for i in counts) / len(counts)
        value += sum(amounts[i] * p[i] - mean for i in counts if group[i])
    return value / len(p)


@pytest.mark.parametrize("control", [None, JOB], ids=["overall", "within"])
@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play", "no_regret"])
def test_an_audit_finds_what_the_fit_reports_in_the_unit_of_the_outcome(solver, control):
    data = (X, Y, A, control)
    how = {"solver": solver, "max_iter": 60}
    clf = fitted(granted(), 4.0, data, **how)
    report = audited(clf, data)
    worst = clf.worst_subgroup_
    assert report.exact
    assert abs(worst.unfairness) == pytest.approx(report.unfairness, abs=1e-7)
    inside = worst.contains(A) & (AMOUNT >= 100)
    paid = AMOUNT * clf.predict_proba(X)[:, 1]
    assert worst.rate == pytest.approx(paid[inside].mean(), abs=1e-7)
    share = inside.mean()
    assert worst.unfairness == pytest.approx(share * (worst.rate - worst.overall_rate), abs=1e-7)
    assert worst.notion.unit == "EUR"
    assert clf.upper_bound_ >= report.unfairness - 1e-7
    stratum = np.zeros(len(Y)) if control is None else control["job"]
    p = clf.predict_proba(X)[:, 1]
    by_hand = max(abs(by_loops(AMOUNT, p, group, stratum)) for group in products(A))
    assert report.unfairness == pytest.approx(by_hand, abs=1e-7)
    assert clf.mixture_.training["unfairness"] == pytest.approx(by_hand, abs=1e-7)
    free = audited(fitted(granted(), 1000.0, data, **how), data)
    assert free.unfairness > 12.0
    if solver == "exponentiated_gradient":
        assert report.unfairness <= 4.0 + 1e-7


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_unit_is_a_matter_of_words(scale):
    one = fitted(granted(), 4.0)
    other = fitted(granted(scale=scale), 4.0 * scale)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
    assert other.gamma == 4.0 * scale
    np.testing.assert_allclose(
        other.history_["unfairness"], scale * one.history_["unfairness"], rtol=1e-6
    )


def test_it_is_as_good_as_the_best_that_a_linear_program_finds():
    """Each row is a kind of its own, with its amount as the slope."""
    X, y, a, _ = people(3, 120)
    amounts = np.random.default_rng(1).integers(1, 5, 120) * 100.0
    by_row = SimpleNamespace(event=np.ones(120, dtype=bool), a=np.zeros(120), b=amounts)
    _, cell = np.unique(X, axis=0, return_inverse=True)
    cell = cell.ravel()
    best = best_by_linear_program(
        y, cell, [by_row], products(a), 2.0, np.zeros(120), kind=np.arange(120)
    )
    tree = DecisionTreeClassifier(random_state=0)
    clf = fitted(granted(amounts), 2.0, (X, y, a, None), tree, max_iter=400, C=1000.0)
    assert audited(clf, (X, y, a, None)).unfairness <= 2.0 + 1e-7
    error = 1 - clf.score(X, y)
    assert best - 1e-9 <= error <= best + 4e-3
    free = np.array([y[cell == c].mean() for c in cell])
    assert best > np.minimum(free, 1 - free).mean() + 5e-3, "gamma binds"


@pytest.mark.parametrize(
    ("mean", "rate"), [("mean_outcome", "statistical_parity"), ("absolute_error", "error_rate")]
)
def test_named_means_of_decisions_are_rates(mean, rate):
    one = fitted(mean, 0.01)
    other = fitted(rate, 0.01)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)
    assert audited(one).unfairness == pytest.approx(abs(one.worst_subgroup_.unfairness), abs=1e-9)
    several = fitted(("absolute_error", "mean_outcome"), 0.01, C=100.0)
    assert audited(several).unfairness <= 0.01 + 1e-9
    told = several.mixture_.training["notions"]
    assert [one["name"] for one in told] == ["absolute_error", "mean_outcome"]


def test_what_was_proven_is_in_the_unit_too():
    clf = fitted(granted(), 4.0, certify=True)
    assert clf.certified_
    assert 3.0 < clf.upper_bound_ <= 4.0 + 1e-9
    assert audited(clf).verdict == "within gamma"
    path = SubgroupParityClassifier(notion=granted(), subgroups="conjunctions").fit_path(
        X, Y, gammas=[4.0, 9.0], sensitive_features=A
    )
    assert [model.gamma for model in path] == [4.0, 9.0]
    for model in path:
        assert audited(model).unfairness <= model.gamma + 1e-7


def test_rounds_are_told_in_the_unit(capsys):
    fitted(granted(), 4.0, verbose=1, max_iter=2, tol=None)
    told = [float(one) for one in re.findall(r"unfairness (\S+)", capsys.readouterr().out)]
    assert told
    assert max(told) > 1.0  # of euros, and not of the largest amount


def test_an_interrupt_keeps_the_unit():
    clf = SubgroupParityClassifier(
        LogisticRegression(), notion=granted(), gamma=4.0, subgroups="conjunctions", tol=None
    )
    with Stopping(6, *FITS), pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y, sensitive_features=A)
    assert abs(clf.worst_subgroup_.unfairness) == pytest.approx(audited(clf).unfairness, abs=1e-7)


def test_a_fit_that_was_cut_short_goes_on_with_the_same_outcomes_alone(tmp_path):
    how = {"max_iter": 12, "tol": None}
    whole = fitted(granted(), 4.0, **how)
    how |= {"checkpoint": tmp_path / "fit"}
    with Stopping(6, *FITS), pytest.raises(KeyboardInterrupt):
        fitted(granted(), 4.0, **how)
    with pytest.raises(CheckpointError, match="other data: notion differ"):
        fitted(granted(AMOUNT + 1), 4.0, **how)
    assert_same(fitted(granted(), 4.0, **how), whole, X)  # another lambda, of the same outcomes


def outcome(function, **others):
    return OutcomeNotion("gain", function, **others)


@pytest.mark.parametrize(
    ("notion", "message"),
    [
        ("squared_error", r"'squared_error' is not linear in decisions: .* but 0.25 for a prob"),
        (outcome(lambda y, p: p**2), "'gain' is not linear in decisions"),
        (outcome(lambda y, p: p, event=lambda y, p: p > 0.2), "an event that depends on y_pred"),
        (outcome(lambda y, p: y * 2.0), "the same outcome whatever is decided"),
        (outcome(lambda y, p: p / 0 if p[0] else p + np.nan), "has the outcome nan"),
        (outcome(lambda y, p: p[:3]), r"of shape \(3,\) for 240 rows"),
        (
            outcome(lambda y, p: p, event=lambda y, p: y > 3),
            "'gain' has an event that no row is in",
        ),
        (("statistical_parity", "mean_outcome"), "y_true and y_pred can't be both"),
    ],
)
def test_what_can_not_be_trained_for_is_refused(notion, message):
    with pytest.raises(ValueError, match=message):
        fitted(notion, 0.01)


def test_a_reference_of_ones_own_is_refused():
    """A game is of moments that are centred: against a constant nothing would be."""
    for notion in (granted(), replace(STATISTICAL_PARITY)):
        object.__setattr__(notion, "reference", 0.25)
        with pytest.raises(ValueError, match=r"with 0.25, and models are trained to treat groups"):
            fitted(notion, 4.0)


def test_where_means_can_not_be_trained_for():
    with pytest.raises(ValueError, match=r"y has the labels 'no' and 'yes', and the notion 'paym"):
        fitted(granted(), 4.0, (X, np.where(Y == 1, "yes", "no"), A, None))
    clf = SubgroupParityClassifier(LinearRegression(), notion=granted())
    with pytest.raises(ValueError, match="gammas is not given, and the payment is a mean of numbe"):
        pareto_frontier(clf, X, Y, sensitive_features=A)
    arrays = pytest.importorskip("dask.array")
    parts = [arrays.from_array(part, chunks=100) for part in (X, Y, X[:, 3:])]
    how = {"solver": "fictitious_play", "subgroups": LinearThresholds(search="regression")}
    with pytest.raises(ValueError, match=r"no row is brought here, .*'payment' has an event of s"):
        clf.set_params(**how).fit(*parts[:2], sensitive_features=parts[2])


def test_the_papers_game_is_left_to_rates():
    """Its sums know one slope: with amounts the plain game is played, and reports the same."""
    how = {"solver": "fictitious_play", "subgroups": LinearThresholds(search="regression")}
    clf = fitted(granted(), 4.0, estimator=LinearRegression(), max_iter=30, tol=None, **how)
    (found,) = [
        by_loops(AMOUNT, clf.predict_proba(X)[:, 1], clf.worst_subgroup_.contains(A), np.zeros(240))
    ]
    assert clf.worst_subgroup_.unfairness == pytest.approx(found, abs=1e-7)


# By these a constant treats nobody alike; at gamma 0 only a coin, or the constant 0, does.
@pytest.mark.parametrize(
    ("notion", "decided"), [("error_rate", 0.5), ("absolute_error", 0.5), (granted(), 0.0)]
)
def test_at_gamma_0_what_treats_all_alike_is_certified(notion, decided):
    clf = fitted(notion, 0.0, certify=True, max_iter=5, budget=20)
    assert clf.certified_
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], decided)


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("gamma", [0.0, 0.002])
def test_a_gamma_that_no_mixture_keeps_is_told(gamma):
    """Labels are 1 in one group alone, and X tells nothing: y − p differs whatever is decided."""
    sex = np.repeat(["F", "M"], 30)
    y = np.tile([0, 0, 1], 20) * (sex == "F")
    clf = SubgroupParityClassifier(
        DecisionTreeClassifier(), notion="mean_error", gamma=gamma, subgroups="marginals",
        certify=True, budget=100, random_state=0,
    )  # fmt: skip
    with pytest.warns(
        ConvergenceWarning, match=r"no mixture of its answers keeps to gamma.*0\.0833"
    ):
        clf.fit(np.zeros((60, 1)), y, sensitive_features={"sex": sex})
    assert not clf.certified_
    # A third of the women and no man has label 1: half of the rows times 1/3 − 1/6.
    assert clf.upper_bound_ == pytest.approx(1 / 12)
    assert abs(clf.worst_subgroup_.unfairness) == pytest.approx(1 / 12)


@pytest.mark.parametrize("n_men_of_label_1", [0, 10])
def test_a_proof_costs_no_more_error_than_gamma_does(n_men_of_label_1):
    """Of 30 women 10 have label 1, and X tells the sex: what is best is known by hand.

    With no such man, who are decided 0, p for women has y − p differ by 1/3 − p: a quarter of that
    is unfair. Errors are 1/6 + p/6, so that p = 1/3 − 4γ is best. With 10 of them all are alike.
    """
    sex = np.repeat(["F", "M"], 30)
    y = np.tile([0, 0, 1], 20) * ((sex == "F") | (n_men_of_label_1 > 0))
    clf = SubgroupParityClassifier(
        DecisionTreeClassifier(), notion="mean_error", gamma=0.05, subgroups="marginals",
        certify=True, budget=100, random_state=0,
    )  # fmt: skip
    clf.fit((sex == "F")[:, None].astype(float), y, sensitive_features={"sex": sex})
    assert clf.certified_
    p = clf.predict_proba([[1.0], [0.0]])[:, 1]
    error = np.abs(y - p[np.where(sex == "F", 0, 1)]).mean()
    best = 1 / 3 if n_men_of_label_1 else 1 / 6 + (1 / 3 - 0.2) / 6
    assert best - 1e-9 <= error <= best + 1e-3
