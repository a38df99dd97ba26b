"""Figures into benchmarks/results, with the machine and the versions that they were measured on."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def processor():
    """The name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def record(name, figures, packages=(), folder=RESULTS):
    """Write figures to a file of the results, or of another folder."""
    about = {
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {one: version(one) for one in (*PACKAGES, *packages)},
    }
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(about | {"figures": figures}, indent=2) + "\n")
