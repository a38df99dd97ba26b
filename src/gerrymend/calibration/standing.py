"""What is known of patched scores, on the rows that the patches were learnt on, and in words."""

from dataclasses import dataclass
from typing import Any

from gerrymend.calibration.chance import TYPICAL

# Why no further patch was made.
PROVEN = "proven"
CHANCE = "chance"
FEW_ROWS = "few_rows"
UNCHANGED = "unchanged"
MAX_PATCHES = "max_patches"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Refused:
    """The patch that was considered and not made.

    `subgroup` and `interval` are in words, `violation` is with its sign, and `limit` is what it
    would have had to exceed: what a `part` of the draws of chance exceeds.
    """

    subgroup: str
    interval: str
    violation: float
    limit: float
    part: float


@dataclass(frozen=True)
class Standing:
    """What is known of patched scores, on the rows that the patches were learnt on.

    Attributes
    ----------
    n_rows : int
    before, after : float
        The worst violation that was found before the first patch and after the last.
    upper_bound : float
        What no subgroup exceeds after the last patch, within any interval.
    error_before, error_after : float
        The mean squared error: of probabilities the Brier score.
    stopped : {"proven", "chance", "few_rows", "unchanged", "max_patches", "undecided"}
        Why no further patch was made.
    refused : Refused or None
        The patch that was considered last, and not made.
    covers : str
        The subgroups and intervals that the bound is over, in words.
    settings : dict
        What was asked for: notion, cuts, subgroups, alpha, level, n_draws, max_patches,
        min_group_size and random_state, as plain data.
    """

    n_rows: int
    before: float
    after: float
    upper_bound: float
    error_before: float
    error_after: float
    stopped: str
    refused: Refused | None
    covers: str
    settings: dict[str, Any]

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that no subgroup exceeds alpha; False without an alpha."""
        alpha = self.settings["alpha"]
        return alpha is not None and self.upper_bound <= alpha

    def why(self) -> str:
        """Say why no further patch was made, in a sentence."""
        alpha = self.settings["alpha"]
        if self.stopped == PROVEN:
            return (
                f"Stopped: it is proven that no subgroup exceeds alpha = {alpha:g} on these rows."
            )
        if self.stopped == FEW_ROWS:
            fewest = self.settings["min_group_size"]
            return (
                f"Stopped: what is left is in subgroups of fewer than {fewest} rows, which are "
                "neither told nor changed."
            )
        if self.stopped == UNDECIDED:
            return (
                f"Stopped: no subgroup above alpha = {alpha:g} was found, and it was not proven in "
                "time that there is none."
            )
        if self.stopped == MAX_PATCHES:
            most = self.settings["max_patches"]
            return f"Stopped after {most:,} patches, though more is left than chance makes."
        if self.stopped == UNCHANGED:
            return "Stopped: a change of what is left changes no score."
        if self.refused is None:
            return "Stopped: what is left is within what chance makes of right scores."
        where = self.refused.subgroup
        if self.refused.interval != "all":
            where = f"{where}, {self.refused.interval}"
        left = f"what is left, {abs(self.refused.violation):.4f} in {where}"
        return f"Stopped: {left}, is within what chance makes of right scores ({self._chance()})."

    def _chance(self) -> str:
        assert self.refused is not None
        limit = f"{self.refused.limit:.4f} or more in"
        draws = self.settings["n_draws"]
        if self.refused.part == TYPICAL:
            return f"{limit} half of {draws:,} draws"
        return f"{limit} {self.refused.part:.0%} of {draws:,} draws"
