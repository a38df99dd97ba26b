"""Options that every command with a table and subgroups has: checked, and the table opened."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gerrymend.auditing.missing_values import NONE_MISSING, MissingValues
from gerrymend.cli.dask_tables import ENGINES, on_cluster, open_parts, parts_told
from gerrymend.cli.progress import Say
from gerrymend.cli.protected_dates import check_unit, with_dates
from gerrymend.cli.protected_missing import without_missing
from gerrymend.cli.protected_ranges import read_ranges, with_ranges
from gerrymend.cli.shared import options_of, split
from gerrymend.cli.table_files import Reading, open_table, unreadable
from gerrymend.inputs.held_numbers import number_of
from gerrymend.inputs.identifiers import BY_DATE
from gerrymend.inputs.protected import IN_RANGES
from gerrymend.inputs.settings import check_choice
from gerrymend.inputs.text_numbers import AS_CATEGORY, DECIMAL_COMMA, DROP_ROWS, TO_NUMBERS
from gerrymend.inputs.validation import check_column
from gerrymend.reporting.wording import digits
from gerrymend.subgroups import SubgroupClass, as_subgroup_class

if TYPE_CHECKING:
    import polars as pl

# How numbers that were read as text are read as numbers, by whether --decimal is a comma.
_DECIMALS = {
    False: {
        DECIMAL_COMMA.name: "--decimal=','",
        TO_NUMBERS.name: "Write them as plain numbers in FILE",
    },
    True: {
        DECIMAL_COMMA.name: "--decimal=',', which is given: write all of them so in FILE",
        TO_NUMBERS.name: "--decimal is a comma, which they don't have: write them with one in FILE",
    },
}


@dataclass(frozen=True)
class TableRequest:
    """Hold the options that commands share, which their help explains, as they were given.

    An entry of `protected`, `control` or `categorical` may be several columns, separated by commas.
    """

    file: Path
    label: str | None
    protected: list[str]
    positive: str | None = None
    prediction: str | None = None
    score: str | None = None
    threshold: float | None = None
    weight: str | None = None
    control: list[str] | None = None
    leave_out_empty_strata: bool = False
    subgroups: str = "linear"
    depth: int | None = None
    seed: int = 0
    categorical: tuple[str, ...] = ()
    dates: str = "year"
    ranges: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = ()
    drop_missing: bool = False
    engine: str = "memory"

    def __post_init__(self) -> None:
        """Raise a ValueError, in the terms of the command, for options that can't be used."""
        check_choice(self.engine, "--engine", ENGINES)
        self._check_parquet()
        check_unit(self.dates)
        read_ranges(self.ranges)
        if self.threshold is not None and self.score is None:
            given = " ".join(f"{option} has none;" for option in self.decided)
            raise ValueError(
                f"--threshold {digits(self.threshold)} cuts scores, and "
                f"{given or 'there are none;'} name their column with --score."
            )

    def _check_parquet(self) -> None:
        """Raise a ValueError for options of text files with an engine that reads Parquet alone."""
        given = {
            "--separator": self.separator is not None,
            "--decimal": self.decimal != ".",
            "--missing": bool(self.missing),
        }
        for option, is_given in given.items():
            if self.engine == "dask" and is_given:
                raise ValueError(
                    f"{option} says how text is read, and --engine dask reads Parquet, whose "
                    "columns have types of their own; leave it out."
                )

    @property
    def decided(self) -> dict[str, str]:
        """The option that names the column of decisions, and that column; empty without one."""
        options = {"--prediction": self.prediction, "--score": self.score}
        return {option: column for option, column in options.items() if column is not None}

    @property
    def cut(self) -> float | None:
        """The value at which scores are cut; None where there are none."""
        if self.score is None:
            return None
        return 0.5 if self.threshold is None else self.threshold

    @property
    def subgroup_class(self) -> SubgroupClass:
        """The class of subgroups, with --depth and --seed where it has such parameters.

        Raises a ValueError for a class that is not known, or has no depth to set.
        """
        chosen = as_subgroup_class(self.subgroups)
        parameters = chosen.get_params()
        if self.depth is not None:
            if "max_depth" not in parameters:
                raise ValueError(
                    f"--depth {self.depth} is not for --subgroups {self.subgroups}, which has no "
                    "depth; leave it out."
                )
            chosen.set_params(max_depth=self.depth)
        if "random_state" in parameters:
            chosen.set_params(random_state=self.seed)
        return chosen

    @contextmanager
    def working(self, say: Say) -> Iterator[None]:
        """Have what the engine works with: for Dask a cluster, which tells of parts it has read."""
        if self.engine == "memory":
            yield
            return
        n_parts = len(open_parts(self.file).parts)
        with on_cluster() as client, parts_told(client, n_parts, say):
            yield

    def open(self, file: Path, single: Mapping[str, str | None]) -> "pl.LazyFrame":
        """Return a file as a lazy frame; `single` has the column of each option that names one.

        Raises a ValueError that names the option where a column is not there.
        """
        if self.engine == "dask":
            # It has what is asked of a lazy frame before rows are read.
            frame = cast("pl.LazyFrame", open_parts(file, self.reading.categorical))
        else:
            wanted = [column for column in single.values() if column is not None]
            frame = open_table(file, wanted, self.reading)
        check_named(frame, single, file)
        return frame

    @property
    def reading(self) -> Reading:
        """Return how the file is read."""
        categorical = split(list(self.categorical), [])
        return Reading(self.separator, self.decimal, self.missing, categorical)

    def with_protected(
        self,
        frame: "pl.LazyFrame",
        file: Path,
        needed: Mapping[str, str | None],
        counts: str | None = None,
    ) -> "tuple[pl.LazyFrame, list[str], MissingValues]":
        """Return the frame with dates as numbers, numbers in ranges, and the protected columns.

        Rows in which these are missing are dropped, and told as the third, if that was asked for;
        others lack no value of the columns that are `needed`, by option. A line of a frame with
        `counts` stands for as many rows.
        """
        there = frame.collect_schema().names()
        attributes = _named_once(self.protected, "--protected", there, file)
        import polars as pl

        try:
            frame, attributes = with_dates(frame, attributes, self.dates)
            frame, attributes = with_ranges(frame, attributes, read_ranges(self.ranges))
            if not self.drop_missing:
                return frame, attributes, NONE_MISSING
            columns = [*attributes, *(self.controls_in(frame) or [])]
            named = {option: name for option, name in needed.items() if name is not None}
            frame, missing = without_missing(frame, columns, named, counts)
            return frame, attributes, missing
        except pl.exceptions.PolarsError as error:  # which reads some rows
            raise unreadable(file, error) from None

    def controls_in(self, frame: "pl.LazyFrame") -> list[str] | None:
        """Return the columns of --control; raise a ValueError where one is not in the frame."""
        if self.control is None:
            return None
        there = frame.collect_schema().names()
        return _named_once(self.control, "--control", there, self.file)

    def positive_label(self, frame: "pl.LazyFrame") -> Any:
        """Return the positive label in the type of the labels, from the text of the option.

        What can't be converted stays text, and is told to be no label.
        """
        if self.positive is None:
            return None
        # Without labels, decisions have the values that labels would have.
        (named,) = [self.label] if self.label is not None else self.decided.values()
        return as_value(self.positive, frame.collect_schema()[named])

    def options_with(self, **others: str) -> dict[str, str]:
        """Return the option behind each argument of the library, `others` by argument."""
        return options_of(
            self,
            sensitive_features="--protected",
            control_features="--control",
            sample_weight="--weight" if self.weight is None else f"--weight {self.weight}",
            random_state="--seed",
            max_depth="--depth",
            pos_label="--positive",
            na_values="--missing",
            **others,
        ) | {
            "leave_out_empty_strata=True": "--leave-out-empty-strata",
            AS_CATEGORY.name: "--categorical",
            DROP_ROWS.name: "--drop-missing",
            IN_RANGES.name: "--ranges, such as age=30,50",
            **_DECIMALS[self.decimal == ","],
            BY_DATE.name: "--dates, which reads those that are written 2024-12-31 or 31.12.2024",
        }


@dataclass(frozen=True)
class DecidedRequest(TableRequest):
    """Hold the options of a command that audits decisions of which exactly one option tells.

    Exactly one of `prediction`, `score` and `probability` is not None.
    """

    probability: str | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError, in the terms of the command, for options that can't be used."""
        super().__post_init__()
        if len(self.decided) != 1:
            given = " and ".join(self.decided) or "none of them"
            raise ValueError(
                "One of --prediction (decisions), --score (cut at --threshold) and --probability "
                f"(of a randomised model) says what the model decided; got {given}."
            )

    @property
    def decided(self) -> dict[str, str]:
        """The option that names the column of decisions, and that column."""
        own = {} if self.probability is None else {"--probability": self.probability}
        return super().decided | own


def _named_once(given: list[str], option: str, there: list[str], file: Path) -> list[str]:
    """Return the columns that an option names; raise a ValueError for one that is not there."""
    columns = split(given, there)
    for column in columns:
        check_column(column, option, there, str(file))
        if columns.count(column) > 1:
            raise ValueError(f"{option} names the column {column!r} more than once; name it once.")
    return columns


def check_named(frame: "pl.LazyFrame", single: Mapping[str, str | None], file: Path) -> None:
    """Raise a ValueError that names the option where the column of one is not in the frame."""
    there = frame.collect_schema().names()
    for option, column in single.items():
        if column is not None:
            check_column(column, option, there, str(file))


def as_value(text: str, dtype: Any) -> Any:
    """Return the text of an option as a value of a column's type, or as it is.

    "1" is a number among numbers, and "true" a boolean among booleans.
    """
    if dtype.is_numeric():
        with suppress(ValueError):
            number = number_of(text)  # all its digits, which float() would not keep
            is_whole = isinstance(number, float) and number.is_integer()
            return int(number) if is_whole else number
    if dtype.base_type().__name__ == "Boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    return text
