"""The public reference implementation, as AIF360 ships it, in a venv of its own."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

HOME = Path(__file__).parents[1] / ".venv-aif360"


def aif360_seconds_a_round(X, y, protected):
    """Seconds a round on the same data, by the difference of two runs."""
    python = HOME / "bin" / "python"
    ready = HOME / ".ready"
    if not ready.exists():
        venv.create(HOME, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "aif360==0.6.1"], check=True,
        )  # fmt: skip
        ready.touch()
    columns = [next(j for j in range(X.shape[1]) if np.array_equal(X[:, j], values))
               for values in protected.values()]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y, protected=columns)
        script = Path(__file__).with_name("peer_aif360.py")
        run = subprocess.run(
            [python, "-W", "ignore", script, path], capture_output=True, text=True, check=False
        )
    if run.returncode:
        sys.exit(f"AIF360 failed:\n{run.stderr}")
    return float(run.stdout.split()[-1])
