"""Claim, the verdict on one claim of the paper, and helpers to judge by records.

They raise a MissingRecordError where a record that they read is not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gerrymend.reproduction.figure_parts import title
from gerrymend.reproduction.records import Records

# The verdicts. "Only as reported": by the paper's auditor, and not by the strongest search.
HELD = "reproduced"
BY_SOME = "reproduced, by some readings"
REPORTED = "reproduced only as reported"
FAILED = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """Hold one claim of the paper, our numbers beside it, and the verdict.

    Attributes
    ----------
    words, theirs : str
        The claim, and the number that the paper gives for it.
    ours, strongest : str
        What came out by the paper's own auditor, and by our strongest search.
    verdict, reason : str
        Whether it was reproduced, and the measure that decided it.
    """

    words: str
    theirs: str
    ours: str
    strongest: str
    verdict: str
    reason: str


def curves(records: Records, name: str, experiment: str = "subgroup") -> list[dict[str, Any]]:
    """Return the curves of a game, one for each gamma."""
    found: list[dict[str, Any]] = records.need(experiment, name)["curves"]
    return found


def frontier_of_record(records: Records, name: str, experiment: str = "subgroup") -> Any:
    """Return the errors and the unfairness along a frontier, by increasing error, as two arrays."""
    points = records.need(experiment, name)["frontier"]
    return (
        np.array([point["error"] for point in points]),
        np.array([point["unfairness"] for point in points]),
    )


def least_error(error: Any, unfairness: Any, below: float) -> float:
    """Return the least error with unfairness below a value, infinite if there is none.

    >>> least_error(np.array([0.1, 0.2, 0.3]), np.array([0.05, 0.004, 0.001]), below=0.005)
    0.2
    """
    return float(np.min(error[unfairness < below], initial=np.inf))


def by_dataset(records: Records, values: Mapping[str, str]) -> str:
    """Return values by dataset as a list in words."""
    return ", ".join(f"{title(name, records)} {value}" for name, value in values.items())


def percent(value: float) -> str:
    """Return a share in percent, to one decimal."""
    return f"{100 * value:.1f} %"
