"""Reports in MLflow: `log_report`, and the evaluator "gerrymend" of `mlflow.models.evaluate`.

MLflow is imported where something is logged. The evaluator is in `evaluator.py`, by whose entry
point MLflow finds it.
"""

from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.extras import need

__all__ = ["log_report"]

# Figures of a report that are metrics of a run, where it has them.
_FIGURES = (
    *("unfairness", "upper_bound", "gamma", "n_rows", "single_unfairness", "p_value"),
    *("detectable", "population_bound"),
)
# Figures of the group that leads.
_OF_LEAD = ("size", "rate", "overall_rate", "unfairness")


def log_report(
    report: Any,
    *,
    run_id: str | None = None,
    prefix: str = "gerrymend",
    **document: Any,
) -> dict[str, float]:
    """Log a report to a run of MLflow: figures, verdict, and the report as JSON and as a page.

    Metrics are "gerrymend/unfairness", "gerrymend/upper_bound", "gerrymend/lead_rate" and the like,
    tags "gerrymend.verdict" and "gerrymend.warnings", and artifacts "gerrymend/report.json" and
    "gerrymend/report.html". No row is in any of them.

    Parameters
    ----------
    report : AuditReport
        What audit() or audit_counts() returned.
    run_id : str, optional
        The run; by default the active one, or one that is started and stays active, as with
        mlflow.log_metric().
    prefix : str, default="gerrymend"
        What names begin with, where a run has several reports: "gerrymend/test", for example.
    **document
        title, model, owner and the like of the page, as in AuditReport.to_html().

    Returns
    -------
    dict
        The metrics that were logged.

    Examples
    --------
    >>> from gerrymend import audit
    >>> from gerrymend.mlflow import log_report
    >>> report = audit([0] * 40, [1] * 10 + [0] * 30, sensitive_features={"sex": ["F", "M"] * 20})
    >>> log_report(report)["gerrymend/unfairness"]  # doctest: +SKIP
    0.0
    """
    from gerrymend.auditing.report import AuditReport
    from gerrymend.inputs.numbers import short

    if not isinstance(report, AuditReport):
        raise ArgumentError("report", f"must be a report of audit(); got {short(report)}.")
    if not isinstance(prefix, str) or not prefix.strip("/"):
        raise ArgumentError("prefix", f"must be a name, such as 'gerrymend'; got {short(prefix)}.")
    # All that may fail is made before anything is logged.
    page = report.to_html(**document)
    data = report.to_json(**document)
    metrics = {f"{prefix}/{name}": value for name, value in _metrics(report).items()}
    mlflow = need("mlflow", "gerrymend.mlflow needs")
    if run_id is None:
        run_id = (mlflow.active_run() or mlflow.start_run()).info.run_id
    client = mlflow.MlflowClient()
    client.log_text(run_id, data, f"{prefix}/report.json")
    client.log_text(run_id, page, f"{prefix}/report.html")
    tag = prefix.replace("/", ".")
    client.set_tag(run_id, f"{tag}.verdict", report.verdict)
    client.set_tag(run_id, f"{tag}.warnings", ", ".join(one.code for one in report.warnings))
    for name, value in metrics.items():
        client.log_metric(run_id, name, value)
    return metrics


def _metrics(report: Any) -> dict[str, float]:
    """Return the figures of a report that it has, by name."""
    found = {name: getattr(report, name) for name in _FIGURES}
    if report.lead is not None:
        found |= {f"lead_{name}": getattr(report.lead, name) for name in _OF_LEAD}
    return {name: float(value) for name, value in found.items() if value is not None}
