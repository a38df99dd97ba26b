"""A formula that has the rows of a sentence is named by the sentence."""

import numpy as np

from gerrymend import audit


def test_the_headline_names_the_same_rows_by_their_sentence():
    rng = np.random.default_rng(0)
    sex = np.array(["F", "M"])[rng.integers(0, 2, 2000)]
    age = rng.integers(20, 60, 2000)
    hired = rng.random(2000) < np.where((sex == "F") & (age > 45), 0.2, 0.5)
    report = audit(
        None,
        hired.astype(int),
        sensitive_features={"sex": sex, "age": age},
        notion="statistical_parity",
        favourable="positive",
    )
    said = report.in_a_sentence
    assert said.overlap == 1.0
    assert said.subgroup.size == report.worst.size
    words = " ".join(str(report).split())
    first = words.split(":")[0]
    assert said.subgroup.describe() in first
    assert "by the rule" in words
    assert f"In a sentence {said.subgroup.describe()}; the same rows" in words
    assert "100 % of the other's" not in words
    assert "the same rows as the first" in report.to_html()
