"""Rows of Dask on a real cluster: the game is the same, whatever the blocks and who dies."""

import itertools
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from gerrymend import LinearThresholds, SubgroupParityClassifier

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from gerrymend.inputs.protected import read_columns  # noqa: E402
from gerrymend.models.mixture import LinearPredictor  # noqa: E402
from gerrymend.notions import FALSE_POSITIVE_RATE  # noqa: E402
from gerrymend.solvers import FictitiousPlay  # noqa: E402
from gerrymend.solvers.blocks import LocalBlocks  # noqa: E402
from gerrymend.solvers.dask import blocks as dask_blocks  # noqa: E402
from gerrymend.solvers.dask import partition_block  # noqa: E402
from gerrymend.solvers.dask import slots as dask_slots  # noqa: E402
from gerrymend.solvers.dask.file_store import FileStore  # noqa: E402
from gerrymend.solvers.dask.partition_block import PartitionBlock  # noqa: E402
from gerrymend.solvers.dask.teacher import DaskTeacher  # noqa: E402
from gerrymend.solvers.regression.array_block import ArrayBlock  # noqa: E402
from gerrymend.solvers.regression.game import RegressionGame  # noqa: E402
from gerrymend.solvers.regression.learners import LEAST_SQUARES, Taught  # noqa: E402
from gerrymend.solvers.regression.rows import SummedBlocks  # noqa: E402
from gerrymend.subgroups.encoding import LinearEncoding  # noqa: E402
from tests.all_rounds import MAY_EXCEED_GAMMA  # noqa: E402
from tests.marks import slow  # noqa: E402

pytestmark = MAY_EXCEED_GAMMA


def model(estimator=None, **settings):
    usual = {"gamma": 0.0103, "max_iter": 12, "tol": None, "random_state": 0}
    return SubgroupParityClassifier(
        LinearRegression() if estimator is None else estimator,
        solver="fictitious_play",
        subgroups=LinearThresholds(search="regression"),
        **usual | settings,
    )


def problem(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    A = np.column_stack([rng.standard_normal(n).round(1), rng.integers(0, 4, n)])
    X = np.column_stack([rng.standard_normal((n, 4)), A])
    y = (X[:, 0] + A[:, 0] * (A[:, 1] > 1) + rng.standard_normal(n) > 0.3).astype(int)
    return X, y, A, rng.integers(0, 4, n) / 2


def table(n=1200):
    X, y, A, weight = problem(n)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["label"] = np.where(y == 1, "yes", "no")
    frame["group"] = np.array(["red", "blue", "green", None], dtype=object)[A[:, 1].astype(int)]
    frame["weight"] = weight
    return frame


def assert_same(ours, theirs, X):
    for key in ("error", "unfairness"):
        np.testing.assert_allclose(ours.history_[key], theirs.history_[key], atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert ours.gap_ == pytest.approx(theirs.gap_, abs=1e-9)
    # Blocks may keep terms of a rule that decide nothing: the same group, perhaps in other words.
    assert ours.worst_subgroup_.size == theirs.worst_subgroup_.size
    assert ours.worst_subgroup_.rate == pytest.approx(theirs.worst_subgroup_.rate, abs=1e-9)
    assert ours.worst_subgroup_.unfairness == pytest.approx(
        theirs.worst_subgroup_.unfairness, abs=1e-9
    )


CHUNKS = [(1200,), (1, 6, 400, 793), (300,) * 4]


@pytest.mark.parametrize(
    ("notion", "chunks"),
    [
        *(("false_positive_rate", chunks) for chunks in CHUNKS[1:]),
        ("statistical_parity", CHUNKS[1]),
        slow("false_positive_rate", CHUNKS[0]),
        *(slow("statistical_parity", chunks) for chunks in CHUNKS[::2]),
    ],
)
def test_arrays_are_fitted_as_in_one_place(client, chunks, notion):
    X, y, A, weight = problem()
    expected = model(notion=notion).fit(X, y, sensitive_features=A, sample_weight=weight)
    lazy = da.from_array(X, chunks=(chunks, (2, 4)))  # columns in two chunks
    ours = model(notion=notion).fit(
        lazy, da.from_array(y, chunks=500), sensitive_features=da.from_array(A, chunks=(chunks, 1)),
        sample_weight=da.from_array(weight, chunks=chunks),
    )  # fmt: skip
    assert_same(ours, expected, X)
    np.testing.assert_allclose(
        ours.predict_proba(lazy).compute(), expected.predict_proba(X), atol=1e-9
    )
    np.testing.assert_array_equal(ours.predict(lazy).compute(), expected.predict(X))
    accuracy = ours.score(lazy, da.from_array(y, chunks=700), da.from_array(weight, chunks=1200))
    assert accuracy == pytest.approx(expected.score(X, y, weight), abs=1e-9)


def test_frames_with_categories_and_an_empty_partition(client):
    frame = table()
    names = list("abcdef")
    expected = model().fit(
        frame[names], frame["label"], sensitive_features=frame[["group", "e"]],
        sample_weight=frame["weight"],
    )  # fmt: skip
    cuts = (0, 500, 500, 1200)
    parts = [frame.iloc[a:b] for a, b in itertools.pairwise(cuts)]
    lazy = dd.from_map(lambda i: parts[i], range(3), meta=frame.iloc[:0])
    ours = model().fit(
        lazy[names], lazy["label"], sensitive_features=lazy[["group", "e"]],
        sample_weight=lazy["weight"],
    )  # fmt: skip
    assert_same(ours, expected, frame[names])
    assert ours.feature_names_in_.tolist() == names
    decided = ours.predict(lazy[names]).compute()
    assert decided.tolist() == expected.predict(frame[names]).tolist()
    assert decided.index.equals(frame.index)
    probability = ours.predict_proba(lazy[names]).compute()
    assert probability.columns.tolist() == ["no", "yes"]
    np.testing.assert_allclose(probability, expected.predict_proba(frame[names]), atol=1e-9)
    assert ours.score(lazy[names], lazy["label"]) == pytest.approx(
        expected.score(frame[names], frame["label"]), abs=1e-9
    )


def test_arrays_with_empty_and_unknown_chunks_are_decided(client):
    X, y, A, _ = problem(400)
    fitted = model().fit(X, np.where(y == 1, "yes", "no"), sensitive_features=A)
    lazy = da.from_array(X, chunks=((0, 150, 250), 6))
    np.testing.assert_array_equal(fitted.predict(lazy).compute(), fitted.predict(X))
    some = lazy[lazy[:, 0] > 0]  # of sizes that nobody knows
    few = X[X[:, 0] > 0]
    np.testing.assert_array_equal(fitted.predict(some).compute(), fitted.predict(few))
    np.testing.assert_array_equal(fitted.predict_proba(some).compute(), fitted.predict_proba(few))


def test_columns_are_named_and_paths_are_fitted(client):
    X, y, _, _ = problem()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    lazy, names, gammas = dd.from_pandas(frame, npartitions=2), list("abcdef"), [0.0051, 0.0203]
    expected = model().fit_path(frame[names], y, gammas=gammas, sensitive_features=["e", "f"])
    ours = model().fit_path(lazy[names], lazy["y"], gammas=gammas, sensitive_features=["e", "f"])
    for one, other in zip(ours, expected, strict=True):
        assert_same(one, other, frame[names])


def test_rows_from_parquet(client, tmp_path):
    frame = table()
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    lazy = dd.read_parquet(tmp_path / "rows.parquet", split_row_groups=True)
    names = list("abcdef")
    ours = model().fit(lazy[names], lazy["label"], sensitive_features=lazy[["group"]])
    expected = model().fit(frame[names], frame["label"], sensitive_features=frame[["group"]])
    assert lazy.npartitions > 1
    assert_same(ours, expected, frame[names])


@pytest.mark.parametrize("after", ["find", slow("begin"), slow("decide"), slow("decided_outside")])
def test_a_worker_that_dies_costs_time_and_not_the_result(client, monkeypatch, after):
    X, y, A, _ = problem()
    rows = [da.from_array(one, chunks=((1, 599, 300, 300), *one.shape[1:])) for one in (X, y, A)]

    def fit():
        return model(max_iter=70).fit(rows[0], rows[1], sensitive_features=rows[2])

    expected, gather, asked = fit(), dask_blocks.DaskBlocks.gather, []

    def gather_and_kill(self, method, *arguments):
        asked.append(method.__name__)
        if asked.count(after) == (20 if after in ("decide", "find") else 1) and asked[-1] == after:
            worker, number = next(iter(client.run(os.getpid).items()))
            os.kill(number, signal.SIGKILL)
            asked.append(worker)
        return gather(self, method, *arguments)

    monkeypatch.setattr(dask_blocks.DaskBlocks, "gather", gather_and_kill)
    ours = fit()
    assert any(name.startswith("tcp:") for name in asked)
    for key in ("error", "unfairness"):
        np.testing.assert_array_equal(ours.history_[key], expected.history_[key])
    np.testing.assert_array_equal(ours.predictors_.coef, expected.predictors_.coef)
    assert ours.upper_bound_ == expected.upper_bound_


def test_rows_that_workers_hold_already_stay_there(client, monkeypatch):
    X, y, A, _ = problem()
    rows = [da.from_array(one, chunks=(200, *one.shape[1:])).persist() for one in (X, y, A)]
    distributed.wait(rows)
    held = client.who_has(distributed.futures_of(rows[0]))
    places, place = {}, dask_blocks.DaskBlocks._place

    def remember(self, numbers):
        place(self, numbers)
        places.update({i: one.worker for one in self._places for i in one.numbers})

    monkeypatch.setattr(dask_blocks.DaskBlocks, "_place", remember)
    ours = model().fit(rows[0], rows[1], sensitive_features=rows[2])
    keys = [one.key for one in np.ravel(rows[0].to_delayed())]
    assert all(places[i] in held[key] for i, key in enumerate(keys))
    assert_same(ours, model().fit(X, y, sensitive_features=A), X)


def test_blocks_leave_the_workers_after_the_fit(client):
    X, y, A, _ = problem()
    rows = [da.from_array(one, chunks=(300, *one.shape[1:])) for one in (X, y, A)]
    model(max_iter=3).fit(rows[0], rows[1], sensitive_features=rows[2])

    def held(dask_worker):
        return [key for key in dask_worker.data if "Slot" in str(key)] + [*dask_slots._SLOTS]

    left = client.run(held)
    patience = iter(range(1200))  # Dask lets go a little later, on a busy machine much later
    while any(left.values()) and next(patience, None) is not None:
        time.sleep(0.05)
        left = client.run(held)
    assert not any(left.values())


@pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")
def test_a_dask_native_classifier_learns_and_is_audited_alike_elsewhere(client, capfd):
    lightgbm = pytest.importorskip("lightgbm")
    frame, names = table(900), list("abcdef")
    frame["label"] = np.where(frame["a"] + 2 * (frame["group"] == "red") > 0.5, "yes", "no")
    noisy = np.random.default_rng(1).random(900) < 0.2
    frame.loc[noisy, "label"] = "no"
    cuts = (0, 400, 400, 900)
    parts = [frame.iloc[a:b] for a, b in itertools.pairwise(cuts)]
    lazy = dd.from_map(lambda i: parts[i], range(3), meta=frame.iloc[:0])
    estimator = lightgbm.DaskLGBMClassifier(n_estimators=4, num_leaves=5, verbosity=-1)
    ours = model(estimator, max_iter=20, gamma=0.001).fit(
        lazy[names], lazy["label"], sensitive_features=lazy[["group", "e"]]
    )
    found = ours.history_["unfairness"]
    assert found[-1] < 0.7 * found[0]
    # What the blocks summed up is what the mixture does, in one place.
    X, y = frame[names], frame["label"] == "yes"
    probability = ours.predict_proba(X)[:, 1]
    error = np.where(y, 1 - probability, probability).mean()
    assert ours.history_["error"][-1] == pytest.approx(error, abs=1e-12)
    worst = ours.worst_subgroup_
    members = worst.contains(frame[["group", "e"]])
    event = ~y.to_numpy()
    inside = members & event
    assert worst.size == members.sum()
    assert worst.rate == pytest.approx(probability[inside].mean(), abs=1e-12)
    share = inside.sum() / len(y) * (probability[inside].mean() - probability[event].mean())
    assert worst.unfairness == pytest.approx(share, abs=1e-12)
    assert abs(worst.unfairness) == pytest.approx(found[-1], abs=1e-9)
    assert type(ours.predictors_[0].classifier).__name__ == "LGBMClassifier"  # needs no cluster


def test_what_is_wrong_is_said_before_anything_is_shipped(client, monkeypatch):
    X, y, A, _ = problem(100)
    lazy, labels = da.from_array(X, chunks=(50, 6)), da.from_array(y, chunks=50)
    protected, names = da.from_array(A, chunks=(50, 2)), list("abcdef")
    frame = dd.from_pandas(table(100), npartitions=2)

    def refuse(*_, **__):
        raise AssertionError("shipped")

    monkeypatch.setattr(client, "submit", refuse)
    monkeypatch.setattr(client, "compute", refuse)
    unknown = lazy[lazy[:, 0] > 0]
    with pytest.raises(ValueError, match=r"unknown chunk sizes.*compute_chunk_sizes"):
        model().fit(unknown, labels, sensitive_features=protected)
    for estimator in (DecisionTreeClassifier(), LogisticRegression(class_weight="balanced")):
        with pytest.raises(
            ValueError,
            match=r"estimator=.* can't be trained .*LogisticRegression\(\) .*SGD.*DaskLGBM",
        ):
            model(estimator).fit(lazy, labels, sensitive_features=protected)
    with pytest.raises(TypeError, match=r"y is of type numpy\.ndarray.*Dask"):
        model().fit(lazy, y, sensitive_features=protected)
    with pytest.raises(ValueError, match="X has 100, y has 99"):
        model().fit(lazy, labels[:99], sensitive_features=protected)
    with pytest.raises(ValueError, match="X has 2 partitions and y 1"):
        model().fit(
            frame[names], frame["label"].repartition(npartitions=1), sensitive_features=names
        )
    with pytest.raises(ValueError, match="'colour' is no column of X"):
        model().fit(frame[names], frame["label"], sensitive_features=["colour"])
    with pytest.raises(TypeError, match=r"'group' of X .*must be numbers"):
        model().fit(frame[["a", "group"]], frame["label"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        model().fit(frame[names], frame["label"], sensitive_features=["a", "a"])
    with pytest.raises(ValueError, match=r"sensitive_features must have a column.*\(100, 0\)"):
        model().fit(lazy, labels, sensitive_features=protected[:, :0])
    for argument in ("y", "sensitive_features", "sample_weight"):
        given = {"y": y, "sensitive_features": A} | {argument: labels}
        with pytest.raises(TypeError, match=rf"X is of type numpy.ndarray, and {argument} is"):
            model().fit(X, **given)
    with pytest.raises(ValueError, match="y is None"):
        model().fit(lazy, None, sensitive_features=protected)
    with pytest.raises(TypeError, match="a Dask DataFrame, or a Dask array"):
        model().fit(frame["a"], frame["label"])


def test_bad_rows_are_told_with_their_partition(client):
    X, y, A, _ = problem(100)
    labels, protected = da.from_array(y, chunks=50), da.from_array(A, chunks=(50, 2))
    X[70, 0] = np.nan
    with pytest.raises(ValueError, match="In partition 1 of the data: X has NaN"):
        model().fit(da.from_array(X, chunks=(50, 6)), labels, sensitive_features=protected)
    X[70, 0] = 0.0
    lazy = da.from_array(X, chunks=(50, 6))
    with pytest.raises(ValueError, match="In partition 0 of the data: sample_weight has negative"):
        model().fit(lazy, labels, sensitive_features=protected, sample_weight=labels - 1)
    with pytest.raises(ValueError, match="sample_weight is zero in every row"):
        model().fit(lazy, labels, sensitive_features=protected, sample_weight=labels * 0)
    with pytest.raises(ValueError, match="only one class"):
        model().fit(lazy, labels * 0, sensitive_features=protected)
    with pytest.raises(ValueError, match="There are no rows for the"):
        model().fit(lazy, labels, sensitive_features=protected, sample_weight=labels)
    frame = table(100)
    lazy = dd.from_pandas(frame, npartitions=2)
    mixed = dd.from_map(
        lambda i: pd.Series(["x", 1][i], index=range(50)), range(2), meta=("m", "O")
    )
    with pytest.raises(TypeError, match="convert it to one type"):
        model().fit(lazy[["a"]], lazy["label"], sensitive_features=mixed)


def refuse_all_but_the_first(number):
    """Refuse partition 1 only after a later one, on the other worker, was refused."""
    refused = distributed.Event("a later partition was refused")
    if number == 1:
        assert refused.wait(timeout=60)
    if number > 0:
        refused.set()
        raise ValueError(f"bad rows {number}")
    return []


def test_of_several_bad_partitions_the_lowest_is_told(client):
    """Whichever fails first, and whichever of their errors Dask would have picked."""
    for _ in range(5):
        distributed.Event("a later partition was refused").clear()
        partitions = [[dask.delayed(number)] for number in range(6)]
        blocks = dask_blocks.DaskBlocks(client, refuse_all_but_the_first, partitions)
        with pytest.raises(ValueError, match=r"^In partition 1 of the data: bad rows 1$"):
            blocks.gather(list.copy)


def test_rows_that_fail_to_load_are_told_by_the_lowest_partition(client):
    def load(number):
        raise OSError(f"part {number} is gone")

    for _ in range(5):
        partitions = [[dask.delayed(load)(number)] for number in range(6)]
        with pytest.raises(OSError, match="part 0 is gone"):
            dask_blocks.DaskBlocks(client, list, partitions).gather(list.copy)


def test_labels_of_two_types_and_missing_numbers(client):
    frame = dd.from_map(
        lambda i: pd.DataFrame({"x": [1.0, 2.0], "y": [[0, "a"], [1, 1]][i]}), range(2),
        meta={"x": float, "y": object},
    )  # fmt: skip
    with pytest.raises(TypeError, match="y mixes labels of types int, str"):
        model().fit(frame[["x"]], frame["y"], sensitive_features=["x"])
    missing = dd.from_pandas(
        pd.DataFrame({"x": pd.array([1.0, None], dtype="Float64"), "y": [0, 1]}), npartitions=1
    )
    with pytest.raises(ValueError, match=r"X has (missing values|NaN)"):
        model().fit(missing[["x"]], missing["y"], sensitive_features=["x"])


@pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")
def test_training_is_begun_again_where_a_worker_dies(client, monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, A, _ = problem(600)
    rows = [da.from_array(one, chunks=(150, *one.shape[1:])) for one in (X, y, A)]
    fit_on, fits = DaskTeacher._fit_on, []

    def kill_once(self, beside):
        fits.append(len(beside))
        if len(fits) == 3:
            distributed.wait(beside)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return fit_on(self, beside)

    monkeypatch.setattr(DaskTeacher, "_fit_on", kill_once)
    estimator = lightgbm.DaskLGBMClassifier(n_estimators=3, num_leaves=5, verbosity=-1)
    ours = model(estimator, max_iter=5).fit(rows[0], rows[1], sensitive_features=rows[2])
    assert len(fits) > 5
    probability = ours.predict_proba(X)[:, 1]
    error = np.where(y, 1 - probability, probability).mean()
    assert ours.history_["error"][-1] == pytest.approx(error, abs=1e-12)


def test_an_estimator_of_dask_wants_rows_of_dask():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, A, _ = problem(100)
    with pytest.raises(TypeError, match=r"trains on Dask's collections.*LGBMClassifier\(\)"):
        model(lightgbm.DaskLGBMClassifier()).fit(X, y, sensitive_features=A)


def test_without_a_cluster_the_remedy_is_to_start_one():
    X, y, A, _ = problem(100)
    with pytest.raises(RuntimeError, match=r"no cluster.*client = Client\(\)"):
        model().fit(da.from_array(X), da.from_array(y), sensitive_features=da.from_array(A))


@pytest.mark.parametrize("kind", ["least squares", "classifier"])
def test_blocks_in_files_play_the_same_game(monkeypatch, tmp_path, kind):
    X, y, A, weight = problem(500)
    encoding = LinearEncoding.of(read_columns(A), weight)

    def play():
        parts = [slice(0, 200), slice(200, 200), slice(200, 500)]
        blocks = LocalBlocks([PartitionBlock(X[p], y[p], A[p], weight[p]) for p in parts])
        taught = kind == "classifier"
        begin = ArrayBlock, 1, encoding, FALSE_POSITIVE_RATE, taught
        blocks.gather(PartitionBlock.begin, *begin)
        settings = (
            SummedBlocks(blocks),
            FALSE_POSITIVE_RATE,
            encoding,
            FictitiousPlay(),
            [0.01],
            10.0,
        )
        learner = Taught(teach(blocks)) if taught else LEAST_SQUARES
        return RegressionGame(*settings, learner=learner).play(max_iter=30, tol=None)[0]

    def teach(blocks):
        def least_squares(*costs):
            parts = blocks.gather(ArrayBlock.costs, *costs)
            labels, saved = map(np.concatenate, zip(*parts, strict=True))
            fitted = LinearRegression().fit(X, np.where(labels, 1, -1), sample_weight=saved)
            return LinearPredictor(fitted.coef_, float(fitted.intercept_))

        return least_squares

    in_memory = play()
    monkeypatch.setattr(partition_block, "store_if_short", lambda _: FileStore(str(tmp_path)))
    in_files = play()
    np.testing.assert_array_equal(in_files.error, in_memory.error)
    np.testing.assert_array_equal(in_files.unfairness, in_memory.unfairness)
    np.testing.assert_array_equal(
        in_files.mixture.positive_probability(X), in_memory.mixture.positive_probability(X)
    )
    assert str(in_files.worst) == str(in_memory.worst)


def test_a_worker_short_of_memory_uses_files(client):
    def kinds():
        manager = distributed.get_worker().memory_manager
        limit, enough = manager.memory_limit, partition_block.store_if_short(1000.0)
        manager.memory_limit = 1 << 20
        try:
            return type(enough).__name__, type(partition_block.store_if_short(0.0)).__name__
        finally:
            manager.memory_limit = limit

    assert client.submit(kinds, pure=False).result() == ("NoneType", "FileStore")
