"""Sentences that are true: what is rounded, what is covered, and which rows are which."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from gerrymend import Conjunctions, audit
from gerrymend.auditing.prove import Proof
from gerrymend.models.derandomization_cost import Figures
from gerrymend.reporting.audit.subgroup_words import difference_words, rate_sentence
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.wording import compared
from tests.reporting.audits import people


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("gamma", [0.01, 0.02])
def test_an_exact_value_is_one_number(gamma):
    """0.0160396 was "0.0160 … no subgroup exceeds 0.0161: this is exact"."""
    y, decided, A = people()
    report = audit(y, decided, sensitive_features=A, subgroups="marginals", gamma=gamma)
    worst = dataclasses.replace(report.worst, unfairness=0.0160396)
    report = dataclasses.replace(
        report, unfairness=0.0160396, upper_bound=0.0160396, worst=worst, top=(worst,)
    )
    assert report.exact
    view = audit_view(report.to_dict())
    shown = flat(
        " ".join([audit_text(report.to_dict()), *view["verdict"], *map(" ".join, view["figures"])])
    )
    assert "0.0160" in shown
    assert "0.0161" not in shown


def test_a_bound_is_never_rounded_down():
    proof = Proof("undecided", 0.01, 0.005, 0.01601, None, "every value")
    assert "none exceeds 0.0161, which" in str(proof)
    assert Figures(0.2, 0.0, 0.01601).no_more_than == "0.0161"
    assert Figures(0.2, 0.01604, 0.01604).no_more_than == "0.0160"


def test_one_attribute_at_a_time_covers_intervals():
    """An interval of one number is no combination: 30 to 40 alone is decided 1."""
    age = np.repeat(np.arange(20, 60), 20)
    y, decided = np.zeros(800, dtype=int), ((age >= 30) & (age < 40)).astype(int)
    report = audit(y, decided, sensitive_features={"age": age}, subgroups=Conjunctions())
    assert report.worst.describe() == "30 ≤ age ≤ 39"
    # By hand: a quarter of all rows, all decided 1, against a quarter overall: 1/4·3/4.
    assert report.unfairness == pytest.approx(3 / 16)
    assert report.single_unfairness == pytest.approx(3 / 16)
    # Both sides of the mean, 39.5: 10 of 20 years decided 1, (1/2 − 1/4)/2.
    assert report.marginal_unfairness == pytest.approx(1 / 8)
    text = flat(str(report))
    assert (
        "One attribute at a time (each value, each interval of a number) shows as much as the "
        "largest of all: the combinations that were searched are no worse."
    ) in text


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_of_single_attributes_by_enumeration(seed):
    y, decided, A = people(200, seed)
    report = audit(y, decided, sensitive_features=A, subgroups=Conjunctions(max_depth=1),
                   notion="equalized_odds")  # fmt: skip
    assert report.single_unfairness == pytest.approx(report.unfairness)
    assert report.exact


def test_the_same_rows_are_not_called_others():
    y, decided, A = people(600)
    order = np.random.default_rng(0).permutation(600)
    again = y[order], decided[order], {name: values[order] for name, values in A.items()}
    report = audit(y, decided, sensitive_features=A, holdout=again, subgroups="conjunctions")
    assert report.held_out.same_rows
    for shown in (str(report), report.to_markdown(), report.to_html()):
        assert "that were not searched" not in flat(shown)
        assert "confirm it" not in shown
        assert "which are those that were searched" in flat(shown)
    other = people(600, seed=9)
    assert not audit(y, decided, sensitive_features=A, holdout=other).held_out.same_rows
    assert "that were not searched" in flat(str(audit(y, decided, sensitive_features=A,
                                                      holdout=other)))  # fmt: skip


def _value(words):
    """Return a number as it is read, without its unit."""
    return Fraction(words.split()[0].replace("−", "-").replace(",", ""))


@pytest.mark.parametrize("unit", [None, "days"])
def test_a_difference_is_the_true_one_rounded(unit):
    """And no further from that of what is shown than both of these are rounded."""
    rng = np.random.default_rng(0)
    scale = 1.0 if unit is None else 10.0 ** rng.integers(-3, 7)
    for rate, reference in rng.random((300, 2)) * 0.97 * scale + 0.01 * scale:
        shown = compared(rate, reference, unit)
        exact = (rate - reference) * (100 if unit is None else 1)
        step = 0.1
        if unit is not None:  # four digits of the larger, or two of the difference
            leading = [np.floor(np.log10(x)) for x in (max(rate, reference), abs(exact))]
            step = 10.0 ** min(leading[0] - 3, leading[1] - 1)
        assert float(_value(shown.gap)) == pytest.approx(exact, abs=0.5001 * step)
        apart = float(_value(shown.rate) - _value(shown.reference) - _value(shown.gap))
        assert abs(apart) < 1.5001 * step


def test_differences_of_a_report_are_those_of_all_digits():
    """78.449 % less 45.251 % is 33.2, although the figures that are shown are 33.1 apart."""
    one = {"rate": 0.78449, "overall_rate": 0.45251, "gap": 0.33198, "ratio": 1.73, "notion": "x"}
    assert rate_sentence(one) == "x 78.4 %, against 45.3 % overall"
    assert difference_words(one) == "+33.2 points, 1.73 times the overall rate"
    one |= {"rate": 24.675, "overall_rate": 21.5311, "gap": 3.1439, "unit": "days"}
    assert rate_sentence(one) == "x 24.68 days, against 21.53 days overall"
    assert difference_words(one) == "+3.14 days"
