"""Figures into benchmarks/results, with the machine and the versions that they were measured on."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
USED_BY_PARTS = ("dask", "distributed", "duckdb", "fairlearn")


def processor():
    """The name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def about(packages=()):
    """When and where something is measured, and with what."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "blas": f"{blas['name']} {blas['version']}",
        "python": platform.python_version(),
        "versions": {one: version(one) for one in (*PACKAGES, *packages)},
    }


def record(name, figures, packages=(), folder=RESULTS, **more):
    """Write figures to a file of the results, or of another folder; and more about the machine."""
    _write(Path(folder) / f"{name}.json", about(packages) | more | {"figures": figures})


def record_part(part, figures, seconds, folder=RESULTS):
    """Put the figures of one part of `make bench` in bench.json, beside those of other parts."""
    path = Path(folder) / "bench.json"
    parts = json.loads(path.read_text()) if path.exists() else {}
    lines = [{"label": label, "value": value, "wanted": wanted} for label, value, wanted in figures]
    installed = [one for one in USED_BY_PARTS if find_spec(one)]
    _write(path, parts | {part: about(installed) | {"seconds": seconds, "figures": lines}})


def _write(path, what):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(json.dumps(what, indent=2) + "\n")
