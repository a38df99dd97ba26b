"""Rounds on a CUDA device against what its memory allows: `python -m benchmarks.gpu [FOLDER]`.

Data is made on the device and never leaves it. Needs torch with CUDA, and some 15 GB of its memory.
"""

import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import sklearn
import torch
from sklearn.linear_model import LinearRegression

from benchmarks.recording import RESULTS, record
from gerrymend import LinearThresholds, SubgroupParityClassifier
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import FictitiousPlay
from gerrymend.solvers.regression.array_block import ArrayBlock
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.solvers.regression.rows import SummedBlocks
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.linear_rule import Term

DEVICE = "cuda"
N_PROTECTED = 5


def seconds_of(work, repeats=10):
    """Median seconds of some work on the device."""
    times = []
    for _ in range(repeats + 2):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000)
    return float(np.median(times[2:]))


def bandwidth(n=1 << 30):
    """Bytes a second that a copy moves, read and written."""
    source, target = (torch.ones(n, device=DEVICE) for _ in range(2))
    return 2 * source.nbytes / seconds_of(lambda: target.copy_(source))


def problem(n, d):
    """Features, protected attributes among them, labels of which half are 0, weights."""
    torch.manual_seed(0)
    X = torch.randn(n, d, device=DEVICE, dtype=torch.float32)
    A = X[:, :N_PROTECTED].contiguous()
    signal = X[:, 5] + A[:, 0] * A[:, 1] + torch.randn(n, device=DEVICE)
    y = (signal > signal.median()).to(torch.int8)
    return X, A, y, torch.ones(n, device=DEVICE)


def rounds(n, d, gammas, n_rounds):
    """Seconds of a round, and of making the bases."""
    start = time.perf_counter()
    rows = problem(n, d)
    torch.cuda.synchronize()
    generated = time.perf_counter()
    terms = tuple(Term(f"attribute_{j}", categorical=False) for j in range(N_PROTECTED))
    encoding = LinearEncoding(terms, {term.attribute: None for term in terms})
    played = SummedBlocks.of(ArrayBlock(*rows, FALSE_POSITIVE_RATE))
    solver = FictitiousPlay()
    game = RegressionGame(
        played, FALSE_POSITIVE_RATE, encoding, solver, gammas, C=10.0, dtype="float32"
    )
    torch.cuda.synchronize()
    ready = time.perf_counter()
    told = {}
    # Told of 64 rounds at a time, when all that they needed has come to the host.
    result = game.play(
        max_iter=n_rounds,
        tol=None,
        on_round=lambda played: told.setdefault(played.number, time.perf_counter()),
    )
    ended = time.perf_counter()
    ticks = [told[number] for number in sorted(told) if number % 64 == 1]
    return {
        "ms_per_round": 1000 * float(np.median(np.diff(ticks[1:])) / 64),
        "ms_per_round_all": [round(1000 * tick / 64, 4) for tick in np.diff(ticks)],
        "data_s": generated - start,
        "bases_s": ready - generated,
        "play_s": ended - ready,
        "rounds": n_rounds,
        "error": float(result[0].error[-1]),
        "unfairness": float(result[0].unfairness[-1]),
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
    }


def path(n, d, gammas, n_rounds, tol):
    """What fit_path costs a user, all of it: rows are read, games played, and classifiers made.

    Beside it, how long the first prediction of one of them takes, which makes its mixture.
    """
    X, A, y, _ = problem(n, d)
    model = SubgroupParityClassifier(
        LinearRegression(), solver="fictitious_play", max_iter=8, tol=tol, random_state=0,
        subgroups=LinearThresholds(search="regression"),
    )  # fmt: skip
    os.environ["SCIPY_ARRAY_API"] = "1"
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit_path(X, y, gammas=gammas, sensitive_features=A)  # loads libraries, and kernels
        model.set_params(max_iter=n_rounds)
        torch.cuda.synchronize()
        start = time.perf_counter()
        models = model.fit_path(X, y, gammas=gammas, sensitive_features=A)
        torch.cuda.synchronize()
        fitted = time.perf_counter()
        models[len(models) // 2].predict(X)
        torch.cuda.synchronize()
        predicted = time.perf_counter()
    n_played = max(one.n_iter_ for one in models)
    return {
        "ms_per_round": 1000 * (fitted - start) / n_played,
        "fit_path_s": fitted - start,
        "rounds": n_played,
        "first_prediction_ms": 1000 * (predicted - fitted),
    }


def floor_ms(n, d, n_games, speed):
    """A round's least: the event's half of the basis twice, of the protected one twice, the rest
    of the basis once in 64 rounds, and the games' votes, pressure and members read and written."""
    event = n // 2
    basis, protected, state = d + 1, N_PROTECTED + 1, 6 * n_games
    numbers = event * (2 * basis + 2 * protected + basis / 64 + state)
    return 1000 * 4 * numbers / speed


def driver():
    """Version of the device's driver."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def main(folder=RESULTS):
    speed = bandwidth()
    cases = {
        "n=10^7, d=100, 1 gamma": (10_000_000, 100, [0.005], 64 * 8),
        "n=2000, d=120, 1024 gammas": (2000, 120, np.linspace(0.0, 0.05, 1024).tolist(), 64 * 8),
    }
    measured = {}
    for name, (n, d, gammas, n_rounds) in cases.items():
        measured[name] = rounds(n, d, gammas, n_rounds)
        measured[name]["floor_ms"] = floor_ms(n, d, len(gammas), speed)
        print(name, json.dumps(measured[name]), flush=True)
        torch.cuda.empty_cache()
    n, d, gammas, n_rounds = cases["n=2000, d=120, 1024 gammas"]
    for tol, rounds_of_path in ((None, 120), (None, n_rounds), (0.002, n_rounds)):
        name = f"fit_path, n={n}, d={d}, {len(gammas)} gammas, {rounds_of_path} rounds, tol={tol}"
        measured[name] = path(n, d, gammas, rounds_of_path, tol)
        print(name, json.dumps(measured[name]), flush=True)
    device = {
        "device": torch.cuda.get_device_name(),
        "driver": driver(),
        "cuda": torch.version.cuda,
    }
    record("gpu", {"copy_tb_per_s": speed / 1e12, "cases": measured}, ("torch",), folder, **device)


if __name__ == "__main__":
    main(*sys.argv[1:])
