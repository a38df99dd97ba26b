"""An independent check of a report: exact rational arithmetic, and none of the auditors' code.

Nothing here is imported from the rest of the package, which could then be wrong in the same way.
"""

from gerrymend.checker.claims import check_report
from gerrymend.checker.result import CheckResult

__all__ = ["CheckResult", "check_report"]
