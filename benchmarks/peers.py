"""The public reference implementation, as AIF360 ships it, in a venv of its own."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.venvs import run_peer


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
        run_peer("aif360", "aif360==0.6.1", task, data, out, *options)
        with np.load(out) as saved:
            return dict(saved)


def _same_column(X, values):
    """The column of X with these values, standardised or not."""
    wanted = (values - values.mean()) / values.std()
    return next(
        j for j, column in enumerate(X.T)
        if column.std() > 0 and np.allclose((column - column.mean()) / column.std(), wanted)
    )  # fmt: skip
