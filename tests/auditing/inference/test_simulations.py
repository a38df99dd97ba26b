"""Draws of right scores and of signs, against every outcome, and the p-values they give."""

import itertools
import math

import joblib
import numpy as np
import pytest

from gerrymend import Multicalibration, audit
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.from_rows import Given, as_read, read_tally
from gerrymend.auditing.inference.simulations import RightScores, SignFlips, variance_by_cell
from gerrymend.auditing.inference.standing_out import NamedGroups
from gerrymend.inputs.classes import BY_LABEL
from gerrymend.notions import as_notions
from gerrymend.subgroups import as_subgroup_class


def rows(seed, n=40, *, weighted=True):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, n) / 2 if weighted else np.ones(n)
    return rng.integers(0, 5, n), weight, rng.integers(0, 5, n) / 4


def by_cell(draws, number):
    """The sums of so many draws, one a row."""
    return np.array([draws.draw(np.random.default_rng(seed))[0] for seed in range(number)])


@pytest.mark.parametrize("copies", [1, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_are_drawn_with_the_probabilities_of_their_scores(copies, weighted):
    """Mean 0 and the variance Σ w²·s·(1 − s), row by row or by binomial draws of equal ones."""
    cell, weight, score = (np.tile(one, copies) for one in rows(0, weighted=weighted))
    draws = RightScores(cell, weight, score, 5)
    assert (draws._counts is not None) == (copies == 20)
    sums = by_cell(draws, 4000)
    variance = np.bincount(cell, weight**2 * score * (1 - score), 5)
    error = 4 * np.sqrt(variance / 4000)
    assert (np.abs(sums.mean(axis=0)) <= error).all()
    # The variance of a sample variance of nearly normal sums is 2σ⁴/n.
    assert (np.abs(sums.var(axis=0) - variance) <= 6 * variance * math.sqrt(2 / 4000)).all()
    # A sum of weights that labels took, less what was predicted.
    least = -np.bincount(cell, weight * score, 5)
    assert (sums >= least - 1e-12).all()


def test_draws_of_labels_have_the_exact_distribution():
    """Three rows: the frequency of each sum, against all eight outcomes."""
    score = np.array([0.25, 0.5, 0.9])
    weight = np.array([1.0, 2.0, 4.0])
    draws = RightScores(np.zeros(3, dtype=np.intp), weight, score, 1)
    expected = {}
    for outcome in itertools.product((0, 1), repeat=3):
        chance = np.prod(np.where(outcome, score, 1 - score))
        expected[float(weight @ outcome)] = chance
    sums = by_cell(draws, 8000)[:, 0] + weight @ score
    for value, chance in expected.items():
        seen = np.mean(np.abs(sums - value) < 1e-9)
        assert abs(seen - chance) <= 4.5 * math.sqrt(chance * (1 - chance) / 8000)


def test_signs_are_drawn_with_even_chances():
    cell, weight, score = rows(1)
    errors = weight * (score - 0.4)
    sums = by_cell(SignFlips(cell, errors, 5), 4000)
    variance = np.bincount(cell, errors**2, 5)
    assert (np.abs(sums.mean(axis=0)) <= 4 * np.sqrt(variance / 4000)).all()
    assert (np.abs(sums.var(axis=0) - variance) <= 6 * variance * math.sqrt(2 / 4000)).all()


def test_a_draw_depends_on_what_rows_are_and_not_on_their_order():
    cell, weight, score = rows(2)
    order = np.random.default_rng(0).permutation(len(cell))
    for make in (
        lambda at: RightScores(cell[at], weight[at], score[at], 5),
        lambda at: SignFlips(cell[at], (weight * (score - 0.5))[at], 5),
        lambda at: SignFlips(cell[at], (-weight * (score - 0.5))[at], 5),
    ):
        one, other = (by_cell(make(at), 5) for at in (np.arange(len(cell)), order))
        assert one == pytest.approx(other, abs=1e-12)


def scored(seed, n, *, numbers=False, effect=0.0):
    rng = np.random.default_rng([seed, 11])
    town = rng.choice(["Au", "Bonn", "Ulm"], n)
    sex = rng.choice(["F", "M"], n)
    score = rng.beta(2, 2, n)
    chance = np.where((town == "Au") & (sex == "F"), np.clip(score - effect, 0, 1), score)
    happened = (rng.random(n) < chance).astype(int)
    if numbers:
        happened = chance + rng.normal(0, 0.3, n)
    return happened, score, {"town": town, "sex": sex}


def test_deviations_are_those_of_draws():
    """What groups that can be named are divided by: by hand, at all scores and within some."""
    y, p, features = scored(0, 400)
    weight = np.random.default_rng(0).integers(1, 4, 400) / 2
    given = Given(y, p, features, weight)
    tally = read_tally(None, given, BY_LABEL, as_notions("multiaccuracy"))
    (notion,) = as_read(as_notions("multiaccuracy"), tally)
    seen = tally.of_notion(notion)
    by_hand = weight**2 * p * (1 - p)
    assert variance_by_cell(seen).sum() == pytest.approx(by_hand.sum())
    bound = seen.bind(as_subgroup_class("marginals"))
    named = NamedGroups.of(Examined(seen, bound, bound.prove(seen.residual)), 10)
    for group, deviation in enumerate(named.deviation):
        inside = named.rules[group].contains(features)
        assert deviation == pytest.approx(math.sqrt(by_hand[inside].sum()))


def test_p_values_are_repeatable_and_tell_an_effect():
    for numbers in (False, True):
        y, p, features = scored(1, 600, numbers=numbers, effect=0.35)
        how = {"notion": Multicalibration(4), "subgroups": "conjunctions", "n_permutations": 49}
        first = audit(y, p, sensitive_features=features, **how)
        with joblib.parallel_config(backend="threading"):
            again = audit(y, p, sensitive_features=features, **how, n_jobs=2)
        assert first.p_value == again.p_value == 0.02
        null = "symmetric_errors" if numbers else "right_scores"
        assert first.permutation_test.null == first.to_dict()["null"] == null
        assert first.sharpest.subgroup is not None
        assert first.detectable < first.unfairness
        other = audit(y, p, sensitive_features=features, **how, random_state=5)
        assert other.detectable != first.detectable


def test_draws_that_are_cut_short_count_as_the_worst():
    y, p, features = scored(2, 400, effect=0.5)
    late = audit(
        y, p, sensitive_features=features, notion="multicalibration", n_permutations=19,
        budget=1e-9,
    )  # fmt: skip
    assert late.p_value is None
    assert "no permutation was searched" in late.permutation_test.reason


def rejected(number, **how):
    """Return in how many of so many samples with right scores p is 5 % or less."""
    found = 0
    for seed in range(number):
        y, p, features = scored(seed, 150, numbers=how.get("numbers", False))
        report = audit(
            y,
            p,
            sensitive_features=features,
            notion=how.get("notion", Multicalibration(5)),
            subgroups="conjunctions",
            n_permutations=39,
            random_state=seed,
        )
        found += report.p_value <= 0.05
    return found


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [False, True])
def test_right_scores_are_rejected_in_5_percent_of_samples(numbers):
    """A thousand samples: within three deviations of a binomial count of 50."""
    found = rejected(1000, numbers=numbers)
    assert abs(found - 50) <= 3 * math.sqrt(1000 * 0.05 * 0.95)
