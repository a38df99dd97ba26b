"""One cluster of Dask for all tests that need one: it takes longer to start than most of them."""

import multiprocessing

import pytest

# What a worker imports, the largest first. It is forked from a process that has done so.
IMPORTED_BY_WORKERS = [
    "distributed",
    "gerrymend.solvers.dask.partition_block",
    "sklearn.linear_model",
    "dask.dataframe",
    "lightgbm",
]


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed")
    multiprocessing.set_forkserver_preload(IMPORTED_BY_WORKERS)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client
