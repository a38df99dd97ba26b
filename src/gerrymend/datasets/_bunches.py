"""Bunches of cleaned datasets, as the fetchers of scikit-learn return them."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gerrymend._numeric.sums import Array
from gerrymend._runtime.extras import need
from gerrymend.datasets._cleaning import Cleaned, Columns, is_missing


def one_hot(features: Columns) -> tuple[Array, list[str]]:
    """Encode columns as `pandas.get_dummies` does, without pandas; return a matrix and names.

    Numbers come first, then an indicator of each category in order. A missing category has no
    indicator set; a missing number stays NaN.

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
    cleaned: Cleaned, *, as_frame: bool, return_X_y: bool, target_name: str, **about: Any
) -> Any:
    """Return the Bunch, or data and target only; `about` has further entries of the Bunch."""
    pandas = need_pandas() if as_frame else None
    encoded, encoded_names = one_hot(cleaned.features)
    sensitive: Any = {name: cleaned.features[name] for name in cleaned.protected}
    data: Any = encoded
    target: Any = cleaned.target
    feature_names = encoded_names
    if pandas is not None:
        data = pandas.DataFrame(cleaned.features)
        sensitive = pandas.DataFrame(sensitive)
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
    """Import pandas, which only a frame needs; raise ModuleNotFoundError with a remedy."""
    return need("pandas", "as_frame=True needs", "pip install pandas or pass as_frame=False.")
