"""Nobody is named by a fit: values that few rows have show in none of its subgroups."""

import json
import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import ExplicitGroups, LinearThresholds, SubgroupParityClassifier, pareto_frontier
from gerrymend.inputs.dask_rows import merged, read_partition
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.rules import Condition
from gerrymend.subgroups.tree_rule import Split, TreeRule

N = 400
RNG = np.random.default_rng(3)
TOWN = RNG.choice(np.array(["Ulm", "Bonn"], dtype="U10"), N)
# Villages of four rows each, whose people are decided otherwise.
RARE = RNG.permutation(N)[:80]
TOWN[RARE] = [f"Village{i // 4:02}" for i in range(80)]
IN = np.char.startswith(TOWN, "Village") & (RNG.random(N) < 0.9)
SEX = RNG.choice(["F", "M"], N)
X = np.column_stack([IN + 0.3 * RNG.standard_normal(N), RNG.standard_normal((N, 2))])
Y = (RNG.random(N) < 0.3 + 0.4 * IN).astype(int)
PROTECTED = {"town": TOWN, "sex": SEX}
FITS = {
    "linear": {},
    "regression": {
        "estimator": LinearRegression(),
        "solver": "fictitious_play",
        "subgroups": LinearThresholds(search="regression"),
    },
    "averaged": {"solver": "no_regret"},
    "trees": {"subgroups": "trees"},
    "conjunctions": {"subgroups": "conjunctions"},
    "value_sets": {"subgroups": "value_sets"},
    "marginals": {"subgroups": "marginals"},
}


def fitted(**settings):
    settings = {"estimator": LogisticRegression(), "gamma": 0.001, "max_iter": 4} | settings
    clf = SubgroupParityClassifier(**settings, random_state=0)
    return clf.fit(X, Y, sensitive_features=PROTECTED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FITS)
def test_no_rare_value_shows_in_a_fit(kind):
    clf = fitted(**FITS[kind])
    shown = []
    for one in (clf.worst_subgroup_, pickle.loads(pickle.dumps(clf)).worst_subgroup_):
        shown += [str(one), repr(one), repr(one.rule), one._repr_html_(), json.dumps(one.to_dict())]
    for rule in (*clf.history_["subgroup"], *clf.history_["subgroup"][1:]):
        shown += [str(rule), repr(rule), json.dumps(rule.to_dict())]
    assert not [text for text in shown if "Village" in text]
    worst = clf.worst_subgroup_
    assert worst.contains(PROTECTED).sum() == worst.size


@pytest.mark.filterwarnings("ignore")
def test_what_is_withheld_is_said():
    """Eight people of one village are the worst: that they are few is told, and no more."""
    town = np.repeat(["Ulm", "Bonn", "Au"], [30, 30, 8])
    chosen = (town == "Au").astype(int)
    settings = {"gamma": 0.5, "max_iter": 2, "notion": "statistical_parity", "random_state": 0}
    for subgroups, words in [
        ("marginals", "town = a rare value"),
        (ExplicitGroups({"mine": {"town": "Au"}}), "mine (town = Au)"),  # the user's own words
    ]:
        clf = SubgroupParityClassifier(LogisticRegression(), subgroups=subgroups, **settings)
        clf.fit(chosen[:, None], chosen, sensitive_features={"town": town})
        assert clf.worst_subgroup_.size == 8
        assert str(clf.worst_subgroup_) == words
        assert str(clf.history_["subgroup"][-1]) == words


@pytest.mark.filterwarnings("ignore")
def test_no_rare_value_shows_on_a_frontier():
    clf = SubgroupParityClassifier(LogisticRegression(), max_iter=2, random_state=0)
    frontier = pareto_frontier(
        clf, X, Y, sensitive_features=PROTECTED, gammas=[0.01], audit_budget=1.0
    )
    shown = [frontier.to_html(), frontier.to_markdown(), repr(frontier.points), str(frontier)]
    shown += map(str, frontier.model(0.01).history_["subgroup"])
    assert not [text for text in shown if "Village" in text]


LEVELS = ("Au", "Bonn", "Inn", "Ulm")
IN_TOWNS = Condition("town", ("Au", "Inn", "Ulm"))


@pytest.mark.parametrize(("rule", "words", "plain"), [
    (TreeRule(Split(IN_TOWNS, True, False), {"town": "str"}), "town in {Ulm, 2 rare values}",
     {"kind": "tree", "tree": {"condition": {"attribute": "town", "values": ["Ulm"], "unnamed": 2},
                               "yes": True, "no": False}}),
    (TreeRule(Split(IN_TOWNS, False, True), {"town": "str"}), "town not in {Ulm, 2 rare values}",
     None),
    (LinearRule((Term("town", True, "Au"), Term("town", True, "Ulm")), (1.0, 1.0), 0.5,
                {"town": LEVELS}), "town in {Ulm, a rare value}", None),
    (LinearRule((Term("age", False), Term("town", True, "Au"), Term("town", True, "Inn")),
                (0.5, 1.0, -2.0), 0.5, {"age": None, "town": LEVELS}),
     "0.5·age + 2 terms for rare values of town ≥ 0.5",
     {"kind": "linear", "terms": [{"attribute": "age", "coefficient": 0.5}], "threshold": 0.5,
      "reference": {"town": ["Bonn", "Ulm"]}, "unnamed": {"town": 2}}),
])  # fmt: skip
def test_a_rule_that_withholds_selects_the_same_rows(rule, words, plain):
    told = rule.withholding({"town": frozenset({"Au", "Inn"})})
    assert told.describe() == words
    assert plain in (None, told.to_dict())
    assert not {value for _, value in told.listed()} & {"Au", "Inn"}
    assert told.attributes == rule.attributes
    rows = {"town": ["Au", "Inn", "Ulm", "Bonn"], "age": [3, 1, 2, 0]}
    mine = {name: rows[name] for name in rule.attributes}
    assert told.contains(mine).tolist() == rule.contains(mine).tolist()


def test_rows_of_a_cluster_are_counted_and_not_weighed():
    parts = [
        read_partition(
            np.zeros((3, 1)),
            np.array([0, 1, 0]),
            pl.DataFrame({"town": towns}),
            np.array([100.0, 100.0, 0.5]),
        ).summary()
        for towns in (["Ulm", "Ulm", "Au"], ["Ulm", "Au", "Ulm"])
    ]
    assert merged(parts).counts == {"town": {"Au": 2, "Ulm": 4}}
