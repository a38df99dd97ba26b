"""Keep what predictors decide of label-cells, in few bytes, for the plays of a pool."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gerrymend._numeric.places import Place
from gerrymend._numeric.sums import Array
from gerrymend.solvers.players.row_block import DIGEST
from gerrymend.solvers.players.rows import Bits, LabelCells, Play


class KeptPlays(Protocol):
    """Plays, and what is kept of them beside their own bytes."""

    def keep(self, weights: Any, digests: Sequence[bytes], predictors: Sequence[Any]) -> list[Play]:
        """Return the plays of predictors, by the weight that each decides 1 in each label-cell.

        Two that decide the same weights of each label-cell may decide otherwise of its rows, which
        their digests tell.
        """
        ...

    def decided(self, decisions: Sequence[Bits]) -> Any:
        """Return the weights of plays, one a row."""
        ...

    def state(self) -> list[Any]:
        """Return the predictors whose plays can't be read from their bytes alone."""
        ...


class PlaysAsBytes:
    """Plays whose bytes are the weights, in the smallest type that holds them, and the digest."""

    def __init__(self, label_cells: LabelCells) -> None:
        self._type = _smallest_type(label_cells)

    def keep(
        self, weights: Array, digests: Sequence[bytes], predictors: Sequence[Any]
    ) -> list[Play]:
        """Return plays with weights and digests."""
        kept = weights.astype(self._type)
        return [
            Play(np.frombuffer(row.tobytes() + digest, dtype=np.uint8), predictor)
            for row, digest, predictor in zip(kept, digests, predictors, strict=True)
        ]

    def decided(self, decisions: Sequence[Bits]) -> Array:
        """Read the weights from the bytes."""
        # The digest only tells plays apart that decide the same weights of other rows.
        content = np.array(decisions)[:, :-DIGEST]
        return np.ascontiguousarray(content).view(self._type).astype(np.float64)

    def state(self) -> list[Any]:
        """Return none: bytes are all."""
        return []


class PlaysAtPlace:
    """Plays whose bytes are the digest alone; the weights stay at a place.

    Parameters
    ----------
    place : Place
    label_cells : LabelCells
    """

    def __init__(self, place: Place, label_cells: LabelCells) -> None:
        self._xp = place.xp
        in_bytes = _smallest_type(label_cells) == np.uint8
        self._type = self._xp.uint8 if in_bytes else self._xp.float64
        self._kept: dict[bytes, tuple[Any, Any]] = {}

    def keep(self, weights: Any, digests: Sequence[bytes], predictors: Sequence[Any]) -> list[Play]:
        """Return plays with digests, and keep the weights."""
        for row, digest, predictor in zip(weights, digests, predictors, strict=True):
            if digest not in self._kept:
                self._kept[digest] = self._xp.astype(row, self._type), predictor
        return [
            Play(np.frombuffer(digest, dtype=np.uint8), predictor)
            for digest, predictor in zip(digests, predictors, strict=True)
        ]

    def decided(self, decisions: Sequence[Bits]) -> Any:
        """Return the weights that were kept."""
        kept = [self._kept[digest.tobytes()][0] for digest in decisions]
        return self._xp.astype(self._xp.stack(kept), self._xp.float64)

    def state(self) -> list[Any]:
        """Return the predictors, of which the weights can be made again."""
        return [predictor for _, predictor in self._kept.values()]


def _smallest_type(label_cells: LabelCells) -> np.dtype[Any]:
    """Return the smallest type that holds what may be decided of a label-cell."""
    if not label_cells.is_whole:
        return np.dtype(np.float64)
    # A pool holds thousands of plays, and most cells are small: a byte each rather than eight.
    most = label_cells.weight.max()
    whole = (np.uint8, np.uint16, np.uint32)
    return np.dtype(next((one for one in whole if most <= np.iinfo(one).max), np.float64))
