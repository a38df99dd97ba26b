"""Records: what an experiment found, with all that it takes to find it again.

A record is one JSON file, written at once when its unit of work is done. A run that was interrupted
finds the records of its configuration and goes on with the rest.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend._runtime.files import write_whole
from gerrymend._runtime.versions import versions


class Records:
    """A folder of records, by experiment and unit."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def path(self, experiment: str, unit: str) -> Path:
        """Where a record is kept."""
        return self.folder / experiment / f"{unit}.json"

    def read(self, experiment: str, unit: str) -> dict[str, Any] | None:
        """The whole record, or None if there is none that can be read."""
        try:
            record = json.loads(self.path(experiment, unit).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return record if isinstance(record, dict) else None

    def result(self, experiment: str, unit: str) -> dict[str, Any] | None:
        """What a unit found."""
        record = self.read(experiment, unit)
        return record["result"] if record else None

    def has(self, experiment: str, unit: str, config: Mapping[str, Any]) -> bool:
        """Whether the unit was done with this configuration."""
        record = self.read(experiment, unit)
        return record is not None and record.get("config") == _plain(config)

    def write(
        self, experiment: str, unit: str, config: Mapping[str, Any], result: Mapping[str, Any]
    ) -> None:
        """Write a record, whole or not at all."""
        write_text(
            self.path(experiment, unit),
            json.dumps(
                {"config": _plain(config), "versions": versions(), "result": _plain(result)},
                allow_nan=False,
            ),
        )


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _plain(value: Any) -> Any:
    """Only what JSON knows; numbers to seven digits."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.7g}")
    return value
