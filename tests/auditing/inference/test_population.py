"""The bound for the people behind the rows: by brute force and by hand."""

import itertools
import math

import numpy as np
import pytest
from joblib import parallel_config

from gerrymend import Conjunctions, audit, audit_counts, check_report
from gerrymend.auditing.inference.planning import quantile, rows_for_power, rows_to_tell
from gerrymend.auditing.inference.resampling import _Rows

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


@pytest.fixture
def drawn(monkeypatch):
    """Σ w and Σ w·u of each table by stratum, label and cell, in each resample of rows."""
    tables = []
    draw = _Rows.draw
    monkeypatch.setattr(_Rows, "draw", lambda *how: tables.append(draw(*how)) or tables[-1])
    return tables


def unfairness_in(mask, mass, outcomes, total):
    """Share times gap, from the definition, with sums by cell over the rows in the event."""
    if not mass[mask].sum():
        return 0.0
    gap = outcomes[mask].sum() / mass[mask].sum() - outcomes.sum() / mass.sum()
    return mass[mask].sum() / total * gap


@pytest.mark.parametrize("side", ["both", "disadvantaged"])
def test_distances_of_weighted_rows_are_those_over_all_groups(side, drawn):
    data = people(60, 1)
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 5, 60) / 2
    y, p = data["y_true"], data["y_pred"]
    race, sex = data["sensitive_features"].values()
    report = audit(**data, sample_weight=weight, subgroups=Conjunctions(), random_state=7,
                   favourable="negative", side=side, confidence=0.9, n_resamples=12,
                   min_group_size=1)  # fmt: skip
    there = [unfairness(group, y == 0, p, weight) for group in conjunctions(race, sex)]
    groups = conjunctions(np.repeat(RACES, 2), np.tile(SEXES, 3))
    expected = []
    for [(mass, outcomes)] in drawn:
        assert np.all((outcomes[0] >= 0) & (outcomes[0] <= mass[0]))
        found = [unfairness_in(g, mass[0, 0], outcomes[0, 0], mass.sum()) for g in groups]
        moved = np.array(there) - found  # positives that are wrongly decided are worse off
        expected.append(np.max(moved if side == "disadvantaged" else np.abs(moved), initial=0.0))
    assert report.population.distances == pytest.approx(sorted(expected), abs=1e-12)
    assert len(set(expected)) == 12
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


def test_numbers_of_two_notions_are_of_the_same_rows(drawn):
    """By brute force: one draw of rows, and the farthest of all groups over both means."""
    rng = np.random.default_rng(5)
    n = 50
    y, days = rng.gamma(2.0, 3.0, (2, n)).round(1)
    race = rng.choice(RACES, n)
    notions = ("absolute_error", "squared_error")
    report = audit(y, days, sensitive_features={"race": race}, notion=notions, random_state=3,
                   subgroups="marginals", confidence=0.8, n_resamples=9, gamma=0.1)  # fmt: skip
    off = np.abs(y - days)
    there = [unfairness(race == one, np.ones(n, bool), u, np.ones(n))
             for u in (off, off**2) for one in RACES]  # fmt: skip
    expected = []
    for tables in drawn:
        assert np.array_equal(tables[0][0], tables[1][0])
        assert tables[0][0].sum() == n
        found = [unfairness_in(np.arange(3) == one, mass[0, 1], outcomes[0, 1], n)
                 for mass, outcomes in tables for one in range(3)]  # fmt: skip
        expected.append(np.abs(np.subtract(there, found)).max())
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
    assert "these rows can't tell, over all subgroups at once" in report.to_markdown().replace(
        "\\", ""
    )


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


def test_a_distance_that_is_too_small_is_no_quantile():
    """All that follows from it is stated right; the worst subgroup alone varies more."""
    data = people(2000, 11)
    report = audit(**data, subgroups="conjunctions", gamma=0.5, confidence=0.95, n_resamples=99)
    stated = report.to_dict()
    assert check_report(stated, **data).ok
    distance = 0.002
    stated["population"] |= {
        "distance": distance,
        "lower_bound": report.unfairness - distance,
        "upper_bound": report.upper_bound + distance,
    }
    (problem,) = check_report(stated, **data).problems
    assert "would be farther in too many resamples" in problem
    stated["population"] |= {"distance": 0.0, "lower_bound": report.unfairness,
                             "upper_bound": report.upper_bound}  # fmt: skip
    assert "population.distance is stated as 0.0, and is at least 0.00149" in str(
        check_report(stated, **data).problems
    )
