"""Independent check of reports and patches, in exact rational arithmetic, with none of our code.

Nothing here is imported from the rest of the package: a checker that shared code with the auditors
could be wrong in the same way as they are. The layer test keeps it so.
"""

from gerrymend.checker.claims import check_report
from gerrymend.checker.patches import check_patches
from gerrymend.checker.result import CheckResult

__all__ = ["CheckResult", "check_patches", "check_report"]
