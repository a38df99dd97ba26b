"""The loop, on a game that only counts: what ends it, what Ctrl-C leaves, who hears of what."""

import os
import signal

import numpy as np
import pytest

from gerrymend.solvers import loop
from gerrymend.solvers.base import CannotResumeError, Interrupted, Round, check_rounds
from gerrymend.solvers.loop import Limits, Listener


class Counting:
    """Rounds are numbers; it converges in a round that is given, and is looked at every third."""

    def __init__(self, converges=10**9, on_prepare=(), on_finish=()):
        self.n_rounds, self.over, self.n_looked = 0, False, 0
        self.clock = loop.Stopwatch()
        self._converges = converges
        self._on_prepare, self._on_finish = dict(on_prepare), dict(on_finish)

    def prepare_round(self):
        self._on_prepare.get(self.n_rounds + 1, int)()
        return self.n_rounds + 1

    def finish_round(self, prepared):
        self._on_finish.get(prepared, int)()
        self.n_rounds = prepared

    def look(self, *, last, heard):
        if not (last or heard or self.n_rounds % 3 == 0):
            return []
        first, self.n_looked = self.n_looked, self.n_rounds
        self.over = last or self.n_rounds >= self._converges
        none = np.zeros((1, 0))
        return [Round(i, none, none, none) for i in range(first + 1, self.n_rounds + 1)]

    def equilibria(self, *, cut_short=False):
        return [self.n_rounds] if self.n_rounds else []

    def state(self):
        seconds = self.clock.seconds
        return {"seconds": seconds, "rounds": self.n_rounds, "looked": self.n_looked}

    def restore(self, state, max_iter):
        check_rounds(state["rounds"], max_iter)
        self.clock.go_on_from(state["seconds"])
        self.n_rounds, self.n_looked = state["rounds"], state["looked"]


class Kept:
    """Has the state that was reached last."""

    def __init__(self, state=None):
        self.state, self.reached_rounds = state, []

    def resume(self, game):
        if self.state is not None:
            game.restore(self.state)

    def reached(self, state):
        self.state = state()
        self.reached_rounds.append(self.state["rounds"])


def press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(
    ("limits", "number"),
    [
        (Limits(5), 5),
        (Limits(50), 9),  # it converges in round 7, and is looked at in round 9
        (Limits(50, budget=0.0), 1),
    ],
    ids=str,
)
def test_what_ends_it(limits, number):
    assert loop.play(Counting(converges=7), limits) == [number]


def test_a_budget_counts_the_seconds_of_all_runs(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])

    def wait():
        now[0] += 1.0

    def game():
        return Counting(on_prepare=dict.fromkeys(range(1, 100), wait))

    kept = Kept()
    assert loop.play(game(), Limits(4, budget=6.0), checkpoint=kept) == [4]
    now[0] = 1e6
    assert loop.play(game(), Limits(99, budget=6.0), checkpoint=kept) == [6]
    assert kept.reached_rounds == [1, 2, 3, 4, 5, 6]


def test_ctrl_c_stops_what_is_prepared_at_once():
    game, kept = Counting(on_prepare={4: press}), Kept()
    with pytest.raises(Interrupted) as caught:
        loop.play(game, Limits(9), checkpoint=kept)
    assert caught.value.equilibria == [3]
    assert kept.state["rounds"] == 3
    with pytest.raises(KeyboardInterrupt) as caught:
        loop.play(Counting(on_prepare={1: press}), Limits(9))
    assert not isinstance(caught.value, Interrupted)


@pytest.mark.parametrize("number", [1, 4, 9])
def test_ctrl_c_waits_for_the_round_its_checkpoint_and_its_listener(number):
    heard, kept = [], Kept()
    listener = Listener(lambda played: heard.append(played.number))
    with pytest.raises(Interrupted) as caught:
        loop.play(Counting(on_finish={number: press}), Limits(9), listener, kept)
    assert caught.value.equilibria == [number]
    assert kept.state["rounds"] == number
    assert heard == list(range(1, number + 1))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_state_from_before_a_look_is_looked_at_again():
    kept = Kept({"seconds": 0.0, "rounds": 9, "looked": 6})
    heard = []
    listener = Listener(lambda played: heard.append(played.number), needs_votes=False)
    assert loop.play(Counting(converges=8), Limits(50), listener, kept) == [9]
    assert heard == [7, 8, 9]
    assert kept.reached_rounds == []


def test_more_rounds_than_are_wanted_are_refused():
    kept = Kept({"seconds": 0.0, "rounds": 9, "looked": 9})
    with pytest.raises(CannotResumeError, match="has 9 rounds, and max_iter is 8"):
        loop.play(Counting(), Limits(8), checkpoint=kept)


def test_a_function_is_a_listener_who_needs_votes():
    assert Listener.of(print).needs_votes
    assert Listener.of(None) is None
    quiet = Listener(print, needs_votes=False)
    assert Listener.of(quiet) is quiet
