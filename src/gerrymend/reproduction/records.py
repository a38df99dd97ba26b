"""Records: the results of an experiment, with all that it takes to repeat it.

A record is one JSON file, written as a whole when its unit of work is done. A run that was
interrupted finds the records of its configuration and goes on with the rest.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gerrymend._runtime.files import write_whole
from gerrymend._runtime.versions import versions


class MissingRecordError(LookupError):
    """Raised where a claim can't be judged, for lack of a record or of a part of one."""


class Records:
    """Read and write records in a folder, by experiment and unit.

    A record has the `config` that it depends on, the `versions` of the packages, and the `result`,
    in the form that the experiment's docstring tells.

    Parameters
    ----------
    folder : path
    instead : mapping of str to str, optional
        Experiments, or units as `experiment/unit`, that others stand in for: whoever asks for the
        first is given the second.
    """

    def __init__(self, folder: Path, instead: Mapping[str, str] | None = None) -> None:
        self.folder = Path(folder)
        self._instead = dict(instead or {})

    def path(self, experiment: str, unit: str) -> Path:
        """Return the path of a record."""
        place = f"{self._instead.get(experiment, experiment)}/{unit}"
        return self.folder / f"{self._instead.get(place, place)}.json"

    def read(self, experiment: str, unit: str) -> dict[str, Any] | None:
        """Return the whole record, or None if there is none that can be read."""
        try:
            record = json.loads(self.path(experiment, unit).read_text(encoding="utf-8"))
        # A record that is broken is done again.
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return record if isinstance(record, dict) else None

    def result(self, experiment: str, unit: str) -> dict[str, Any] | None:
        """Return the result of a unit, or None without a record."""
        record = self.read(experiment, unit)
        return record["result"] if record else None

    def need(self, experiment: str, unit: str) -> dict[str, Any]:
        """Return the result of a unit, or raise a MissingRecordError without a record."""
        result = self.result(experiment, unit)
        if not result:
            raise MissingRecordError(f"There is no record of {unit} of {experiment}.")
        return result

    def has(self, experiment: str, unit: str, config: Mapping[str, Any]) -> bool:
        """Return whether the unit was done with this configuration.

        A record of another configuration is overwritten when its unit is done again.
        """
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
    """Write a file, whole or not at all, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it, with numbers to seven digits.

    >>> _plain({"t": np.array([1, 2]), "error": 1 / 3})
    {'t': [1, 2], 'error': 0.3333333}
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    # Before the numbers, as True is an int too.
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.7g}")
    return value
