"""prove() over classes that are searched exactly: always decided, and right by enumeration."""

import numpy as np
import pytest

from gerrymend import Conjunctions, ExplicitGroups, Marginals, Trees, ValueSets, prove
from gerrymend.inputs.protected import Column
from gerrymend.notions import FALSE_POSITIVE_RATE, STATISTICAL_PARITY
from tests.marks import slow
from tests.subgroups import brute_force as brute
from tests.subgroups.test_trees import leaf_unions

FACTORS = (0.5, 0.99, 1.0, 1.01, 2.0)


def marginal_masks(columns, weight):
    """Values of categories, and both sides of the mean of a number."""
    for column in columns:
        if column.is_categorical:
            yield from brute.single_values(column)
        else:
            below = column.values < np.average(column.values, weights=weight)
            yield below
            yield ~below


NAMED = {"low": {"n": (None, 3)}, "some": {"c": ["a", "b"]}, "both": {"c": "a", "n": (2, None)}}


def named_masks(columns, weight):
    number, category = (column.values for column in columns)
    yield number < 3
    yield category <= 1
    yield (category == 0) & (number >= 2)


CLASSES = {
    "conjunctions": (
        Conjunctions(2),
        lambda columns, _: brute.products(columns, 2, brute.single_values, brute.intervals),
    ),
    "half lines": (
        Conjunctions(2, numeric="half_lines"),
        lambda columns, _: brute.products(columns, 2, brute.single_values, brute.half_lines),
    ),
    "value sets": (
        ValueSets(2),
        lambda columns, _: brute.products(columns, 2, brute.value_subsets, brute.intervals),
    ),
    "trees": (Trees(2), lambda columns, _: leaf_unions(columns, 2)),
    "marginals": (Marginals(), marginal_masks),
    "named": (ExplicitGroups(NAMED), named_masks),
}


def rows_of(rng):
    """A number, a category, labels, decisions and weights of a few dozen rows."""
    n = int(rng.integers(20, 60))
    number, category = rng.integers(0, 4, n).astype(float), rng.integers(0, 3, n)
    category[:3] = 0, 1, 2
    columns = (Column("n", number), Column("c", category.astype(float), ("a", "b", "c")))
    y, p = rng.integers(0, 2, n), rng.integers(0, 2, n)
    y[:2] = 0, 1
    weight = rng.uniform(0.1, 3.0, n) if rng.random() < 0.5 else np.ones(n)
    frame = {"n": number, "c": np.array(list("abc"))[category]}
    return columns, frame, y, p, weight


def exact_unfairness(notion, y, p, weight, masks):
    """The largest α(g)·|rate(g) − rate| of the masks, for notions whose outcome is the decision."""
    counts = np.array(notion.event)[y] * weight
    centred = counts * (p - np.average(p, weights=counts))
    return float(np.abs(np.array(list(masks)) @ centred).max()) / weight.sum()


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("seed", [7, slow(8)])
def test_an_exact_class_is_always_decided(name, seed):
    subgroups, masks_of = CLASSES[name]
    rng = np.random.default_rng(seed)
    for i in range(30):
        columns, frame, y, p, weight = rows_of(rng)
        notion = (FALSE_POSITIVE_RATE, STATISTICAL_PARITY)[i % 2]
        worst = exact_unfairness(notion, y, p, weight, masks_of(columns, weight))
        if worst < 1e-9:
            continue
        for factor in FACTORS:
            proof = prove(
                y, p, at_most=factor * worst, sensitive_features=frame, notion=notion,
                subgroups=subgroups, sample_weight=weight, min_group_size=1,
            )  # fmt: skip
            assert proof.status == ("refuted" if factor < 1.0 else "proved"), (i, factor)
            assert proof.gap == 0.0
            assert proof.upper_bound >= worst - 1e-12
            assert proof.unfairness <= worst + 1e-12
            if proof.status == "refuted":
                members = proof.subgroup.contains(frame)
                value = abs(notion.unfairness(y, p, members, weight))
                assert value > factor * worst
                assert proof.unfairness == pytest.approx(value, abs=1e-12)
