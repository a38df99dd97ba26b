"""Numbers that are dealt or drawn row by row: against all ways to do so, and moments by formula."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import chi2, poisson

from gerrymend import audit
from gerrymend.auditing.inference import resampling, shuffles
from gerrymend.auditing.inference._draw_kernel import (
    MOST_STEPS,
    STEPS,
    add_times,
    deal_most,
    random_word,
)
from gerrymend.auditing.inference.drawing import rarely_exceeded
from gerrymend.auditing.inference.resampling import _Lines, _one_by_one, _poisson
from gerrymend.auditing.inference.shuffles import (
    CountShuffle,
    NumberShuffle,
    Steps,
    _shuffle_of_numbers,
)
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import distinct_rows, read_columns

SIZES = np.array([400, 1, 90, 30, 250])


def numbers(cell, seed=0):
    """Skewed numbers, a few large, that go with the cell."""
    rng = np.random.default_rng(seed)
    return cell + rng.gamma(0.3, 4.0, len(cell)) + 50.0 * (rng.random(len(cell)) < 0.01)


def rows_of(cell, values, weight=None):
    weight = np.ones(len(cell)) if weight is None else weight
    cells = distinct_rows(read_columns({"cell": cell}))
    return _one_by_one([Tally.of_rows(cells, np.ones(len(cell), int), values, weight)])


def same_moments(draws, mean, covariance):
    """Compare mean and covariance of some draws: within 5 standard errors of theirs."""
    off = draws - mean
    products = off[:, :, None] * off[:, None]
    for came, wanted in ((off, np.zeros_like(mean)), (products, covariance)):
        error = came.std(axis=0) / np.sqrt(len(draws))
        np.testing.assert_array_less(np.abs(came.mean(axis=0) - wanted), 5 * error + 1e-9)


def fits(counts, chances):
    """Whether counts of all possible outcomes are as their chances say, by Pearson's test."""
    assert set(counts) <= set(chances)
    n = sum(counts.values())
    distance = sum((counts[key] - n * p) ** 2 / (n * p) for key, p in chances.items())
    return chi2.sf(distance, len(chances) - 1) > 1e-4


@pytest.fixture(params=[None, 0.0, 0.7, 1.0])
def means(request, monkeypatch):
    """How much is left to independent choices: what is said, nothing, much, and too much."""
    if request.param is not None:
        for module in (shuffles, resampling):
            monkeypatch.setattr(module, "rarely_exceeded", lambda sizes: request.param * sizes)


def test_every_way_to_deal_is_as_likely(means):
    """Six numbers to cells of 3, 2 and 1: 60 ways, told by the sums, however many choose a cell."""
    values = 2.0 ** np.arange(6)
    shuffle = NumberShuffle(np.array([3, 2, 1]), values)
    rng = np.random.default_rng(1)
    counts = Counter(tuple(shuffle.draw(rng)[0]) for _ in range(6000))
    ways = {
        (sum(first), sum(values) - sum(first) - last, last)
        for first in itertools.combinations(values, 3)
        for last in set(values) - set(first)
    }
    assert len(ways) == 60
    assert fits(counts, dict.fromkeys(ways, 1 / 60))


def test_dealt_sums_have_the_moments_of_a_permutation():
    """Cov = σ²·N/(N − 1)·(n_c·[c = d] − n_c·n_d/N), with σ² the variance of all N numbers."""
    cell = np.repeat(np.arange(5), SIZES)
    values = numbers(cell)
    n = len(cell)
    shuffle = NumberShuffle(SIZES, values)
    rng = np.random.default_rng(2)
    draws = np.array([shuffle.draw(rng)[0] for _ in range(8000)])
    np.testing.assert_allclose(draws.sum(axis=1), values.sum(), rtol=1e-12)
    covariance = values.var() * n / (n - 1) * (np.diag(SIZES) - np.outer(SIZES, SIZES) / n)
    same_moments(draws, values.mean() * SIZES, covariance)


@pytest.mark.parametrize(
    "values",
    [
        np.array([1e308, -1e308, 0.0, 3e307]),
        np.array([5e-324, 0.0, 1.5e-323]),
        np.array([1e6, 1e6 + 2.0**-20, 1e6 + 1e-3]),
        np.array([-7.25, 2.5, 1000.0]),
        np.array([4.2, 4.2]),
    ],
    ids=str,
)
def test_numbers_are_multiples_of_a_power_of_two(values):
    """Of any scale, to 2⁻⁴⁸ of their range; what is a multiple of such a power stays as it is."""
    steps = Steps.of(values)
    again = steps.total(steps.numbers.astype(float), np.ones(len(values)))
    assert steps.numbers.max() <= MOST_STEPS
    half_range = values.max() / 2 - values.min() / 2
    np.testing.assert_allclose(again, values, rtol=1e-15, atol=half_range * 2.0**-46)
    if values.max() < 1e300 and 4.2 not in values and 1e6 not in values:
        assert np.array_equal(again, values)


def test_no_slot_overflows():
    """Many of the largest numbers in few slots, which are emptied several times: none is lost."""
    numbers = np.full(50_000, MOST_STEPS, dtype=np.uint64)
    left = np.empty_like(numbers)
    sums = np.zeros((3, 2))
    n_left = deal_most(numbers, np.uint64(3), np.array([0, 20, 21, 60]), 64, sums, left)
    assert np.array_equal(sums[:, 0], sums[:, 1] * MOST_STEPS)
    assert sums[:, 1].sum() + n_left == len(numbers)
    assert set(left[:n_left]) == {MOST_STEPS}
    assert fits(
        Counter(dict(enumerate([*sums[:, 1], n_left]))),
        dict(enumerate(np.array([20, 1, 39, 4]) / 64)),
    )


@pytest.mark.parametrize("n_cells", [5_000, 70_000])
def test_more_cells_than_slots(n_cells):
    """Cells without a slot are filled with what is left: all numbers, each once."""
    large = 1_000_000 // n_cells * n_cells
    sizes = np.ones(n_cells, dtype=int)
    sizes[-1] = large
    values = np.arange(n_cells - 1.0 + large)
    shuffle = NumberShuffle(sizes, values)
    assert shuffle._chooses
    dealt = shuffle.draw(np.random.default_rng(0))[0]
    assert len(np.unique(dealt[:-1])) == n_cells - 1
    assert dealt.sum() == values.sum()


@pytest.mark.parametrize("few", [False, True])
def test_few_kinds_of_numbers_are_dealt_by_counts(few, monkeypatch):
    """All ways to deal 0, 0, 0, 1, 1 and 2.5 to cells of 3, 2 and 1, as often as of 720 orders."""
    monkeypatch.setattr(shuffles, "_ROWS_A_COUNT", 0.5 if few else 128)
    values = [1.0, 0.0, 2.5, 0.0, 1.0, 0.0]
    shuffle = _shuffle_of_numbers(np.array([3, 2, 1]), np.array(values))
    assert isinstance(shuffle, CountShuffle if few else NumberShuffle)
    orders = list(itertools.permutations(values))
    chances = Counter()
    for order in orders:
        chances[sum(order[:3]), sum(order[3:5]), order[5]] += 1 / len(orders)
    rng = np.random.default_rng(8)
    assert fits(Counter(tuple(shuffle.draw(rng)[0]) for _ in range(6000)), chances)


def test_few_kinds_of_rows_are_drawn_by_counts():
    """600 rows of two values in one cell, and one value in another: a multinomial draw of three."""
    cell = np.repeat([0, 1], [400, 400])
    values = np.repeat([3.0, 8.0, 5.0], [100, 300, 400])
    rows = rows_of(cell, values)
    assert isinstance(rows, _Lines)
    rng = np.random.default_rng(9)
    draws = np.array(
        [[*table[0][0, 1], *table[1][0, 1]] for [table] in (rows.draw(rng) for _ in range(8000))]
    )
    each = np.zeros((800, 4))
    each[np.arange(800), cell] = 1
    each[np.arange(800), 2 + cell] = values
    mean = each.sum(axis=0)
    same_moments(draws, mean, each.T @ each - np.outer(mean, mean) / 800)


def test_every_resample_is_as_likely_as_it_should_be(means):
    """Of 4 rows, how often each occurs: 4!/(Π times!)·4⁻⁴, told by the sums."""
    rows = rows_of(np.array([1, 1, 0, 2]), np.array([1.0, 5.0, 25.0, 125.0]))
    rng = np.random.default_rng(3)
    counts = Counter()
    for _ in range(8000):
        [(weight, positive)] = rows.draw(rng)
        assert weight.sum() == 4
        counts[positive.sum()] += 1
    chances = Counter()
    for drawn in itertools.product((1.0, 5.0, 25.0, 125.0), repeat=4):
        chances[sum(drawn)] += 4**-4
    assert len(chances) == math.comb(7, 3)
    assert fits(counts, chances)


@pytest.mark.parametrize("weighted", [False, True])
def test_resampled_sums_have_the_moments_of_a_multinomial_draw(weighted):
    """Of rows with the sums s by cell, Cov = Σ s·sᵀ − n·mean·meanᵀ, over both sums."""
    cell = np.repeat(np.arange(5), SIZES)
    values = numbers(cell, 1)
    n = len(cell)
    weight = np.random.default_rng(4).integers(1, 4, n) / 2 if weighted else np.full(n, 2.0)
    rows = rows_of(cell, values, weight)
    each = np.zeros((n, 10))
    each[np.arange(n), cell] = weight
    each[np.arange(n), 5 + cell] = weight * values
    rng = np.random.default_rng(5)
    draws = np.array([np.ravel([table[0, 1] for table in rows.draw(rng)[0]]) for _ in range(8000)])
    mean = each.sum(axis=0)
    same_moments(draws, mean, each.T @ each - np.outer(mean, mean) / n)
    if not weighted:
        np.testing.assert_allclose(draws[:, :5].sum(axis=1), 2 * n)


@pytest.mark.parametrize("n", [1, 30, 10**6])
def test_times_are_those_of_a_poisson_variable(n):
    """What chance tells and what it leaves open are together SciPy's probabilities."""
    cuts, rest = _poisson(n)
    mean = rarely_exceeded(np.array([float(n)]))[0] / n
    cuts = [int(cut) for cut in cuts]
    whole = np.diff(cuts, prepend=0) / STEPS
    assert (whole >= 0).all()
    chances = (1 - cuts[-1] / STEPS) * np.diff(rest, prepend=0)
    chances[:8] += whole
    assert (np.diff(rest) >= 0).all()
    assert rest[-1] == 1
    assert chances == pytest.approx(poisson.pmf(np.arange(len(rest)), mean), abs=1e-15)
    assert STEPS - 8 <= cuts[-1] < STEPS
    assert poisson.sf(len(rest) - 1, mean) < 2.0**-100


def times_of(n, seed):
    """How often each of n rows occurs in a draw before the missing ones, each by itself."""
    cuts, rest = _poisson(n)
    sums = np.zeros((n, 2))
    rows = np.arange(n + 1)
    add_times(rows, rows[:-1], np.ones(n), np.uint64(seed), cuts, rest, sums)
    assert np.array_equal(sums[:, 0], sums[:, 1])
    return sums[:, 0]


def test_rows_that_follow_each_other_are_summed_together():
    """Runs of all lengths, which begin and end within what is drawn at once and across."""
    rng = np.random.default_rng(11)
    lengths = np.append(rng.integers(1, 70, 100), [1, 31, 32, 33, 2047, 2048, 2049, 5000])
    rng.shuffle(lengths)
    n = lengths.sum()
    starts = np.append(0, np.cumsum(lengths))
    keys = rng.integers(0, 50, len(lengths))
    values = rng.normal(size=n)
    sums = np.zeros((50, 2))
    cuts, rest = _poisson(n)
    add_times(starts, keys, values, np.uint64(12), cuts, rest, sums)
    times = times_of(n, 12)
    row_keys = np.repeat(keys, lengths)
    assert np.array_equal(sums[:, 0], np.bincount(row_keys, times, 50))
    np.testing.assert_allclose(sums[:, 1], np.bincount(row_keys, times * values, 50), atol=1e-9)


def test_rows_occur_as_often_as_a_poisson_variable():
    """Also those of which a step of [0, 1) doesn't tell: of 2,000,000 rows, by Pearson's test."""
    n = 2_000_000
    times = times_of(n, 5)
    mean = rarely_exceeded(np.array([float(n)]))[0] / n
    counts = Counter(np.minimum(times, 8).astype(int).tolist())
    chances = {k: poisson.pmf(k, mean) for k in range(8)} | {8: poisson.sf(7, mean)}
    assert fits(counts, chances)
    # Neighbours, and rows whose words are of two blocks, have nothing to do with each other.
    for lag in (1, 2, 3, 4, 512, 2048):
        ahead, behind = times[lag:] - mean, times[:-lag] - mean
        assert abs((ahead * behind).mean()) < 5 * mean / np.sqrt(n)


def test_chance_is_what_was_published():
    """The first words of SplitMix64 with the seed 1234567, by others."""
    words = [random_word(np.uint64(1234567), place) for place in range(3)]
    assert words == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("control", [False, True])
def test_neither_the_order_of_rows_nor_workers_change_a_draw(control):
    rng = np.random.default_rng(6)
    n = 1500
    attributes = {"race": rng.choice(["blue", "green", "red"], n), "age": rng.integers(20, 24, n)}
    hall = {"hall": rng.integers(0, 2, n)}
    values = numbers(rng.integers(0, 2, n), 7).round(1)

    def audited(order, seed=0, **how):
        report = audit(
            None, values[order], notion="mean_outcome", subgroups="conjunctions",
            sensitive_features={name: column[order] for name, column in attributes.items()},
            control_features={"hall": hall["hall"][order]} if control else None,
            n_permutations=19, confidence=0.9, n_resamples=19, random_state=seed, **how,
        )  # fmt: skip
        return report.p_value, report.detectable, report.population.distances

    straight = np.arange(n)
    p_value, detectable, distances = audited(straight)
    for came in (audited(rng.permutation(n)), audited(straight)):
        assert came[:2] == pytest.approx((p_value, detectable), rel=1e-12)
        assert came[2] == pytest.approx(distances, rel=1e-9)
    with parallel_config(backend="threading"):
        assert audited(straight, n_jobs=2) == (p_value, detectable, distances)
    assert audited(straight, seed=1)[1] != detectable
