"""Columns of any container as 64-bit words that are equal for equal values."""

import hashlib
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.externals.array_api_compat import array_namespace

from gerrymend._numeric.arrays import is_device_array
from gerrymend.inputs.validation import is_frame, is_missing


def words_of_columns(X: Any) -> Iterator[Any]:
    """Yield each column as int64 words; equal values have equal words in every container.

    Words are signed, as torch has no arithmetic of unsigned ones. Arrays on a device stay there.
    """
    if is_device_array(X):
        xp = array_namespace(X)
        # Here and below: + 0.0 makes 0 of −0, which is equal and has other bits.
        for j in range(X.shape[1]):
            yield (xp.astype(X[:, j], xp.float64) + 0.0).view(xp.int64)
        return
    if not is_frame(X):
        for values in np.asarray(X, dtype=np.float64).T:
            yield (values + 0.0).view(np.int64)
        return
    for series in nw.from_native(X, eager_only=True).iter_columns():
        if isinstance(series.dtype, nw.Date):
            series = series.cast(nw.Datetime("us"))
        if isinstance(series.dtype, nw.Datetime):
            series = series.dt.timestamp("us")
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            values = series.cast(nw.Float64).to_numpy() + 0.0
            # There are many NaNs; all become the same one.
            yield np.where(np.isnan(values), np.nan, values).view(np.int64)
            continue
        # repr tells 1 from "1"; each distinct text is hashed once.
        texts = [repr(None if is_missing(value) else value) for value in series.to_list()]
        words = {text: _word(text) for text in set(texts)}
        yield np.array([words[text] for text in texts], dtype=np.int64)


def _word(text: str) -> int:
    """Hash a text to a signed 64-bit number, the same in every process."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
