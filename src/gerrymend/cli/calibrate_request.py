"""Options of `gerrymend calibrate`: checked, the file read, and patches learnt or applied.

The library speaks of arguments, and a user of the command knows options: `options` is the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.calibration.patches import ScorePatches
from gerrymend.calibration.settings import BINS, BUDGET, LEVEL, MAX_PATCHES, N_DRAWS
from gerrymend.cli.score_tables import ScoreTable
from gerrymend.cli.shared import check_target, errors_in_options
from gerrymend.cli.table_files import check_table_name
from gerrymend.cli.table_request import TableRequest
from gerrymend.inputs.classes import Decided
from gerrymend.inputs.scores import Scores
from gerrymend.inputs.settings import check_choice, did_you_mean
from gerrymend.notions import SCORE_NAMES, Multicalibration
from gerrymend.subgroups import SubgroupClass

if TYPE_CHECKING:
    import polars as pl

Step = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class CalibrateRequest(TableRequest):
    """Hold the options of `gerrymend calibrate` where patches are learnt, as they were given.

    Raises a ValueError for options that are missing, or exclude each other.
    """

    notion: tuple[str, ...] = ("multicalibration",)
    bins: int | None = None
    subgroups: str = "conjunctions"
    alpha: float | None = None
    level: float = LEVEL
    max_patches: int = MAX_PATCHES
    draws: int = N_DRAWS
    budget: float = BUDGET
    min_group_size: int = MIN_GROUP_SIZE
    out: Path | None = None
    model: Path | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError, in the terms of the command, for options that can't be used."""
        super().__post_init__()
        needed = {"--label": self.label, "--score": self.score, "--protected": self.protected}
        for option, given in needed.items():
            if not given:
                raise ValueError(
                    f"{option} is needed to learn patches: --label has what happened, --score what "
                    "was predicted, and --protected the attributes that subgroups are told by. "
                    "Saved patches are applied with --apply."
                )
        (notion,) = self.notion
        check_choice(notion, "--notion", SCORE_NAMES)
        if self.bins is not None and notion != "multicalibration":
            raise ValueError(
                f"--bins {self.bins} is for --notion multicalibration, which looks at intervals of "
                "the score; leave it out."
            )
        if self.alpha is not None and not self.alpha > 0:
            raise ValueError(
                f"--alpha must be above 0; got {self.alpha:g}. It is the violation that is small "
                "enough, 0.01 for most uses; without it patches are learnt as long as chance is "
                "exceeded."
            )

    def check_targets(self) -> None:
        """Raise a ValueError for files that can't be written, before any work."""
        if self.out is None and self.model is None:
            raise ValueError(
                "--out or --model, or both, say where the patched scores and the patches go; got "
                "neither."
            )
        check_out(self.out, self.file)
        check_target(self.model, "--model", self.file, self.out)
        if self.model is not None and str(self.model) == "-":
            raise ValueError("--model - is no file; name one, as in --model patches.json.")

    @property
    def subgroup_class(self) -> SubgroupClass:
        """The class of subgroups, protected numbers in a few bins as calibrate() has them."""
        chosen = super().subgroup_class
        return chosen.set_params(bins=BINS) if "bins" in chosen.get_params() else chosen

    def read(self) -> ScoreTable:
        """Read the file; raise a ValueError in the terms of the command."""
        assert self.score is not None
        single = {"--label": self.label, "--score": self.score, "--weight": self.weight}
        table = ScoreTable.read(self, single)
        if self.out is not None:
            table.check_column(self.score, self.file)
        return table

    def learn(self, table: ScoreTable, on_step: Step) -> ScorePatches:
        """Learn the patches; raise a ValueError in the terms of the command."""
        from gerrymend import calibrate

        notion: Any = self.notion[0]
        with errors_in_options(self.options):
            if self.bins is not None:
                notion = Multicalibration(self.bins)
            return calibrate(
                self.label,
                self.score,
                sensitive_features=table.protected,
                sample_weight=self.weight,
                data=table.used,
                notion=notion,
                subgroups=self.subgroup_class,
                alpha=self.alpha,
                pos_label=self.positive_label(table.used.lazy()),
                level=self.level,
                max_patches=self.max_patches,
                n_draws=self.draws,
                min_group_size=self.min_group_size,
                budget=self.budget,
                random_state=self.seed,
                on_step=on_step,
            )

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of calibrate()."""
        return self.options_with(
            y_true=f"--label {self.label}",
            y_pred=f"--score {self.score}",
            scores=f"--score {self.score}",
            n_draws="--draws",
        ) | {"alpha=None": "no --alpha"}


@dataclass(frozen=True)
class ApplyRequest(TableRequest):
    """Hold the options of `gerrymend calibrate --apply`, as they were given.

    The protected attributes are those of the patches, and `protected` is empty: dates and ranges
    are made of their columns again, by the same options.
    """

    apply: Path | None = None
    out: Path | None = None

    def check_targets(self) -> None:
        """Raise a ValueError for files that can't be read or written, before any work."""
        if self.out is None:
            raise ValueError("--out is needed with --apply: it says where the patched scores go.")
        for option, given in {"--positive": self.positive, "--weight": self.weight}.items():
            if given is not None and self.label is None:
                raise ValueError(
                    f"{option} is for --label, which has what happened to these rows, and is not "
                    "given; leave it out."
                )
        check_out(self.out, self.file, self.apply)

    @cached_property
    def patches(self) -> ScorePatches:
        """The patches; raise a ValueError, in the terms of the command, if they can't be loaded."""
        from gerrymend import ModelFileError, load_patches

        assert self.apply is not None
        if not self.apply.is_file():
            raise ValueError(
                f"--apply {self.apply} does not exist, or is no file; name one that gerrymend "
                "calibrate --model or save_patches() wrote."
            )
        try:
            return load_patches(self.apply)
        except ModelFileError as error:
            options = {f"path={str(self.apply)!r}": f"--apply {self.apply}"}
            raise ValueError(error.in_terms(options)) from None

    @property
    def column(self) -> str:
        """The column of scores: that of --score, or the one that the patches were learnt on."""
        return self.score or self.patches.score

    def read(self) -> ScoreTable:
        """Read the scores and the attributes; raise a ValueError in the terms of the command."""
        single = {"--label": self.label, "--score": self.column, "--weight": self.weight}
        # Codes such as 01 would be read as numbers, and the patches know them as text.
        texts = [name for name, kind in self.patches.attributes.items() if kind == "str"]
        table = ScoreTable.read(self, single, texts)
        table.check_column(self.column, self.file)
        return table

    def with_protected(
        self,
        frame: "pl.LazyFrame",
        file: Path,
        needed: Mapping[str, str | None],
        counts: str | None = None,
    ) -> "tuple[pl.LazyFrame, list[str], MissingValues]":
        """Return the frame with the attributes of the patches, as TableRequest has it."""
        there = frame.collect_schema().names()
        wanted = list(self.patches.attributes)
        sources = replace(self, protected=[_source(name, there) for name in wanted])
        self._check_there(sources.protected, there, there)
        frame, found, missing = super(ApplyRequest, sources).with_protected(
            frame, file, needed, counts
        )
        self._check_there(wanted, found, there)
        return frame, found, missing

    def _check_there(self, wanted: list[str], found: list[str], there: list[str]) -> None:
        """Raise a ValueError that names all attributes that were not found, with what is near."""
        lacking = [name for name in wanted if name not in found]
        if lacking:
            shown = ", ".join(f"{name!r}{did_you_mean(name, there)}" for name in lacking)
            raise ValueError(
                f"FILE {self.file} lacks columns that --apply {self.apply} tells subgroups by: "
                f"{shown}. Of dates and ranges, pass --dates and --ranges as they were."
            )

    def apply_to(self, table: ScoreTable) -> Array:
        """Return the patched scores of a file; raise a ValueError in the terms of the command."""
        with errors_in_options(self.options):
            return self.patches.apply(table.used[self.column], table.used.select(table.protected))

    def measure(self, table: ScoreTable, patched: Array) -> tuple[float, float] | None:
        """Return the mean squared error of the scores before and after; None without a --label."""
        if self.label is None:
            return None
        with errors_in_options(self.options):
            read = Scores.read(
                table.used[self.label],
                table.used[self.column],
                table.used.select(table.protected),
                None if self.weight is None else table.used[self.weight],
                decided=Decided(pos_label=self.positive_label(table.used.lazy())),
                target="labels" if self.patches.probabilities else "numbers",
            )
        rows = read.rows
        assert rows.y is not None
        before, after = (
            float(np.average((rows.y - score) ** 2, weights=rows.weight))
            for score in (rows.p, patched)
        )
        return before, after

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of what is called."""
        own = {
            "scores": f"--score {self.column}",
            "y_pred": f"--score {self.column}",
            "y_true": f"--label {self.label}",
            "sensitive_features": f"FILE {self.file}",
        }
        return self.options_with() | own


def _source(attribute: str, there: list[str]) -> str:
    """Return the column that an attribute is made of: "age" for "age (range)", or its own name.

    >>> _source("age (range)", ["age", "sex"]), _source("sex", ["age", "sex"])
    ('age', 'sex')
    """
    base, bracket, _ = attribute.rpartition(" (")
    return base if bracket and attribute not in there and base in there else attribute


def check_out(out: Path | None, *others: Path | None) -> None:
    """Raise a ValueError unless --out is a table that can be written, and none of the others."""
    if out is not None:
        check_table_name(out, "--out")
        check_target(out, "--out", *others)
