"""Ten rows, three rounds of fictitious play, worked by hand.

One feature x and one protected attribute a, both binary, so that each regression predicts the mean
of its target at each value. C = 12, gamma = .005.

    row  1  2  3  4  5  6  7 |  8  9 10
    x    1  1  1  1  1  1  1 |  0  0  0
    a    1  1  0  0  0  1  0 |  0  1  0
    y    0  0  0  1  1  1  1 |  0  0  1

Round 1. Costs 1 − 2y: mean (3 − 4)/7 < 0 at x = 1 and (2 − 1)/3 > 0 at x = 0, so h = [x = 1].
    Error: rows 1, 2, 3 and 10, .4. False positive rate 3/5; 2/3 where a = 1, 1/2 where a = 0.
    The regression predicts a positive residual for a = 1, whose negatives are 3/10 of the rows:
    3/10·(2/3 − 3/5) = .02 > gamma, so 12 goes on "a = 1 is too high".
Round 2. The average dual is 12/2 = 6. centre(g) is 1 − 3/5 = .4 on negatives with a = 1, −.6 on
    the others: costs 1 + 6·.4 = 3.4 and 1 − 6·.6 = −2.6. Sums at x = 1: 3.4 + 3.4 − 2.6 − 4 = .2,
    at x = 0: −2.6 + 3.4 − 1 = −.2, so h = [x = 0]. Every row is then decided 1 with probability
    1/2: error .5, no group at all, nothing is added.
Round 3. The average dual is 12/3 = 4: costs 2.6 and −1.4; sums −.2 and .2, so h = [x = 1] again.
    p = 2/3 at x = 1 and 1/3 at x = 0. Error (3·2/3 + 4·1/3 + 2·1/3 + 1·2/3)/10 = 14/30. False
    positive rate 8/15, 5/9 where a = 1: 3/10·(5/9 − 8/15) = 1/150 > gamma. The average is 24/4 = 6.
"""

import numpy as np
import pytest

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import FictitiousPlay, play
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.players.memory_rows import MemoryRows
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import LinearThresholds

X = np.array([1, 1, 1, 1, 1, 1, 1, 0, 0, 0.0])[:, None]
A = np.array([1, 1, 0, 0, 0, 1, 0, 0, 1, 0])
Y = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1])


class Spy(LinearLearner):
    """Keeps the costs that it was given and the decisions that it gave."""

    def best_response(self, costs):
        decisions, keys = super().best_response(costs)
        self.seen.append((costs[0].copy(), decisions[0].astype(int)))
        return decisions, keys


def play_ten_rows(order, rounds):
    weight = np.ones(10)
    cells = distinct_rows(read_columns({"a": A}))
    auditor = Auditor(
        [FALSE_POSITIVE_RATE], LinearThresholds("regression"), LabelCells.of_rows(cells, Y, weight)
    )
    learner = Spy(X, weight, auditor.base_cost, auditor.pressed)
    learner.seen = []
    rows = MemoryRows(learner, auditor.label_cells)
    duals = []
    solver = FictitiousPlay(order=order)
    start = solver.start
    solver.start = lambda *args: duals.append(start(*args)) or duals[0]
    (end,) = play(solver, rows, auditor, gammas=[0.005], C=12.0, max_iter=rounds, tol=None)
    return end, learner.seen, duals[0].duals


def test_every_cost_weight_and_record_of_three_rounds():
    end, seen, duals = play_ten_rows("body", 3)
    negatives_with_a, negatives_without = [0, 1, 8], [2, 7]

    costs, decisions = zip(*seen, strict=True)
    for cost, with_a, without in zip(costs, (1, 3.4, 2.6), (1, -2.6, -1.4), strict=True):
        np.testing.assert_allclose(cost[negatives_with_a], with_a)
        np.testing.assert_allclose(cost[negatives_without], without)
        np.testing.assert_allclose(cost[Y == 1], -1)
    np.testing.assert_array_equal(decisions[0], X[:, 0])
    np.testing.assert_array_equal(decisions[1], 1 - X[:, 0])
    np.testing.assert_array_equal(decisions[2], X[:, 0])

    np.testing.assert_allclose(end.error, [0.4, 0.5, 14 / 30])
    np.testing.assert_allclose(end.unfairness, [0.02, 0.0, 1 / 150], atol=1e-15)
    np.testing.assert_array_equal(end.subgroups[0].contains({"a": A}), A == 1)
    np.testing.assert_array_equal(end.subgroups[2].contains({"a": A}), A == 1)
    assert duals.total_dual[0] == pytest.approx(6.0)
    np.testing.assert_allclose(duals.pressure[0], [[0.0, 6.0]])  # on a = 1, before it is centred

    np.testing.assert_allclose(end.mixture.positive_probability(X), np.where(X[:, 0], 2, 1) / 3)
    assert end.worst.describe() == "a ≥ 1"
    assert (end.worst.size, end.worst.share) == (4, 0.3)
    assert (end.worst.rate, end.worst.overall_rate) == pytest.approx((5 / 9, 8 / 15))
    assert end.worst.unfairness == pytest.approx(1 / 150)
    # Σ W⁺ of the two cells: all of the positive residual lies in a = 1.
    assert end.upper_bound == pytest.approx(1 / 150)


def test_gap_after_three_rounds():
    """Worth 14/30 + 12·(1/150 − .005) against L of the last play at λ̄ = 4, by hand.

    L(h³) = err + 4·(v − gamma) with h³ = [x = 1]: .4 + 4·(.02 − .005) = .46. L of the mixture is
    14/30 + 4·(1/150 − .005) = .47333, which is more.
    """
    end, _, _ = play_ten_rows("body", 3)
    assert end.gap == pytest.approx(14 / 30 + 12 * (1 / 150 - 0.005) - 0.46)


def test_the_appendix_answers_the_mixture_before_the_round():
    """h⁰ and h¹ answer no pressure at all; h² answers λ̄ = 12/2 = 6 and is [x = 0], as above."""
    end, seen, _ = play_ten_rows("appendix", 3)
    np.testing.assert_array_equal([h for _, h in seen], [X[:, 0], X[:, 0], 1 - X[:, 0]])
    np.testing.assert_allclose(end.error, [0.4, 0.4, 14 / 30])
    np.testing.assert_allclose(end.unfairness, [0.02, 0.02, 1 / 150])
    assert len(end.mixture.predictors) == 2
    np.testing.assert_allclose(sorted(end.mixture.weights), [1 / 3, 2 / 3])
