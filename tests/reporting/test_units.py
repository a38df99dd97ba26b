"""An amount of numbers is never without its unit, in none of the forms of a report."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gerrymend import Conjunctions, audit, prove
from gerrymend.notions import MEAN_ERROR, MEAN_OUTCOME

# Of what is left, only these decimals are no amount: p-values, parts of a whole, and the example in
# the definition of an unfairness.
_OTHERS = re.compile(
    r"p = \d\.\d+|p-value( of one group)? \|? ?\d\.\d+|\d+\.\d+ (%|days)|"
    r"0\.3 is 3 more.*half of them|"
    r"(false discovery rate|confidence|level) of 0\.\d+|(n_permutations|confidence)=0\.\d+"
)


def report_of(notion, gamma, effect, **how):
    rng = np.random.default_rng(1)
    n = 600
    attributes = {"town": rng.choice(["Au", "Ulm"], n), "sex": rng.choice(["F", "M"], n)}
    worse = (attributes["town"] == "Au") & (attributes["sex"] == "F")
    waited = rng.gamma(2.0, 3.0, n) + effect * worse
    said = waited + rng.normal(size=n) + effect * worse if notion.reads_labels else None
    return audit(
        said, waited, notion=replace(notion, unit="days"), gamma=gamma, n_permutations=99,
        sensitive_features=attributes, subgroups=Conjunctions(max_depth=2), **how,
    )  # fmt: skip


@pytest.mark.parametrize("notion", [MEAN_OUTCOME, MEAN_ERROR], ids=lambda notion: notion.name)
@pytest.mark.parametrize(
    ("gamma", "effect", "verdict"),
    [(0.05, 4.0, "exceeds gamma"), (0.2, 1.0, "undecided"), (1.0, 0.0, "within gamma")],
)
def test_every_amount_has_its_unit(notion, gamma, effect, verdict):
    report = report_of(notion, gamma, effect, confidence=0.95, n_resamples=99)
    assert report.population.verdict == verdict
    page = re.sub(r"<(style|script|svg)[\s\S]*?</\1>", "", report.to_html())
    for text in (str(report), report.to_markdown(), re.sub(r"<[^>]+>", " ", page)):
        told = " ".join(text.split("How it was done")[0].split()).replace("\xa0", " ")
        left = _OTHERS.sub("", told)
        assert re.findall(r".{30}\d\.\d+.{20}", left) == []


def test_amounts_of_other_rows_have_their_unit():
    report = report_of(MEAN_OUTCOME, 0.05, 4.0, test_size=0.4)
    told = " ".join(str(report).split())
    assert re.search(r"unfairness \+\d\.\d+ days, between \+\d\.\d+ days and \+\d\.\d+ days", told)
    assert re.search(r"is \+\d\.\d+ days, between \+\d\.\d+ days and \+\d\.\d+ days with", told)


@pytest.mark.parametrize(("at_most", "status"), [(0.05, "refuted"), (0.9, "proved")])
def test_a_proof_has_its_unit(at_most, status):
    rng = np.random.default_rng(2)
    town = rng.choice(["Au", "Ulm"], 200)
    waited = 3.0 * (town == "Au") + rng.random(200)
    proof = prove(
        None, waited, at_most=at_most, sensitive_features={"town": town}, subgroups="marginals",
        notion=replace(MEAN_OUTCOME, unit="days"),
    )  # fmt: skip
    assert proof.status == status
    assert str(proof).endswith(f" {at_most:g} days.")
    assert not re.search(r"\d\.\d+(?! days)(?!\d)", str(proof))


def test_several_classes_take_more_permutations():
    """p is Bonferroni's over three classes: 199 draws give 0.015 at least, and 299 give 0.01."""
    rng = np.random.default_rng(3)
    town = rng.choice(["Au", "Ulm"], 900)
    label = rng.choice(["low", "mid", "high"], 900)
    decided = np.where((town == "Au") & (label == "high"), "low", label)
    report = audit(
        label, decided, notion="false_negative_rate", subgroups="marginals", n_permutations=199,
        sensitive_features={"town": town},
    )  # fmt: skip
    assert report.p_value == pytest.approx(0.015)
    assert "199 permutations can't tell more, and 299 would." in " ".join(str(report).split())
