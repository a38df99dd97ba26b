"""Print patches as `gerrymend calibrate` tells of them."""

import shlex

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gerrymend.calibration.patches import Patch, ScorePatches
from gerrymend.calibration.standing import CHANCE, FEW_ROWS, Standing
from gerrymend.cli.audit_text import folded
from gerrymend.cli.calibrate_request import CalibrateRequest
from gerrymend.cli.score_tables import ScoreTable, patched_name
from gerrymend.cli.shared import tell
from gerrymend.reporting.text import (
    WIDEST,
    Facts,
    as_rich,
    fact_spans,
    joined,
    paragraph_spans,
)
from gerrymend.reporting.wording import count, figure, visible

# A terminal is spared further rows of the table; the file of patches has them all.
_MOST_SHOWN = 20
_EXCEEDS = "A subgroup still exceeds alpha"
_UNSEEN = (
    "All of that is of these rows, on whose scores patches were learnt. If the model was trained "
    "on these rows, its scores are too good here, and patches learn its training: take scores of "
    "rows that it has not seen, or score each row by a model that was trained without it "
    "(out-of-fold: cross_val_predict of scikit-learn, or SubgroupCalibrator, which does all of it)."
)
_VIOLATION = (
    "A group's share of all rows, times how far what happened is from what was predicted, on "
    "average"
)


def show(
    console: Console, patches: ScorePatches, request: CalibrateRequest, table: ScoreTable
) -> None:
    """Print what was found, the patches, what is left, and where it was written."""
    standing = patches.standing
    assert standing is not None
    width = min(console.width, WIDEST)
    heading, style = look(patches)
    console.print()
    spans = paragraph_spans(style, heading, [*_figures(patches, standing), _UNSEEN], width)
    console.print(as_rich(spans), soft_wrap=True)
    if len(patches):
        _show_patches(console, patches)
    else:
        console.print()
    facts = [
        fact_spans(_measured(patches, standing), width),
        fact_spans(_written(patches, request, table), width),
    ]
    console.print(as_rich(joined(facts)), soft_wrap=True)
    console.print()
    if commands := _commands(request):
        tell(console, "What next: on rows that patches were not learnt on, see what they do:")
        for command in commands:
            tell(console, folded(command, width))
        console.print()


def look(patches: ScorePatches) -> tuple[str, str]:
    """Return what was reached, as a heading, and the style that it is printed in."""
    standing = patches.standing
    assert standing is not None
    alpha = standing.settings["alpha"]
    made = f"{len(patches):,} patch{'' if len(patches) == 1 else 'es'}"
    if alpha is None:
        if not len(patches):
            return "No patch: these scores can't be told from right ones", "bold"
        return f"{made}: what is left {_left(standing)}", "bold"
    if standing.is_proven:
        return f"{made}: proven that no subgroup exceeds alpha = {alpha:g}", "bold green"
    if standing.after > alpha:
        return f"{_EXCEEDS} = {alpha:g}, after {made}", "bold red"
    return f"Undecided: none above alpha = {alpha:g} was found, nor proven not to be", "bold yellow"


def _left(standing: Standing) -> str:
    """Say in a word or two what is left."""
    if standing.stopped == CHANCE:
        return "could be chance"
    return "is in groups of few rows" if standing.stopped == FEW_ROWS else "is told below"


def brief(patches: ScorePatches) -> str:
    """Return the line that --quiet prints where the exit code is not 0."""
    standing = patches.standing
    assert standing is not None
    heading, _ = look(patches)
    return f"{heading}. {_found(standing)}. {standing.why()}"


def _show_patches(console: Console, patches: ScorePatches) -> None:
    """Print the table, at most so many rows of it."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    table.add_column(Text(f"Whose {visible(patches.score)}"), overflow="fold")
    for name in ("Rows", "Predicted", "Happened"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Change", no_wrap=True)
    for number, patch in enumerate(patches[:_MOST_SHOWN], start=1):
        table.add_row(f"{number}", *_cells(patch, patches))
    console.print(table)
    if len(patches) > _MOST_SHOWN:
        rest = len(patches) - _MOST_SHOWN
        tell(console, f"… and {rest:,} more, which --model has.\n")


def _cells(patch: Patch, patches: ScorePatches) -> list[Text]:
    interval = patch.interval(patches.score)
    who = patch.rule.describe()
    told = [
        who if interval == "all" else interval if who == "everyone" else f"{who}, {interval}",
        count(patch.rows),
        *(_mean(mean, patches) for mean in (patch.predicted, patch.happened)),
        str(patch.change),
    ]
    return [Text(visible(text)) for text in told]


def _mean(mean: float, patches: ScorePatches) -> str:
    return figure(mean, None if patches.probabilities else "")


def _measured(patches: ScorePatches, standing: Standing) -> Facts:
    """Return what was measured, over what, and why there are no more patches."""
    has_intervals = standing.settings["cuts"] is not None
    within = f", within any interval of {patches.score}" if has_intervals else ""
    reason = standing.why().removeprefix("Stopped: ")
    facts = [
        ("Violation", f"{_VIOLATION}{within}"),
        ("  proven", f"over {standing.covers}"),
        ("Patches", f"{len(patches):,} made"),
        ("  refused", f"{len(standing.refused):,}"),
        ("  stopped", reason),
    ]
    if len(patches):
        facts.append(("  change", _change_words(patches)))
    return facts


def _figures(patches: ScorePatches, standing: Standing) -> list[str]:
    """Say how far scores were off, and are."""
    error = "Brier score" if patches.probabilities else "mean squared error"
    return [
        f"{_found(standing)}.",
        f"The {error} was {standing.error_before:.4g} and is {standing.error_after:.4g}.",
    ]


def _found(standing: Standing) -> str:
    """Return the worst violation before and after, and what is proven, in words."""
    after = f"The worst violation was {standing.before:.4f} and is {standing.after:.4f}"
    if standing.upper_bound <= standing.after:
        return f"{after}; it is proven that no subgroup has more"
    return f"{after}; it is proven that no subgroup has more than {standing.upper_bound:.4f}"


def _change_words(patches: ScorePatches) -> str:
    """Explain what a change does, by an example."""
    in_turn = "patches apply in turn, each to the scores that those before it left"
    if not patches.probabilities:
        return f"what is added to the number; {in_turn}"
    return f"odds are p : (1 − p), and odds × 2 turn 50 % into 66.7 %; {in_turn}"


def _written(patches: ScorePatches, request: CalibrateRequest, table: ScoreTable) -> Facts:
    """Return what was read, and the files that were written."""
    assert request.score is not None
    rows = f"{count(len(table.used))} rows of {request.file}"
    facts = [("Learnt on", f"{rows}: {request.score} was predicted, {request.label} happened")]
    if table.missing.dropped:
        facts.append(("  dropped", f"{count(table.missing.dropped)} rows (--drop-missing)"))
    if request.out is not None:
        new = patched_name(request.score)
        facts.append(("Patched scores", f"{request.out}, in the column {new}"))
    if request.model is not None:
        facts.append(("Patches", f"{request.model}: JSON that can be read, and no row in it"))
    return facts


def _commands(request: CalibrateRequest) -> list[str]:
    """Return the commands that come next, for a shell."""
    if request.model is None:
        return []
    assert request.score is not None
    assert request.label is not None
    (notion,) = request.notion
    apply = ["gerrymend", "calibrate", "other.csv", "--apply", str(request.model)]
    audit = [
        "gerrymend", "audit", "other_patched.csv", "--notion", notion, "--score",
        patched_name(request.score), "--label", request.label, "--protected",
        *request.protected, "--subgroups", request.subgroups,
    ]  # fmt: skip
    apply += ["--label", request.label, "--out", "other_patched.csv"]
    return [shlex.join(apply), shlex.join(audit)]
