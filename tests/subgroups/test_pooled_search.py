"""Attributes of very many categories: searched without a dense design, and in the same class."""

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import encoding
from gerrymend.subgroups.encoding import LinearEncoding
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.proofs.separating_rule import separating_rule
from gerrymend.subgroups.thresholds.pooled_search import PooledSearch
from tests.subgroups.brute_force import bind
from tests.subgroups.test_threshold_proofs import instance, selected, worst


@pytest.fixture
def pooled(monkeypatch):
    """No design is small enough."""
    monkeypatch.setattr(encoding, "_MOST_NUMBERS", -1)


def many(rng, n_categories=3000, n_rows=6000):
    """Texts of thousands of values, and two categories."""
    codes = np.append(np.arange(n_categories), rng.integers(0, n_categories, n_rows - n_categories))
    columns = (
        Column("age", codes.astype(float), tuple(f"{i},5" for i in range(n_categories))),
        Column("sex", rng.integers(0, 2, n_rows).astype(float), ("F", "M")),
    )
    residual = rng.standard_normal(n_rows)
    return columns, residual - residual.mean()


def test_sparse_designs_are_the_dense_ones():
    for seed in range(20):
        columns, _ = instance(np.random.default_rng(seed))
        encoded = LinearEncoding.of(columns, np.ones(len(columns[0].values)))
        assert np.array_equal(encoded.sparse_matrix(columns).toarray(), encoded.matrix(columns))


def test_what_is_found_is_a_threshold_and_never_below_the_regression(pooled):
    for seed in range(25):
        columns, residual = instance(np.random.default_rng(seed))
        regression = bind(LinearThresholds("regression"), columns).worst(residual[None])
        bound = bind(LinearThresholds(restarts=2), columns)
        assert isinstance(bound, PooledSearch)
        found = bound.worst(residual[None])
        value = abs(float(found.values[0]))
        assert abs(float(regression.values[0])) - 1e-9 <= value
        assert value <= worst(residual, columns) + 1e-9
        rule = bound.source.rule(found.keys[0])
        members = rule.members({column.name: column for column in columns})
        assert residual[members].sum() == pytest.approx(float(found.values[0]), abs=1e-9)


def test_proofs_from_there_close_the_bracket(pooled):
    for seed in range(15):
        columns, residual = instance(np.random.default_rng([5, seed]))
        bound = bind(LinearThresholds(restarts=2), columns)
        bracket = bound.prove(residual)
        true = worst(residual, columns)
        assert abs(float(bracket.found.values[0])) == pytest.approx(true, abs=1e-9)
        assert bracket.upper_bound == pytest.approx(true, abs=1e-9)
        members = selected(columns, bound, bracket)
        assert abs(residual[members].sum()) == pytest.approx(true, abs=1e-9)


def test_thousands_of_categories_are_neither_a_dense_matrix_nor_factorised(monkeypatch):
    """Their singular vectors alone took 166 s of a budget of 10."""
    monkeypatch.setattr(LinearEncoding, "matrix", lambda *_: pytest.fail("a dense design"))
    monkeypatch.setattr(np.linalg, "svd", lambda *_, **__: pytest.fail("a factorisation"))
    columns, residual = many(np.random.default_rng(0))
    bound = bind(LinearThresholds(restarts=1), columns)
    found = bound.worst(residual[None])
    by_age = np.bincount(columns[0].values.astype(int), residual)
    assert float(found.values[0]) >= np.maximum(by_age, 0.0).sum() - 1e-9, "any set of ages"
    # On their own, the ages' worst set is the worst threshold.
    alone = bind(LinearThresholds(restarts=0), columns[:1])
    assert float(alone.worst(residual[None]).values[0]) == pytest.approx(
        np.maximum(by_age, 0.0).sum()
    )


def test_scores_by_table_are_those_term_by_term():
    rng = np.random.default_rng(0)
    columns, _ = many(rng, 12, 40)
    columns = {**{c.name: c for c in columns}, "height": Column("height", rng.random(40))}
    terms = [Term("age", True, f"{i},5") for i in range(1, 12)]
    terms += [Term("sex", True, "M"), Term("height", False), Term("sex", True, "unheard of")]
    coefficients = tuple(rng.standard_normal(len(terms)).tolist())
    rule = LinearRule(tuple(terms), coefficients, 0.0, {"age": None, "sex": None, "height": None})
    expected = sum(
        c * t.evaluate(columns[t.attribute]) for t, c in zip(terms, coefficients, strict=True)
    )
    assert np.allclose(rule.scores(columns), expected, rtol=0, atol=1e-15)


def test_a_rule_is_found_from_a_sparse_design_too(pooled):
    """A proof finds members, and a linear program the rule that has them."""
    for seed in range(10):
        columns, residual = instance(np.random.default_rng([6, seed]))
        bound = bind(LinearThresholds(restarts=2), columns)
        found = bound.worst(residual[None])
        members = found.members[0] > 0
        counted = np.ones(len(members), dtype=bool)
        rule = separating_rule(columns, bound._encoding, members, counted)
        assert np.array_equal(rule.members({column.name: column for column in columns}), members)
