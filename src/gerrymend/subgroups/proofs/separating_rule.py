"""Write a group of rows as a linear threshold of few terms, by a linear program."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from gerrymend._numeric.projection import WeightedColumns, moments, only
from gerrymend._numeric.sums import Array
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.linear_rule import LinearRule
from gerrymend.subgroups.rules import Members


def separating_rule(
    columns: Sequence[Column],
    encoding: LinearEncoding,
    members: Members,
    counted: Members,
    seconds: float = math.inf,
) -> LinearRule | None:
    """Find a rule with these members among the rows that count, and few, short coefficients.

    The least Σ|a_k|, in units of the attributes' spread, such that every row is at least 1 from the
    threshold, on its side: the widest margin in the largest coefficient, and few terms. None where
    the solver of linear programs finds the sides too close to tell apart, or has no time to.
    """
    z, mean, scale = _in_units_of_spread(columns, encoding)
    z = z[np.flatnonzero(counted)]
    side = np.where(members[counted], 1.0, -1.0)[:, None]
    d = z.shape[1]
    # A product that is not a matrix product, of sparse arrays as well.
    one = sparse.csr_array(np.ones((len(side), 1)))
    sides: Any = sparse.hstack([z, -z, -one]) * -side
    solution = linprog(
        c=np.r_[np.ones(2 * d), 0.0],
        A_ub=sides,
        b_ub=-np.ones(len(side)),
        bounds=[(0, None)] * (2 * d) + [(None, None)],
        options={"time_limit": seconds},
    )
    if solution.x is None:
        return None
    coefficients = (solution.x[:d] - solution.x[d : 2 * d]) / scale
    return encoding.linear_rule(coefficients, float(solution.x[-1] + coefficients @ mean))


def _in_units_of_spread(
    columns: Sequence[Column], encoding: LinearEncoding
) -> tuple[sparse.csr_array, Array, Array]:
    """Return the design less a mean, by a scale, and both.

    Indicators are not centred. That would move the threshold alone, and leave no zero: a linear
    program of hundreds of dense columns takes seconds, with or without a limit on its time.
    """
    thin = encoding.sparse_matrix(columns)
    m, d = thin.shape
    is_number = np.array([not term.categorical for term in encoding.terms], dtype=bool)
    numbers = thin[:, np.flatnonzero(is_number)].toarray()
    share = np.asarray(thin[:, np.flatnonzero(~is_number)].mean(axis=0)).ravel()
    mean = np.zeros(d)
    scale = np.zeros(d)
    mean[is_number], scale[is_number] = moments(only(WeightedColumns(numbers, np.ones(m))))
    scale[~is_number] = np.sqrt(share * (1.0 - share))
    scale[scale == 0.0] = math.inf
    centre = sparse.csr_array(np.ones((m, 1))) @ sparse.csr_array(mean[None])
    return ((thin - centre) @ sparse.diags_array(1.0 / scale)).tocsr(), mean, scale
