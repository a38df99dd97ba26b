"""The quick look at ambiguous pairs says that they span all dimensions only where they do."""

import numpy as np
import pytest

from gerrymend.subgroups.proofs.cone_bounds import ABOVE, AMBIGUOUS, ambiguous_pair
from gerrymend.subgroups.proofs.tied_leaf import _span_all
from gerrymend.subgroups.proofs.whole_points import Points, orthogonal_to_differences


def points_and_pairs(seed, size):
    """Rows that often lie in fewer dimensions, or nearly so, and which pairs are ambiguous."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    m = int(rng.integers(2, 30))
    unit = max(1, size // 10**15)
    x = rng.integers(-size // unit, size // unit + 1, (m, d)).astype(object) * unit
    if d > 1 and seed % 3:
        x[:, -1] = x[:, 0] * int(rng.integers(-3, 4))
        if seed % 3 == 2:  # off by as little as whole numbers can be
            x[int(rng.integers(m)), -1] += 1
    last = np.sort(rng.choice(m, int(rng.integers(1, m + 1)), replace=False))
    side = np.where(rng.random((len(last), m)) < 0.6, AMBIGUOUS, ABOVE).astype(np.int8)
    side[np.arange(len(last)), last] = ABOVE
    zeros = np.zeros(m, dtype=np.intp)
    return Points(x, rng.standard_normal(m), zeros, zeros), side, last


@pytest.mark.parametrize("size", [2, 10**6, 10**15, 10**25])
def test_what_spans_all_has_nothing_orthogonal_to_it(size):
    said = 0
    for seed in range(300):
        points, side, last = points_and_pairs(seed, size)
        if _span_all(points, side, last):
            said += 1
            found = orthogonal_to_differences(
                points.x,
                lambda y, side=side, last=last: ambiguous_pair(side, last, y),
            )
            assert found == []
    assert said > 50
