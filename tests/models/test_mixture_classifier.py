"""The deployable part: decisions, what scikit-learn expects, and deterministic replacements."""

import copy
import pickle
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from gerrymend import (
    ExplicitGroups,
    MarginalParityClassifier,
    MixtureClassifier,
    SubgroupParityClassifier,
    audit,
)
from gerrymend.models import derandomizing as derandomizing_module
from gerrymend.models.derandomization_cost import DerandomizationCost, Figures
from gerrymend.models.mixture import ConstantPredictor, LinearPredictor, Mixture, ThresholdPredictor
from tests.conftest import made_toy
from tests.training.test_strata import people

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def mixture_of(coef, intercept, weights=None, **options):
    coef = np.asarray(coef, dtype=float)
    predictors = [LinearPredictor(c, float(i)) for c, i in zip(coef, intercept, strict=True)]
    weights = np.ones(len(coef)) / len(coef) if weights is None else np.asarray(weights)
    return MixtureClassifier(
        Mixture(predictors, weights), classes=[0, 1], n_features=coef.shape[1], **options
    )


@pytest.fixture(scope="module")
def fitted_model():
    X, y, protected = made_toy()
    clf = SubgroupParityClassifier(LinearRegression(), gamma=0.005, max_iter=60, random_state=0)
    return clf.fit(X, y, sensitive_features=protected)


@pytest.fixture
def model(fitted_model):
    """A copy: a test may do with it as it likes."""
    return copy.deepcopy(fitted_model)


def test_labels_that_are_no_plain_data_are_refused(toy, model):
    X, y, _ = toy
    with pytest.raises(ValueError, match="y has labels of type"):
        model.mixture_.score(X, np.array([(label,) for label in y], dtype=[("y", int)]))


@pytest.mark.parametrize(
    "missing", [None, float("nan"), pd.NA, pd.NaT, Decimal("sNaN"), np.ma.masked], ids=repr
)
def test_a_missing_label_is_refused_in_a_score(toy, model, missing):
    """It counted as a wrong decision in silence; NA of pandas raised an error of its own."""
    X, y, _ = toy
    with pytest.raises(ValueError, match="y has 1 missing value; fill it in"):
        model.score(X, [missing, *y.tolist()[1:]])


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, 1.7e308])
def test_a_score_is_that_of_weights_of_any_size(toy, model, size):
    """The sum of huge ones was infinite, and the score no number."""
    X, y, _ = toy
    assert model.score(X, y, np.full(len(y), size)) == pytest.approx(model.score(X, y), abs=1e-12)


def test_a_fitted_classifier_decides_by_its_mixture(toy, model):
    X, y, _ = toy
    mixture = model.mixture_
    assert isinstance(mixture, MixtureClassifier)
    np.testing.assert_array_equal(model.predict(X), mixture.predict(X))
    np.testing.assert_array_equal(model.predict(X, 3), mixture.predict(X, random_state=3))
    np.testing.assert_array_equal(model.predict_proba(X), mixture.predict_proba(X))
    assert model.score(X, y) == mixture.score(X, y)
    assert model.predictors_ is mixture.predictors_
    assert model.weights_ is mixture.weights_
    assert mixture.training["gamma"] == 0.005
    assert mixture.training["error"] == pytest.approx(1 - model.score(X, y), abs=1e-12)
    last = model.history_["unfairness"][-1]
    assert mixture.training["unfairness"] == pytest.approx(last, abs=1e-9)
    assert mixture.training["upper_bound"] == model.upper_bound_


def test_probabilities_are_the_weights_of_those_who_decide_one():
    model = mixture_of([[1.0], [1.0], [-1.0]], [0.0, -2.0, 1.0], weights=[0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        model.predict_proba([[-1.0], [0.5], [1.5], [3.0]])[:, 1], [0.2, 0.7, 0.5, 0.8]
    )


def test_scikit_learn_takes_it_for_a_fitted_classifier(toy, model):
    X, y, _ = toy
    mixture = model.mixture_
    assert is_classifier(mixture)
    check_is_fitted(mixture)
    assert clone(mixture) is mixture
    assert mixture.get_params() == {}
    assert mixture.set_params() is mixture
    assert repr(mixture).startswith("MixtureClassifier(")
    assert get_scorer("accuracy")(mixture, X, y) == np.mean(mixture.predict(X) == y)
    assert 0.5 < get_scorer("roc_auc")(mixture, X, y) < 1
    frozen = FrozenEstimator(mixture).fit(X, y)
    np.testing.assert_array_equal(frozen.predict(X), mixture.predict(X))
    assert permutation_importance(mixture, X, y, n_repeats=2).importances.shape == (4, 2)
    scaler = StandardScaler().fit(np.zeros((2, 4)))
    deployed = make_pipeline(scaler, mixture)
    np.testing.assert_array_equal(deployed.predict(X), mixture.predict(X))
    with pytest.raises(TypeError, match=r"fitted already.*fit a SubgroupParityClassifier"):
        mixture.fit(X, y)
    with pytest.raises(ValueError, match="has no parameters; got gamma"):
        mixture.set_params(gamma=0.1)


def test_it_outlives_the_classifier_that_made_it(toy, model):
    X, _, _ = toy
    again = pickle.loads(pickle.dumps(model.mixture_))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_frames_and_features_are_checked_as_in_the_fit(toy):
    X, y, protected = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    for estimator in (LogisticRegression(), DecisionTreeClassifier(max_depth=2)):
        clf = SubgroupParityClassifier(estimator, max_iter=3, random_state=0)
        mixture = clf.fit(frame, y, sensitive_features=protected).mixture_
        assert mixture.feature_names_in_.tolist() == list("abcd")
        np.testing.assert_array_equal(
            mixture.predict(frame), mixture.predict(pl.from_pandas(frame))
        )
        with pytest.raises(ValueError, match="must be in the same order"):
            mixture.predict(frame[list("bacd")])
        with pytest.raises(ValueError, match="infinit"):
            mixture.predict(frame.replace(frame.iloc[0, 0], np.inf))


BAD_MIXTURES = [
    ({"mixture": 3}, "mixture must be a Mixture; got int"),
    ({"mixture": Mixture([], np.ones(0))}, "has 0 predictors"),
    ({"mixture": Mixture([ConstantPredictor(True)], np.array([0.4]))}, r"sum to 0\.4"),
    ({"mixture": Mixture([ConstantPredictor(True)] * 2, np.array([-1.0, 2.0]))}, "range from -1"),
    ({"mixture": Mixture.of_linear(np.ones((2, 3)), np.arange(2.0))}, "n_features=2"),
    ({"classes": [1]}, "classes has only one class"),
    ({"classes": [0, 1, 2]}, "classes has 3 classes"),
    ({"classes": [0, 1, 1]}, "classes must be two labels"),
    ({"feature_names": ["a"]}, "feature_names has 1"),
    ({"seed": -1}, "seed must be a number of at least 0"),
]


@pytest.mark.parametrize(("options", "message"), BAD_MIXTURES)
def test_a_mixture_that_can_not_be_is_refused(options, message):
    good = {
        "mixture": Mixture([ConstantPredictor(True)], np.ones(1)),
        "classes": [0, 1],
        "n_features": 2,
    }
    with pytest.raises((TypeError, ValueError), match=message):
        MixtureClassifier(**good | options)


# Derandomising, against all candidates one by one.


def brute_force(model, X, y, weight, groups, gamma, how, stratum=None):
    """Every predictor and every cut, the worst group by loops over named groups: least error."""
    stratum = np.zeros(len(y)) if stratum is None else stratum
    y, weight = np.asarray(y), np.asarray(weight, dtype=float)
    p = sum(
        w * (X @ one.coef + one.intercept > 0)
        for w, one in zip(model.weights_, model.predictors_, strict=True)
    )
    decisions = []
    if how != "threshold":
        decisions += [X @ one.coef + one.intercept > 0 for one in model.predictors_]
    if how != "predictor":
        decisions += [p >= cut for cut in np.unique(np.round(p[weight > 0], 9))[1:] - 1e-8]

    def unfairness(d):
        negative = (y == 0) & (weight > 0)
        rate = np.zeros(len(y))
        for s in set(stratum[negative]):
            alike = negative & (stratum == s)
            rate[alike] = np.average(d[alike], weights=weight[alike])
        gaps = [
            abs((weight * (d - rate))[negative & members].sum()) / weight.sum()
            for members in groups
        ]
        return max(gaps)

    telling = [d for d in decisions if 0 < d[weight > 0].sum() < (weight > 0).sum()]
    results = [(np.average(d != y, weights=weight), unfairness(d)) for d in (telling or decisions)]
    within = [error for error, worst in results if worst <= gamma + 1e-12]
    return (min(within) if within else None), min(worst for _, worst in results)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(8, 40)), draw(st.integers(1, 5))
    X = rng.integers(-3, 4, (n, 2)).astype(float)
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    weight = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    weight[:2] = 1.0
    weights = rng.dirichlet(np.ones(k)) if draw(st.booleans()) else np.ones(k) / k
    # Halves are no score of whole coordinates: no row lies on a boundary.
    model = mixture_of(rng.integers(-2, 3, (k, 2)), rng.integers(-3, 3, k) + 0.5, weights)
    protected = {"a": rng.choice(["u", "v", "w"], n), "b": rng.choice(["x", "z"], n)}
    gamma = draw(st.sampled_from([0.0, 0.01, 0.03, 0.1]))
    return model, X, y, weight, protected, gamma


def best_or_refused(model, X, y, question, least, fairest):
    """The choice, of the least error within gamma; None where there is none, and it was refused."""
    if least is None:
        with pytest.raises(ValueError, match="smallest unfairness reached") as refusal:
            model.derandomize(X, y, **question)
        reached = float(re.search(r"reached is (\d\.\d+)", str(refusal.value))[1])
        assert reached == pytest.approx(fairest, abs=1e-4)
        return None
    fixed = model.derandomize(X, y, **question)
    assert fixed.cost.deterministic.error == pytest.approx(least, abs=1e-9)
    assert fixed.cost.deterministic.unfairness <= question["gamma"] + 1e-9
    return fixed


@pytest.mark.filterwarnings("ignore:The explicit group")
@given(problems(), st.sampled_from(["best", "predictor", "threshold"]))
def test_the_choice_is_the_best_of_all_candidates(problem, how):
    model, X, y, weight, protected, gamma = problem
    p = model.predict_proba(X)[:, 1]
    if how == "threshold" and np.ptp(p[weight > 0]) < 1e-9:
        return
    named = {f"{a}{b}": {"a": a, "b": b} for a in "uvw" for b in "xz"}
    members = [
        (protected["a"] == one["a"]) & (protected["b"] == one["b"]) for one in named.values()
    ]
    least, fairest = brute_force(model, X, y, weight, members, gamma, how)
    question = {
        "sensitive_features": protected, "gamma": gamma, "subgroups": ExplicitGroups(named),
        "sample_weight": weight, "how": how,
    }  # fmt: skip
    fixed = best_or_refused(model, X, y, question, least, fairest)
    if fixed is None:
        return
    assert fixed.is_deterministic
    assert fixed.score(X, y, sample_weight=weight) == pytest.approx(1 - least, abs=1e-9)
    np.testing.assert_array_equal(fixed.predict(X), fixed.predict(X, random_state=7))
    wrong = np.where(y == 1, 1 - p, p)
    assert fixed.cost.mixture.error == pytest.approx(np.average(wrong, weights=weight), abs=1e-9)


@pytest.mark.filterwarnings("ignore:The explicit group")
@given(problems(), st.sampled_from(["best", "predictor", "threshold"]))
def test_within_strata_the_choice_is_the_best_of_all_candidates(problem, how):
    model, X, y, weight, protected, gamma = problem
    if len(y) < 20:
        return
    job = np.where(X[:, 0] > 0, "cook", "nurse")
    p = model.predict_proba(X)[:, 1]
    if how == "threshold" and np.ptp(p[weight > 0]) < 1e-9:
        return
    members = [protected["a"] == value for value in "uvw"]
    named = {value: {"a": value} for value in "uvw"}
    least, fairest = brute_force(model, X, y, weight, members, gamma, how, job)
    question = {
        "sensitive_features": protected, "gamma": gamma, "subgroups": ExplicitGroups(named),
        "sample_weight": weight, "how": how, "control_features": {"job": job},
    }  # fmt: skip
    if len({job[i] for i in range(len(y)) if y[i] == 0 and weight[i] > 0}) < len(set(job)):
        with pytest.raises(ValueError, match=r"a stratum without a row .*: job = (cook|nurse)\."):
            model.derandomize(X, y, **question)
        question["leave_out_empty_strata"] = True
    fixed = best_or_refused(model, X, y, question, least, fairest)
    if fixed is None:
        return
    assert fixed.cost.control_features == ("job",)
    assert ", within strata of job:" in " ".join(str(fixed.cost).split())
    assert DerandomizationCost.from_dict(fixed.cost.to_dict()) == fixed.cost


def test_a_mixture_that_was_trained_within_strata_is_not_chosen_from_in_silence():
    X, y, a, job = people()
    names = ["skill", "nurse", "cook", "female", "age"]
    frame = pd.DataFrame(X, columns=names).assign(job=job["job"])
    clf = SubgroupParityClassifier(
        LinearRegression(), notion="statistical_parity", subgroups="marginals", max_iter=20,
        random_state=0,
    )  # fmt: skip
    clf.fit(frame[names], y, sensitive_features=a, control_features=job)
    question = {"notion": "statistical_parity", "subgroups": "marginals", "gamma": 0.2}
    with pytest.warns(UserWarning, match="within strata of job, and control_features is not") as w:
        clf.mixture_.derandomize(frame[names], y, sensitive_features=a, **question)
    assert w[0].filename == __file__
    fixed = clf.mixture_.derandomize(
        frame[names], y, sensitive_features=a, control_features=job, **question
    )
    report = audit(
        y, fixed.predict(frame[names]), sensitive_features=a, control_features=job, **question
    )
    assert fixed.cost.deterministic.unfairness == pytest.approx(report.unfairness, abs=1e-12)
    listed = job["job"].tolist()
    again = clf.mixture_.derandomize(
        frame[names], y, sensitive_features=a, control_features={"job": listed}, **question
    )
    assert again.cost == fixed.cost


@pytest.mark.parametrize("how", ["best", "predictor", "threshold"])
def test_it_is_audited_again_by_the_strong_auditor(toy, model, how):
    X, y, protected = toy
    fixed = model.mixture_.derandomize(
        X, y, sensitive_features=protected, gamma=0.03, how=how, budget=5
    )
    decided = fixed.predict_proba(X)[:, 1]
    assert set(decided) == {0.0, 1.0}
    np.testing.assert_array_equal(fixed.predict(X), decided)
    for p, figures in (
        (decided, fixed.cost.deterministic),
        (model.predict_proba(X)[:, 1], fixed.cost.mixture),
    ):
        report = audit(y, p, sensitive_features=protected, gamma=0.03, decision_probabilities=True)
        assert figures.unfairness == pytest.approx(report.unfairness, abs=1e-12)
        assert figures.upper_bound >= report.unfairness - 1e-12
        assert figures.error == pytest.approx(np.mean(np.abs(p - y)), abs=1e-12)
    assert fixed.cost.deterministic.unfairness <= 0.03
    assert fixed.training == model.mixture_.training
    assert isinstance(fixed.predictors_[0], ThresholdPredictor) == ("where" in fixed.cost.what)
    text = str(fixed.cost)
    assert f"{fixed.cost.deterministic.error:.4f}" in text
    assert f"{fixed.cost.mixture.unfairness:.4f}" in text


def test_the_best_is_the_better_of_both_ways(toy, model):
    X, y, protected = toy
    errors = {
        how: model.mixture_.derandomize(
            X, y, sensitive_features=protected, gamma=0.03, how=how, budget=2
        ).cost.deterministic.error
        for how in ("best", "predictor", "threshold")
    }
    assert errors["best"] == min(errors.values())


def test_columns_by_name_labels_of_any_kind_and_several_notions(toy):
    X, y, protected = toy
    frame = protected[["age"]].assign(
        score=X[:, 0], other=X[:, 1], group=protected["race"] == "blue"
    )
    labels = np.array(["no", "yes"])[y]
    clf = MarginalParityClassifier(LinearRegression(), gamma=0.005, random_state=0)
    clf.fit(frame, labels, sensitive_features=["age", "group"])
    fixed = clf.mixture_.derandomize(
        frame, labels, sensitive_features=["age", "group"], gamma=0.05, notion="equalized_odds",
        subgroups="marginals",
    )  # fmt: skip
    assert set(fixed.predict(frame)) == {"no", "yes"}
    assert fixed.cost.notions == ("false positive rate", "false negative rate")
    assert "false positive rate and the false negative rate" in str(fixed.cost)


def test_an_audit_that_finds_more_than_the_search_has_the_last_word(toy, model, monkeypatch):
    X, y, protected = toy
    question = {"sensitive_features": protected, "gamma": 0.03, "budget": 2}
    first = model.mixture_.derandomize(X, y, **question)
    audited, seen = derandomizing_module.audit, []

    def stricter(**options):
        report = audited(**options)
        seen.append(report)
        if len(seen) == 2:  # that of the first candidate which the search lets pass
            object.__setattr__(report, "unfairness", 0.031)
        return report

    monkeypatch.setattr(derandomizing_module, "audit", stricter)
    second = model.mixture_.derandomize(X, y, **question)
    assert len(seen) == 3
    assert second.cost.deterministic.error >= first.cost.deterministic.error
    assert second.cost.what != first.cost.what


def test_a_constant_is_taken_only_where_there_is_nothing_else():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 12).astype(int)
    group = {"high": X[:, 0] > 9}
    mixed = mixture_of([[1.0], [0.0]], [-10.5, -1.0])
    with pytest.raises(ValueError, match=r"within gamma=0\. The smallest unfairness reached"):
        mixed.derandomize(X, y, sensitive_features=group, gamma=0.0)
    constants = mixture_of([[0.0], [0.0]], [1.0, -1.0])
    fixed = constants.derandomize(X, y, sensitive_features=group, gamma=0.0)
    assert set(fixed.predict(X)) == {0}
    with pytest.raises(ValueError, match=r"same probability for every row of X, 0\.5"):
        constants.derandomize(X, y, sensitive_features=group, gamma=0.0, how="threshold")


def test_the_gamma_that_the_refusal_names_is_enough(toy, model):
    X, y, protected = toy
    question = {"sensitive_features": protected, "how": "predictor", "budget": 2}
    with pytest.raises(ValueError, match="Allow gamma=") as refusal:
        model.mixture_.derandomize(X, y, gamma=0.0, **question)
    gamma = float(re.search(r"gamma=(0\.\d{4});", str(refusal.value))[1])
    assert model.mixture_.derandomize(X, y, gamma=gamma, **question).is_deterministic


def test_no_row_lies_on_the_cut(toy, model):
    X, y, protected = toy
    fixed = model.mixture_.derandomize(
        X, y, sensitive_features=protected, gamma=0.05, how="threshold", budget=2
    )
    (predictor,) = fixed.predictors_
    p = model.predict_proba(X)[:, 1]
    assert np.abs(p - predictor.cut).min() > 1e-10
    np.testing.assert_array_equal(fixed.predict(X), (p >= predictor.cut).astype(int))


def test_the_cost_says_whether_it_is_proven_and_what_it_saves():
    cost = DerandomizationCost(
        "predictor 1 of 2", 0.01, ("error rate",), "all", 10, Figures(0.3, 0.0, 0.0),
        Figures(0.25, 0.004, 0.02),
    )  # fmt: skip
    assert not cost.proven
    assert cost.error == pytest.approx(-0.05)
    assert "It saves 0.0500 of error." in str(cost)
    assert "proven is 0.0200. A larger budget" in str(cost)
    assert DerandomizationCost.from_dict(cost.to_dict()) == cost


BAD = [
    ({"how": "bets"}, "how='bets' is unknown .did you mean 'best'"),
    ({"gamma": -1}, "gamma must be a number of at least 0; got -1"),
    ({"budget": 0}, "budget must be a number above 0"),
    ({"notion": "tpr"}, "notion='tpr' is unknown"),
    ({"subgroups": "linar"}, "did you mean 'linear'"),
    ({"y": [0, 2] * 10}, "no label of the classifier: 2 .its labels are 0, 1.*Pass labels"),
    ({"y": [0, 1]}, "y has 2, X has 20"),
    ({"y": [0] * 20}, "only one class"),
    ({"sensitive_features": ["race"]}, "X has no column names"),
    ({"sensitive_features": {"race": [1, 2]}}, "sensitive_features has 2"),
    ({"X": np.zeros((20, 3))}, "3 features"),
    ({"control_features": {"job": [1, 2]}}, "control_features has 2"),
    ({"control_features": ["job"]}, "control_features=.'job'. names columns, and X has no column"),
    ({"control_features": list(range(20))}, "control_features makes 20 strata of 20 rows"),
    ({"leave_out_empty_strata": 1}, "leave_out_empty_strata"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_questions_are_named_with_a_remedy(options, message):
    model = mixture_of([[1.0], [1.0]], [-5.5, -10.5])
    good = {
        "X": np.arange(20.0)[:, None], "y": [0, 1] * 10, "gamma": 0.1,
        "sensitive_features": {"race": ["u", "v", "v", "v"] * 5},
    }  # fmt: skip
    with pytest.raises((TypeError, ValueError), match=message):
        model.derandomize(**good | options)


@pytest.mark.parametrize(
    "strange",
    [{"training": 3}, {"training": "linear"}, {"training": [1]}, {"feature_names": 1.5},
     {"feature_names": "a"}, {"feature_names": [1]}, {"feature_names": np.array("a")}],
)  # fmt: skip
def test_parts_that_are_none_are_refused_by_name(strange):
    mixture = Mixture.of_linear(np.array([[1.0]]), np.array([0.0]))
    (name,) = strange
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be"):
        MixtureClassifier(mixture, classes=[0, 1], n_features=1, **strange)
