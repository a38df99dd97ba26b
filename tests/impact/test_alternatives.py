"""A frontier as a search for less discriminatory alternatives: ratios beside error."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import (
    SubgroupParityClassifier,
    less_discriminatory_alternatives,
    pareto_frontier,
)
from gerrymend._runtime.errors import ArgumentError
from tests.reporting.hostile import assert_inert

RNG = np.random.default_rng(0)
N = 400
RACE = np.where(RNG.random(N) < 0.4, "B", "W")
X = np.column_stack([RNG.standard_normal(N) + (RACE == "W"), RNG.standard_normal(N)])
Y = (X.sum(axis=1) + RNG.standard_normal(N) > 0.5).astype(int)
TODAY = (X[:, 0] > 0.5).astype(int)


@pytest.fixture(scope="module")
def frontier():
    clf = SubgroupParityClassifier(
        LinearRegression(), notion="statistical_parity", max_iter=30, tol=None, random_state=0
    )
    return pareto_frontier(clf, X, Y, sensitive_features={"race": RACE}, gammas=[0.0, 0.1],
                           audit_budget=1, today=TODAY)  # fmt: skip


@pytest.fixture(scope="module")
def found(frontier):
    return less_discriminatory_alternatives(
        frontier, X, sensitive_features={"race": RACE}, reference="W", today=TODAY
    )


def test_ratios_are_of_expected_rates(frontier, found):
    today, *models = found.models
    for point, model in zip(frontier.points, models, strict=True):
        p = point.model.predict_proba(X)[:, 1]
        rates = {race: p[race == RACE].mean() for race in ("B", "W")}
        assert model["ratios"]["race = B"] == pytest.approx(rates["B"] / rates["W"])
        assert model["ratios"]["race = W"] == 1
        assert (model["gamma"], model["error"]) == (point.gamma, point.compared.error)
    decided = {race: TODAY[race == RACE].mean() for race in ("B", "W")}
    assert today["ratios"]["race = B"] == pytest.approx(decided["B"] / decided["W"])
    # The fairer model has the higher ratio, or there was no search.
    assert models[0]["ratios"]["race = B"] > today["ratios"]["race = B"]


def test_a_model_that_approves_nobody_of_the_control_group_has_no_ratios(frontier, found):
    """The others have theirs."""
    today = np.where(RACE == "B", TODAY, 0)
    made = less_discriminatory_alternatives(
        frontier, X, sensitive_features={"race": RACE}, reference="W", today=today
    )
    first, *others = made.models
    assert first["ratios"] == {"race = B": None, "race = W": None}
    assert first["rates"]["race = W"] == 0
    assert [one["ratios"] for one in others] == [one["ratios"] for one in found.models[1:]]
    assert "–" in str(made)


def test_ratios_are_columns(found):
    frame = found.to_frame("pandas")
    assert frame["model"].tolist() == ["today", "gamma 0", "gamma 0.1"]
    assert "ratio: race = B" in frame.columns


def test_the_page_says_what_it_is(found):
    for text in (found.to_html(), found.to_markdown(), str(found)):
        words = " ".join(text.split())
        assert "search for less discriminatory alternatives" in words
        assert "no legal advice" in words
        assert "does not show" in words


def test_hostile_categories_are_text(frontier):
    hostile = np.where(RACE == "B", "<script>alert(1)</script>|", "=1+1\x1b[31m")
    made = less_discriminatory_alternatives(
        frontier, X, sensitive_features={"race": hostile}, reference="highest"
    )
    assert "<script>alert" not in made.to_html()
    assert "<script>" not in made.to_markdown()
    for text in (str(made), made.to_markdown(), made.to_json()):
        assert_inert(text)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"reference": "X"}, "reference is 'X', which is no group"),
        ({"pos_label": "yes"}, "pos_label='yes' is no label of frontier; its labels are 0, 1"),
        ({"pos_label": np.array([0, 1])}, "pos_label=array.* is no label of frontier"),
        ({"pos_label": np.timedelta64(1, "s")}, "pos_label=.* is no label of frontier"),
        (
            {"sample_weight": [1e300] + [1.0] * (N - 1)},
            "beside the largest the smallest is nothing",
        ),
        ({"today": [1, 0]}, "today has 2"),
        ({"depth": 0}, "depth must be"),
        ({"unknown": "W"}, "unknown must be a list"),
        ({"frontier": "f.json"}, "frontier must be what pareto_frontier"),
        ({"sensitive_features": {"race": RACE[:3]}}, "differ in their number of rows: X has 400"),
        ({"today": [1] * N}, "today is 1 in every row"),
    ],
)
def test_bad_input_gets_a_clear_error(frontier, how, words):
    given = {"frontier": frontier, "sensitive_features": {"race": RACE}, "reference": "W"} | how
    with pytest.raises(ArgumentError, match=words):
        less_discriminatory_alternatives(given.pop("frontier"), X, **given)
