"""The defaults in every place where rows can be: the same model, and what it takes.

`python -m benchmarks anywhere`. Protocol: one seed, one set of settings and rows made by that seed.
Places agree where each fit of the estimator ends at its optimum, so that `tol` of the logistic
regression is 1e-9; how far places are apart with scikit-learn's own tolerance, at which the fits in
memory stop, is told beside it. Large fits have the defaults, each in a process of its own.
"""

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec

import numpy as np

from benchmarks.memory import peak_mb
from benchmarks.recording import record

GAMMA = 0.005
CLASSES = ("conjunctions", "value sets", "marginals", "trees")
N_AGREED, N_IN_MEMORY, N_ON_CLUSTER = 20_000, 1_000_000, 5_000_000
D_IN_MEMORY, D_ON_CLUSTER = 40, 20
N_CHUNKS, N_WORKERS = 16, 2
OPTIMUM = 1e-9


def people(n, d, n_protected, n_values, seed=0):
    """Features, labels and protected codes; a feature that misleads is high in one group of two.

    So a plain model's false positives are some .023 of unfairness there.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    A = rng.integers(0, n_values, (n, n_protected))
    apart = (A[:, 0] < n_values // 2) & (A[:, 1] < n_values // 2)
    X[:, 1] += apart
    signal = X[:, 0] + X[:, 1] * ~apart - 0.5 * X[:, 2] * (A[:, 2] > 0)
    y = (signal + rng.standard_normal(n) > 0.3).astype(np.int8)
    return X, y, A


def classifier(estimator, subgroups="linear", **settings):
    from gerrymend import SubgroupParityClassifier, Trees, ValueSets

    made = {"value sets": ValueSets(), "trees": Trees(2)}.get(subgroups, subgroups)
    return SubgroupParityClassifier(
        estimator, subgroups=made, gamma=GAMMA, random_state=0, **settings
    )


def decisions(model, X):
    return np.asarray(model.predict_proba(X))[:, 1]


@contextmanager
def two_workers(*, processes=True):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0",
                     processes=processes, memory_limit="6GiB") as cluster,
        Client(cluster),
    ):  # fmt: skip
        yield


def places(X, y, A):
    """Rows in every place that there is on this machine, as arguments of fit, by its name."""
    found = {"NumPy": (X, y, A)}
    if find_spec("distributed"):
        import dask.array as da

        chunks = tuple(len(part) for part in np.array_split(y, 5))
        found["Dask"] = [da.from_array(part, (chunks, *part.shape[1:])) for part in (X, y, A)]
    if not find_spec("torch"):
        return found
    import torch

    found["torch on cpu"] = [torch.as_tensor(part) for part in (X, y, A)]
    if torch.cuda.is_available():
        found["torch on cuda"] = [torch.as_tensor(part, device="cuda") for part in (X, y, A)]
    return found


def agreement(folder, n=N_AGREED):
    """How far error and unfairness are from NumPy's in other places, at most, by estimator."""
    import sklearn
    from sklearn.linear_model import LinearRegression, LogisticRegression

    os.environ["SCIPY_ARRAY_API"] = "1"
    X, y, A = people(n, 10, 3, 4)
    A = A.astype(float)
    to_optimum = LogisticRegression(tol=OPTIMUM, max_iter=1000)
    plans = {"logistic": (to_optimum, CLASSES), "linear": (LinearRegression(), CLASSES)}
    plans["logistic, scikit-learn's tol"] = LogisticRegression(), ("conjunctions",)
    lines = []
    cluster = two_workers(processes=False) if find_spec("distributed") else nullcontext()
    with cluster, sklearn.config_context(array_api_dispatch=True):
        there = places(X, y, A)
        for name, (estimator, classes) in plans.items():
            apart = {place: 0.0 for place in there if place != "NumPy"}
            for subgroups in classes:
                came = {place: played(estimator, subgroups, rows) for place, rows in there.items()}
                for place in apart:
                    differs = np.abs(np.subtract(came[place], came["NumPy"])).max()
                    apart[place] = max(apart[place], float(differs))
            wanted = "at most 1e-6" if estimator is not plans[next(reversed(plans))][0] else None
            lines += [
                (f"{name}, {len(classes)} classes: {place} from NumPy", value, wanted)
                for place, value in apart.items()
            ]
    keep("places", lines, {}, folder)
    return lines


def keep(step, lines, came, folder):
    """Record the lines of a step, and what they were made of."""
    installed = [one for one in ("dask", "distributed", "torch") if find_spec(one)]
    figures = {label: value for label, value, _ in lines} | came
    record(f"anywhere_{step}", figures, installed, folder)


def played(estimator, subgroups, rows):
    """Error and unfairness of the mixture that a fit comes to."""
    X, y, A = rows
    model = classifier(estimator, subgroups).fit(X, y, sensitive_features=A)
    worst = model.worst_subgroup_
    return model.history_["error"][-1], 0.0 if worst is None else abs(worst.unfairness)


def in_memory(n):
    """CPU seconds of a default fit and of a plain one, the process's peak, and an audit."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    from gerrymend import audit

    warm_up(D_IN_MEMORY, 4, 10)
    X, y, A = people(n, D_IN_MEMORY, 4, 10)
    protected = pd.DataFrame(A, columns=list("abcd")).astype(str).astype("category")
    del A
    start = time.process_time()
    LogisticRegression().fit(X, y)
    plain = time.process_time() - start
    start = time.process_time()
    model = classifier(LogisticRegression()).fit(X, y, sensitive_features=protected)
    ours = time.process_time() - start
    peak = peak_mb()
    report = audit(
        y, decisions(model, X), sensitive_features=protected, decision_probabilities=True,
        gamma=GAMMA,
    )  # fmt: skip
    return {
        "plain_s": plain, "ours_s": ours, "rounds": model.n_iter_, "peak_mb": peak,
        "x_mb": X.nbytes / 2**20, "error": float(model.history_["error"][-1]),
        "unfairness": abs(model.worst_subgroup_.unfairness), "audited": report.unfairness,
        "first": float(model.history_["unfairness"][0]),
    }  # fmt: skip


def warm_up(d, n_protected, n_values):
    """Let numba compile, and libraries load, off the clock."""
    X, y, A = people(2_000, d, n_protected, n_values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier(None, max_iter=3).fit(X, y, sensitive_features=A)


def chunk(number, n):
    """One chunk of the rows that a cluster, or one process, makes for itself."""
    return people(n, D_ON_CLUSTER, 3, 5, seed=number)


def sizes(n):
    return [n // N_CHUNKS + (i < n % N_CHUNKS) for i in range(N_CHUNKS)]


def in_one_process(n):
    """The default fit of all rows here, with as many threads as the cluster has workers."""
    warm_up(D_ON_CLUSTER, 3, 5)
    parts = zip(*(chunk(i, size) for i, size in enumerate(sizes(n))), strict=True)
    X, y, A = (np.concatenate(part) for part in parts)
    return clocked(X, y, A)


def on_a_cluster(n):
    """The same on workers of one thread each, which hold their rows."""
    import dask.array as da
    from dask import delayed
    from distributed import wait

    with two_workers():
        made = [delayed(chunk, pure=True)(i, size) for i, size in enumerate(sizes(n))]
        shapes = ((D_ON_CLUSTER,), float), ((), np.int8), ((3,), np.int64)
        X, y, A = (
            da.concatenate(
                [
                    da.from_delayed(one[part], (size, *shape), dtype)
                    for one, size in zip(made, sizes(n), strict=True)
                ]
            ).persist()
            for part, (shape, dtype) in enumerate(shapes)
        )
        wait([X, y, A])
        few = [part[: n // 100].persist() for part in (X, y, A)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier(None, max_iter=3).fit(*few[:2], sensitive_features=few[2])
        del few
        return clocked(X, y, A)


def clocked(X, y, A):
    """Seconds of a default fit, what it came to, and an audit of all that was decided."""
    from gerrymend import audit

    start = time.perf_counter()
    model = classifier(None).fit(X, y, sensitive_features=A)
    seconds = time.perf_counter() - start
    mb = peak_mb()
    # In parts, so that no row need be here while the fit is measured.
    n_rows = X.shape[0]
    made = [chunk(i, size) for i, size in enumerate(sizes(n_rows))]
    report = audit(
        np.concatenate([part[1] for part in made]),
        np.concatenate([decisions(model, part[0]) for part in made]),
        sensitive_features=np.concatenate([part[2] for part in made]),
        decision_probabilities=True, gamma=GAMMA,
    )  # fmt: skip
    return {
        "seconds": seconds, "rounds": model.n_iter_, "mb": mb, "audited": report.unfairness,
        "error": float(model.history_["error"][-1]), "load": os.getloadavg()[0],
    }  # fmt: skip


def fresh(what, n):
    """Figures from a process of its own."""
    run = [sys.executable, "-m", "benchmarks.anywhere", what, str(n)]
    threads = dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"),
        str(N_WORKERS if what == "process" else 1),
    )
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True,
                          env=os.environ | threads)  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def memory_figures(folder, n=N_IN_MEMORY):
    """What the default fit of many rows in memory takes beside a plain one."""
    came = fresh("memory", n)
    at = f"{n:.0e} × {D_IN_MEMORY}, 10,000 cells"
    lines = [
        (f"{at}: default fit / plain fit, CPU", came["ours_s"] / came["plain_s"], "at most 40"),
        (f"{at}: peak of the process / X", came["peak_mb"] / came["x_mb"], "at most 3"),
        (f"{at}: unfairness by an audit of its own", came["audited"], f"at most {GAMMA}"),
    ]
    keep("memory", lines, came, folder)
    return lines


def cluster_figures(folder, n=N_ON_CLUSTER):
    """What the default fit takes on two workers, beside one process of as many threads."""
    few, many = (fresh("cluster", size) for size in (n // 10, n))
    alone = fresh("process", n)
    at = f"{n:.0e} × {D_ON_CLUSTER}"
    lines = [
        (f"{at}: Dask / one process, s", many["seconds"] / alone["seconds"], "at most 1.5"),
        (f"{at}: client's memory / at a tenth", many["mb"] / few["mb"], "near 1"),
        (f"{at}: Dask, unfairness by an audit", many["audited"], f"at most {GAMMA}"),
        (f"{at}: one process, unfairness by an audit", alone["audited"], f"at most {GAMMA}"),
        (f"{at}: Dask / one process, CPU of all", many["cpu_s"] / alone["cpu_s"], None),
    ]
    keep("cluster", lines, {"few": few, "many": many, "alone": alone}, folder)
    return lines


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, n_rows = sys.argv[1], int(sys.argv[2])
    run = {"memory": in_memory, "cluster": on_a_cluster, "process": in_one_process}[what]
    came = run(n_rows)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    came["cpu_s"] = sum(one.ru_utime + one.ru_stime for one in used)
    print(json.dumps(came))
