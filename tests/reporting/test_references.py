"""Reports and pictures where groups are compared with a reference of one's own."""

import matplotlib as mpl
import numpy as np
import pytest

from gerrymend import AuditDisplay, GroupMean, audit
from gerrymend.reporting.audit.other_rows import other_rows_sentence

mpl.use("agg")
FOUR_FIFTHS = GroupMean({"sex": "M"}, factor=0.8)


@pytest.fixture(scope="module")
def rows():
    """By hand: 60 % of the men are granted and 40 % of the women, of either race."""
    sex = np.repeat(["M", "F"], 100)
    granted = np.tile([1, 1, 1, 0, 0], 40)
    granted[100:] = np.tile([1, 1, 0, 0, 0], 20)
    return granted, {"sex": sex, "race": np.tile(["b", "g"], 100)}


def report(rows, **asked):
    granted, attributes = rows
    asked = {"notion": "statistical_parity", "subgroups": "conjunctions"} | asked
    return audit(None, granted, sensitive_features=attributes, **asked)


def legend_of(display):
    return display.ax_.get_legend_handles_labels()[1]


@pytest.mark.parametrize(
    ("reference", "at", "words"),
    [(FOUR_FIFTHS, 0.48, "0.8 × the rate of sex = M: 48 %"), (0.3, 0.3, "the reference: 30 %")],
)
def test_the_reference_is_drawn_and_named(rows, reference, at, words):
    display = AuditDisplay.from_report(report(rows, reference=reference))
    assert display.overall == {"statistical_parity": pytest.approx(at, abs=1e-12)}
    (line,) = (one for one in display.ax_.get_lines() if one.get_label() == words)
    np.testing.assert_allclose(line.get_xdata(), at)
    assert not [one for one in legend_of(display) if "overall" in one]
    # The bar of a group begins there, too.
    bars = [bar for bar in display.ax_.get_lines() if bar.get_linewidth() == 4]
    np.testing.assert_allclose([bar.get_xdata()[0] for bar in bars], at)


def test_without_a_reference_the_overall_rate_is_drawn(rows):
    assert "overall: 50 %" in legend_of(AuditDisplay.from_report(report(rows)))


def test_of_nobody_the_picture_names_the_reference(rows):
    nothing = AuditDisplay.from_report(report(rows, reference=0.3, min_group_size=201))
    assert nothing.ax_.texts[0].get_text().endswith("from the reference.")


def test_the_table_of_two_attributes_says_what_differences_are_from(rows):
    told = "overall 50 %; differences are from 48 %, 0.8 × the rate of sex = M"
    own = report(rows, reference=FOUR_FIFTHS)
    for text in (own.to_markdown(), own.to_html().replace("\u00a0", " ")):
        assert told in text
    assert "(+12 points; 50 rows)" in own.to_markdown()
    control = {"job": np.repeat(["cook", "nurse"], [50, 150])}
    within = report(rows, control_features=control)
    expected = "overall 50 %; differences are from what is expected of each by its strata"
    for text in (within.to_markdown(), within.to_html().replace("\u00a0", " ")):
        assert expected in text
    assert "differences are from" not in report(rows).to_markdown()


def test_a_confidence_that_was_given_is_not_recommended(rows):
    advice = "confidence=0.95 (--confidence 0.95) tells what holds"
    without = report(rows, reference=FOUR_FIFTHS)
    assert advice in " ".join(str(without).split())
    for asked in ({"confidence": 0.9}, {"confidence": 0.9, "n_permutations": 19}):
        made = report(rows, reference=FOUR_FIFTHS, n_resamples=19, **asked)
        for text in (str(made), made.to_markdown(), made.to_html()):
            assert advice not in " ".join(text.split())
            assert "not from a reference of one" in " ".join(text.split())


def test_nor_where_it_was_given_and_nothing_came_of_it(rows):
    plain = report(rows).to_dict()
    assert "and so would an audit with confidence bounds" in other_rows_sentence(plain)
    none = {"confidence": 0.95, "distance": None, "reason": "only sums are at hand"}
    sentence = other_rows_sentence({**plain, "population": none})
    assert "Only sums are at hand; rows that are held out of the search would tell" in sentence
    assert "confidence" not in sentence


def test_a_group_that_is_kept_back_beside_the_reference_is_not_called_small():
    """Women and three men of 59: their rate beside the men's tells that of the three."""
    sex = np.array(["F"] * 100 + ["M"] * 100)
    age = np.random.default_rng(0).integers(20, 59, 200).astype(float)
    age[197:] = 59.0
    days = np.where((sex == "F") | (age == 59), 50.0, 20.0)
    made = audit(
        None, days, sensitive_features={"sex": sex, "age": age}, notion="mean_outcome",
        reference=GroupMean({"sex": "M"}),
    )  # fmt: skip
    assert made.withheld
    text = " ".join(made.to_markdown().split())
    assert (
        "a group that is too small or too like the group of the reference to be described" in text
    )
    assert "inside, or outside, or differs by as few from the group of the reference, and" in text
    overall = audit(
        None, days, sensitive_features={"sex": sex, "age": age}, notion="mean_outcome",
        min_group_size=99,
    )  # fmt: skip
    assert overall.withheld
    assert "group of the reference" not in overall.to_markdown()
