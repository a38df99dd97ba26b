"""Fits that are cut short, in any round and in any way, end as those that were not."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from gerrymend import FictitiousPlay, LinearThresholds, NoRegret
from gerrymend._runtime import files as files_module
from gerrymend.datasets import make_intersectional
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import LinearLearner
from gerrymend.solvers.pool import game as pool_game
from gerrymend.solvers.pool import thorough_looks
from gerrymend.training import checkpoints
from tests.cut_short import AUDITS, FITS, ROUNDS, A, Stopping, X, Y, assert_same, classifier, fit
from tests.marks import slow

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TREE = DecisionTreeClassifier(max_depth=2, max_features=1)
FOREST = RandomForestClassifier(3, max_depth=2)

APPENDIX = FictitiousPlay(order="appendix", divisor="t-1")
SOLVERS = [
    "exponentiated_gradient",
    "fictitious_play",
    APPENDIX,
    NoRegret(n_samples=3),
    "multiplicative_weights",
]


def seed_global(seed):
    np.random.seed(seed)  # noqa: NPY002 (it is what random_state=None draws from)


def interrupted_and_resumed(model, stops, where):
    """Fit the model, cut short several times, each time going on from the checkpoint."""
    for k in stops:
        with Stopping(k, *where), pytest.raises(KeyboardInterrupt):
            fit(model)
        assert Path(model.checkpoint).exists()
    return fit(model)


WHOLE = {}


def undisturbed(model, train=fit):
    """Train a model that nothing stops, once for all the tests that compare with it."""
    key = train.__name__, repr(model)
    if key not in WHOLE:
        WHOLE[key] = train(clone(model))
    return WHOLE[key]


def fit_path(model):
    return model.fit_path(X, Y, gammas=[0.0, 0.03, 0.01], sensitive_features=A)


ESTIMATORS = [LinearRegression(), LogisticRegression(), TREE, Ridge()]
# Each two of solver, estimator and place; `make test-slow` has each three.
STOPPED = [
    (pytest.param if (i + j + k) % 2 else slow)(solver, estimator, where)
    for i, solver in enumerate(SOLVERS)
    for j, estimator in enumerate(ESTIMATORS)
    for k, where in enumerate((FITS, AUDITS))
]


@pytest.mark.parametrize(("solver", "estimator", "where"), STOPPED)
def test_an_interrupted_fit_ends_as_if_it_were_not(tmp_path, solver, estimator, where):
    whole = undisturbed(classifier(estimator, solver))
    path = tmp_path / "fit.checkpoint"
    model = classifier(estimator, solver, checkpoint=path, checkpoint_every=1e6)
    assert_same(interrupted_and_resumed(model, [4, 6], where), whole)
    assert not path.exists()


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 11, 15, *map(slow, (6, 7, 9, 10, 12, 13, 14))])
@pytest.mark.parametrize("solver", ["exponentiated_gradient", NoRegret(n_samples=2)])
def test_it_can_be_cut_short_anywhere(tmp_path, solver, k):
    whole = undisturbed(classifier(LogisticRegression(), solver, max_iter=6))
    path = tmp_path / "fit.checkpoint"
    model = classifier(LogisticRegression(), solver, max_iter=6, checkpoint=path)
    try:
        with Stopping(k, *FITS, *AUDITS):
            fit(model)
    except KeyboardInterrupt:
        assert path.exists() or k <= 3  # in the first round there is nothing to keep
    assert_same(fit(model), whole)


@pytest.mark.parametrize("random_state", [None, 7])
@pytest.mark.parametrize("solver", ["exponentiated_gradient", "no_regret"])
def test_draws_are_those_of_the_fit_that_was_cut_short(tmp_path, solver, random_state):
    whole_path, path = tmp_path / "whole", tmp_path / "cut"
    model = classifier(FOREST, solver, random_state=random_state, max_iter=8)
    seed_global(0)
    whole = fit(model.set_params(checkpoint=whole_path))
    seed_global(0)
    with Stopping(5, *FITS), pytest.raises(KeyboardInterrupt):
        fit(model.set_params(checkpoint=path))
    seed_global(1)
    resumed = fit(model)
    assert_same(resumed, whole)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_a_generator_may_have_moved_on(tmp_path):
    whole = fit(classifier(TREE, random_state=np.random.RandomState(3)))
    model = classifier(TREE, random_state=np.random.RandomState(3), checkpoint=tmp_path / "fit")
    resumed = interrupted_and_resumed(model, [5, 3], FITS)
    assert_same(resumed, whole)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_identical_predictors_are_merged_before_and_after(tmp_path):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    whole = fit(classifier(tree, "fictitious_play", gamma=0.5))
    model = classifier(tree, "fictitious_play", gamma=0.5, checkpoint=tmp_path / "fit")
    assert len(whole.predictors_) == 1
    assert_same(interrupted_and_resumed(model, [6], FITS), whole)


@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play", "no_regret"])
@pytest.mark.parametrize(
    ("k", "tol"),
    [(3, 0.02), (25, None), *(slow(k, tol) for k, tol in
                              [(3, None), (25, 0.02), *itertools.product([11, 40], [None, 0.02])])],
)  # fmt: skip
def test_a_path_goes_on_in_whichever_game_it_was(tmp_path, solver, tol, k):
    path = tmp_path / "path.checkpoint"
    model = classifier(LogisticRegression(), solver, tol=tol)
    whole = undisturbed(model, fit_path)
    model.set_params(checkpoint=path, checkpoint_every=0.0)
    try:
        with Stopping(k, *AUDITS):
            fit_path(model)
    except KeyboardInterrupt:
        assert path.exists()
    resumed = fit_path(model)
    assert not path.exists()
    for one, other in zip(resumed, whole, strict=True):
        assert one.gamma == other.gamma
        assert_same(one, other)


@pytest.mark.parametrize("k", [10, slow(1), slow(2), slow(5)])
def test_a_proof_goes_on(tmp_path, k, monkeypatch):
    """The Auditor's weak search leaves it to proofs to find subgroups, ten of them or more."""
    monkeypatch.setattr(thorough_looks, "_PROBE_WORK", 0.0)
    data = make_intersectional(150, cardinalities=(3, 4), n_numeric=1, random_state=0)
    rows = {"X": data.data, "y": data.target, "sensitive_features": data.sensitive_features}
    weak = LinearThresholds(restarts=0)
    model = classifier(LogisticRegression(), certify=True, subgroups=weak, max_iter=2, gamma=0.02)
    whole = fit(model, **rows)
    model.set_params(checkpoint=tmp_path / "fit")
    with Stopping(k, (pool_game, "prove_mixture")), pytest.raises(KeyboardInterrupt):
        fit(model, **rows)
    assert_same(fit(model, **rows), whole, data.data)
    assert whole.certified_


@pytest.mark.parametrize("subgroups", ["linear", "value_sets", "trees"])
def test_every_class_of_subgroups(tmp_path, subgroups):
    data = make_intersectional(300, cardinalities=(2, 3), random_state=0)
    rows = {"X": data.data, "y": data.target, "sensitive_features": data.sensitive_features}
    model = classifier(LogisticRegression(), subgroups=subgroups)
    whole = fit(model, **rows)
    model.set_params(checkpoint=tmp_path / "fit")
    for k in (5, 3):
        with Stopping(k, *FITS), pytest.raises(KeyboardInterrupt):
            fit(model, **rows)
    assert_same(fit(model, **rows), whole, data.data)


def test_a_frame_with_categories_weights_and_two_notions(tmp_path):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    protected = pd.DataFrame({"group": np.where(X[:, 0] > 0, "blue", "green"), "old": X[:, 1] > 0})
    data = {"X": frame, "sensitive_features": protected, "sample_weight": 0.5 + (Y == 1)}
    model = classifier(
        make_pipeline(StandardScaler(), TREE), notion="equalized_odds", subgroups="conjunctions"
    )
    whole = fit(model, **data)
    model.set_params(checkpoint=tmp_path / "fit")
    with Stopping(5, *FITS), pytest.raises(KeyboardInterrupt):
        fit(model, **data)
    assert_same(fit(model, **data), whole, frame)


class Crashing(DecisionTreeClassifier):
    """Fails in its fits when it is told to."""

    fits_left = 10**9

    def fit(self, X, y, sample_weight=None):
        Crashing.fits_left -= 1
        if Crashing.fits_left == 0:
            raise MemoryError("no more")
        return super().fit(X, y, sample_weight=sample_weight)


def test_an_error_of_the_estimator_costs_a_round(tmp_path):
    tree = Crashing(max_depth=2)
    whole = fit(classifier(tree))
    model = classifier(tree, checkpoint=tmp_path / "fit", checkpoint_every=1e6)
    Crashing.fits_left = 9
    with pytest.raises(MemoryError) as caught:
        fit(model)
    assert "The same call goes on" in caught.value.__notes__[-1]
    Crashing.fits_left = 10**9
    assert_same(fit(model), whole)


def test_ctrl_c_in_the_middle_of_a_round(tmp_path, monkeypatch):
    whole = fit(classifier(LinearRegression(), APPENDIX))
    model = classifier(LinearRegression(), APPENDIX, checkpoint=tmp_path / "fit")
    price, calls = Auditor.price, itertools.count(1)

    def pressed(self, *args, **options):
        if next(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return price(self, *args, **options)

    monkeypatch.setattr(Auditor, "price", pressed)
    with pytest.raises(KeyboardInterrupt):
        fit(model)
    assert len(model.history_["error"]) == 4  # what had been learned is a model, as without one
    assert_same(fit(model), whole)


PROCESS = """
    import os, sys, warnings
    import numpy as np
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier
    from gerrymend import LinearThresholds, SubgroupParityClassifier
    from gerrymend._runtime import files as _files
    from gerrymend.training import checkpoints as checkpointing
    from gerrymend.solvers.players.auditor import Auditor
    from gerrymend.datasets import make_intersectional
    from gerrymend.solvers.regression.cell_rows import CellRows

    warnings.simplefilter("ignore")
    solver, estimator, every, kill = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    data = make_intersectional(300, random_state=0)
    ticks = iter(range(10**9))
    checkpointing.clock = lambda: float(next(ticks))  # every look at it is a second later
    audits = iter(range(1, 10**9))

    def until_the_ninth(audit):
        return lambda *args, **more: os._exit(9) if next(audits) == 9 else audit(*args, **more)

    if kill == "audit":
        Auditor.worst, CellRows.find = map(until_the_ninth, (Auditor.worst, CellRows.find))
    if kill == "write":
        replaces, replace = iter(range(1, 10**9)), os.replace

        def last_replace(*names):
            if next(replaces) == 4:
                os._exit(9)
            replace(*names)

        _files.os.replace = last_replace
    model = SubgroupParityClassifier(
        eval(estimator), gamma=0.005, solver=solver, max_iter=14, tol=None, random_state=0,
        subgroups=LinearThresholds(search="regression"), checkpoint="fit.checkpoint",
        checkpoint_every=every,
    ).fit(data.data, data.target, sensitive_features=data.sensitive_features)
"""


@pytest.mark.parametrize(
    ("solver", "estimator", "kill"),
    [
        ("exponentiated_gradient", "LogisticRegression()", "write"),
        slow("exponentiated_gradient", "DecisionTreeClassifier(max_depth=2)", "audit"),
        slow("fictitious_play", "LinearRegression()", "audit"),
        slow("fictitious_play", "DecisionTreeClassifier(max_depth=2)", "write"),
    ],
)
def test_a_killed_process_costs_what_was_not_written(tmp_path, solver, estimator, kill):
    """With no time for anything, in the middle of a round, or of a file; another goes on."""
    script = tmp_path / "process.py"
    script.write_text(textwrap.dedent(PROCESS))

    every = "0" if kill == "write" else "6"  # a few rounds
    command = [sys.executable, str(script), solver, estimator, every, kill]
    killed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert killed.returncode == 9, killed.stderr
    path = tmp_path / "fit.checkpoint"
    assert path.exists()
    resumed = fit(classifier(eval(estimator), solver, checkpoint=path))
    assert not path.exists()
    assert resumed.n_iter_ == ROUNDS
    assert_same(resumed, undisturbed(classifier(eval(estimator), solver)))


class Clock:
    def __init__(self, monkeypatch):
        self.now, self.writes, self.takes = 0.0, [], 0.0
        monkeypatch.setattr(checkpoints, "clock", lambda: self.now)
        write = checkpoints.write_whole

        def counted(path, content):
            self.writes.append(self.now)
            self.now += self.takes
            write(path, content)

        monkeypatch.setattr(checkpoints, "write_whole", counted)


@pytest.mark.parametrize(
    ("every", "takes", "written"),
    [
        (60.0, 0.0, [0, 60, 120, 180]),
        (25.0, 0.0, [0, 30, 60, 90, 120, 150, 180]),
        (0.0, 0.0, list(range(0, 200, 10))),
        (60.0, 10.0, [0, 100, 200]),  # at most a tenth of the time
    ],
)
def test_it_is_written_every_so_often(tmp_path, monkeypatch, every, takes, written):
    clock = Clock(monkeypatch)
    clock.takes = takes
    checkpoint = checkpoints.FitCheckpoint(tmp_path / "fit", every)
    for _ in range(20):
        checkpoint.reached(dict)
        clock.now += 10.0
    assert clock.writes[: len(written)] == written
    if not takes:
        assert clock.writes == written


def test_what_was_reached_last_is_written_when_it_is_cut_short(tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    checkpoint = checkpoints.FitCheckpoint(tmp_path / "fit", 60.0)
    checkpoint.reached(lambda: {"round": 1})
    checkpoint.reached(lambda: {"round": 2})
    assert len(clock.writes) == 1
    checkpoint.cut_short(KeyboardInterrupt())
    assert len(clock.writes) == 2
    checkpoint.cut_short(KeyboardInterrupt())  # nothing new
    assert len(clock.writes) == 2


def test_seconds_before_an_interruption_count(tmp_path, monkeypatch):
    from gerrymend.solvers import loop

    now = [0.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])
    model = classifier(LinearRegression(), APPENDIX, budget=10.0, max_iter=99,
                       checkpoint=tmp_path / "fit")  # fmt: skip
    response = LinearLearner.best_response

    def slow(self, costs):
        now[0] += 1.0
        return response(self, costs)

    monkeypatch.setattr(LinearLearner, "best_response", slow)
    with Stopping(5, *AUDITS), pytest.raises(KeyboardInterrupt):
        fit(model)
    now[0] = 1e6
    # Rounds have 65 % of ten seconds, one of them in the round that was lost.
    assert fit(model).n_iter_ == 6


@pytest.mark.parametrize("solver", ["exponentiated_gradient", "fictitious_play"])
def test_max_iter_may_be_raised_on_the_way(tmp_path, solver):
    whole = fit(classifier(LogisticRegression(), solver, max_iter=20))
    model = classifier(LogisticRegression(), solver, checkpoint=tmp_path / "fit", max_iter=9)
    with Stopping(6, *FITS), pytest.raises(KeyboardInterrupt):
        fit(model)
    assert_same(fit(model.set_params(max_iter=20, verbose=1, checkpoint_every=0.0)), whole)


def test_a_full_disk_ends_no_fit(tmp_path, monkeypatch):
    whole = fit(classifier(LinearRegression()))
    replace, calls = os.replace, itertools.count(1)

    def full(*names):
        if next(calls) in (3, 4):
            raise OSError("No space left on device")
        replace(*names)

    monkeypatch.setattr(files_module.os, "replace", full)
    model = classifier(LinearRegression(), checkpoint=tmp_path / "fit", checkpoint_every=0.0)
    with pytest.warns(UserWarning, match="No space left on device.* goes on, and tries again"):
        assert_same(fit(model), whole)
    assert list(tmp_path.iterdir()) == []


def test_fits_at_the_same_time_need_files_of_their_own(tmp_path):
    one = checkpoints.FitCheckpoint(tmp_path / "fit", 0.0)
    other = checkpoints.FitCheckpoint(tmp_path / "fit", 0.0)
    one.reached(dict)
    with pytest.raises(checkpoints.CheckpointError, match="give each a file of its own"):
        other.reached(lambda: {"another": 1})
    other.ended()
    assert (tmp_path / "fit").exists()
    one.ended()
    assert not (tmp_path / "fit").exists()
