"""A round on a Dask cluster of two workers against one process on the same two cores.

`python -m benchmarks dask`. Every figure is measured in a process of its own, so that its memory is
its own too.
"""

import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np

from benchmarks.memory import peak_mb
from benchmarks.recording import record

N_ROWS, D, N_PROTECTED, N_CHUNKS, N_WORKERS = 20_000_000, 20, 4, 16, 2
FEW, MANY = 2_000, 1_000_000
SHORT, LONG, LONG_OF_FEW = 5, 25, 300  # rounds


def chunk(number, n):
    """Features and labels of one chunk; the protected columns are the first of the features."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n, D))
    signal = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.standard_normal(n)
    return X, (signal > 0).astype(np.int8)


def sizes(n):
    """Rows of each chunk."""
    return [n // N_CHUNKS + (i < n % N_CHUNKS) for i in range(N_CHUNKS)]


def model(max_iter):
    from sklearn.linear_model import LinearRegression

    from gerrymend import LinearThresholds, SubgroupParityClassifier

    return SubgroupParityClassifier(
        LinearRegression(), solver="fictitious_play", gamma=0.001, max_iter=max_iter, tol=None,
        subgroups=LinearThresholds(search="regression"), random_state=0,
    )  # fmt: skip


def seconds_a_round(rows, n):
    """Median seconds of a round, after a fit of few rows that loads and compiles.

    Rounds are timed one by one: what a fit of many rows takes to begin varies by more than they do.
    """
    from gerrymend.solvers.regression.game import RegressionGame

    X, y = rows(FEW)
    model(SHORT).fit(X, y, sensitive_features=X[:, :N_PROTECTED])
    seconds, finish_round = [], RegressionGame.finish_round

    def timed(self, prepared):
        start = time.perf_counter()
        finish_round(self, prepared)
        seconds.append(time.perf_counter() - start)

    RegressionGame.finish_round = timed
    X, y = rows(n)
    last = model(LONG if n >= MANY else LONG_OF_FEW).fit(
        X, y, sensitive_features=X[:, :N_PROTECTED]
    )
    return float(np.median(seconds)), float(last.history_["unfairness"][-1])


def of_numpy(n):
    """All rows in this process."""
    parts = [chunk(i, size) for i, size in enumerate(sizes(n))]
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def of_dask(n):
    """Rows that workers make for themselves."""
    import dask.array as da
    from dask import delayed

    made = [delayed(chunk, pure=True)(i, size) for i, size in enumerate(sizes(n))]
    return tuple(
        da.concatenate(
            [da.from_delayed(one[part], (size, *shape), dtype)
             for one, size in zip(made, sizes(n), strict=True)]
        )
        for part, shape, dtype in ((0, (D,), float), (1, (), np.int8))
    )  # fmt: skip


def in_one_process(n):
    """NumPy's arrays, with as many threads as the cluster has workers: see `fresh`."""
    return seconds_a_round(of_numpy, n)


def on_a_cluster(n):
    """Workers of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0",
                     memory_limit="9GiB") as cluster,
        Client(cluster),
    ):  # fmt: skip
        return seconds_a_round(of_dask, n)


def fresh(what, n):
    """A figure from a process of its own; one process has as many threads as there are workers."""
    run = [sys.executable, "-m", "benchmarks.dask_rounds", what, str(n)]
    threads = dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), str(N_WORKERS if what == "process" else 1)
    )
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True,
                          env=os.environ | threads)  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def figures(folder, n_rows=N_ROWS):
    """The cluster at three sizes and one process at the largest, recorded; the lines of a table."""
    middle = n_rows // 10
    cluster = {n: fresh("cluster", n) for n in (FEW, middle, n_rows)}
    alone = fresh("process", n_rows)
    at = f"{n_rows:.0e} rows, {D} columns"
    per_round = cluster[n_rows]["seconds"]
    lines = [
        (f"Dask, {N_WORKERS} workers, {at}: s a round", per_round, None),
        (f"the same in one process of {N_WORKERS} threads, s", alone["seconds"], None),
        ("Dask / one process, a round", per_round / alone["seconds"], "at most 1.3"),
        ("overhead of Dask a round, ms", 1e3 * cluster[FEW]["seconds"], "under 30"),
        *((f"the client's memory at {n:.0e} rows, MB", one["mb"], "the same") for n, one in
          cluster.items()),
        ("difference of their unfairness", abs(cluster[n_rows]["found"] - alone["found"]),
         "at most 1e-9"),
    ]  # fmt: skip
    record("dask", {label: value for label, value, _ in lines}, ("dask", "distributed"), folder)
    return lines


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run = {"cluster": on_a_cluster, "process": in_one_process}[sys.argv[1]]
    seconds, found = run(int(sys.argv[2]))
    print(json.dumps({"seconds": seconds, "found": found, "mb": peak_mb()}))
