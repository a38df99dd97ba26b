"""From a cleaned dataset to what scikit-learn's fetchers return."""

import importlib
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gerrymend._numeric.sums import Array
from gerrymend.datasets._cleaning import Cleaned, Columns, is_missing


def one_hot(features: Columns) -> tuple[Array, list[str]]:
    """Numbers, then an indicator of each category in order; the columns of pandas.get_dummies.

    A missing category has no indicator set; a missing number stays NaN.

    Examples
    --------
    >>> matrix, names = one_hot({"sex": np.array(["M", "F"]), "age": np.array([31, 45])})
    >>> names
    ['age', 'sex_F', 'sex_M']
    >>> matrix.tolist()
    [[31.0, 0.0, 1.0], [45.0, 1.0, 0.0]]
    """
    names = [name for name, values in features.items() if values.dtype.kind in "if"]
    columns = [features[name].astype(np.float64) for name in names]
    for name, values in features.items():
        if name in names:
            continue
        for category in sorted(set(values[~is_missing(values)].tolist())):
            columns.append((values == category).astype(np.float64))
            names.append(f"{name}_{category}")
    return np.column_stack(columns), names


def make_bunch(
    cleaned: Cleaned,
    *,
    as_frame: bool,
    return_X_y: bool,
    target_name: str,
    **about: Any,
) -> Any:
    """The Bunch, or data and target; `about` holds what describes the dataset."""
    pandas = need_pandas() if as_frame else None
    encoded, encoded_names = one_hot(cleaned.features)
    sensitive: Any = {name: cleaned.features[name] for name in cleaned.protected}
    data: Any = encoded
    target: Any = cleaned.target
    feature_names = encoded_names
    if pandas is not None:
        data, sensitive = pandas.DataFrame(cleaned.features), pandas.DataFrame(sensitive)
        target = pandas.Series(target, name=target_name)
        feature_names = list(cleaned.features)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        sensitive_features=sensitive,
        feature_names=feature_names,
        encoded=encoded,
        encoded_names=encoded_names,
        **about,
    )


def need_pandas() -> Any:
    """The module pandas, imported only where a frame is asked for."""
    try:
        return importlib.import_module("pandas")
    except ModuleNotFoundError as missing:
        if missing.name != "pandas":
            raise
        raise ModuleNotFoundError(
            "as_frame=True needs pandas, which is not installed: pip install pandas or pass "
            "as_frame=False."
        ) from None
