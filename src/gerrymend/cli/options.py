"""Options that commands share.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from pathlib import Path
from typing import Annotated

import typer

from gerrymend.cli.shared import SMALL_GROUPS_HELP, column, option
from gerrymend.subgroups import CLASS_NAMES

# Panels of the help.
DATA = "What is in FILE"
TRAINING = "How to train"
FILE = "Reading and writing"

File = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or Parquet file.")]
Label = Annotated[str, column(
    "True label, of two values.", DATA)]  # fmt: skip
Positive = Annotated[str | None, option(
    "The positive label.", DATA, metavar="LABEL", show_default="the last in order")]  # fmt: skip
Favourable = Annotated[str | None, option(
    "The decision that people wish for, positive or negative: the report then says who is "
    "treated worse, and who better.", DATA, metavar="WHICH", show_default=False)]  # fmt: skip
Side = Annotated[str, option(
    "Which subgroups count: both, or disadvantaged alone (which --favourable has to tell, but for "
    "error rates).", DATA, metavar="SIDE")]  # fmt: skip
Protected = Annotated[list[str], option(
    "Protected attributes, separated by commas.", DATA, metavar="COLUMNS",
    show_default=False)]  # fmt: skip
Features = Annotated[list[str] | None, option(
    "Columns that decisions may use, separated by commas.", DATA, metavar="COLUMNS",
    show_default="all but the label and the weight")]  # fmt: skip
Drop = Annotated[
    list[str] | None,
    option("Or: columns that decisions may not use.", DATA, metavar="COLUMNS", show_default=False),
]
ExcludeProtected = Annotated[bool, option(
    "Decisions may not use the protected columns.", DATA, "--exclude-protected")]  # fmt: skip
Weight = Annotated[str | None, column("Weight of each row.", DATA)]
Impute = Annotated[bool, option(
    "Missing numbers become the median, and are marked; missing text is a value of its own.",
    DATA, "--impute")]  # fmt: skip
Subgroups = Annotated[str, option(
    f"Class of subgroups: {', '.join(CLASS_NAMES)}.", TRAINING, metavar="CLASS")]  # fmt: skip
MaxIter = Annotated[int | None, option(
    "Rounds to play at most; each trains the estimator once.", TRAINING, min=1,
    show_default="that of SubgroupParityClassifier")]  # fmt: skip
TestSize = Annotated[float | None, option(
    "Part of the rows to keep out of the training, and to audit on too.", TRAINING,
    metavar="FRACTION", show_default=False)]  # fmt: skip
MinGroupSize = Annotated[int, option(SMALL_GROUPS_HELP, TRAINING, min=1)]
Seed = Annotated[int, option(
    "Seed of the training, of the draws and of what is kept out.", TRAINING, min=0)]  # fmt: skip
Checkpoint = Annotated[Path | None, option(
    "Save the training here as it runs; after Ctrl-C the same command resumes from it.", FILE,
    metavar="FILE", show_default=False)]  # fmt: skip
Report = Annotated[Path | None, option(
    "Write a report on the model, as one HTML page that needs no network.", FILE,
    metavar="FILE", show_default=False)]  # fmt: skip
Separator = Annotated[str | None, option(
    "Separator of a CSV file: one character, or tab.", FILE, metavar="CHARACTER",
    show_default="the one of , ; tab | that fits")]  # fmt: skip
Missing = Annotated[list[str] | None, option(
    "Text that stands for a missing value, as NA; may be given again.", FILE, metavar="TEXT",
    show_default="empty fields only")]  # fmt: skip
