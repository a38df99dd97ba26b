"""Assertions for test suites: they fail with the text of a report, and pass by the rule of a gate.

They pass where `gerrymend audit` and `gerrymend compare` exit with 0: what is undecided, or warned
of, does not pass.
"""

from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend._runtime.extras import need
from gerrymend.auditing.report import AuditReport
from gerrymend.changes.comparison import Comparison
from gerrymend.cli.exit_codes import Decision, change_decision
from gerrymend.cli.gate import Gate
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import check_choice, check_flag
from gerrymend.reporting.wording import capitalised

__all__ = ["assert_not_worse", "assert_within_gamma"]

# In a reason arguments have their own names, not those of the command's options.
_OWN_NAMES: dict[str, str] = {}


def assert_within_gamma(
    report: AuditReport, *, accept_warnings: bool = False, fail_on: str = "exceeds"
) -> None:
    """Fail a test, with the text of the report, unless it is proven that no subgroup exceeds gamma.

    Parameters
    ----------
    report : AuditReport
        What audit() or audit_counts() returned; its gamma is what is allowed.
    accept_warnings : bool, default=False
        Let the verdict decide, whatever the report warns of.
    fail_on : {"exceeds", "stands-out"}, default="exceeds"
        "stands-out" fails also for a group that stands out from chance though it is within gamma,
        which needs `n_permutations` of audit().

    Examples
    --------
    >>> from gerrymend import audit
    >>> from gerrymend.pytest import assert_within_gamma
    >>> race = {"race": ["blue"] * 200 + ["green"] * 200}
    >>> def test_loans(decisions):
    ...     report = audit([0] * 400, decisions, sensitive_features=race, gamma=0.05)
    ...     assert_within_gamma(report)
    >>> test_loans([1, 0] * 200)
    >>> test_loans([1] * 100 + [0] * 300)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    Failed: A subgroup exceeds gamma.
    <BLANKLINE>
    More unfair than allowed...
    """
    __tracebackhide__ = True
    if not isinstance(report, AuditReport):
        raise ArgumentError("report", f"must be a report of audit(); got {short(report)}.")
    gate = Gate(
        check_flag(accept_warnings, "accept_warnings"),
        fail_on=check_choice(fail_on, "fail_on", ("exceeds", "stands-out")),
    )
    if gate.asks_who_stands_out and report.permutation_test is None:
        raise ArgumentError(
            Argument("fail_on", value="'stands-out'"),
            "needs a p-value, and the report has none; pass n_permutations=199 to audit().",
        )
    _pass_or_fail(gate.decide(report, names=_OWN_NAMES), report)


def assert_not_worse(
    comparison: Comparison, *, accept_warnings: bool = False, fail_on: str = "worse"
) -> None:
    """Fail a test, with the text of the comparison, unless it is the same as before or better.

    Parameters
    ----------
    comparison : Comparison
        What compare() returned.
    accept_warnings : bool, default=False
        Let the verdict decide, whatever the comparison warns of.
    fail_on : {"worse", "exceeds"}, default="worse"
        "exceeds" fails also where a subgroup exceeds gamma now.

    Examples
    --------
    >>> from gerrymend import audit, compare
    >>> from gerrymend.pytest import assert_not_worse
    >>> race = {"race": ["blue"] * 200 + ["green"] * 200}
    >>> old = audit([0] * 400, [1, 0] * 200, sensitive_features=race)
    >>> assert_not_worse(compare(old, [0] * 400, [0, 1] * 200, sensitive_features=race))
    """
    __tracebackhide__ = True
    if not isinstance(comparison, Comparison):
        found = short(comparison)
        raise ArgumentError("comparison", f"must be a comparison of compare(); got {found}.")
    decision = change_decision(
        comparison,
        check_choice(fail_on, "fail_on", ("worse", "exceeds")),
        accepted=check_flag(accept_warnings, "accept_warnings"),
        names=_OWN_NAMES,
    )
    _pass_or_fail(decision, comparison)


def _pass_or_fail(decision: Decision, shown: Any) -> None:
    """Fail the test that runs, with the reason and the text, unless the decision is to pass."""
    __tracebackhide__ = True
    if decision.code:
        pytest = need("pytest", "gerrymend.pytest needs")
        pytest.fail(f"{capitalised(decision.why)}.\n\n{shown}", pytrace=False)
