"""Execution of the units that targets need; what is recorded already is not done again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from gerrymend.reproduction import TARGETS
from gerrymend.reproduction.experiments import SEED, STRONGEST
from gerrymend.reproduction.games import PaperData
from gerrymend.reproduction.plans import Unit, needed_by, units
from gerrymend.reproduction.records import Records

DATASETS = ("communities", "law_school", "adult", "student")


def run(
    targets: Sequence[str],
    data: Mapping[str, PaperData],
    out: Path,
    *,
    quick: bool = False,
    jobs: int = 1,
    on_unit: Callable[[Unit, int, int], None] | None = None,
) -> Records:
    """Run what the targets need and is not recorded yet, and return the records.

    Records are written as units end. Quick and full runs have folders of their own, so that neither
    is taken for the other.

    Parameters
    ----------
    targets : sequence of str
        Some of TARGETS.
    data : mapping of name to PaperData
        As `paper_data.load` returns it; datasets that are not in it are left out.
    out : path
        Records go below it.
    jobs : int
        Processes, each on one core.
    on_unit : callable, optional
        Called as on_unit(unit, done, of) when a unit has ended.
    """
    records = Records(Path(out) / "records" / ("quick" if quick else "full"))
    datasets = [name for name in DATASETS if name in data]
    todo = [
        unit
        for experiment in dict.fromkeys(name for target in targets for name in needed_by(target))
        for unit in units(experiment, datasets, quick=quick)
    ]
    digests = {name: joblib.hash((dataset.X, dataset.y)) for name, dataset in data.items()}
    configs = {(unit.experiment, unit.name): _config(unit, digests) for unit in todo}
    left = [
        unit
        for unit in todo
        if not records.has(unit.experiment, unit.name, configs[unit.experiment, unit.name])
    ]
    left.sort(key=lambda unit: -unit.weight)
    done = len(todo) - len(left)
    work = (
        joblib.delayed(_do)(
            unit,
            data[unit.dataset] if unit.dataset else None,
            records,
            configs[unit.experiment, unit.name],
        )
        for unit in left
    )
    # As they end, not as they were given: progress is told at once.
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    for unit in parallel(work):
        done += 1
        if on_unit is not None:
            on_unit(unit, done, len(todo))
    return records


def _config(unit: Unit, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return all that a record depends on: settings, seeds, and a digest of the data."""
    return {
        **unit.config,
        "dataset": unit.dataset,
        "data": digests.get(unit.dataset or ""),
        "seed": SEED,
        "strongest": repr(STRONGEST),
    }


def _do(unit: Unit, data: PaperData | None, records: Records, config: Mapping[str, Any]) -> Unit:
    """Do one unit, write its record, and return it."""
    # Each process has a core to itself; threads of BLAS would only get in each other's way.
    with threadpool_limits(1):
        result = unit.work(*([] if data is None else [data]), **unit.config)
    records.write(unit.experiment, unit.name, config, result)
    return unit


def expand(target: str) -> tuple[str, ...]:
    """Return the targets behind a name: all of them behind `all`.

    >>> expand("toy")
    ('toy',)
    """
    return TARGETS if target == "all" else (target,)
