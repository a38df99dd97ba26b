"""Proofs over columns as audits have them: brackets against every threshold, and the paper's."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gerrymend import LinearThresholds, audit
from gerrymend.checker.dichotomies import dichotomies
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.notions import FALSE_POSITIVE_RATE
from tests.conftest import load_paper
from tests.subgroups.brute_force import bind

seeds = st.integers(0, 1_000_000)
SEARCH = LinearThresholds(restarts=2)


def instance(rng, *, most_rows=11):
    """Columns of either kind, with constant ones among them, and a residual that sums to 0."""
    n = int(rng.integers(2, most_rows))
    columns = []
    for j in range(int(rng.integers(1, 4))):
        codes = rng.integers(0, int(rng.integers(1, 5)), n).astype(float)
        if rng.random() < 0.4:
            levels, codes = np.unique(codes, return_inverse=True)
            columns.append(Column(f"c{j}", codes.astype(float), tuple("abcd"[: len(levels)])))
        else:
            columns.append(Column(f"n{j}", np.round(codes * 0.7 - 1, 1)))
    columns = distinct_rows(columns).columns
    return columns, draw_residual(rng, len(columns[0].values))


def draw_residual(rng, m):
    residual = rng.integers(-4, 5, m) / 8.0 if rng.random() < 0.7 else rng.standard_normal(m)
    residual[rng.integers(m)] -= residual.sum()
    return residual


def every_group(columns):
    """Masks of every threshold; categories as indicators, numbers as the decimals they print as."""
    x = []
    for column in columns:
        if column.is_categorical:
            x += [[Fraction(int(v == c)) for v in column.values] for c in np.unique(column.values)]
        else:
            x.append([Fraction(repr(float(v))) for v in column.values])
    rows = list(zip(*x, strict=True))
    distinct = sorted(set(rows))
    place = np.array([distinct.index(row) for row in rows])
    for mask in dichotomies(distinct):
        yield np.array([(mask >> i) & 1 for i in range(len(distinct))], dtype=bool)[place]


def worst(residual, columns):
    groups = np.array(list(every_group(columns)))
    return float(np.abs(groups @ residual).max())


def selected(columns, bound, bracket):
    rule = bound.source.rule(bracket.found.keys[0])
    return rule.members({column.name: column for column in columns})


@pytest.mark.parametrize("block", range(4))
def test_the_bracket_closes_on_the_worst_of_all(block):
    for seed in range(40):
        columns, residual = instance(np.random.default_rng([block, seed]))
        bound = bind(SEARCH, columns)
        bracket = bound.prove(residual)
        found = float(bracket.found.values[0])
        assert abs(found) == pytest.approx(worst(residual, columns), abs=1e-9)
        assert bracket.upper_bound == pytest.approx(abs(found), abs=1e-9)
        members = selected(columns, bound, bracket)
        assert residual[members].sum() == pytest.approx(found, abs=1e-9), "what the rule says"


@given(seeds)
def test_regression_search_and_proof_in_this_order(seed):
    columns, residual = instance(np.random.default_rng(seed))
    regression = bind(LinearThresholds("regression"), columns).worst(residual[None])
    search = bind(SEARCH, columns).worst(residual[None])
    proven = bind(SEARCH, columns).prove(residual).upper_bound
    assert abs(regression.values[0]) <= abs(search.values[0]) + 1e-9
    assert abs(search.values[0]) <= proven + 1e-9


@given(seeds, st.sampled_from([0.0, 0.0005, 0.003]))
def test_a_bracket_holds_whenever_it_ends(seed, seconds):
    columns, residual = instance(np.random.default_rng(seed))
    bracket = bind(LinearThresholds(restarts=0), columns).prove(residual, seconds=seconds)
    true = worst(residual, columns)
    assert abs(bracket.found.values[0]) <= true + 1e-9 <= bracket.upper_bound + 2e-9


@given(seeds, st.sampled_from([0.0, 0.6, 0.999, 1.0, 1.001, 2.0]))
def test_at_most_is_decided(seed, factor):
    columns, residual = instance(np.random.default_rng(seed))
    true = worst(residual, columns)
    limit = factor * true + 1e-12
    bracket = bind(LinearThresholds(restarts=0), columns).prove(residual, at_most=limit)
    found = abs(float(bracket.found.values[0]))
    assert found <= true + 1e-9 <= bracket.upper_bound + 2e-9
    if true > limit + 1e-9:
        assert found > limit
    else:
        assert bracket.upper_bound <= limit + 1e-9


# --- Numbers ---


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200, 1e12, -3.0])
def test_the_size_of_numbers_does_not_matter(scale):
    rng = np.random.default_rng(4)
    for _ in range(8):
        x = rng.integers(0, 4, (10, 2)).astype(float)
        columns = distinct_rows([Column("a", x[:, 0] * scale), Column("b", x[:, 1])]).columns
        residual = draw_residual(rng, len(columns[0].values))
        bracket = bind(SEARCH, columns).prove(residual)
        true = worst(residual, columns)
        assert abs(bracket.found.values[0]) == pytest.approx(true, abs=1e-9)
        assert bracket.upper_bound == pytest.approx(true, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: rng.random(size),
        lambda rng, size: rng.integers(2**53, 2**62, size).astype(float),
        lambda rng, size: -rng.standard_normal(size) * 1e-5,
    ],
)
def test_digits_as_they_come(d, draw):
    rng = np.random.default_rng(d)
    for _ in range(3):
        columns = [Column(f"n{j}", v) for j, v in enumerate(draw(rng, (d, 12)))]
        columns = distinct_rows(columns).columns
        residual = draw_residual(rng, len(columns[0].values))
        bracket = bind(SEARCH, columns).prove(residual, seconds=20.0)
        true = worst(residual, columns)
        assert bracket.upper_bound == pytest.approx(true, abs=1e-9)
        assert abs(bracket.found.values[0]) <= true + 1e-9


@pytest.mark.parametrize("d", [1, 2])
def test_sums_that_are_off_in_the_last_digit(d):
    """0.1 + 0.2 is not 0.3. One attribute is exact; of two, a bracket may stay open, but holds."""
    rng = np.random.default_rng(d)
    for _ in range(6):
        x = rng.integers(0, 4, (d, 10)) * 0.1 + rng.integers(0, 4, (d, 10)) * 0.2
        columns = distinct_rows([Column(f"n{j}", v) for j, v in enumerate(x)]).columns
        residual = draw_residual(rng, len(columns[0].values))
        bracket = bind(SEARCH, columns).prove(residual, seconds=0.2)
        true = worst(residual, columns)
        assert bracket.upper_bound >= true - 1e-9
        assert d > 1 or bracket.upper_bound == pytest.approx(true, abs=1e-9)


def test_numbers_of_all_sizes_in_one_column():
    """Nothing overflows; what cannot be told apart in floats may stay undecided, honestly."""
    x = np.array([[1e-300, 1.0], [1.0, 2.0], [1e300, 0.0], [0.0, 3.0], [-1e300, 1.5]])
    columns = distinct_rows([Column("a", x[:, 0]), Column("b", x[:, 1])]).columns
    residual = np.array([1.0, -1.0, 1.0, -1.0, 0.0])
    bracket = bind(SEARCH, columns).prove(residual, seconds=0.3)
    true = worst(residual, columns)
    assert abs(bracket.found.values[0]) <= true <= bracket.upper_bound + 1e-9


def test_almost_the_same_attribute_twice():
    """Income before and after a fee of one: their difference is a direction too."""
    income = np.arange(8) * 1e9
    fee = np.array([0.0, 1.0] * 4)
    columns = distinct_rows([Column("before", income), Column("after", income + fee)]).columns
    residual = np.where(columns[1].values % 10 == 1, 1.0, -1.0)
    assert bind(SEARCH, columns).prove(residual, seconds=5).upper_bound == 4.0


# --- More attributes than a proof can take at once ---


def many_columns(rng, *, n, count, most_values):
    columns = [
        Column(f"a{j}", rng.integers(0, int(rng.integers(2, most_values + 1)), n).astype(float))
        for j in range(count)
    ]
    return distinct_rows(columns).columns


@pytest.mark.parametrize("seed", range(6))
def test_pairs_of_many_attributes(seed):
    """Rows that differ elsewhere coincide in a pair, and their weights may cancel."""
    rng = np.random.default_rng(seed)
    columns = many_columns(rng, n=16, count=10 + seed % 2, most_values=3)
    residual = draw_residual(rng, len(columns[0].values))
    bracket = bind(SEARCH, columns).prove(residual, seconds=3.0)
    bounds = [bound for _, bound in bracket.partial]
    pairs = max(worst(residual, pair) for pair in itertools.combinations(columns, 2))
    assert bounds[0] == pytest.approx(pairs, abs=1e-9)
    assert sorted(bounds) == bounds
    assert [words for words, _ in bracket.partial] == [
        f"every linear threshold of at most {k} of the attributes"
        for k in range(2, 2 + len(bounds))
    ]
    assert max(abs(bracket.found.values[0]), bounds[-1]) <= bracket.upper_bound + 1e-9
    assert abs(bracket.found.values[0]) >= bounds[-1] - 1e-9, "what was found in a part is kept"


@pytest.mark.parametrize("seed", range(3))
def test_triples_of_many_binary_attributes(seed):
    rng = np.random.default_rng(seed)
    columns = many_columns(rng, n=20, count=10, most_values=2)
    residual = draw_residual(rng, len(columns[0].values))
    bounds = [bound for _, bound in bind(SEARCH, columns).prove(residual, seconds=4.0).partial]
    triples = max(worst(residual, three) for three in itertools.combinations(columns, 3))
    assert bounds[1] == pytest.approx(triples, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_at_most_over_parts(seed):
    rng = np.random.default_rng(seed)
    columns = many_columns(rng, n=16, count=10, most_values=3)
    residual = draw_residual(rng, len(columns[0].values))
    pairs = max(worst(residual, pair) for pair in itertools.combinations(columns, 2))
    bracket = bind(SEARCH, columns).prove(residual, at_most=0.9 * pairs, seconds=5.0)
    assert abs(bracket.found.values[0]) > 0.9 * pairs
    assert bracket.upper_bound >= pairs - 1e-9


def test_the_words_select_what_was_measured():
    rng = np.random.default_rng(8)
    n = 60
    for k in (2, 4, 10):
        frame = {f"a{j}": rng.integers(0, 4, n) for j in range(k)}
        frame["g"] = rng.choice(list("xyz"), n)
        y, p = np.r_[0, 1, rng.integers(0, 2, n - 2)], rng.integers(0, 2, n)
        report = audit(y, p, sensitive_features=frame, min_group_size=1, budget=1.0)
        members = report.worst.contains(frame)
        value = FALSE_POSITIVE_RATE.unfairness(y, p, members)
        assert report.worst.unfairness == pytest.approx(value, abs=1e-12)
        assert report.unfairness == pytest.approx(abs(value), abs=1e-12)


# --- The paper's data ---


def audit_of_logistic_regression(name, first=None, **options):
    features, y, protected = load_paper(name)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    decisions = model.fit(features, y).predict(features)
    return audit(y, decisions, sensitive_features=protected.iloc[:, :first], **options)


@pytest.mark.parametrize(
    ("name", "first", "expected"),
    [
        ("lawschool", None, 0.035176),
        ("adult", None, 0.044212),
        ("student", None, 0.035879),
        ("communities", 3, 0.029935),
        ("communities", 4, 0.030653),
        pytest.param("communities", 5, 0.031164, marks=pytest.mark.slow),
    ],
)
def test_the_worst_of_the_papers_data_is_proven(name, first, expected):
    report = audit_of_logistic_regression(name, first, budget=120.0)
    assert report.exact
    assert report.upper_bound == pytest.approx(report.unfairness, abs=1e-12)
    assert round(report.unfairness, 6) == expected


@pytest.mark.slow
def test_pairs_and_triples_of_the_eighteen_attributes():
    report = audit_of_logistic_regression("communities", budget=60.0)
    bounds = [round(bound, 6) for _, bound in report.partial]
    assert bounds[:2] == [0.030590, 0.031837]
    assert report.unfairness >= 0.031837
