"""Several subgroups: both of two planted ones, no shades of one, each measured on all rows."""

import numpy as np
import pytest

from gerrymend import ExplicitGroups, LinearThresholds, audit


def planted(n=4000, seed=0, second=0.15):
    """Blue men (an eighth) too high by 0.4, the old (an eighth) too low by `second`."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["blue", "green", "red", "grey"], n)
    sex = rng.choice(["F", "M"], n)
    age = rng.integers(20, 84, n)
    rate = 0.4 + 0.4 * ((race == "blue") & (sex == "M")) - second * (age >= 76)
    p = (rng.random(n) < rate).astype(int)
    return np.zeros(n, int), p, {"race": race, "sex": sex, "age": age}


GROUPS = ExplicitGroups({
    "blue men": {"race": "blue", "sex": "M"},
    "blue men below 80": {"race": "blue", "sex": "M", "age": (None, 80)},
    "blue men above 22": {"race": "blue", "sex": "M", "age": (22, None)},
    "blue": {"race": "blue"},
    "not blue": {"race": ["green", "red", "grey"]},
    "old": {"age": (76, None)},
    "young": {"age": (None, 76)},
    "women": {"sex": "F"},
})  # fmt: skip


def test_both_planted_groups_and_no_shades():
    y, p, attributes = planted()
    report = audit(y, p, sensitive_features=attributes, subgroups=GROUPS, top=2)
    names = [one.rule.name for one in report.top]
    assert names[0] == "blue men"
    assert names[1] in ("old", "young")
    assert report.top[0] is report.worst
    alone = audit(y, p, sensitive_features=attributes, subgroups=ExplicitGroups(
        {"old": GROUPS.groups["old"]}))  # fmt: skip
    assert abs(report.top[1].unfairness) == pytest.approx(abs(alone.worst.unfairness))
    assert "\nAlso  " in str(report)
    assert [one["subgroup"] for one in report.to_dict()["top"]] == list(map(str, report.top))


def test_linear_thresholds_find_both():
    """On a line: the youngest are too high, the oldest too low; one threshold has either."""
    rng = np.random.default_rng(1)
    n = 3000
    age = rng.integers(0, 100, n)
    rate = 0.5 + 0.4 * (age < 20) + 0.3 * (age >= 85) - 0.2 * (np.abs(age - 50) < 10)
    p = (rng.random(n) < rate).astype(int)
    report = audit(np.zeros(n, int), p, sensitive_features={"age": age}, top=2,
                   subgroups=LinearThresholds("search", restarts=2))  # fmt: skip
    first, second = (one.contains({"age": np.arange(100)}) for one in report.top)
    smaller = [side if side.sum() <= 50 else ~side for side in (first, second)]
    assert abs(int(smaller[0].sum()) - 20) <= 6
    assert smaller[0][0]
    assert smaller[1][99]
    assert not (smaller[0] & smaller[1]).any()


def test_sorted_apart_and_large_enough():
    y, p, attributes = planted(n=800, seed=3)
    for subgroups in ("marginals", LinearThresholds("regression"), GROUPS):
        for notion in ("false_positive_rate", ("statistical_parity", "false_positive_rate")):
            report = audit(y, p, sensitive_features=attributes, subgroups=subgroups, top=5,
                           notion=notion, min_group_size=50)  # fmt: skip
            sizes = [abs(one.unfairness) for one in report.top]
            assert sizes == sorted(sizes, reverse=True)
            members = [one.contains(attributes) for one in report.top]
            assert all(50 <= group.sum() <= 750 for group in members)
            halves = [side if 2 * side.sum() <= 800 else ~side for side in members]
            for i, one in enumerate(halves):
                for other in halves[:i]:
                    for side in (other, ~other):
                        assert (one & side).sum() <= 0.5 * (one | side).sum()


def test_nothing_to_find():
    y, _, attributes = planted(n=200)
    y = np.arange(200) % 2
    report = audit(y, y, sensitive_features=attributes, top=3)
    assert (report.top, report.worst) == ((), None)
    one = audit(*planted(n=200)[:2], sensitive_features={"sex": attributes["sex"]}, top=3,
                subgroups="marginals")  # fmt: skip
    assert len(one.top) == 1  # the other side of it is no other group


def test_a_group_that_has_only_what_it_borrows_is_no_further_one():
    """Blue men are hit; half of those in the north are blue men, and the others there are not."""
    rng = np.random.default_rng(0)
    n = 4000
    attributes = {"race": rng.choice(["blue", "green"], n), "sex": rng.choice(["F", "M"], n)}
    hit = (attributes["race"] == "blue") & (attributes["sex"] == "M")
    attributes["region"] = np.where(rng.random(n) < np.where(hit, 0.6, 0.2), "north", "south")
    p = np.where(hit, np.arange(n) % 10 < 7, np.arange(n) % 10 < 4).astype(int)
    groups = ExplicitGroups({"blue men": {"race": "blue", "sex": "M"},
                             "north": {"region": "north"}})  # fmt: skip
    report = audit(np.zeros(n, int), p, sensitive_features=attributes, subgroups=groups, top=2,
                   notion="statistical_parity")  # fmt: skip
    north = attributes["region"] == "north"
    assert p[north].mean() - p.mean() > 0.03
    assert abs(p[north & ~hit].mean() - p[~hit].mean()) < 0.02
    assert [one.rule.name for one in report.top] == ["blue men"]
