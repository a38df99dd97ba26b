"""Games between linear regressions that are cut short, wherever, end as if they were not."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import numpy as np
import pytest

from gerrymend import FictitiousPlay
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.solvers import loop
from gerrymend.solvers.regression.cell_rows import CellRows
from gerrymend.solvers.regression.game import RegressionGame
from gerrymend.training import checkpoints
from tests.cut_short import AUDITS, Stopping, assert_same
from tests.solvers.test_linear_play import GAMMAS, C, classifier, players, problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, A, Y, WEIGHT = problem(seed=1)  # of fractions, which sum differently in another order


def fit_path(model):
    rows = {"sensitive_features": A, "sample_weight": WEIGHT}
    return model.fit_path(X, Y, gammas=GAMMAS, **rows)


@contextmanager
def pressing_in_round(number):
    """Ctrl-C in the middle of a round."""
    find, rounds = CellRows.find, itertools.count(1)

    def pressing(self, group):
        if next(rounds) == number:
            os.kill(os.getpid(), signal.SIGINT)
        return find(self, group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CellRows, "find", pressing)
        yield


def cut_short_and_resumed(model, stops):
    for number in stops:
        with pressing_in_round(number), pytest.raises(KeyboardInterrupt) as caught:
            fit_path(model)
        assert "The same call goes on" in caught.value.__notes__[-1]
    return fit_path(model)


@pytest.fixture
def played(monkeypatch):
    """How many rounds each of the games from sums has played; the games are kept alive."""
    games, finish_round = {}, RegressionGame.finish_round

    def counted(self, prepared):
        games[self] = games.get(self, 0) + 1
        finish_round(self, prepared)

    monkeypatch.setattr(RegressionGame, "finish_round", counted)
    return games


@pytest.mark.parametrize(
    ("max_iter", "tol", "solver"),
    [
        (150, None, "fictitious_play"),
        (400, 0.005, "fictitious_play"),
        (90, None, FictitiousPlay(divisor="t-1", side="predicted")),
    ],
)
@pytest.mark.parametrize("stops", [[1], [20, 1, 2], [21], [22], [25, 30], [64], [63, 2]], ids=str)
def test_a_path_ends_as_if_it_were_not_cut_short(tmp_path, played, max_iter, tol, solver, stops):
    """21 plays of 3 games are looked at at once, on the rows of the other label."""
    settings = {"max_iter": max_iter, "tol": tol, "solver": solver}
    whole = fit_path(classifier(**settings))
    resumed = cut_short_and_resumed(classifier(**settings, checkpoint=tmp_path / "fit"), stops)
    assert len(played) == 2 + len(stops)
    for one, other in zip(resumed, whole, strict=True):
        assert_same(one, other, X)
    assert not list(tmp_path.iterdir())
    if tol:
        assert len({model.n_iter_ for model in whole}) > 1


def test_games_that_converge_in_the_round_that_is_cut_short(tmp_path):
    settings = {"max_iter": 400, "tol": 0.005}
    whole = fit_path(classifier(**settings))
    ends = sorted({model.n_iter_ for model in whole})
    for number in {*(end + step for end in ends for step in (-1, 0)), ends[0] + 1} - {0}:
        model = classifier(**settings, checkpoint=tmp_path / "fit")
        for one, other in zip(cut_short_and_resumed(model, [number]), whole, strict=True):
            assert_same(one, other, X)


@pytest.mark.parametrize("verbose", [0, 1])
def test_every_round_can_be_gone_on_from(tmp_path, monkeypatch, verbose):
    """Each file that was written is one that a process which was killed there would leave."""
    files, write = [], checkpoints.write_whole

    def kept(path, content):
        files.append(content)
        write(path, content)

    monkeypatch.setattr(checkpoints, "write_whole", kept)
    path = tmp_path / "fit"
    model = classifier(max_iter=50, checkpoint=path, checkpoint_every=0.0)
    whole = fit_path(model)
    assert len(files) == 50
    for content in files[::7] + files[-1:]:
        path.write_bytes(content)
        for one, other in zip(fit_path(model.set_params(verbose=verbose)), whole, strict=True):
            assert_same(one, other, X)


def test_errors_do_not_depend_on_how_many_plays_are_looked_at_at_once():
    whole = fit_path(classifier(max_iter=50))
    for one, other in zip(fit_path(classifier(max_iter=50, verbose=1)), whole, strict=True):
        assert_same(one, other, X)


def test_what_an_error_leaves_of_a_round_is_not_kept(tmp_path):
    whole = fit_path(classifier())
    model = classifier(checkpoint=tmp_path / "fit", checkpoint_every=1e6)
    with Stopping(9, *AUDITS, error=MemoryError), pytest.raises(MemoryError) as caught:
        fit_path(model)
    assert "in the middle of a round" in caught.value.__notes__[-1]
    for one, other in zip(fit_path(model), whole, strict=True):
        assert_same(one, other, X)


def test_fewer_rounds_than_were_played_are_refused(tmp_path):
    model = classifier(checkpoint=tmp_path / "fit")
    with pressing_in_round(12), pytest.raises(KeyboardInterrupt):
        fit_path(model)
    with pytest.raises(checkpoints.CheckpointError, match="has 12 rounds, and max_iter is 11"):
        fit_path(model.set_params(max_iter=11))
    whole = fit_path(classifier(max_iter=100))
    for one, other in zip(fit_path(model.set_params(max_iter=100)), whole, strict=True):
        assert_same(one, other, X)


def test_seconds_before_an_interruption_count(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])

    def games():
        sides = players(X, A, Y, WEIGHT, FALSE_POSITIVE_RATE)
        return FictitiousPlay()._from_sums(*sides, GAMMAS, C)

    class Kept:
        """Keeps the state of the third round, and ends the game at the fifth."""

        state, rounds = None, itertools.count(1)

        def resume(self, game):
            if self.state:
                game.restore(self.state)

        def reached(self, state):
            now[0] += 1.0
            number = next(self.rounds)
            if number == 3:
                self.state = state()
            if number == 5:
                raise KeyboardInterrupt

    kept, limits = Kept(), loop.Limits(max_iter=99, budget=10.0)
    with pytest.raises(KeyboardInterrupt):
        loop.play(games(), limits, checkpoint=kept)
    now[0] = 1e6
    assert kept.state["seconds"] == 3.0
    assert {end.n_rounds for end in loop.play(games(), limits, checkpoint=kept)} == {10}


PROCESS = """
    import os, sys, warnings
    import numpy as np
    from gerrymend.solvers.regression.cell_rows import CellRows
    from tests.solvers.test_linear_checkpoints import A, WEIGHT, X, Y
    from tests.solvers.test_linear_play import GAMMAS, classifier

    warnings.simplefilter("ignore")
    rounds, find = iter(range(1, 10**9)), CellRows.find

    def find_or_die(self, group):
        if next(rounds) == int(sys.argv[1]):
            os._exit(9)
        return find(self, group)

    CellRows.find = find_or_die
    models = classifier(max_iter=150, checkpoint="fit", checkpoint_every=0.0).fit_path(
        X, Y, gammas=GAMMAS, sensitive_features=A, sample_weight=WEIGHT)
    np.savez("ended.npz", *[np.r_[one.history_["error"], one.history_["unfairness"], one.gap_,
             one.upper_bound_, one.predict_proba(X)[:, 1]] for one in models])
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_in_a_new_one(tmp_path):
    script = tmp_path / "process.py"
    script.write_text(textwrap.dedent(PROCESS))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def run(number):
        command = [sys.executable, str(script), str(number)]
        options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
        return subprocess.run(command, **options)

    for number in (40, 50):
        killed = run(number)
        assert killed.returncode == 9, killed.stderr
    ended = run(10**6)
    assert ended.returncode == 0, ended.stderr
    with np.load(tmp_path / "ended.npz") as resumed:
        for one, other in zip(resumed.values(), fit_path(classifier(max_iter=150)), strict=True):
            history = [other.history_["error"], other.history_["unfairness"]]
            figures = [other.gap_, other.upper_bound_, *other.predict_proba(X)[:, 1]]
            np.testing.assert_array_equal(one, np.r_[*history, figures])
