"""The evaluator "gerrymend" of `mlflow.models.evaluate`; MLflow imports this by its entry point."""

from collections.abc import Mapping
from typing import Any

from mlflow.models.evaluation import EvaluationResult, ModelEvaluator

from gerrymend._runtime.errors import ArgumentError

# Of evaluator_config, what is no argument of audit().
_OWN = ("prefix", "sensitive_features", "control_features", "sample_weight")


class SubgroupEvaluator(ModelEvaluator):
    """Audit what a model decides on the data of an evaluation, and log the report to its run.

    Its part of `evaluator_config` has `sensitive_features`, names of columns of the data or columns
    of their own with as many rows, and any other arguments of audit(). Without it nothing is done,
    so that evaluations that don't ask for an audit are as they were.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: Any, **kwargs: Any) -> bool:
        """Return whether an audit was asked for."""
        return "sensitive_features" in (evaluator_config or {})

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any],
        model: Any = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Audit, log to the run, and return the metrics."""
        from gerrymend.auditing.audit import audit
        from gerrymend.mlflow import log_report

        how = {name: value for name, value in evaluator_config.items() if name not in _OWN}
        columns = {
            name: _columns(evaluator_config[name], dataset.features_data, name)
            for name in _OWN[1:]
            if evaluator_config.get(name) is not None
        }
        told = _told(model, dataset, how)
        try:
            report = audit(dataset.labels_data, **columns, **{**how, **told})
        except TypeError as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(
                "evaluator_config", f"has what audit() does not take: {error}."
            ) from None
        metrics = log_report(
            report, run_id=run_id, prefix=evaluator_config.get("prefix", "gerrymend")
        )
        return EvaluationResult(metrics=metrics, artifacts={}, run_id=run_id)


def _told(model: Any, dataset: Any, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the model says of the rows, as arguments of audit()."""
    if model is None:
        return {"y_pred": dataset.predictions_data}
    from gerrymend.models.told_decisions import told_decisions

    try:
        # A scikit-learn model, which has predict_proba where MLflow's own form has not.
        estimator = model.get_raw_model()
    except (AttributeError, NotImplementedError):
        estimator = model
    asked = {name: how.get(name) for name in ("threshold", "pos_label")}
    notion = how.get("notion", "false_positive_rate")
    told = told_decisions(estimator, dataset.features_data, notion=notion, **asked)
    return {name: value for name, value in told.items() if value is not None}


def _columns(given: Any, features: Any, argument: str) -> Any:
    """Return columns that are named, from the data; others are as they are."""
    is_name = isinstance(given, str)
    names = [given] if is_name else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return given
    missing = [name for name in names if name not in getattr(features, "columns", ())]
    if missing:
        raise ArgumentError(
            argument,
            f"names {missing[0]!r}, which is no column of the data; pass columns that the model "
            "does not read as they are, in place of their names.",
        )
    return features[given] if is_name else features[list(names)]
