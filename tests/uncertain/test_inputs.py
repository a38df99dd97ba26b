"""What audit_uncertain() takes, what it refuses, and what depends on nothing but the rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import GroupMean, OutcomeNotion, audit_uncertain
from gerrymend._runtime.errors import ArgumentError
from gerrymend.uncertain.pools import pools_of

RNG = np.random.default_rng(0)
N = 400
P = RNG.random(N).round(3)
D = (RNG.random(N) < 0.3 + 0.3 * P).astype(int)
Y = RNG.integers(0, 2, N)
SEX = RNG.choice(["F", "M"], N)
RACE = {"Black": P, "White": 1 - P}


def made(**how):
    given = {
        "y_true": Y,
        "y_pred": D,
        "attribute_probabilities": {"race": RACE},
        "sensitive_features": {"sex": SEX},
    }
    return audit_uncertain(**given | how)


BAD = {
    "no mapping": ({"attribute_probabilities": [P]}, "must be a mapping from the attribute"),
    "an array": ({"attribute_probabilities": {"race": np.c_[P, 1 - P]}}, "must be a frame, or a"),
    "two attributes": (
        {"attribute_probabilities": {"race": RACE, "faith": RACE}},
        "must have one attribute, and has 'race', 'faith'. .* a category for each pair",
    ),
    "no attribute": ({"attribute_probabilities": {}}, "must have one attribute, and has none"),
    "one column": (
        {"attribute_probabilities": {"race": {"Black": P}}},
        "has 1 column, .* add one for everybody else, 1 less the others",
    ),
    "too many": (
        {"attribute_probabilities": {"race": {str(i): np.full(N, 0.1) for i in range(10)}}},
        "has 10 categories, .* at most 8 will do",
    ),
    "percent": (
        {"attribute_probabilities": {"race": {"Black": 100 * P, "White": 100 - 100 * P}}},
        "must have probabilities from 0 to 1; .* Percentages are divided by 100",
    ),
    "negative": (
        {"attribute_probabilities": {"race": {"Black": P - 2, "White": 3 - P}}},
        "must have probabilities from 0 to 1; 'Black' has -",
    ),
    "sums": (
        {"attribute_probabilities": {"race": {"Black": P / 2, "White": (1 - P) / 2}}},
        r"add up to 0\.5 in row 0, .* 400 rows\. Add a category for everybody else",
    ),
    "missing": (
        {"attribute_probabilities": {"race": {"Black": [None, *P[1:]], "White": 1 - P}}},
        r"attribute_probabilities\['race'\]\['Black'\] has 1 missing",
    ),
    "text": (
        {"attribute_probabilities": {"race": {"Black": P.astype(str), "White": 1 - P}}},
        r"attribute_probabilities\['race'\]\['Black'\] must be numbers",
    ),
    "short": (
        {"attribute_probabilities": {"race": {"Black": P[1:], "White": 1 - P}}},
        "columns that differ in their number of rows: 'Black' 399, 'White' 400",
    ),
    "other rows": (
        {"attribute_probabilities": {"race": {"Black": P[1:], "White": 1 - P[1:]}}},
        "attribute_probabilities has 399",
    ),
    "other rows, nothing known": (
        {
            "attribute_probabilities": {"race": {"Black": P[1:], "White": 1 - P[1:]}},
            "sensitive_features": None,
        },
        "attribute_probabilities has 399",
    ),
    "known too": (
        {"sensitive_features": {"race": SEX}},
        "Column 'race' of sensitive_features is an attribute of which probabilities are given",
    ),
    "a mean": ({"notion": "mean_outcome"}, "notion='mean_outcome' is a mean of numbers"),
    "a mean of one's own": (
        {"notion": OutcomeNotion("days", lambda y, p: p, unit="days")},
        "notion='days' is a mean of numbers",
    ),
    "multicalibration": ({"notion": "multicalibration"}, "is a mean of numbers"),
    "no labels": ({"y_true": None}, "y_true is not given"),
    "a pool of none": ({"pool_size": 0}, "pool_size must be a number of at least 1"),
    "an error below 0": ({"probability_error": -0.1}, "probability_error must be a number of at"),
    "a gamma": ({"gamma": "x"}, "gamma must be a number"),
    "a class": ({"subgroups": "linaer"}, "did you mean 'linear'"),
    "an identifier": (
        {"sensitive_features": {"name": [f"n{i}" for i in range(N)]}},
        "Column 'name' of sensitive_features",
    ),
}


@pytest.mark.parametrize(("change", "words"), BAD.values(), ids=BAD)
def test_what_cant_be_used_is_refused(change, words):
    with pytest.raises(ArgumentError, match=f"(?s){words}"):
        made(**change)


def test_a_reference_of_ones_own_is_refused():
    from gerrymend.notions import as_notions, directed_notions

    (own,) = directed_notions("false_positive_rate", reference=GroupMean({"sex": "M"}))
    assert as_notions(own) == (own,)
    with pytest.raises(ArgumentError, match="has a reference of its own"):
        made(notion=own)


def test_indexes_that_disagree_are_refused():
    frame = pd.DataFrame(RACE)
    with pytest.raises(ArgumentError, match=r"attribute_probabilities.* in another order"):
        made(attribute_probabilities={"race": frame[::-1]}, y_pred=pd.Series(D))


@pytest.mark.parametrize("argument", ["y_true", "sensitive_features", "sample_weight"])
def test_indexes_of_all_arguments_are_compared(argument):
    """Decisions in an array have no index, by which the others were once compared alone."""
    frame = pd.DataFrame(RACE)
    given = pd.Series(np.resize([1, 0], len(frame)), name="flag")[::-1]
    with pytest.raises(ArgumentError, match="in another order"):
        made(attribute_probabilities={"race": frame}, **{argument: given})


def figures(report):
    return (
        report.expected_unfairness,
        report.upper_bound,
        report.lower_bound,
        report.worst.describe(),
        report.provenance.fingerprint,
    )


def same(one, other):
    assert one[:3] == pytest.approx(other[:3], abs=1e-12)
    assert one[3:] == other[3:]


def test_every_container_is_read_alike():
    plain = figures(made())
    columns = {"y": Y, "d": D, "sex": SEX, "Black": P, "White": 1 - P}
    named = {
        "y_true": "y",
        "y_pred": "d",
        "sensitive_features": ["sex"],
        "attribute_probabilities": {"race": ["Black", "White"]},
    }
    same(plain, figures(made(attribute_probabilities={"race": pd.DataFrame(RACE)})))
    same(plain, figures(made(attribute_probabilities={"race": pl.DataFrame(RACE)})))
    for data in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns)):
        same(plain, figures(made(data=data, **named)))
    as_named = {"attribute_probabilities": {"race": {"Black": "Black", "White": "White"}}}
    same(plain, figures(made(data=columns, **named | as_named)))
    alone = figures(made(sensitive_features=None))
    same(alone, figures(made(data=columns, **named | {"sensitive_features": None})))
    with pytest.raises(ArgumentError, match=r"attribute_probabilities.*'Blak'"):
        made(data=columns, **named | {"attribute_probabilities": {"race": ["Blak", "White"]}})
    with pytest.raises(ArgumentError, match="must name columns of data"):
        made(data=columns, **named | {"attribute_probabilities": {"race": RACE}})


def test_the_order_of_rows_does_not_matter():
    order = RNG.permutation(N)
    other = made(
        y_true=Y[order],
        y_pred=D[order],
        sensitive_features={"sex": SEX[order]},
        attribute_probabilities={"race": {name: p[order] for name, p in RACE.items()}},
    )
    same(figures(made()), figures(other))


def test_pools_do_not_depend_on_the_order_of_rows():
    """Two categories vary alike, but for rounding, and are cut where ties leave a choice."""
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.2, 0.3, 0.7, 0.85], 999)
    values = np.column_stack([p, 1 - p])
    cell = rng.integers(0, 2, 999)

    def told(order):
        pools = pools_of(cell[order], values[order], 60)
        return {(pool.cell, frozenset(order[pool.rows].tolist())) for pool in pools}

    expected = told(np.arange(999))
    assert sum(len(rows) for _, rows in expected) == 999
    assert min(len(rows) for _, rows in expected) >= 60
    for _ in range(20):
        assert told(rng.permutation(999)) == expected


def test_weights_count_as_rows_do():
    """In one pool for either sex, and with rows of weight 0 that are nobody."""
    weight = RNG.integers(0, 4, N)
    weighted = made(sample_weight=weight, pool_size=120)
    again = np.repeat(np.arange(N), weight)
    repeated = made(
        y_true=Y[again],
        y_pred=D[again],
        sensitive_features={"sex": SEX[again]},
        attribute_probabilities={"race": {name: p[again] for name, p in RACE.items()}},
        pool_size=len(again) // 3,
    )
    assert (weighted.n_pools, repeated.n_pools) == (2, 2)
    for name in ("expected_unfairness", "upper_bound", "lower_bound"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-12)
    assert weighted.n_rows == np.count_nonzero(weight)
    assert (weighted.weighted, repeated.weighted) == (True, False)


def test_rounded_probabilities_are_divided_by_their_sum():
    rounded = {name: 0.996 * p for name, p in RACE.items()}
    found = made(attribute_probabilities={"race": rounded})
    assert found.expected_unfairness == pytest.approx(made().expected_unfairness, abs=1e-12)


def test_small_groups_are_not_described():
    sex = np.where(np.arange(N) < 7, "rare", SEX)
    y = np.where(np.arange(N) < 7, 0, Y)
    d = np.where(np.arange(N) < 7, 1, D)
    report = made(y_true=y, y_pred=d, sensitive_features={"sex": sex}, gamma=0.0)
    told = [report.worst, report.surely, *report.categories]
    assert "rare" not in " ".join(one.describe() for one in told if one)
    assert report.n_free == 7
    assert "rare" not in str(report) + report.to_json() + report.to_markdown()
    # Its bound covers them: alone, without a floor, they are below it.
    every = made(y_true=y, y_pred=d, sensitive_features={"sex": sex}, min_group_size=1)
    assert every.upper_bound == report.upper_bound


def test_several_notions_are_audited_together():
    both = made(notion=("false_positive_rate", "false_negative_rate"))
    apart = [made(notion=name) for name in ("false_positive_rate", "false_negative_rate")]
    for name in ("expected_unfairness", "upper_bound", "lower_bound"):
        assert getattr(both, name) == max(getattr(one, name) for one in apart)
    assert {one.notion.name for one in both.categories} == {
        "false_positive_rate",
        "false_negative_rate",
    }


@pytest.mark.parametrize("subgroups", ["linear", "trees", "value_sets", "marginals"])
def test_any_class_takes_the_known_attributes(subgroups):
    age = RNG.integers(20, 60, N)
    report = made(subgroups=subgroups, sensitive_features={"sex": SEX, "age": age}, budget=2)
    assert report.lower_bound <= report.expected_unfairness + 1e-12
    assert report.expected_unfairness <= report.expected_bound <= report.upper_bound + 1e-12
    assert report.n_free == N  # years are shared by fewer than 100


def test_a_verdict_is_green_only_where_the_bound_is_within_gamma():
    report = made()
    lower, found, upper = report.lower_bound, report.expected_unfairness, report.upper_bound
    assert lower < found < upper
    assert made(gamma=upper).verdict == "within gamma"
    for gamma in (upper * 0.999, found, (lower + found) / 2):
        assert made(gamma=gamma).verdict == "undecided"
    assert made(gamma=lower / 2).verdict == ("exceeds gamma" if lower else "undecided")


def test_decisions_that_are_the_labels_are_doubted():
    codes = [one.code for one in made(y_pred=Y).warnings]
    assert codes == ["decisions_equal_labels"]
    assert made(y_pred=Y, gamma=1).to_dict()["warnings"][0]["code"] == codes[0]
    assert [one.code for one in made(sensitive_features=None).warnings] == []
