"""The verdict of an audit: which of three things its figures show.

Its words are in `reporting/audit/verdict.py`, and the exit code of each in `cli/exit_codes.py`.
"""

from gerrymend.auditing.subgroup import ROUNDING

WITHIN = "within gamma"
EXCEEDS = "exceeds gamma"
UNDECIDED = "undecided"


def verdict(unfairness: float, upper_bound: float, gamma: float, rounding: float = ROUNDING) -> str:
    """Return "within gamma" (proven), "exceeds gamma" (a subgroup shows it) or "undecided".

    Parameters
    ----------
    unfairness : float
        The largest that was found: a lower bound of the largest there is.
    upper_bound : float
        What no subgroup exceeds.
    gamma : float
        What is allowed.
    rounding : float
        A difference of at most so much is not held against a model; see `rounding_of`.

    >>> verdict(0.02, 0.05, gamma=0.01), verdict(0.0, 0.01, gamma=0.01), verdict(0, 0.05, 0.01)
    ('exceeds gamma', 'within gamma', 'undecided')
    """
    if unfairness > gamma + rounding:
        return EXCEEDS
    return WITHIN if upper_bound <= gamma + rounding else UNDECIDED
