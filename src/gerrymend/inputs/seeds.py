"""Random number generators from what users pass as `random_state`."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gerrymend._runtime.errors import ArgumentError

_SEED = "None, a whole number from 0"


def random_source(random_state: Any) -> np.random.RandomState:
    """Return the RandomState that was passed, or one made from a seed.

    >>> int(random_source(0).randint(100))
    44
    """
    try:
        source: np.random.RandomState = check_random_state(random_state)
    except (TypeError, ValueError):
        raise ArgumentError(
            "random_state",
            f"must be {_SEED} to 2**32 - 1, or a numpy.random.RandomState; got {random_state!r}.",
        ) from None
    return source


def random_generator(random_state: Any) -> np.random.Generator:
    """Return the Generator that was passed, or one made from a seed.

    >>> int(random_generator(0).integers(100))
    85
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ArgumentError(
            "random_state", f"must be {_SEED}, or a numpy.random.Generator; got {random_state!r}."
        ) from None


def draw_seed(random_state: Any) -> int:
    """Draw a seed from `random_state`; the same number draws the same seed.

    >>> draw_seed(0) == draw_seed(0)
    True
    """
    return int(random_source(random_state).randint(np.iinfo(np.int32).max))
