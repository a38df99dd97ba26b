"""Has every report of the suite checked by code that shares nothing with what made it."""

import json
from typing import Any

from gerrymend import AuditReport, CheckResult, check_report


def assert_checked(
    report: AuditReport, y_true: Any, y_pred: Any, *, bound: bool = False, **data: Any
) -> CheckResult:
    """Fail unless all that the report states, written as JSON, holds.

    Parameters
    ----------
    report : AuditReport
    y_true, y_pred, **data
        As they were passed to `audit()`: sensitive_features, sample_weight and so on.
    bound : bool, default=False
        Fail also where the upper bound could not be verified, the class being too large.
    """
    as_json = json.dumps(report.to_dict(), allow_nan=False)
    result = check_report(as_json, y_true, y_pred, **data)
    assert result.ok, str(result)
    assert not bound or any("upper bound" in one for one in result.checked), str(result)
    return result
