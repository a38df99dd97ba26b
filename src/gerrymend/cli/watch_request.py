"""Options of `gerrymend watch`: checked, the batch opened, and the watch taken on and saved."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw

from gerrymend.changes.look import Look
from gerrymend.changes.watch import Watch
from gerrymend.cli.shared import errors_in_options
from gerrymend.cli.table_files import unreadable
from gerrymend.cli.table_request import TableRequest
from gerrymend.inputs.settings import check_choice
from gerrymend.notions import NOTION_NAMES


@dataclass(frozen=True)
class WatchRequest(TableRequest):
    """Hold the options of `gerrymend watch`, which its help explains, as they were given.

    Settings of the watch are None where they were not given. Raises a ValueError for options that
    exclude each other.
    """

    state: Path = Path()
    at: str | None = None
    favourable: str | None = None
    side: str | None = None
    notion: tuple[str, ...] = ()
    class_name: str | None = None
    gamma: float | None = None
    level: float | None = None
    groups: Path | None = None
    min_group_size: int | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError for options that exclude or need each other."""
        super().__post_init__()
        if len(self.decided) != 1:
            given = " and ".join(self.decided) or "none of them"
            raise ValueError(
                "One of --prediction (decisions) and --score (cut at --threshold) says what the "
                f"model decided; got {given}."
            )
        for notion in self.notion:
            check_choice(notion, "--notion", NOTION_NAMES)
        if self.class_name is None and self.depth is not None:
            raise ValueError(f"--depth {self.depth} is for a class that --subgroups names.")

    def look(self) -> Look:
        """Take in the batch, and save the watch; raise a ValueError in the terms of the command."""
        import polars as pl

        (decided,) = self.decided.values()
        single = {"--label": self.label, **self.decided}
        frame, attributes, _ = self.with_protected(self.open(self.file, single), self.file, single)
        try:
            with errors_in_options(self.options):
                watch = self._watch(frame)
                look = watch.update(
                    self.label, decided, data=frame, sensitive_features=attributes, at=self.at
                )
                watch.save(self.state)
        except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError) as error:
            raise unreadable(self.file, error) from None
        return look

    def _watch(self, frame: Any) -> Watch:
        """Return the watch of the file, or a new one; raise a ValueError for other settings."""
        settings = {
            "notion": self.notion or None,
            "subgroups": None if self.class_name is None else self.subgroup_class,
            "gamma": self.gamma,
            "level": self.level,
            "favourable": self.favourable,
            "side": self.side,
            "threshold": self.cut,
            "pos_label": self.positive_label(frame),
            "min_group_size": self.min_group_size,
            "groups": self.groups,
            "random_state": self.seed or None,
        }
        given = {name: value for name, value in settings.items() if value is not None}
        if not self.state.exists():
            return Watch(**given)
        watch = Watch.load(self.state)
        watch.check_settings(**given)
        return watch

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of a watch."""
        ((option, column),) = self.decided.items()
        label = "--label" if self.label is None else f"--label {self.label}"
        return self.options_with(
            y_true=label,
            y_pred=f"{option} {column}",
            subgroups="--subgroups",
            path=f"STATE {self.state}",
        ) | {"threshold=0.5": "--score with --threshold 0.5"}
