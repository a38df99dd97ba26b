"""What is rounding follows the scale of outcomes: salaries are audited as well as rates are."""

import json
from fractions import Fraction

import numpy as np
import pytest

from gerrymend import OutcomeNotion, audit, check_report, prove
from gerrymend.auditing.subgroup import ROUNDING, rounding_of
from gerrymend.checker.figures import rounding_of as checkers_rounding

SCALES = (1.0, 1e6 / 3, 1e9 / 7, 1e12 / 7)


def people(seed, n=400):
    rng = np.random.default_rng(seed)
    A = {"sex": rng.choice(["F", "M"], n), "town": rng.choice(["u", "v", "w"], n)}
    return rng, A


@pytest.mark.parametrize("outcomes", [(0, 1), (1e4, 53_000), (-2e9, 0), (0, 0.002)])
def test_the_checker_takes_the_same_for_rounding(outcomes):
    largest = max(Fraction(abs(one)) for one in outcomes)
    assert float(checkers_rounding(largest)) == pytest.approx(rounding_of(*outcomes), rel=1e-12)
    assert ROUNDING * largest <= rounding_of(*outcomes) * (1 + 1e-12) < 10.1 * ROUNDING * largest


@pytest.mark.parametrize("subgroups", ["linear", "conjunctions"])
def test_salaries_are_not_withheld_for_rounding(subgroups):
    for seed in range(8):
        rng, A = people(seed)
        pay = np.round(rng.lognormal(10.8, 0.4, 400), 2)
        report = audit(None, pay, sensitive_features=A, notion="mean_outcome", gamma=500,
                       favourable="positive", subgroups=subgroups)  # fmt: skip
        assert report.exact
        assert not report.withheld
        assert "has fewer than" not in report.to_markdown()
        assert check_report(report, None, pay, sensitive_features=A).problems == []


def test_the_same_outcomes_in_another_unit_make_the_same_report():
    for seed in range(3):
        rng, A = people(seed, 60)
        base = rng.integers(0, 3, 60).astype(float)
        told = set()
        for scale in SCALES:
            report = audit(
                None, base * scale, sensitive_features=A, notion="mean_outcome", gamma=0.05 * scale,
                subgroups="conjunctions", n_permutations=99, confidence=0.9, n_resamples=60,
                min_group_size=5,
            )  # fmt: skip
            population = report.population
            told.add((report.verdict, report.exact, report.withheld, report.p_value,
                      population.verdict, population.rows_needed))  # fmt: skip
        assert len(told) == 1, told


@pytest.mark.parametrize("value", [0.1, 1e5 / 3, 123456789.123, 1e12 / 7])
def test_constants_of_any_size_are_within_a_gamma_of_0(value):
    A = {"sex": np.resize(["F", "M"], 200), "town": np.resize(["u", "v", "w"], 200)}
    same = {"sensitive_features": A, "notion": "mean_outcome", "subgroups": "conjunctions"}
    report = audit(None, np.full(200, value), **same, gamma=0.0)
    assert (report.verdict, report.unfairness, report.worst) == ("within gamma", 0.0, None)
    assert prove(None, np.full(200, value), **same, at_most=0.0).status == "proved"


def test_permutations_within_rounding_of_what_was_found_count():
    # With three outcomes in 16 rows many of the ways to deal them are as bad as what is found.
    A = {"sex": np.resize(["F", "M"], 16), "town": np.resize(["u", "u", "v"], 16)}
    for seed in range(4):
        dealt = np.random.default_rng(seed).choice([0, 1, 2], 16)
        ps = {
            audit(None, dealt * scale + offset, sensitive_features=A, notion="mean_outcome",
                  subgroups="marginals", n_permutations=99, min_group_size=2).p_value
            for scale, offset in ((1.0, 0.0), (1e6 / 3, 0.0), (100 / 3, 1e7 / 3))
        }  # fmt: skip
        assert len(ps) == 1, ps


def test_a_reference_at_the_least_error_is_warned_of_by_both_or_neither():
    y = np.array([0.8, 0.9, 1.5, 2.1] * 15)
    y_pred = np.array([0.5, 0.2, 0.6, 1.4] * 15)
    A = {"sex": ["F", "M"] * 30}
    assert 0.3 < (y - y_pred).min() < 0.3 + 1e-15
    report = audit(y, y_pred, sensitive_features=A, notion="mean_error", reference=0.3,
                   subgroups="marginals")  # fmt: skip
    assert not [doubt for doubt in report.warnings if doubt.code == "reference_outside_outcomes"]
    assert check_report(report, y, y_pred, sensitive_features=A).problems == []


def test_a_wrong_share_of_salaries_is_refused():
    rng, A = people(0)
    pay = np.round(rng.lognormal(10.8, 0.4, 400), 2)
    report = audit(None, pay, sensitive_features=A, notion="mean_outcome", gamma=500,
                   subgroups="marginals")  # fmt: skip
    planted = json.loads(report.to_json())
    for one in (planted["worst"], planted["top"][0]):
        one["share"] += 1e-6
    assert check_report(planted, None, pay, sensitive_features=A).problems


def test_outcomes_that_differ_by_rounding_alone_are_refused():
    close = OutcomeNotion("time", lambda y, p: 1e12 + p, reads_labels=False)
    with pytest.raises(ValueError, match="can't be told from rounding"):
        audit(None, [0.0, 0.001] * 20, sensitive_features={"sex": ["F", "M"] * 20}, notion=close)
