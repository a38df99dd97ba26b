"""A group is said in the fewest words that leave nearly as much unfairness and gap."""

import copy
import itertools
import math

import numpy as np
import pytest

from gerrymend import audit, check_report
from gerrymend.auditing.fewest_words import simplest
from gerrymend.inputs.protected import Column
from gerrymend.subgroups.rules import Condition, Conjunction
from tests.checking import assert_checked

KINDS = {"town": "str", "sex": "str", "age": "number"}


def every_choice(rule):
    """Each rule of some of the words of another, with their number, one way after the other."""
    by_condition = []
    for one in rule.conditions:
        choices = [(0, ())]
        if one.values is None:
            for low, high in itertools.product({one.low, -math.inf}, {one.high, math.inf}):
                ends = int(low > -math.inf) + int(high < math.inf)
                if ends:
                    choices.append((ends, (Condition(one.attribute, low=low, high=high),)))
        else:
            for k in range(1, len(one.values) + 1):
                for some in itertools.combinations(one.values, k):
                    choices.append((k, (Condition(one.attribute, some),)))
        by_condition.append(choices)
    for chosen in itertools.product(*by_condition):
        conditions = tuple(one for _, some in chosen for one in some)
        if conditions:
            yield sum(k for k, _ in chosen), Conjunction(conditions, rule.kinds)


@pytest.mark.parametrize("seed", range(25))
def test_no_choice_of_fewer_words_leaves_as_much(seed):
    rng = np.random.default_rng(seed)
    columns = {"town": Column("town", rng.integers(0, 4, 80).astype(float), tuple("abcd")),
               "sex": Column("sex", rng.integers(0, 2, 80).astype(float), ("F", "M")),
               "age": Column("age", rng.integers(18, 70, 80).astype(float))}  # fmt: skip
    rule = Conjunction((Condition("town", ("a", "b", "d")), Condition("sex", ("F",)),
                        Condition("age", low=18.5, high=rng.choice([50.5, 68.5, math.inf]))),
                       KINDS)  # fmt: skip
    inside = rule.members(columns)
    mass = rng.integers(1, 5, 80).astype(float)
    worth = (rng.normal(0, 0.3, 80) + inside * (columns["town"].values < 2)) * mass
    own = worth[inside].sum()
    gap = own / mass[inside].sum()

    def leaves(group):
        members = group.members(columns)
        value = worth[members].sum()
        return value >= 0.9 * own - 1e-9 and value >= 0.9 * gap * mass[members].sum() - 1e-9

    fewest = min(number for number, group in every_choice(rule) if leaves(group))
    as_few = [group for number, group in every_choice(rule) if number == fewest and leaves(group)]
    best = max(worth[group.members(columns)].sum() for group in as_few)
    found = simplest(rule, columns, worth, mass)
    assert found in as_few
    assert worth[found.members(columns)].sum() == pytest.approx(best)
    # Bars that nothing reaches leave it as it is.
    for bars in ({"least": 1e9}, {"least_by_mass": 1e9}):
        assert simplest(rule, columns, worth, mass, **bars) == rule


def hiring(seed, n=1_500):
    """Decisions by which women of region A are hired less often, whatever their age."""
    rng = np.random.default_rng(seed)
    A = {"sex": rng.choice(["F", "M"], n), "region": rng.choice(list("ABC"), n),
         "age": rng.integers(18, 71, n)}  # fmt: skip
    hit = (A["sex"] == "F") & (A["region"] == "A")
    hired = (rng.random(n) < np.where(hit, 0.25, 0.5)).astype(int)
    return {"y_true": None, "y_pred": hired, "sensitive_features": A,
            "notion": "statistical_parity", "favourable": "positive"}  # fmt: skip


@pytest.mark.parametrize("seed", [1, 5, 18, 28])
def test_needless_bounds_are_left_out_and_hide_nothing(seed):
    """The worst is "… and age < 69.5", beside which the cell that matters was hidden."""
    data = hiring(seed)
    report = audit(**data)
    said = report.in_a_sentence
    assert said.subgroup.describe() == "sex = F and region = A"
    assert said.simpler_than > abs(said.subgroup.unfairness) >= 0.9 * said.simpler_than
    # What is exact is the worst of all, with all its bounds.
    assert said.exact
    assert said.upper_bound == pytest.approx(said.simpler_than)
    assert report.intersections.left_out == 0
    text = " ".join(str(report).split())
    assert "The subgroup treated worst, put simply, is sex = F and region = A," in text
    assert (
        f"; the worst with at most three conditions has {said.simpler_than:.4f}, and takes" in text
    )
    assert (f"a simpler one that has {abs(said.subgroup.unfairness):.4f}, where the worst has "
            f"{said.simpler_than:.4f}, exact over every product of value sets"
            ) in report.to_markdown()  # fmt: skip
    settings = ("notion", "favourable")
    assert_checked(report, **{k: v for k, v in data.items() if k not in settings})


def test_a_simpler_group_stays_on_its_side_of_gamma():
    """Else the verdict's group would not lead, and one of which gamma allows so much would."""
    data = hiring(15)
    plain = audit(**data).in_a_sentence
    gamma = (plain.simpler_than + abs(plain.subgroup.unfairness)) / 2
    said = audit(**data, gamma=gamma).in_a_sentence
    assert abs(said.subgroup.unfairness) > gamma


def test_lies_about_a_simpler_group_are_caught():
    data = hiring(5)
    report = audit(**data).to_dict()
    rows = {name: data[name] for name in ("y_true", "y_pred", "sensitive_features")}

    def problems(**changes):
        lie = copy.deepcopy(report)
        lie["in_a_sentence"] |= changes
        return " ".join(check_report(lie, **rows).problems)

    worst = report["in_a_sentence"]["simpler_than"]
    assert problems() == ""
    assert "is not near its value" in problems(simpler_than=1.2 * worst, upper_bound=1.2 * worst)
    assert "is not near its value" in problems(simpler_than=0.5 * worst)
    assert "and the worst has" in problems(simpler_than=1.02 * worst, upper_bound=1.02 * worst)
    assert "is not that of its value" in problems(upper_bound=0.99 * worst)
    assert "is not that of its value" in problems(simpler_than=None)
