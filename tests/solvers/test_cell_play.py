"""Plays for which every cell is a group: one step by hand, and what many steps come to."""

import numpy as np

from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import cell_play
from gerrymend.solvers.cell_play import CellPlay
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups import Marginals


def make_auditor(groups, y):
    order, cells = distinct_rows(read_columns({"group": np.array(groups)})).sorted_by(np.array(y))
    labels = np.array(y)[order]
    return Auditor([FALSE_POSITIVE_RATE], Marginals(), LabelCells.of_rows(cells, labels)), order


def test_a_step_by_hand():
    """Negatives: two of a, one of them decided 1, and two of b, none. The mean outcome is 1/4, so
    W_a = 1 − 2/4 = 1/2 and W_b = −1/2; over the masses of 2 that is a strain of ±1/4."""
    groups, y = ["a", "a", "b", "b", "b"], [0, 0, 0, 0, 1]
    auditor, order = make_auditor(groups, y)
    play = CellPlay(auditor)
    np.testing.assert_allclose(play.cost(), np.where(np.array(y)[order] == 1, -1.0, 1.0))
    play.answered(np.array([1.0, 0, 0, 0, 1])[order])
    expected = np.array([1.25, 1.25, 0.75, 0.75, -1.0])
    np.testing.assert_allclose(play.cost(), expected[order])


def test_plays_come_to_treat_each_cell_alike(monkeypatch):
    """A Learner that sees everything is free to err on one cell more than on others. Strains add
    up the residuals, so while they are bounded the mean residual falls as one over the plays."""
    monkeypatch.setattr(cell_play, "_START_AGAIN", 10**9)
    rng = np.random.default_rng(0)
    groups, y = rng.integers(0, 6, 240), rng.integers(0, 2, 240)
    auditor, order = make_auditor(groups.astype(str), y)
    cell = groups[order]
    table = rng.integers(0, 4, 240) + 4 * cell  # what decisions may depend on
    play, plays = CellPlay(auditor), []
    for _ in range(400):
        worth = np.bincount(table, play.cost(), minlength=24)
        plays.append(worth[table] < 0)
        play.answered(plays[-1].astype(float))
    negative = y[order] == 0

    def spread(decisions):
        rates = [decisions[negative & (cell == one)].mean() for one in range(6)]
        return max(rates) - min(rates)

    assert spread(plays[0].astype(float)) > 0.3
    assert spread(np.mean(plays, axis=0)) < 0.03


def test_strains_start_again():
    auditor, _ = make_auditor(["a", "a", "b", "b"], [0, 0, 0, 1])
    play, decisions = CellPlay(auditor), np.array([1.0, 0, 0, 1])
    first = play.cost()
    for _ in range(cell_play._START_AGAIN - 1):
        play.answered(decisions)
    assert (play.cost() != first).any()
    play.answered(decisions)
    np.testing.assert_array_equal(play.cost(), first)
