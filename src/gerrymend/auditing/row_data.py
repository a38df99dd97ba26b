"""What is kept of the rows behind a table of sums: themselves, or counts of equal ones."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array


class Rows(NamedTuple):
    """Hold the rows behind a tally: cell, label, decision and weight of each, and its stratum.

    Of more than two classes, `label` and `decision` have their numbers.
    """

    cell: NDArray[np.intp]
    y: NDArray[np.intp]
    p: Array
    weight: Array
    stratum: NDArray[np.intp] | None = None
    label: NDArray[np.intp] | None = None
    decision: NDArray[np.intp] | None = None


class Lines(NamedTuple):
    """Hold counts of rows of more than two classes, for some of them to be held out.

    `kind` numbers the label and the stratum of each line, `n_rows` are its rows, and `tally` makes
    the table of other numbers of rows.
    """

    kind: NDArray[np.intp]
    n_rows: NDArray[np.int64]
    tally: Callable[[NDArray[np.int64]], Any]
