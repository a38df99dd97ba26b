"""A fit reports what an audit of it finds: the last look is by the search of `audit`."""

import itertools
import re
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler

from gerrymend import LinearThresholds, SubgroupParityClassifier, audit
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FairnessNotion, as_notions
from gerrymend.solvers.players import auditor
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Learner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells, Play
from gerrymend.solvers.pool import thorough_looks
from gerrymend.solvers.pool.game import PoolGame
from gerrymend.solvers.pool.pool import Pool
from gerrymend.solvers.pool.thorough_looks import ThoroughLooks
from gerrymend.subgroups.products.search import ProductSearch
from gerrymend.subgroups.thresholds.search import StartedSearch
from gerrymend.subgroups.trees import TreeSearch
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.conftest import load_paper

ROUNDING = 1e-9


class Decisions(Learner):
    """Nobody learns here."""

    best_response = answers = constant = recall = mixture = None


def made(seed, n_rows=400):
    """People of two numeric and two categorical attributes, whose label depends on all of them."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 70, n_rows), rng.integers(0, 12, n_rows)
    race, sex = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    attributes = {
        "age": age.astype(float),
        "income": income.astype(float),
        "race": np.array(["blue", "green", "red"])[race],
        "sex": np.array(["F", "M"])[sex],
    }
    X = np.column_stack([age / 20, income / 5, race == 1, sex, rng.normal(size=(n_rows, 3))])
    y = (X @ [1.0, -0.7, 0.9, 0.8, 1.0, 0.5, 0.0] + rng.logistic(size=n_rows) > 2).astype(int)
    return X, y, attributes


def fitted(X, y, attributes, **settings):
    """A fit, and its unfairness as reported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the error, and of what it says
        clf = SubgroupParityClassifier(random_state=0, **settings)
        clf.fit(X, y, sensitive_features=attributes)
    return clf, clf.history_["unfairness"][-1]


def fitted_and_audited(X, y, attributes, **settings):
    """The same, and an audit of it by default."""
    clf, reported = fitted(X, y, attributes, **settings)
    like = {name: settings[name] for name in ("notion", "subgroups") if name in settings}
    report = audit(
        y, clf.predict_proba(X)[:, 1], sensitive_features=attributes, decision_probabilities=True,
        gamma=settings["gamma"], **like,
    )  # fmt: skip
    return clf, reported, report


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"notion": "equalized_odds"},
        {"notion": "statistical_parity"},
        {"subgroups": "conjunctions"},
        {"subgroups": "trees"},
        {"subgroups": "marginals"},
    ],
    ids=str,
)
def test_an_audit_finds_no_more_than_the_fit_reported(settings):
    clf, reported, report = fitted_and_audited(
        *made(seed=1, n_rows=80), gamma=0.01, max_iter=12, **settings
    )
    assert report.unfairness <= reported + ROUNDING
    assert abs(clf.worst_subgroup_.unfairness) == pytest.approx(reported, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.005, 0.01])
def test_law_school_reports_what_an_exact_audit_finds(gamma):
    """At gamma .005 the fit once reported .00497 where .00548 was true, without a word.

    What it reports is what a search found, and a proof may find a little more. Which models its
    rounds come by depends on how a machine rounds: on some the last is above gamma, and says so.
    """
    X, y, attributes = load_paper("lawschool")
    scaled = StandardScaler().fit_transform(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        clf = SubgroupParityClassifier(random_state=0, gamma=gamma)
        clf.fit(scaled, y, sensitive_features=attributes)
    reported = clf.history_["unfairness"][-1]
    report = audit(
        y, clf.predict_proba(scaled)[:, 1], sensitive_features=attributes,
        decision_probabilities=True, gamma=gamma,
    )  # fmt: skip
    assert report.exact
    assert reported - ROUNDING <= report.unfairness <= 1.01 * reported
    says_so = any(re.search("above gamma", str(one.message)) for one in caught)
    assert says_so == (reported > gamma)
    assert says_so or report.unfairness <= gamma


def test_a_fit_does_not_depend_on_the_clock(monkeypatch):
    """An hour passes between any two looks at the clock: proofs were cut short by that."""
    X, y, attributes = made(seed=1, n_rows=120)
    settings = {"gamma": 0.01, "max_iter": 12, "random_state": 0}
    models = []
    for clock in (time.monotonic, itertools.count(0.0, 3600.0).__next__):
        monkeypatch.setattr(time, "monotonic", clock)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = SubgroupParityClassifier(**settings).fit(X, y, sensitive_features=attributes)
        models.append(clf)
    as_ever, hurried = models
    np.testing.assert_array_equal(hurried.predict_proba(X), as_ever.predict_proba(X))
    for name in ("unfairness", "error"):
        np.testing.assert_array_equal(hurried.history_[name], as_ever.history_[name])
    assert hurried.worst_subgroup_.describe() == as_ever.worst_subgroup_.describe()


@pytest.mark.parametrize("subgroups", ["conjunctions", "marginals"])
def test_exact_searches_are_not_followed_by_another(subgroups, monkeypatch):
    X, y, attributes = made(seed=1)
    for look in ("probe", "audit"):
        monkeypatch.setattr(
            ThoroughLooks, look, lambda *_, **__: pytest.fail("nothing is left to find")
        )
    _, reported, report = fitted_and_audited(
        X, y, attributes, gamma=0.01, max_iter=14, subgroups=subgroups
    )
    assert report.unfairness == pytest.approx(reported, abs=ROUNDING)


def test_with_a_budget_the_clock_decides(monkeypatch):
    """What the user gave in seconds is kept in seconds, also by the last look."""
    X, y, attributes = made(seed=1)
    seconds, works = [], []
    prove = StartedSearch.prove
    close_in = StartedSearch.close_in

    def proven(self, residual, **limits):
        if limits:  # but for what is proven to compile the kernels
            seconds.append(limits["seconds"])
        return prove(self, residual, **limits)

    def closed_in(self, residual, found, *, work):
        works.append(work)
        return close_in(self, residual, found, work=work)

    monkeypatch.setattr(StartedSearch, "prove", proven)
    monkeypatch.setattr(StartedSearch, "close_in", closed_in)
    clf = SubgroupParityClassifier(gamma=0.01, max_iter=5, tol=None, budget=20.0, random_state=0)
    clf.fit(X, y, sensitive_features=attributes)
    assert seconds
    assert max(seconds) <= 20.0
    seconds.clear()
    works.clear()
    clf.set_params(budget=None).fit(X, y, sensitive_features=attributes)
    assert max(works) > 1e8
    assert not seconds


@MAY_EXCEED_GAMMA
def test_with_a_budget_every_search_has_a_clock(monkeypatch):
    """A round over 720 categories took 10 s of a budget of 5."""
    X, y, attributes = made(seed=1)
    seconds = []
    search = StartedSearch.search

    def searched(self, residual, **limits):
        seconds.append(limits["seconds"])
        return search(self, residual, **limits)

    clf = SubgroupParityClassifier(gamma=0.01, max_iter=30, tol=None, budget=1e6, random_state=0)
    clf.fit(X, y, sensitive_features=attributes)  # compiles, by searches of its own
    unfairness = clf.history_["unfairness"]
    monkeypatch.setattr(StartedSearch, "search", searched)
    monkeypatch.setattr(StartedSearch, "worst", lambda *_: pytest.fail("no clock"))
    clf.fit(X, y, sensitive_features=attributes)
    assert len(seconds) >= 20
    assert max(seconds) <= 0.5e6
    monkeypatch.undo()
    clf.set_params(budget=None).fit(X, y, sensitive_features=attributes)
    # The same rounds, as time was not up; but for the last look.
    assert np.array_equal(clf.history_["unfairness"][:29], unfairness[:29])


def test_a_fit_that_stays_above_gamma_says_so():
    """Rounds end at max_iter here, before the mixture is within gamma."""
    X, y, attributes = made(seed=1)
    clf = SubgroupParityClassifier(gamma=0.001, max_iter=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="above gamma"):
        clf.fit(X, y, sensitive_features=attributes)
    assert clf.history_["unfairness"][-1] > 0.001


def test_a_fit_that_ends_a_little_above_gamma_says_so():
    """At C = 1 a little more unfairness is worth its error: no more than tol, and still above."""
    X, y, attributes = made(seed=1, n_rows=250)
    clf = SubgroupParityClassifier(gamma=0.02, C=1, subgroups="marginals", random_state=0)
    told = r"worst subgroup found has unfairness 0\.0209, above gamma; .* Raise C \(now 1\)"
    with pytest.warns(ConvergenceWarning, match=told):
        clf.fit(X, y, sensitive_features=attributes)
    assert 0 < clf.history_["unfairness"][-1] - 0.02 < clf.tol / clf.C


def test_the_last_look_goes_on_until_gamma_is_kept():
    """It ended at .0058 when rounds were used up, though the pool has mixtures that keep gamma."""
    X, y, attributes = made(seed=2, n_rows=250)
    settings = {"gamma": 0.005, "max_iter": 14, "subgroups": "conjunctions"}
    clf, reported, report = fitted_and_audited(X, y, attributes, **settings)
    assert report.exact
    assert report.unfairness == pytest.approx(reported, abs=ROUNDING)
    assert reported <= 0.005 + ROUNDING
    positive = clf.predict_proba(X)[:, 1]
    assert np.abs(positive - y).mean() < 0.33  # the better constant has .45


@pytest.mark.parametrize(
    ("notion", "weights"),
    [
        ("false_positive_rate", [1.0, 0.0]),
        ("equalized_odds", [1.0, 0.0]),
        ("statistical_parity", [1.0, 0.0]),
        ("error_rate", [0.5, 0.5]),
        (FairnessNotion("odd", event=(True, True), a=(0, 3), b=(1, 1)), None),
    ],
    ids=str,
)
def test_a_constant_or_a_coin_treats_all_alike(notion, weights):
    """An error rate is the same for all only if a coin decides; some notions have nothing fair."""
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    group = rng.integers(0, 4, 200)
    cells = distinct_rows(read_columns({"group": np.array(list("abcd"))[group]}))
    notions = as_notions(notion)
    auditor = Auditor(notions, LinearThresholds(), LabelCells.of_rows(cells, y))
    pool = Pool(MemoryRows(Decisions(), auditor.label_cells), auditor)
    for decision in (False, True):
        pool.add_classifier(Play(np.packbits(np.full(200, decision)), None))
    fair = pool.fair_constant()
    if weights is None:
        assert fair is None
        return
    assert fair.tolist() == weights
    probability = np.full(200, fair[1])
    unfair = [one.unfairness(y, probability, group == k) for one in notions for k in range(4)]
    np.testing.assert_allclose(unfair, 0.0, atol=1e-12)


def searched(y, probability, attributes, restarts=100):
    """What the search of an audit finds, without its proof."""
    cells = distinct_rows(read_columns(attributes))
    notions = as_notions("false_positive_rate")
    of_audit = Auditor(notions, LinearThresholds(restarts=restarts), LabelCells.of_rows(cells, y))
    return float(of_audit.worst(probability[None], None).unfairness[0])


@MAY_EXCEED_GAMMA
@pytest.mark.parametrize("solver", ["fictitious_play", "no_regret"])
def test_averages_are_looked_at_by_the_search_of_an_audit(solver):
    """Their history stays what the rounds' search found; what is reported is the last look's."""
    X, y, attributes = made(seed=0, n_rows=1500)
    settings = {"gamma": 0.002, "solver": solver, "max_iter": 12, "tol": None, "random_state": 0}
    clf = SubgroupParityClassifier(LinearRegression(), **settings)
    clf.fit(X, y, sensitive_features=attributes)
    of_rounds = clone(clf).set_params(subgroups=LinearThresholds(restarts=None))
    of_rounds.fit(X, y, sensitive_features=attributes)
    np.testing.assert_array_equal(clf.history_["unfairness"], of_rounds.history_["unfairness"])
    reported = abs(clf.worst_subgroup_.unfairness)
    assert reported > clf.history_["unfairness"][-1] + 1e-4
    assert searched(y, clf.predict_proba(X)[:, 1], attributes) <= reported + ROUNDING
    assert clf.mixture_.training["unfairness"] == pytest.approx(reported, abs=ROUNDING)


@MAY_EXCEED_GAMMA
@pytest.mark.parametrize("seed", [1, 2, 10])
def test_averages_report_what_the_proof_of_an_audit_finds(seed):
    """Searches alone fell short of it by 2 to 3 % for each of these, whatever their starts."""
    X, y, attributes = made(seed, n_rows=300)
    clf = SubgroupParityClassifier(
        LinearRegression(), gamma=0.002, solver="fictitious_play", max_iter=4, tol=None
    )
    clf.fit(X, y, sensitive_features=attributes)
    report = audit(
        y, clf.predict_proba(X)[:, 1], sensitive_features=attributes, decision_probabilities=True,
        min_group_size=1,
    )  # fmt: skip
    assert report.exact
    assert abs(clf.worst_subgroup_.unfairness) == pytest.approx(report.unfairness, abs=ROUNDING)


@MAY_EXCEED_GAMMA
@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play"])
@pytest.mark.parametrize(
    ("subgroups", "search"),
    [("linear", StartedSearch), ("conjunctions", ProductSearch), ("trees", TreeSearch)],
)
def test_with_a_budget_no_search_goes_without_a_clock(monkeypatch, solver, subgroups, search):
    """Conjunctions of three numbers took 10 minutes of a budget of 3 s, in the first round."""
    X, y, attributes = made(seed=1, n_rows=60)
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups=subgroups, solver=solver, max_iter=3, tol=None, budget=1e6
    )
    clf.fit(X, y, sensitive_features=attributes)  # compiles, by searches of its own
    whole = clf.history_["unfairness"]
    monkeypatch.setattr(search, "worst", lambda *_: pytest.fail("no clock"))
    clf.fit(X, y, sensitive_features=attributes)
    assert clf.upper_bound_ >= abs(clf.worst_subgroup_.unfairness) - ROUNDING
    monkeypatch.undo()
    # The same rounds, as time was not up.
    clf.set_params(budget=None).fit(X, y, sensitive_features=attributes)
    np.testing.assert_array_equal(clf.history_["unfairness"][:-1], whole[:-1])


@MAY_EXCEED_GAMMA
@pytest.mark.parametrize("subgroups", ["linear", "conjunctions", "trees"])
def test_after_the_budget_there_is_still_time_for_a_closing_look(monkeypatch, subgroups):
    """What a fit says of itself was what a search had found in no time at all."""
    monkeypatch.setattr(thorough_looks, "LEAST_SECONDS", 1e6)
    X, y, attributes = made(seed=1, n_rows=200)
    _, reported, report = fitted_and_audited(
        X, y, attributes, gamma=0.001, max_iter=20, subgroups=subgroups, budget=1e-9, tol=None
    )
    assert report.exact
    assert report.unfairness == pytest.approx(reported, abs=ROUNDING)


@pytest.mark.parametrize("solver", ["fictitious_play", "no_regret"])
def test_with_the_papers_auditor_an_audit_of_that_class_finds_the_same(solver):
    X, y, attributes = made(seed=2)
    clf, _, report = fitted_and_audited(
        X, y, attributes, gamma=0.005, solver=solver, max_iter=20, estimator=LinearRegression(),
        subgroups=LinearThresholds(search="regression"),
    )  # fmt: skip
    assert report.unfairness == pytest.approx(clf.history_["unfairness"][-1], abs=ROUNDING)
    assert report.unfairness == pytest.approx(abs(clf.worst_subgroup_.unfairness), abs=ROUNDING)


@pytest.mark.slow
def test_the_search_of_an_audit_finds_no_more_on_student():
    """A proof of more seconds than the fit's may: five attributes are more than it can close."""
    X, y, attributes = load_paper("student")
    clf, reported = fitted(
        StandardScaler().fit_transform(X), y, attributes, gamma=0.005, max_iter=40
    )
    probability = clf.predict_proba(StandardScaler().fit_transform(X))[:, 1]
    assert searched(np.asarray(y), probability, attributes) <= reported + ROUNDING


def test_proofs_are_compiled_before_the_clock_starts(monkeypatch):
    events = []
    begin = PoolGame.__init__

    def begun(self, *args, **rules):
        events.append("clock")
        begin(self, *args, **rules)

    monkeypatch.setattr(auditor, "compile_proofs", lambda *of: events.append("compile"))
    monkeypatch.setattr(PoolGame, "__init__", begun)
    X, y, attributes = made(seed=0)
    SubgroupParityClassifier(max_iter=2, tol=None).fit(X, y, sensitive_features=attributes)
    assert events == ["compile", "clock"]


def test_an_unproven_mixture_keeps_clear_of_gamma(monkeypatch):
    """Longer audits found up to 8 % more where the proof had to end; it must not be above gamma."""
    monkeypatch.setattr(thorough_looks, "_AUDIT_WORK", 1e5)
    rng = np.random.default_rng(3)
    A = rng.normal(size=(300, 4))
    X = np.column_stack([A, rng.normal(size=(300, 2))])
    y = (X @ rng.normal(size=6) + X[:, 0] * X[:, 1] + rng.normal(size=300) > 0).astype(int)
    clf, reported = fitted(X, y, A, gamma=0.02, max_iter=40)
    assert clf.upper_bound_ > 0.02
    assert reported <= 0.95 * 0.02 + ROUNDING


def five_numbers():
    """500 people of five numbers, of which the starts of an audit's search find too little."""
    rng = np.random.default_rng(8)
    A = rng.normal(size=(500, 5))
    A[:, 1:4] = A[:, 1:4].round()
    X = np.column_stack([A, rng.normal(size=(500, 3))])
    y = (X @ rng.normal(size=8) + X[:, 0] * X[:, 1] + rng.normal(size=500) > 0).astype(int)
    return X, y, A


def test_of_few_rows_a_last_look_has_more_starts_than_an_audit():
    """One of .0186 was reported of a model that has one of .0202; a proof needs ten seconds."""
    X, y, A = five_numbers()
    clf, reported = fitted(X, y, A, gamma=0.03, estimator=LogisticRegression(C=10.0))
    assert clf.n_iter_ == 1
    assert reported >= searched(y, clf.predict_proba(X)[:, 1], A, restarts=800) - ROUNDING
    assert reported > 0.0195


@pytest.mark.slow
def test_a_longer_search_of_five_numbers_finds_nothing_above_gamma():
    X, y, A = five_numbers()
    clf, reported = fitted(X, y, A, gamma=0.02, estimator=LogisticRegression(C=10.0))
    assert reported <= 0.02
    assert searched(y, clf.predict_proba(X)[:, 1], A, restarts=6400) <= 0.02
