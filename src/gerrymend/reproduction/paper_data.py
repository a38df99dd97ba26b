"""The paper's datasets, fetched and encoded for the games."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gerrymend import datasets
from gerrymend.reproduction.games import PaperData

# By the names that records and figures use.
FETCH: dict[str, Any] = {
    "communities": datasets.fetch_communities,
    "law_school": datasets.fetch_law_school,
    "adult": datasets.fetch_adult,
    "student": datasets.fetch_student,
}


def load(names: Sequence[str], data_home: Any = None) -> dict[str, PaperData]:
    """Return datasets by name, a key of FETCH; Law School also with its incomplete rows.

    `data_home` is the folder of the files, as in `fetch_communities`. Raises an OSError where a
    dataset can't be fetched.
    """
    loaded = {}
    for name in names:
        loaded[name] = _load(name, data_home)
        if name == "law_school":
            loaded["law_school_all"] = _load(name, data_home, drop_missing=False)
    return loaded


def _load(name: str, data_home: Any, **options: Any) -> PaperData:
    """Fetch one dataset, with a note where other data stands in for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a stand-in is noted in every record
        bunch = FETCH[name](data_home=data_home, as_frame=False, **options)
    note = f"stand-in: {bunch.name}, not the paper's data" if bunch.stand_in else ""
    return PaperData(name, bunch.encoded, np.asarray(bunch.target), bunch.sensitive_features, note)
