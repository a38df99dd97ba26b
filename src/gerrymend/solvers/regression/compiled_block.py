"""Hold a block of NumPy's float64 rows: all between two products is one compiled pass."""

from gerrymend._numeric.projection import TIE
from gerrymend._numeric.sums import Array
from gerrymend.solvers.regression import _block_kernel as kernel
from gerrymend.solvers.regression.array_block import ArrayBlock


class CompiledBlock(ArrayBlock):
    """Read arrays once in a question, in the cache, rather than once for each step."""

    def _take_votes(self, fitted: Array, rows: slice, multipliers: Array, pressed: Array) -> None:
        """Press on a piece and vote, as in `ArrayBlock`."""
        kernel.vote(
            fitted, TIE, multipliers[:, 0], self._members[:, rows], self._pressure[:, rows],
            self._votes[:, rows], pressed,
        )  # fmt: skip

    def _select(self, fitted: Array, rows: slice, sums: Array) -> Array:
        """Select the members of a piece, as in `ArrayBlock`."""
        kernel.select(
            fitted, TIE, self._event_weight[rows], self._offset[rows], self._slope[rows],
            self._votes[:, rows], self._members[:, rows], sums,
        )  # fmt: skip
        return fitted
