"""Options that commands share.

Imported by `cli.app` once it knows that typer and rich are there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from gerrymend.cli.shared import SMALL_GROUPS_HELP, column, option
from gerrymend.inputs.held_numbers import number_of
from gerrymend.inputs.numbers import as_float
from gerrymend.subgroups import CLASS_NAMES

# Panels of the help.
DATA = "What is in FILE"
TRAINING = "How to train"
READING = "How FILE is read"
FILE = "What is written"


def exact_number(text: str) -> float:
    """Return the number of an option with all its digits, or raise what Typer tells of."""
    try:
        return number_of(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number; pass one, such as 0.5.") from None


def _held_number(given: str | float) -> float:
    """Return the number of an option as float64, or raise what Typer tells of; also a default."""
    exact = exact_number(str(given))
    if not isinstance(exact, float):
        raise typer.BadParameter(
            f"{given} is a number that float64 does not hold: it would be taken as "
            f"{as_float(exact):.17g}. Pass another."
        )
    return exact


def number(words: str, panel: str, *names: str, **more: Any) -> Any:
    """Return an option that is a number, of which no digit that counts is lost."""
    return option(words, panel, *names, parser=_held_number, **{"metavar": "<float>"} | more)


def _said(words: str) -> Any:
    """Return an option for something that a report can't know of itself."""
    return option(words, "What the report says of the model", metavar="TEXT", show_default=False)


def said(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report is to say, of all options by name, as arguments of its document."""
    names = ("title", "owner", "purpose", "date", "since")
    words = given["decisions"]
    return {
        "model": given["model_name"],
        **{name: given[name] for name in names},
        "decisions": None if words is None else words.split(","),
    }


File = Annotated[Path, typer.Argument(
    metavar="FILE",
    help="A table: CSV, Parquet, JSON lines or xlsx, perhaps gzipped; - is standard input. With "
    "--engine dask also a folder of Parquet files.",
)]  # fmt: skip
Label = Annotated[str, column("True label, of two values.", DATA)]
Positive = Annotated[str | None, option(
    "The positive label; in an audit of more than two, the one to compare with the rest.", DATA,
    metavar="LABEL", show_default="the last of two in order")]  # fmt: skip
Favourable = Annotated[str | None, option(
    "The decision that people wish for, positive or negative: the report then says who is "
    "treated worse, and who better.", DATA, metavar="WHICH", show_default=False)]  # fmt: skip
Side = Annotated[str, option(
    "Which subgroups count: both, or disadvantaged alone (which --favourable has to tell, but for "
    "error rates).", DATA, "--side", metavar="WHICH")]  # fmt: skip
Threshold = Annotated[float | None, option(
    "Scores of at least this are decided positive.", DATA, metavar="<float>", show_default="0.5",
    parser=exact_number)]  # fmt: skip
Protected = Annotated[list[str], option(
    "Protected attributes, separated by commas.", DATA, metavar="COLUMNS",
    show_default=False)]  # fmt: skip
Categorical = Annotated[list[str] | None, option(
    "Columns of codes: categories, though they look like numbers.", READING, metavar="COLUMNS",
    show_default=False)]  # fmt: skip
Dates = Annotated[str, option(
    "What protected dates are told by: year, month, or a day such as 2024-03-01, for ages in days "
    "on it.", READING, metavar="UNIT")]  # fmt: skip
Ranges = Annotated[list[str] | None, option(
    "Where a protected number is cut into ranges, such as age=30,50; those that are missing are "
    "one more.", READING, metavar="COLUMN=CUTS", show_default=False)]  # fmt: skip
GAMMA_HELP = (
    "Unfairness to allow: a group's share of all rows × how far its rate is from everyone's. 0.01 "
    "is, of 10,000 rows, 100 more cases than at everyone's rate: 10 points for a tenth of them. To "
    "allow 5 points for a fifth of all rows, set 0.05 × 0.2 = 0.01."
)
Depth = Annotated[int | None, option(
    "Conditions, attributes or questions at most, in conjunctions, value_sets and trees.",
    TRAINING, show_default="2")]  # fmt: skip
AcceptWarnings = Annotated[bool, option(
    "Let the verdict decide the exit code, whatever the report warns of.", FILE,
    "--accept-warnings")]  # fmt: skip
FailOn = Annotated[str, option(
    "What the gate fails for, with 1: a subgroup that exceeds gamma, or also a group that stands "
    "out from chance though it is within gamma, as a small one that is hit hard may be.", FILE,
    "--fail-on", metavar="exceeds|stands-out")]  # fmt: skip
IfChance = Annotated[str, option(
    "Exit code where a subgroup exceeds gamma and chance alone may have made as much (the p-value "
    "of the group that leads, and that of the search, are above 0.05): fail, which is 1, or "
    "undecided, which is 3.", FILE, "--if-chance", metavar="fail|undecided")]  # fmt: skip
Quiet = Annotated[bool, option(
    "Print no report, but warnings, errors and, where it is not 0, a line on why the exit code is "
    "what it is; where it is 0, one on a group that stands out from chance.", FILE,
    "--quiet", "-q")]  # fmt: skip
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
Control = Annotated[list[str] | None, option(
    "What may rightly matter, such as an occupation: groups are compared among rows of equal "
    "values of these columns, and summed.", DATA, metavar="COLUMNS",
    show_default=False)]  # fmt: skip
LeaveOutEmptyStrata = Annotated[bool, option(
    "Leave out values of --control without a row that the rate is over, rather than stop.", DATA,
    "--leave-out-empty-strata")]  # fmt: skip
Impute = Annotated[bool, option(
    "Missing numbers become the median, and are marked; missing text is a value of its own.",
    DATA, "--impute")]  # fmt: skip
Subgroups = Annotated[str, option(
    f"Class of subgroups: {', '.join(CLASS_NAMES)}.", TRAINING, metavar="CLASS")]  # fmt: skip
MaxIter = Annotated[int | None, option(
    "Rounds to play at most; each trains the estimator once.", TRAINING, min=1,
    show_default="that of SubgroupParityClassifier")]  # fmt: skip
TestSize = Annotated[float | None, number(
    "Part of the rows to keep out of the training, and to audit on too.", TRAINING,
    metavar="FRACTION", show_default=False)]  # fmt: skip
MinGroupSize = Annotated[int, option(SMALL_GROUPS_HELP, TRAINING, min=1)]
Seed = Annotated[int, option(
    "Seed of the training, of the draws and of what is kept out.", TRAINING, min=0)]  # fmt: skip
Checkpoint = Annotated[Path | None, option(
    "Save the training here as it runs; after Ctrl-C the same command resumes from it.", FILE,
    metavar="FILE", show_default=False)]  # fmt: skip
Report = Annotated[Path | None, option(
    "Write the report as a page for people, one HTML file that needs no network.", FILE,
    metavar="FILE", show_default=False)]  # fmt: skip
Markdown = Annotated[str | None, option(
    "Write the report as Markdown to this file; - is standard output.", FILE, metavar="FILE",
    show_default=False)]  # fmt: skip
Junit = Annotated[str | None, option(
    "Write the verdict as a test in JUnit XML to this file: failed where the exit code is 1, an "
    "error where it is 3; - is standard output.", FILE, "--junit", metavar="FILE",
    show_default=False)]  # fmt: skip
Annotations = Annotated[str | None, option(
    "Write the verdict as annotations of GitHub's Actions to this file; - is standard output, "
    "where a runner shows them.", FILE, "--annotations", metavar="FILE",
    show_default=False)]  # fmt: skip
Since = Annotated[Path | None, option(
    "An earlier report, as audit --json wrote it: the page says what changed.", FILE,
    metavar="FILE", show_default=False)]  # fmt: skip
Title = Annotated[str | None, _said("Title of the report.")]
ModelName = Annotated[str | None, _said("Which model this is about.")]
Decisions = Annotated[str | None, option(
    "Words for the negative and the positive decision, for the report to say who is refused in "
    "place of “decided granted = 0”: refused,granted.", "What the report says of the model",
    metavar="WORDS", show_default=False)]  # fmt: skip
Owner = Annotated[str | None, _said("Who answers for the model.")]
Purpose = Annotated[str | None, _said("What the model decides.")]
Date = Annotated[str | None, _said("As of when, if not as of today.")]
Engine = Annotated[str, option(
    "Where rows are: memory; or dask, for a Parquet file, or a folder of them, of which no row is "
    "brought here. Workers are those of the scheduler that Dask is configured for "
    "(DASK_SCHEDULER_ADDRESS), or of this machine.", READING, "--engine",
    metavar="memory|dask")]  # fmt: skip
Separator = Annotated[str | None, option(
    "Separator of a CSV file: one character, or tab.", READING, metavar="CHARACTER",
    show_default="the one of , ; tab | that fits")]  # fmt: skip
Decimal = Annotated[str, option(
    "Decimal sign of numbers: a point or a comma.", READING, metavar="SIGN")]  # fmt: skip
DropMissing = Annotated[bool, option(
    "Drop rows in which a protected column, or one of --control, is missing, and say how many.",
    READING, "--drop-missing")]  # fmt: skip
Missing = Annotated[list[str] | None, option(
    "Text that stands for a missing value, as NA; may be given again.", READING, metavar="TEXT",
    show_default="empty fields only")]  # fmt: skip
