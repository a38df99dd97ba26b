"""Divide the tests among processes: a file stays whole, and the longest begin.

Grouping by marks (`--dist loadgroup`) is not used: pytest-xdist 3.8 writes a group into a private
attribute that pytest 9.2 no longer reads, so that every test is a group of its own. Two processes
then start Dask, the browser and every fixture of a module twice.
"""

from xdist.scheduler import LoadFileScheduling

# Files that share a costly fixture of a session, by how their paths begin: a cluster, a browser.
TOGETHER = ("tests/solvers/test_dask", "tests/reporting/")

# What takes longest begins, so that both processes end at about the same time: what is left for
# the end are files of a second or less. Where nothing is compiled yet, one process has all loops of
# proofs compiled, once, while the other has the tests of Dask, which need none of them.
FIRST = (
    "tests/solvers/test_dask",
    "tests/subgroups/test_compiling.py",
    "tests/_runtime/test_workers.py",
    "tests/auditing/test_from_engine.py",
    "tests/reporting/",
    "tests/solvers/",
    "tests/training/",
    "tests/test_classifiers.py",
    "tests/test_",
    "tests/models/",
    "tests/reproduction/",
    "tests/subgroups/",
)


def turn(path: str) -> int:
    """Return when tests of this path begin: the least first."""
    return next((i for i, start in enumerate(FIRST) if path.startswith(start)), len(FIRST))


class WholeFiles(LoadFileScheduling):
    """Give a process a file at a time, and files that share a costly fixture to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        alone = super()._split_scope(nodeid)
        return next((start for start in TOGETHER if nodeid.startswith(start)), alone)
