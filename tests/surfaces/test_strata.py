"""Surfaces within strata: against loops over rows, of trainings, and what they must not tell."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import (
    DiscriminationSurface,
    OutcomeNotion,
    SubgroupParityClassifier,
    discrimination_surface,
)
from gerrymend.notions import as_notions
from tests.solvers.test_strata import unfairness_by_loops
from tests.surfaces.test_surfaces import members_of
from tests.surfaces.test_surfaces import people as two_numbers
from tests.training.test_strata import JOB, A, X, Y, people

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
THETAS = (-1.0, -0.4, 0.3, 1.0)


def members(a, theta):
    """Who is in {θ·z > 0}, with the less common sex as the first attribute, and age."""
    sex = (a["sex"] == "F").astype(float)
    z = [(values - values.mean()) / values.std() for values in (sex, a["age"].astype(float))]
    return theta[0] * z[0] + theta[1] * z[1] > 1e-12


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("notion", ["statistical_parity", "false_negative_rate", "error_rate"])
def test_every_group_is_what_loops_over_rows_make_of_it(notion, seed):
    _, y, a, job = people(seed, 120)
    p = np.random.default_rng(seed).choice([0.0, 0.25, 1.0], 120)
    (rate,) = as_notions(notion)
    surface = discrimination_surface(
        y, p, decision_probabilities=True, thetas=THETAS, notion=notion, sensitive_features=a,
        control_features=job, min_group_size=1,
    )  # fmt: skip
    (one,) = surface.rounds
    counts = np.array(rate.event)[y]
    outcome = np.array(rate.a)[y] + np.array(rate.b)[y] * p
    expected = np.zeros(120)
    for value in set(job["job"]):
        alike = (job["job"] == value) & counts
        expected[alike] = outcome[alike].mean()
    for i, j in np.ndindex(4, 4):
        inside = members(a, (THETAS[i], THETAS[j]))
        by_hand = unfairness_by_loops(rate, y, p, inside, np.ones(120), job["job"])
        assert one.unfairness[i, j] == pytest.approx(by_hand, abs=1e-12)
        assert surface.rate()[i, j] == pytest.approx(outcome[inside & counts].mean(), abs=1e-12)
        of_strata = expected[inside & counts].mean()
        assert one.expected_rate[i, j] == pytest.approx(of_strata, abs=1e-12)
    assert one.overall_rate == pytest.approx(outcome[counts].mean(), abs=1e-12)


def shown(**changes):
    asked = {"sensitive_features": A, "control_features": JOB, "notion": "statistical_parity"}
    return discrimination_surface(Y, (X[:, 0] > 0).astype(int), **asked | changes)


def test_it_is_told_within_what():
    surface = shown()
    assert surface.control_features == ("job",)
    worst = surface.worst()
    assert worst["rate"] - worst["expected_rate"] == pytest.approx(
        worst["unfairness"] / worst["share"], abs=1e-12
    )
    for text in (str(surface), surface.to_markdown(), surface.to_html(), surface._repr_html_()):
        assert "within strata of job" in text
        assert "in the same strata" in text
        assert "overall " not in text.partition("<script")[0]
    assert "in the same strata" not in str(shown(control_features=None))


def test_a_query_and_several_models_are_compared_within_strata_too():
    decided = (X[:, 0] > 0).astype(int)
    frame = pl.DataFrame({**A, **JOB, "y": Y, "decided": decided}).lazy()
    of_frame = discrimination_surface(
        "y", {"one": "decided"}, data=frame, sensitive_features=["sex", "age"],
        control_features=["job"], notion="statistical_parity",
    )  # fmt: skip
    np.testing.assert_allclose(of_frame.rounds[0].unfairness, shown().rounds[0].unfairness)
    assert of_frame.rounds[0].name == "one"


def test_no_sum_of_groups_and_strata_is_of_a_few_rows():
    """Rates of strata follow from many groups: their parts in groups are as large as groups."""
    for seed in range(4):
        age, income, y, decided = two_numbers(seed)
        job = np.random.default_rng(seed).choice(["cook", "nurse"], 400, p=[0.7, 0.3])
        surface = discrimination_surface(
            y, decided, sensitive_features={"age": age, "income": income},
            control_features={"job": job}, notion="error_rate", min_group_size=5,
        )  # fmt: skip
        words = {group for row in surface.subgroups for group in row if group is not None}
        kept = [members_of(group, age, income) for group in words]
        assert len(kept) > 3
        parts = np.unique(np.array([job == "cook", *kept]), axis=1, return_counts=True)[1]
        assert parts.min() >= 5


@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play"])
def test_a_training_within_strata_is_watched(solver):
    clf = SubgroupParityClassifier(
        LinearRegression(), solver=solver, notion="statistical_parity", subgroups="marginals",
        max_iter=12, tol=None, gamma=0.0, random_state=0,
    )  # fmt: skip
    asked = {"sensitive_features": A, "control_features": JOB}
    surface = DiscriminationSurface.from_training(clf, X, Y, rounds=[1, 4], **asked)
    assert [one.name for one in surface.rounds] == [1, 4, 12]
    assert surface.control_features == ("job",)
    fitted = clf.fit(X, Y, **asked)
    p = fitted.predict_proba(X)[:, 1]
    (rate,) = as_notions("statistical_parity")
    for i, j in np.argwhere(~np.isnan(surface.size)):
        inside = members(A, surface.thetas[[i, j]])
        if inside.sum() == surface.size[i, j]:
            by_hand = unfairness_by_loops(rate, Y, p, inside, np.ones(len(Y)), JOB["job"])
            assert surface.rounds[-1].unfairness[i, j] == pytest.approx(by_hand, abs=1e-9)
    first = discrimination_surface(
        Y, LinearRegression().fit(X, Y).predict(X) > 0.5, notion="statistical_parity", **asked
    )
    if solver == "fictitious_play":  # whose first play is unconstrained
        np.testing.assert_allclose(surface.rounds[0].unfairness, first.rounds[0].unfairness)


def test_a_training_for_a_mean_is_watched_by_its_rates():
    """Its label-cells are finer than label and protected row: each brings about something else."""
    amount = np.random.default_rng(0).integers(1, 50, len(Y)).astype(float)
    pay = OutcomeNotion("pay", lambda y, p: amount * p, unit="EUR")
    clf = SubgroupParityClassifier(
        LinearRegression(), solver="fictitious_play", notion=pay, subgroups="marginals",
        max_iter=5, tol=None, gamma=0.0, random_state=0,
    )  # fmt: skip
    surface = DiscriminationSurface.from_training(
        clf, X, Y, sensitive_features=A, notion="statistical_parity", rounds=[1]
    )
    first = discrimination_surface(
        Y, LinearRegression().fit(X, Y).predict(X) > 0.5, sensitive_features=A,
        notion="statistical_parity",
    )  # fmt: skip
    np.testing.assert_allclose(surface.rounds[0].unfairness, first.rounds[0].unfairness)
    with pytest.raises(TypeError, match="a mean of numbers, and a rate of decisions is needed"):
        DiscriminationSurface.from_training(clf, X, Y, sensitive_features=A)


LABEL = {"repaid": np.where(Y == 1, "yes", "no")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control_features": {"job": ["a", "b"]}}, "control_features has 2 rows, and y_pred has"),
        ({"control_features": {"wage": np.arange(240.0)}}, "makes 240 strata of 240 rows"),
        (
            {"control_features": LABEL, "notion": "false_positive_rate"},
            "a stratum without a row that the false positive rate is over: repaid = yes",
        ),
        (
            {"control_features": {"job": np.where(np.arange(240) < 9, "cook", "smith")}},
            r"a stratum with 9 rows that the .* is over: job = cook\. .* lower min_group_size",
        ),
        ({"leave_out_empty_strata": "yes"}, "leave_out_empty_strata"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused(changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        shown(**changes)


def test_an_empty_stratum_is_left_out_only_when_asked():
    alone = shown(control_features=None, notion="false_positive_rate")
    left = shown(control_features=LABEL, notion="false_positive_rate", leave_out_empty_strata=True)
    np.testing.assert_allclose(left.rounds[0].unfairness, alone.rounds[0].unfairness, atol=1e-15)
    assert left.n_rows == alone.n_rows
