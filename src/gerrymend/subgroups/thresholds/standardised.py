"""The columns that ascents read: standardised, one a row, and a row of ones."""

from collections.abc import Iterable

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.encoding import LinearEncoding


def standardised(columns: Iterable[Array], n_cells: int, mean: Array, scale: Array) -> Array:
    """Return columns less their mean, in units of their scale, one a row; and a row of ones."""
    zt = np.ones((len(mean) + 1, n_cells))
    for k, values in enumerate(columns):
        np.subtract(values, mean[k], out=zt[k])
        zt[k] /= scale[k]
    return zt


def standardised_terms(
    encoding: LinearEncoding, columns: tuple[Column, ...], mean: Array, scale: Array
) -> Array:
    """Return the terms of an encoding so, made one after the other."""
    return standardised(encoding.evaluated(columns), len(columns[0].values), mean, scale)
