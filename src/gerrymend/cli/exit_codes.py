"""The exit codes of every command: a gate in CI reads them, and nothing else defines them."""

from collections.abc import Sequence
from typing import Any

# By verdict: proven within gamma, a subgroup exceeds it, and neither could be shown.
EXIT_CODES = {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}

# The call or the data is wrong, or a package is missing: what was asked for can't be done.
CANT_BE_DONE = 2

# Ctrl-C; 128 + SIGINT, as shells have it.
INTERRUPTED = 130


def gate_code(verdict: str, warnings: Sequence[Any], *, accepted: bool) -> int:
    """Return the exit code of a verdict, which warnings make undecided unless they are accepted.

    A verdict about columns that were probably not meant decides nothing, whichever it is.

    >>> gate_code("within gamma", [], accepted=False)
    0
    >>> gate_code("within gamma", ["constant_decisions"], accepted=False)
    3
    """
    return EXIT_CODES["undecided" if warnings and not accepted else verdict]
