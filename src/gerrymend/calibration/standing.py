"""What is known of patched scores, on the rows that the patches were learnt on, and in words."""

from dataclasses import dataclass
from typing import Any

# Why no further patch was made.
PROVEN = "proven"
CHANCE = "chance"
FEW_ROWS = "few_rows"
UNCHANGED = "unchanged"
MAX_PATCHES = "max_patches"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Refused:
    """A patch that was considered and not made.

    Attributes
    ----------
    reason : {"chance", "few_rows"}
        Chance makes as much of right scores; or its rows are too few to be told of.
    subgroup, interval : str or None
        In words; None of few rows.
    violation : float or None
        With its sign; None of few rows.
    limit : float
        What it would have had to exceed: what a `part` of the draws of chance exceeds.
    part : float
    """

    reason: str
    subgroup: str | None
    interval: str | None
    violation: float | None
    limit: float
    part: float

    def words(self) -> str:
        """Return how much is left, and where."""
        assert self.violation is not None
        where = f"{self.subgroup}"
        if self.interval != "all":
            where = f"{where}, {self.interval}"
        return f"{abs(self.violation):.4f} in {where}"


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
    refused : tuple of Refused
        The patches that were considered and not made, the worst first: one, or with an alpha all
        that exceed it, each among the rows that those before it leave, up to 100.
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
    refused: tuple[Refused, ...]
    covers: str
    settings: dict[str, Any]

    @property
    def is_proven(self) -> bool:
        """Tell if it is proven that no subgroup exceeds alpha; False without an alpha."""
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
        told = [one for one in self.refused if one.subgroup is not None]
        if not told:
            return "Stopped: what is left is within what chance makes of right scores."
        left = f"what is left, {told[0].words()},"
        return (
            f"Stopped: {left} is within what chance makes of right scores "
            f"({self._chance(told[0])}).{self._others()}"
        )

    def _chance(self, refused: Refused) -> str:
        draws = self.settings["n_draws"]
        return f"{refused.limit:.4f} or more in {100 * refused.part:.3g} % of {draws:,} draws"

    def _others(self) -> str:
        """Say how many patches were refused, where that is more than the one that was told."""
        if len(self.refused) == 1:
            return ""
        few = sum(one.reason == FEW_ROWS for one in self.refused)
        rows = f", {few:,} of them for their few rows" if few else ""
        return (
            f" {len(self.refused):,} patches above alpha = {self.settings['alpha']:g} were refused"
            f"{rows}."
        )
