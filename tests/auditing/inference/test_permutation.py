"""The permutation test against every permutation, and against rows dealt one by one."""

import itertools
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gerrymend import FairnessNotion, LinearThresholds, audit
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.inference import permutation
from gerrymend.auditing.inference.permutation import permutation_test
from gerrymend.auditing.inference.shuffles import CountShuffle, NumberShuffle, RowShuffle
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import ERROR_RATE, FALSE_POSITIVE_RATE, STATISTICAL_PARITY
from gerrymend.subgroups import Marginals
from gerrymend.subgroups.base import Bracket
from tests.marks import slow


def tally_of(y, p, attributes, weight=None):
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    cells = distinct_rows(read_columns(attributes))
    return Tally.of_rows(cells, np.asarray(y), np.asarray(p, float), weight)


def examined(tally, notion=FALSE_POSITIVE_RATE, subgroups=None):
    seen = tally.of_notion(notion)
    bound = seen.bind(subgroups or Marginals())
    return Examined(seen, bound, bound.prove(seen.residual))


def largest_by_hand(colours, weights, outcomes):
    """max over colours of |Σ_in w·(u − mean)|, in fractions."""
    mean = sum(w * u for w, u in zip(weights, outcomes, strict=True)) / sum(weights)
    return max(
        abs(sum((w * (u - mean) for c, w, u in zip(colours, weights, outcomes, strict=True)
                 if c == colour), Fraction(0)))
        for colour in set(colours)
    )  # fmt: skip


COLOURS = ["red", "red", "red", "blue", "blue", "green", "green"]
DECIDED = [1, 1, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("weights", [[1] * 7, [1, 2, 1, 3, 1, 1, 2]])
@pytest.mark.parametrize(
    "decided",
    [DECIDED, [1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0], [0.5, 3, 0.25, -1, -2, 1.5, 0.5]],
)
def test_the_p_value_is_that_of_all_permutations(weights, decided):
    fractions = [Fraction(w) for w in weights]
    observed = largest_by_hand(COLOURS, fractions, list(map(Fraction, decided)))
    every = [
        largest_by_hand(COLOURS, fractions, list(map(Fraction, dealt))) >= observed
        for dealt in itertools.permutations(decided)
    ]
    exact = sum(every) / len(every)
    # Two positives stand beside: they are in no false positive rate.
    y, p = [0] * 7 + [1, 1], [*decided, 1, 0]
    tally = tally_of(y, p, {"colour": [*COLOURS, "red", "blue"]}, [*weights, 1, 1])
    n = 4000
    found = permutation_test(tally, [examined(tally)], n_permutations=n, random_state=3)
    assert found.n_draws == n
    assert found.of_maximum
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / n) + 2 / n)


def test_dealing_counts_is_dealing_rows():
    """Mean and covariance of K of N rows over the cells, by formula and by each way to draw."""
    sizes = np.array([5, 1, 9, 3, 12])
    cell = np.repeat(np.arange(5), sizes)
    n, k = len(cell), 11
    decided = np.zeros(n)
    decided[:k] = 1
    tally = tally_of(np.zeros(n, int), decided, {"cell": cell})
    share = sizes / n
    mean = k * share
    covariance = k * (n - k) / (n - 1) * (np.diag(share) - np.outer(share, share))
    active = np.arange(5)
    for shuffle in (
        CountShuffle.of(tally, [FALSE_POSITIVE_RATE], active),
        NumberShuffle(sizes, decided),
        RowShuffle(cell, np.ones(n), decided[None], 5),
    ):
        rng = np.random.default_rng(0)
        draws = np.array([shuffle.draw(rng)[0] for _ in range(20_000)])
        assert (draws.sum(axis=1) == k).all()
        assert ((draws >= 0) & (draws <= sizes)).all()
        np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.08)


def test_outcomes_of_four_values_and_two_notions_are_dealt_together():
    """Rows are dealt as pairs of label and decision, so notions over the same rows stay tied."""
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    cell = rng.integers(0, 4, 60)
    four = FairnessNotion("four", event=(True, True), a=(1, 5), b=(2, -1))  # 1, 3, 5, 4
    tally = tally_of(y, p, {"cell": cell})
    notions, active = [four, ERROR_RATE, STATISTICAL_PARITY], np.arange(4)
    sizes = np.bincount(cell)
    for shuffle in (
        CountShuffle.of(tally, notions, active),
        RowShuffle(cell, np.ones(60), np.array([notion.outcome(y, p) for notion in notions]), 4),
    ):
        draws = np.array([shuffle.draw(rng) for _ in range(4000)])
        values = np.select([(y == 0) & (p == 0), (y == 0) & (p == 1), (y == 1) & (p == 0)],
                           [1, 3, 5], 4)  # fmt: skip
        for i, outcomes in enumerate((values, 1 * (y != p), p)):
            np.testing.assert_allclose(draws[:, i].sum(axis=1), outcomes.sum())
            np.testing.assert_allclose(
                draws[:, i].mean(axis=0),
                outcomes.mean() * sizes,
                atol=0.05 * np.ptp(outcomes) + 0.05,
            )
        # In each cell: four = 1·n00 + 3·n01 + 5·n10 + 4·n11, errors = n01 + n10, positives =
        # n01 + n11. With all three and the size, the counts must come out whole and not negative.
        system = np.array([[1, 3, 5, 4], [0, 1, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]])
        given = np.concatenate([draws, np.broadcast_to(sizes, (len(draws), 1, 4))], axis=1)
        counts = np.linalg.solve(system, given)
        np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
        assert (counts > -1e-9).all()


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    attributes = {"race": rng.choice(["blue", "green", "red"], n), "age": rng.integers(18, 70, n)}
    y, p = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return y, p, attributes, rng.random(n)


@pytest.mark.parametrize(
    ("notion", "weighted"),
    [
        ("false_positive_rate", False),
        ("error_rate", True),
        ("equalized_odds", True),
        slow("false_positive_rate", True),
        slow("error_rate", False),
        slow("equalized_odds", False),
    ],
)
def test_the_seed_decides_and_the_order_of_rows_does_not(weighted, notion):
    y, p, attributes, weight = data()

    def tested(order, seed=0):
        report = audit(
            y[order], p[order], notion=notion, n_permutations=39, random_state=seed,
            sensitive_features={name: values[order] for name, values in attributes.items()},
            sample_weight=weight[order] if weighted else None,
        )  # fmt: skip
        return report.p_value, report.detectable, report.n_permutations

    straight = np.arange(len(y))
    shuffled = np.random.default_rng(5).permutation(len(y))
    found = tested(straight)
    assert tested(straight) == found
    assert tested(shuffled) == pytest.approx(found, rel=1e-12)
    assert tested(straight, seed=1)[1] != found[1]


def test_probabilities_are_permuted_by_rows():
    y, _, attributes, weight = data()
    report = audit(y, weight, decision_probabilities=True, sensitive_features=attributes,
                   n_permutations=99)  # fmt: skip
    assert 0 < report.p_value <= 1
    assert report.detectable > 0


def test_more_draws_begin_with_the_same():
    tally = tally_of(*data()[:3])
    heard = []
    few, many = (
        permutation_test(tally, [examined(tally)], n_permutations=n,
                         on_draw=lambda done, of: heard.append((done, of)))
        for n in (39, 200)
    )  # fmt: skip
    # The largest of 39 draws can't exceed the largest of 200 that begin with them.
    assert many.n_draws == 200
    assert few.detectable is not None
    assert [done for done, of in heard if of == 39][-1] == 39
    assert all(done <= of for done, of in heard)


def test_time_is_up(monkeypatch):
    """After the second draw; before the first there is nothing to compare with."""
    tally = tally_of(*data()[:3])
    draws = []
    search = permutation.search
    monkeypatch.setattr(permutation, "search", lambda *how: draws.append(1) or search(*how))
    monkeypatch.setattr(time, "monotonic", lambda: float(len(draws)))
    found = permutation_test(tally, [examined(tally)], n_permutations=10_000, seconds=2.5)
    assert found.n_draws == 2
    assert found.p_value in (1 / 3, 2 / 3, 1.0)
    assert found.detectable is None
    for seconds in (0.5, 0.0):
        found = permutation_test(tally, [examined(tally)], n_permutations=10_000, seconds=seconds)
        assert (found.n_draws, found.p_value) == (0, None)
        assert f"no permutation was searched within {seconds:g} s" in found.reason


def test_detectable_is_what_must_be_exceeded():
    """With 19 draws p = 1/20 takes an unfairness above all of them; with 39, above the second."""
    y, p, attributes, _ = data(seed=4)
    tally = tally_of(y, p, attributes)
    part = examined(tally)
    shuffle = CountShuffle.of(tally, [FALSE_POSITIVE_RATE], part.seen.cells.active)
    dealt = [shuffle.draw(np.random.default_rng([0, 1, draw])) for draw in range(39)]
    draws = [
        np.abs(part.bound.worst(part.seen.centred(outcomes)).values[0]) / len(y)
        for outcomes in dealt
    ]
    for n, rank in ((18, None), (19, 1), (39, 2)):
        found = permutation_test(tally, [part], n_permutations=n)
        expected = None if rank is None else sorted(draws[:n])[-rank]
        assert found.detectable == pytest.approx(expected)
        at_least = sum(draw >= part.bracket.upper_bound / len(y) - 1e-12 for draw in draws[:n])
        assert found.p_value == (1 + at_least) / (1 + n)


def test_overlapping_events_are_two_tests():
    """Labels are permuted for the one and kept for the other: each p-value counts twice."""
    y, p, attributes, _ = data(seed=6)

    def tested(notion):
        return audit(y, p, sensitive_features=attributes, notion=notion, n_permutations=199,
                     subgroups="marginals")  # fmt: skip

    alone = [tested("equalized_odds"), tested("statistical_parity")]
    both = tested(("equalized_odds", "statistical_parity"))
    for own, test in zip(alone, both.permutation_test.families, strict=True):
        assert test.p_value == pytest.approx(min(1.0, 2 * own.p_value))
    largest = max(alone, key=lambda report: report.unfairness)
    assert both.p_value == pytest.approx(min(1.0, 2 * largest.p_value))


def test_only_weighted_sums():
    y, p, attributes, weight = data()
    tally = replace(tally_of(y, p, attributes, weight), rows=None)
    found = permutation_test(tally, [examined(tally)], n_permutations=99)
    assert (found.p_value, found.n_draws, found.detectable) == (None, 0, None)
    assert "only their sums are at hand" in found.reason
    counts = replace(tally_of(y, p, attributes), rows=None)
    assert permutation_test(counts, [examined(counts)], n_permutations=9).p_value is not None


def test_no_outcome_differs():
    y, _, attributes, _ = data()
    report = audit(y, y, sensitive_features=attributes, n_permutations=19)
    assert (report.p_value, report.detectable) == (1.0, 0.0)


class Prover:
    """A class that searches with half its groups, and proves with all of them."""

    exact = False

    def __init__(self, listed, *, gives_up=False):
        self._listed, self._gives_up = listed, gives_up
        self.asked = 0
        self.quick = self

    def worst(self, residuals):
        found = self._listed.worst(residuals)
        return found._replace(values=found.values * 0.9)

    def search(self, residual, *, seconds=np.inf):
        return self.worst(residual[None])

    def prove(self, residual, *, at_most=None, seconds=np.inf):
        self.asked += 1
        found = self._listed.worst(residual[None])
        if self._gives_up:
            return Bracket(found._replace(values=found.values * 0.9), float(np.abs(residual).sum()))
        return Bracket(found, abs(float(found.values[0])))


def test_draws_are_decided_by_proof_where_the_maximum_is_known():
    y, p, attributes, _ = data(seed=8)
    tally = tally_of(y, p, attributes)
    exact = examined(tally)
    expected = permutation_test(tally, [exact], n_permutations=99)
    prover = Prover(exact.bound)
    found = permutation_test(tally, [exact._replace(bound=prover)], n_permutations=99)
    assert found.of_maximum
    assert found.p_value == expected.p_value
    assert prover.asked > 0
    # A proof that ends undecided leaves the test of what the search finds, which is valid as well.
    prover = Prover(exact.bound, gives_up=True)
    found = permutation_test(tally, [exact._replace(bound=prover)], n_permutations=99)
    assert not found.of_maximum
    assert found.p_value == expected.p_value  # 0.9 of both sides
    assert prover.asked == 1


class Forgetful(Prover):
    """Finds the worst of the rows as they are, and a tenth of it in draws."""

    def worst(self, residuals):
        found = self._listed.worst(residuals)
        return found._replace(values=found.values * 0.1)

    def search(self, residual, *, seconds=np.inf):
        return self._listed.worst(residual[None])


def test_what_is_no_more_than_chance_is_not_above_what_is_detectable():
    """Proofs show that draws reach the maximum, where the search finds a tenth of it."""
    y, p, attributes, _ = data(seed=8)
    tally = tally_of(y, p, attributes)
    exact = examined(tally)
    found = permutation_test(tally, [exact._replace(bound=Forgetful(exact.bound))],
                             n_permutations=99)  # fmt: skip
    assert found.of_maximum
    assert found.p_value > 0.05
    assert found.searched <= found.detectable


def test_a_planted_group_is_no_chance():
    rng = np.random.default_rng(0)
    n = 400
    sex = rng.choice(["F", "M"], n)
    decided = rng.random(n) < np.where(sex == "M", 0.7, 0.3)
    report = audit(np.zeros(n, int), decided.astype(int), sensitive_features={"sex": sex},
                   subgroups=LinearThresholds(search="regression"), n_permutations=199)  # fmt: skip
    assert report.p_value == 1 / 200
    assert report.unfairness > report.detectable
    words = " ".join(str(report).split())
    assert "(p = 0.005; 199 shuffles can give no less)" in words
    assert "(199 permutations)" in words
    assert "not “none exceeds what is allowed”" in words
    plain = report.to_dict()
    assert (plain["p_value"], plain["n_permutations"]) == (1 / 200, 199)
