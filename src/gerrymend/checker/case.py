"""A report under check: what it states, the data, and what the checks have found so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gerrymend.checker.exact import Table
from gerrymend.checker.figures import ROUNDING, TOLERANCE, Measured
from gerrymend.checker.result import CheckResult


@dataclass(frozen=True)
class Case:
    """Hold a report as plain data, the rows that it is checked against, and the findings.

    `holdout` are the rows of a second sample, if they are at hand. `measured` holds, by name, each
    notion that has rows in its event: it is filled before the checks that use it.
    """

    stated: Mapping[str, Any]
    table: Table
    holdout: Table | None = None
    result: CheckResult = field(default_factory=CheckResult)
    measured: dict[str, Measured] = field(default_factory=dict)

    @property
    def parted(self) -> bool:
        """True if rows were held out and are not at hand: they may have been of the same data.

        The class may then have categories that none of the rows that were searched has.
        """
        return self.stated["held_out"] is not None and self.holdout is None

    @property
    def tolerance(self) -> Fraction:
        """By how much a figure may differ, in the units of the notion with the largest outcomes."""
        return TOLERANCE * max((seen.scale for seen in self.measured.values()), default=1)

    @property
    def rounding(self) -> Fraction:
        """By how much a report lets a number exceed another one before it says so."""
        return max((seen.rounding for seen in self.measured.values()), default=ROUNDING)

    @property
    def span(self) -> float:
        """The largest range of outcomes of any notion."""
        return max((seen.span for seen in self.measured.values()), default=1.0)

    def problem(self, *sentences: str) -> None:
        """Add sentences to the problems."""
        self.result.problems.extend(sentences)

    def leave(self, fields: str, why: str) -> None:
        """Note that fields were not checked, and why; see `CheckResult.leave`."""
        self.result.leave(fields, why)
