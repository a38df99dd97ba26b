"""Every game on rows of Dask is the game of the same rows in memory."""

import itertools
import os
import re
import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import OutcomeNotion, SubgroupParityClassifier, audit

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from gerrymend._numeric.merged_cuts import SortedScores  # noqa: E402
from gerrymend.inputs.attribute_bins import AttributeBins  # noqa: E402
from gerrymend.models.mixture import LinearPredictor  # noqa: E402
from gerrymend.solvers.dask import blocks as dask_blocks  # noqa: E402
from gerrymend.solvers.dask import partition_block  # noqa: E402
from gerrymend.solvers.dask.file_store import FileStore  # noqa: E402
from gerrymend.solvers.dask.partition_block import PartitionBlock  # noqa: E402
from gerrymend.solvers.players.row_block import RowBlock  # noqa: E402
from tests.cut_short import assert_same as assert_same_to_the_bit  # noqa: E402
from tests.marks import slow  # noqa: E402
from tests.recorder import Recorder  # noqa: E402
from tests.solvers.test_dask_checkpoints import Stopping, press  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Where a fit stops early, it does so elsewhere in every place: near the optimum all are the same.
LOGISTIC = LogisticRegression(tol=1e-9, max_iter=1000)
NAMES = list("abcdef")


# 3 EUR for whoever is granted and does not repay, and a fee of 0.5 for anyone who is.
LOSS = OutcomeNotion("loss", lambda y, p: (3 * (1 - y) - 0.5) * p, unit="EUR")
AMONG = OutcomeNotion("missed", lambda y, p: 20 * (1 - p), event=lambda y, p: y == 1)


def problem(n=600, seed=0):
    rng = np.random.default_rng(seed)
    A = np.column_stack([rng.integers(0, 5, n), rng.integers(0, 4, n)]).astype(float)
    X = np.column_stack([rng.standard_normal((n, 4)), A])
    y = (X[:, 0] + A[:, 0] / 3 * (A[:, 1] > 1) + rng.standard_normal(n) > 0.3).astype(int)
    return X, y, A, rng.integers(0, 4, n) / 2


def lazy(*arrays, chunks=(1, 299, 300)):
    return [da.from_array(one, (chunks, *one.shape[1:])) for one in arrays]


def table(n=600):
    X, y, A, weight = problem(n)
    frame = pd.DataFrame(X, columns=NAMES)
    frame["label"] = np.where(y == 1, "yes", "no")
    frame["group"] = np.array(["red", "blue", "green", None], dtype=object)[A[:, 1].astype(int)]
    frame["job"] = np.where(X[:, 2] > 0, "cook", "clerk")
    frame["weight"] = weight
    return frame


def in_parts(frame, cuts=(0, 250, 250, 600)):
    """Partitions of which one is empty, and of which the first has no row of one category."""
    frame = frame.sort_values("group", na_position="last", ignore_index=True)
    parts = [frame.iloc[a:b] for a, b in itertools.pairwise(cuts)]
    return frame, dd.from_map(lambda i: parts[i], range(len(parts)), meta=frame.iloc[:0])


def model(estimator=LOGISTIC, **settings):
    usual = {"gamma": 0.01, "max_iter": 9, "random_state": 0}
    return SubgroupParityClassifier(estimator, **usual | settings)


def assert_same(ours, theirs, X):
    for name in ("error", "unfairness"):
        np.testing.assert_allclose(ours.history_[name], theirs.history_[name], atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert ours.gap_ == pytest.approx(theirs.gap_, abs=1e-8)
    assert ours.upper_bound_ == pytest.approx(theirs.upper_bound_, abs=1e-8)
    assert str(ours.worst_subgroup_) == str(theirs.worst_subgroup_)


def in_words(settings):
    """Return a name that is the same in every process: a function's repr has its address."""
    return re.sub(r" at 0x\w+", "", repr(settings))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"estimator": LinearRegression(), "subgroups": "marginals", "notion": "equalized_odds"},
        {"subgroups": "marginals", "notion": LOSS, "gamma": 0.03},
        slow({"subgroups": "conjunctions", "notion": "mean_error"}),
        slow({"subgroups": "marginals", "notion": (AMONG, "absolute_error"), "gamma": 0.1}),
        slow({"solver": "fictitious_play", "max_iter": 15, "notion": LOSS}),
        slow({"estimator": LinearRegression()}),
        slow({"subgroups": "conjunctions", "notion": "statistical_parity"}),
        slow({"solver": "multiplicative_weights", "subgroups": "marginals", "max_iter": 15}),
        slow({"solver": "no_regret", "subgroups": "marginals", "max_iter": 15}),
        slow({"solver": "fictitious_play", "max_iter": 15}),
        slow({"certify": True, "subgroups": "marginals", "max_iter": 60}),
    ],
    ids=in_words,
)
def test_arrays_are_fitted_as_in_memory(client, settings):
    X, y, A, weight = problem()
    theirs = model(**settings).fit(X, y, sensitive_features=A, sample_weight=weight)
    x, labels, protected, weights = lazy(X, y, A, weight)
    ours = model(**settings).fit(x, labels, sensitive_features=protected, sample_weight=weights)
    assert_same(ours, theirs, X)
    assert ours.certified_ == theirs.certified_


def test_frames_have_categories_strata_and_an_empty_partition(client):
    frame, there = in_parts(table())
    how = {"subgroups": "marginals", "notion": "equalized_odds", "max_iter": 6}
    gammas = [0.02, 0.005]

    def fit_path(data):
        return model(**how).fit_path(
            data[NAMES], data["label"], gammas=gammas, sensitive_features=data[["group", "e"]],
            control_features=data["job"], sample_weight=data["weight"],
        )  # fmt: skip

    for one, other in zip(fit_path(there), fit_path(frame), strict=True):
        assert_same(one, other, frame[NAMES])


def test_means_within_strata_are_those_of_rows_in_memory(client):
    frame = table()
    frame["label"] = (frame["label"] == "yes").astype(int)
    frame, there = in_parts(frame)
    how = {"subgroups": "marginals", "notion": LOSS, "max_iter": 6, "gamma": 0.02}
    ours, theirs = (
        model(**how).fit(
            data[NAMES], data["label"], sensitive_features=data[["group", "e"]],
            control_features=data["job"], sample_weight=data["weight"],
        )
        for data in (there, frame)
    )  # fmt: skip
    assert_same(ours, theirs, frame[NAMES])
    assert ours.worst_subgroup_.notion.unit == "EUR"


@pytest.mark.parametrize(
    ("notion", "told"),
    [
        (OutcomeNotion("own", lambda y, p: p - y.mean()), "'own' depends on more than y_true and"),
        (OutcomeNotion("own", lambda y, p: np.arange(600) * p), "'own' has an outcome that raised"),
        ("squared_error", "'squared_error' is not linear in decisions"),
    ],
)
def test_means_of_more_than_a_label_need_the_rows(notion, told):
    """They are refused before a row is read, and so without a cluster."""
    X, y, A, _ = lazy(*problem())
    with pytest.raises(ValueError, match=f"X is .* no row is brought here, .*{told}"):
        model(notion=notion, subgroups="marginals").fit(X, y, sensitive_features=A)


def test_labels_of_means_are_numbers_on_a_cluster_too(client):
    X, y, A, _ = problem()
    x, labels, protected = lazy(X, np.where(y == 1, "yes", "no"), A)
    with pytest.raises(ValueError, match=r"y has the labels 'no' and 'yes', .* code them as 0"):
        model(notion=LOSS, subgroups="marginals").fit(x, labels, sensitive_features=protected)


def test_a_fit_starts_from_the_last(client):
    X, y, A, _ = problem()
    rows = lazy(X, y, A)
    there, here = (model(warm_start=True, subgroups="marginals", max_iter=5) for _ in range(2))
    for _ in range(2):
        there.fit(rows[0], rows[1], sensitive_features=rows[2])
        here.fit(X, y, sensitive_features=A)
    assert_same(there, here, X)


def test_each_round_is_a_task_of_callbacks(client):
    pytest.importorskip("sklearn.callback")
    X, y, A, _ = problem()
    rows = lazy(X, y, A)
    recorder = Recorder()
    ours = model(subgroups="marginals", max_iter=5, tol=None).set_callbacks(recorder)
    ours.fit(rows[0], rows[1], sensitive_features=rows[2])
    rounds = ["begin round", "end round"] * (ours.n_iter_ + 1)
    assert recorder.calls == ["setup", "begin fit", *rounds, "end fit", "teardown"]
    assert recorder.fitted[0] is rows[0]  # lazy, as it was given
    stopped = Recorder(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        ours.set_callbacks(stopped).fit(rows[0], rows[1], sensitive_features=rows[2])
    assert stopped.calls[-1] == "teardown"


def test_the_result_is_within_gamma_by_an_audit_of_its_own(client):
    X, y, A, _ = problem()
    rows = lazy(X, y, A)
    ours = SubgroupParityClassifier(gamma=0.02, subgroups="marginals", random_state=0)
    ours.fit(rows[0], rows[1], sensitive_features=rows[2])
    report = audit(
        y,
        ours.predict_proba(X)[:, 1],
        sensitive_features=A,
        subgroups="marginals",
        decision_probabilities=True,
    )
    assert report.unfairness <= 0.02 + 1e-9


@pytest.mark.parametrize(
    ("after", "time"),
    [
        ("logistic", 6),
        slow("numbers", 9),
        slow("settle", 1),
        slow("scores", 6),
        slow("decided", 3),
    ],
)
def test_a_worker_that_dies_costs_time_and_not_the_result(client, monkeypatch, after, time):
    X, y, A, _ = problem()
    rows = lazy(X, y, A, chunks=(200, 200, 200))

    def fit():
        bins = 3 if after == "numbers" else None
        return model(subgroups="marginals", max_iter=5, bins=bins).fit(
            rows[0], rows[1], sensitive_features=rows[2]
        )

    expected = fit()
    gather, asked = dask_blocks.DaskBlocks.gather, []

    def gather_and_kill(self, method, *arguments):
        asked.append(method.__name__)
        if asked[-1] == after and asked.count(after) == time:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            asked.append("killed")
        return gather(self, method, *arguments)

    monkeypatch.setattr(dask_blocks.DaskBlocks, "gather", gather_and_kill)
    ours = fit()
    assert "killed" in asked
    assert_same_to_the_bit(ours, expected, X)


@pytest.mark.parametrize("solver", ["exponentiated_gradient", slow("multiplicative_weights")])
def test_a_fit_that_is_cut_short_goes_on(client, tmp_path, solver):
    X, y, A, _ = problem()
    rows = lazy(X, y, A)

    def fit(checkpoint=None):
        how = {"solver": solver, "subgroups": "marginals", "max_iter": 5, "gamma": 0.002}
        return model(**how, checkpoint=checkpoint, checkpoint_every=0).fit(
            rows[0], rows[1], sensitive_features=rows[2]
        )

    whole = fit()
    with Stopping("logistic", 7, press), pytest.raises(KeyboardInterrupt):
        fit(tmp_path / "fit")
    assert_same_to_the_bit(fit(tmp_path / "fit"), whole, X)


def test_a_fit_that_is_cut_short_goes_on_on_another_cluster(client, tmp_path):
    X, y, A, _ = problem()
    rows = lazy(X, y, A)

    def fit(checkpoint=None):
        how = {"subgroups": "marginals", "max_iter": 5, "gamma": 0.002, "bins": 3}
        return model(**how, checkpoint=checkpoint, checkpoint_every=0).fit(
            rows[0], rows[1], sensitive_features=rows[2]
        )

    whole = fit()
    with Stopping("logistic", 7, press), pytest.raises(KeyboardInterrupt):
        fit(tmp_path / "fit")
    with distributed.Client(
        n_workers=3, threads_per_worker=2, processes=False, dashboard_address=":0"
    ):
        assert_same_to_the_bit(fit(tmp_path / "fit"), whole, X)


def die_once(part, flag):
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_worker_that_dies_in_the_count_of_an_audit_costs_time_alone(client, tmp_path):
    frame, there = in_parts(table())
    frame["p"] = (frame["a"] > 0).astype(float)
    there = there.assign(p=(there["a"] > 0).astype(float))
    flag = tmp_path / "died"
    dies = there.map_partitions(die_once, flag, meta=there._meta)
    asked = {"sensitive_features": ["group", "e"], "subgroups": "conjunctions", "pos_label": "yes"}
    ours = audit("label", "p", data=dies, decision_probabilities=True, **asked)
    assert flag.exists()
    theirs = audit("label", "p", data=frame, decision_probabilities=True, **asked)
    assert ours.unfairness == theirs.unfairness
    assert (str(ours.worst), ours.n_rows) == (str(theirs.worst), theirs.n_rows)


def test_blocks_in_files_answer_the_same(monkeypatch, tmp_path):
    X, y, A, weight = problem()
    cost = np.random.default_rng(0).normal(size=40)
    predictor = LinearPredictor(np.linspace(-1, 1, 6), 0.1)

    def answers():
        block = PartitionBlock(X, y, A, weight)
        entries = block.answer(
            PartitionBlock.settle,
            1,
            {"attribute_0": None, "attribute_1": None},
            {},
            AttributeBins(),
        )
        assert entries.n_rows.sum() == 600
        assert len(entries.values) == 40
        at = np.full(7, 0.1)
        return (
            block.answer(RowBlock.logistic, at, cost).gradient,
            block.answer(RowBlock.decided, [predictor]).weights,
            block.answer(RowBlock.scores, "fit", predictor, cost[None], SortedScores.some, 9),
        )

    in_memory = answers()
    monkeypatch.setattr(partition_block, "store_if_short", lambda _: FileStore(str(tmp_path)))
    for one, other in zip(answers(), in_memory, strict=True):
        np.testing.assert_array_equal(one, other)


def test_numbers_are_cut_into_bins_as_in_memory(client):
    frame, there = in_parts(table())
    names = ["a", "e", "group"]
    ours, theirs = (
        model(bins=7, subgroups="conjunctions").fit(
            data[NAMES], data["label"], sensitive_features=data[names],
            sample_weight=data["weight"],
        )
        for data in (there, frame)
    )  # fmt: skip
    # "e" has five values, which stay.
    assert {name: len(cuts) for name, cuts in ours.bins_.cuts.items()} == {"a": 6}
    assert ours.bins_ == theirs.bins_
    assert_same(ours, theirs, frame[NAMES])
    report = audit(
        "label", "p", data=ours.bins_.transform(there.assign(p=1.0)), gamma=0.02,
        sensitive_features=["a (binned)", "e", "group"], pos_label="yes",
        decision_probabilities=True, subgroups="conjunctions", notion="statistical_parity",
    )  # fmt: skip
    assert report.n_rows == len(frame)


def test_too_many_label_cells_are_cut_into_as_many_bins_as_fit(client, monkeypatch):
    X, y, A, _ = problem()
    monkeypatch.setattr(partition_block, "MOST_LABEL_CELLS", 500)  # of this process
    rows = lazy(X, y, np.column_stack([X[:, 0], A[:, 0]]))
    with pytest.warns(UserWarning, match=r"attribute_0 were cut into bins, at most 15 each"):
        ours = model(subgroups="conjunctions").fit(rows[0], rows[1], sensitive_features=rows[2])
    assert {name: len(cuts) for name, cuts in ours.bins_.cuts.items()} == {"attribute_0": 14}
    asked = model(subgroups="conjunctions", bins=15)
    assert_same_to_the_bit(asked.fit(rows[0], rows[1], sensitive_features=rows[2]), ours, X)


def test_a_partition_with_too_many_label_cells_sends_none(monkeypatch):
    X, y, A, weight = problem()
    block = PartitionBlock(X, y, A, weight)
    asked = 1, {"attribute_0": None, "attribute_1": None}, {}
    values = block.answer(PartitionBlock.label_cells, *asked)
    assert np.array_equal(values, np.unique(np.column_stack([y, A]), axis=0))
    monkeypatch.setattr(partition_block, "MOST_LABEL_CELLS", len(values) - 1)
    assert block.answer(PartitionBlock.label_cells, *asked) is None


def test_too_many_label_cells_for_any_bins_are_refused_with_a_remedy(client, monkeypatch):
    X, y, A, _ = problem()
    monkeypatch.setattr(partition_block, "MOST_LABEL_CELLS", 7)  # of this process
    rows = lazy(X, y, A)
    with pytest.raises(ValueError, match=r"different combinations.*Cut numbers .* by bins="):
        model(bins=4).fit(rows[0], rows[1], sensitive_features=rows[2])


def test_bad_rows_are_told(client):
    X, y, A, weight = problem()
    x, labels, protected, weights = lazy(X, y, A, weight)
    for wrong, message in (
        ({"sample_weight": weights * 0}, "sample_weight is zero in every row"),
        ({"sample_weight": weights - 1}, "In partition .*: sample_weight has negative"),
        ({"control_features": protected[:, 0] * np.nan}, "control_features .*missing"),
        ({"control_features": x[:, 0]}, "control_features makes 600 strata of 600 rows"),
        ({"control_features": labels}, "control_features has a stratum without a row"),
    ):
        with pytest.raises(ValueError, match=message):
            model().fit(x, labels, **{"sensitive_features": protected} | wrong)


@pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")
def test_a_dask_native_classifier_is_cut_where_it_costs_least(client, capfd):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, A, _ = problem()
    rows = lazy(X, y, A, chunks=(300, 300))
    estimator = lightgbm.DaskLGBMClassifier(n_estimators=4, num_leaves=5, verbosity=-1)
    ours = model(estimator, subgroups="marginals", gamma=0.005, max_iter=4).fit(
        rows[0], rows[1], sensitive_features=rows[2]
    )
    probability = ours.predict_proba(X)[:, 1]
    error = np.where(y, 1 - probability, probability).mean()
    assert ours.history_["error"][-1] == pytest.approx(error, abs=1e-12)
    report = audit(
        y, probability, sensitive_features=A, subgroups="marginals", decision_probabilities=True
    )
    assert report.unfairness == pytest.approx(abs(ours.worst_subgroup_.unfairness), abs=1e-9)
