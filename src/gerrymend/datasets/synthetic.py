"""Synthetic data with a subgroup that is treated worse, known by construction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gerrymend.inputs.seeds import random_generator, random_source
from gerrymend.inputs.settings import check_number, check_whole

# Far more rows, columns or values than any machine holds.
_MOST = 10**12


def make_gerrymandered(
    n_samples: int = 2000, *, shift: float = 1.0, noise: float = 0.0, random_state: Any = None
) -> Bunch:
    """Make the paper's toy example: a score that is unfair to blue men and green women only.

    Race and gender are independent of each other and of the label: all eight combinations have the
    same number of rows (to within one, where 8 does not divide n_samples). The score is the label,
    except that negatives among blue men and green women are shifted up. Cut at 0.5, without noise,
    it has the same false positive rate, 1/2, for each race and each gender, and 1 for blue men:
    an unfairness of 1/8 · 1/2 = .0625.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of rows, at least 8.
    shift : float, default=1.0
        Added to the score of these negatives.
    noise : float, default=0.0
        Standard deviation of the normal noise on the score.
    random_state : int, RandomState or None
        Seeds the noise and the order of the rows.

    Returns
    -------
    Bunch
        `data` (columns score, race_is_blue, gender_is_man), `target`, `score`,
        `sensitive_features` (a dict of race and gender), `feature_names`, `DESCR`.

    See Also
    --------
    make_intersectional
        Make data of any size with a planted intersection whose negatives look like positives.
    make_benchmark
        Make decisions to audit, of any size, over attributes with stated numbers of values.

    Examples
    --------
    >>> toy = make_gerrymandered(80, random_state=0)
    >>> blue_man = (toy.sensitive_features["race"] == "blue") & (
    ...     toy.sensitive_features["gender"] == "man")
    >>> float(toy.score[blue_man & (toy.target == 0)].mean())
    1.0
    """
    n_rows = _check_size(n_samples, "n_samples", low=8, remedy="The design has 8 cells.")
    shift = check_number(shift, "shift", low=-np.inf)
    noise = check_number(noise, "noise", low=0.0)
    rng = random_source(random_state)
    # A balanced design: the three bits of the cell are race, gender and label.
    cell = rng.permutation(n_rows) % 8
    blue = cell & 1
    man = cell >> 1 & 1
    y = cell >> 2
    # blue == man are blue men and green women; half of every race and of every gender, which is why
    # no single attribute shows it.
    score = np.where((y == 0) & (blue == man), shift, y) + noise * rng.standard_normal(n_rows)
    return Bunch(
        data=np.column_stack([score, blue, man]),
        target=y,
        score=score,
        sensitive_features={
            "race": np.where(blue == 1, "blue", "green"),
            "gender": np.where(man == 1, "man", "woman"),
        },
        feature_names=["score", "race_is_blue", "gender_is_man"],
        DESCR=make_gerrymandered.__doc__,
    )


def make_intersectional(
    n_samples: int = 10_000,
    *,
    cardinalities: Sequence[int] = (2, 3, 5),
    n_numeric: int = 1,
    n_features: int = 5,
    shift: float = 2.0,
    random_state: Any = None,
) -> Bunch:
    """Make data of any size with a planted intersection whose negatives look like positives.

    Labels follow a logistic model of normal features. Protected attributes are independent of
    both. The planted group has the first value of the first two categorical attributes (or of the
    only one); its negatives are moved by `shift` along the model's direction, so that any good
    classifier of the features has more false positives there.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of rows.
    cardinalities : sequence of int, default=(2, 3, 5)
        Number of values of each categorical attribute.
    n_numeric : int, default=1
        Number of numeric protected attributes.
    n_features : int, default=5
        Number of unprotected features.
    shift : float, default=2.0
        Distance by which the negatives of the planted group are moved.
    random_state : int, RandomState or None
        Seeds everything.

    Returns
    -------
    Bunch
        `data` (features, then indicators of the categories but the first, then numeric
        attributes), `target`, `sensitive_features` (a dict), `planted` (a mask of rows),
        `planted_description`, `feature_names`, `DESCR`.

    See Also
    --------
    make_gerrymandered
        Make the paper's toy example: a score that is unfair to blue men and green women only.
    make_benchmark
        Make decisions to audit, of any size, over attributes with stated numbers of values.

    Examples
    --------
    >>> data = make_intersectional(1000, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> data.data.shape, list(data.sensitive_features), data.planted_description
    ((1000, 8), ['category_0', 'category_1'], 'category_0 = v0 and category_1 = v0')
    """
    n_rows = _check_size(n_samples, "n_samples", low=1)
    sizes = _check_sizes(cardinalities, "cardinalities", low=2)
    if not sizes:
        raise ValueError("cardinalities is empty; at least one categorical attribute is planted.")
    width = _check_size(n_features, "n_features", low=1)
    n_numeric = _check_size(n_numeric, "n_numeric", low=0)
    shift = check_number(shift, "shift", low=-np.inf)
    rng = random_source(random_state)

    # A unit vector, so that the signal has a standard deviation of 2, about that of logistic noise.
    features = rng.standard_normal((n_rows, width))
    direction = np.full(width, 1 / np.sqrt(width))
    y = (2.0 * (features @ direction) + rng.logistic(size=n_rows) > 0).astype(np.int64)
    codes = [rng.randint(size, size=n_rows) for size in sizes]
    numeric = rng.standard_normal((n_rows, n_numeric))

    # After the labels were drawn, which therefore don't follow the shift.
    planted = np.logical_and.reduce([code == 0 for code in codes[:2]])
    features[planted & (y == 0)] += shift * direction

    names = [f"feature_{j}" for j in range(width)]
    indicators = []
    planted_values = []
    sensitive: dict[str, Any] = {}
    for j, (code, size) in enumerate(zip(codes, sizes, strict=True)):
        values = _value_names(size)
        sensitive[f"category_{j}"] = values[code]
        if j < 2:
            planted_values.append(f"category_{j} = {values[0]}")
        # Without the first value, whose indicator is 1 less the others: together with an intercept
        # all of them would be collinear.
        indicators += [(code == value).astype(np.float64) for value in range(1, size)]
        names += [f"category_{j}={value}" for value in values[1:]]
    for j in range(n_numeric):
        sensitive[f"number_{j}"] = numeric[:, j]
        names.append(f"number_{j}")
    return Bunch(
        data=np.column_stack([features, *indicators, numeric]),
        target=y,
        sensitive_features=sensitive,
        planted=planted,
        planted_description=" and ".join(planted_values),
        feature_names=names,
        DESCR=make_intersectional.__doc__,
    )


def make_benchmark(
    n_samples: int = 100_000,
    *,
    cardinalities: Sequence[int] = (2, 3, 5),
    numeric: Sequence[int] = (100,),
    rate: float = 0.3,
    shift: float = 0.2,
    random_state: Any = None,
) -> Bunch:
    """Make decisions to audit, of any size, over attributes with stated numbers of values.

    Values, labels and decisions are independent of each other, but for one planted group that is
    decided positive more often. It has the first value of the first two categorical attributes, and
    the lower half of the values of the first numeric one. The number of distinct protected rows is
    the product of all cardinalities, where there are enough rows to see them all: 10,000,000 rows
    of `cardinalities=(10, 10), numeric=(100,)` have 10,000.

    Parameters
    ----------
    n_samples : int, default=100_000
        Number of rows.
    cardinalities : sequence of int, default=(2, 3, 5)
        Number of values of each categorical attribute.
    numeric : sequence of int, default=(100,)
        Number of values of each numeric attribute: whole numbers from 0.
    rate : float, default=0.3
        Probability of a positive decision.
    shift : float, default=0.2
        Added to that probability in the planted group.
    random_state : int, numpy.random.Generator or None
        Seeds everything.

    Returns
    -------
    Bunch
        `target`, `decisions`, `sensitive_features` (a dict: category_0, …, number_0, …), `planted`
        (a mask of rows), `planted_description`, `DESCR`.

    See Also
    --------
    make_intersectional
        Make data of any size with a planted intersection whose negatives look like positives.
    make_gerrymandered
        Make the paper's toy example: a score that is unfair to blue men and green women only.

    Examples
    --------
    >>> data = make_benchmark(1000, cardinalities=(4, 3), numeric=(50,), random_state=0)
    >>> data.planted_description
    'category_0 = v0 and category_1 = v0 and number_0 < 25'
    >>> [len(set(values.tolist())) for values in data.sensitive_features.values()]
    [4, 3, 50]
    """
    n_rows = _check_size(n_samples, "n_samples", low=1)
    sizes = _check_sizes(cardinalities, "cardinalities", low=1)
    counts = _check_sizes(numeric, "numeric", low=1)
    if not sizes and not counts:
        raise ValueError("cardinalities and numeric are both empty; name at least one attribute.")
    rate = check_number(rate, "rate", low=0.0)
    shift = check_number(shift, "shift", low=-1.0)
    if rate > 1 or not 0 <= rate + shift <= 1:
        raise ValueError(
            f"rate={rate:g} and rate + shift={rate + shift:g} must be probabilities, in [0, 1]."
        )
    rng = random_generator(random_state)

    sensitive: dict[str, Any] = {}
    planted = np.ones(n_rows, dtype=bool)
    words = []
    for j, size in enumerate(sizes):
        values = _value_names(size)
        code = rng.integers(0, size, n_rows, dtype=np.int32)
        sensitive[f"category_{j}"] = values[code]
        if j < 2:
            planted &= code == 0
            words.append(f"category_{j} = {values[0]}")
    for j, size in enumerate(counts):
        sensitive[f"number_{j}"] = rng.integers(0, size, n_rows, dtype=np.int32)
        if j == 0:  # ⌈size / 2⌉ values
            # -(-a // b) is a/b rounded up, in whole numbers.
            planted &= sensitive["number_0"] < -(-size // 2)
            words.append(f"number_0 < {-(-size // 2)}")
    return Bunch(
        target=rng.integers(0, 2, n_rows, dtype=np.int8),
        decisions=(rng.random(n_rows, dtype=np.float32) < rate + shift * planted).astype(np.int8),
        sensitive_features=sensitive,
        planted=planted,
        planted_description=" and ".join(words),
        DESCR=make_benchmark.__doc__,
    )


def _check_size(value: Any, argument: str, *, low: int, most: int = _MOST, remedy: str = "") -> int:
    """Return a number of rows, columns or values; raise ValueError if no array has so many."""
    size = check_whole(value, argument, low=low, remedy=remedy)
    if size > most:
        raise ValueError(f"{argument} must be at most {most:,}; got {value!r}.")
    return size


def _check_sizes(values: Any, argument: str, *, low: int) -> list[int]:
    """Return a number of values for each attribute, at most 10⁹ as codes have 32 bits."""
    listed = isinstance(values, list | tuple | range)
    if not listed and not (isinstance(values, np.ndarray) and values.ndim == 1):
        raise TypeError(
            f"{argument} must be a list with a number of values for each attribute, as (2, 3); got "
            f"{values!r}."
        )
    return [_check_size(value, argument, low=low, most=10**9) for value in values]


def _value_names(size: int) -> Any:
    """Return names v0, v1, …, padded so that they sort by number."""
    digits = len(str(size - 1))
    return np.array([f"v{value:0{digits}d}" for value in range(size)])
