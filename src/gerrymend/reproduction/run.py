"""Run experiments: what is recorded already is not done again."""

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
    """Do what the targets need and is not recorded yet; records are written as units end.

    Quick and full runs have folders of their own, so that neither is taken for the other.
    """
    records = Records(Path(out) / "records" / ("quick" if quick else "full"))
    datasets = [name for name in DATASETS if name in data]
    todo = [
        unit
        for experiment in dict.fromkeys(name for target in targets for name in needed_by(target))
        for unit in units(experiment, datasets, quick=quick)
    ]
    prints = {name: joblib.hash((one.X, one.y)) for name, one in data.items()}
    configs = {(u.experiment, u.name): _config(u, prints) for u in todo}
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
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    for unit in parallel(work):
        done += 1
        if on_unit is not None:
            on_unit(unit, done, len(todo))
    return records


def _config(unit: Unit, prints: Mapping[str, str]) -> dict[str, Any]:
    """All that a record depends on: the unit's settings, the seeds, and which data it was."""
    return {
        **unit.config,
        "dataset": unit.dataset,
        "data": prints.get(unit.dataset or ""),
        "seed": SEED,
        "strongest": repr(STRONGEST),
    }


def _do(unit: Unit, data: PaperData | None, records: Records, config: Mapping[str, Any]) -> Unit:
    # Each process has a core to itself; threads of BLAS would only get in each other's way.
    with threadpool_limits(1):
        result = unit.work(*([] if data is None else [data]), **unit.config)
    records.write(unit.experiment, unit.name, config, result)
    return unit


def expand(target: str) -> tuple[str, ...]:
    """The targets behind a name; all of them behind `all`."""
    return TARGETS if target == "all" else (target,)
