"""Held-out audits: rows are parted as said, and the subgroup is measured on the others."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from gerrymend import ExplicitGroups, audit, check_report
from gerrymend.auditing.inference.held_out import measure_held_out, split
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.reporting.wording import percent, signed_unfairness


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 500
    attributes = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "age": rng.integers(20, 40, n)})
    y = rng.integers(0, 2, n)
    p = (rng.random(n) < np.where(attributes["sex"] == "M", 0.7, 0.3)).astype(int)
    return y, p, attributes, rng.random(n)


def tally_of(y, p, attributes, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return Tally.of_rows(distinct_rows(read_columns(attributes)), y, p.astype(float), weight)


def contents(tally):
    """What the tally says of each cell, by its values."""
    names = zip(*(column.values.tolist() for column in tally.columns), strict=True)
    sums = np.concatenate([tally.n_rows, tally.weight, tally.positive]).T.tolist()
    return dict(zip(names, sums, strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_parted_by_label_whatever_their_order(rows, weighted):
    y, p, attributes, weight = rows
    weight = weight if weighted else None
    whole = tally_of(y, p, attributes, weight)
    parts = split(whole, 0.3, 7)
    assert parts[1].n_rows.sum(axis=1).tolist() == [round(0.3 * (y == k).sum()) for k in (0, 1)]
    expected = contents(whole)
    summed = {cell: np.zeros(6) for cell in expected}
    for part in parts:
        for cell, sums in contents(part).items():
            summed[cell] += sums
    for cell, sums in expected.items():
        np.testing.assert_allclose(summed[cell], sums, atol=1e-9)

    order = np.random.default_rng(1).permutation(len(y))
    shuffled = tally_of(y[order], p[order], attributes.iloc[order],
                        None if weight is None else weight[order])  # fmt: skip
    for part, again in zip(parts, split(shuffled, 0.3, 7), strict=True):
        assert contents(part).keys() == contents(again).keys()
        for cell, sums in contents(part).items():
            np.testing.assert_allclose(contents(again)[cell], sums, atol=1e-9)
    assert contents(split(whole, 0.3, 8)[1]) != contents(parts[1])


def test_parting_is_even_over_cells():
    """Each row is held out with the same probability: the mean over seeds is 0.3 of each cell."""
    sizes = np.array([2, 5, 30])
    cell = np.repeat(np.arange(3), sizes)
    whole = tally_of(np.zeros(37, int), np.arange(37) % 2, {"cell": cell})
    held = np.zeros(3)
    for seed in range(1000):
        _, part = split(whole, 0.3, seed)
        held[part.columns[0].values.astype(int)] += part.n_rows.sum(axis=0)
    np.testing.assert_allclose(held / 1000, 11 / 37 * sizes, atol=0.12)


def test_a_label_of_one_row_is_searched():
    whole = tally_of(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1]), {"a": [1, 2, 3, 4]})
    search, held = split(whole, 0.9, 0)
    assert search.n_rows.sum(axis=1).tolist() == [1, 1]
    assert held.n_rows.sum(axis=1).tolist() == [2, 0]


def test_sums_of_weighted_rows_cannot_be_parted(rows):
    with pytest.raises(ValueError, match=r"test_size can't part rows .* pass a second sample"):
        split(replace(tally_of(*rows), rows=None), 0.5, 0)


def test_the_subgroup_is_measured_on_rows_that_were_not_searched(rows):
    y, p, attributes, _ = rows
    report = audit(y, p, sensitive_features=attributes, subgroups="marginals", test_size=0.4,
                   random_state=3)  # fmt: skip
    assert report.n_rows + report.held_out.n_rows == len(y)
    assert report.worst.describe() == report.held_out.subgroup.describe()
    interval = report.held_out.unfairness_interval
    assert interval.low < report.held_out.subgroup.unfairness < interval.high
    assert "rows that were not searched" in " ".join(str(report).split())
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["held_out"]["unfairness_interval"] == list(interval)
    again = audit(y, p, sensitive_features=attributes, subgroups="marginals", test_size=0.4,
                  random_state=3)  # fmt: skip
    assert again.to_dict() == report.to_dict()


def test_a_second_sample_by_hand(rows):
    y, p, attributes, weight = rows
    first, second = slice(0, 300), slice(300, 500)
    report = audit(
        y[first], p[first], sensitive_features=attributes[first], subgroups="marginals",
        holdout=(y[second], p[second], attributes[second][["age", "sex"]]),
    )  # fmt: skip
    assert report.n_rows == 300
    negatives = y[second] == 0
    inside = negatives & (attributes["sex"][second] == "M").to_numpy()
    assert report.worst.describe() == "sex = M"
    rate, overall = (
        Fraction(int(p[second][mask].sum()), int(mask.sum())) for mask in (inside, negatives)
    )
    there = report.held_out.subgroup
    assert there.unfairness == pytest.approx(float(Fraction(int(inside.sum()), 200)
                                                   * (rate - overall)))  # fmt: skip
    assert (there.rate, there.overall_rate) == pytest.approx((float(rate), float(overall)))
    weighted = audit(
        y[first], p[first], sensitive_features=attributes[first], subgroups="marginals",
        holdout=(y[second], p[second], attributes[second], weight[second]),
    )  # fmt: skip
    expected = np.average(p[second][inside], weights=weight[second][inside])
    assert weighted.held_out.subgroup.rate == pytest.approx(expected)


def test_scores_of_the_second_sample_are_cut_too(rows):
    y, _, attributes, weight = rows
    report = audit(y, weight, sensitive_features=attributes, threshold=0.5,
                   holdout=(y, weight, attributes))  # fmt: skip
    assert report.held_out.subgroup.unfairness == pytest.approx(report.lead.unfairness)


@pytest.fixture(scope="module")
def favouring():
    """Blue people are favoured by more than anyone is worse off; who is worst off leads."""
    rng = np.random.default_rng(0)
    n = 3000
    people = pd.DataFrame({
        "race": rng.choice(["blue", "green", "red"], n, p=[0.3, 0.35, 0.35]),
        "town": rng.choice(["Au", "Ulm"], n, p=[0.1, 0.9]),
    })  # fmt: skip
    rate = np.where(people["race"] == "blue", 0.8, np.where(people["town"] == "Au", 0.2, 0.6))
    people["p"] = (rng.random(n) < rate).astype(int)
    searched, other = people[:1500], people[1500:]
    names = ["race", "town"]
    report = audit(
        [0] * 1500, searched["p"], sensitive_features=searched[names], favourable="positive",
        notion="statistical_parity", subgroups="conjunctions", n_permutations=19,
        holdout=([0] * 1500, other["p"], other[names]),
    )  # fmt: skip
    return report, searched, other


def test_who_leads_is_measured_and_so_are_others_that_exceed_gamma(favouring):
    report, _, other = favouring
    assert report.worst.treated == "better"
    assert report.lead.treated == "worse"
    there = report.held_out.subgroup
    assert there.describe() == report.lead.describe()
    groups = [there, *(one.subgroup for one in report.held_out.others)]
    assert report.favoured.describe() in [one.describe() for one in groups[1:]]
    for one in groups:
        inside = np.logical_and.reduce([
            other[part.attribute].isin(list(part.values)) for part in one.rule.conditions
        ])  # fmt: skip
        expected = inside.mean() * (other["p"][inside].mean() - other["p"].mean())
        assert one.unfairness == pytest.approx(expected)
    words = " ".join(str(report).split())
    assert f"On 1,500 rows that were not searched, {there.describe()}: " in words


def test_a_figure_of_other_rows_is_of_the_group_whose_name_is_beside_it(favouring):
    """The disadvantaged group's figure was said to be the most favoured one's."""
    report, *_ = favouring
    words = " ".join(str(report).split())
    for one in (report.held_out, *report.held_out.others):
        name = one.subgroup.describe()
        shown = signed_unfairness(one.subgroup.unfairness, report.gamma)
        said = rf"confirm that {name} differs[^:]*: its unfairness there is {re.escape(shown)}, "
        assert re.search(said, words)
        assert f"{name}: rate of positive decisions {percent(one.subgroup.rate)}, " in words
    assert report.held_out.unfairness == report.held_out.subgroup.unfairness


def test_others_that_would_tell_of_few_rows_are_left_out(favouring):
    """Of two groups that differ by three people on these rows the second is not told."""
    other = favouring[2]
    few = pd.concat([other[other["race"] != "blue"], other[other["race"] == "blue"][:40]])
    blue = few[few["race"] == "blue"].index
    few.loc[blue, "town"] = ["Au"] * 3 + ["Ulm"] * 37
    tally = tally_of(np.zeros(len(few), int), few["p"].to_numpy(), few[["race", "town"]])
    every, some = (
        audit([0] * 200, [1, 0] * 50 + [0] * 100, sensitive_features=columns,
              notion="statistical_parity", subgroups=ExplicitGroups({"one": group})).worst
        for columns, group in (
            ({"race": ["blue"] * 100 + ["red"] * 100, "town": ["Ulm"] * 200}, {"race": "blue"}),
            ({"race": ["blue"] * 100 + ["red"] * 100, "town": ["Ulm"] * 200},
             {"race": "blue", "town": "Ulm"}),
        )
    )  # fmt: skip
    for first, second in ((every, some), (some, every)):
        found = measure_held_out(first, tally, searched=tally_of(*SEARCHED), min_group_size=10,
                                 others=[second])  # fmt: skip
        assert found.subgroup.size in (37, 40)
        assert found.others == ()
        told = measure_held_out(first, tally, searched=tally_of(*SEARCHED), min_group_size=3,
                                others=[second])  # fmt: skip
        assert {told.subgroup.size, told.others[0].subgroup.size} == {37, 40}


SEARCHED = (np.array([0, 1]), np.array([0, 1]), {"race": ["blue", "red"], "town": ["Au", "Ulm"]})


@pytest.mark.parametrize("rows", [True, False])
def test_lies_about_others_are_refused(favouring, rows):
    report, searched, other = favouring
    names = ["race", "town"]
    data = {"y_true": [0] * 1500, "y_pred": searched["p"], "sensitive_features": searched[names]}
    if rows:
        data["holdout"] = ([0] * 1500, other["p"], other[names])
    honest = report.to_dict()
    assert check_report(honest, **data).ok

    def refused(change):
        lie = json.loads(json.dumps(honest))
        change(lie["held_out"]["others"], lie)
        return bool(check_report(lie, **data).problems)

    assert refused(lambda others, _: others[0]["subgroup"].update(rate=0.1))
    assert refused(lambda others, _: others[0]["subgroup"].update(unfairness=-0.2))
    assert refused(lambda others, _: others[0].update(unfairness_interval=[-0.2, -0.1]))
    assert refused(lambda others, _: others[0]["subgroup"].update(subgroup="town = Ulm"))
    assert refused(lambda others, _: others.append(others[0]))
    assert refused(lambda others, lie: others.append(
        {name: lie["held_out"][name] for name in others[0]}))  # fmt: skip
    assert refused(lambda others, _: others[0]["subgroup"].update(p_value=0.05))
    assert refused(lambda _, lie: lie.update(gamma=0.5, verdict="within gamma"))
    if rows:
        assert refused(lambda others, _: others[0].update(gap_interval=None))
    without = json.loads(json.dumps(honest))
    without["held_out"]["others"] = []
    result = check_report(without, **data)
    assert "held_out.others" in result.fields_not_checked
    del without["held_out"]["others"]
    with pytest.raises(ValueError, match="'held_out' of the report has no 'others'"):
        check_report(without, **data)


BAD = [
    ({"test_size": 0}, "test_size must be a number above 0; got 0"),
    ({"test_size": 1.0}, "test_size must be below 1; got 1.0. It is a part of the rows"),
    ({"test_size": "half"}, "test_size must be a number above 0"),
    ({"n_permutations": -1}, "n_permutations must be a number of at least 0; got -1"),
    ({"n_permutations": 9.5}, "n_permutations must be a whole number; got 9.5"),
    ({"top": 0}, "top must be a number of at least 1; got 0"),
    ({"random_state": None}, "random_state must be a number of at least 0; got None"),
    ({"holdout": ([0], [1])}, r"holdout must be a tuple .* got tuple of 2\."),
    ({"holdout": [[0], [1], {"a": [1]}]}, r"holdout must be a tuple .* got list\."),
    (
        {"holdout": ([0, 2], [1, 0], {"a": [1, 2]})},
        "In holdout: y_pred has values that are no label: 1",
    ),
    (
        {"holdout": ([0, 1], [1, 0], {"b": [1, 2]})},
        "In holdout: sensitive_features has no column 'a'",
    ),
    ({"holdout": ([0, 1], [1, 0], {"a": ["x", "y"]})}, "In holdout: Column 'a' .* type str"),
    ({"holdout": ([0, 1], [1], {"a": [1, 2]})}, "In holdout: .* y_true has 2, y_pred has 1"),
    ({"holdout": ([0, None], [1, 0], {"a": [1, 2]})}, "In holdout: y_true has 1 missing"),
    ({"holdout": ([0], [1], {"a": [1]}), "test_size": 0.5}, "test_size and holdout exclude"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_named_with_a_remedy(change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        audit([0, 1, 0, 1], [0, 1, 1, 0], sensitive_features={"a": [1, 2, 3, 4]}, **change)
