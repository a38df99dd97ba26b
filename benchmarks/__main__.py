"""`make bench`: all parts, or `python -m benchmarks PART ...`; a table at the end, JSON beside it.

Figures are ratios within a run wherever they can be. Each part is a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fits import show
from benchmarks.parts import PARTS
from benchmarks.recording import RESULTS, record_part


def run(part, folder, *, quick):
    """The lines of a part and the seconds it took; one core, but for what says otherwise."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "lines.json"
        command = [sys.executable, "-m", "benchmarks.parts", part, out, folder]
        done = subprocess.run(
            [*command, "--quick"] if quick else command,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, check=False,
        )  # fmt: skip
        if out.exists():
            lines = [tuple(line) for line in json.loads(out.read_text())]
        else:
            lines = [(part, "left out", f"its process ended with {done.returncode}")]
    return lines, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--results", type=Path, help="folder for the JSON")
    asked = parser.parse_args()
    if unknown := [part for part in asked.parts if part not in PARTS]:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    folder = asked.results or (Path("build/bench") if asked.quick else RESULTS)
    came = {}
    for part in asked.parts or PARTS:
        print(f"\n== {part}", flush=True)
        came[part] = run(part, folder, quick=asked.quick)
        record_part(part, *came[part], folder)
    print()
    show([
        line
        for part, (lines, seconds) in came.items()
        for line in [(f"== {part}", f"{seconds / 60:.1f} min", None), *lines]
    ])  # fmt: skip
    print(f"\n{folder / 'bench.json'}")


main()
