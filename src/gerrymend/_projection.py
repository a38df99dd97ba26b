"""Weighted least squares on [1, columns], factorised once and solved many times."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._sums import Array

# Standardised columns whose relative singular value is below this are taken as collinear.
RANK_TOLERANCE = 1e-10
# A fitted value this close to 0 is a tie that rounding would otherwise decide.
TIE = 1e-12
_BLOCK = 8192


class Projection:
    """Regression of many targets on the same columns, with intercept.

    With Z = [1, standardised columns] and weights w, take R from the QR factorisation of √w·Z and
    its singular vectors R = U S Vᵀ, without the negligible ones. The columns of B = Z V S⁻¹ are
    then orthonormal in the inner product that w weighs, so the fitted values of a target c are
    B (Bᵀ (w·c)): two passes over B, whatever the rank of the columns. Standardising first keeps
    columns of small units from being taken for noise.

    Rows are read in blocks, in the given order, and R is carried from one block to the next, so
    that beside B itself nothing of the size of the data is held.
    """

    def __init__(
        self,
        columns: NDArray[np.floating],
        weight: Array,
        order: NDArray[np.intp] | None = None,
    ) -> None:
        n_rows, n_columns = columns.shape
        blocks = row_blocks(n_rows)

        def block(rows: slice) -> NDArray[np.floating]:
            return columns[rows] if order is None else columns[order[rows]]

        mean, scale = moments(block, blocks, weight)
        root = np.sqrt(weight)

        def standardised(rows: slice) -> Array:
            design = np.empty((len(weight[rows]), n_columns + 1))
            design[:, 0] = 1.0
            np.subtract(block(rows), mean, out=design[:, 1:])
            design[:, 1:] /= scale
            return design

        triangle: Any = np.zeros((0, n_columns + 1))
        for rows in blocks:
            weighted = standardised(rows) * root[rows, None]
            triangle = np.linalg.qr(np.concatenate([triangle, weighted]), mode="r")
        _, singular, right = np.linalg.svd(triangle, full_matrices=False)
        kept = singular > RANK_TOLERANCE * singular[0]
        turn = right[kept].T / singular[kept]

        # Kept with one basis vector a row: both products then read memory in order.
        self.basis: Array = np.empty((int(kept.sum()), n_rows))
        for rows in blocks:
            np.matmul(turn.T, standardised(rows).T, out=self.basis[:, rows])

        # Coordinates in the basis -> (intercept, coefficients) of the columns as given.
        self._to_coefficients: Array = turn.copy()
        self._to_coefficients[1:] /= scale[:, None]
        self._to_coefficients[0] -= mean @ self._to_coefficients[1:]
        self.one: Array = (weight @ self.basis.T)[None]  # coordinates of the constant 1

    def coordinates(self, weighted_targets: Array, rows: slice = slice(None)) -> Array:
        """Coordinates of the fits of w·c, one target a row; it is 0 outside of `rows`."""
        product: Array = weighted_targets @ self.basis[:, rows].T
        return product

    def fitted(self, coordinates: Array) -> Array:
        """Fitted values, one target a row."""
        product: Array = coordinates @ self.basis
        return product

    def coefficients(self, coordinates: Array) -> tuple[Array, Array]:
        """Intercepts, and coefficients in the units of the columns as given."""
        both = coordinates @ self._to_coefficients.T
        return both[..., 0], both[..., 1:]


def moments(
    block: Callable[[slice], NDArray[np.floating]], blocks: list[slice], weight: Array
) -> tuple[Array, Array]:
    """Weighted mean and deviation of each column; infinite if constant, so that it drops out.

    Columns are brought to size 1 first: squares of very large or small numbers leave float64.
    """
    share = weight / weight.sum()
    size = np.max([np.abs(block(rows)).max(axis=0) for rows in blocks], axis=0)
    size = np.where(size > 0, size, 1.0)
    mean = sum(share[rows] @ (block(rows) / size) for rows in blocks)
    variance = sum(share[rows] @ np.square(block(rows) / size - mean) for rows in blocks)
    scale = np.sqrt(variance)
    # A constant column leaves a variance of rounding errors.
    return mean * size, np.where(scale <= 1e-12, np.inf, scale * size)


def row_blocks(n_rows: int) -> list[slice]:
    """Slices of rows that are handled at once."""
    return [slice(i, i + _BLOCK) for i in range(0, n_rows, _BLOCK)]
