"""bootstrap() against every resample of a few rows, and against people that rows are drawn from."""

import importlib
import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import audit, bootstrap
from gerrymend.subgroups.thresholds.search import StartedSearch

# The module, which has the name of its function.
bootstrap_module = importlib.import_module("gerrymend.auditing.inference.bootstrap")


def by_hand(colours, weights, decided, every):
    """The unfairness of every colour, with sign, and those that are worst; in fractions."""
    mean = Fraction(sum(w * u for w, u in zip(weights, decided, strict=True)), sum(weights))
    values = {
        colour: sum(
            (w * (u - mean) for c, w, u in zip(colours, weights, decided, strict=True)
             if c == colour), Fraction(0),
        ) / sum(weights)
        for colour in every
    }  # fmt: skip
    largest = max(map(abs, values.values()))
    return values, [colour for colour in every if abs(values[colour]) == largest]


def sign(value):
    return (value > 0) - (value < 0)


ROWS = [
    (["red", "red", "blue", "blue", "blue"], None, [1, 1, 0, 1, 0]),
    (["red", "red", "blue", "green", "green"], [3, 5, 7, 11, 17], [1, 0, 1, 0, 0]),
]


@pytest.mark.parametrize(("colours", "weights", "decided"), ROWS)
def test_optimism_is_that_of_all_resamples(colours, weights, decided):
    """Of 5 rows there are 5⁵ resamples, each as likely as another.

    Of colours that are equally bad in a resample any may be found; of two it doesn't matter which.
    """
    given, every = weights or [1] * 5, sorted(set(colours))
    values, worst = by_hand(colours, given, decided, every)
    low, high = [], []
    for drawn in itertools.product(range(5), repeat=5):
        picked = [[some[i] for i in drawn] for some in (colours, given, decided)]
        there, candidates = by_hand(*picked, every)
        optimism = [float(abs(there[g]) - sign(there[g]) * values[g]) for g in candidates]
        low.append(min(optimism))
        high.append(max(optimism))
    n = 4000
    found = bootstrap(
        [0] * 5, decided, sensitive_features={"colour": colours}, sample_weight=weights,
        subgroups="marginals", n_resamples=n, random_state=1,
    )  # fmt: skip
    assert found.n_resamples == n
    assert found.unfairness == pytest.approx(float(abs(values[worst[0]])), abs=1e-12)
    luck = 4 * np.std(high) / np.sqrt(n)
    assert np.mean(low) - luck <= found.optimism <= np.mean(high) + luck
    assert (np.mean(low) == np.mean(high)) == (len(every) == 2)
    assert found.corrected == max(0.0, found.unfairness - found.optimism)


def test_recurrence_by_hand():
    """Two colours are one division of the rows, found whenever a resample has both rates differ."""
    colours, decided = ["red", "red", "blue", "blue"], [1, 0, 0, 0]
    differs = [
        sign(by_hand(*zip(*[(colours[i], 1, decided[i]) for i in drawn], strict=True),
                     ["red"])[0]["red"]) != 0
        for drawn in itertools.product(range(4), repeat=4)
    ]  # fmt: skip
    n = 2000
    found = bootstrap([0] * 4, decided, sensitive_features={"colour": colours},
                      subgroups="marginals", n_resamples=n)  # fmt: skip
    assert found.recurrence == pytest.approx(np.mean(differs), abs=4 * np.std(differs) / np.sqrt(n))


def people(n, seed, effect=0.0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, n)
    decided = rng.random(n) < 0.5 + effect * (groups == 3)
    return np.zeros(n, int), decided.astype(int), {"group": groups.astype(str)}


@pytest.mark.parametrize("effect", [0.0, 0.25])
def test_the_corrected_value_is_nearer_to_the_truth(effect):
    """12 groups of 40 rows each, of which one or none is treated worse than the others.

    What is found is compared with what that group's unfairness is among the people, which is known.
    """
    luck, optimism = [], []
    for seed in range(40):
        y, decided, attributes = people(480, seed, effect)
        how = {"sensitive_features": attributes, "subgroups": "marginals"}
        worst = audit(y, decided, min_group_size=1, **how).worst
        true = effect / 12 * ((worst.describe() == "group = 3") - 1 / 12)
        luck.append(abs(worst.unfairness) - np.sign(worst.unfairness) * true)
        found = bootstrap(y, decided, n_resamples=60, **how)
        assert found.unfairness == pytest.approx(abs(worst.unfairness), abs=1e-12)
        optimism.append(found.optimism)
    assert np.mean(luck) > 0
    assert abs(np.mean(luck) - np.mean(optimism)) < np.mean(luck) / 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("notion", ["false_positive_rate", ("equalized_odds", "error_rate")])
def test_the_seed_decides_and_the_order_of_rows_does_not(weighted, notion):
    rng = np.random.default_rng(3)
    y, decided, attributes = people(300, 1)
    y = rng.integers(0, 2, 300)
    weight = rng.random(300) if weighted else None

    def found(order, seed=0):
        return bootstrap(
            y[order], decided[order], sensitive_features={"group": attributes["group"][order]},
            sample_weight=None if weight is None else weight[order], notion=notion,
            subgroups="conjunctions", n_resamples=30, random_state=seed,
        )  # fmt: skip

    straight, other = np.arange(300), rng.permutation(300)
    assert found(straight) == found(straight)
    assert found(other).optimism == pytest.approx(found(straight).optimism, rel=1e-9)
    assert found(straight, seed=1).optimism != found(straight).optimism


def test_progress_and_the_budget():
    y, decided, attributes = people(100, 0)
    heard = []
    found = bootstrap(y, decided, sensitive_features=attributes, n_resamples=10_000, budget=1e-9,
                      on_draw=lambda done, of: heard.append((done, of)))  # fmt: skip
    assert (found.n_resamples, heard) == (1, [(1, 10_000)])


def test_searches_are_given_the_time_that_is_left(monkeypatch):
    """Each takes four of ten seconds: that of the rows, one resample, and one that is cut short."""
    y, decided, attributes = people(100, 0)
    now = [0.0]
    given = []

    def slow_search(bound, residual, *, seconds=math.inf):
        given.append(seconds)
        now[0] += 4.0
        return bound.worst(residual[None])

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(StartedSearch, "search", slow_search)
    monkeypatch.setattr(
        bootstrap_module, "rounds", lambda n, **_: ([range(i, i + 1)] for i in range(3))
    )
    found = bootstrap(y, decided, sensitive_features=attributes, budget=10)
    assert given == [5.0, 6.0, 2.0, 0.0]
    assert found.n_resamples == 1


def test_sums_of_a_lazy_frame():
    """Counts are drawn as well as rows; of weights the sums say too little."""
    y, decided, attributes = people(400, 2)
    frame = pd.DataFrame({"y": y, "d": decided, "w": np.arange(400) + 1.0, **attributes})
    call = {"sensitive_features": "group", "subgroups": "marginals", "n_resamples": 20}
    lazy = pl.from_pandas(frame).lazy()
    assert bootstrap("y", "d", data=lazy, **call) == bootstrap("y", "d", data=frame, **call)
    with pytest.raises(ValueError, match=r"Rows can't be drawn anew: .* Pass the rows themselves"):
        bootstrap("y", "d", data=lazy, sample_weight="w", **call)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be a number of at least 1; got 0"),
        ({"budget": 0}, "budget must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be a whole number of workers"),
        ({"notion": "fairness"}, "notion"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        bootstrap(*people(20, 0)[:2], sensitive_features={"a": ["x", "y"] * 10}, **change)


def test_notions_that_count_other_rows_can_be_found_in_turn():
    """The worst of a resample may be of a notion with other cells; then it is not the same."""
    rng = np.random.default_rng(5)
    y, decided = rng.integers(0, 2, (2, 30))
    number = rng.integers(0, 20, 30)
    cells = [len(set(number[y == label])) for label in (0, 1)]
    assert cells[0] != cells[1]  # of the negatives, and of the positives
    found = bootstrap(y, decided, sensitive_features={"number": number}, subgroups="conjunctions",
                      notion="equalized_odds", n_resamples=100)  # fmt: skip
    assert 0 < found.recurrence < 1
