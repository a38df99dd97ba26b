"""Where in the worst group most of its unfairness lies: the part that is treated worst."""

import copy
import html
import itertools
import time

import numpy as np
import pytest

from gerrymend import Conjunctions, ExplicitGroups, ValueSets, audit, check_report
from gerrymend.auditing import where_it_lies as module
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.auditing.inference.disclosure import Published, cells_of
from gerrymend.auditing.where_it_lies import where_it_lies
from gerrymend.inputs.protected import take_rows
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.subgroups.rules import Condition, Conjunction
from tests.checking import assert_checked
from tests.subgroups.brute_force import intervals, products, value_subsets


def people(n=1_200, seed=0):
    rng = np.random.default_rng(seed)
    return {"sex": rng.choice(["F", "M"], n), "town": rng.choice(["a", "b", "c"], n),
            "age": rng.integers(20, 70, n)}  # fmt: skip


def decided(A, hit, seed=0):
    chance = np.where(hit, 0.7, 0.2)
    y_pred = (np.random.default_rng(seed).random(len(hit)) < chance).astype(int)
    return {"y_true": np.zeros(len(hit), int), "y_pred": y_pred, "sensitive_features": A}


def planted(n=1_200, seed=0):
    """Women of 50 and over are harmed."""
    A = people(n, seed)
    return decided(A, (A["sex"] == "F") & (A["age"] >= 50), seed)


def flat(text):
    return " ".join(text.split())


def seen_of(data):
    return tally_of_rows(*data.values()).of_notion(FALSE_POSITIVE_RATE)


def core_of(seen, group, published=None, floor=10, **how):
    published = published or Published(seen.rows_of_cells, floor)
    return where_it_lies([seen], group, {group.notion: published}, min_group_size=floor, **how)


def group_of(seen, *conditions):
    """The subgroup of some conditions, measured."""
    kinds = {column.name: column.kind for column in seen.tally.columns}
    return seen.cells.as_treated(Conjunction(conditions, kinds), seen.outcomes)


@pytest.mark.parametrize("seed", range(6))
def test_no_part_has_as_much_in_fewer_rows_nor_more_in_as_few(seed, monkeypatch):
    """By enumeration of the parts; and half of its gap as a shift drops nobody, or too many."""
    monkeypatch.setattr(module, "_TIMES", 1.0)
    monkeypatch.setattr(module, "_APART", 0.0)
    monkeypatch.setattr(module, "simplest", lambda rule, *_: rule)
    rng = np.random.default_rng(seed)
    A = people(300, seed)
    A["age"] = A["age"] // 10
    data = decided(A, (A["sex"] == "F") & (rng.random(300) < A["age"] / 9), seed)
    seen = seen_of(data)
    women = group_of(seen, Condition("sex", ("F",)))
    core, _ = core_of(seen, women, floor=1)
    inside = cells_of(seen, women)
    within = take_rows(seen.tally.columns, inside)
    mass = seen.cells.mass[inside]
    sign = np.sign(women.unfairness)
    harm = sign * seen.residual[inside]
    n = seen.cells.total_weight
    points = {(round(harm[g].sum(), 9), int(mass[g].sum()))
              for g in products(within, 3, value_subsets, intervals)}  # fmt: skip
    own = (round(n * sign * core.unfairness, 9), round(n * core.share))
    assert own in points
    assert own[0] >= 0.8 * harm.sum() - 1e-9
    assert not [p for p in points if p != own and p[0] >= own[0] - 1e-9 and p[1] <= own[1]]
    shift = 0.5 * own[0] / own[1]
    best = max(points, key=lambda p: p[0] - shift * p[1])
    assert best == own or best[0] < 0.8 * harm.sum()


def test_the_planted_boundary_is_found_and_said_everywhere():
    data = planted()
    report = audit(**data, subgroups=Conjunctions(max_depth=1))
    core = report.core
    assert core.rule.conditions[0] == Condition("sex", ("F",))
    assert core.rule.conditions[-1].low == 49.5
    whole, part = (one.contains(data["sensitive_features"]) for one in (report.worst, core))
    assert not (part & ~whole).any()
    off = data["y_pred"] - data["y_pred"].mean()
    share = 100 * off[part].sum() / off[whole].sum()
    words = f"ost of it lies in {core.describe()}: {part.sum()} rows, false positive rate "
    rate = f"with {share:.1f} % of the group's unfairness" if share < 100 else "with all of"
    for text in (str(report), report.to_markdown(), html.unescape(report.to_html())):
        plain = flat(text.replace("\\", ""))
        assert words in plain
        assert rate in plain
    assert report.to_dict()["core"] == core.to_dict()
    assert_checked(report, **data)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_said_of_a_group_that_is_of_a_piece(seed):
    A = people(1_200, seed)
    report = audit(**decided(A, A["sex"] == "F", seed), subgroups="conjunctions")
    assert report.worst.describe().startswith("sex = ")
    assert report.core is None
    assert "lies in" not in str(report)


def test_means_of_numbers_have_a_core_too():
    A = people(2_000)
    hit = (A["sex"] == "F") & (A["age"] >= 50)
    days = np.random.default_rng(0).random(2_000) + 1.0 * hit
    data = {"y_true": None, "y_pred": days, "sensitive_features": A}
    report = audit(**data, notion="mean_outcome", subgroups=ValueSets(max_depth=1))
    assert report.core is not None
    assert report.core.contains(A)[hit].mean() > 0.9
    assert report.core.contains(A)[~hit].mean() < 0.05
    assert_checked(report, **data)


@pytest.mark.parametrize("kind", ["decisions", "numbers"])
def test_within_strata_too_most_lies_where_it_was_planted(kind):
    """The strata differ by far more than the planted group, which is found all the same."""
    rng = np.random.default_rng(0)
    A = people(3_000)
    hit = (A["sex"] == "F") & (A["age"] >= 50)
    cook = rng.random(3_000) < 0.5
    data = decided(A, hit)
    data["y_pred"] |= cook & (rng.random(3_000) < 0.6)
    if kind == "numbers":
        data |= {"y_true": None, "y_pred": rng.random(3_000) + 1.0 * hit + 9.0 * cook}
    data["control_features"] = {"cook": cook.astype(int)}
    notion = "mean_outcome" if kind == "numbers" else "false_positive_rate"
    report = audit(
        **data, notion=notion, subgroups=Conjunctions(max_depth=1), favourable="negative"
    )
    assert report.core is not None
    assert report.core.within_strata
    assert {one.attribute for one in report.core.rule.conditions} == {"sex", "age"}
    assert report.core.contains(A)[hit].mean() > 0.9
    assert "in the same strata, with " in flat(str(report))
    assert_checked(report, **data)


def test_numbers_of_which_few_are_large_have_a_core():
    """By how they are spread: by their range alone four standard errors were never reached."""
    rng = np.random.default_rng(0)
    A = people(3_000)
    hit = (A["sex"] == "F") & (A["age"] >= 50)
    days = np.exp(rng.normal(2.0, 0.8, 3_000)) * np.where(hit, 1.6, 1.0)
    data = {"y_true": None, "y_pred": days, "sensitive_features": A}
    report = audit(
        **data, notion="mean_outcome", subgroups=Conjunctions(max_depth=1), favourable="negative"
    )
    assert report.core is not None
    part = report.core.contains(A)
    assert hit[part].mean() > 0.9
    # By hand, over all digits of the rows themselves.
    whole = report.disadvantaged.contains(A)
    rest = whole & ~part
    error = days[whole].std() * np.sqrt(1 / part.sum() + 1 / rest.sum())
    assert days[part].mean() - days[rest].mean() >= 4 * error
    assert_checked(report, **data)


def test_nothing_is_said_of_groups_that_users_name():
    named = audit(**planted(), subgroups=ExplicitGroups({"women": {"sex": "F"}}))
    assert named.core is None


def test_a_part_that_would_tell_of_few_rows_is_kept_back():
    """All but four of the women of 50 and over are known: with those, the four would be told."""
    data = planted()
    seen = seen_of(data)
    women = group_of(seen, Condition("sex", ("F",)))
    core, kept_back = core_of(seen, women)
    assert not kept_back
    inside = cells_of(seen, core)
    few = np.flatnonzero(inside)[0]
    assert seen.rows_of_cells[few] < 10
    told = inside.copy()
    told[few] = False
    published = Published(seen.rows_of_cells, 10)
    published.add(told.astype(np.intp))
    assert core_of(seen, women, published) == (None, True)


def test_time_that_is_up_ends_the_search():
    data = planted()
    seen = seen_of(data)
    women = group_of(seen, Condition("sex", ("F",)))
    assert core_of(seen, women)[0] is not None
    assert core_of(seen, women, deadline=time.monotonic()) == (None, False)


def test_lies_about_it_are_caught():
    data = planted()
    report = audit(**data, subgroups=Conjunctions(max_depth=1)).to_dict()
    assert check_report(report, **data).ok

    def problems(**changes):
        lie = copy.deepcopy(report)
        lie["core"] = {**lie["core"], **changes}
        return " ".join(check_report(lie, **data).problems)

    assert "its rate is stated as 0.9" in problems(rate=0.9)
    assert "its unit is stated as 'days'" in problems(unit="days")
    assert "core has less than 1.5 times the gap of the group." in problems(**report["worst"])
    other = audit(**{**data, "y_pred": 1 - data["y_pred"]}, subgroups="conjunctions").to_dict()
    whole = {name: other["marginals"][-1][name] for name in ("rule", "notion")}
    assert "core is not a part of the group." in problems(**whole)
    no_group = {**report, "worst": None, "top": [], "disadvantaged": None, "favoured": None}
    assert "no group that it is a part of" in " ".join(check_report(no_group, **data).problems)


def test_conditions_are_the_fewest_that_select_a_group():
    """By hand, and by each way to leave one out."""
    seen = seen_of(planted())
    given = (Condition("sex", ("F",)), Condition("age", low=30.0, high=50.0))
    inside = cells_of(seen, group_of(seen, *given))
    found = module.as_product(seen.tally.columns, inside)
    assert {one.attribute for one in found} == {"sex", "age"}
    columns = {column.name: column for column in seen.tally.columns}
    for k in range(3):
        for some in itertools.combinations(found, k):
            members = Conjunction(some, {}).members(columns)
            assert np.array_equal(members, inside) == (k == 2)
    corner = inside.copy()
    corner[np.flatnonzero(inside)[5]] = False
    assert module.as_product(seen.tally.columns, corner) is None
