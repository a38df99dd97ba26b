"""Keep the rows behind a table of sums: themselves, or counts of equal ones."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array


class Rows(NamedTuple):
    """Hold the rows behind a tally: cell, label, decision and weight of each, and its stratum.

    Of more than two classes, `label` and `decision` have their numbers. Of notions of scores, `p`
    is the error of each `score`.
    """

    cell: NDArray[np.intp]
    y: NDArray[np.intp]
    p: Array
    weight: Array
    stratum: NDArray[np.intp] | None = None
    label: NDArray[np.intp] | None = None
    decision: NDArray[np.intp] | None = None
    score: Array | None = None

    def where(self, mask: NDArray[np.bool_]) -> "Rows":
        """Return some rows, or these themselves where the mask has all."""
        if mask.all():
            return self
        columns = self._asdict().items()
        return self._replace(
            **{name: column[mask] for name, column in columns if column is not None}
        )


class Lines(NamedTuple):
    """Hold counts of equal rows of more than two classes, to be drawn anew or held out.

    `rows` has one of each line, and `n_rows` how many there are; `kind` numbers the label and the
    stratum of each line, and `tally` makes the table of other numbers of rows.
    """

    rows: Rows
    n_rows: NDArray[np.int64]
    kind: NDArray[np.intp]
    tally: Callable[[NDArray[np.int64]], Any]
