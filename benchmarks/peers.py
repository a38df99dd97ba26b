"""The public reference implementation, as AIF360 ships it, in a venv of its own."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
import pandas as pd

HOME = Path(__file__).parents[1] / ".venv-aif360"


def aif360_seconds_a_round(X, y, protected):
    """Seconds a round on the same data, by the difference of two runs."""
    return float(_aif360("seconds_a_round", X, y, protected)["seconds"])


def aif360_fit(X, y, protected, gamma, n_rounds):
    """Probabilities of its decisions on the training rows, and the seconds of its fit."""
    came = _aif360("decisions", X, y, protected, gamma, n_rounds)
    return came["probability"], float(came["seconds"])


def _aif360(task, X, y, protected, *options):
    """What a task of `peer_aif360.py` comes to.

    It is to be told which columns of X are protected: they are found by their values.
    """
    wanted = pd.get_dummies(pd.DataFrame(protected)).to_numpy(float)
    columns = [_same_column(X, values) for values in wanted.T]
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data.npz", Path(folder) / "out.npz"
        np.savez(data, X=X, y=y, protected=columns)
        script = Path(__file__).with_name("peer_aif360.py")
        run = subprocess.run(
            [_python(), "-W", "ignore", script, task, data, out, *map(str, options)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode:
            sys.exit(f"AIF360 failed:\n{run.stderr}")
        with np.load(out) as saved:
            return dict(saved)


def _same_column(X, values):
    """The column of X with these values, standardised or not."""
    wanted = (values - values.mean()) / values.std()
    return next(
        j for j, column in enumerate(X.T)
        if column.std() > 0 and np.allclose((column - column.mean()) / column.std(), wanted)
    )  # fmt: skip


def _python():
    """The interpreter of the venv, which is made when it is first asked for."""
    python, ready = HOME / "bin" / "python", HOME / ".ready"
    if not ready.exists():
        venv.create(HOME, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "aif360==0.6.1"], check=True,
        )  # fmt: skip
        ready.touch()
    return python
