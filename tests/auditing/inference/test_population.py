"""The bound for the people behind the rows: by brute force, by hand, and by its coverage."""

import itertools
import math

import numpy as np
import pytest
from joblib import parallel_config

from gerrymend import Conjunctions, ExplicitGroups, audit, audit_counts
from gerrymend.auditing.inference.planning import quantile, rows_for_power, rows_to_tell

RACES = np.array(["blue", "green", "red"])
SEXES = np.array(["F", "M"])


def people(n, seed, effect=0.3):
    """Some people, and decisions that are harder on the blue women among them."""
    rng = np.random.default_rng(seed)
    race, sex = rng.integers(0, 3, n), rng.integers(0, 2, n)
    p = (rng.random(n) < 0.3 + effect * ((race == 0) & (sex == 0))).astype(int)
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": p,
        "sensitive_features": {"race": RACES[race], "sex": SEXES[sex]},
    }


def conjunctions(race, sex):
    """Every conjunction of race and sex, as masks."""
    races = [np.ones(len(race), bool), *(race == one for one in RACES)]
    sexes = [np.ones(len(race), bool), *(sex == one for one in SEXES)]
    return [one & other for one, other in itertools.product(races, sexes)]


def unfairness(mask, event, u, weight):
    """Share times gap, from the definition."""
    inside = mask & event
    if not weight[inside].sum():
        return 0.0
    rate = np.average(u[inside], weights=weight[inside])
    gap = rate - np.average(u[event], weights=weight[event])
    return weight[inside].sum() / weight.sum() * gap


def resampled_rows(seed, draw, weight, p, y, cell):
    """As many rows with replacement, by number, in the order of cell, label, decision, weight."""
    n = len(y)
    order = np.lexsort((weight, p, y, cell))
    return order[np.random.default_rng([seed, 2, draw]).integers(0, n, n)]


@pytest.mark.parametrize("side", ["both", "disadvantaged"])
def test_distances_of_weighted_rows_are_those_over_all_groups(side):
    data = people(60, 1)
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 5, 60) / 2
    y, p = data["y_true"], data["y_pred"]
    race, sex = data["sensitive_features"].values()
    report = audit(**data, sample_weight=weight, subgroups=Conjunctions(), random_state=7,
                   favourable="negative", side=side, confidence=0.9, n_resamples=12,
                   min_group_size=1)  # fmt: skip
    cell = np.searchsorted(RACES, race) * 2 + np.searchsorted(SEXES, sex)
    groups = conjunctions(race, sex)
    there = [unfairness(group, y == 0, p, weight) for group in groups]
    expected = []
    for draw in range(12):
        rows = resampled_rows(7, draw, weight, p, y, cell)
        drawn = [unfairness(group[rows], y[rows] == 0, p[rows], weight[rows]) for group in groups]
        moved = np.array(there) - drawn  # positives that are wrongly decided are worse off
        expected.append(np.max(moved if side == "disadvantaged" else np.abs(moved), initial=0.0))
    assert report.population.distances == pytest.approx(sorted(expected), abs=1e-12)
    assert not report.population.approximate


def test_distances_of_counts_are_those_over_all_groups_and_notions():
    data = people(80, 3)
    y, p = data["y_true"], data["y_pred"]
    race, sex = data["sensitive_features"].values()
    report = audit(**data, subgroups=Conjunctions(), notion="equalized_odds", random_state=5,
                   confidence=0.9, n_resamples=9, min_group_size=1)  # fmt: skip
    cells = np.searchsorted(RACES, race) * 2 + np.searchsorted(SEXES, sex)
    counts = np.zeros((2, 2, 6))  # decision, label, cell
    np.add.at(counts, (p, y, cells), 1)
    kinds = np.array([*np.ndindex(2, 2, 6)])
    groups = conjunctions(RACES[kinds[:, 2] // 2], SEXES[kinds[:, 2] % 2])

    def values(n):
        decided = kinds[:, 0]
        events = [kinds[:, 1] == label for label in (0, 1)]
        return np.array([unfairness(g, event, decided, n) for g in groups for event in events])

    there = values(counts.ravel())
    expected = []
    for draw in range(9):
        rng = np.random.default_rng([5, 2, draw])
        drawn = rng.multinomial(80, counts.ravel() / 80).astype(float)
        expected.append(np.abs(values(drawn) - there).max())
    assert report.population.distances == pytest.approx(sorted(expected), abs=1e-12)
    c = report.population.distance
    # The last of 9 is ⌈0.9·10⌉, and above what outcomes could make that no row has.
    assert c == pytest.approx(max(*expected, math.log(10) / 80))
    assert report.population_bound == pytest.approx(report.upper_bound + c)
    assert report.population.lower_bound == pytest.approx(max(0.0, report.unfairness - c))


def test_within_strata_distances_are_sums_over_them():
    data = people(90, 9)
    p = data["y_pred"]
    race, sex = data["sensitive_features"].values()
    hall = np.random.default_rng(10).integers(0, 3, 90)
    report = audit(None, p, sensitive_features=data["sensitive_features"], random_state=2,
                   control_features={"hall": hall}, notion="statistical_parity",
                   subgroups=Conjunctions(), confidence=0.8, n_resamples=7)  # fmt: skip
    kinds = np.array([*np.ndindex(2, 3, 2, 6)])  # decision, stratum, label (none), cell
    counts = np.zeros((2, 3, 2, 6))
    cells = np.searchsorted(RACES, race) * 2 + np.searchsorted(SEXES, sex)
    np.add.at(counts, (p, hall, 0, cells), 1)
    groups = conjunctions(RACES[kinds[:, 3] // 2], SEXES[kinds[:, 3] % 2])

    def values(n):
        strata = [kinds[:, 1] == one for one in range(3)]
        return np.array([sum(unfairness(g, one, kinds[:, 0], n) for one in strata) for g in groups])

    there = values(counts.ravel())
    expected = []
    for draw in range(7):
        drawn = np.random.default_rng([2, 2, draw]).multinomial(90, counts.ravel() / 90)
        expected.append(np.abs(values(drawn.astype(float)) - there).max())
    assert report.population.distances == pytest.approx(sorted(expected), abs=1e-12)


def test_linear_thresholds_are_proven_or_called_approximate():
    rng = np.random.default_rng(0)
    n = 80
    near = {"y_true": np.zeros(n, int), "y_pred": rng.integers(0, 2, n)}
    ages = {"age": rng.integers(0, 9, n), "income": rng.integers(0, 5, n)}
    proven = audit(**near, sensitive_features=ages, confidence=0.9, n_resamples=19).population
    assert not proven.approximate
    # The same groups, listed: half-planes over 45 points would be many, over one number they are
    # the 2·9 rays, which intervals of conjunctions include.
    one = {"age": ages["age"]}
    linear = audit(**near, sensitive_features=one, confidence=0.9, n_resamples=19).population
    rays = audit(**near, sensitive_features=one, confidence=0.9, n_resamples=19,
                 subgroups=Conjunctions(numeric="half_lines")).population  # fmt: skip
    assert not linear.approximate
    assert linear.distances == pytest.approx(rays.distances, abs=1e-12)
    many = rng.standard_normal((n, 9))
    hard = audit(**near, sensitive_features=many, confidence=0.9, n_resamples=19, budget=1.0)
    assert hard.population.approximate
    assert "with about 90 % confidence" in " ".join(str(hard).split())
    assert "It is approximate" in " ".join(str(hard).split())


def test_workers_make_the_same_and_counts_are_enough():
    data = people(300, 4)
    asked = {"subgroups": "conjunctions", "confidence": 0.95, "n_resamples": 40}
    alone = audit(**data, **asked)
    with parallel_config(backend="threading"):
        assert audit(**data, **asked, n_jobs=2).population == alone.population
    table = {"label": data["y_true"], "prediction": data["y_pred"], **data["sensitive_features"],
             "count": np.ones(300, int)}  # fmt: skip
    counted = audit_counts(table, sensitive_features=["race", "sex"], **asked)
    assert counted.population == alone.population
    assert audit(**data, subgroups="conjunctions").population is None
    assert audit(**data, subgroups="conjunctions").population_bound is None


def test_numbers_of_two_notions_are_of_the_same_rows():
    """By brute force: one draw of rows, and the farthest of all groups over both means."""
    rng = np.random.default_rng(5)
    n = 50
    y, days = rng.gamma(2.0, 3.0, (2, n)).round(1)
    race = rng.choice(RACES, n)
    notions = ("absolute_error", "squared_error")
    report = audit(y, days, sensitive_features={"race": race}, notion=notions, random_state=3,
                   subgroups="marginals", confidence=0.8, n_resamples=9, gamma=0.1)  # fmt: skip
    off = np.abs(y - days)
    squared = (y - days) ** 2
    order = np.lexsort((off, squared, np.searchsorted(RACES, race)))
    everyone = np.ones(n, bool)

    def values(rows):
        return np.array([unfairness((race == one)[rows], everyone, u[rows], np.ones(n))
                         for one in RACES for u in (off, squared)])  # fmt: skip

    there = values(np.arange(n))
    expected = []
    for draw in range(9):
        rows = order[np.random.default_rng([3, 2, draw]).integers(0, n, n)]
        expected.append(np.abs(values(rows) - there).max())
    assert report.population.distances == pytest.approx(sorted(expected), rel=1e-9)


def test_outcomes_that_no_row_has():
    """By hand: of 1,000 rows without a positive decision 3/1000 may have one, with 95 %."""
    races = {"race": np.repeat(RACES[:2], 500)}
    report = audit([0, 1] * 500, [0] * 1000, sensitive_features=races, subgroups="marginals",
                   confidence=0.95, gamma=0.01)  # fmt: skip
    assert set(report.population.distances) == {0.0}
    assert report.population_bound == pytest.approx(-math.log(0.05) / 1000)
    assert report.population.verdict == "within gamma"


def test_quantiles_and_rows_by_hand():
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.8) == 4.0
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.6) == 3.0
    # A distance of 0.03 over room of 0.01: nine times the rows, on either side of gamma.
    assert rows_to_tell(100, 0.03, 0.02, 0.02, gamma=0.01) == 900
    assert rows_to_tell(100, 0.03, 0.0, 0.01, gamma=0.02) == 900
    assert rows_to_tell(100, 0.03, 0.01, 0.01, gamma=0.01) is None
    # With power: 0.03 and the quantile 0.02 of the distances, 0.05 over 0.01.
    told = rows_for_power(0.03, [0.01, 0.02, 0.03, 0.04], 100, unfairness=0.02, upper_bound=0.02,
                          gamma=0.01, power=0.4)  # fmt: skip
    assert told == 2500


def test_the_three_verdicts_in_words():
    def said(gamma, **asked):
        report = audit(**people(4000, 6), subgroups="conjunctions", gamma=gamma, **asked)
        return report, " ".join(str(report).split())

    report, words = said(0.2, confidence=0.95)
    assert report.population.verdict == report.verdict == "within gamma"
    assert "It is within what is allowed for the people that the rows were drawn from" in words
    report, words = said(0.001, confidence=0.95)
    assert report.population.verdict == report.verdict == "exceeds gamma"
    assert "It is more than is allowed for the people that the rows were drawn from" in words
    assert report.population.lower_bound > 0.001
    near = report.unfairness - 0.5 * report.population.distance
    report, words = said(near, confidence=0.95)
    assert (report.verdict, report.population.verdict) == ("exceeds gamma", "undecided")
    assert report.population.rows_needed == pytest.approx(4 * 4000, abs=2)
    assert "At least about 16,0" in words or "At least about 15,9" in words
    assert report.rows_needed() > report.population.rows_needed
    assert report.rows_needed(gamma=0.0) < report.rows_needed(power=0.9)
    assert "can't be told" in report.to_markdown().replace("\\", "")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"confidence": 95}, "confidence must be below 1; got 95"),
        ({"confidence": 0}, "confidence must be a number above 0; got 0"),
        ({"confidence": "high"}, "confidence must be a number above 0"),
        ({"confidence": 0.99, "n_resamples": 50}, "n_resamples must be at least 99 for a confi"),
        ({"n_resamples": 0}, "n_resamples must be a number of at least 1"),
        ({"discovery_rate": 1.5}, "discovery_rate must be below 1; got 1.5"),
    ],
)
def test_bad_arguments_are_named_before_any_work(asked, sentence):
    with pytest.raises(ValueError, match=sentence):
        audit("not read", None, sensitive_features=None, **asked)


def test_sums_alone_say_why_there_is_no_bound():
    import polars as pl

    data = people(60, 8)
    frame = pl.LazyFrame({"y": data["y_true"], "p": data["y_pred"], **data["sensitive_features"],
                          "w": np.arange(1, 61) / 7})  # fmt: skip
    report = audit("y", "p", sensitive_features=["race", "sex"], sample_weight="w", data=frame,
                   subgroups="marginals", confidence=0.95)  # fmt: skip
    assert report.population.distance is report.population_bound is None
    assert "only their sums are at hand" in report.population.reason
    assert "can't be told: rows that weigh differently" in " ".join(str(report).split())
    with pytest.raises(ValueError, match="there are none: rows that weigh differently"):
        report.rows_needed()
    with pytest.raises(ValueError, match=r"confidence=0\.95 asks"):
        audit(**data, subgroups="marginals").rows_needed()


# Coverage: a population whose cells, labels and decisions have known probabilities, so that the
# true unfairness of every group is known too.

CLASSES = {
    "marginals": "marginals",
    "conjunctions": Conjunctions(max_depth=3),
    "named": ExplicitGroups(
        {
            "blue women": {"race": "blue", "sex": "F"},
            "young men": {"sex": "M", "age": "young"},
            "blue or red": {"race": ["blue", "red"]},
        }
    ),
}


class Population:
    """Probabilities of race × sex × age × label × decision, with one group that differs or none."""

    def __init__(self, effect):
        rng = np.random.default_rng(99)
        cells = rng.dirichlet(np.full(12, 3.0))
        race, sex, age = np.unravel_index(np.arange(12), (3, 2, 2))
        rate = 0.3 + effect * ((race == 0) & (sex == 0))
        label = 0.6  # of label 0
        self.shares = np.concatenate(
            [cells * label * rate, cells * label * (1 - rate), cells * (1 - label)]
        )
        self.attributes = {
            "race": np.tile(RACES[race], 3),
            "sex": np.tile(SEXES[sex], 3),
            "age": np.tile(np.array(["old", "young"])[age], 3),
        }
        self.y = np.repeat([0, 0, 1], 12)
        self.p = np.repeat([1, 0, 0], 12)

    def groups(self, name):
        """Masks of every group of a class, over the kinds of rows, without any code of ours."""
        race, sex, age = self.attributes.values()
        values = [[*(race == r for r in RACES)], [*(sex == s for s in SEXES)],
                  [age == "old", age == "young"]]  # fmt: skip
        if name == "marginals":
            return [mask for masks in values for mask in masks]
        if name == "named":
            return [(race == "blue") & (sex == "F"), (sex == "M") & (age == "young"),
                    race != "green"]  # fmt: skip
        everyone = np.ones(36, bool)
        each = itertools.product(*([everyone, *masks] for masks in values))
        return [a & b & c for a, b, c in each]

    def worst(self, name):
        """The largest unfairness of the people."""
        return max(abs(unfairness(g, self.y == 0, self.p, self.shares)) for g in self.groups(name))

    def sample(self, n, rng):
        """Counts of a sample."""
        return {**self.attributes, "label": self.y, "prediction": self.p,
                "count": rng.multinomial(n, self.shares)}  # fmt: skip


def covered(name, n, effect, samples, seed):
    """How often the bound is at least the largest unfairness of the people, of so many samples."""
    population = Population(effect)
    truth = population.worst(name)
    rng = np.random.default_rng(seed)
    holds = np.zeros((samples, 2), bool)
    for i in range(samples):
        report = audit_counts(population.sample(n, rng), sensitive_features=["race", "sex", "age"],
                              subgroups=CLASSES[name], confidence=0.95, n_resamples=199,
                              random_state=i, min_group_size=1)  # fmt: skip
        told = report.population
        holds[i] = told.lower_bound <= truth, truth <= told.upper_bound
    return holds.all(axis=1).mean()


def within_all(name, n, effect, samples, seed):
    """How often no group at all is farther from the truth than the distance that is told."""
    population = Population(effect)
    groups = population.groups(name)

    def values(n):
        return np.array([unfairness(g, population.y == 0, population.p, n) for g in groups])

    truth = values(population.shares)
    rng = np.random.default_rng(seed)
    holds = 0
    for i in range(samples):
        sample = population.sample(n, rng)
        report = audit_counts(sample, sensitive_features=["race", "sex", "age"], random_state=i,
                              subgroups=CLASSES[name], confidence=0.95, n_resamples=199,
                              min_group_size=1)  # fmt: skip
        farthest = np.abs(values(sample["count"].astype(float)) - truth).max()
        holds += farthest <= report.population.distance + 1e-12
    return holds / samples


def test_the_band_covers_about_as_often_as_it_says():
    """A quick one of the slow ones: of 20 samples, 19 are expected to hold, and 16 or more do."""
    assert within_all("conjunctions", 1000, 0.2, 20, seed=1) >= 16 / 20


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.2])
@pytest.mark.parametrize("n", [500, 2000, 10_000])
@pytest.mark.parametrize("name", CLASSES)
def test_coverage_is_within_binomial_error(name, n, effect):
    samples = 400
    part = within_all(name, n, effect, samples, seed=n)
    # Three binomial standard deviations of 95 %; the bounds themselves hold more often.
    assert abs(part - 0.95) <= 3 * math.sqrt(0.95 * 0.05 / samples)
    assert covered(name, n, effect, 60, seed=n + 1) >= 0.85
