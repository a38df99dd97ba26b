"""The rules of scikit-learn for estimators, of a classifier and a regressor."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from gerrymend import SubgroupCalibrator


@parametrize_with_checks(
    [
        SubgroupCalibrator(cv=3, n_draws=19),
        SubgroupCalibrator(LogisticRegression(), cv=3, n_draws=19, notion="multiaccuracy"),
        SubgroupCalibrator(Ridge(), cv=3, n_draws=19, subgroups="marginals"),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
