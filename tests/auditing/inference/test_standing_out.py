"""The groups that stand out from chance: against enumeration, brute force and Fisher's test."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest

from gerrymend import ExplicitGroups, audit
from gerrymend.auditing.examine import prove_each
from gerrymend.auditing.inference.disclosure import published_by
from gerrymend.auditing.inference.permutation import permutation_test
from gerrymend.auditing.inference.standing_out import NamedGroups, p_values_of
from gerrymend.auditing.sharpest import sharpest_group
from gerrymend.auditing.strata import stratified
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import (
    ERROR_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    STATISTICAL_PARITY,
)
from gerrymend.subgroups import Conjunctions
from gerrymend.subgroups.rules import Condition, Conjunction

TOWN = ["Au", "Au", "Au", "Ulm", "Ulm", "Ulm"]
SEX = ["F", "F", "M", "F", "M", "M"]


def tally_of(p, attributes, weight=None, y=None):
    weight = np.ones(len(p)) if weight is None else np.array(weight, float)
    cells = distinct_rows(read_columns(attributes))
    y = np.zeros(len(p), int) if y is None else y
    return Tally.of_rows(cells, y, np.array(p, float), weight)


def named_of(tally, min_group_size=2, notion=STATISTICAL_PARITY, subgroups=None, side="both"):
    (part,) = prove_each(tally, [notion], subgroups or Conjunctions(2), math.inf, side=side)
    return part, NamedGroups.of(part, min_group_size)


def who(named, tally):
    """Who is in each group, as the rows of a table of cells."""
    columns = {column.name: column for column in tally.columns}
    return [named.rules[i].members(columns) for i in range(len(named))]


def by_hand(inside, weights, outcomes, strata):
    """The sum of w·(u − mean of the stratum) over a group, in fractions."""
    total = Fraction(0)
    for stratum in set(strata):
        rows = [i for i, s in enumerate(strata) if s == stratum]
        mean = sum(weights[i] * outcomes[i] for i in rows) / sum(weights[i] for i in rows)
        total += sum(weights[i] * (outcomes[i] - mean) for i in rows if inside[i])
    return total


def dealt(outcomes, strata):
    """Every way to deal the outcomes to the rows of their strata."""
    places = [[i for i, s in enumerate(strata) if s == stratum] for stratum in sorted(set(strata))]
    for orders in itertools.product(*(itertools.permutations(rows) for rows in places)):
        given = list(outcomes)
        for rows, order in zip(places, orders, strict=True):
            for row, other in zip(rows, order, strict=True):
                given[row] = outcomes[other]
        yield given


@pytest.mark.parametrize("strata", [[0] * 6, [0, 1, 0, 0, 1, 1]])
@pytest.mark.parametrize("weights", [[1] * 6, [1, 2, 1, 3, 1, 2]])
@pytest.mark.parametrize("outcomes", [[1, 1, 0, 0, 1, 0], [0.5, 1, 0.25, 0, 0.75, 0.5]])
def test_deviations_are_those_of_all_permutations(outcomes, weights, strata):
    tally = tally_of(outcomes, {"town": TOWN, "sex": SEX}, weights)
    rows = tally.rows
    if len(set(strata)) > 1:
        tally = stratified(tally, distinct_rows(read_columns({"stratum": strata})))
    _, named = named_of(tally)
    assert len(named) == 6  # 2 towns, 2 sexes, the women of Au and the men of Ulm
    fractions = [Fraction(w) for w in weights]
    every = list(dealt(list(map(Fraction, outcomes)), strata))
    for i, cells in enumerate(who(named, tally)):
        inside = cells[rows.cell]
        values = [by_hand(inside, fractions, given, strata) for given in every]
        assert sum(values) == 0
        deviation = math.sqrt(sum(value**2 for value in values) / len(values))
        assert named.deviation[i] == pytest.approx(deviation, rel=1e-12)


def test_groups_are_all_intersections_that_are_large_enough():
    rng = np.random.default_rng(0)
    n = 300
    attributes = {
        "town": rng.choice(["Au", "Ulm", "Bonn"], n, p=[0.1, 0.4, 0.5]),
        "sex": rng.choice(["F", "M"], n),
        "job": rng.choice(["cook", "clerk", "smith"], n),
        "member": rng.choice(["no", "yes"], n),
    }
    tally = tally_of(rng.integers(0, 2, n), attributes)
    _, named = named_of(tally, min_group_size=10)
    cells = tally.rows.cell
    found = {tuple(np.flatnonzero(inside[cells])) for inside in who(named, tally)}
    expected = set()
    for k in (1, 2, 3):
        for names in itertools.combinations(attributes, k):
            for values in itertools.product(*(sorted(set(attributes[name])) for name in names)):
                inside = np.logical_and.reduce(
                    [attributes[name] == value for name, value in zip(names, values, strict=True)]
                )
                if 10 <= inside.sum() <= n - 10:
                    expected.add(tuple(np.flatnonzero(inside)))
    assert found == expected
    rows = [int(inside[cells].sum()) for inside in who(named, tally)]
    assert [int(named.members(i) @ tally.n_rows.sum(axis=0)) for i in range(len(named))] == rows


def in_parts(values, bins):
    """The part of equal weight that each value is in, by counting the rows below each cut."""
    distinct = sorted(set(values))
    below = [np.mean(np.array(values) < value) for value in distinct[1:]]
    cuts = {
        distinct[1:][int(np.argmin([abs(share - k / bins) for share in below]))]
        for k in range(1, bins)
    }
    return np.array([sum(value >= cut for cut in cuts) for value in values])


def test_groups_are_all_ranges_that_are_large_enough():
    """Sixteenths of one number, eighths where two meet, with each value of a category."""
    rng = np.random.default_rng(1)
    n = 400
    numbers = {"age": rng.integers(18, 81, n), "income": rng.permutation(n) ** 2}
    attributes = {**numbers, "town": rng.choice(["Au", "Ulm", "Bonn"], n, p=[0.02, 0.4, 0.58])}
    tally = tally_of(rng.integers(0, 2, n), attributes)
    _, named = named_of(tally, min_group_size=10)
    cells = tally.rows.cell
    found = [tuple(np.flatnonzero(inside[cells])) for inside in who(named, tally)]
    expected = set()
    towns = [np.ones(n, bool), *(attributes["town"] == town for town in ("Au", "Ulm", "Bonn"))]

    def masks(name, bins):
        part = in_parts(attributes[name].tolist(), bins)
        every = itertools.combinations(range(part.max() + 2), 2)
        return [(low <= part) & (part < high) for low, high in every]

    whole = [np.ones(n, bool)]
    pairs = [
        *itertools.product(masks("age", 16), whole),
        *itertools.product(whole, masks("income", 16)),
        *itertools.product(masks("age", 8), masks("income", 8)),
    ]
    for (age, income), town in itertools.product(pairs, towns):
        inside = age & income & town
        if 10 <= inside.sum() <= n - 10:
            expected.add(tuple(np.flatnonzero(inside)))
    assert set(found) == expected
    for i in range(0, len(named), 97):
        assert np.array_equal(named.members(i), who(named, tally)[i])


def test_a_category_whose_values_are_all_too_small_adds_no_group():
    """Its table has no lines, whatever numbers it meets: the groups are those without it."""
    n = 60
    age = np.arange(n)
    attributes = {"age": age, "height": age**2 % 61}
    decided = age % 2
    _, without = named_of(tally_of(decided, attributes), min_group_size=5)
    name = [f"person {i}" for i in range(n)]
    _, named = named_of(tally_of(decided, {"name": name, **attributes}), min_group_size=5)
    assert len(named) > 0
    assert [named.rules[i].describe() for i in range(len(named))] == [
        without.rules[i].describe() for i in range(len(without))
    ]


@pytest.mark.parametrize(
    "subgroups", [ExplicitGroups({"first": {"club": "club 0"}}), "marginals", Conjunctions(2)]
)
def test_where_no_group_is_large_enough_none_stands_out(subgroups):
    """Neither of those that are listed, nor of those that are made of values and ranges."""
    n = 40
    attributes = {"club": [f"club {i // 4}" for i in range(n)]}
    decided = np.arange(n) % 2
    report = audit(decided, decided, sensitive_features=attributes, notion="statistical_parity",
                   subgroups=subgroups, min_group_size=5, n_permutations=19)  # fmt: skip
    assert report.sharpest is None
    assert report.p_value == 1.0


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_draws_are_scored_over_every_group(sign):
    """The largest of each draw is that of all groups, one by one, less what their ends cost."""
    rng = np.random.default_rng(2)
    n = 200
    attributes = {"age": rng.integers(18, 81, n), "sex": rng.choice(["F", "M"], n)}
    tally = tally_of(rng.integers(0, 2, n), attributes)
    part, named = named_of(tally)
    named = replace(named, sign=sign)
    residuals = rng.standard_normal((3, len(part.seen.residual)))
    largest = np.zeros(3)
    for i, inside in enumerate(who(named, tally)):
        scores = residuals[:, inside].sum(axis=1) / named.deviation[i]
        ends = [end for one in named.rules[i].conditions for end in (one.low, one.high)]
        cost = 5.5 * np.isfinite(ends).sum()
        scores = np.abs(scores) if sign == 0 else np.maximum(sign * scores, 0)
        largest = np.maximum(largest, scores**2 - cost)
    np.testing.assert_allclose(named.largest(residuals), largest, rtol=1e-9)


def planted_ages(seed, n=6000, hit=0.74, usual=0.41):
    """Rows in which 80 positives, the ages from 26 to 37 of one town, are missed more often."""
    rng = np.random.default_rng([5, seed])
    attributes = {
        "sex": rng.choice(["F", "M"], n),
        "town": rng.choice(["Au", "Ulm", "Bonn", "Cork"], n, p=[0.15, 0.15, 0.2, 0.5]),
        "age": rng.integers(18, 81, n),
    }
    ages = (attributes["age"] >= 26) & (attributes["age"] <= 37)
    planted = (attributes["town"] == "Au") & ages
    y = (rng.random(n) < 0.5).astype(int)
    missed = rng.random(n) < np.where(planted, hit, usual)
    p = np.where(y == 1, ~missed, rng.random(n) < 0.2).astype(int)
    return y, p, attributes, planted


def test_the_ages_of_a_small_group_are_told_and_no_quarters():
    """By quarters half of those told were hit, and their rate was 10 points below the truth."""
    shared = []
    off = []
    for seed in range(12):
        y, p, attributes, planted = planted_ages(seed)
        sharpest = audit(
            y, p, sensitive_features=attributes, notion="false_negative_rate",
            favourable="positive", n_permutations=99, subgroups=Conjunctions(1, bins=4),
        ).sharpest  # fmt: skip
        if sharpest.subgroup is not None:
            inside = np.asarray(sharpest.subgroup.contains(attributes))
            shared.append((inside & planted).sum() / (inside | planted).sum())
            off.append(sharpest.subgroup.rate - (1 - p[planted & (y == 1)].mean()))
    assert len(shared) >= 9
    assert np.median(shared) > 0.75
    assert np.mean(np.abs(off)) < 0.06


def test_an_end_of_a_range_that_adds_little_is_not_told():
    """All ages of a town are hit: the best range of them is better by chance alone."""
    told = []
    further = 0
    for seed in range(20):
        rng = np.random.default_rng([3, seed])
        n = 3000
        town = rng.choice(["Au", "Ulm"], n, p=[0.05, 0.95])
        attributes = {"town": town, "age": rng.integers(18, 81, n)}
        p = (rng.random(n) < np.where(town == "Au", 0.75, 0.4)).astype(int)
        part, named = named_of(tally_of(p, attributes), 10, subgroups=Conjunctions(1, bins=4))
        scores = named.scores(part.seen.residual)
        told.append(named.rules[int(np.argmax(named.worth(scores)))].describe())
        further += "age" in named.rules[int(np.argmax(scores))].describe()
    assert sum("age" in words for words in told) <= 3 < further


@pytest.mark.parametrize("weights", [[1] * 6, [1, 2, 1, 3, 1, 2]])
def test_the_p_value_is_that_of_all_permutations(weights):
    outcomes = [1, 1, 0, 0, 1, 0]
    tally = tally_of(outcomes, {"town": TOWN, "sex": SEX}, weights)
    part, named = named_of(tally)
    people = list(zip(TOWN, SEX, strict=True))
    groups = [[one[at] == value for one in people] for at, value in enumerate(("Au", "F"))]
    groups += [[not inside for inside in group] for group in groups]
    groups += [[one == pair for one in people] for pair in (("Au", "F"), ("Ulm", "M"))]
    values = np.array(
        [
            [
                float(by_hand(inside, weights, list(map(Fraction, given)), [0] * 6))
                for inside in groups
            ]
            for given in dealt(outcomes, [0] * 6)
        ]
    )
    largest = np.abs(values / values.std(axis=0)).max(axis=1)
    exact = np.mean(largest >= largest[0] - 1e-9)  # the first way to deal is the one that was seen
    n = 4000
    test = permutation_test(tally, [part], n_permutations=n, random_state=3, named=[named])
    score = named.scores(part.seen.residual).max()
    assert score == pytest.approx(largest[0])
    assert len(test.maxima[0]) == n
    (found,) = p_values_of(np.array([score**2]), test.maxima[0], test.n_families)
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / n) + 2 / n)


def small_group_hit_hard(seed=0, n=6000, missed=0.75, usual=0.40):
    """Rows in which one small group's positives are missed far more often than the others'."""
    rng = np.random.default_rng(seed)
    attributes = {
        "sex": rng.choice(["F", "M"], n),
        "region": rng.choice(["North", "East", "South", "West"], n, p=[0.55, 0.2, 0.15, 0.1]),
        "ethnicity": rng.choice(["A", "B", "C", "D"], n, p=[0.6, 0.2, 0.15, 0.05]),
    }
    hit = (attributes["region"] == "West") & (attributes["ethnicity"] == "B")
    y = (rng.random(n) < 0.5).astype(int)
    positive = rng.random(n) >= np.where(hit, missed, usual)
    p = np.where(y == 1, positive, rng.random(n) < 0.2).astype(int)
    return y, p, attributes, hit


def test_a_small_group_that_is_hit_hard_is_found_where_the_largest_unfairness_is_chance():
    y, p, attributes, hit = small_group_hit_hard()
    report = audit(
        y, p, sensitive_features=attributes, notion="false_negative_rate", favourable="positive",
        n_permutations=199, subgroups=Conjunctions(2),
    )  # fmt: skip
    assert report.p_value > 0.05
    sharpest = report.sharpest
    assert sharpest.subgroup.describe() == "region = West and ethnicity = B"
    assert sharpest.p_value == 1 / 200
    inside = hit & (y == 1)
    assert sharpest.subgroup.rate == pytest.approx(1 - p[inside].mean())
    # By the variance of a hypergeometric count, of the rows of the group among all positives.
    rows, total = inside.sum(), (y == 1).sum()
    rate = 1 - p[y == 1].mean()
    deviation = math.sqrt(rows * rate * (1 - rate) * (total - rows) / (total - 1))
    off = (1 - p[inside]).sum() - rows * rate
    assert sharpest.deviations == pytest.approx(off / deviation)


def test_who_is_favoured_does_not_stand_out():
    """The group that is hit hard is treated best, where to be decided 0 is favourable."""
    y, p, attributes, _ = small_group_hit_hard(n=3000)
    groups = ExplicitGroups({"hit": {"region": "West", "ethnicity": "B"}})
    found = {
        favourable: audit(
            y, p, sensitive_features=attributes, notion="false_negative_rate", subgroups=groups,
            favourable=favourable, n_permutations=99,
        ).sharpest
        for favourable in ("positive", "negative", None)
    }  # fmt: skip
    assert found["positive"].p_value == 0.01
    assert found["positive"].subgroup.treated == "worse"
    assert found["negative"].subgroup is None
    assert found["negative"].p_value == 1.0
    assert found[None].p_value == 0.01


def test_only_groups_that_were_named_are_told():
    y, p, attributes, _ = small_group_hit_hard(n=3000)
    groups = ExplicitGroups({"women": {"sex": "F"}, "north": {"region": "North"}})
    report = audit(
        y, p, sensitive_features=attributes, notion="false_negative_rate", subgroups=groups,
        n_permutations=19,
    )  # fmt: skip
    assert report.sharpest.n_groups == 2


def test_one_that_discloses_gives_way_to_the_next():
    """Beside "Au or Bree" the rate of Au would tell of the four people of Bree."""
    town = np.repeat(["Au", "Bree", "Cork", "Dale"], [40, 4, 40, 800])
    sex = np.tile(["F", "M"], 442)
    p = np.r_[
        np.ones(40), np.zeros(4), np.tile([1, 1, 1, 1, 1, 1, 0, 0], 5), np.tile([1, 1, 0, 0], 200)
    ]
    tally = tally_of(p, {"town": town, "sex": sex})
    part, named = named_of(tally, min_group_size=10)
    test = permutation_test(tally, [part], n_permutations=99, named=[named])
    rule = Conjunction((Condition("town", ("Au", "Bree")),), {"town": "str"})
    told = part.seen.cells.as_treated(rule, part.seen.outcomes)

    def found(groups):
        published = published_by([part.seen], groups, 10)
        return sharpest_group([part.seen], [named], test, published, min_group_size=10)

    first, kept_back = found([])
    assert (first.subgroup.describe(), kept_back) == ("town = Au", False)
    second, kept_back = found([told])
    assert kept_back
    assert second.subgroup.describe() == "town = Dale"
    assert second.deviations < first.deviations
    (own,) = p_values_of(np.array([second.deviations**2]), test.maxima[0], 1)
    assert second.p_value == own


def test_weights_of_any_scale_make_the_same_scores():
    rng = np.random.default_rng(0)
    p, weight = rng.integers(0, 2, 60), rng.exponential(size=60)
    attributes = {"town": rng.choice(["Au", "Ulm"], 60), "sex": rng.choice(["F", "M"], 60)}
    scores = []
    for scale in (1.0, 1e-150, 1e150):
        part, named = named_of(tally_of(p, attributes, scale * weight))
        scores.append(named.scores(part.seen.residual))
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9)
    np.testing.assert_allclose(scores[2], scores[0], rtol=1e-9)


def test_no_test_no_sharpest_group():
    y, p, attributes, _ = small_group_hit_hard(n=400)
    assert audit(y, p, sensitive_features=attributes, subgroups="marginals").sharpest is None
    against = audit(y, p, sensitive_features=attributes, subgroups="marginals", reference=0.4,
                    n_permutations=19)  # fmt: skip
    assert against.sharpest is None
    assert against.p_value is None


def test_where_all_outcomes_are_alike_nothing_stands_out():
    report = audit([0] * 40, [1] * 40, sensitive_features={"sex": ["F", "M"] * 20},
                   notion="statistical_parity", n_permutations=19)  # fmt: skip
    assert report.sharpest.p_value == 1.0
    assert report.sharpest.subgroup is None


def null_sample(kind, rng, n=300):
    """Rows in which outcomes have nothing to do with the attributes: a tally, and its notions."""
    attributes = {"town": rng.choice(list("abcd"), n), "sex": rng.choice(["F", "M"], n),
                  "age": rng.integers(18, 70, n)}  # fmt: skip
    weight = rng.exponential(size=n) if kind == "weights" else None
    p = rng.random(n) if kind == "probabilities" else rng.integers(0, 2, n)
    tally = tally_of(p, attributes, weight, rng.integers(0, 2, n) if kind == "notions" else None)
    if kind == "strata":
        tally = stratified(tally, distinct_rows(read_columns({"job": rng.integers(0, 3, n)})))
    rates = (FALSE_POSITIVE_RATE, FALSE_NEGATIVE_RATE, ERROR_RATE)
    return tally, rates if kind == "notions" else (STATISTICAL_PARITY,)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rates", "weights", "probabilities", "strata", "notions"])
def test_p_values_are_uniform_where_nothing_differs(kind):
    n_samples = 2000
    n_draws = 39
    p_values = []
    for seed in range(n_samples):
        tally, notions = null_sample(kind, np.random.default_rng([7, seed]))
        examined = prove_each(tally, notions, Conjunctions(1, bins=4), math.inf)
        named = [NamedGroups.of(part, 10) for part in examined]
        test = permutation_test(
            tally, examined, n_permutations=n_draws, random_state=seed, named=named
        )
        largest = [groups.worth(groups.scores(part.seen.residual)).max()
                   for groups, part in zip(named, examined, strict=True)]  # fmt: skip
        found = [p_values_of(np.array([one]), test.maxima[i], test.n_families)[0]
                 for i, one in enumerate(largest)]  # fmt: skip
        p_values.append(min(found))
    found = np.array(p_values)
    for level in (0.05, 0.1, 0.25, 0.5):
        allowed = level + 3.1 * np.sqrt(level * (1 - level) / n_samples)
        assert np.mean(found <= level) <= allowed
    if kind != "notions":  # whose two families are corrected for, by Bonferroni
        # p is uniform on its steps: less a part of a step at random, on all of [0, 1].
        part = np.random.default_rng(0).random(n_samples) / (n_draws + 1)
        assert kstest(found - part, "uniform").pvalue > 1e-3
