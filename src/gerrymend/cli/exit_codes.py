"""The exit codes of every command: a gate in CI reads them, and nothing else defines them."""

from collections.abc import Sequence
from typing import Any

# By verdict: proven within gamma, a subgroup exceeds it, and neither could be shown.
EXIT_CODES = {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}

# A group stands out from chance, whatever gamma allows, where the gate was asked to fail for that.
STANDS_OUT = 1

# The call or the data is wrong, a package is missing, or gerrymend has an error of its own, shown
# with its traceback: what was asked for can't be done, and nothing is known of gamma.
CANT_BE_DONE = 2

# Ctrl-C; 128 + SIGINT, as shells have it.
INTERRUPTED = 130


def gate_code(
    verdict: str,
    warnings: Sequence[Any],
    *,
    accepted: bool,
    by_chance: bool = False,
    stands_out: bool | None = False,
) -> int:
    """Return the exit code of a verdict; a green one counts as undecided where it is doubtful.

    So does a red one that is `by_chance`: chance alone may make as much, and the gate is not to
    shut for it. `stands_out` is for a gate that fails for who stands out: whether a group does, and
    None where that could not be told, so that nothing is cleared by a test that was not made.

    A subgroup that exceeds gamma was found in the columns that were given, whatever else these may
    be: decisions that one attribute makes alone look like its values recoded.

    >>> gate_code("within gamma", [], accepted=False)
    0
    >>> gate_code("within gamma", ["constant_decisions"], accepted=False)
    3
    >>> gate_code("exceeds gamma", ["decision_is_protected"], accepted=False)
    1
    >>> gate_code("exceeds gamma", [], accepted=False, by_chance=True)
    3
    >>> [gate_code("within gamma", [], accepted=False, stands_out=one) for one in (True, None)]
    [1, 3]
    """
    if stands_out:
        return STANDS_OUT
    is_doubtful = (bool(warnings) and not accepted) or stands_out is None
    if verdict == "exceeds gamma":
        is_doubtful = by_chance
    return EXIT_CODES["undecided" if is_doubtful else verdict]


def repair_code(alpha: float | None, found: float, at_most: float) -> int:
    """Return the exit code of a repair of scores: whether none is proven to exceed alpha.

    `found` is the worst violation that is left, and `at_most` what is proven that none exceeds.
    Without an alpha there is nothing to exceed.

    >>> repair_code(None, 0.02, 0.03), repair_code(0.05, 0.02, 0.03)
    (0, 0)
    >>> repair_code(0.01, 0.02, 0.03), repair_code(0.025, 0.02, 0.03)
    (1, 3)
    """
    if alpha is None or at_most <= alpha:
        return EXIT_CODES["within gamma"]
    return EXIT_CODES["exceeds gamma" if found > alpha else "undecided"]
