"""Define `gerrymend calibrate`: learn patches of scores from a file, or apply saved ones.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from gerrymend._numeric.sums import Array
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.calibration.settings import BUDGET, LEVEL, MAX_PATCHES, N_DRAWS
from gerrymend.cli import options
from gerrymend.cli.calibrate_request import ApplyRequest, CalibrateRequest
from gerrymend.cli.calibrate_text import brief, show
from gerrymend.cli.columns_command import ColumnsCommand
from gerrymend.cli.exit_codes import repair_decision
from gerrymend.cli.options import DATA, FILE
from gerrymend.cli.progress import progress
from gerrymend.cli.score_tables import ScoreTable, patched_name
from gerrymend.cli.shared import (
    Output,
    column,
    errors_in_options,
    guarded,
    notes,
    option,
    request_fields,
    tell,
)
from gerrymend.notions import SCORE_NAMES
from gerrymend.reporting.wording import count
from gerrymend.subgroups import CLASS_NAMES

_REPAIR = "How to repair"
# Where the value of an option is from, as click calls it: the command line, and no default.
_GIVEN = "COMMANDLINE"
# Options that say something of patches that are there already; all others are to learn them.
_FOR_APPLYING = {
    "file", "apply", "score", "label", "positive", "weight", "out", "quiet", "categorical",
    "dates", "ranges", "separator", "decimal", "missing", "drop_missing",
}  # fmt: skip


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("calibrate", cls=ColumnsCommand, no_args_is_help=True)
    def calibrate(
        context: typer.Context,
        file: options.File,
        label: Annotated[str | None, column(
            "What happened: a label of two values, or a number.", DATA)] = None,
        score: Annotated[str | None, column(
            "What was predicted: the probability of the positive label, or the number. Of rows "
            "that the model was not trained on.", DATA)] = None,
        protected: Annotated[list[str] | None, option(
            "Protected attributes, separated by commas.", DATA, metavar="COLUMNS",
            show_default=False)] = None,
        positive: options.Positive = None,
        weight: options.Weight = None,
        categorical: options.Categorical = None,
        dates: options.Dates = "year",
        ranges: options.Ranges = None,
        notion: Annotated[str, option(
            f"What scores are to be: {' or '.join(SCORE_NAMES)}, right on average in every "
            "subgroup, the latter within every interval of the score too.", _REPAIR,
            metavar="NOTION")] = "multicalibration",
        bins: Annotated[int | None, option(
            "Bins of the score, for multicalibration: every run of neighbouring ones is an "
            "interval.", _REPAIR, show_default="10")] = None,
        subgroups: Annotated[str, option(
            f"Class of subgroups: {', '.join(CLASS_NAMES)}.", _REPAIR,
            metavar="CLASS")] = "conjunctions",
        depth: Annotated[int | None, option(
            "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
            _REPAIR, show_default="2")] = None,
        alpha: Annotated[float | None, options.number(
            "Violation that is small enough: a group's share of all rows × how far what happened "
            "is from what was predicted.", _REPAIR,
            show_default="as long as chance is exceeded")] = None,
        level: Annotated[float, options.number(
            "Right scores are left alone with a probability of 1 − this; 1 doesn't ask about "
            "chance, and learns it.", _REPAIR, metavar="FRACTION")] = LEVEL,
        draws: Annotated[int, option(
            "Draws of what chance makes of right scores; each takes a search.",
            _REPAIR)] = N_DRAWS,
        max_patches: Annotated[int, option("The most patches to make.", _REPAIR)] = MAX_PATCHES,
        budget: Annotated[float, options.number(
            "Seconds for a proof, of classes whose search is no proof itself.",
            _REPAIR)] = BUDGET,
        min_group_size: Annotated[int, option(
            "Groups of fewer rows are neither changed nor described.", _REPAIR)] = MIN_GROUP_SIZE,
        seed: Annotated[int, option(
            "Seed of the draws, and of the search.", _REPAIR, min=0)] = 0,
        out: Annotated[Path | None, option(
            "All columns of FILE are written here, with the patched scores after them: a .csv, "
            ".parquet or .xlsx file. In CSV, text that a spreadsheet would run as a formula has a "
            "' before it.", FILE, metavar="FILE", show_default=False)] = None,
        model: Annotated[Path | None, option(
            "The patches are written here, as JSON.", FILE, metavar="PATCHES",
            show_default=False)] = None,
        apply: Annotated[Path | None, option(
            "Apply patches that --model wrote to the scores of FILE, and learn none; --score names "
            "their column if it is called otherwise here.", FILE, metavar="PATCHES",
            show_default=False)] = None,
        quiet: Annotated[bool, option(
            "Print nothing but notes, errors and, where it is not 0, a line on why the exit code "
            "is what it is.", FILE, "--quiet", "-q")] = False,
        separator: options.Separator = None,
        decimal: options.Decimal = ".",
        missing: options.Missing = None,
        drop_missing: options.DropMissing = False,
    ) -> None:  # fmt: skip
        """Change scores so that they mean the same for everyone, as far as rows can tell.

        The subgroup, and the interval of the score, where what happened is furthest
        from what was predicted is changed; and again, until it is proven that none
        exceeds --alpha, or what is left can't be told from chance. The exit code is
        0 where that is proven or no --alpha was given, 1 where a subgroup still
        exceeds it, 3 where neither could be shown, and 2 where the call or the data
        is wrong. With --apply it is 0 or 2.

        Example, with data that the demonstration makes:

        gerrymend demo --save people.csv

        gerrymend calibrate people.csv --label repaid --score score \\
            --protected race,sex,age --out patched.csv --model patches.json

        gerrymend calibrate people.csv --apply patches.json --out again.csv
        """
        given = {**locals(), "notion": None, "protected": protected or []}
        if apply is None:
            fields = request_fields(CalibrateRequest, given) | {"notion": (notion,)}
            raise typer.Exit(learn(fields, quiet=quiet))
        sources = {name: context.get_parameter_source(name) for name in given}
        named = [name for name, source in sources.items() if source and source.name == _GIVEN]
        raise typer.Exit(patch(request_fields(ApplyRequest, given), named, quiet=quiet))


def learn(fields: dict[str, Any], *, quiet: bool = False) -> int:
    """Learn patches, write them and the patched scores, print, and return the exit code.

    `fields` are those of CalibrateRequest.
    """

    def work(console: Console) -> int:
        request = CalibrateRequest(**fields)
        request.check_targets()
        first = f"Reading {request.file}"
        with (
            notes(console, request.options, identifiers=True),
            progress(console, first, quiet=quiet) as say,
        ):
            table = request.read()
            patches = request.learn(table, say)
            escaped = False
            if request.out is not None:
                assert request.score is not None
                with errors_in_options(request.options):
                    scores = table.used[request.score]
                    patched = patches.apply(scores, table.used.select(table.protected))
                escaped = table.write(patched, request.score, request.out)
            if request.model is not None:
                from gerrymend import save_patches

                save_patches(patches, request.model)
        standing = patches.standing
        assert standing is not None
        decision = repair_decision(request.alpha, standing.after, standing.upper_bound)
        out = Output(highlight=False, quiet=quiet)
        show(out, patches, request, table)
        _tell_of_formulas(out, escaped)
        if decision.code:
            told = f" {brief(patches)}" if quiet else ""
            tell(console, f"{decision.sentence}{told}")
        return decision.code

    return guarded(work)


def patch(fields: dict[str, Any], named: list[str], *, quiet: bool = False) -> int:
    """Apply saved patches, write the patched scores, print, and return the exit code.

    `fields` are those of ApplyRequest, and `named` the options that were given.
    """

    def work(console: Console) -> int:
        for name in named:
            if name not in _FOR_APPLYING:
                raise ValueError(
                    f"--{name.replace('_', '-')} is to learn patches, and --apply applies those "
                    "that are there; leave one of them out."
                )
        request = ApplyRequest(**fields)
        request.check_targets()
        with (
            notes(console, request.options),
            progress(console, f"Reading {request.file}", quiet=quiet),
        ):
            table = request.read()
            patched = request.apply_to(table)
            measured = request.measure(table, patched)
            assert request.out is not None
            escaped = table.write(patched, request.column, request.out)
        out = Output(highlight=False, quiet=quiet)
        _tell_of_patched(out, request, table, patched)
        if measured is not None:
            error = "Brier score" if request.patches.probabilities else "mean squared error"
            before, after = measured
            tell(out, f"Their {error} is {before:.4g} before, and {after:.4g} after.")
        _tell_of_formulas(out, escaped)
        return 0

    return guarded(work)


def _tell_of_patched(
    console: Console, request: ApplyRequest, table: ScoreTable, patched: Array
) -> None:
    """Print how many scores were changed, and where they are."""
    before = table.used[request.column].cast(float).to_numpy()
    changed = int(np.count_nonzero(patched != before))
    tell(
        console,
        f"{count(changed)} of {count(len(patched))} scores were changed, by "
        f"{len(request.patches):,} patches; they are in {request.out}, in the column "
        f"{patched_name(request.column)}.",
    )
    if table.missing.dropped:
        tell(console, f"{count(table.missing.dropped)} rows were dropped (--drop-missing).")


def _tell_of_formulas(console: Console, escaped: bool) -> None:
    """Say that texts were escaped."""
    if escaped:
        tell(
            console, "Texts that a spreadsheet would run as formulas have a ' before them in --out."
        )
