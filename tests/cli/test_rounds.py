"""What a user hears of rounds while a training runs: how far it is, and how long it may take."""

import logging

import pytest

from gerrymend.cli import rounds
from gerrymend.cli.rounds import Waiting, long_wait_words, rounds_told


def told_of(times, monkeypatch, played, at_most=120):
    """Return what is said and noted of rounds that end at these times, in seconds."""
    clock = iter(times)
    monkeypatch.setattr(rounds, "Waiting", lambda: Waiting(clock=lambda: next(clock)))
    said = []
    noted = []
    with rounds_told(lambda words, done=0, of=None: said.append((words, done, of)), noted.append):
        for number in played:
            logging.getLogger("gerrymend").info(
                "round %d of %d: %f, %f", number, at_most, 0.25, 0.01
            )
    return said, noted


def test_a_long_wait_is_told_once_and_early(monkeypatch):
    """Rounds of 10 s after a first one of 60 s, in which code is compiled: 118 more are 20 min."""
    times = [60 + 10 * i for i in range(5)]
    said, noted = told_of(times, monkeypatch, range(1, 6))
    assert said[0] == ("rounds at most: error 0.250, unfairness 0.0100", 1, 120)
    assert said[1] == ("rounds, 20 min at most: error 0.250, unfairness 0.0100", 2, 120)
    assert noted == [
        "Note: a round takes about 10 s, and up to 118 more are played: 20 min at most. Training "
        "ends sooner where it converges, and --max-iter plays fewer rounds."
    ]


def test_a_short_wait_is_no_news(monkeypatch):
    said, noted = told_of([8.0, 8.1, 8.2], monkeypatch, range(1, 4))
    assert waits(said) == ["", "12 s", "12 s"]
    assert noted == []


def test_a_training_that_goes_on_is_timed_from_there(monkeypatch):
    """From round 100 of 120 on, 3 s each: 19 are left after the first of them that is timed."""
    said, noted = told_of([5.0, 8.0, 11.0], monkeypatch, [100, 101, 102])
    assert waits(said) == ["", "57 s", "54 s"]
    assert noted == []


def test_the_next_model_is_timed_for_itself(monkeypatch):
    said, _ = told_of([0.0, 1.0, 50.0, 52.0], monkeypatch, [1, 2, 1, 2], at_most=12)
    assert waits(said) == ["", "10 s", "", "20 s"]


def waits(said):
    return [words.partition(" at most")[0].partition("rounds")[2].strip(", ") for words, *_ in said]


@pytest.mark.parametrize("left", [0.0, 59.9])
def test_less_than_a_minute_is_not_told_beforehand(left):
    assert long_wait_words(left, 2, 120) is None
