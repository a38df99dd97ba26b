"""Sweeps under every backend of joblib: the same numbers, no more threads than cores."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings

import joblib
import numba
import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

from gerrymend import (
    ExplicitGroups,
    FrontierInterrupted,
    LinearThresholds,
    SubgroupParityClassifier,
    audit,
    audit_counts,
    bootstrap,
    pareto_frontier,
)
from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.workers import Common, Workers
from gerrymend.auditing.examine import prove_each
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.auditing.inference import permutation, permuted_searches
from gerrymend.datasets import make_intersectional
from gerrymend.frontier import training as frontier
from gerrymend.inputs.sample import Sample
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.subgroups import as_subgroup_class
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.cli.calling import call
from tests.marks import slow

pytestmark = MAY_EXCEED_GAMMA

BACKENDS = ["sequential", "threading", "loky", "multiprocessing", "dask"]
# More rows than joblib sends: workers map them, and can't write to them.
N_ROWS = 20_000


@pytest.fixture(scope="module")
def cluster(forked_workers):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "dask":
        request.getfixturevalue("cluster")
    with joblib.parallel_config(backend=request.param):
        yield request.param


@pytest.fixture(scope="module")
def data():
    return make_intersectional(N_ROWS, cardinalities=(2, 3), n_numeric=0, random_state=0)


def frontier_of(data, **options):
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="conjunctions", max_iter=5, tol=None, random_state=3
    )
    return pareto_frontier(
        clf, data.data, data.target, sensitive_features=data.sensitive_features,
        gammas=[0.0, 0.01, 0.05], notions=["false_positive_rate", "statistical_parity"], **options,
    )  # fmt: skip


def figures(frontier):
    return [{**point, "seconds": 0, "code": ""} for point in frontier.to_dict()["points"]]


def draws_of(data, n_jobs):
    """Resamples and permutations: of rows that weigh the same, of others, and of a table."""
    rng = np.random.default_rng(0)
    decided, y = (data.data[:, 0] > 0).astype(int), data.target
    how = {"sensitive_features": data.sensitive_features, "notion": ("equalized_odds",),
           "n_permutations": 19, "n_jobs": n_jobs}  # fmt: skip
    table = {"a": [0, 0, 1, 1, 2, 2], "label": [0, 0, 0, 1, 0, 0], "prediction": [0, 1] * 3,
             "count": [50, 20, 60, 90, 60, 5]}  # fmt: skip
    drawn = {"sensitive_features": data.sensitive_features, "n_resamples": 9, "n_jobs": n_jobs}
    return [
        bootstrap(y, decided, subgroups="conjunctions", **drawn),
        bootstrap(y, decided, sample_weight=rng.random(len(y)), **drawn),
        audit(y, decided, subgroups="linear", **how).permutation_test,
        audit(y, decided, subgroups="conjunctions", sample_weight=rng.random(len(y)), **how
              ).permutation_test,
        # On a busy machine 99 draws by other processes took more than the 30 s of the default.
        audit_counts(table, sensitive_features="a", n_permutations=99, n_jobs=n_jobs, budget=600
                     ).permutation_test,
    ]  # fmt: skip


CLASSES = [
    "linear", "conjunctions", "value_sets", "trees", "marginals",
    LinearThresholds(search="regression"), ExplicitGroups({"v0": {"category_0": "v0"}}),
]  # fmt: skip


@pytest.mark.parametrize("subgroups", CLASSES, ids=str)
def test_every_class_can_be_sent(data, subgroups):
    """By pickle alone, as multiprocessing does it: no class holds what that can't take."""
    few = slice(0, 500)
    protected = {name: values[few] for name, values in data.sensitive_features.items()}
    tally = tally_of_rows(data.target[few], data.data[few, 0] > 0, protected)
    examined = prove_each(tally, [FALSE_POSITIVE_RATE], as_subgroup_class(subgroups), 1.0)
    searches = permuted_searches.Searches.of(tally, examined, 0, 1.0)
    again = pickle.loads(pickle.dumps(searches))
    assert again.search(range(5), 9.0, 0.1, False) == searches.search(range(5), 9.0, 0.1, False)


@pytest.fixture(scope="module")
def alone(data):
    """What one worker finds."""
    return figures(frontier_of(data)), draws_of(data, None)


def test_the_same_numbers_under_every_backend(data, alone, backend):
    told = []
    frontier = frontier_of(data, n_jobs=2, on_point=lambda point, of: told.append((point, of)))
    assert figures(frontier) == alone[0]
    assert [(point.gamma, of) for point, of in told] == [(g, 6) for g in [0.0, 0.01, 0.05] * 2]
    assert draws_of(data, 2) == alone[1]
    assert alone[1][-1].p_value is not None


def threads_of_a_task(_):
    """Threads that the pools of this process may start for one task, the largest of them."""
    numpy_and_openmp = [pool["num_threads"] for pool in threadpool_info()]
    return max([*numpy_and_openmp, numba.get_num_threads()])


def test_no_more_threads_than_cores(backend):
    before = threads_of_a_task(None)
    with Workers(n_jobs=2) as workers:
        of_each = list(workers(threads_of_a_task, [(i,) for i in range(6)]))
    assert workers.number == (1 if backend == "sequential" else 2)
    assert workers.number * max(of_each) <= max(joblib.cpu_count(), workers.number)
    assert threads_of_a_task(None) == before


def test_threads_that_a_user_gave_to_workers_are_left(monkeypatch):
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1), Workers(2) as workers:
        assert list(workers(threads_of_a_task, [(0,), (1,)])) == [1, 1]


def numbers_and_threads(number):
    with Workers(n_jobs=2) as workers:
        return workers.number, list(workers(divmod, [(number, 2)]))


@pytest.mark.parametrize("outer", ["threading", "loky", "multiprocessing"])
def test_a_sweep_within_a_task_has_the_tasks_core(outer):
    with joblib.parallel_config(backend=outer), Workers(n_jobs=2) as workers:
        found = list(workers(numbers_and_threads, [(7,), (9,)]))
    assert found == [(1, [(3, 1)]), (1, [(4, 1)])]


def test_tasks_see_scikit_learns_configuration(backend):
    with sklearn.config_context(assume_finite=True), Workers(n_jobs=2) as workers:
        found = list(workers(sklearn.get_config, [(), ()]))
    assert [config["assume_finite"] for config in found] == [True, True]


def kind_of_features(rows):
    return type(rows.value[0].features).__name__


def test_workers_map_what_is_large(data):
    rows = Common([Sample.read(data.target, data.sensitive_features, features=data.data)])
    for chosen in ("loky", "multiprocessing"):
        with joblib.parallel_config(backend=chosen), Workers(2) as workers:
            assert list(workers(kind_of_features, [(rows,)] * 3)) == ["memmap"] * 3


@pytest.mark.parametrize("outer", ["loky", slow("threading")])
def test_a_search_of_parameters_around_a_classifier(data, outer):
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="marginals", max_iter=3, tol=None, random_state=0
    )
    rows = slice(0, 2000)
    X, y = data.data[rows], data.target[rows]

    def scores(n_jobs):
        search = GridSearchCV(clf, {"gamma": [0.0, 0.1]}, cv=2, n_jobs=n_jobs)
        with sklearn.config_context(enable_metadata_routing=False):
            protected = np.digitize(X[:, 0], [0.0])
            search.fit(X, y, sensitive_features=protected)
        return search.cv_results_["mean_test_score"].tolist()

    with joblib.parallel_config(backend=outer):
        assert scores(2) == scores(1)


def test_what_workers_warn_of_names_options_of_the_command(data, tmp_path):
    rows = {name: values[:300] for name, values in data.sensitive_features.items()}
    rows |= {"a": data.data[:300, 0], "y": data.target[:300]}
    file = tmp_path / "people.csv"
    pl.DataFrame(rows).write_csv(file)
    _, _, err = call(
        "frontier", file, "--label", "y", "--protected", ",".join(data.sensitive_features),
        "--estimator", "linear-regression", "--subgroups", "marginals", "--marginal",
        "--gammas", "0", "--max-iter", "1", "--jobs", "2",
    )  # fmt: skip
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    assert any(note.startswith("Note: MARGINAL, for contrast: After 1 round") for note in notes)
    assert all("--max-iter (now 1)" in note for note in notes)


@pytest.mark.parametrize("chosen", ["threading", "loky", slow("multiprocessing")])
def test_a_stop_keeps_the_points_that_were_done(data, chosen):
    """The last test of loky's processes: it ends them, and others import everything again."""
    done = []

    def stop_at_the_second(point, of):
        done.append(point.gamma)
        if len(done) == 2:
            raise KeyboardInterrupt

    with joblib.parallel_config(backend=chosen), pytest.raises(FrontierInterrupted) as stopped:
        frontier_of(data, n_jobs=2, on_point=stop_at_the_second)
    assert [point.gamma for point in stopped.value.frontier.points] == [0.0, 0.01]
    assert stopped.value.frontier.n_missing == 4


# Presses Ctrl-C as soon as a worker is inside HiGHS, which gives the GIL away and takes it again in
# a destructor of C++: an interpreter that is ending by then is aborted. It ends no sooner than the
# worker comes back, so that this is no matter of chance.
PRESSED_INSIDE_HIGHS = """
import os, signal, sys, threading, time
import joblib
import numpy as np
from scipy.optimize import linprog
from gerrymend._runtime.workers import Workers

begun, pressed, came_back = [], [], []

def solve(seed):
    rng = np.random.default_rng(seed)
    try:
        for n in range(200, 3001, 200):  # larger ones, until HiGHS takes long enough
            begun.append(n)
            linprog(-rng.random(2 * n), A_ub=rng.random((n, 2 * n)), b_ub=np.ones(n))
            if pressed:
                break
    finally:
        came_back.append(True)

def press():
    seen = []  # where in HiGHS's wrapper the worker was: inside HiGHS once that changes no more
    while len(seen) < 100 or len(set(seen[-100:])) > 1:
        if came_back:
            print("HiGHS was not seen at work, be it too quick or by another name", file=sys.stderr)
            return
        time.sleep(0.001)
        wrappers = [one for one in sys._current_frames().values()
                    if one.f_code.co_name == "_highs_wrapper"]
        seen += [(len(begun), one.f_lasti) for one in wrappers]
    pressed.append(True)
    os.kill(os.getpid(), signal.SIGINT)

class Output:
    def flush(self):  # the interpreter does this when it has begun to end
        for _ in range(3000):
            if sys.is_finalizing() and not came_back:
                time.sleep(0.01)

sys.stdout = Output()
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=press).start()
with joblib.parallel_config(backend="threading"), Workers(2) as workers:
    list(workers(solve, [(0,)]))
"""


def test_ctrl_c_while_threads_are_in_compiled_code_ends_the_process_in_order():
    command = [sys.executable, "-c", PRESSED_INSIDE_HIGHS]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr.strip().endswith("KeyboardInterrupt"), run.stderr
    assert run.returncode == -signal.SIGINT


def test_no_thread_trains_on_after_ctrl_c(data, monkeypatch):
    """Both are at it, and would be for long; the first to be there presses Ctrl-C."""
    train, both_train = frontier._train, threading.Barrier(2)
    begun, ended = [], []

    def watched(*task):
        begun.append(threading.get_ident())
        try:
            if both_train.wait(60) == 0:
                os.kill(os.getpid(), signal.SIGINT)
            return train(*task)
        finally:
            ended.append(threading.get_ident())

    monkeypatch.setattr(frontier, "_train", watched)
    rows = slice(0, 500)
    protected = {name: values[rows] for name, values in data.sensitive_features.items()}
    clf = SubgroupParityClassifier(LinearRegression(), max_iter=10**6, tol=None, random_state=0)
    with joblib.parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt):
        pareto_frontier(
            clf, data.data[rows], data.target[rows], sensitive_features=protected, n_jobs=2,
            gammas=[0.01], notions=["false_positive_rate", "statistical_parity"],
        )  # fmt: skip
    assert len(begun) == 2
    assert sorted(ended) == sorted(begun)


def where(common):
    return id(common)


def test_dask_is_sent_what_is_common_once(cluster):
    with joblib.parallel_config(backend="dask"), Workers(2) as workers:
        assert len(set(workers(where, [(Common([1.0]),)] * 1 * 5))) == 1


def test_no_row_travels_to_a_permutation(data, monkeypatch):
    """Equal rows of whole decisions are dealt as counts: what is sent is as large as the cells."""
    tally = tally_of_rows(data.target, data.data[:, 0] > 0, data.sensitive_features)
    sent = []
    monkeypatch.setattr(permutation, "search", lambda *task: sent.append(task) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        audit(data.target, data.data[:, 0] > 0, sensitive_features=data.sensitive_features,
              n_permutations=19)  # fmt: skip
    assert tally.rows is not None
    assert len(pickle.dumps(sent[0])) < N_ROWS


@pytest.mark.parametrize("given", [0, 1.5, "two"])
def test_a_number_of_workers_that_is_none(data, given):
    with pytest.raises(ValueError, match=r"n_jobs must be a whole number .* got "):
        frontier_of(data, n_jobs=given)
    with pytest.raises(ValueError, match="n_jobs must be a whole number"):
        draws_of(data, given)


def test_warnings_are_heard_by_their_own_thread():
    """Two threads that overlap, the first to come the first to go; then all is as it was."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    heard = {}

    def first():
        with heard_warnings() as heard["first"]:
            first_is_in.set()
            assert second_is_in.wait(60)
            warnings.warn("of the first", UserWarning, stacklevel=1)
        first_is_out.set()

    def second():
        assert first_is_in.wait(60)
        with heard_warnings() as heard["second"]:
            second_is_in.set()
            assert first_is_out.wait(60)
            warnings.warn("of the second", UserWarning, stacklevel=1)

    filters, shown = list(warnings.filters), warnings.showwarning
    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = {name: [str(one.message) for one in some] for name, some in heard.items()}
    assert words == {"first": ["of the first"], "second": ["of the second"]}
    assert (list(warnings.filters), warnings.showwarning) == (filters, shown)


def test_who_does_not_listen_is_warned_as_before():
    listening, done = threading.Event(), threading.Event()

    def listen():
        with heard_warnings():
            listening.set()
            done.wait(60)

    thread = threading.Thread(target=listen)
    with warnings.catch_warnings(record=True) as shown:
        thread.start()
        assert listening.wait(60)
        warnings.warn("of another", UserWarning, stacklevel=1)
        done.set()
        thread.join()
    assert [str(one.message) for one in shown] == ["of another"]
