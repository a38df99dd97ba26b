"""Weighted least squares on [1, columns], factorised once and solved many times.

Rows may lie in several parts, on devices or on other machines: what a factorisation asks of a part
(`WeightedColumns`) are sums and a triangle, and what it comes to (`OrthonormalBasis`) is small.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.externals.array_api_compat import array_namespace, device, is_numpy_array

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError

# Standardised columns whose relative singular value is below this are taken as collinear.
RANK_TOLERANCE = 1e-10
# A fitted value this close to 0 is a tie that rounding would otherwise decide.
TIE = 1e-12
# Coefficients come from turn / deviation, and turn is at most 1 / (RANK_TOLERANCE · √weight), below
# 10⁴⁹ for weights of at least 2⁻²⁵⁶ in all: with this deviation it stays below 10³⁰⁰.
_LEAST_DEVIATION = 1e-250
_BLOCK = 8192
# A device is kept busy by more at once: so many numbers, 256 MB of float64.
_DEVICE_NUMBERS = 1 << 25

Ask = Callable[..., list[Any]]
"""Calls a method of `WeightedColumns` for each part, and returns what the parts answer."""


class WeightedColumns:
    """Columns of some rows, in any array library, read in an order that the weights already have.

    Rows are read in pieces, in float64, so that nothing of the size of the data is held beside it.
    """

    def __init__(self, columns: Any, weight: Any, order: Any = None) -> None:
        self.columns = columns
        self._weight = weight
        self._order = order
        self._xp = array_namespace(columns)
        self._n_rows = weight.shape[0]
        self._n_columns = columns.shape[1]
        step = _BLOCK if is_numpy_array(columns) else _DEVICE_NUMBERS // (self._n_columns + 1)
        self._pieces = [slice(i, i + step) for i in range(0, self._n_rows, step)]

    def total(self) -> float:
        """Return the sum of the weights."""
        return float(self._xp.sum(self._weight, dtype=self._xp.float64))

    def largest(self) -> Array:
        """Return the largest size in each column."""
        sizes = [on_host(self._xp.max(self._xp.abs(self._read(p)), axis=0)) for p in self._pieces]
        return np.max([np.zeros(self._n_columns), *sizes], axis=0)

    def means(self, size: Array, total: float) -> Array:
        """Return what these rows bring to the mean of columns / size."""
        size = self._here(size)
        sums = (self._share(p, total) @ (self._read(p) / size) for p in self._pieces)
        return on_host(sum(sums, self._here(np.zeros(self._n_columns))))

    def variances(self, size: Array, mean: Array, total: float) -> Array:
        """Return what these rows bring to the variance of columns / size."""
        size = self._here(size)
        mean = self._here(mean)
        sums = (self._share(p, total) @ (self._read(p) / size - mean) ** 2 for p in self._pieces)
        return on_host(sum(sums, self._here(np.zeros(self._n_columns))))

    def triangle(self, mean: Array, scale: Array) -> Array:
        """Return R of the QR factorisation of √w·[1, standardised columns].

        It is carried over the pieces.
        """
        mean = self._here(mean)
        scale = self._here(scale)
        triangle = self._here(np.zeros((0, self._n_columns + 1)))
        for rows in self._pieces:
            root = self._xp.astype(self._weight[rows], self._xp.float64) ** 0.5
            weighted = self._standardised(rows, mean, scale) * root[:, None]
            triangle = _triangle(self._xp.concat([triangle, weighted]))
        return on_host(triangle)

    def basis(self, change: "OrthonormalBasis", dtype: Any = None) -> Any:
        """Return the columns of B, one a row: both products with it then read memory in order."""
        mean, scale, turn = map(self._here, (change.mean, change.scale, change.turn.T))
        dtype = self._xp.float64 if dtype is None else dtype
        shape = (turn.shape[0], self._n_rows)
        basis = self._xp.empty(shape, dtype=dtype, device=device(self.columns))
        for rows in self._pieces:
            product = turn @ self._standardised(rows, mean, scale).T
            basis[:, rows] = self._xp.astype(product, dtype, copy=False)
        return basis

    def _read(self, rows: slice) -> Any:
        columns = self.columns[rows] if self._order is None else self.columns[self._order[rows]]
        return self._xp.astype(columns, self._xp.float64, copy=False)

    def _share(self, rows: slice, total: float) -> Any:
        return self._xp.astype(self._weight[rows], self._xp.float64, copy=False) / total

    def _standardised(self, rows: slice, mean: Any, scale: Any) -> Any:
        columns = self._read(rows)
        shape = (columns.shape[0], self._n_columns + 1)
        design = self._xp.empty(shape, dtype=self._xp.float64, device=device(columns))
        design[:, 0] = 1.0
        design[:, 1:] = (columns - mean) / scale
        return design

    def _here(self, values: Array) -> Any:
        return self._xp.asarray(values, device=device(self.columns))


@dataclass(frozen=True, eq=False)
class OrthonormalBasis:
    """Turn columns into a basis that is orthonormal in the inner product of the weights.

    With Z = [1, standardised columns] and weights w, take R from the QR factorisation of √w·Z and
    its singular vectors R = U S Vᵀ, without the negligible ones: B = Z V S⁻¹. `turn` is V S⁻¹.
    Standardising first keeps columns of small units from being taken for noise.
    """

    mean: Array
    scale: Array
    turn: Array

    @classmethod
    def of(
        cls, ask: Ask, tolerance: float = RANK_TOLERANCE, argument: str = "X"
    ) -> "OrthonormalBasis":
        """Return the basis of columns whose rows lie in the parts that are asked."""
        mean, scale = moments(ask)
        _check_deviations(scale, argument)
        triangles = ask(WeightedColumns.triangle, mean, scale)
        triangle = triangles[0] if len(triangles) == 1 else _triangle(np.concatenate(triangles))
        _, singular, right = np.linalg.svd(triangle, full_matrices=False)
        kept = singular > tolerance * singular[0]
        return cls(mean, scale, right[kept].T / singular[kept])

    def coefficients(self, coordinates: Array) -> tuple[Array, Array]:
        """Return intercepts and coefficients, in the units of the columns, of coordinates."""
        turn = self.turn.copy()
        turn[1:] /= self.scale[:, None]
        turn[0] -= self.mean @ turn[1:]
        both = coordinates @ turn.T
        return both[..., 0], both[..., 1:]


class Projection:
    """Regression of many targets on the same columns, with intercept.

    The fitted values of a target c are B (Bᵀ (w·c)): two passes over B, whatever the rank of the
    columns.
    """

    def __init__(
        self,
        columns: NDArray[np.floating],
        weight: Array,
        order: NDArray[np.intp] | None = None,
        argument: str = "X",
    ) -> None:
        rows = WeightedColumns(columns, weight, order)
        self.change = OrthonormalBasis.of(only(rows), argument=argument)
        self.basis: Array = rows.basis(self.change)
        self.one: Array = (weight @ self.basis.T)[None]  # coordinates of the constant 1

    def coordinates(self, weighted_targets: Array, rows: slice = slice(None)) -> Array:
        """Return coordinates of the fits of w·c, one target a row; it is 0 outside of `rows`."""
        product: Array = weighted_targets @ self.basis[:, rows].T
        return product

    def fitted(self, coordinates: Array) -> Array:
        """Return fitted values, one target a row."""
        product: Array = coordinates @ self.basis
        return product

    def coefficients(self, coordinates: Array) -> tuple[Array, Array]:
        """Return intercepts, and coefficients in the units of the columns as given."""
        return self.change.coefficients(coordinates)


def moments(ask: Ask) -> tuple[Array, Array]:
    """Return mean and deviation of each column; infinite if constant, so that it drops out.

    Columns are brought to size 1 first: squares of very large or small numbers leave float64.
    """
    total = sum(ask(WeightedColumns.total))
    size = np.max(ask(WeightedColumns.largest), axis=0)
    size = np.where(size > 0, size, 1.0)
    mean = sum(ask(WeightedColumns.means, size, total))
    variance = sum(ask(WeightedColumns.variances, size, mean, total))
    scale = np.sqrt(variance)
    # A constant column leaves a variance of rounding errors.
    return mean * size, np.where(scale <= 1e-12, np.inf, scale * size)


def _check_deviations(scale: Array, argument: str) -> None:
    """Refuse columns whose coefficients would leave float64."""
    least = float(scale.min(initial=np.inf))
    if least < _LEAST_DEVIATION:
        raise ArgumentError(
            argument,
            f"has a column whose values differ by no more than about {least:g}: its "
            "coefficient in a regression would be beyond float64. Measure it in smaller units.",
        )


def only(columns: WeightedColumns) -> Ask:
    """Ask rows that lie in one part."""
    return lambda method, *arguments: [method(columns, *arguments)]


def _triangle(rows: Any) -> Any:
    """Return R of a QR factorisation; NumPy can leave out Q, which the standard can't."""
    if is_numpy_array(rows):
        return np.linalg.qr(rows, mode="r")
    return array_namespace(rows).linalg.qr(rows)[1]
