"""Reports in MLflow: what a real tracking store in a folder has after, and what is refused."""

import json
import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import SubgroupParityClassifier, audit, types_to_trust
from gerrymend.mlflow import log_report
from tests.all_rounds import MAY_EXCEED_GAMMA
from tests.reporting.hostile import assert_inert

# Of MLflow, and of what it is built on.
pytestmark = pytest.mark.filterwarnings("ignore")

WHY = (
    "MLflow is not installed: it is an extra, and left out of `dev` for its size (make test-mlflow)"
)
RNG = np.random.default_rng(0)
N = 600
X = pd.DataFrame({"sex": RNG.integers(0, 2, N), "age": RNG.integers(18, 80, N), "x": RNG.random(N)})
Y = ((X["x"] > 0.5) ^ (RNG.random(N) < 0.2)).astype(int)
A = pd.DataFrame({"sex": np.where(X["sex"] == 1, "F", "M"), "old": X["age"] > 50})
DECIDED = (X["x"] + 0.3 * (A["sex"] == "F") * A["old"] > 0.6).astype(int)
HOW = {"notion": "statistical_parity", "subgroups": "conjunctions"}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """MLflow with a store of its own, and what it logged to a run."""
    mlflow = pytest.importorskip("mlflow", reason=WHY)
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("sqlalchemy", reason="mlflow-skinny has no store in a database")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment("audits")
    yield mlflow
    while mlflow.active_run() is not None:
        mlflow.end_run()


def logged(mlflow, run_id, name):
    return mlflow.artifacts.load_text(f"runs:/{run_id}/{name}")


def made(**how):
    return audit(Y, DECIDED, sensitive_features=A, **HOW, **how)


def test_a_report_is_in_the_store_as_it_is(store):
    report = made(n_permutations=19, gamma=0.02)
    with store.start_run() as run:
        metrics = log_report(report, owner="Risk")
    found = store.get_run(run.info.run_id).data
    assert found.metrics == metrics
    expected = {"unfairness": report.unfairness, "upper_bound": report.upper_bound, "gamma": 0.02,
                "n_rows": N, "p_value": report.p_value, "lead_rate": report.lead.rate,
                "lead_size": report.lead.size}  # fmt: skip
    assert {name: metrics[f"gerrymend/{name}"] for name in expected} == expected
    assert "gerrymend/population_bound" not in metrics  # was not asked for
    assert found.tags["gerrymend.verdict"] == report.verdict
    assert found.tags["gerrymend.warnings"] == ""
    data = json.loads(logged(store, run.info.run_id, "gerrymend/report.json"))
    assert data.pop("about") == {"owner": "Risk"}
    assert data == json.loads(report.to_json())
    assert logged(store, run.info.run_id, "gerrymend/report.html") == report.to_html(owner="Risk")


def test_a_run_that_is_named_and_one_that_is_started(store):
    run_id = store.start_run().info.run_id
    store.end_run()
    log_report(made(), run_id=run_id, prefix="gerrymend/test")
    assert store.active_run() is None
    found = store.get_run(run_id).data
    assert "gerrymend/test/unfairness" in found.metrics
    assert "gerrymend.test.verdict" in found.tags
    log_report(made())
    assert store.get_run(store.active_run().info.run_id).data.metrics["gerrymend/n_rows"] == N


def test_hostile_names_stay_text(store):
    values = np.where(A["sex"] == "F", "<script>a</script>\x1b[31m", "../../x")
    report = audit(Y, DECIDED, sensitive_features={"a/b\x00": values}, **HOW)
    with store.start_run() as run:
        log_report(report)
    assert_inert(logged(store, run.info.run_id, "gerrymend/report.json"))
    assert "<script>a" not in logged(store, run.info.run_id, "gerrymend/report.html")


def evaluated(mlflow, **given):
    pytest.importorskip("mlflow.models.evaluation", reason="mlflow-skinny evaluates no models")
    if "gerrymend" not in {one.name for one in entry_points(group="mlflow.model_evaluator")}:
        pytest.skip("this installation of gerrymend was made before it had an evaluator")
    return mlflow.models.evaluate(targets="y", model_type="classifier", **given)


def test_decisions_are_evaluated(store):
    data = pd.DataFrame({**A, "decided": DECIDED, "y": Y})
    config = {"gerrymend": {"sensitive_features": ["sex", "old"], **HOW}}
    with store.start_run() as run:
        found = evaluated(store, data=data, predictions="decided", evaluators=["gerrymend"],
                          evaluator_config=config)  # fmt: skip
    report = made()
    assert found.metrics["gerrymend/unfairness"] == report.unfairness
    assert store.get_run(run.info.run_id).data.metrics == found.metrics
    data = json.loads(logged(store, run.info.run_id, "gerrymend/report.json"))
    assert data["worst"] == json.loads(report.to_json())["worst"]


def test_a_logged_model_is_evaluated_beside_the_default_evaluator(store):
    """With protected columns that the model does not read."""
    model = LogisticRegression().fit(X, Y)
    with store.start_run():
        uri = store.sklearn.log_model(model, name="m").model_uri
        config = {"gerrymend": {"sensitive_features": A, "threshold": 0.4, **HOW}}
        config |= {"default": {"log_explainer": False}}
        both = ["default", "gerrymend"]
        found = evaluated(store, model=uri, data=X.assign(y=Y), evaluators=both,
                          evaluator_config=config)  # fmt: skip
    decided = (model.predict_proba(X)[:, 1] >= 0.4).astype(int)
    report = audit(Y, decided, sensitive_features=A, **HOW)
    assert found.metrics["gerrymend/unfairness"] == report.unfairness
    assert found.metrics["accuracy_score"] == model.score(X, Y)


@MAY_EXCEED_GAMMA
def test_our_classifier_is_logged_loaded_and_evaluated_by_its_probabilities(store):
    fair = SubgroupParityClassifier(LinearRegression(), max_iter=5, tol=None, random_state=0)
    mixture = fair.fit(X, Y, sensitive_features=A).mixture_
    with store.start_run():
        info = store.sklearn.log_model(
            mixture, name="fair", serialization_format="skops",
            skops_trusted_types=types_to_trust(mixture),
        )  # fmt: skip
        config = {"gerrymend": {"sensitive_features": A, **HOW}}
        found = evaluated(store, model=info.model_uri, data=X.assign(y=Y),
                          evaluators=["gerrymend"], evaluator_config=config)  # fmt: skip
    again = store.sklearn.load_model(info.model_uri)
    p = mixture.predict_proba(X)
    np.testing.assert_array_equal(again.predict_proba(X), p)
    report = audit(Y, p[:, 1], sensitive_features=A, decision_probabilities=True, **HOW)
    assert found.metrics["gerrymend/unfairness"] == report.unfairness


def test_evaluations_that_ask_for_no_audit_are_as_they_were(store):
    data = pd.DataFrame({"x": X["x"], "decided": DECIDED, "y": Y})
    with store.start_run():
        found = evaluated(store, data=data, predictions="decided")
    assert not any(name.startswith("gerrymend") for name in found.metrics)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sensitive_features": ["race"]}, "sensitive_features names 'race', which is no column"),
        ({"sensitive_features": ["sex"], "notoin": 1}, "evaluator_config has what audit"),
        ({"sensitive_features": ["sex"], "notion": "fpr"}, "notion='fpr' is unknown"),
        ({"sensitive_features": A.iloc[:5]}, "5"),
    ],
)
def test_bad_configurations_are_said(store, config, message):
    data = pd.DataFrame({**A, "decided": DECIDED, "y": Y})
    with store.start_run(), pytest.raises((TypeError, ValueError), match=message):
        evaluated(store, data=data, predictions="decided", evaluators=["gerrymend"],
                  evaluator_config={"gerrymend": config})  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"report": 3}, r"report must be a report of audit\(\); got 3"),
        ({"prefix": "/"}, "prefix must be a name, such as 'gerrymend'; got '/'"),
        ({"titel": "x"}, "titel"),
    ],
)
def test_bad_input_is_said_before_anything_is_logged(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        log_report(**{"report": made(), **given})


def test_it_is_lazy_and_says_what_to_install():
    code = (
        "import sys\n"
        "from gerrymend.mlflow import log_report\n"
        "assert 'mlflow' not in sys.modules and 'numba' not in sys.modules\n"
        "sys.modules['mlflow'] = None\n"
        "from gerrymend import audit\n"
        "log_report(audit([0] * 40, [1, 0] * 20, sensitive_features={'sex': ['F', 'M'] * 20}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1].endswith(
        "gerrymend.mlflow needs mlflow, which is not installed: pip install 'gerrymend[mlflow]'"
    )
