"""Options of `gerrymend audit`: checked, the file opened, and audit() called.

audit() speaks of its arguments, and a user of the command knows options: `options` is the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from gerrymend.auditing.inference.population import N_RESAMPLES
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli.protected_missing import after_dropping
from gerrymend.cli.reference_option import read_reference
from gerrymend.cli.shared import check_jobs_option, errors_in_options, split
from gerrymend.cli.table_files import unreadable
from gerrymend.cli.table_request import DecidedRequest, as_value
from gerrymend.inputs.settings import check_choice
from gerrymend.notions import (
    NOTION_NAMES,
    OUTCOME_NAMES,
    SCORE_NAMES,
    AnyNotion,
    Multicalibration,
    OutcomeNotion,
    as_notions,
)
from gerrymend.reporting.wording import digits

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class AuditRequest(DecidedRequest):
    """Hold the options of `gerrymend audit`, which its help explains, as they were given.

    Exactly one of `prediction`, `score` and `probability` is not None, and an entry of `protected`
    may be several columns, separated by commas. Raises a ValueError for options that exclude each
    other; names of columns are checked by `open`, against the header of the file.
    """

    favourable: str | None = None
    side: str = "both"
    counts: str | None = None
    notion: tuple[str, ...] = ("false_positive_rate",)
    gamma: float = 0.01
    budget: float = 30.0
    min_group_size: int = MIN_GROUP_SIZE
    top: int = 3
    permutations: int = 199
    jobs: int = 1
    confidence: float | None = None
    resamples: int = N_RESAMPLES
    discovery_rate: float | None = None
    test_size: float | None = None
    holdout: Path | None = None
    features: list[str] | None = None
    intersection: list[str] | None = None
    unit: str | None = None
    reference: list[str] | None = None
    factor: float | None = None
    bins: int | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError for options that exclude or need each other."""
        super().__post_init__()
        self._check_scores()
        self._check_sums_tell()
        if self._are_means and self.threshold is not None:
            mean = next(one for one in self.notion if one in OUTCOME_NAMES)
            raise ValueError(
                f"--threshold {digits(self.threshold)} cuts scores into decisions, and {mean} is a "
                "mean of the numbers themselves; leave it out, or choose a rate, such as --notion "
                "statistical_parity."
            )
        if self.weight is not None and self.counts is not None:
            raise ValueError(
                "--weight and --counts exclude each other: a line of FILE is either a row with a "
                "weight, or stands for a number of rows."
            )
        if self.holdout is not None and (self.test_size, self.counts) != (None, None):
            other = "--counts" if self.test_size is None else "--test-size"
            raise ValueError(
                f"--holdout and {other} exclude each other: a second file is measured on, row by "
                "row; --test-size holds out some of FILE itself."
            )

    def _check_scores(self) -> None:
        """Raise a ValueError for options that notions of scores need, exclude, or have alone."""
        scored = " and ".join(one for one in self.notion if one in SCORE_NAMES)
        if scored and self.score is None:
            raise ValueError(
                f"--notion {scored} is about scores: name their column with --score, in place of "
                f"{' and '.join(self.decided)}."
            )
        if scored and self.threshold is not None:
            raise ValueError(
                f"--threshold {digits(self.threshold)} makes decisions of scores, and --notion "
                f"{scored} is about the scores themselves; leave it out."
            )
        if self.bins is not None and "multicalibration" not in self.notion:
            raise ValueError(
                f"--bins {self.bins} is for --notion multicalibration, which looks at intervals of "
                "the score; leave it out."
            )

    def _check_sums_tell(self) -> None:
        """Raise a ValueError for options that need rows, where Dask has them and sums travel."""
        if self.engine != "dask":
            return
        if self.counts is not None:
            raise ValueError(
                "--counts is for a table that GROUP BY made, which is small; leave --engine out."
            )
        if self._are_scores:
            raise ValueError(
                f"--notion {' '.join(self.notion)} looks at the score of each row, and --engine "
                "dask brings no row here; leave --engine out."
            )
        needs = {
            "--permutations": self.permutations > 0,
            "--confidence": self.confidence is not None,
            "--test-size": self.test_size is not None,
        }
        weighted = self.weight is not None
        given = "--weight" if weighted else f"--notion {' '.join(self.notion)}"
        given = "--probability" if self.probability is not None else given
        for option, is_given in needs.items():
            if is_given and self._sums_tell_less:
                remedy = "pass --permutations 0" if option == "--permutations" else "leave it out"
                raise ValueError(
                    f"{option} needs the rows themselves with {given}, and --engine dask brings "
                    f"only sums here; {remedy}."
                )

    @property
    def _sums_tell_less(self) -> bool:
        """True where sums by cell don't tell how many rows are alike."""
        return self._are_means or (self.weight, self.probability) != (None, None)

    @property
    def drawn(self) -> str:
        """Name what is drawn while a user waits: permutations, resamples, or both in turn."""
        drawn = [self.draws] if self.permutations else []
        return " and ".join([*drawn, *([] if self.confidence is None else ["resamples"])])

    @property
    def draws(self) -> str:
        """What chance is told by."""
        return "simulations" if self._are_scores else "permutations"

    @property
    def columns(self) -> dict[str, Any]:
        """The names behind labels and decisions, as a report's document has them.

        With a probability nothing was decided that a name could stand for.
        """
        decision = None if self.probability is not None else next(iter(self.decided.values()))
        cut = None if self._are_scores else self.cut
        return {"label": self.label, "decision": decision, "threshold": cut}

    def columns_of(self, file: Path) -> "tuple[pl.LazyFrame, list[str], MissingValues]":
        """Return a file as a lazy frame, its protected columns, and the rows that were dropped.

        Raises a ValueError that names the option where a column is not there.
        """
        single = {"--label": self.label, **self.decided, "--weight": self.weight,
                  "--counts": self.counts}  # fmt: skip
        needed = {"--label": self.label, **self.decided}
        return self.with_protected(self.open(file, single), file, needed, self.counts)

    def settings(self) -> dict[str, Any]:
        """Return the arguments of audit() beside the data.

        Raises a ValueError for a rate, a class or a number of workers that can't be.
        """
        for notion in self.notion:
            check_choice(notion, "--notion", (*NOTION_NAMES, *OUTCOME_NAMES, *SCORE_NAMES))
        return {
            "notion": self._notions(),
            "subgroups": self.subgroup_class,
            "gamma": self.gamma,
            "budget": self.budget,
            "min_group_size": self.min_group_size,
            "threshold": None if self._are_means or self._are_scores else self.cut,
            "decision_probabilities": self.probability is not None,
            "favourable": self.favourable,
            "side": self.side,
            "n_permutations": self.permutations,
            "confidence": self.confidence,
            "n_resamples": self.resamples,
            "discovery_rate": self.discovery_rate,
            "n_jobs": check_jobs_option(self.jobs),
            "test_size": self.test_size,
            "top": self.top,
            "random_state": self.seed,
            "features": None if self.features is None else split(self.features, []),
            "intersection": None if self.intersection is None else split(self.intersection, []),
            "leave_out_empty_strata": self.leave_out_empty_strata,
        }

    @property
    def _are_means(self) -> bool:
        """True if means of numbers are compared."""
        return not set(OUTCOME_NAMES).isdisjoint(self.notion)

    @property
    def _are_scores(self) -> bool:
        """True if scores are compared with what happened."""
        return not set(SCORE_NAMES).isdisjoint(self.notion)

    def _notions(self) -> tuple[AnyNotion, ...]:
        """Return the notions, means with --unit; raise a ValueError for a unit of rates."""
        notions = as_notions(self.notion)
        if self.bins is not None:
            notions = (Multicalibration(self.bins),)
        if self.unit is None:
            return notions
        if not self._are_means and not self._are_scores:
            raise ValueError(
                f"--unit {self.unit} is for means of numbers "
                f"({', '.join((*OUTCOME_NAMES, *SCORE_NAMES))}), and rates have none; leave it out."
            )
        squared = f"{self.unit} squared"
        return tuple(
            replace(one, unit=squared if one.name == "squared_error" else self.unit)
            for one in notions
            if isinstance(one, OutcomeNotion)
        )

    def audit(self, on_draw: Callable[[int, int], None] | None = None) -> AuditReport:
        """Audit the rows of the file, or those that it counts; `on_draw` is as in audit().

        Raises a ValueError in the terms of the command.
        """
        frame, attributes, missing = self.columns_of(self.file)
        second = None
        if self.holdout is not None:
            second, _, there = self.columns_of(self.holdout)
            missing = replace(missing, dropped_of_holdout=there.dropped)
        import polars as pl

        try:
            with errors_in_options(self.options):
                return after_dropping(self._call(frame, attributes, second, on_draw), missing)
        except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError) as error:
            raise unreadable(self.file, error) from None

    def _call(
        self,
        frame: "pl.LazyFrame",
        attributes: list[str],
        second: "pl.LazyFrame | None",
        on_draw: Callable[[int, int], None] | None,
    ) -> AuditReport:
        """Call audit() or audit_counts() with the file's columns; `second` is the holdout."""
        from gerrymend import audit, audit_counts

        (decided,) = self.decided.values()
        how = self.settings()
        controls = self.controls_in(frame)
        schema = frame.collect_schema()
        how |= {
            "reference": read_reference(
                self.reference,
                self.factor,
                attributes,
                lambda text, column: as_value(text, schema[column]),
            ),
            "sensitive_features": attributes,
            "control_features": controls,
            "pos_label": self.positive_label(frame),
            "on_draw": on_draw,
        }
        if self.counts is not None:
            return audit_counts(
                frame, label=self.label, prediction=decided, count=self.counts, **how
            )
        # Permutations, resamples and held-out rows need the rows themselves, unless counts tell all
        # of them: with numbers, weights or probabilities they don't.
        tables: list[Any] = [frame, second]
        needs_rows = self.permutations > 0
        needs_rows |= self.test_size is not None or self.confidence is not None
        named = [self.label, decided, self.weight, *attributes, *(controls or [])]
        chosen = [name for name in dict.fromkeys(named) if name is not None]
        if self.engine == "dask":
            tables = [None if table is None else table.on_dask(chosen) for table in tables]
        elif needs_rows and self._sums_tell_less:
            tables = [None if table is None else table.select(chosen).collect() for table in tables]
        return audit(
            self.label, decided, sample_weight=self.weight, data=tables[0], holdout=tables[1], **how
        )

    @property
    def _cut_option(self) -> dict[str, str]:
        """The option behind the cut of scores, where it was not given."""
        by_default = self.score is not None and self.threshold is None
        return {"threshold": "a cut (--threshold, 0.5 by default)"} if by_default else {}

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of audit() and audit_counts()."""
        ((option, column),) = self.decided.items()
        label = "--label" if self.label is None else f"--label {self.label}"
        decided = f"{option} {column}"
        return self.options_with(
            y_true=label,
            label=label,
            y_pred=decided,
            prediction=decided,
            count=f"--counts {self.counts}",
            holdout=f"--holdout {self.holdout}",
            n_permutations="--permutations",
            n_resamples="--resamples",
        ) | {
            **self._cut_option,
            "threshold=0.5": "--score with --threshold 0.5",
            "decision_probabilities=True": "--probability",
        }
