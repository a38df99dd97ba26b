"""Impact ratios against figures that others published, and against fairlearn."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, selection_rate

from gerrymend import impact_ratios
from tests.impact.rule_data import (
    BY_RACE,
    RICCI,
    SCORED,
    SCORED_BY_RACE,
    SELECTED,
    SELECTED_RATIOS,
    rows_of,
)


def by_values(table):
    return {tuple(group.values.values()): group for group in table.groups}


def test_the_rules_tables_of_selection():
    attributes, selected = rows_of(SELECTED, "sex", "race")
    for column in attributes.values():
        column += [None] * 250
    made = impact_ratios(
        selected + [0, 1] * 125, sensitive_features=attributes, profile="ll144", search=False
    )
    sex, race, both = made.tables
    men, women = (by_values(sex)[(one,)] for one in ("Male", "Female"))
    assert (men.n, men.selected, women.n, women.selected) == (1390, 667, 1181, 555)
    assert f"{women.ratio:.3f}" == "0.979"
    assert men.is_reference
    groups = by_values(both)
    assert {values: f"{groups[values].ratio:.3f}" for values in groups} == SELECTED_RATIOS
    assert {t.n_unknown for t in made.tables} == {250}
    assert made.n_unknown == 250
    # Less than 2 % of 2,571: these are marked, and have ratios, as the rule's own table has.
    assert {v for v, group in groups.items() if group.is_small} == {
        ("Male", "Native"), ("Female", "Native"), ("Female", "Pacific"),
    }  # fmt: skip
    assert [group.values for group in race.groups if group.is_small] == [{"race": "Native"}]


def test_the_rules_table_of_race():
    race = np.repeat([*BY_RACE], [n for n, *_ in BY_RACE.values()])
    selected = np.concatenate([[1] * x + [0] * (n - x) for n, x, _ in BY_RACE.values()])
    (table,) = impact_ratios(selected, sensitive_features={"race": race}, search=False).tables
    ratios = {value: group.ratio for (value,), group in by_values(table).items()}
    for name, (_, _, printed) in BY_RACE.items():
        # The rule divides rates that it has rounded to whole percents here and there.
        assert ratios[name] == pytest.approx(float(printed), abs=0.006)


def test_the_rules_tables_of_scoring():
    attributes, above = rows_of(SCORED, "sex", "race")
    rng = np.random.default_rng(0)
    # Half of the 168 are above the median: any scores that part them so will do.
    scores = np.where(np.array(above) == 1, rng.uniform(60, 100, 168), rng.uniform(0, 50, 168))
    made = impact_ratios(
        scores, sensitive_features=attributes, rate="scoring", profile="ll144", search=False
    )
    sex, race, both = made.tables
    assert made.median == pytest.approx(np.median(scores))
    assert [f"{group.rate:.1%} {group.ratio:.2f}" for group in sex.groups] == [
        "44.7% 0.82", "54.3% 1.00",
    ]  # fmt: skip
    for (value,), group in by_values(race).items():
        assert f"{group.ratio:.2f}" == SCORED_BY_RACE[value]
    for (one, other), group in by_values(both).items():
        assert f"{group.ratio:.2f}" == SCORED[one][other][2]
    # Of two groups with three quarters above, the larger is the reference.
    assert both.reference.values == {"sex": "Male", "race": "Hispanic"}


def test_ricci_by_position():
    attributes, passed = rows_of(RICCI, "position", "race")
    made = impact_ratios(passed, sensitive_features=attributes, search=False)
    assert len(passed) == 118
    rates = {values: group.rate for values, group in by_values(made.tables[2]).items()}
    opinion = {
        ("Captain", "White"): 64.0,
        ("Captain", "Black"): 37.5,
        ("Captain", "Hispanic"): 37.5,
        ("Lieutenant", "White"): 58.1,
        ("Lieutenant", "Black"): 31.6,
        ("Lieutenant", "Hispanic"): 20.0,
    }
    assert {values: round(100 * rate, 1) for values, rate in rates.items()} == opinion
    # The opinion's ratios are within a position: 0.59 of captains, 0.54 and 0.34 of lieutenants.
    for position, expected in (("Captain", [0.59, 0.59]), ("Lieutenant", [0.54, 0.34])):
        of = [place == position for place in attributes["position"]]
        race = np.array(attributes["race"])[of]
        (table,) = impact_ratios(
            np.array(passed)[of], sensitive_features={"race": race}, search=False
        ).tables
        assert [round(group.ratio, 2) for group in table.groups[:2]] == expected


def test_ricci_over_both_positions_by_hand():
    attributes, passed = rows_of(RICCI, "position", "race")
    race = {"race": attributes["race"]}
    made = impact_ratios(passed, sensitive_features=race, reference="White", search=False)
    black, hispanic, white = made.tables[0].groups
    assert (black.n, black.selected, hispanic.n, hispanic.selected) == (27, 9, 23, 6)
    # 9/27 over 41/68 is 68/123; 0.8·41/68·27 = 13.02…, five more than nine.
    assert black.ratio == pytest.approx(68 / 123, abs=1e-15)
    assert (black.shortfall, hispanic.shortfall, white.shortfall) == (5, 6, 0)
    # Pooled 50/95: (1/3 − 41/68) / √(50/95·45/95·(1/27 + 1/68)).
    pooled = 50 / 95 * 45 / 95 * (1 / 27 + 1 / 68)
    assert black.standard_deviations == pytest.approx((1 / 3 - 41 / 68) / pooled**0.5)
    assert {group.describe() for group in made.below(0.8)} == {"race = Black", "race = Hispanic"}


@pytest.mark.parametrize("seed", range(3))
def test_ratios_are_fairlearns(seed):
    rng = np.random.default_rng(seed)
    n = 400
    people = pd.DataFrame({
        "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "sex": rng.choice(["F", "M"], n),
    })  # fmt: skip
    decided = rng.integers(0, 2, n)
    made = impact_ratios(decided, sensitive_features=people, search=False)
    for table in made.tables:
        frame = MetricFrame(
            metrics=selection_rate, y_true=decided, y_pred=decided,
            sensitive_features=people[list(table.attributes)],
        )  # fmt: skip
        for group in table.groups:
            key = tuple(group.values.values())
            assert group.rate == pytest.approx(frame.by_group[key if len(key) > 1 else key[0]])
        lowest = min(group.ratio for group in table.groups)
        assert lowest == pytest.approx(frame.ratio(method="between_groups"))
