"""The library of a frame that a result is told as."""

from typing import Any

import narwhals as nw

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.numbers import short


def check_backend(backend: Any) -> Any:
    """Return the library; raise an ArgumentError for one that is not there, or has no frames.

    >>> check_backend("pandas")
    'pandas'
    >>> check_backend("numpy")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: backend='numpy' makes no frame here. Pass 'pandas', \
'polars' or 'pyarrow', which has to be installed.
    """
    try:
        nw.from_dict({"a": [1]}, backend=backend).to_native()
    except (ImportError, TypeError, ValueError):
        raise ArgumentError(
            Argument("backend", value=short(backend)),
            "makes no frame here. Pass 'pandas', 'polars' or 'pyarrow', which has to be installed.",
        ) from None
    return backend
