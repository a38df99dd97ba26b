"""AuditReport: what an audit found, as data first and as text."""

from dataclasses import dataclass
from typing import Any

from gerrymend.measured import Subgroup
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups.base import SubgroupClass

# Differences below this are rounding, not unfairness.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class AuditReport:
    """What an audit found, on the rows that it was given.

    Attributes
    ----------
    worst : Subgroup or None
        The worst subgroup that was found, of those large enough to be described; None where none
        differs from the overall rate.
    unfairness : float
        The largest unfairness that was found, without sign, whatever the size of the group. A
        lower bound for the class, unless `exact`.
    upper_bound : float
        No subgroup of the class exceeds it, on these rows.
    gamma : float
        The unfairness to allow.
    n_rows : int
        Rows that were audited.
    subgroups : SubgroupClass
        The class that was searched.
    covers : str
        The class in words: all that `upper_bound` is about.
    partial : tuple of (str, float)
        Parts of the class, in words, and what none of their subgroups exceeds.
    min_group_size : int
        Groups with fewer rows that count, inside or outside, are not described. The bounds cover
        them all the same.
    notions : tuple of FairnessNotion
        The rates that were compared; the bounds are over all of them.
    """

    worst: Subgroup | None
    unfairness: float
    upper_bound: float
    gamma: float
    n_rows: int
    subgroups: SubgroupClass
    covers: str
    partial: tuple[tuple[str, float], ...] = ()
    min_group_size: int = 1
    notions: tuple[FairnessNotion, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether no subgroup of the class exceeds what was found."""
        return self.upper_bound <= self.unfairness + ROUNDING

    @property
    def verdict(self) -> str:
        """ "within gamma" (proven), "exceeds gamma" (a subgroup shows it), or "undecided"."""
        if self.unfairness > self.gamma + ROUNDING:
            return "exceeds gamma"
        return "within gamma" if self.upper_bound <= self.gamma + ROUNDING else "undecided"

    @property
    def withheld(self) -> bool:
        """Whether a group too small to be described is worse than `worst`."""
        described = 0.0 if self.worst is None else abs(self.worst.unfairness)
        return self.unfairness > described + ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data; nothing of a row is in it."""
        return {
            "verdict": self.verdict,
            "gamma": self.gamma,
            "unfairness": self.unfairness,
            "upper_bound": self.upper_bound,
            "exact": self.exact,
            "covers": self.covers,
            "partial": [{"covers": words, "upper_bound": bound} for words, bound in self.partial],
            "n_rows": self.n_rows,
            "min_group_size": self.min_group_size,
            "withheld": self.withheld,
            "subgroups": repr(self.subgroups),
            "class": self.subgroups.to_dict(),
            "notions": [notion.to_dict() for notion in self.notions],
            "worst": None if self.worst is None else self.worst.to_dict(),
        }

    def __str__(self) -> str:
        lines = [f"Audit of {self.n_rows:,} rows over {self.subgroups!r}: {self.verdict}."]
        if self.worst is not None:
            lines += _treatment(self.worst)
        if self.withheld:
            lines.append(
                f"A worse subgroup has fewer than {self.min_group_size} rows that count, or all "
                "but so few, and is not described: few rows identify people."
            )
        elif self.worst is None:
            lines.append("No subgroup was found that differs at all.")
        bound = (
            "exact"
            if self.exact
            else f"a lower bound; no subgroup of the class exceeds {self.upper_bound:.4f}"
        )
        lines.append(f"  unfairness {self.unfairness:.4f} ({bound}), gamma {self.gamma:g}")
        lines.append(f"  proof over {self.covers}")
        lines += [f"  no more than {bound:.4f} over {words}" for words, bound in self.partial]
        return "\n".join(lines)


def _treatment(worst: Subgroup) -> list[str]:
    return [
        f"Worst subgroup found: {worst.describe()} ({worst.size:,} rows)",
        f"  {worst.notion.words} {worst.rate:.1%}, overall {worst.overall_rate:.1%}: "
        f"{100 * worst.gap:+.1f} points, {worst.ratio:.2f} times; its rows that count are "
        f"{worst.share:.1%} of all rows",
    ]
