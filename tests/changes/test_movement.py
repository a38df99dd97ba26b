"""What moved most, and by chance: against every subgroup and every deal, by loops over rows."""

import itertools

import numpy as np
import pytest

from gerrymend import ExplicitGroups, compare
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.changes.joint_cells import JointCells
from gerrymend.changes.pooled_rows import PooledRows
from gerrymend.inputs.protected import Column, distinct_rows
from gerrymend.notions import as_notions
from tests.subgroups.test_one_sided import CLASSES, every_group

SEARCHED = ["linear", "conjunctions", "value sets", "trees", "marginals"]
NOTIONS = ["false_positive_rate", "statistical_parity", "error_rate"]


def sample(rng, n):
    """Rows with ties: two attributes, labels, decisions and weights."""
    return {
        "x": rng.integers(0, 3, n).astype(float),
        "y": np.array(list("abc"))[rng.integers(0, 3, n)],
        "label": np.r_[0, 1, rng.integers(0, 2, n - 2)],
        "decided": np.r_[1, 0, rng.integers(0, 2, n - 2)],
        "weight": rng.integers(1, 4, n) / 2.0,
    }


def arrays(rows, weighted):
    A = {"x": rows["x"], "y": rows["y"]}
    return rows["label"], rows["decided"], A, rows["weight"] if weighted else None


def unfairness(rows, members, notion, weighted):
    """Of one group on one sample, by its definition."""
    total = event = inside = mean = group = 0.0
    for i in range(len(rows["x"])):
        w = rows["weight"][i] if weighted else 1.0
        total += w
        wrong = rows["label"][i] != rows["decided"][i]
        u = wrong if notion == "error_rate" else rows["decided"][i]
        if notion == "false_positive_rate" and rows["label"][i] == 1:
            continue
        event += w
        mean += w * u
        if members[i]:
            inside += w
            group += w * u
    return (group - inside * mean / event) / total


def all_groups(name, *samples):
    """Every subgroup of a class over the rows of all samples, as masks by sample."""
    x = np.concatenate([rows["x"] for rows in samples])
    y = np.concatenate([rows["y"] for rows in samples])
    names, codes = np.unique(y, return_inverse=True)
    cells = distinct_rows((Column("x", x), Column("y", codes.astype(float), tuple(names))))
    ends = np.cumsum([len(rows["x"]) for rows in samples])[:-1]
    for group in every_group(CLASSES[name], cells.columns):
        yield np.split(group[cells.index], ends)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SEARCHED)
def test_what_moved_most_between_two_samples_is_the_most_of_all_subgroups(name, weighted):
    moved = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 19])
        notion = NOTIONS[seed % 3]
        old, new = sample(rng, int(rng.integers(6, 14))), sample(rng, int(rng.integers(6, 14)))
        given = arrays(new, weighted)
        found = compare(
            arrays(old, weighted), *given[:2], sensitive_features=given[2], sample_weight=given[3],
            notion=notion, subgroups=CLASSES[name], n_permutations=0, min_group_size=1,
        ).moved  # fmt: skip
        changes = [
            unfairness(new, g_new, notion, weighted) - unfairness(old, g_old, notion, weighted)
            for g_old, g_new in all_groups(name, old, new)
        ]
        most = max(map(abs, changes))
        assert found.moved == pytest.approx(most, abs=1e-12)
        assert found.upper_bound == pytest.approx(most, abs=1e-12)
        if found.now is not None:
            rates = found.now.unfairness - found.was.unfairness
            assert abs(rates) <= most + 1e-12
            assert found.by_rate + found.by_share == pytest.approx(rates, abs=1e-12)
            members = [found.now.contains(arrays(rows, weighted)[2]) for rows in (old, new)]
            by_hand = [
                unfairness(rows, inside, notion, weighted)
                for rows, inside in zip((old, new), members, strict=True)
            ]
            assert [found.was.unfairness, found.now.unfairness] == pytest.approx(by_hand, abs=1e-12)
            moved += 1
    assert moved > 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SEARCHED)
def test_what_moved_most_between_two_models_is_the_most_of_all_subgroups(name, weighted):
    for seed in range(8):
        rng = np.random.default_rng([seed, 20])
        notion = NOTIONS[seed % 3]
        rows = sample(rng, 12)
        other = rows | {"decided": np.r_[0, 1, rng.integers(0, 2, 10)]}
        given = arrays(rows, weighted)
        found = compare(
            other["decided"], *given[:2], sensitive_features=given[2], sample_weight=given[3],
            notion=notion, subgroups=CLASSES[name], n_permutations=0, min_group_size=1,
        )  # fmt: skip
        changes = []
        for (group,) in all_groups(name, rows):
            now, was = (unfairness(one, group, notion, weighted) for one in (rows, other))
            changes.append(now - was)
        most = max(map(abs, changes))
        assert found.moved.moved == pytest.approx(most, abs=1e-12)
        assert found.moved.upper_bound == pytest.approx(most, abs=1e-12)
        if found.moved.now is not None:
            assert found.moved.by_share == 0
            assert found.moved.was.size == found.moved.now.size


NAMED = ExplicitGroups({"a": {"y": "a"}, "low": {"x": (0, 1)}, "b": {"y": ["b", "c"]}})
MASKS = (
    lambda rows: rows["y"] == "a",
    lambda rows: rows["x"] < 1,
    lambda rows: np.isin(rows["y"], ["b", "c"]),
)


def statistics(old, new, weighted):
    """The change of the largest unfairness, and what moved most, over the named groups."""
    values = [
        [unfairness(rows, mask(rows), "statistical_parity", weighted) for mask in MASKS]
        for rows in (old, new)
    ]
    (then, now) = (np.array(one) for one in values)
    return np.abs(now).max() - np.abs(then).max(), np.abs(now - then).max()


def exact_p_values(deals, observed):
    """By every deal, all as likely."""
    change, moved = map(np.array, zip(*deals, strict=True))
    above = np.mean(change >= observed[0] - 1e-12)
    below = np.mean(change <= observed[0] + 1e-12)
    return min(1.0, 2 * min(above, below)), np.mean(moved >= observed[1] - 1e-12)


def close_to(p, draws):
    """Within five standard errors of so many draws, and what the one that was seen adds."""
    return pytest.approx(p, abs=2 * 5 * np.sqrt(p * (1 - p) / draws) + 3 / draws)


@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_p_values_between_samples_are_those_of_all_deals(seed, weighted):
    rng = np.random.default_rng([seed, 21])
    old, new = sample(rng, 5), sample(rng, 5)
    both = {name: np.r_[old[name], new[name]] for name in old}
    deals = []
    for chosen in itertools.combinations(range(10), 5):
        is_new = np.isin(np.arange(10), chosen)
        parts = [{name: v[side] for name, v in both.items()} for side in (~is_new, is_new)]
        deals.append(statistics(*parts, weighted))
    expected = exact_p_values(deals, statistics(old, new, weighted))
    given = arrays(new, weighted)
    draws = 2000
    found = compare(
        arrays(old, weighted), *given[:2], sensitive_features=given[2], sample_weight=given[3],
        notion="statistical_parity", subgroups=NAMED, n_permutations=draws, min_group_size=1,
    )  # fmt: skip
    assert found.n_permutations == draws
    assert found.p_value == close_to(expected[0], draws)
    assert found.moved.p_value == close_to(expected[1], draws)


@pytest.mark.filterwarnings("ignore:The explicit group")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_p_values_between_models_are_those_of_all_swaps(seed, weighted):
    rng = np.random.default_rng([seed, 22])
    rows = sample(rng, 9)
    other = np.r_[0, 1, rng.integers(0, 2, 7)]
    deals = []
    for signs in itertools.product([False, True], repeat=9):
        swap = np.array(signs)
        new = rows | {"decided": np.where(swap, other, rows["decided"])}
        old = rows | {"decided": np.where(swap, rows["decided"], other)}
        deals.append(statistics(old, new, weighted))
    expected = exact_p_values(deals, statistics(rows | {"decided": other}, rows, weighted))
    given = arrays(rows, weighted)
    draws = 2000
    found = compare(
        other, *given[:2], sensitive_features=given[2], sample_weight=given[3],
        notion="statistical_parity", subgroups=NAMED, n_permutations=draws, min_group_size=1,
    )  # fmt: skip
    assert found.p_value == close_to(expected[0], draws)
    assert found.moved.p_value == close_to(expected[1], draws)


def pooled(old, new, how, notion="false_positive_rate", strata=None):
    tallies = [tally_of_rows(*arrays(rows, True)) for rows in (old, new)]
    notions = as_notions((notion, "error_rate"))
    seen = [[tally.of_notion(one) for one in notions] for tally in tallies]
    joint = JointCells.of(*(tally.columns for tally in tallies))
    return how(*seen, joint), seen, joint


@pytest.mark.parametrize("how", [PooledRows.of_samples, PooledRows.of_models])
def test_what_was_seen_is_one_of_the_deals(how):
    """The residuals by kind are those that searches and proofs see, of either side."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 23])
        old = sample(rng, 11)
        new = sample(rng, 15)
        if how == PooledRows.of_models:
            new = old | {"decided": rng.permutation(old["decided"])}
        rows, seen, joint = pooled(old, new, how)
        for side, cells, part in zip(rows.observed, joint[1:], seen, strict=True):
            for values, one in zip(side, part, strict=True):
                expected = np.zeros(len(joint))
                expected[cells[one.cells.active]] = one.residual / one.cells.total_weight
                np.testing.assert_allclose(values, expected, atol=1e-12)


def test_a_deal_keeps_the_rows_of_either_side():
    rng = np.random.default_rng(24)
    rows, _, _ = pooled(sample(rng, 8), sample(rng, 20), PooledRows.of_samples)
    for _ in range(20):
        for values in (*rows.draw(rng).old, *rows.draw(rng).new):
            assert values.sum() == pytest.approx(0, abs=1e-12)
