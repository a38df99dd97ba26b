"""Who is treated worse, and who better: by hand, and over all subgroups in exact arithmetic."""

import itertools

import numpy as np
import pytest

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    FairnessNotion,
    Trees,
    ValueSets,
    audit,
    audit_counts,
    check_report,
    prove,
)
from gerrymend.checker.classes import subgroups_of
from gerrymend.checker.exact import read_table
from gerrymend.checker.figures import NOTIONS, Measured
from gerrymend.notions import directed_notions
from tests.auditing.few_rows import few_rows

# By hand: what a high rate means for a group, by the decision that people wish for.
WORSE = {
    ("false_positive_rate", "positive"): "lower",  # a loan that is granted by mistake
    ("false_positive_rate", "negative"): "higher",  # an arrest that is made by mistake
    ("false_negative_rate", "positive"): "higher",
    ("false_negative_rate", "negative"): "lower",
    ("statistical_parity", "positive"): "lower",
    ("statistical_parity", "negative"): "higher",
    ("error_rate", "positive"): "higher",
    ("error_rate", "negative"): "higher",
    ("error_rate", None): "higher",
    ("false_positive_rate", None): None,
    ("statistical_parity", None): None,
}

CLASSES = {
    "linear": "linear",
    "conjunctions": Conjunctions(max_depth=2),
    "value sets": ValueSets(),
    "trees": Trees(),
    "marginals": "marginals",
    "named": ExplicitGroups(
        {"young": {"age": (None, 2)}, "A": {"town": "Au"}, "U": {"town": "Ulm"}}
    ),
}


@pytest.mark.parametrize(("case", "worse"), WORSE.items())
def test_which_rate_is_worse(case, worse):
    notion, favourable = case
    (directed,) = directed_notions(notion, favourable)
    assert directed.worse == worse
    assert directed == directed_notions(notion)[0]  # it is the same notion


def test_a_notion_of_ones_own_says_which_rate_is_worse():
    accuracy = FairnessNotion("accuracy", (True, True), a=(1, 0), b=(-1, 1))
    assert accuracy.worse == "lower"
    granted = FairnessNotion("granted", (True, True), a=(0, 0), b=(1, 1), worse="lower")
    assert granted.favouring("negative").worse == "lower"  # its own word goes first
    with pytest.raises(ValueError, match="'higher', 'lower' or None; got 'up'"):
        FairnessNotion("odd", (True, True), a=(0, 0), b=(1, 1), worse="up")


@pytest.mark.parametrize("favourable", ["positive", "negative"])
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("name", CLASSES)
def test_one_side_is_that_of_all_its_subgroups(name, notion, favourable):
    """The unfairness, the bound and the verdict of one side, against every subgroup on it."""
    sign = {"higher": 1, "lower": -1}[WORSE[notion, favourable]]
    for seed in range(2):
        data = few_rows(seed)
        how = {"notion": notion, "favourable": favourable, "subgroups": CLASSES[name]}
        report = audit(**data, **how, side="disadvantaged", gamma=0.02, min_group_size=1)
        table = read_table(*data.values(), None, False, None)
        seen = Measured.of(NOTIONS[notion], table)
        residuals, unit = seen.residuals
        groups = subgroups_of(report.to_dict()["class"], table, seen.active)
        values = [
            sum(itertools.compress(residuals, (g >> i & 1 for i in range(len(residuals))))) * unit
            for g in groups
        ]
        best = float(max(0, *(sign * value for value in values)))
        assert report.unfairness == pytest.approx(best, abs=1e-12)
        assert report.upper_bound == pytest.approx(best, abs=1e-12)
        assert report.verdict == ("exceeds gamma" if best > 0.02 else "within gamma")
        both = audit(**data, **how, min_group_size=1)
        assert both.unfairness == pytest.approx(float(max(map(abs, values))), abs=1e-12)
        for one, of in ((report.worst, sign), (both.disadvantaged, sign), (both.favoured, -sign)):
            most = float(max(0, *(of * value for value in values)))
            assert (one is None) == (most == 0)
            if one is not None:
                assert one.unfairness == pytest.approx(of * most, abs=1e-12)
                assert one.treated == ("worse" if of == sign else "better")
        result = check_report(report, **data)
        assert result.ok, str(result)


def test_the_best_treated_group_is_not_called_the_worst():
    """The false negatives of the issue: 13.6 % in the group, against 23.9 % overall."""
    y_true = [1] * 2000
    y_pred = [1] * 432 + [0] * 68 + [1] * 1090 + [0] * 410
    A = {"group": ["helped"] * 500 + ["other", "rest", "rest"] * 500}
    report = audit(y_true, y_pred, sensitive_features=A, notion="false_negative_rate",
                   subgroups="marginals", favourable="positive")  # fmt: skip
    assert report.worst.describe() == "group = helped"
    assert report.worst.treated == "better"
    assert report.favoured is report.worst
    assert report.disadvantaged.treated == "worse"
    assert report.disadvantaged.rate > report.disadvantaged.overall_rate
    text = " ".join(str(report).split())
    assert text.index("The subgroup treated worst is group = ") < text.index(
        "The most favoured subgroup is group = helped"
    )
    for shown in (text, report.to_markdown(), report.to_html()):
        assert "worst subgroup" not in shown.lower()
        assert "group = helped" in shown
    # One-sided, it doesn't count at all.
    one = audit(y_true, y_pred, sensitive_features=A, notion="false_negative_rate",
                subgroups="marginals", favourable="positive", side="disadvantaged")  # fmt: skip
    assert one.favoured is None
    assert one.worst.describe() == report.disadvantaged.describe()
    assert one.unfairness == pytest.approx(report.disadvantaged.unfairness)
    assert "group = helped" not in str(one)


def test_nothing_is_called_worse_where_that_is_not_known():
    report = audit(**few_rows(1), subgroups="conjunctions", top=3, gamma=0.0)
    assert report.disadvantaged is None
    assert report.favoured is None
    for shown in (str(report), report.to_markdown(), report.to_html()):
        words = " ".join(shown.split()).replace("no group is called better or worse off", "")
        for claim in ("treated worse", "treated worst", "worst subgroup", "favoured", "worse off"):
            assert claim not in words.lower()
        assert "Which decision is favourable was not said (favourable=, --favourable)" in words


@pytest.mark.parametrize("how", [{}, {"favourable": "negative"}, {"pos_label": "granted"}])
def test_which_label_is_positive_is_always_printed(how):
    names = np.array(["granted", "refused"])
    data = few_rows(2)
    data |= {"y_true": names[data["y_true"]], "y_pred": names[data["y_pred"]]}
    report = audit(**data, **how)
    positive = how.get("pos_label", "refused")
    assert report.to_dict()["labels"][1] == positive
    for shown in (str(report), report.to_markdown(), report.to_html(), report._repr_html_()):
        assert f"“{positive}” is the positive label" in " ".join(shown.split())


def test_the_two_sides_of_a_closed_class_are_all_rows():
    report = audit(**few_rows(3), favourable="negative")
    assert report.worst is report.disadvantaged
    assert report.favoured_is_rest
    A = few_rows(3)["sensitive_features"]
    assert (report.favoured.contains(A) != report.disadvantaged.contains(A)).all()
    assert report.favoured.unfairness == pytest.approx(-report.disadvantaged.unfairness)
    words = " ".join(str(report).split())
    assert "Everyone else " in words
    assert "most favoured" not in words.lower()


@pytest.mark.parametrize("call", ["audit", "prove", "audit_counts"])
def test_a_side_that_is_not_known_is_refused_before_any_work(call):
    data = few_rows(0)
    calls = {
        "audit": lambda **how: audit(**data, **how),
        "prove": lambda **how: prove(**data, at_most=0.1, **how),
        "audit_counts": lambda **how: audit_counts({}, sensitive_features="race", **how),
    }
    with pytest.raises(ValueError, match=r"side='disadvantaged' needs to know .* favourable"):
        calls[call](side="disadvantaged")
    with pytest.raises(ValueError, match="favourable='yes' is unknown"):
        calls[call](favourable="yes")
    with pytest.raises(ValueError, match="side='left' is unknown"):
        calls[call](side="left")


def test_a_proof_of_one_side():
    """Two groups of 20: one has 19 of its 20 decided 1, and two of 40 are few on the other."""
    data = {
        "y_true": [0] * 60,
        "y_pred": [1] * 19 + [0] + [1] * 2 + [0] * 38,
        "sensitive_features": {"race": ["a"] * 20 + ["b"] * 20 + ["c"] * 20},
    }
    how = {"subgroups": "marginals", "favourable": "negative", "side": "disadvantaged"}
    # a: (19/20 − 21/60)·20/60 = 0.2; b and c are treated better.
    assert prove(**data, **how, at_most=0.19).status == "refuted"
    assert prove(**data, **how, at_most=0.2).status == "proved"
    how["favourable"] = "positive"  # c: (0 − 21/60)·20/60 = −0.1167, b: (2/20 − …) = −0.0833
    assert prove(**data, **how, at_most=0.117).status == "proved"
    refuted = prove(**data, **how, at_most=0.1)
    assert (refuted.status, refuted.subgroup.describe()) == ("refuted", "race = c")


def test_the_permutations_are_of_the_side_that_is_audited():
    """All the difference is on one side: a group of ten that is never decided 1, of hundreds."""
    data = {
        "y_true": [0] * 400,
        "y_pred": [0] * 30 + [1, 0] * 185,
        "sensitive_features": {"race": ["a"] * 30 + ["b", "c", "d", "e", "f"] * 74},
    }
    how = {"subgroups": "marginals", "n_permutations": 199}
    low = audit(**data, **how, favourable="positive", side="disadvantaged")
    high = audit(**data, **how, favourable="negative", side="disadvantaged")
    assert low.p_value < 0.05 < high.p_value
    assert low.permutation_test.searched == low.unfairness
    assert high.permutation_test.searched == high.unfairness


def test_a_single_attribute_is_measured_on_the_same_side():
    data = few_rows(5)
    for favourable in ("positive", "negative"):
        report = audit(**data, subgroups=Conjunctions(max_depth=1), favourable=favourable,
                       side="disadvantaged")  # fmt: skip
        assert report.single_unfairness == pytest.approx(report.unfairness)
        assert report.marginal_unfairness <= report.single_unfairness


@pytest.mark.parametrize("subgroups", ["marginals", "conjunctions"])
def test_further_subgroups_are_of_the_side_that_counts(subgroups):
    """Once the worst are taken out of the search, those that are left look too low."""
    rows = {"a": (100, 30), "e": (100, 31), "f": (100, 32), "b": (400, 220), "c": (50, 50)}
    town = np.repeat(list(rows), [n for n, _ in rows.values()])
    decided = np.concatenate([[1] * k + [0] * (n - k) for n, k in rows.values()])
    how = {"notion": "statistical_parity", "subgroups": subgroups, "favourable": "positive",
           "side": "disadvantaged", "gamma": 0.03}  # fmt: skip
    alone, several = (
        audit(0 * decided, decided, sensitive_features={"town": town}, **how, top=top)
        for top in (1, 4)
    )
    assert several.unfairness == pytest.approx(alone.unfairness, abs=1e-12)
    assert several.verdict == alone.verdict == "within gamma"
    assert all(one.treated == "worse" for one in several.top)
