"""Count the bytes that binding and listing allocate: copies of 10⁶ cells fill a memory."""

import tracemalloc

import numpy as np
import pytest

from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.subgroups import LinearThresholds
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.marginals import marginal_groups

CELLS = 40_000
# Of what doesn't grow with the cells.
FEW = 1_000_000


def columns_of(n_cells, values=6):
    rng = np.random.default_rng(0)
    numbers = [Column(f"x{j}", rng.standard_normal(n_cells)) for j in range(3)]
    names = tuple(f"v{i}" for i in range(values))
    codes = [rng.integers(0, values, n_cells).astype(float) for _ in range(5)]
    return (*numbers, *(Column(f"c{j}", code, names) for j, code in enumerate(codes)))


def counted(call):
    """What a call returns, the most bytes that it had, and those that it keeps."""
    call()  # imports and caches are not counted
    tracemalloc.start()
    try:
        result = call()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return result, peak, kept


def test_a_search_keeps_one_matrix_until_it_is_released():
    columns = columns_of(CELLS)
    weight = np.ones(CELLS)
    n_terms = 3 + 5 * 5
    matrix = 8 * CELLS * (n_terms + 1)
    own = 8 * CELLS * len(columns)
    bound, peak, kept = counted(lambda: LinearThresholds(restarts=0).bind(columns, weight, weight))
    assert kept < own + FEW
    # A piece of the rows is standardised, weighted and factorised at a time, whatever their number.
    piece = 8 * 8192 * (n_terms + 1)
    assert peak < matrix + own + 5 * piece + FEW
    residual = np.random.default_rng(1).standard_normal(CELLS)
    residual -= residual.mean()
    before = bound.worst(residual[None])
    assert bound._ascent.circles.z.nbytes == matrix
    one_side = bound.one_sided(1)
    one_side.release()
    assert "z" not in vars(bound._ascent.circles)
    assert np.array_equal(bound.worst(residual[None]).keys, before.keys)


def test_weights_of_one_are_summed_and_counted_once():
    rng = np.random.default_rng(0)
    cells = distinct_rows((Column("x", rng.standard_normal(CELLS)),))
    y = rng.integers(0, 2, CELLS)
    p = rng.integers(0, 2, CELLS).astype(float)
    tally = Tally.of_rows(cells, y, p, np.ones(CELLS))
    assert np.shares_memory(tally.weight, tally.squared_weight)
    assert np.shares_memory(tally.n_rows, tally.n_counted)
    twos = Tally.of_rows(cells, y, p, np.where(y == 0, 0.0, 2.0))
    assert np.array_equal(twos.squared_weight, 2 * twos.weight)
    assert twos.squared_weight.sum() == 4 * y.sum()
    assert twos.n_counted.sum() == y.sum()


def test_marginal_groups_take_twelve_bytes_a_cell_and_attribute():
    columns = columns_of(CELLS)
    groups, peak, kept = counted(lambda: marginal_groups(columns, np.ones(CELLS)))
    assert groups.membership.nnz == CELLS * len(columns)
    assert kept < 12 * CELLS * len(columns) + FEW
    # Beside these, what one attribute is sorted by.
    assert peak < (12 * len(columns) + 40) * CELLS + FEW


def test_needless_terms_are_found_without_the_values_of_all():
    columns = {column.name: column for column in columns_of(CELLS, values=30)}
    terms = tuple(Term(f"c{j}", True, f"v{i}") for j in range(5) for i in range(29))
    rule = LinearRule(
        terms,
        tuple(np.linspace(-1, 1, len(terms)).tolist()),
        0.1,
        {name: column.categories for name, column in columns.items()},
    )
    members = rule.members(columns)
    short, peak, _ = counted(lambda: rule._without_needless_terms(columns, members))
    assert np.array_equal(short.members(columns), members)
    assert peak < 10 * 8 * CELLS


@pytest.mark.parametrize("n_cells", [1, 7])
def test_marginal_groups_are_those_of_a_loop_over_cells(n_cells):
    columns = columns_of(n_cells, values=3)
    groups = marginal_groups(columns, np.ones(n_cells))
    by_name = {column.name: column for column in columns}
    expected = [rule.members(by_name) for rule in groups.rules]
    assert np.array_equal(groups.membership.toarray(), np.array(expected, dtype=float))
    assert groups.membership.has_sorted_indices
