"""Fits within strata of control features: what they report, what is best, and what is refused."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from gerrymend import (
    FairnessNotion,
    LinearThresholds,
    MarginalParityClassifier,
    SubgroupParityClassifier,
    audit,
)
from gerrymend.notions import as_notions
from gerrymend.training.checkpoints import CheckpointError
from tests.auditing.test_strata import BERKELEY
from tests.cut_short import FITS, Stopping, assert_same
from tests.marks import slow
from tests.solvers.test_strata import unfairness_by_loops

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ACCURACY = FairnessNotion("accuracy", event=(True, True), a=(1, 0), b=(-1, 1))
ALL_RATES = ("false_positive_rate", "false_negative_rate", "statistical_parity", "error_rate")


def people(seed=0, n_rows=240):
    """Rows whose decisions would differ by group and job, and groups by job."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "nurse", "smith"], n_rows, p=[0.5, 0.3, 0.2])
    sex = np.where(rng.random(n_rows) < np.where(job == "nurse", 0.7, 0.3), "F", "M")
    age = rng.integers(1, 4, n_rows)
    skill = rng.integers(0, 3, n_rows)
    X = np.column_stack([skill, job == "nurse", job == "cook", sex == "F", age]).astype(float)
    wish = skill + (job == "nurse") - (sex == "F") * (age > 1) + rng.normal(size=n_rows)
    return X, (wish > 1).astype(int), {"sex": sex, "age": age}, {"job": job}


X, Y, A, JOB = people()


def fitted(data=(X, Y, A, JOB), sample_weight=None, estimator=None, **parameters):
    X, y, a, job = data
    parameters = {"subgroups": "conjunctions", "random_state": 0, "gamma": 0.01} | parameters
    clf = SubgroupParityClassifier(estimator or LogisticRegression(), **parameters)
    return clf.fit(X, y, sensitive_features=a, control_features=job, sample_weight=sample_weight)


def audited(clf, data=(X, Y, A, JOB), **settings):
    X, y, a, job = data
    asked = {"notion": clf.notion, "gamma": clf.gamma, "control_features": job}
    asked["subgroups"] = getattr(clf, "subgroups", "marginals")
    p = clf.predict_proba(X)[:, 1]
    return audit(y, p, sensitive_features=a, decision_probabilities=True, **asked | settings)


def reported(clf):
    return 0.0 if clf.worst_subgroup_ is None else abs(clf.worst_subgroup_.unfairness)


CLASSES = ["linear", "conjunctions", "value_sets", "trees", "marginals"]
# Each two of class, notion and weights; `make test-slow` has each three.
AUDITED = [
    (pytest.param if (i + j + weighted) % 2 else slow)(subgroups, notion, weighted)
    for i, subgroups in enumerate(CLASSES)
    for j, notion in enumerate(("statistical_parity", "equalized_odds"))
    for weighted in (False, True)
]


@pytest.mark.parametrize(("subgroups", "notion", "weighted"), AUDITED)
def test_an_audit_within_strata_finds_what_the_fit_reports(subgroups, notion, weighted):
    weight = np.random.default_rng(1).integers(0, 4, len(Y)) / 3 if weighted else None
    clf = fitted(sample_weight=weight, subgroups=subgroups, notion=notion, certify=True)
    report = audited(clf, sample_weight=weight)
    assert report.exact
    assert clf.certified_
    assert report.unfairness == pytest.approx(reported(clf), abs=1e-9)
    assert report.unfairness <= 0.01 + 1e-9
    assert report.worst.within_strata == clf.worst_subgroup_.within_strata
    if notion == "statistical_parity":  # overall is another question, to which this is no answer
        assert audited(clf, sample_weight=weight, control_features=None).unfairness > 0.011


@pytest.mark.parametrize("notion", [*ALL_RATES, ACCURACY, ALL_RATES], ids=str)
def test_each_rate_and_all_at_once(notion):
    clf = fitted(notion=notion, gamma=0.004, C=1000.0)
    report = audited(clf)
    assert report.unfairness == pytest.approx(reported(clf), abs=1e-9)
    assert report.unfairness <= 0.004 + 1e-9
    assert reported(fitted(notion=notion, gamma=0.5)) > 0.006


@pytest.mark.parametrize(
    ("solver", "subgroups", "estimator"),
    [
        ("fictitious_play", LinearThresholds(search="regression"), LinearRegression()),
        ("fictitious_play", "conjunctions", LogisticRegression()),
        ("no_regret", "marginals", LinearRegression()),
        ("multiplicative_weights", "marginals", LogisticRegression()),
    ],
)
def test_every_solver_plays_within_strata(solver, subgroups, estimator):
    """Also the paper's, whose fast game has one mean: within strata the plain one is played."""
    how = {"solver": solver, "subgroups": subgroups, "estimator": estimator, "max_iter": 150}
    clf = fitted(**how, notion="false_positive_rate", tol=None)
    report = audited(clf)
    # The regression is a heuristic, which may find less than its own class holds.
    assert report.unfairness >= reported(clf) - 1e-9
    if not isinstance(subgroups, LinearThresholds):
        assert report.unfairness == pytest.approx(reported(clf), abs=1e-9)
    assert clf.history_["unfairness"][-1] < clf.history_["unfairness"][0] / 2


def best_by_linear_program(y, cell, notions, groups, gamma, stratum, kind=None):
    """Least error of decisions that are a function of `cell`, with every group within gamma.

    Written with probabilities by cell, of which error and unfairness are affine functions. Outcomes
    are looked up by `kind`, which is the label of a row unless it is said.
    """
    kind = y if kind is None else kind
    n_cells = cell.max() + 1
    weight = np.ones(len(y))
    slope = [(1 - 2 * y[cell == c]).sum() / len(y) for c in range(n_cells)]
    rows, limits = [], []
    for notion, group in itertools.product(notions, groups):
        of_zero = unfairness_by_loops(notion, kind, np.zeros(len(y)), group, weight, stratum)
        by_cell = np.array([
            unfairness_by_loops(notion, kind, (cell == c) * 1.0, group, weight, stratum) - of_zero
            for c in range(n_cells)
        ])  # fmt: skip
        rows += [by_cell, -by_cell]
        limits += [gamma - of_zero, gamma + of_zero]
    result = linprog(slope, A_ub=np.array(rows), b_ub=limits, bounds=(0, 1))
    return y.mean() + result.fun


def products(a):
    """All conjunctions of one condition or two: a value of sex, an interval of ages."""
    sexes = [a["sex"] == value for value in ("F", "M")]
    ages = [
        (a["age"] >= low) & (a["age"] <= high)
        for low, high in itertools.combinations_with_replacement((1, 2, 3), 2)
    ]
    return [*sexes, *ages, *(sex & age for sex in sexes for age in ages)]


@pytest.mark.parametrize("seed", [3, slow(4), slow(5), slow(6)])
@pytest.mark.parametrize("notion", ["statistical_parity", "equalized_odds"])
def test_it_is_as_good_as_the_best_that_a_linear_program_finds(notion, seed):
    """A full tree decides each distinct row of X as it likes: the Learner is exact."""
    data = people(seed, 120)
    gamma = 0.01
    _, cell = np.unique(data[0], axis=0, return_inverse=True)
    groups = products(data[2])
    cell = cell.ravel()
    notions = as_notions(notion)
    best = best_by_linear_program(data[1], cell, notions, groups, gamma, data[3]["job"])
    clf = fitted(
        data, estimator=DecisionTreeClassifier(random_state=0), notion=notion, gamma=gamma,
        max_iter=400, C=100.0,
    )  # fmt: skip
    report = audited(clf, data)
    p = clf.predict_proba(data[0])[:, 1]
    by_hand = [
        abs(unfairness_by_loops(notion, data[1], p, group, np.ones(120), data[3]["job"]))
        for notion in notions
        for group in groups
    ]
    assert report.unfairness == pytest.approx(max(by_hand), abs=1e-9)
    assert report.unfairness <= gamma + 1e-9
    error = 1 - clf.score(*data[:2])
    assert error >= best - 1e-9
    assert error <= best + 3e-3
    unconstrained = np.array([data[1][cell == c].mean() for c in cell])
    assert best > np.minimum(unconstrained, 1 - unconstrained).mean() + 1e-3, "gamma binds"


def berkeley():
    """A fifth of the applicants of 1973: department and sex, and whether they were admitted."""
    rows = []
    for department, (men, men_in, women, women_in) in BERKELEY.items():
        for sex, every, admitted in (("M", men, men_in), ("F", women, women_in)):
            rows += [(department, sex, 1)] * round(admitted / 5)
            rows += [(department, sex, 0)] * round((every - admitted) / 5)
    return pd.DataFrame(rows, columns=["department", "sex", "admitted"])


def test_berkeley_within_departments_costs_nothing_and_overall_does():
    """Who decides by department alone treats the sexes alike within each, and not overall."""
    rows = berkeley()
    y = rows["admitted"].to_numpy()
    X = pd.get_dummies(rows[["department", "sex"]]).astype(float)
    asked = {
        "notion": "statistical_parity", "gamma": 0.005, "subgroups": "marginals", "random_state": 0,
    }  # fmt: skip
    department = rows[["department"]]
    clf = SubgroupParityClassifier(DecisionTreeClassifier(random_state=0), **asked)
    free = clf.set_params(gamma=1.0).fit(X, y, sensitive_features=rows[["sex"]]).score(X, y)
    within = clf.set_params(gamma=0.005).fit(
        X, y, sensitive_features=rows[["sex"]], control_features=department
    )
    error_within = 1 - within.score(X, y)
    p = within.predict_proba(X)[:, 1]
    overall = SubgroupParityClassifier(DecisionTreeClassifier(random_state=0), **asked)
    overall = overall.fit(X, y, sensitive_features=rows[["sex"]])
    error_overall = 1 - overall.score(X, y)
    # By hand: A and B admit more than half of their applicants, of either sex.
    is_ab = rows["department"].isin(["A", "B"]).to_numpy()
    by_department = np.mean(y != is_ab)
    assert 1 - free == pytest.approx(by_department)
    assert error_within == pytest.approx(by_department)
    np.testing.assert_array_equal(p, is_ab)
    assert within.mixture_.training["control_features"] == ["department"]
    assert overall.mixture_.training["control_features"] == []
    assert error_overall > by_department + 0.05
    women = (rows["sex"] == "F").to_numpy()
    by_sex = unfairness_by_loops(
        as_notions("statistical_parity")[0], y, overall.predict_proba(X)[:, 1], women,
        np.ones(len(y)), np.zeros(len(y)),
    )  # fmt: skip
    assert abs(by_sex) <= 0.005 + 1e-9


def test_one_stratum_is_none():
    one = {"job": np.full(len(Y), "cook")}
    within = fitted((X, Y, A, one), notion="false_positive_rate")
    overall = fitted((X, Y, A, None), notion="false_positive_rate")
    assert within.score(X, Y) == pytest.approx(overall.score(X, Y), abs=1e-9)
    assert reported(within) == pytest.approx(reported(overall), abs=1e-9)


def test_a_path_and_a_warm_start():
    clf = SubgroupParityClassifier(
        notion="statistical_parity", subgroups="conjunctions", random_state=0, warm_start=True
    )
    path = clf.fit_path(X, Y, gammas=[0.03, 0.005], sensitive_features=A, control_features=JOB)
    for model, gamma in zip(path, [0.03, 0.005], strict=True):
        report = audited(model)
        assert report.gamma == gamma
        assert report.unfairness == pytest.approx(reported(model), abs=1e-9)
        assert report.verdict == "within gamma"
        assert model.mixture_.training["control_features"] == ["job"]
    again = path[1].fit(X, Y, sensitive_features=A, control_features=JOB)
    assert audited(again).unfairness == pytest.approx(reported(again), abs=1e-9)
    assert again.fit(X, Y, sensitive_features=A).mixture_.training["control_features"] == []


def test_marginal_groups_within_strata():
    clf = MarginalParityClassifier(notion="error_rate", gamma=0.005, random_state=0)
    clf.fit(X, Y, sensitive_features=A, control_features=JOB)
    assert audited(clf).unfairness == pytest.approx(reported(clf), abs=1e-9)
    assert reported(clf) <= 0.005 + 1e-9


@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play"])
def test_a_fit_that_was_cut_short_goes_on(tmp_path, solver):
    how = {"solver": solver, "max_iter": 12, "tol": None}
    whole = fitted(**how)
    how |= {"checkpoint": tmp_path / "fit"}
    with Stopping(6, *FITS), pytest.raises(KeyboardInterrupt):
        fitted(**how)
    other = {"job": np.roll(JOB["job"], 1)}
    for data in ((X, Y, A, other), (X, Y, A, None)):
        with pytest.raises(CheckpointError, match="other data: control_features differ"):
            fitted(data, **how)
    assert_same(fitted(**how), whole, X)


def test_control_features_are_routed_as_data():
    frame = pd.DataFrame({"sex": A["sex"], "job": JOB["job"]})
    with config_context(enable_metadata_routing=True):
        fair = SubgroupParityClassifier(
            notion="statistical_parity", subgroups="marginals", max_iter=10
        ).set_fit_request(sensitive_features=True, control_features=True)
        search = GridSearchCV(fair, {"gamma": [0.005, 0.02]}, cv=2)
        search.fit(X, Y, sensitive_features=frame[["sex"]], control_features=frame[["job"]])
    assert search.best_estimator_.mixture_.training["control_features"] == ["job"]


def test_they_may_name_columns_and_decisions_need_none():
    frame = pd.DataFrame(X, columns=["skill", "nurse", "cook", "female", "age"])
    how = {"notion": "statistical_parity", "subgroups": "marginals", "max_iter": 20}
    clf = SubgroupParityClassifier(random_state=0, **how)
    clf.fit(frame, Y, sensitive_features=["female"], control_features=["nurse", "cook"])
    named = clf.predict_proba(frame[:5])
    jobs = {"nurse": X[:, 1], "cook": X[:, 2]}
    clf.fit(frame, Y, sensitive_features={"female": X[:, 3]}, control_features=jobs)
    np.testing.assert_array_equal(clf.predict_proba(frame[:5]), named)
    with pytest.raises(ValueError, match="control_features names 'nurses', which is no column"):
        clf.fit(frame, Y, sensitive_features=["female"], control_features="nurses")


def with_control(control, **how):
    return fitted((X, Y, A, control), **how)


def test_what_can_not_be_is_refused():
    with pytest.raises(
        ValueError, match=r"differ in their number of rows: .*control_features has 3"
    ):
        with_control({"job": ["a", "b", "c"]})
    with pytest.raises(ValueError, match="control_features makes 240 strata of 240 rows"):
        with_control({"wage": np.arange(240.0)})
    with pytest.raises(ValueError, match=r"control_features.* is numeric and has missing values"):
        with_control({"wage": np.where(X[:, 0] == 1, np.nan, 1.0)})
    with pytest.raises(ValueError, match="control_features must be a frame"):
        with_control(7)
    with pytest.raises(TypeError, match="leave_out_empty_strata"):
        fitted(leave_out_empty_strata="yes")


def test_a_stratum_without_a_row_of_the_event_is_refused_unless_left_out():
    """As the labels themselves have: nobody with label 1 is a false positive."""
    labels = {"repaid": np.where(Y == 1, "yes", "no")}
    with pytest.raises(ValueError, match=r"a stratum without a row that the false positive rate is "
                       r"over: repaid = yes.*leave_out_empty_strata=True"):  # fmt: skip
        with_control(labels)
    left = with_control(labels, leave_out_empty_strata=True)
    alone = with_control(None)
    assert left.score(X, Y) == pytest.approx(alone.score(X, Y), abs=1e-9)
    # Of decisions, within those who did repay and those who did not, there is something to compare.
    within = with_control(labels, notion="statistical_parity", gamma=0.02)
    report = audited(within, (X, Y, A, labels))
    assert report.unfairness == pytest.approx(reported(within), abs=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_strata_on_a_device_are_those_in_memory(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    control = (X[:, 1] > 0).astype(float)
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="marginals", gamma=0.01, max_iter=10, random_state=0
    )
    theirs = clone(clf).fit(X, Y, sensitive_features=X[:, 3:], control_features=control)
    x, y, a, c = map(torch.asarray, (X, Y, X[:, 3:], control))
    with config_context(array_api_dispatch=True):
        ours = clone(clf).fit(x, y, sensitive_features=a, control_features=c)
    for name in ("error", "unfairness"):
        np.testing.assert_allclose(ours.history_[name], theirs.history_[name], atol=1e-9)


def test_mixtures_are_derandomised_in_memory(monkeypatch):
    arrays = pytest.importorskip("dask.array")
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    how = {"solver": "fictitious_play", "subgroups": LinearThresholds(search="regression")}
    clf = SubgroupParityClassifier(LinearRegression(), **how)
    parts = [arrays.from_array(X, chunks=100)]
    x = torch.asarray(X)
    with config_context(array_api_dispatch=True):
        mixture = clf.fit(X, Y, sensitive_features=A).mixture_
        for elsewhere in (x, parts[0]):
            with pytest.raises(ValueError, match=r"X is .*chosen by rows in memory; bring it here"):
                mixture.derandomize(
                    elsewhere, Y, sensitive_features=A, control_features=JOB, gamma=0.1
                )
