"""scikit-learn's callbacks on the classifiers: rounds as tasks, and all that must survive them."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from gerrymend import SubgroupParityClassifier
from gerrymend.datasets import make_intersectional
from gerrymend.solvers.base import Interrupted
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.recorder import Recorder

pytestmark = MAY_EXCEED_GAMMA

callback = pytest.importorskip("sklearn.callback")
SOLVERS = ["exponentiated_gradient", "fictitious_play"]


@pytest.fixture(scope="module")
def data():
    made = make_intersectional(300, cardinalities=(2, 3), n_numeric=0, random_state=0)
    return {"X": made.data, "y": made.target, "sensitive_features": made.sensitive_features}


def classifier(**parameters):
    usual = {"subgroups": "marginals", "max_iter": 7, "tol": None, "random_state": 0}
    return SubgroupParityClassifier(LinearRegression(), **usual | parameters)


@pytest.mark.parametrize("solver", SOLVERS)
def test_each_round_is_a_task(data, solver):
    recorder = Recorder()
    model = classifier(solver=solver).set_callbacks(recorder).fit(**data)
    alone = classifier(solver=solver).fit(**data)
    rounds = ["begin round", "end round"] * (model.n_iter_ + 1)
    assert recorder.calls == ["setup", "begin fit", *rounds, "end fit", "teardown"]
    assert recorder.contexts[0].max_subtasks == 8
    X, y, fitted = recorder.fitted
    assert X is data["X"]
    assert y is data["y"]
    for one in (fitted, alone):
        np.testing.assert_array_equal(one.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_path_has_its_own_tasks_and_models_that_can_be_fitted_again(data, solver):
    recorder = Recorder()
    models = classifier(solver=solver).set_callbacks(recorder).fit_path(**data, gammas=[0.0, 0.02])
    assert recorder.calls[:2] == ["setup", "begin fit"]
    assert recorder.calls[-2:] == ["end fit", "teardown"]
    assert recorder.calls.count("end round") >= 7
    for model in models:
        assert not hasattr(model, "_callback_fit_ctx")
        model.fit(**data)


def test_callbacks_are_torn_down_when_a_fit_is_stopped(data):
    recorder = Recorder(stop_after=3)
    model = classifier().set_callbacks(recorder)
    with pytest.raises(Interrupted):
        model.fit(**data)
    assert recorder.calls[-1] == "teardown"
    assert model.n_iter_ == 3
    assert not hasattr(model, "_callback_fit_ctx")


def test_clones_and_pickles_keep_them(data):
    model = classifier().set_callbacks(callback.ProgressBar())
    copied = pickle.loads(pickle.dumps(clone(model)))
    assert [type(one).__name__ for one in copied._skl_callbacks] == ["ProgressBar"]
    assert not hasattr(model.set_callbacks(), "_skl_callbacks")
    with pytest.raises(TypeError, match="FitCallback protocol"):
        model.set_callbacks("bar")


def test_the_progress_bar_of_scikit_learn(data, capsys):
    pytest.importorskip("rich")
    classifier().set_callbacks(callback.ProgressBar()).fit(**data)
    out = capsys.readouterr().out
    assert "SubgroupParityClassifier - fit" in out
    assert "100%" in out


def test_the_scores_of_scikit_learn(data):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = classifier().set_callbacks(monitor).fit(**data)
    (scored,) = [row for row in monitor.get_logs().data if "accuracy" in row]
    assert scored["task_name"] == "fit"
    assert scored["accuracy"] == np.mean(model.predict(data["X"]) == data["y"])


def test_inside_a_search_that_has_callbacks(data):
    recorder = Recorder()
    search = GridSearchCV(classifier(max_iter=2), {"gamma": [0.0, 0.1]}, cv=2)
    rows = np.column_stack(list(data["sensitive_features"].values()))  # a search parts arrays
    search.set_callbacks(callback.ProgressBar()).fit(data["X"], data["y"], sensitive_features=rows)
    assert search.best_estimator_.set_callbacks(recorder).fit(**data).n_iter_ == 2
    assert recorder.calls.count("end fit") == 1


def test_without_them_everything_else_works():
    code = (
        "import sys, sklearn.linear_model, sklearn.model_selection, sklearn.pipeline\n"
        "sys.modules['sklearn.callback'] = None\n"
        "from gerrymend import SubgroupParityClassifier\n"
        "from gerrymend.datasets import make_gerrymandered\n"
        "toy = make_gerrymandered(80)\n"
        "clf = SubgroupParityClassifier(max_iter=3, tol=None, verbose=1)\n"
        "fitted = clf.fit(toy.data, toy.target, sensitive_features=toy.sensitive_features)\n"
        "protected = {'sensitive_features': toy.sensitive_features}\n"
        "path = clf.fit_path(toy.data, toy.target, gammas=[0.0, 0.1], **protected)\n"
        "print(hasattr(clf, 'set_callbacks'), fitted.n_iter_, len(path))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[-1].split() == ["False", "3", "2"], run.stderr
    # Nobody has set up logging, and whoever asks for progress sees it.
    assert "round 3 of at most 3: error" in run.stdout
