"""Options of `gerrymend compare`: checked, both files opened, and compare() called."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from gerrymend.changes.comparison import Comparison
from gerrymend.cli.shared import errors_in_options
from gerrymend.cli.table_files import unreadable
from gerrymend.cli.table_request import DecidedRequest, check_named
from gerrymend.inputs.settings import check_choice
from gerrymend.notions import NOTION_NAMES, OUTCOME_NAMES

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class CompareRequest(DecidedRequest):
    """Hold the options of `gerrymend compare`, which its help explains, as they were given.

    Options that an old report has as settings are None where they were not given. Raises a
    ValueError for options that exclude each other.
    """

    old: Path = Path()
    old_prediction: str | None = None
    old_score: str | None = None
    favourable: str | None = None
    side: str | None = None
    notion: tuple[str, ...] = ()
    class_name: str | None = None
    gamma: float | None = None
    tolerance: float | None = None
    budget: float = 30.0
    min_group_size: int | None = None
    permutations: int = 199

    def __post_init__(self) -> None:
        """Raise a ValueError for options that exclude or need each other."""
        super().__post_init__()
        for notion in self.notion:
            check_choice(notion, "--notion", (*NOTION_NAMES, *OUTCOME_NAMES))
        self._check_old_columns()
        if self.class_name is None and self.depth is not None:
            raise ValueError(f"--depth {self.depth} is for a class that --subgroups names.")

    def _check_old_columns(self) -> None:
        """Raise a ValueError for columns of the old decisions that can't be used."""
        (option,) = self.decided
        for other, column in self._old_options.items():
            if column is not None and self.is_report:
                raise ValueError(
                    f"{other} {column} names a column, and OLD {self.old} is a report, which has "
                    "none; leave it out, or name a table as OLD."
                )
            like = option.removeprefix("--")
            if column is not None and other.removeprefix("--").removeprefix("old-") != like:
                raise ValueError(
                    f"{other} {column} is not what {option} is: the two models are compared by "
                    "what both have, decisions or scores."
                )
        if self.is_same_file and self.old_column is None:
            raise ValueError(
                f"OLD and FILE are both {self.file}, so that nothing changed; name the column of "
                "the old model's decisions with --old-prediction, or of its scores with "
                "--old-score."
            )

    @property
    def _old_options(self) -> dict[str, str | None]:
        return {"--old-prediction": self.old_prediction, "--old-score": self.old_score}

    @property
    def old_column(self) -> str | None:
        """The column that has what the old model decided, where it has a name of its own."""
        return self.old_prediction or self.old_score

    @property
    def is_report(self) -> bool:
        """Tell if OLD is a report, and no table."""
        return self.old.suffix.lower() == ".json"

    @property
    def is_same_file(self) -> bool:
        """Tell if OLD and FILE are one table, so that two models are compared on its rows."""
        return not self.is_report and self.old.resolve() == self.file.resolve()

    def compare(self, on_draw: Callable[[int, int], None] | None = None) -> Comparison:
        """Compare FILE with OLD; `on_draw` is as in compare().

        Raises a ValueError in the terms of the command.
        """
        import polars as pl

        (decided,) = self.decided.values()
        frame, attributes = self._read(self.file, [decided])
        controls = self.controls_in(frame)
        old: Any = self.old
        if self.is_same_file:
            check_named(frame, self._old_options, self.file)
            old = self.old_column
        elif not self.is_report:
            old = self._read_old(decided)
        try:
            with errors_in_options(self.options):
                return self._call(old, frame, decided, attributes, controls, on_draw)
        except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError) as error:
            raise unreadable(self.file, error) from None

    def _call(
        self,
        old: Any,
        frame: "pl.LazyFrame",
        decided: str,
        attributes: list[str],
        controls: list[str] | None,
        on_draw: Callable[[int, int], None] | None,
    ) -> Comparison:
        """Call compare() with the columns of a file."""
        from gerrymend import compare

        return compare(
            old,
            self.label,
            decided,
            data=frame,
            sensitive_features=attributes,
            control_features=controls,
            sample_weight=self.weight,
            notion=self.notion or None,
            subgroups=None if self.class_name is None else self.subgroup_class,
            gamma=self.gamma,
            tolerance=self.tolerance,
            threshold=None if set(self.notion) & set(OUTCOME_NAMES) else self.cut,
            decision_probabilities=self.probability is not None,
            pos_label=self.positive_label(frame),
            favourable=self.favourable,
            side=self.side,
            budget=self.budget,
            min_group_size=self.min_group_size,
            leave_out_empty_strata=self.leave_out_empty_strata,
            n_permutations=self.permutations,
            random_state=self.seed,
            on_draw=on_draw,
        )

    def _read(self, file: Path, decided: list[str]) -> "tuple[pl.LazyFrame, list[str]]":
        """Return the columns of a file as a frame, and its protected ones."""
        single = {"--label": self.label, "--weight": self.weight}
        named = dict(zip(self.decided, decided, strict=True))
        frame, attributes, _ = self.with_protected(
            self.open(file, single | named), file, {"--label": self.label} | named
        )
        return frame, attributes

    def _read_old(self, decided: str) -> "pl.LazyFrame":
        """Return the table of the old rows, its decisions by the name that the new ones have."""
        column = self.old_column or decided
        frame, _ = self._read(self.old, [column])
        if column == decided:
            return frame
        there = frame.collect_schema().names()
        return frame.drop([name for name in there if name == decided]).rename({column: decided})

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of compare()."""
        ((option, column),) = self.decided.items()
        label = "--label" if self.label is None else f"--label {self.label}"
        return self.options_with(
            y_true=label,
            y_pred=f"{option} {column}",
            old=f"OLD {self.old}",
            subgroups="--subgroups",
            n_permutations="--permutations",
        ) | {
            "threshold=0.5": "--score with --threshold 0.5",
            "decision_probabilities=True": "--probability",
        }
