"""What published sums tell: against all sums in the span of two partitions, and whole reports."""

import itertools
import time
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gerrymend import ExplicitGroups, audit, check_report
from gerrymend.auditing.inference import small_sets
from gerrymend.auditing.inference.disclosure import KnownSums, Published
from tests.marks import slow


def fewest_rows(indicators, rows):
    """The fewest rows, but none, whose sum is a combination of sums over these sets of cells."""
    known = np.array(indicators, float)
    sums = []
    for chosen in itertools.product((0.0, 1.0), repeat=len(rows)):
        wanted = np.array(chosen)
        factors = np.linalg.lstsq(known.T, wanted, rcond=None)[0]
        if wanted.any() and np.allclose(factors @ known, wanted):
            sums.append(wanted @ rows)
    return min(sums)


def indicators(partitions):
    return [blocks == value for blocks in partitions for value in np.unique(blocks)]


@settings(max_examples=150)
@given(st.data(), st.integers(2, 7), st.integers(1, 4), st.sampled_from([2, 4, 10]))
def test_partitions_tell_what_linear_algebra_says(data, m, n_partitions, floor):
    """Against every set of cells, by least squares: one is told if any of few rows follows."""
    rows = np.array(data.draw(st.lists(st.integers(0, 12), min_size=m, max_size=m)))
    partitions = [
        np.array(data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m)))
        for _ in range(n_partitions)
    ]
    if rows.sum() < floor:
        return
    known = KnownSums(rows, floor)
    for blocks in partitions[:-1]:
        known.add(blocks)
    told = known.told(partitions[-1])
    there = rows > 0
    fewest = fewest_rows([one[there] for one in indicators(partitions)], rows[there])
    assert (told is not None) == (fewest < floor)
    if told is not None:  # and what is told is such a set
        span = np.array(indicators(partitions), float)[:, there].T
        wanted = told[there].astype(float)
        assert 0 < rows[told].sum() < floor
        np.testing.assert_allclose(
            span @ np.linalg.lstsq(span, wanted, rcond=None)[0], wanted, atol=1e-8
        )


def many_attributes():
    """Every person is a cell of their own, in one of four blocks of each of twelve partitions."""
    rng = np.random.default_rng(0)
    known = KnownSums(np.ones(600, dtype=int), 10)
    for blocks in rng.integers(0, 4, (11, 600)):
        assert known.told(blocks) is None
        known.add(blocks)
    return known, rng.integers(0, 4, 600)


def test_many_attributes_of_few_rows_tell_nothing():
    """By disjoint sets of rows of full rank: there are too many choices to try."""
    known, blocks = many_attributes()
    assert known.told(blocks) is None
    known.add(blocks)
    four = np.flatnonzero(blocks == 1)[:4]
    all_but_four = (blocks == 1) & ~np.isin(np.arange(600), four)
    assert known.told(all_but_four.astype(int)) is not None


def test_a_table_of_too_many_numbers_is_looked_at_in_part(monkeypatch):
    table = np.random.default_rng(0).integers(0, 4, (12, 600))
    monkeypatch.setattr(small_sets, "_MOST_NUMBERS", 500 * 48)
    assert small_sets.small_set(table, np.ones(600), 10) is None
    # Of two atoms nothing can be shown, and what isn't shown to be safe is not published.
    monkeypatch.setattr(small_sets, "_MOST_NUMBERS", 2 * 48)
    assert small_sets.small_set(table, np.ones(600), 10) is not None


def test_of_three_values_none_is_told_by_the_other_two():
    """Blue men but four are described: not blue may not be known, so neither two of three races."""
    race = np.array([1, 1, 2, 3])
    published = Published(np.array([296, 4, 300, 200]), min_group_size=10)
    published.add(np.array([1, 0, 0, 0]))
    shown = published.shown(race, np.ones(3, dtype=bool))
    assert shown.tolist() == [False, True, False]  # blue and the smaller other are one remainder


@settings(max_examples=100)
@given(st.data(), st.integers(2, 6), st.integers(0, 30), st.sampled_from([2, 4]))
def test_what_is_not_known_in_time_is_not_told(data, m, seconds, floor):
    """Against every set of cells, by least squares, with a clock that goes on at each look."""
    rows = np.array(data.draw(st.lists(st.integers(1, 8), min_size=m, max_size=m)))
    partitions = data.draw(
        st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), max_size=6)
    )
    clock = SimpleNamespace(monotonic=itertools.count().__next__)
    published = []
    with mock.patch.object(small_sets, "time", clock):
        known = KnownSums(rows, floor, seconds)
        for blocks in map(np.array, partitions):
            told = known.told(blocks)
            fewest = fewest_rows(indicators([*published, blocks]), rows)
            if fewest < floor or not known.allowance.ran_out:
                assert (told is not None) == (fewest < floor)
            if told is None:
                known.add(blocks)
                published.append(blocks)


def test_sums_over_many_rows_are_told_without_any_time():
    known = KnownSums(np.full(4, 20), 10, 0.0)
    for blocks in ([0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 2, 3]):
        assert known.told(np.array(blocks)) is None
        known.add(np.array(blocks))
    assert not known.allowance.ran_out


def test_a_decomposition_that_can_not_end_in_time_is_not_begun(monkeypatch):
    """It is of 2,000 sums over 2,000 atoms, 8·10⁹ products: more than a second."""
    table = np.array([np.arange(4_000) % 1_000, np.arange(4_000) * 7 % 1_009])
    monkeypatch.delattr(small_sets.np.linalg, "svd")
    allowance = small_sets.Allowance(1.0)
    with allowance:
        assert small_sets.small_set(table, np.ones(4_000), 10, allowance).all()
    assert allowance.ran_out


def test_audits_leave_out_what_is_not_known_in_time_and_say_so(monkeypatch):
    """With a clock that goes on by ten seconds at each decomposition, of which there are many."""
    rng = np.random.default_rng(0)
    y, decided = rng.integers(0, 2, (2, 400))
    protected = {"town": rng.integers(0, 12, 400).astype(str), "age": rng.integers(20, 60, 400)}
    protected |= {"job": rng.integers(0, 8, 400).astype(str)}
    in_time = audit(y, decided, sensitive_features=protected, subgroups="marginals")
    now = [0.0]
    svd = np.linalg.svd

    def slow_svd(*given, **options):
        now[0] += 10.0
        return svd(*given, **options)

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(np.linalg, "svd", slow_svd)
    report = audit(y, decided, sensitive_features=protected, subgroups="marginals", budget=15)
    assert now[0] <= 30.0
    assert report.kept_back == (*in_time.kept_back, "time")
    assert "time" not in in_time.kept_back
    assert set(report.marginals) < set(in_time.marginals)
    told = {"y_true": y, "y_pred": decided, "sensitive_features": protected}
    assert check_report(report.to_dict(), **told).problems == []


def blue_men():
    """Of 300 blue people all but 4 are men, of whom all are decided 1."""
    race = np.repeat(["blue", "green"], [300, 600])
    sex = np.repeat(["M", "F", "M", "F"], [296, 4, 300, 300])
    decided = np.repeat([1, 0, 0, 1, 0], [297, 3, 300, 150, 150])
    return np.zeros(900, int), decided, {"race": race, "sex": sex}


def test_no_small_group_follows_from_the_worst_and_one_attribute():
    y, decided, protected = blue_men()
    report = audit(y, decided, sensitive_features=protected, subgroups="linear", top=3)
    assert "race = blue and sex = M" in map(str, report.top)
    assert [one.group for one in report.marginals] == ["sex = F", "sex = M"]
    assert report.marginals_left_out == 2
    plain = audit(y, decided, sensitive_features=protected, subgroups="marginals")
    assert [one.group for one in plain.intervals] == [
        "race = blue", "race = green", "sex = F", "sex = M"]  # fmt: skip


def test_no_small_group_follows_from_groups_that_were_named():
    y, decided, protected = blue_men()
    groups = ExplicitGroups({
        "blue men": {"race": "blue", "sex": "M"},
        "blue": {"race": "blue"},
        "women": {"sex": "F"},
    })  # fmt: skip
    report = audit(y, decided, sensitive_features=protected, subgroups=groups, top=3)
    names = {one.group.split(" (")[0] for one in report.intervals}
    assert names == {"blue men", "women"}
    assert "blue" not in [one.rule.name for one in report.top]
    everyone = audit(y, decided, sensitive_features=protected, subgroups=groups, min_group_size=4)
    assert len(everyone.intervals) == 3


@pytest.mark.parametrize("subgroups", ["conjunctions", "linear", "value_sets", "marginals"])
@pytest.mark.parametrize(("seed", "number"), [(5, 6), slow(6, 15)])
def test_reports_of_few_rows_tell_of_no_fewer(subgroups, seed, number):
    """The checker of every report fails where two groups give away a third."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(40, 120))
        protected = {
            "race": rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["F", "M"], n, p=[0.85, 0.15]),
            "home": rng.choice(["town", "land"], n),
        }
        decided = rng.random(n) < 0.2 + 0.6 * ((protected["race"] == "a") & (rng.random(n) < 0.9))
        audit(np.zeros(n, int), decided.astype(int), sensitive_features=protected, top=3,
              subgroups=subgroups, budget=1)  # fmt: skip
