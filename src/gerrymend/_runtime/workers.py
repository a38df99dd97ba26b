"""Parallel tasks through joblib, on whatever backend it is configured to use.

Workers × threads don't exceed the cores. The thread pools of OpenMP and numba are limited for the
thread that runs a task. BLAS has one pool for a whole process, which is limited in the caller's
process while it has workers, and for good in the processes of workers. (joblib itself does so in
loky's processes only.)
"""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from numbers import Integral
from typing import Any, Generic, Self, TypeVar

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.interrupts import StoppableTasks

T = TypeVar("T")
# More than the cores of any machine, or cluster of them.
_MOST_WORKERS = 10_000
# The backend's own class is not imported: it needs Dask.
_DASK = "DaskDistributedBackend"


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of workers as joblib counts them, or None; raise ValueError for others.

    >>> check_jobs(-1)
    -1
    """
    if n_jobs is None:
        return None
    # NumPy's durations are whole numbers, too; joblib starts as many workers as it is told, and
    # counts up from all cores in a C int.
    if isinstance(n_jobs, Integral) and not isinstance(n_jobs, np.timedelta64):
        number = int(n_jobs)
        if -(2**31) < number <= _MOST_WORKERS and number != 0:
            return number
    raise ArgumentError(
        "n_jobs",
        f"must be a whole number of workers, at most {_MOST_WORKERS:,}, -1 for all cores, or None; "
        f"got {n_jobs!r}.",
    )


class Common(Generic[T]):
    """A value that all tasks of a sweep read, wrapped to be sent once if the backend can do that.

    loky and multiprocessing put large arrays into files that all workers map, however deep they
    are in an argument. Dask keeps an argument on its workers only if `sys.getsizeof` is large.
    """

    def __init__(self, value: T) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return 1 << 20


class Workers:
    """A pool of as many workers as `n_jobs` and joblib's configuration say, kept by a context.

    Inside a task of joblib there is one worker, since the other cores are taken. No thread is left
    working when the context ends; tasks whose results nobody waits for are stopped.

    >>> with Workers(n_jobs=None) as workers:
    ...     list(workers(divmod, [(7, 2), (9, 4)]))
    [(3, 1), (2, 1)]
    """

    def __init__(self, n_jobs: int | None) -> None:
        backend, _ = get_active_backend()
        # joblib would nest threads within a task, on cores that other tasks use.
        if (backend.nesting_level or 0) > 0:
            n_jobs = 1
        self.number: int = effective_n_jobs(n_jobs)
        self._one_by_one = getattr(backend, "supports_return_generator", True) or self.number == 1
        as_done = "generator" if self._one_by_one else "list"
        self._parallel = Parallel(n_jobs=n_jobs, return_as=as_done, batch_size=1)
        self._threads = _threads_of_each(backend, self.number)
        in_threads = self.number > 1 and getattr(backend, "uses_threads", False)
        self._in_threads = StoppableTasks() if in_threads else None

    def __enter__(self) -> Self:
        with ExitStack() as entered:
            if self._threads is not None:
                entered.enter_context(_at_most(self._threads, "blas"))
            entered.enter_context(self._parallel)
            self._entered = entered.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._entered.__exit__(*error)
        finally:
            # joblib leaves its threads at work; stop their tasks, and wait for them.
            if self._in_threads is not None:
                self._in_threads.stop()

    def __call__(
        self, function: Callable[..., T], tasks: Sequence[tuple[Any, ...]]
    ) -> Generator[T, None, None]:
        """Yield the result of the function for each task, in order, as soon as it is there.

        A backend that returns all results at once gets as many tasks at a time as it has workers.
        """
        run = partial(_run, function, self._threads, os.getpid(), get_config())
        if self._in_threads is not None:
            run = partial(self._in_threads.run, run)
        at_once = len(tasks) if self._one_by_one else self.number
        for start in range(0, len(tasks), at_once or 1):
            results = self._parallel(delayed(run)(*task) for task in tasks[start : start + at_once])
            try:
                for result in results:  # noqa: UP028 (it would close them where all is heard)
                    yield result
            finally:
                if self._one_by_one:
                    with heard_warnings():  # joblib warns of tasks that nobody waits for any more
                        results.close()


def _threads_of_each(backend: Any, workers: int) -> int | None:
    """Return the number of threads that a task may use, None if it has all cores to itself.

    Dask's workers run a task on each of their cores. A user's own `inner_max_num_threads` is kept.
    """
    if type(backend).__name__ == _DASK:
        return 1
    if workers == 1:
        return None
    return int(getattr(backend, "inner_max_num_threads", None) or max(1, cpu_count() // workers))


def _run(
    function: Callable[..., T], threads: int | None, caller: int, config: dict[str, Any], *task: Any
) -> T:
    """Run a task with scikit-learn's configuration of the caller and its share of threads."""
    with ExitStack() as limited:
        limited.enter_context(config_context(**config))
        if threads is not None:
            if os.getpid() != caller:  # for good: the pool is the process's, which only has tasks
                _at_most(threads, "blas")
            # numba first: where it starts its threads, it sets OpenMP's number to all cores.
            limited.enter_context(_of_numba(threads))
            limited.enter_context(_at_most(threads, "openmp"))
        return function(*task)


def _at_most(threads: int, api: str) -> AbstractContextManager[Any]:
    """Limit thread pools from now on, never to more than they have; a context undoes it."""
    pools = ThreadpoolController().select(user_api=api)
    limits: dict[str, int] = {}
    for pool in pools.info():
        prefix = pool["prefix"]
        limits[prefix] = min(limits.get(prefix, threads), pool["num_threads"])
    limited: AbstractContextManager[Any] = pools.limit(limits=limits)
    return limited


@contextmanager
def _of_numba(threads: int) -> Iterator[None]:
    """Limit the threads of numba in this thread while the context is open."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)
