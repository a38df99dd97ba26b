"""Patches as a table that people read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gerrymend._runtime.errors import inert

if TYPE_CHECKING:
    from gerrymend.calibration.patches import Patch, ScorePatches

_HEADINGS = ("", "Subgroup", "Scores", "Change", "Rows", "Predicted", "Happened", "Violation")
# Of these the figures stand below each other; the others begin below each other.
_FIGURES = (0, 4, 5, 6, 7)


def patches_text(patches: "ScorePatches") -> str:
    """Return the patches as a table, with what is known of them around it."""
    lines = [heading(patches)]
    if len(patches):
        rows = [_HEADINGS, *table_rows(patches)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS))]
        lines += ["", *(_aligned(row, widths) for row in rows), ""]
    if patches.standing is not None:
        lines.append(patches.standing.why())
    return inert("\n".join(lines))


def heading(patches: "ScorePatches") -> str:
    """Say how many patches there are, and what they did."""
    number = f"{len(patches):,} patch{'' if len(patches) == 1 else 'es'} of {patches.score}"
    standing = patches.standing
    if standing is None:
        return f"{number}."
    error = "Brier score" if patches.probabilities else "mean squared error"
    return (
        f"{number}, learnt on {standing.n_rows:,} rows. Worst violation {standing.before:.4f} "
        f"before and {standing.after:.4f} after (proven: at most {standing.upper_bound:.4f}); "
        f"{error} {standing.error_before:.4g} before and {standing.error_after:.4g} after."
    )


def table_rows(patches: "ScorePatches") -> list[tuple[str, ...]]:
    """Return the cells of the table, one row a patch."""
    return [(str(number), *_cells(patch, patches)) for number, patch in enumerate(patches, start=1)]


def _cells(patch: "Patch", patches: "ScorePatches") -> tuple[str, ...]:
    means = (patch.predicted, patch.happened)
    told = [f"{mean:.1%}" if patches.probabilities else f"{mean:.4g}" for mean in means]
    return (
        patch.rule.describe(),
        patch.interval(patches.score),
        str(patch.change),
        f"{patch.rows:,}",
        *told,
        f"{patch.violation:+.4f}".replace("-", "−"),
    )


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.rjust(width) if place in _FIGURES else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()
