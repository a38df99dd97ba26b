"""Every moment over every class of subgroups, against loops over all subgroups of small instances.

Nothing here is the checker's code, or that of audits: subgroups are listed by hand as masks of
rows, from what the documentation says of each class, and a value is a sum over rows.
"""

import itertools
import math

import numpy as np
import polars as pl
import pytest

from gerrymend import ExplicitGroups, GroupMean, OutcomeNotion, audit
from tests.auditing.test_from_engine import in_duckdb, in_polars

# Of few rows, some instances have none of a group that is named.
pytestmark = pytest.mark.filterwarnings("ignore:The explicit group")
TOWNS = ("Au", "Rom", "Ulm")
# The last is irrational: the weighted mean of all rows is none of them.
AGES = (1.0, 2.5, 4 + math.pi / 10)
LEVELS = ("later", "now", "soon")
NAMED = {
    "from elsewhere": {"town": ["Rom", "Ulm"]},
    "old, of Au": {"town": "Au", "age": (3, None)},
    "young": {"age": (None, 2)},
}
CLASSES = {
    "linear": "linear",
    "conjunctions": "conjunctions",
    "value_sets": "value_sets",
    "trees": "trees",
    "marginals": "marginals",
    "named": ExplicitGroups(NAMED),
}
LATE = OutcomeNotion(
    "late",
    lambda true, days: (days - true) * 0.75,
    event=lambda true, days: (true > -1) & (days < 2),
    unit="days",
)
# The outcome of each row, and which rows count.
NUMBERS = {
    "mean_outcome": lambda y, p: (p, p == p),
    "mean_error": lambda y, p: (y - p, p == p),
    "absolute_error": lambda y, p: (abs(y - p), p == p),
    "squared_error": lambda y, p: ((y - p) ** 2, p == p),
    "late": lambda y, p: (0.75 * (p - y), (y > -1) & (p < 2)),
}
RATES = {
    "false_positive_rate": lambda y, p, c: (p == c, y != c),
    "false_negative_rate": lambda y, p, c: (p != c, y == c),
    "statistical_parity": lambda y, p, c: (p == c, y == y),
    "error_rate": lambda y, p, c: (p != y, y == y),
}


@pytest.fixture(autouse=True)
def every_report_is_checked():
    """Not here: what is compared with shares no code with the checker either."""


class People:
    """Rows of which few are distinct, so that outcomes, cells and weights have ties."""

    def __init__(self, seed, n_rows=40):
        rng = np.random.default_rng([seed, 16])
        self.town = rng.choice(TOWNS, n_rows)
        self.age = rng.choice(AGES, n_rows)
        self.job = rng.choice(["cook", "nurse", "smith"], n_rows)
        self.days = rng.integers(-4, 9, n_rows) / 4
        self.true = self.days + rng.integers(-2, 3, n_rows)
        self.level = rng.choice(LEVELS, n_rows)
        is_other = rng.random(n_rows) < 0.5
        self.given = np.where(is_other, rng.choice(LEVELS, n_rows), self.level)
        self.level[:3] = self.given[:3] = LEVELS
        self.weight = rng.integers(0, 5, n_rows) / 4 if rng.random() < 0.5 else np.ones(n_rows)
        self.weight[:3] = 1.0
        self.rows = {
            "sensitive_features": {"town": self.town, "age": self.age},
            "sample_weight": self.weight,
        }

    def subgroups(self, name):
        """Every subgroup of a class, as masks of rows; that of everyone is among those searched."""
        towns = [self.town == town for town in TOWNS]
        everyone = np.ones(len(self.town), dtype=bool)
        below = [self.age < cut for cut in AGES[1:]]
        between = [
            (low <= self.age) & (self.age <= high)
            for low, high in itertools.combinations_with_replacement(AGES, 2)
        ]
        if name == "marginals":
            mean = np.average(self.age, weights=self.weight)
            return [*towns, self.age < mean, self.age > mean]
        if name == "named":
            return [self.town != "Au", (self.town == "Au") & (self.age >= 3), self.age <= 2]
        if name == "conjunctions":
            return [a & b for a in [everyone, *towns] for b in [everyone, *between]]
        if name == "value_sets":
            sets = [np.isin(self.town, chosen) for k in (1, 2, 3)
                    for chosen in itertools.combinations(TOWNS, k)]  # fmt: skip
            return [a & b for a in sets for b in [everyone, *between]]
        if name == "trees":
            splits = [*towns, *below]
            leaves = [everyone, ~everyone, *splits, *(~split for split in splits)]
            return [
                (root & yes) | (~root & no)
                for root, yes, no in itertools.product(splits, leaves, leaves)
            ]
        # One direction of age for all, and a threshold for each town.
        cuts = [everyone, ~everyone, *below]
        found = []
        for chosen in itertools.product(cuts, repeat=len(TOWNS)):
            young = np.select(towns, chosen, default=False)
            found += [young, ~young]
        return found


def values(people, groups, outcome, counts, strata=None, reference=None):
    """The sum over each group of w·(u − r), over all weight; r is a mean unless it is told."""
    strata = np.zeros(len(outcome)) if strata is None else strata
    weight = np.where(counts, people.weight, 0.0)
    off = np.zeros(len(outcome))
    for stratum in np.unique(strata):
        inside = (strata == stratum) & (weight > 0)
        if inside.any():
            mean = np.average(outcome[inside], weights=weight[inside])
            off[inside] = outcome[inside] - (mean if reference is None else reference)
    return np.array(groups) @ (weight * off) / people.weight.sum()


def check(report, people, groups, found):
    """Compare a report with the values of all groups, a row for each notion."""
    largest = np.abs(found).max()
    assert report.unfairness == pytest.approx(largest, abs=1e-9)
    assert report.upper_bound == pytest.approx(largest, abs=1e-9)
    if largest < 1e-9:
        return
    members = np.asarray(report.worst.contains(people.rows["sensitive_features"]))
    counted = people.weight > 0
    same = [i for i, group in enumerate(groups) if (group == members)[counted].all()]
    assert any(abs(abs(found[:, i]) - largest).min() < 1e-9 for i in same), report.worst.describe()


def settings(name):
    """The class, and what else is the same in all audits: nobody is withheld."""
    return {"subgroups": CLASSES[name], "min_group_size": 1, "gamma": 0.1}


def check_numbers(name, seed, notion):
    people = People(seed)
    groups = people.subgroups(name)
    found = values(people, groups, *NUMBERS[notion](people.true, people.days))
    how = settings(name) | {"notion": LATE if notion == "late" else notion}
    check(audit(people.true, people.days, **people.rows, **how), people, groups, found[None])
    if seed % 10:
        return
    table = pl.DataFrame({**people.rows["sensitive_features"], "true": people.true,
                          "days": people.days, "weight": people.weight}).to_pandas()  # fmt: skip
    for engine in (in_polars, in_duckdb):
        report = audit("true", "days", data=engine(table), sensitive_features=["town", "age"],
                       sample_weight="weight", **how)  # fmt: skip
        check(report, people, groups, found[None])


def check_numbers_in_strata(name, seed, notion):
    people = People(seed)
    groups = people.subgroups(name)
    found = values(people, groups, *NUMBERS[notion](people.true, people.days), people.job)
    how = settings(name) | {"notion": LATE if notion == "late" else notion}
    report = audit(
        people.true, people.days, **people.rows, **how, control_features={"job": people.job},
        leave_out_empty_strata=True,
    )  # fmt: skip
    check(report, people, groups, found[None])


def check_references(name, seed, notion):
    people = People(seed)
    groups = people.subgroups(name)
    outcome, counts = NUMBERS[notion](people.true, people.days)
    reference, number = 0.5, 0.5
    inside = counts & (people.town == "Ulm") & (people.weight > 0)
    if seed % 2 and inside.any():
        reference = GroupMean({"town": "Ulm"}, factor=0.8)
        number = 0.8 * np.average(outcome[inside], weights=people.weight[inside])
    found = values(people, groups, outcome, counts, reference=number)
    how = settings(name) | {"notion": LATE if notion == "late" else notion}
    report = audit(people.true, people.days, **people.rows, **how, reference=reference)
    check(report, people, groups, found[None])


def check_classes(name, seed, notion):
    """Three labels, each against the others; every second instance within strata."""
    people = People(seed)
    groups = people.subgroups(name)
    strata = people.job if seed % 2 else None
    found = np.array([
        values(people, groups, *RATES[notion](people.level, people.given, level), strata)
        for level in LEVELS
    ])  # fmt: skip
    report = audit(
        None if notion == "statistical_parity" else people.level, people.given, **people.rows,
        **settings(name), notion=notion,
        control_features=None if strata is None else {"job": strata},
        leave_out_empty_strata=True,
    )  # fmt: skip
    check(report, people, groups, found)


KINDS = {
    "numbers": (check_numbers, NUMBERS),
    "numbers in strata": (check_numbers_in_strata, NUMBERS),
    "numbers against a reference": (check_references, NUMBERS),
    "classes": (check_classes, RATES),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CLASSES)
def test_a_moment_is_the_worst_of_all_subgroups(name, kind):
    checked, notions = KINDS[kind]
    for seed, notion in enumerate(notions):
        checked(name, seed, notion)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "notion"),
    [(kind, notion) for kind, (_, notions) in KINDS.items() for notion in notions],
)
@pytest.mark.parametrize("name", CLASSES)
def test_each_moment_in_three_hundred_instances_of_each_class(name, kind, notion):
    checked, _ = KINDS[kind]
    for seed in range(100, 400):
        checked(name, seed, notion)
