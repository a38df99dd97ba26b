"""Values of a type that no setting has: an error that names the argument, never one from below."""

import pickle
import traceback
from decimal import Decimal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier

from gerrymend import (
    AuditDisplay,
    ExplicitGroups,
    FairnessNotion,
    LinearThresholds,
    Multiaccuracy,
    Multicalibration,
    NoRegret,
    OutcomeNotion,
    SubgroupParityClassifier,
    audit,
    audit_counts,
    check_report,
    load_model,
    load_patches,
    pareto_frontier,
    types_to_trust,
)
from gerrymend._runtime.errors import ArgumentError

RNG = np.random.default_rng(0)
N = 60
Y, D = (RNG.integers(0, 2, N) for _ in range(2))
A = {"sex": np.array(["F", "M"])[RNG.integers(0, 2, N)]}
X = RNG.standard_normal((N, 2))
COUNTS = pd.DataFrame({"sex": ["F", "M"] * 2, "y": [0, 0, 1, 1], "d": [0, 1, 1, 0], "n": [9] * 4})
# Values that equal nothing, whose truth is not known, or that can't be compared at all.
ODD = {
    "no values": np.array([]),
    "two values": np.array([1, 2]),
    "no dimension": np.array(0.5),
    "NA": pd.NA,
    "frame": pd.DataFrame({"a": [1]}),
    "polars": pl.DataFrame({"a": [1]}),
    "signalling": Decimal("sNaN"),
    "duration": np.timedelta64(1, "s"),
}


def audited(**how):
    return audit(Y, D, sensitive_features=A, subgroups="marginals", min_group_size=2, **how)


def mean(**how):
    return audit(None, D, sensitive_features=A, subgroups="marginals", notion="mean_outcome", **how)


def fitted(**how):
    settings = {"subgroups": "marginals", "max_iter": 1, "gamma": 0.5} | how
    return SubgroupParityClassifier(**settings).fit(X, Y, sensitive_features=A)


def frontier(**how):
    clf = SubgroupParityClassifier(max_iter=1, subgroups="marginals")
    return pareto_frontier(clf, X, Y, gammas=[0.5], sensitive_features=A, **how)


def checked(**how):
    report = audited()
    return check_report(report, Y, D, sensitive_features=A, **how)


def rate(**how):
    return FairnessNotion(**({"name": "m", "event": (1, 1), "a": (0, 1), "b": (1, -1)} | how))


SLOTS = {
    "threshold": mean,
    "decision_probabilities": mean,
    "pos_label": mean,
    "features": audited,
    "n_jobs": audited,
    "count": lambda **how: audit_counts(
        COUNTS, label="y", prediction="d", sensitive_features=["sex"], **how
    ),
    "warm_start": fitted,
    "verbose": fitted,
    "subgroups": fitted,
    "audit_subgroups": frontier,
    "worse": lambda **how: OutcomeNotion("m", lambda y, p: p, **how),
    "rises": lambda **how: OutcomeNotion("m", lambda y, p: p, **how),
    "target": Multiaccuracy,
    "bins": Multicalibration,
    "event": rate,
    "reference": rate,
    "search": lambda **how: audit(Y, D, sensitive_features=A, subgroups=LinearThresholds(**how)),
    "ax": lambda **how: AuditDisplay.from_report(audited(), **how),
    "model": types_to_trust,
}
# Told apart from what the same argument is elsewhere.
CHECKER = ("threshold", "decision_probabilities", "pos_label")
# No names at all, those of a frame's columns, and two cuts can be meant.
FINE = {("features", "no values"), ("features", "frame"), ("bins", "two values")}
CASES = [(slot, odd) for slot in SLOTS for odd in ODD if (slot, odd) not in FINE]


@pytest.mark.parametrize(("argument", "value"), CASES)
def test_odd_values_are_refused_by_argument(argument, value):
    with pytest.raises((ValueError, TypeError), match=rf"\b{argument}\b") as refused:
        SLOTS[argument](**{argument: ODD[value]})
    assert "ambiguous" not in str(refused.value)
    plt.close("all")


@pytest.mark.parametrize("value", [*ODD.values(), 1j, b"a", [], len], ids=str)
@pytest.mark.parametrize("argument", CHECKER)
def test_the_checker_refuses_them_too(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument}\b"):
        checked(**{argument: value})


def test_the_checker_takes_what_an_audit_takes():
    with pytest.raises(TypeError, match="sample_weight must have one value a row"):
        checked(sample_weight=np.array(0.5))
    for positive in (np.int8(1), np.True_, 1.0, Decimal(1)):
        assert checked(pos_label=positive).ok


@pytest.mark.parametrize("argument", ["threshold", "pos_label"])
def test_a_setting_of_decisions_that_is_0_is_refused_for_numbers(argument):
    """It was taken for False, and left out without a word."""
    with pytest.raises(ArgumentError, match=f"^{argument}=0 is for decisions"):
        mean(**{argument: 0})


def test_numbers_without_end_are_refused():
    with pytest.raises(ArgumentError, match=r"^n_jobs must be a whole number"):
        audited(n_jobs=10**30)
    with pytest.raises(ValueError, match=r"^X can't be read as a table of numbers"):
        SubgroupParityClassifier().fit(10**400, Y, sensitive_features=A)
    with pytest.raises(ArgumentError, match=r"^perturbation must be at most 1e"):
        fitted(solver=NoRegret(perturbation=1e308))


def test_ends_of_float64_are_told():
    """An axis of the smallest number, and a figure beyond the largest, raised from below."""
    how = {"sensitive_features": A, "notion": "mean_error", "min_group_size": 2}
    for settings in ({"reference": 5e-324}, {"gamma": 1e308}):
        report = audit(3.5 * Y, D, subgroups="marginals", **settings, **how)
        str(report)
        report.to_html()


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_checkpoint_that_no_file_can_have_the_name_of(path):
    with pytest.raises(ArgumentError, match=r"^checkpoint has characters that no file's name"):
        fitted(checkpoint=path)


@pytest.mark.parametrize("load", [load_model, load_patches])
def test_a_path_that_is_too_long_is_told(load):
    with pytest.raises(OSError, match=r"^path='xxx"):
        load("x" * 5000)


def test_a_part_of_the_rows_may_be_a_fraction():
    with pytest.raises(ArgumentError, match=r"^test_size=0.01 can't be kept out of"):
        frontier(test_size=Decimal("0.01"))


PLURAL = {
    "gammas": (["a"], [0.1, -1], b"1", bytearray(b"x")),
    "notions": (["a"], [5], ["false_positive_rate", "mean_error"]),
    "estimators": ([5], {"a": "b"}, [KNeighborsClassifier()]),
}


@pytest.mark.parametrize(("argument", "values"), [
    (argument, values) for argument, several in PLURAL.items() for values in several
])  # fmt: skip
def test_one_of_several_values_is_refused_by_the_argument_that_has_it(argument, values):
    """They were told as gamma, notion and estimator, which other calls have."""
    clf = SubgroupParityClassifier(max_iter=1, subgroups="marginals")
    rows = {"sensitive_features": A, argument: values}
    with pytest.raises(ArgumentError) as refused:
        pareto_frontier(clf, X, Y, **rows)
    assert refused.value.argument == argument
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    if argument == "gammas":
        with pytest.raises(ArgumentError, match=r"^gammas must"):
            clf.fit_path(X, Y, **rows)


def test_a_fault_of_the_classifier_s_own_settings_is_told_as_such():
    clf = SubgroupParityClassifier(KNeighborsClassifier())
    with pytest.raises(ArgumentError, match=r"^estimator=KNeighborsClassifier"):
        pareto_frontier(clf, X, Y, sensitive_features=A)
    with pytest.raises(ArgumentError, match=r"^notion='a' is unknown"):
        pareto_frontier(SubgroupParityClassifier(notion="a"), X, Y, sensitive_features=A)


@pytest.mark.parametrize("number", [10**6, 2**31 - 1, 10_001])
def test_more_workers_than_there_are_cores_anywhere_are_refused(number):
    """From joblib it was "Numeric literal 2000000 is too large", or as many processes."""
    with pytest.raises(ArgumentError, match=r"^n_jobs must be .*, at most 10,000, .* got"):
        audited(n_permutations=3, n_jobs=number)


@pytest.mark.parametrize("of_class", [[1], {}, set(), np.array([1, 2]), b"a", 1j])
def test_a_class_that_is_no_label_is_refused_where_it_is_given(of_class):
    """It was "unhashable type" in the audit."""
    with pytest.raises(TypeError, match="of_class of a FairnessNotion must be one label"):
        rate(of_class=of_class)


@pytest.mark.parametrize("conditions", [1, "x", [1], None, {}])
def test_conditions_that_are_none_name_groups(conditions):
    with pytest.raises(ValueError, match=r"'mine' of groups must map attributes to values"):
        audit(Y, D, sensitive_features=A, subgroups=ExplicitGroups({"mine": conditions}))


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
def test_complex_features_are_refused_without_their_rows(form):
    values = X + 1234j
    with pytest.raises(ArgumentError, match=r"^X has complex numbers") as refused:
        SubgroupParityClassifier().fit(form(values), Y, sensitive_features=A)
    assert "1234" not in "".join(traceback.format_exception(refused.value, chain=True))
