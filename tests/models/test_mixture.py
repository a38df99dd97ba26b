import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

from gerrymend.models.mixture import (
    ConstantPredictor,
    LabelPredictor,
    LinearPredictor,
    LinearPredictors,
    Mixture,
    row_draws,
)


def test_identical_linear_predictors_are_merged_and_weighted():
    coef = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    mixture = Mixture.of_linear(coef, np.zeros(3))
    assert len(mixture.predictors) == 2
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(mixture.positive_probability(X), [2 / 3, 1 / 3, 1.0])


def test_identical_estimators_are_merged():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = (X[:, 0] > 0).astype(int)
    trees = [LabelPredictor(DecisionTreeClassifier(random_state=0).fit(X, y)) for _ in range(3)]
    other = LabelPredictor(DecisionTreeClassifier(random_state=0).fit(X, 1 - y))
    mixture = Mixture.of_predictors([*trees, other])
    assert sorted(mixture.weights) == [0.25, 0.75]
    np.testing.assert_allclose(mixture.positive_probability(X), np.where(y, 0.75, 0.25))


def test_linear_and_constant_predictors_become_one_matrix():
    predictors = [LinearPredictor(np.array([1.0]), 0.0), ConstantPredictor(True),
                  ConstantPredictor(False), ConstantPredictor(True)]  # fmt: skip
    mixture = Mixture.of_predictors(predictors)
    assert isinstance(mixture.predictors, LinearPredictors)
    np.testing.assert_allclose(mixture.positive_probability(np.array([[2.0], [-2.0]])), [0.75, 0.5])


def test_blocks_add_up_to_the_loop_over_predictors():
    rng = np.random.default_rng(1)
    coef, intercept = rng.standard_normal((700, 6)), rng.standard_normal(700)
    coef[100:400], intercept[100:400] = coef[0], intercept[0]
    X = rng.standard_normal((2500, 6))
    mixture = Mixture.of_linear(coef, intercept)
    expected = np.mean([X @ c + i > 0 for c, i in zip(coef, intercept, strict=True)], axis=0)
    np.testing.assert_allclose(mixture.positive_probability(X), expected, atol=1e-12)
    loop = sum(w * p.decide(X) for w, p in zip(mixture.weights, mixture.predictors, strict=True))
    np.testing.assert_allclose(mixture.positive_probability(X), loop, atol=1e-12)
    assert len(mixture.predictors[:10]) == 10


def test_draws_depend_on_the_row_and_the_seed_alone():
    X = np.random.default_rng(2).standard_normal((500, 4))
    draws = row_draws(X, seed=3)
    order = np.random.default_rng(4).permutation(500)
    np.testing.assert_array_equal(row_draws(X[order], seed=3), draws[order])
    np.testing.assert_array_equal(row_draws(X[:7], seed=3), draws[:7])
    np.testing.assert_array_equal(row_draws(np.asfortranarray(X), seed=3), draws)
    assert (row_draws(X, seed=4) != draws).all()
    assert row_draws(np.array([[0.0]]), 1) == row_draws(np.array([[-0.0]]), 1)


def test_draws_are_the_same_in_every_container():
    X = np.array([[1.0, 2.5, 1.0], [3.0, -1.0, 0.0]])
    columns = {"a": X[:, 0].astype(int), "b": X[:, 1], "c": X[:, 2].astype(bool)}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        np.testing.assert_array_equal(row_draws(frame, 5), row_draws(X, 5))
    words = {"a": ["x", "y", None]}
    np.testing.assert_array_equal(
        row_draws(pd.DataFrame(words), 5), row_draws(pl.DataFrame(words), 5)
    )
    assert len(set(row_draws(pd.DataFrame(words), 5))) == 3


def test_a_date_draws_alike_in_every_container():
    days = [dt.datetime(2020, 1, 2, 3, 4, 5, 678901), dt.datetime(1969, 7, 20), None]
    draws = row_draws(pd.DataFrame({"day": days}), 5)
    assert len(set(draws.tolist())) == 3
    for frame in (pl.DataFrame({"day": days}), pa.table({"day": days})):
        np.testing.assert_array_equal(row_draws(frame, 5), draws)
    dates = [None if day is None else day.date() for day in days]
    midnights = [None if day is None else dt.datetime(*day.timetuple()[:3]) for day in days]
    drawn = [row_draws(make({"day": dates}), 5) for make in (pl.DataFrame, pa.table)]
    for draws in drawn:
        np.testing.assert_array_equal(draws, row_draws(pd.DataFrame({"day": midnights}), 5))


def test_draws_are_uniform():
    draws = row_draws(np.arange(100_000.0)[:, None], seed=0)
    counts, _ = np.histogram(draws, bins=20, range=(0, 1))
    chi_squared = ((counts - 5000) ** 2 / 5000).sum()
    assert chi_squared < 43.8  # the 99.9 % quantile with 19 degrees of freedom
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.015


@pytest.mark.parametrize("weights", [np.ones(3) / 3, np.array([0.5, 0.25, 0.25])])
def test_probabilities_stay_in_the_unit_interval(weights):
    predictors = LinearPredictors(np.zeros((3, 1)), np.ones(3))
    p = Mixture(predictors, weights).positive_probability(np.zeros((5, 1)))
    np.testing.assert_array_equal(p, np.ones(5))
