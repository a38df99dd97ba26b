"""What a fit alone can be given: columns, scores and seeds that it can't compute with."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from gerrymend import MarginalParityClassifier, NoRegret, SubgroupParityClassifier, audit
from gerrymend.subgroups import LinearThresholds
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.inputs.test_ways_in import BIT, DECIDED, LABEL, N, X, small


@pytest.mark.parametrize("factor", [1e-320, 1e-290])
def test_columns_whose_coefficients_leave_float64_are_refused(factor):
    """Of LinearRegression, and of the regression that searches."""
    with pytest.raises(ValueError, match=r"^X has a column .* smaller units"):
        small(SubgroupParityClassifier).fit(X * factor, LABEL, sensitive_features={"a": BIT})
    search = LinearThresholds(search="regression")
    with pytest.raises(ValueError, match=r"^sensitive_features has a column .* smaller units"):
        audit(LABEL, DECIDED, sensitive_features=X * factor, subgroups=search)


@MAY_EXCEED_GAMMA
def test_columns_of_small_units_are_as_good_as_others():
    """Also with weights of the smallest sum that is not scaled: turn is at its largest."""
    weight = np.full(N, 2.0**-256)

    def decided(factor):
        solver = "fictitious_play"
        clf = SubgroupParityClassifier(LinearRegression(), solver=solver, max_iter=3, tol=None)
        clf.fit(X * factor, LABEL, sensitive_features={"a": BIT}, sample_weight=weight)
        return clf.predict_proba(X * factor)

    np.testing.assert_array_equal(decided(2.0**-820), decided(1.0))


@pytest.mark.parametrize("kind", [SubgroupParityClassifier, MarginalParityClassifier])
@pytest.mark.parametrize("labels", [
    np.where(BIT, np.inf, LABEL), [float("-inf"), *LABEL.tolist()[1:]],
    np.where(BIT, np.inf, 0.0), np.full(N, np.inf),
    np.where(BIT, np.longdouble(np.inf), LABEL),
])  # fmt: skip
def test_infinite_labels_are_told(kind, labels):
    with pytest.raises(ValueError, match="y has infinite labels"):
        small(kind).fit(X, labels, sensitive_features={"a": BIT})
    with pytest.raises(ValueError, match="y_true has infinite labels"):
        audit(labels, DECIDED, sensitive_features={"a": BIT})


@pytest.mark.parametrize("solver", ["fictitious_play", "no_regret", "exponentiated_gradient"])
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_scores_that_are_no_numbers_decide_nothing(solver):
    clf = SubgroupParityClassifier(GaussianNB(), solver=solver, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match="estimator: GaussianNB gives NaN as the score of 40 of"):
        clf.fit(X * 0, LABEL, sensitive_features={"a": BIT})


@pytest.mark.parametrize("seed", ["x", -1, 2**40, 1.5])
def test_the_seed_of_a_solver_is_refused_by_name(seed):
    clf = SubgroupParityClassifier(LinearRegression(), solver=NoRegret(random_state=seed))
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        clf.fit(X, LABEL, sensitive_features={"a": BIT})
