"""The identities that the whole design rests on, for every notion."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gerrymend import FairnessNotion
from gerrymend.notions import (
    ERROR_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    STATISTICAL_PARITY,
    as_notions,
)

NOTIONS = (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, STATISTICAL_PARITY, ERROR_RATE)


@st.composite
def audits(draw):
    """Labels, decision probabilities, a group and whole weights, with both labels present."""
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.integers(0, 2, n)
    assume(0 < y.sum() < n)
    weight = rng.integers(1, 5, n)
    return y, rng.random(n), rng.integers(0, 2, n), weight, rng


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@given(audits())
def test_the_learner_pays_the_transpose_of_what_the_auditor_searches(notion, audit):
    y, p, members, weight, rng = audit
    other = rng.random(len(y))
    change = notion.residual(y, p, weight) - notion.residual(y, other, weight)
    searched = np.sum(weight * members * change)
    paid = np.sum(weight * notion.pull(y, members, weight) * (p - other))
    assert searched == pytest.approx(paid, abs=1e-10)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@given(audits())
def test_a_complement_has_the_opposite_unfairness(notion, audit):
    y, p, members, weight, _ = audit
    inside = notion.unfairness(y, p, members, weight)
    assert notion.unfairness(y, p, 1 - members, weight) == pytest.approx(-inside, abs=1e-12)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@given(audits())
def test_the_order_of_rows_changes_nothing_at_all(notion, audit):
    y, p, members, weight, rng = audit
    order = rng.permutation(len(y))
    shuffled = notion.unfairness(y[order], p[order], members[order], weight[order])
    assert shuffled == notion.unfairness(y, p, members, weight)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@given(audits())
def test_a_weight_is_a_number_of_equal_rows(notion, audit):
    y, p, members, weight, _ = audit
    repeated = np.repeat(np.arange(len(y)), weight)
    duplicated = notion.unfairness(y[repeated], p[repeated], members[repeated])
    assert notion.unfairness(y, p, members, weight) == pytest.approx(duplicated, abs=1e-12)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
@given(audits())
def test_unfairness_is_share_times_difference_of_rates(notion, audit):
    """Definition 2.1 of the paper, written out row by row."""
    y, p, members, weight, _ = audit
    outcome = {
        "false_positive_rate": p,
        "false_negative_rate": 1 - p,
        "statistical_parity": p,
        "error_rate": np.where(y == 1, 1 - p, p),
    }[notion.name]
    counts = {"false_positive_rate": y == 0, "false_negative_rate": y == 1}
    event = counts.get(notion.name, np.ones(len(y), bool))
    group = event & (members == 1)
    assume(group.any())
    overall = np.average(outcome[event], weights=weight[event])
    rate = np.average(outcome[group], weights=weight[group])
    expected = weight[group].sum() / weight.sum() * (rate - overall)
    assert notion.unfairness(y, p, members, weight) == pytest.approx(expected, abs=1e-12)


def test_notions_go_by_name_instance_or_collection():
    assert as_notions("error_rate") == (ERROR_RATE,)
    assert as_notions(STATISTICAL_PARITY) == (STATISTICAL_PARITY,)
    assert as_notions("equalized_odds") == (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE)
    both = as_notions(("equalized_odds", FALSE_POSITIVE_RATE, "error_rate"))
    assert both == (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, ERROR_RATE)


def test_an_unknown_notion_gets_a_suggestion():
    with pytest.raises(ValueError, match=r"'false_positive' is unknown .did you mean 'false_pos"):
        as_notions("false_positive")
    with pytest.raises(TypeError, match="notion must be"):
        as_notions(3)


def test_a_notion_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="False for both labels"):
        FairnessNotion("nothing", (False, False), (0, 0), (1, 1))
    with pytest.raises(ValueError, match="label 0 and one for label 1"):
        FairnessNotion("short", (True, True), (0,), (1, 1))
    with pytest.raises(ValueError, match="its event is empty"):
        FALSE_POSITIVE_RATE.residual([1, 1], [0, 1])
