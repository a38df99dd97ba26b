"""Fits on rows of Dask that are cut short go on, on the same cluster or on another."""

import itertools
import os
import signal

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from gerrymend.solvers.dask import blocks as dask_blocks  # noqa: E402
from gerrymend.training import checkpoints  # noqa: E402
from tests.cut_short import assert_same  # noqa: E402
from tests.marks import slow  # noqa: E402
from tests.solvers.test_dask import model, problem, table  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CHUNKS = (1, 599, 300, 300)


class Stopping(pytest.MonkeyPatch):
    """Does something when the blocks are asked something for the k-th time."""

    def __init__(self, method, number, act):
        super().__init__()
        gather, asked = dask_blocks.DaskBlocks.gather, itertools.count(1)

        def acting(blocks, asked_for, *arguments):
            if asked_for.__name__ == method and next(asked) == number:
                act()
            return gather(blocks, asked_for, *arguments)

        self.setattr(dask_blocks.DaskBlocks, "gather", acting)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.undo()


def press():
    os.kill(os.getpid(), signal.SIGINT)


def lose_the_cluster():
    raise RuntimeError("The Dask cluster has had no worker for 60 seconds.")


def arrays(chunks=CHUNKS, **changes):
    X, y, A, weight = problem()
    rows = {"X": X, "y": y, "sensitive_features": A, "sample_weight": weight + 0.1} | changes
    return {name: da.from_array(one, (chunks, *one.shape[1:])) for name, one in rows.items()}


@pytest.fixture(scope="module")
def whole(cluster):
    """What a fit comes to that nothing stops."""
    with distributed.Client(cluster):
        return model(max_iter=70).fit(**arrays())


@pytest.mark.parametrize(
    ("method", "number", "act"),
    [
        ("decide", 30, press),
        ("find", 65, lose_the_cluster),
        slow("find", 1, press),
        slow("find", 67, press),
        slow("decide", 12, lose_the_cluster),
        slow("decided_outside", 1, lose_the_cluster),
        slow("treated", 1, lose_the_cluster),
    ],
)
def test_a_fit_goes_on(whole, client, tmp_path, method, number, act):
    path = tmp_path / "fit"
    cut = model(max_iter=70, checkpoint=path, checkpoint_every=1e6)
    with Stopping(method, number, act), pytest.raises((KeyboardInterrupt, RuntimeError)) as caught:
        cut.fit(**arrays())
    assert "The same call goes on" in caught.value.__notes__[-1]
    assert_same(cut.fit(**arrays()), whole, problem()[0])
    assert not path.exists()


@pytest.mark.parametrize("tol", [None, slow(0.02)])
def test_a_path_goes_on_on_another_cluster(tmp_path, tol):
    """Of threads in this process, with other workers; rows are in a frame with categories."""
    frame, names, gammas = table(), list("abcdef"), [0.0103, 0.0, 0.0031]

    def fit_path(n_workers, checkpoint=None):
        lazy = dd.from_map(lambda i: frame.iloc[400 * i : 400 * i + 400], range(3))
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=False,
                dashboard_address=":0", silence_logs="CRITICAL",
            ) as cluster,
            distributed.Client(cluster),
        ):  # fmt: skip
            return model(max_iter=40, tol=tol, checkpoint=checkpoint, random_state=None).fit_path(
                lazy[names], lazy["label"], gammas=gammas,
                sensitive_features=lazy[["group", "e"]], sample_weight=lazy["weight"],
            )  # fmt: skip

    whole = fit_path(2)
    with Stopping("find", 25, press), pytest.raises(KeyboardInterrupt):
        fit_path(3, tmp_path / "fit")
    resumed = fit_path(1, tmp_path / "fit")
    for one, other in zip(resumed, whole, strict=True):
        assert_same(one, other, frame[names])


@pytest.mark.slow
def test_a_worker_that_dies_after_it_went_on(whole, client, tmp_path):
    cut = model(max_iter=70, checkpoint=tmp_path / "fit")
    with Stopping("find", 30, press), pytest.raises(KeyboardInterrupt):
        cut.fit(**arrays())

    def kill():
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    with Stopping("decide", 5, kill):
        resumed = cut.fit(**arrays())
    assert_same(resumed, whole, problem()[0])


def test_nothing_of_a_row_is_in_the_file(client, tmp_path):
    path = tmp_path / "fit"
    with Stopping("find", 10, press), pytest.raises(KeyboardInterrupt):
        model(checkpoint=path).fit(**arrays())
    small = path.stat().st_size
    path.unlink()
    X, y, A, _ = (np.concatenate([part] * 20) for part in problem())
    rows = {"X": X, "y": y, "sensitive_features": A}
    many = {name: da.from_array(one, (6000, *one.shape[1:])) for name, one in rows.items()}
    with Stopping("find", 10, press), pytest.raises(KeyboardInterrupt):
        model(checkpoint=path).fit(**many)
    assert path.stat().st_size == pytest.approx(small, rel=0.05)


def test_other_rows_are_refused_before_any_round(client, tmp_path):
    cut = model(checkpoint=tmp_path / "fit")
    with Stopping("find", 5, press), pytest.raises(KeyboardInterrupt):
        cut.fit(**arrays())

    def refused(message, **rows):
        def none():
            raise AssertionError("played")

        with (
            Stopping("begin", 1, none),
            pytest.raises(checkpoints.CheckpointError, match=message),
        ):
            cut.fit(**arrays(**rows))

    X, y, A, weight = problem()
    X[700, 3] += 1e-9
    refused("other data: X differ", X=X)
    refused("other data: y differ", y=np.where(np.arange(1200) == 5, 1 - y, y))
    refused("other data: sensitive_features differ", sensitive_features=A[:, ::-1])
    refused("other data: sample_weight differ", sample_weight=weight + 0.2)
    refused("other partitions.* partitioned as they were", chunks=(600, 600))
    cut.set_params(C=3.0)
    refused("C was 10.0 and is 3.0")


@pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")
def test_a_dask_native_classifier_goes_on(client, tmp_path, capfd):
    lightgbm = pytest.importorskip("lightgbm")
    estimator = lightgbm.DaskLGBMClassifier(
        n_estimators=3, num_leaves=4, verbosity=-1, deterministic=True, force_row_wise=True
    )
    rows = arrays((1200,))  # in one place, so that it is trained alike twice
    whole = model(estimator, max_iter=6, gamma=0.001).fit(**rows)
    cut = model(estimator, max_iter=6, gamma=0.001, checkpoint=tmp_path / "fit")
    with Stopping("vote", 4, lose_the_cluster), pytest.raises(RuntimeError) as caught:
        cut.fit(**rows)
    assert "The same call goes on" in caught.value.__notes__[-1]
    resumed = cut.fit(**rows)
    # Boosters remember the port, drawn at random, that they were trained by: equal ones are not
    # always told to be, and then are two of the mixture where they were one.
    X = problem()[0]
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))
    for name in ("round", "error", "unfairness"):
        np.testing.assert_array_equal(resumed.history_[name], whole.history_[name])
