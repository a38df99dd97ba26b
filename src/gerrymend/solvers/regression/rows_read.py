"""Rows that were read and checked, wherever they are."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from gerrymend.inputs.protected import Column


class RowsRead(NamedTuple):
    """Facts that a fit needs of its rows, and the function that begins games on them."""

    classes: NDArray[Any]
    """The two labels."""

    protected: tuple[Column, ...]
    """The protected attributes, with their categories and no rows."""

    counts: Mapping[str, Mapping[Any, float]]
    """The number of rows of each category, by attribute."""

    digests: Callable[[], dict[str, str]]
    """The sha256 of each argument; to be asked for before a game begins."""

    begin: Callable[[Any, Any, list[float], float], Any]
    """Begins games, given the estimator, the solver, the gammas and C."""
