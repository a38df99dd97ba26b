"""One cluster of Dask for all tests that need one: it takes longer to start than most of them."""

import pytest


@pytest.fixture(scope="session")
def cluster(forked_workers):
    distributed = pytest.importorskip("distributed")
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
