"""Numbers that stand alone and that float64 does not hold: refused before any work."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from gerrymend import GroupMean, audit, audit_counts
from gerrymend.inputs.bins import check_score_bins
from gerrymend.inputs.settings import check_gamma
from gerrymend.notions import OutcomeNotion
from gerrymend.subgroups import ExplicitGroups

B = 2**53
P = np.arange(200) % 2
SEX = {"sex": np.where(P, "F", "M")}
LOST = [B + 1, np.int64(B + 1), Decimal(B + 1), Decimal(B) + Decimal("0.5"), Fraction(2 * B + 1, 2)]
LOST += [Decimal("1e-400"), Fraction(1, 10**400)]


@pytest.mark.parametrize(
    "number", LOST, ids=lambda number: f"{type(number).__name__} {number}"[:30]
)
def test_a_number_that_float64_does_not_hold_is_refused(number):
    with pytest.raises(ValueError, match=r"^reference has .*float64 does not hold"):
        audit(None, P, notion="mean_outcome", sensitive_features=SEX, reference=number)
    with pytest.raises(ValueError, match=r"^factor has .*float64 does not hold"):
        GroupMean({"sex": "M"}, factor=number)
    with pytest.raises(ValueError, match=r"^bins has .*float64 does not hold"):
        check_score_bins([number])
    with pytest.raises(ValueError, match=r"^gamma has .*float64 does not hold"):
        check_gamma(number)
    for wanted in ((number, None), (None, number), number):
        groups = ExplicitGroups({"far": {"age": wanted}})
        with pytest.raises(ValueError, match="asks 'age' to be"):
            audit(P, P, sensitive_features={"age": P * 1.0}, subgroups=groups)


def test_numbers_that_are_rounded_in_their_last_digits_are_taken():
    assert check_score_bins([Decimal("0.1"), Fraction(1, 3), 2**60]) == (0.1, 1 / 3, 2.0**60)
    taken = audit(None, P, notion="mean_outcome", sensitive_features=SEX, reference=Decimal("0.25"))
    assert taken.worst.overall_rate == 0.25


@pytest.mark.parametrize("threshold", [Decimal(B) + Decimal("0.5"), Fraction(2 * B + 1, 2)])
def test_a_threshold_between_floats_is_refused(threshold):
    with pytest.raises(ValueError, match=r"^threshold has .*float64 does not hold"):
        audit(P, B + P, threshold=threshold, sensitive_features=SEX)


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
@pytest.mark.parametrize("base", [0, 10**30])
def test_labels_of_128_bits_are_told_apart(base, dtype):
    labels = pl.Series([base + int(one) for one in P], dtype=dtype)
    asked = {"notion": "statistical_parity", "sensitive_features": SEX, "pos_label": base + 1}
    found = audit(labels, labels, **asked)
    assert found.labels == (base, base + 1)
    assert found.worst.unfairness == 0.25


def test_weights_of_128_bits_are_taken():
    weights = pl.Series([10**30] * 200, dtype=pl.Int128)
    asked = {"notion": "statistical_parity", "sensitive_features": SEX}
    assert audit(P, P, sample_weight=weights, **asked).worst.unfairness == 0.25


SMALL = [Decimal("1e-400"), Fraction(1, 10**400), np.longdouble("1e-400")]


@pytest.mark.parametrize("small", SMALL, ids=lambda one: type(one).__name__)
def test_a_weight_too_small_for_float64_is_not_0(small):
    if small == 0:
        pytest.skip("a long double is a float64 here")
    weights = [small if one else type(small)(1) for one in P]
    with pytest.raises(ValueError, match=r"^sample_weight has numbers that float64 does not hold"):
        audit(P, P, sample_weight=weights, sensitive_features=SEX)


PLACES = Decimal("29.00000000000000000001")
COLUMNS = {
    "list": [PLACES, Decimal(30)],
    "objects": np.array([PLACES, 30], dtype=object),
    "polars": pl.Series([PLACES, Decimal(30)]),
    "fractions": [Fraction(29) + Fraction(1, 10**20), 30],
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_count_with_places_that_float64_has_not_is_none(column):
    table = {"sex": ["F", "M"], "y": [0, 1], "prediction": [1, 0], "n": column}
    with pytest.raises(ValueError, match=r"^count must be whole numbers of rows"):
        audit_counts(table, sensitive_features="sex", label="y", count="n")


FORMULAS = {
    "outcome": OutcomeNotion("far", lambda y, p: p - (B + 1)),
    "event": OutcomeNotion("far", lambda y, p: p, event=lambda y, p: p >= B + 1),
    "places": OutcomeNotion("far", lambda y, p: p - Fraction(2 * B + 1, 2)),
    "tiny": OutcomeNotion("far", lambda y, p: p > Fraction(1, 10**400)),
}


@pytest.mark.parametrize("notion", FORMULAS.values(), ids=FORMULAS)
def test_a_constant_of_a_formula_is_not_rounded(notion):
    rows = pl.LazyFrame({"sex": SEX["sex"], "y": P * 1.0, "p": P * 2.0 + B})
    with pytest.raises(ValueError, match=r"^notion 'far' computes with .*float64 does not hold"):
        audit("y", "p", data=rows, notion=notion, sensitive_features="sex")


def test_a_threshold_outside_of_scores_is_told_with_its_digits():
    scores = np.where(P, 0.5, 0.1)
    report = audit(P, scores, threshold=0.50000001, sensitive_features=SEX)
    assert "The threshold 0.50000001 is outside" in " ".join(str(report).split())
