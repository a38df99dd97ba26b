"""A round of `fit` on one core against its bare products, the memory's speed, and its size.

`python -m benchmarks scaling`: a few minutes, and some 6 GB of memory.
"""

import sys
import time
from functools import partial

import numba
import numpy as np

from benchmarks.recording import record
from benchmarks.rounds import Game

N_PROTECTED = 5


@numba.njit(fastmath=True)
def _read(rows):
    """Eight rows at once, as matrix products do: one alone is read at less than the full speed."""
    a, b, c, d, e, f, g, h = rows
    total = 0.0
    for i in range(len(a)):
        total += a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i]
    return total


@numba.njit(fastmath=True)
def _triad(a, b, c):
    for i in range(len(a)):
        a[i] = b[i] + 3.0 * c[i]


def seconds_of(work, repeats=3):
    """Mean seconds of some work."""
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def in_turns(works, repeats=5):
    """Seconds that each of some works measures, in turns: what else runs slows all of them."""
    for work in works.values():
        work()
    table = [[work() for work in works.values()] for _ in range(repeats)]
    return dict(zip(works, np.array(table).T, strict=True))


def game_of(n, d, n_protected=N_PROTECTED, n_gammas=1):
    """Protected attributes among the features; half of the rows are in the event."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    signal = X[:, n_protected % d] + X[:, 0] * X[:, 1] + rng.standard_normal(n)
    y = (signal > np.median(signal)).astype(int)
    protected = {f"attribute_{j}": X[:, j].copy() for j in range(n_protected)}
    return Game(X, y, protected, n_gammas)


def bytes_read(game):
    """What a round has to read: the event's basis twice, and the protected one twice."""
    event = game.auditor.pressed
    features, protected = game.learner.projection, game.auditor.notions[0].subgroups.projection
    rows = event.stop - event.start
    return 2 * 8 * (rows * len(features.basis) + protected.basis.size)


def operations(game):
    """Of the products of a round, with one look at the rows outside of the event."""
    event, basis = game.auditor.pressed, game.learner.projection.basis
    rows = event.stop - event.start
    protected = game.auditor.notions[0].subgroups.projection.basis.size
    return 2 * len(game.gammas) * (len(basis) * (rows + basis.shape[1]) + 2 * protected)


def against_the_floor(n, d, n_read):
    """One gamma against its products and the memory's speed, and 64 at once against one.

    Figures, medians over turns; and the seconds of every turn.
    """
    one = game_of(n, d)
    many = one.with_gammas(64)
    kinds = ("least", "event", "all")
    a, b, c = (np.ones(n_read) for _ in range(3))
    eight = tuple(a.reshape(8, -1))
    matrix = np.random.default_rng(0).random((1500, 1500))
    turns = in_turns(
        {
            "one": lambda: seconds_of_rounds(one, 64),
            "many": lambda: seconds_of_rounds(many, 3),
            **{rows: partial(seconds_of, one.bare_products(rows)) for rows in kinds},
            "products of many": partial(seconds_of, many.bare_products(), repeats=1),
            "read": lambda: seconds_of(lambda: _read(eight)) / a.nbytes,
            "triad": lambda: seconds_of(lambda: _triad(a, b, c)) / (3 * a.nbytes),
            "operation": lambda: seconds_of(lambda: matrix @ matrix) / (2 * 1500**3),
        }
    )

    def ratio(over, under, times=1.0):
        return float(np.median(turns[over] / turns[under]) * times)

    size, products = bytes_read(one), operations(many)
    figures = {
        "round, s": float(np.median(turns["one"])),
        **{f"round / products, {rows}": ratio("one", rows) for rows in kinds},
        "memory, read, GB/s": float(np.median(1e-9 / turns["read"])),
        "memory, triad, GB/s": float(np.median(1e-9 / turns["triad"])),
        "round / reading what it needs": ratio("one", "read", 1 / size),
        "64 gammas, s": float(np.median(turns["many"])),
        "64 gammas / one": ratio("many", "one"),
        "64 gammas / their products": ratio("many", "products of many"),
        "matrix products, GFlop/s": float(np.median(1e-9 / turns["operation"])),
        "64 gammas / their operations at that speed": ratio("many", "operation", 1 / products),
        "floor of 64 gammas / floor of one": ratio("operation", "read", products / size),
    }
    return figures, {name: seconds.tolist() for name, seconds in turns.items()}


def seconds_of_rounds(game, n_rounds):
    """Mean seconds of so many rounds; of 64 plays, one look outside of the event is part."""
    ticks = []
    game.play(n_rounds + 2, lambda number: ticks.append(time.perf_counter()))
    return (ticks[-1] - ticks[1]) / n_rounds


def exponent(sizes, seconds):
    """Slope of log seconds in log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def series(name, sizes, make, repeats=5):
    """Seconds of a round at each size, the least of some times, and the exponent."""
    seconds = []
    for size in sizes:
        game = make(size)
        n_rounds = max(2, 64 // len(game.gammas))
        seconds.append(min(seconds_of_rounds(game, n_rounds) for _ in range(repeats)))
        print(f"{name} = {size:>10,}: {1000 * seconds[-1]:10.3f} ms", file=sys.stderr, flush=True)
    return {"sizes": list(sizes), "seconds": seconds, "exponent": exponent(sizes, seconds)}


def rounds_of_a_long_game(n=10_000, d=20, n_rounds=8192):
    """Seconds of a round against its number t."""
    ticks = []
    game_of(n, d).play(n_rounds, lambda _: ticks.append(time.perf_counter()))
    seconds = np.diff(ticks)
    sizes = [2**k for k in range(7, int(np.log2(n_rounds)))]
    medians = [float(np.median(seconds[t : 2 * t])) for t in sizes]
    return {"sizes": sizes, "seconds": medians, "exponent": exponent(sizes, medians)}


def costs(largest):
    """A round against everything that it grows with, one at a time; n from 10⁴ to the largest."""
    rows = [10**k for k in range(4, 1 + round(np.log10(largest)))]
    return {
        "n (d = 20)": series("n", rows, lambda n: game_of(n, 20)),
        "d (n = 100,000)": series("d", [25, 50, 100, 200, 400], lambda d: game_of(10**5, d)),
        "protected attributes (n = 100,000, d = 64)": series(
            "protected attributes", [2, 4, 8, 16, 32], lambda m: game_of(10**5, 64, m)
        ),
        "gammas (n = 100,000, d = 100)": series(
            "gammas", [1, 4, 16, 64, 256], lambda k: game_of(10**5, 100, n_gammas=k)
        ),
        "t (n = 10,000, d = 20)": rounds_of_a_long_game(),
    }


def figures(folder, *, quick=False):
    """All of the above, recorded; and the lines of a table."""
    began = time.perf_counter()
    n, d, n_read = (20_000, 20, 1_000_000) if quick else (1_000_000, 100, 50_000_000)
    against, turns = against_the_floor(n, d, n_read)
    at = f"n={n:,}, d={d}"
    measured = {
        f"{at}, one core": against | {"seconds by turn": turns},
        "round_seconds": costs(largest=10**5 if quick else 10**7),
        "minutes": (time.perf_counter() - began) / 60,
    }
    record("scaling", measured, folder=folder)
    goals = {"round / products, least": "at most 1.5", "64 gammas / one": "at most 12"}
    lines = [(f"{at}: {name}", value, goals.get(name)) for name, value in against.items()]
    return lines + [
        (f"exponent of a round in {name}", one["exponent"], None)
        for name, one in measured["round_seconds"].items()
    ]
