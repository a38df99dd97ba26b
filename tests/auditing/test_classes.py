"""More than two classes: each against the rest, in one audit with one p-value."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gerrymend import (
    SubgroupParityClassifier,
    audit,
    audit_counts,
    bootstrap,
    check_report,
    discrimination_surface,
    prove,
)
from gerrymend.notions import FairnessNotion
from tests.auditing.few_rows import few_rows
from tests.checking import assert_checked

RATES = ("false_positive_rate", "false_negative_rate", "statistical_parity", "error_rate")
SEARCHED = ("linear", "conjunctions", "value_sets", "trees", "marginals")
LEVELS = np.array(["later", "now", "soon"])


def made(seed, n_rows=60, levels=LEVELS, **how):
    return few_rows(seed, n_rows, levels=levels, **how)


def plain(report):
    return report.to_dict() | {"provenance": None}


@pytest.mark.parametrize("subgroups", SEARCHED)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_and_bound_holds_by_brute_force(subgroups, weighted):
    """The checker lists all subgroups of the class, for each class of labels."""
    for seed in range(2):
        data = made(seed, weighted=weighted)
        report = audit(**data, notion=RATES, subgroups=subgroups, min_group_size=3)
        assert report.exact
        assert len(report.notions) == 10  # three rates of three classes, and one of errors
        assert_checked(report, **data, bound=True)


@pytest.mark.slow
@pytest.mark.parametrize("subgroups", SEARCHED)
def test_three_hundred_instances_hold_by_brute_force(subgroups):
    for seed in range(300):
        levels = LEVELS if seed % 3 else np.arange(4)
        data = made(100 + seed, n_rows=30, weighted=bool(seed % 2), levels=levels)
        report = audit(**data, notion=RATES[seed % 4], subgroups=subgroups, min_group_size=2)
        assert_checked(report, **data, bound=True)


def test_what_is_kept_back_for_few_rows_of_a_class_is_believed():
    """No combination has fewer than two rows here, and a class within one has."""
    data = made(172, n_rows=30, levels=np.arange(4))
    report = audit(**data, notion="false_positive_rate", min_group_size=2)
    assert report.kept_back == ("in_a_sentence",)
    assert_checked(report, **data)


def test_rates_by_hand():
    """Of 10 urgent cases a town has, Au misses 5 and Ulm 1; nothing else differs."""
    urgent = ["now"] * 20 + ["soon"] * 20 + ["later"] * 20
    in_au = ["now"] * 5 + ["soon"] * 5
    in_ulm = ["now"] * 9 + ["later"]
    decided = [*in_au, *in_ulm, *urgent[20:]]
    town = (["Au"] * 10 + ["Ulm"] * 10) * 3
    given = {"y_true": urgent, "y_pred": decided, "sensitive_features": {"town": town}}
    report = audit(**given, notion="false_negative_rate")
    worst = report.worst
    assert worst.notion.name == "false_negative_rate[now]"
    # 10 of 60 rows, missed in 5 of 10 against 6 of 20.
    assert (worst.rate, worst.overall_rate) == (0.5, 0.3)
    assert worst.unfairness == pytest.approx(10 / 60 * 0.2)
    # Decided "soon", 5 of Au's 20 that are not, and none of Ulm's: 20/60 · (1/4 − 1/8).
    report = audit(**given, notion="false_positive_rate")
    assert report.worst.notion.of_class == "soon"
    assert report.unfairness == pytest.approx(20 / 60 / 8)
    # Wrong decisions: 5 of 30, and 1 of 30.
    report = audit(**given, notion="error_rate")
    assert [notion.name for notion in report.notions] == ["error_rate"]
    assert report.unfairness == pytest.approx(0.5 * (5 / 30 - 6 / 60))
    assert report.worst.treated == "worse"


@pytest.mark.parametrize("notion", RATES[:3])
def test_one_class_is_what_a_binary_audit_of_it_says(notion):
    """All figures of each class are those of the same rows with labels of their own."""
    data = made(3, 200, weighted=True)
    every = audit(**data, notion=notion, subgroups="conjunctions", gamma=0.02)
    found = []
    for label in LEVELS.tolist():
        named = audit(**data, notion=notion, subgroups="conjunctions", gamma=0.02, pos_label=label)
        assert named.labels == (f"not {label}", label)
        assert_checked(named, **data, pos_label=label)
        with pytest.raises(ValueError, match=r"two labels, .*has 3: .*Pass pos_label"):
            check_report(named, **data)
        merged = {**data, "y_true": data["y_true"] == label, "y_pred": data["y_pred"] == label}
        alone = audit(**merged, notion=notion, subgroups="conjunctions", gamma=0.02)
        words = {"labels": None, "warnings": None}
        assert plain(alone) | words == plain(named) | words
        (overall,) = [one for one in every.overall_rates if one.notion == f"{notion}[{label}]"]
        assert overall.rate == alone.overall_rates[0].rate
        found.append(alone.unfairness)
    assert every.unfairness == max(found)
    assert every.worst.notion.of_class == LEVELS[int(np.argmax(found))]


def test_two_classes_are_a_binary_audit():
    data = made(4, 100, levels=LEVELS[:2])
    report = audit(**data, notion=RATES)
    assert [notion.name for notion in report.notions] == list(RATES)
    assert all(notion.of_class is None for notion in report.notions)


def test_a_rate_of_ones_own_is_taken_of_each_class():
    data = made(5, 100)
    precision_like = FairnessNotion("hits", event=(False, True), a=(0, 0), b=(1, 1))
    report = audit(**data, notion=precision_like)
    missed = audit(**data, notion="false_negative_rate")
    assert [one.name for one in report.notions] == [f"hits[{label}]" for label in LEVELS]
    assert report.unfairness == pytest.approx(missed.unfairness, abs=1e-12)
    assert_checked(report, **data)


def test_the_p_value_pays_for_every_class():
    """Of rows that nothing distinguishes, p ≤ 20 % in no more than a fifth of the samples."""
    level = 0.2
    hits = 0
    samples = 60
    for seed in range(samples):
        data = made(1000 + seed, 80)
        report = audit(
            **data, notion="statistical_parity", subgroups="marginals", n_permutations=49,
            random_state=seed,
        )  # fmt: skip
        hits += report.p_value <= level
    assert hits <= stats.binom.ppf(0.999, samples, level)


def test_a_class_that_differs_is_told_from_chance():
    data = made(6, 400)
    data["y_pred"] = np.where(data["sensitive_features"]["town"] == "Au", "now", data["y_pred"])
    report = audit(**data, notion="statistical_parity", subgroups="marginals", n_permutations=99)
    assert report.p_value == pytest.approx(3 / 100)  # three classes are three tests
    assert_checked(report, **data)


@pytest.mark.parametrize("weighted", [False, True])
def test_frames_lazy_frames_and_counts_agree_with_arrays(weighted):
    data = made(7, 300, weighted=weighted)
    ward = np.array(["A", "B"])[np.random.default_rng(7).integers(0, 2, 300)]
    table = pl.DataFrame(
        {**data["sensitive_features"], "y": data["y_true"], "p": data["y_pred"], "ward": ward}
    )
    weights = {} if not weighted else {"sample_weight": "w"}
    if weighted:
        table = table.with_columns(w=data["sample_weight"])
    how = {"notion": RATES, "subgroups": "conjunctions"}
    named = {"sensitive_features": ["town", "age"], **how}
    for controls in ({}, {"control_features": ["ward"]}):
        given = {"control_features": {"ward": ward}} if controls else {}
        rows = plain(audit(**data, **given, **how))
        for frame in (table, table.lazy()):
            assert plain(audit("y", "p", data=frame, **weights, **named, **controls)) == rows
        if not weighted:
            counts = table.group_by("town", "age", "y", "p", "ward").len("count")
            columns = {"label": "y", "prediction": "p"}
            assert plain(audit_counts(counts, **columns, **named, **controls)) == rows
    without = {"notion": "statistical_parity", "sensitive_features": ["town", "age"]}
    lazy = audit(None, "p", data=table.lazy(), **weights, **without)
    assert plain(lazy) == plain(audit(**{**data, "y_true": None}, notion="statistical_parity"))


def test_strata_of_each_class_are_checked():
    data = made(8, 200)
    controls = {"ward": np.array(["A", "B"])[np.random.default_rng(8).integers(0, 2, 200)]}
    report = audit(**data, notion=RATES, control_features=controls, n_permutations=19)
    assert_checked(report, **data, control_features=controls)
    assert len(report.strata) + report.strata_left_out == 20


def test_a_second_sample_may_lack_a_class():
    data = made(9, 200)
    second = made(10, 100)
    kept = second["y_true"] != "soon"
    holdout = (
        second["y_true"][kept],
        np.where(second["y_pred"] == "soon", "now", second["y_pred"])[kept],
        {name: values[kept] for name, values in second["sensitive_features"].items()},
    )
    report = audit(**data, notion="false_positive_rate", holdout=holdout)
    assert report.held_out.n_rows == kept.sum()
    assert_checked(report, **data, holdout=holdout)
    one = audit(**data, notion="false_positive_rate", holdout=holdout, pos_label="now")
    assert_checked(one, **data, holdout=holdout, pos_label="now")
    other = (np.where(kept, "never", "now"), *holdout[1:])
    with pytest.raises(ValueError, match="In holdout: y_pred has values that are no label"):
        audit(**data, holdout=(other[0], second["y_pred"], second["sensitive_features"]))


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_each_class_are_held_out(weighted):
    data = made(11, 300, weighted=weighted)
    n_soon = int((data["y_true"] == "soon").sum())
    parted = audit(**data, notion="false_negative_rate", test_size=0.25)
    order = np.random.default_rng(1).permutation(300)
    shuffled = {
        **{key: None if data[key] is None else data[key][order]
           for key in ("y_true", "y_pred", "sample_weight")},
        "sensitive_features": {
            name: values[order] for name, values in data["sensitive_features"].items()},
    }  # fmt: skip
    again = audit(**shuffled, notion="false_negative_rate", test_size=0.25)
    assert plain(again) == plain(parted)
    (soon,) = [one for one in parted.overall_rates if one.notion.endswith("[soon]")]
    assert soon.rows == n_soon - round(n_soon / 4)
    if weighted:
        return
    table = pl.DataFrame({**data["sensitive_features"], "y": data["y_true"], "p": data["y_pred"]})
    lazy = audit("y", "p", data=table.lazy(), sensitive_features=["town", "age"],
                 notion="false_negative_rate", test_size=0.25)  # fmt: skip
    (soon,) = [one for one in lazy.overall_rates if one.notion.endswith("[soon]")]
    assert soon.rows == n_soon - round(n_soon / 4)
    assert lazy.n_rows + lazy.held_out.n_rows == 300


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_for_the_population_is_over_every_class(weighted):
    """All classes see the same resamples, of rows or of counts of equal ones."""
    data = made(19, 200, weighted=weighted)
    how = {"notion": "false_negative_rate", "subgroups": "marginals", "confidence": 0.9,
           "n_resamples": 39}  # fmt: skip
    every = audit(**data, **how)
    assert_checked(every, **data)
    assert every.population_bound > every.unfairness
    table = pl.DataFrame({**data["sensitive_features"], "y": data["y_true"], "p": data["y_pred"],
                          "w": np.arange(200) / 7})  # fmt: skip
    named = {"sensitive_features": ["town", "age"], "data": table.lazy(), **how}
    assert audit("y", "p", **named).population_bound > every.unfairness / 2
    assert "one by one" in audit("y", "p", sample_weight="w", **named).population.reason


def by_hand(counts, draws, seed):
    """Distances of resamples of counts by town, label and decision, over towns and classes."""
    rng = np.random.default_rng(seed)
    n = counts.sum()

    def values(table):
        """The unfairness of each town in the false negative rate of each class: a row a class."""
        of_label = table.sum(axis=2).T
        missed = of_label - np.einsum("tkk->kt", table)
        overall = missed.sum(axis=1, keepdims=True) / of_label.sum(axis=1, keepdims=True)
        return (missed - overall * of_label) / n

    seen = values(counts)
    drawn = rng.multinomial(n, counts.ravel() / n, draws).reshape(-1, *counts.shape)
    return sorted(np.abs(values(one) - seen).max() for one in drawn)


def test_counts_of_many_classes_are_drawn_as_one_multinomial():
    """Against resamples that share no code with ours."""
    rng = np.random.default_rng(3)
    counts = rng.integers(5, 90, (3, 3, 3))
    towns, labels, decisions = np.indices(counts.shape).reshape(3, -1)
    table = {"town": np.array(["Au", "Rom", "Ulm"])[towns], "label": LEVELS[labels],
             "prediction": LEVELS[decisions], "count": counts.ravel()}  # fmt: skip
    report = audit_counts(
        table, sensitive_features="town", notion="false_negative_rate", subgroups="marginals",
        confidence=0.8, n_resamples=1999,
    )  # fmt: skip
    expected = by_hand(counts, 1999, 1)
    for part in (0.2, 0.5, 0.8):
        ours = np.quantile(report.population.distances, part)
        assert ours == pytest.approx(np.quantile(expected, part), rel=0.04)
    parted = audit_counts(
        table, sensitive_features="town", notion="false_negative_rate", subgroups="marginals",
        confidence=0.8, n_resamples=19, test_size=0.4,
    )  # fmt: skip
    assert parted.population.distance > report.population.distance


def test_a_proof_is_over_every_class():
    data = made(12, 200)
    worst = audit(**data, notion="false_positive_rate", subgroups="conjunctions").unfairness
    how = {"notion": "false_positive_rate", "subgroups": "conjunctions"}
    assert prove(**data, **how, at_most=worst).status == "proved"
    assert prove(**data, **how, at_most=0.99 * worst).status == "refuted"


def test_every_form_of_the_report_names_the_class():
    data = made(13, 300)
    data["y_pred"] = np.where(data["sensitive_features"]["town"] == "Au", "now", data["y_pred"])
    report = audit(**data, notion=("false_positive_rate", "error_rate"), subgroups="marginals")
    text = " ".join(str(report).split())
    assert "There are 3 classes: “later”, “now”, “soon”." in text
    assert "Each is compared with all others together, and the worst is reported." in text
    alone = audit(**data, notion="false_positive_rate", subgroups="marginals")
    text = " ".join(str(alone).split())
    assert "false positive rate of “now” 100 %, against" in text
    assert "more are decided “now” than there would be" in text
    for shown in (alone.to_html(since=report), alone.to_markdown()):
        assert "alse positive rate of “now”" in shown
        assert "Models are trained for two labels" in shown
        assert "None" not in shown
    stated = json.loads(alone.to_json())
    assert stated["labels"] == LEVELS.tolist()
    assert [one["class"] for one in stated["notions"]] == LEVELS.tolist()
    assert stated["worst"]["notion"] == "false_positive_rate[now]"


def test_doubts_about_many_classes():
    data = made(14, 120)
    equal = audit(**{**data, "y_pred": data["y_true"]}, notion="error_rate")
    assert [one.code for one in equal.warnings] == ["decisions_equal_labels"]
    alike = audit(**{**data, "y_pred": np.full(120, "now")}, notion="statistical_parity")
    assert [one.code for one in alike.warnings] == ["constant_decisions"]
    told = {"level": np.char.upper(data["y_pred"]), **data["sensitive_features"]}
    same = audit(**{**data, "sensitive_features": told}, subgroups="marginals")
    assert [one.code for one in same.warnings] == ["decision_is_protected"]
    assert_checked(same, **{**data, "sensitive_features": told})


def forged(stated, how):
    if how == "a class is left out":
        stated["notions"] = stated["notions"][1:]
    elif how == "a class by another name":
        stated["notions"][0]["class"] = "now"
    elif how == "a favourable decision":
        stated["favourable"] = "positive"
    elif how == "a label too many":
        stated["labels"].append("never")
    else:
        stated["notions"][0]["class"] = None
    return stated


@pytest.mark.parametrize(
    "how",
    ["a class is left out", "a class by another name", "a favourable decision",
     "a label too many", "no class"],
)  # fmt: skip
def test_the_checker_finds_a_forged_class(how):
    data = made(15, 100)
    stated = plain(audit(**data, notion="false_positive_rate"))
    assert check_report(json.dumps(stated), **data).ok
    assert not check_report(json.dumps(forged(stated, how)), **data).ok


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y_true": np.arange(40)}, "y_true has 40 classes, and audits compare 30 at most"),
        ({"y_true": ["later", "now", "soon", "Now"] * 10},
         "y_true has 4 classes. 'Now' and 'now' differ in case or blanks alone"),
        ({"y_pred": ["later", "never"] * 20}, "y_pred has values that are no label: 'never'"),
        ({"y_pred": np.linspace(0, 1, 40), "threshold": 0.5},
         r"scores or probabilities are those of one. Name it as pos_label"),
        ({"y_pred": np.linspace(0, 1, 40), "decision_probabilities": True},
         r"scores or probabilities are those of one"),
        ({"pos_label": "never"}, "pos_label='never' is no label of y_true"),
        ({"favourable": "positive"}, r"favourable='positive' speaks of one positive label, and "
                                     r"there are 3 \('later', 'now', 'soon'\)"),
        ({"side": "disadvantaged"}, "needs to know whether a high false positive rate"),
        ({"y_true": None, "notion": "error_rate"}, "can't be told without labels"),
        ({"y_true": np.tile([0.5, 1.5, 2.5, 3.5], 10)}, "y_true has 4 different numbers"),
        ({"y_true": [1, "now", "soon", 2.5] * 10}, "mixes labels"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_any_work(changed, words):
    given = {
        "y_true": ["later", "now", "soon", "now"] * 10,
        "y_pred": ["later", "soon", "soon", "now"] * 10,
        "sensitive_features": {"town": ["Au", "Au", "Ulm", "Ulm"] * 10},
    }
    with pytest.raises((ValueError, TypeError), match=words):
        audit(**given | changed)


def test_identifiers_in_few_rows_are_no_classes():
    scores = [f"{score:.2f}" for score in np.linspace(0, 1, 20)]
    with pytest.raises(ValueError, match="y_true has 20 classes in 20 rows"):
        audit(scores, scores, sensitive_features={"town": ["Au", "Ulm"] * 10})


def test_scores_of_one_class_are_compared_with_the_rest():
    data = made(16, 200)
    score = np.random.default_rng(16).random(200)
    given = {**data, "y_pred": score, "threshold": 0.5, "pos_label": "now"}
    report = audit(**given)
    binary = audit(**{**given, "y_true": data["y_true"] == "now", "pos_label": True})
    assert report.unfairness == binary.unfairness
    assert_checked(report, **given)


def test_what_needs_two_classes_says_so():
    data = made(17, 100)
    rows = {"sensitive_features": data["sensitive_features"]}
    with pytest.raises(ValueError, match=r"y has 3 classes.*Merge them into two\.$"):
        SubgroupParityClassifier().fit(np.zeros((100, 1)), data["y_true"], **rows)
    for ask in (bootstrap, lambda *args, **how: discrimination_surface(
            *args, attributes=("town", "age"), **how)):  # fmt: skip
        with pytest.raises(ValueError, match=r"y_true has 3 classes.* name one as pos_label"):
            ask(data["y_true"], data["y_pred"], **rows)


@pytest.mark.parametrize("levels", [np.arange(3), np.arange(3.0), np.array([-1, 0, 1])])
def test_classes_of_numbers_keep_their_types(levels):
    data = made(18, 90, levels=levels)
    report = audit(**data, notion="false_positive_rate", subgroups="marginals")
    assert_checked(report, **data)
    assert report.labels == tuple(levels.tolist())
    assert {type(label) for label in report.labels} == {type(levels.tolist()[0])}


@pytest.mark.parametrize("controls", [None, ["job"]])
@pytest.mark.parametrize("notion", ["false_negative_rate", ("statistical_parity", "error_rate")])
def test_the_same_seed_draws_the_same_resamples_from_rows_frames_and_counts(notion, controls):
    rng = np.random.default_rng(3)
    label = rng.choice(["a", "b", "c"], 400)
    wrong = rng.random(400) < 0.3
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 400),
            "job": rng.choice(["cook", "nurse"], 400),
            "label": label,
            "prediction": np.where(wrong, rng.choice(["a", "b", "c"], 400), label),
        }
    )
    how = {"sensitive_features": ["sex"], "control_features": controls, "notion": notion,
           "subgroups": "conjunctions", "confidence": 0.9, "n_resamples": 39}  # fmt: skip
    counts = frame.group_by(frame.columns).len("count")
    reports = [
        audit("label", "prediction", data=frame, **how),
        audit("label", "prediction", data=frame.reverse(), **how),
        audit("label", "prediction", data=frame.lazy(), **how),
        audit_counts(counts, label="label", prediction="prediction", count="count", **how),
    ]
    assert len({report.population.distances for report in reports}) == 1
