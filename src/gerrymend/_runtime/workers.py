"""Tasks side by side, through joblib and whatever backend it is told to use.

Workers × threads are no more than the cores. Of the pools that a task may use OpenMP's and numba's
are limited for the thread that runs it. BLAS has one pool for a whole process: it is limited by the
caller in its own, as long as it has workers, and for good in processes of workers. (joblib limits
them in loky's processes alone.)
"""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from numbers import Integral
from typing import Any, Generic, Self, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.interrupts import StoppableTasks

T = TypeVar("T")
# The backend's own class is not imported: it needs Dask.
_DASK = "DaskDistributedBackend"


def check_jobs(n_jobs: Any) -> int | None:
    """A number of workers as joblib counts them, or None.

    >>> check_jobs(-1)
    -1
    """
    if n_jobs is None or (isinstance(n_jobs, Integral) and n_jobs != 0):
        return None if n_jobs is None else int(n_jobs)
    raise ValueError(
        f"n_jobs must be a whole number of workers, -1 for all cores, or None; got {n_jobs!r}."
    )


class Common(Generic[T]):
    """What all tasks of a sweep read, made to be sent but once where a backend can do that.

    loky and multiprocessing keep the large arrays that they come across in files which all workers
    map, however deep they are. Dask leaves an argument on its workers only if it says to be large.
    """

    def __init__(self, value: T) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return 1 << 20


class Workers:
    """So many workers as n_jobs and joblib's configuration say; a context, to keep them for.

    Within a task of joblib's there is one: the task has its core, and the others are taken. No
    thread is left at work when the context ends: tasks that nobody waits for are stopped.

    >>> with Workers(n_jobs=None) as workers:
    ...     list(workers(divmod, [(7, 2), (9, 4)]))
    [(3, 1), (2, 1)]
    """

    def __init__(self, n_jobs: int | None) -> None:
        backend, _ = get_active_backend()
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
            if self._in_threads is not None:
                self._in_threads.stop()

    def __call__(
        self, function: Callable[..., T], tasks: Sequence[tuple[Any, ...]]
    ) -> Generator[T, None, None]:
        """The function of each task, in their order, as they are done.

        A backend that returns no result before the last is given as many tasks as it has workers.
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
                    with heard_warnings():  # joblib's, of tasks that nobody waits for any more
                        results.close()


def _threads_of_each(backend: Any, workers: int) -> int | None:
    """Threads that a task may use; None where it has all cores to itself.

    Dask's workers run a task on each of their cores. What a user told loky is left as it is.
    """
    if type(backend).__name__ == _DASK:
        return 1
    if workers == 1:
        return None
    return int(getattr(backend, "inner_max_num_threads", None) or max(1, cpu_count() // workers))


def _run(
    function: Callable[..., T],
    threads: int | None,
    caller: int,
    config: dict[str, Any],
    *task: Any,
) -> T:
    """A task as the caller would have run it, with the threads that it may use."""
    with ExitStack() as limited:
        limited.enter_context(config_context(**config))
        if threads is not None:
            if os.getpid() != caller:
                _at_most(threads, "blas")
            # numba first: where it starts its threads, it sets OpenMP's number to all cores.
            limited.enter_context(_of_numba(threads))
            limited.enter_context(_at_most(threads, "openmp"))
        return function(*task)


def _at_most(threads: int, api: str) -> AbstractContextManager[Any]:
    """At most so many threads from now on, or fewer where it was fewer; a context, to undo it."""
    pools = ThreadpoolController().select(user_api=api)
    limits: dict[str, int] = {}
    for pool in pools.info():
        prefix = pool["prefix"]
        limits[prefix] = min(limits.get(prefix, threads), pool["num_threads"])
    limited: AbstractContextManager[Any] = pools.limit(limits=limits)
    return limited


@contextmanager
def _of_numba(threads: int) -> Iterator[None]:
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)
