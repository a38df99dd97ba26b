"""Independent check of a report, in exact rational arithmetic and with none of the auditors' code.

Nothing here is imported from the rest of the package: a checker that shared code with the auditors
could be wrong in the same way as they are. The layer test keeps it so.
"""

from gerrymend.checker.claims import check_report
from gerrymend.checker.result import CheckResult

__all__ = ["CheckResult", "check_report"]
