"""A round on a Dask cluster of two workers against one process on the same two cores.

`python -m benchmarks.dask_rounds`: a table, and JSON beside it. Every figure is measured in a
process of its own, so that its memory is its own too.
"""

import json
import os
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from benchmarks.fits import show
from benchmarks.recording import record

N_ROWS, D, N_PROTECTED, N_CHUNKS = 20_000_000, 20, 4, 16
SHORT, LONG = 5, 35  # rounds of two fits, whose difference has no set-up in it


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


def seconds_a_round(X, y, protected):
    """From two fits of different lengths."""
    seconds, last = [], None
    for n_rounds in (SHORT, LONG):
        start = time.perf_counter()
        last = model(n_rounds).fit(X, y, sensitive_features=protected)
        seconds.append(time.perf_counter() - start)
    return (seconds[1] - seconds[0]) / (LONG - SHORT), float(last.history_["unfairness"][-1])


def in_one_process(n):
    """NumPy's arrays, with as many threads as the machine has cores."""
    parts = [chunk(i, size) for i, size in enumerate(sizes(n))]
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    del parts
    return seconds_a_round(X, y, X[:, :N_PROTECTED])


def on_a_cluster(n):
    """Two workers of one thread, which make their own rows."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0",
                     memory_limit="9GiB") as cluster,
        Client(cluster),
    ):  # fmt: skip
        made = [delayed(chunk, pure=True)(i, size) for i, size in enumerate(sizes(n))]
        X, y = (
            da.concatenate(
                [da.from_delayed(one[part], (size, *shape), dtype)
                 for one, size in zip(made, sizes(n), strict=True)]
            )
            for part, shape, dtype in ((0, (D,), float), (1, (), np.int8))
        )  # fmt: skip
        return seconds_a_round(X, y, X[:, :N_PROTECTED])


def peak_mb():
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fresh(what, n):
    """A figure from a process of its own."""
    run = [sys.executable, "-m", "benchmarks.dask_rounds", what, str(n)]
    done = subprocess.run(run, check=True, capture_output=True, text=True, env=dict(os.environ))
    return json.loads(done.stdout.splitlines()[-1])


def main():
    small, middle = 2_000, N_ROWS // 10
    cluster = {n: fresh("cluster", n) for n in (small, middle, N_ROWS)}
    alone = fresh("process", N_ROWS)
    at = f"{N_ROWS:.0e} rows, {D} columns"
    per_round = cluster[N_ROWS]["seconds"]
    figures = [
        (f"Dask, 2 workers, {at}: s a round", per_round, None),
        ("the same in one process of 2 threads, s", alone["seconds"], None),
        ("Dask / one process, a round", per_round / alone["seconds"], "at most 1.3"),
        ("overhead of Dask a round, ms", 1e3 * cluster[small]["seconds"], "under 30"),
        *((f"the client's memory at {n:.0e} rows, MB", one["mb"], "the same") for n, one in
          cluster.items()),
        ("difference of their unfairness", abs(cluster[N_ROWS]["found"] - alone["found"]),
         "at most 1e-9"),
    ]  # fmt: skip
    show(figures)
    record("dask", {label: value for label, value, _ in figures}, ("dask", "distributed"))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        warnings.simplefilter("ignore")
        run = {"cluster": on_a_cluster, "process": in_one_process}[sys.argv[1]]
        seconds, found = run(int(sys.argv[2]))
        print(json.dumps({"seconds": seconds, "found": found, "mb": peak_mb()}))
