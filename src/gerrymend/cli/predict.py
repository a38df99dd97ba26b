"""`gerrymend predict`: decide for each row of a file by a saved model.

Imported by `cli.app` once it knows that typer and rich are there.
"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console

from gerrymend.cli.options import FILE, Decimal, File, Missing, Quiet, Separator
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import (
    Output,
    check_target,
    guarded,
    notes,
    option,
    split,
    tell,
)
from gerrymend.cli.table_encoding import (
    check_kinds,
    check_scale,
    check_values,
    imputes,
    note_unseen,
    plain,
    trained_on,
)
from gerrymend.cli.table_files import (
    Reading,
    check_table_name,
    open_table,
    unreadable,
    write_table,
)
from gerrymend.inputs.settings import did_you_mean
from gerrymend.inputs.validation import check_column

if TYPE_CHECKING:
    import polars as pl

_PREDICTION = "What to predict"


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("predict", no_args_is_help=True)
    def predict(
        model: Annotated[Path, typer.Argument(
            metavar="MODEL", help="A model that gerrymend fit or save_model() wrote.")],
        file: File,
        *,
        ids: Annotated[list[str] | None, option(
            "Columns of FILE to write before the predictions, as they are: an identifier, say.",
            _PREDICTION, "--id", metavar="COLUMNS", show_default=False)] = None,
        probabilities: Annotated[bool, option(
            "Write the probability of deciding the positive label, the last of the two in order, "
            "too.", _PREDICTION,
            "--probabilities")] = False,
        seed: Annotated[int | None, option(
            "Seed of the draws.", _PREDICTION, min=0,
            show_default="the model's own")] = None,
        out: Annotated[Path, option(
            "Predictions are written here: a .csv, .parquet or .xlsx file. In CSV, text that a "
            "spreadsheet would run as a formula has a ' before it.", FILE,
            metavar="FILE", show_default=False)],
        trust: Annotated[list[str] | None, option(
            "Types in MODEL to load that skops doesn't vouch for, separated by commas; gerrymend "
            "fit says which.", FILE, metavar="TYPES", show_default=False)] = None,
        quiet: Quiet = False,
        separator: Separator = None,
        decimal: Decimal = ".",
        missing: Missing = None,
    ) -> None:  # fmt: skip
        """Decide for each row of a file, in its order.

        A model may draw its decisions. A row's draw depends on the seed and on the
        row's values alone: the same person gets the same decision in any file.

        Example, with the model that the example of gerrymend fit makes:

        gerrymend predict m.skops people.csv --out predictions.csv --probabilities
        """
        reading = Reading(separator, decimal, missing or ())
        asked = Asked(model, file, out, reading, ids or [], probabilities, seed, quiet)
        raise typer.Exit(run(asked, split(trust or [], [])))


class Asked(NamedTuple):
    """Hold the options of the command, which its help explains."""

    model: Path
    file: Path
    out: Path
    reading: Reading
    ids: list[str]
    probabilities: bool
    seed: int | None
    quiet: bool


def run(asked: Asked, trusted: list[str]) -> int:
    """Load, read, decide and write, and return the exit code.

    `trusted` are types in the model to load that skops doesn't trust by itself.
    """

    def work(console: Console) -> int:
        """Run the command, with progress and notes on `console`."""
        check_table_name(asked.out, "--out")
        check_target(asked.out, "--out", asked.file, asked.model)
        with notes(console, {}), progress(console, f"Reading {asked.file}", quiet=asked.quiet):
            model = _load(asked.model, trusted)
            frame, ids = _features(model, asked)
            decided = _decided(model, frame, asked.probabilities, asked.seed)
            escaped = write_table(_beside(ids, decided), asked.out)
        out = Output(highlight=False, quiet=asked.quiet)
        _tell(out, decided, asked.out, escaped)
        if asked.probabilities:
            tell(out, f"The probability is that of deciding {model.classes_[-1]}.")
        return 0

    return guarded(work)


def _beside(ids: "pl.DataFrame", decided: "pl.DataFrame") -> "pl.DataFrame":
    """Return columns of the file with the predictions after them; raise if names are the same."""
    import polars as pl

    for name in ids.columns:
        if name in decided.columns:
            raise ValueError(f"--id {name} is the name of a column of predictions; rename it.")
    return pl.concat([ids, decided], how="horizontal") if ids.columns else decided


def _load(path: Path, trusted: list[str]) -> Any:
    """Return the model, or raise a ValueError unless it knows its columns by name.

    Errors of load_model() are put in the terms of the command: what to --trust, for example.
    """
    from gerrymend.models.saving import ModelFileError, load_model

    if not path.is_file():
        raise ValueError(
            f"MODEL {path} does not exist, or is no file; name one that gerrymend fit or "
            "save_model() wrote."
        )
    try:
        model = load_model(path, trusted=trusted)
    except ModelFileError as error:
        types = list(error.untrusted)
        options = {
            f"path={str(path)!r}": f"MODEL {path}",
            f"trusted={types!r}": f"--trust {','.join(types)}",
        }
        raise ValueError(error.in_terms(options)) from None
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(
            f"MODEL {path} was trained on an array, and doesn't know its columns by name. Predict "
            "in Python, or train it on a frame, or with gerrymend fit."
        )
    return model


def _features(model: Any, asked: Asked) -> "tuple[pl.DataFrame, pl.DataFrame]":
    """Return the model's columns of a file, in the types that it was trained on, and those of --id.

    Raises a ValueError for columns that are missing or of another kind, and for values that the
    model can't take; warns of texts that it has not seen.
    """
    import polars as pl

    names = [str(name) for name in model.feature_names_in_]
    encoder = model[0] if hasattr(model, "steps") else None
    kinds = {} if encoder is None else trained_on(encoder)
    # Codes such as 01 and 02 would be read as numbers, and the model knows them as text.
    texts = [name for name, kind in kinds.items() if kind == "text"]
    file = asked.file
    table = open_table(file, names, asked.reading, texts)
    there = table.collect_schema().names()
    ids = list(dict.fromkeys(split(asked.ids, there)))
    for name in ids:
        check_column(name, "--id", there, str(file))
    # All that are missing at once, each with the name that may be meant.
    lacking = [name for name in names if name not in there]
    if lacking:
        shown = ", ".join(f"{name!r}{did_you_mean(name, there)}" for name in lacking)
        raise ValueError(f"FILE {file} lacks columns that MODEL {asked.model} decides by: {shown}.")
    try:
        whole = table.select(list(dict.fromkeys([*names, *ids]))).collect()
        frame = plain(whole.select(names))
    except pl.exceptions.PolarsError as error:
        raise unreadable(file, error) from None
    if not len(frame):
        raise ValueError(f"FILE {file} has a header and no rows; there is nothing to predict.")
    check_kinds(kinds, frame, file)
    check_values(frame, file, impute=encoder is None or imputes(encoder))
    check_scale(frame, file)
    if encoder is not None:
        note_unseen(encoder, frame, str(file))
    return frame, whole.select(ids)


def _decided(
    model: Any, frame: "pl.DataFrame", probabilities: bool, seed: int | None
) -> "pl.DataFrame":
    """Return the predictions, and probabilities if these are wanted, by row."""
    import polars as pl

    with warnings.catch_warnings():
        # `_features` has told of them, by column.
        warnings.filterwarnings("ignore", message="Found unknown categories")
        columns = {"prediction": model.predict(frame, random_state=seed)}
        if probabilities:
            columns["probability"] = model.predict_proba(frame)[:, 1]
    return pl.DataFrame({name: values.tolist() for name, values in columns.items()})


def _tell(console: Console, decided: "pl.DataFrame", out: Path, escaped: bool) -> None:
    """Print how many predictions were written, by label."""
    counts = decided["prediction"].value_counts(sort=True).rows()
    words = " and ".join(f"{count:,} × {label}" for label, count in counts)
    tell(console, f"{len(decided):,} predictions in {out}: {words}.")
    if escaped:
        tell(
            console,
            "Labels that a spreadsheet would run as formulas have a ' before them in the file.",
        )
