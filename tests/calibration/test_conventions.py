"""The rules of scikit-learn for estimators, of a classifier and a regressor."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from gerrymend import SubgroupCalibrator

# Rows that weigh twice are in one fold, and rows that are there twice may be in two.
FOLDS = "weights and repetitions of rows differ in the folds that they are in"


def expected_to_fail(estimator):
    if estimator.estimator is not None:  # of which that check's data gets no patch
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": FOLDS}


@parametrize_with_checks(
    [
        SubgroupCalibrator(cv=3, n_draws=19),
        SubgroupCalibrator(LogisticRegression(), cv=3, n_draws=19, notion="multiaccuracy"),
        SubgroupCalibrator(Ridge(), cv=3, n_draws=19, subgroups="marginals"),
    ],
    expected_failed_checks=expected_to_fail,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
