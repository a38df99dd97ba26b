"""The p-value of a group in a sentence, against every permutation and by its false alarms."""

import copy
import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gerrymend import audit, audit_counts, check_report
from gerrymend.auditing import sentence_test as tests_of_sentences
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.in_a_sentence import sentence_class
from gerrymend.auditing.inference import permuted_searches
from gerrymend.auditing.inference.permuted_searches import Searches
from gerrymend.auditing.listed import listed_groups
from gerrymend.auditing.sentence_test import sentence_test
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.protected import distinct_rows, read_columns
from gerrymend.notions import as_notions
from tests.checking import assert_checked

RACE = np.array(["blue", "blue", "red", "green", "red", "blue", "green"])
SEX = np.array(["F", "M", "F", "F", "M", "F", "M"])
AGE = np.array([20.0, 30, 20, 40, 30, 40, 20])
PEOPLE = {"race": RACE, "sex": SEX, "age": AGE}
# Of three conditions, two and one; each is of the class, and so is what has more of it.
GROUPS = [
    (RACE == "blue") & (SEX == "F") & (AGE >= 30),
    np.isin(RACE, ["blue", "red"]) & (AGE <= 30),
    SEX == "F",
]


def tally_of(y, p, people, weight=None):
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    return Tally.of_rows(distinct_rows(read_columns(people)), np.asarray(y), np.array(p, float),
                         weight)  # fmt: skip


def examined(tally, notion, favourable="positive"):
    parts = []
    for one in as_notions(notion):
        seen = tally.of_notion(one.favouring(favourable))
        bound = seen.bind(sentence_class(tally.protected))
        parts.append(Examined(seen, bound, bound.prove(seen.residual)))
    return parts


def every_group(people):
    """All products of value sets and intervals on at most three attributes, as masks."""
    options = []
    for values in people.values():
        distinct = sorted(set(values))
        if values.dtype.kind == "f":
            chosen = [distinct[i:j] for i, j in itertools.combinations(range(len(distinct) + 1), 2)]
        else:
            chosen = [
                some
                for k in range(1, len(distinct) + 1)
                for some in itertools.combinations(distinct, k)
            ]
        options.append([np.isin(values, some) for some in chosen])
    found = {}
    for k in range(1, 4):
        for several in itertools.combinations(options, k):
            for masks in itertools.product(*several):
                inside = np.logical_and.reduce(masks)
                found[tuple(inside.tolist())] = inside
    return list(found.values())


def unfairness(inside, counted, weights, outcomes):
    """Σ w·(u − mean) over those of a group who count, over all weight, in fractions."""
    total = sum(w for w, c in zip(weights, counted, strict=True) if c)
    rows = list(zip(inside, counted, weights, outcomes, strict=True))
    mean = sum((w * u for _, c, w, u in rows if c), Fraction(0)) / total
    own = sum((w * (u - mean) for g, c, w, u in rows if g and c), Fraction(0))
    return own / sum(weights)


class EveryWay:
    """Deals every permutation in turn, in place of a random one."""

    def __init__(self, ways, cell, weight, n_cells):
        self.ways = iter(ways)
        self.cell, self.weight, self.n_cells = cell, weight, n_cells

    def draw(self, rng):
        dealt = np.array(next(self.ways), float)
        return np.bincount(self.cell, self.weight * dealt, self.n_cells)[None]


@pytest.mark.parametrize("which", range(len(GROUPS)))
@pytest.mark.parametrize("weights", [[1] * 7, [1, 2, 1, 3, 1, 1, 2]])
@pytest.mark.parametrize("harm", ["positive", "negative", None])
def test_the_p_value_is_that_of_all_permutations(monkeypatch, which, weights, harm):
    """Every way to deal seven decisions, searched by hand over every group of the class."""
    decided = [0, 1, 1, 1, 0, 0, 1]
    tally = tally_of([1] * 7, decided, PEOPLE, weights)
    (part,) = examined(tally, "statistical_parity", harm)
    sign = {"positive": -1, "negative": 1, None: 0}[harm]
    assert part.seen.notion.harm == sign
    ways = sorted(set(itertools.permutations(decided)))
    columns = {column.name: column for column in tally.columns}
    cells = distinct_rows(read_columns(PEOPLE)).index
    monkeypatch.setattr(
        permuted_searches,
        "_shuffle",
        lambda *_: EveryWay(ways, cells, np.asarray(weights, float), tally.weight.shape[1]),
    )
    fractions = list(map(Fraction, weights))

    def largest(dealt):
        values = [unfairness(one, [True] * 7, fractions, list(map(Fraction, dealt)))
                  for one in every_group(PEOPLE)]  # fmt: skip
        return max(sign * value if sign else abs(value) for value in values)

    inside = GROUPS[which]
    members = np.array([inside[cells == cell].any() for cell in range(len(columns["sex"].values))])
    subgroup = part.seen.measure(_rule_of(which), members, 0)
    own = unfairness(inside, [True] * 7, fractions, list(map(Fraction, decided)))
    assert subgroup.unfairness == pytest.approx(float(own), abs=1e-12)
    test = sentence_test([part], subgroup, n_permutations=len(ways))
    if sign * own < 0:  # not the side of harm, which alone is searched
        assert test is None
        return
    reached = sum(largest(dealt) >= abs(own) for dealt in ways)
    assert test.n_permutations == len(ways)
    assert test.p_value == (1 + reached) / (1 + len(ways))


def _rule_of(which):
    from gerrymend.subgroups.rules import Condition, Conjunction

    conditions = [
        (Condition("race", ("blue",)), Condition("sex", ("F",)), Condition("age", low=30.0)),
        (Condition("race", ("blue", "red")), Condition("age", high=40.0)),
        (Condition("sex", ("F",)),),
    ]
    kinds = {"race": "category", "sex": "category", "age": "number"}
    return Conjunction(conditions[which], kinds)


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    return {
        "race": rng.choice(["blue", "green", "red"], n),
        "sex": rng.choice(["F", "M"], n),
        "age": rng.integers(2, 6, n) * 10.0,
    }


def rows_of(kind, seed, n=300):
    """What is audited, with the blue women among them treated otherwise: y, decisions, and how."""
    rng = np.random.default_rng(seed)
    attributes = people(seed, n)
    hit = (attributes["race"] == "blue") & (attributes["sex"] == "F")
    y = rng.integers(0, 2, n)
    decided = (rng.random(n) < np.where(hit, 0.2, 0.55)).astype(int)
    how = {"sensitive_features": attributes, "notion": "statistical_parity",
           "favourable": "positive"}  # fmt: skip
    if kind == "weights":
        how["sample_weight"] = rng.integers(1, 4, n) / 2
    elif kind == "errors of both kinds":
        how |= {"notion": "equalized_odds"}
    elif kind == "two families":
        how |= {"notion": ["false_positive_rate", "statistical_parity"]}
    elif kind == "unknown direction":
        del how["favourable"]
    elif kind == "disadvantaged":
        how["side"] = "disadvantaged"
    elif kind == "numbers":
        y, decided = None, 10 * decided + rng.exponential(4, n)
        how |= {"notion": "mean_outcome"}
    elif kind == "strata":
        how["control_features"] = {"job": rng.choice(["cook", "smith"], n)}
    elif kind == "scores":
        score = rng.integers(1, 20, n) / 20
        y, decided = (rng.random(n) < np.where(hit, score / 2, score)).astype(int), score
        how |= {"notion": "multiaccuracy"}
    return y, decided, how


KINDS = [
    "counts", "weights", "errors of both kinds", "two families", "unknown direction",
    "disadvantaged", "numbers", "strata", "scores",
]  # fmt: skip


@pytest.fixture
def asked(monkeypatch):
    """The calls of the test of a sentence, with what it is asked and what it returns."""
    calls = []

    def recorded(examined, group, **how):
        calls.append((examined, group, how, sentence_test(examined, group, **how)))
        return calls[-1][-1]

    monkeypatch.setattr("gerrymend.auditing.examine.sentence_test", recorded)
    return calls


@pytest.mark.parametrize("kind", KINDS)
def test_each_draw_is_compared_with_the_worst_of_every_group(kind, monkeypatch):
    """The draws of the permutation test, each searched by hand over every group."""
    y, decided, how = rows_of(kind, seed=1)
    seen = []
    monkeypatch.setattr(
        "gerrymend.auditing.examine.listed_groups",
        lambda ask: seen.append(ask.examined) or listed_groups(ask),
    )
    audit(y, decided, **how, n_permutations=40, random_state=5)
    (every,) = seen
    group = _worst_of_all(every)
    test = sentence_test(every, group, n_permutations=40, random_state=5)
    notions = [part.seen.notion for part in every]
    own = [part for part in every if all(part.seen.notion.event) == all(group.notion.event)]
    families = len({all(one.event) for one in notions})
    draws = Searches.of(own[0].seen.tally, own, 5, 0.0)._residuals(range(40))
    n = own[0].seen.tally.total_weight
    columns = own[0].seen.tally.columns
    values = {
        column.name: column.values
        if column.categories is None
        else np.array(column.categories)[column.values.astype(int)]
        for column in columns
    }
    groups = np.array(every_group(values), float)
    reached = 0
    for draw in range(40):
        found = 0.0
        for part, residuals in zip(own, draws, strict=True):
            of_cells = np.zeros(groups.shape[1])
            of_cells[part.seen.cells.active] = residuals[draw]
            sums = groups @ of_cells
            harm = part.seen.notion.harm
            found = max(found, float((harm * sums if harm else np.abs(sums)).max()) / n)
        reached += found >= abs(group.unfairness) - 1e-12
    assert test.n_permutations == 40
    assert test.p_value == pytest.approx(min(1.0, families * (1 + reached) / 41))
    assert test.bins is None


def _worst_of_all(every):
    """The worst that can be said in a sentence, on the side of harm, over all notions."""
    found = []
    for part in every:
        bound = part.seen.bind(sentence_class(part.seen.tally.protected))
        bound = bound.one_sided(part.seen.notion.harm) if part.seen.notion.harm else bound
        worst = bound.prove(part.seen.residual).found
        rule = bound.source.rule(worst.keys[0])
        found.append(part.seen.measure(rule, worst.members[0] > 0, 0))
    return max(found, key=lambda one: abs(one.unfairness))


@pytest.mark.parametrize("kind", KINDS)
def test_the_checker_agrees(kind):
    y, decided, how = rows_of(kind, seed=2, n=600)
    report = audit(y, decided, **how, n_permutations=39)
    passed = {name: how[name] for name in how if name in ("sensitive_features", "sample_weight",
                                                          "control_features")}  # fmt: skip
    assert_checked(report, y, decided, **passed)


def planted(n=1500, seed=3):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    town = rng.choice(["Au", "Rom", "Ulm"], n)
    age = rng.integers(18, 80, n).astype(float)
    hit = (sex == "F") & (town == "Au")
    decided = (rng.random(n) < np.where(hit, 0.1, 0.5)).astype(int)
    return decided, {"sex": sex, "town": town, "age": age}


HOW = {"notion": "statistical_parity", "favourable": "positive", "n_permutations": 39}


@pytest.fixture(scope="module")
def report():
    decided, attributes = planted()
    return audit(None, decided, sensitive_features=attributes, **HOW)


def test_the_group_that_leads_has_its_own_p_value(report):
    said = report.in_a_sentence
    assert str(report.lead) == said.subgroup.describe() == "sex = F and town = Au"
    assert said.test.to_dict() == {"p_value": 1 / 40, "n_permutations": 39, "bins": None}
    lead = report.to_dict()["lead"]
    assert (lead["p_value"], lead["p_value_of"]) == (1 / 40, "sentence")
    assert "a group with at most three conditions" not in lead["sentence"]
    assert "all groups with at most three conditions" in lead["chance"]


def test_what_was_not_asked_for_or_leads_not_is_not_tested(report):
    decided, attributes = planted()
    untested = audit(None, decided, sensitive_features=attributes, **HOW | {"n_permutations": 0})
    assert untested.in_a_sentence.test is None
    conjunctions = audit(
        None, decided, sensitive_features=attributes, **HOW, subgroups="conjunctions"
    )
    assert conjunctions.in_a_sentence is None  # the class says who, and its search is the test
    assert conjunctions.to_dict()["lead"]["p_value_of"] == "search"


def test_it_is_the_same_from_counts_from_an_engine_and_with_workers(report):
    decided, attributes = planted()
    frame = pl.DataFrame({**attributes, "decided": decided})
    counted = frame.group_by("sex", "town", "age", "decided").len("rows")
    by_counts = audit_counts(
        counted,
        label=None,
        prediction="decided",
        sensitive_features=[*attributes],
        count="rows",
        **HOW,
    )
    lazily = audit(None, "decided", data=frame.lazy(), sensitive_features=[*attributes], **HOW)
    by_two = audit(None, decided, sensitive_features=attributes, **HOW, n_jobs=2)
    for other in (by_counts, lazily, by_two):
        assert other.in_a_sentence.test == report.in_a_sentence.test


def test_a_draw_that_is_cut_short_counts_as_one_that_reaches(monkeypatch):
    """Nothing is known of it, so that p can only be too large."""
    tally = tally_of([1] * 7, [0, 1, 1, 1, 0, 0, 1], PEOPLE)
    parts = examined(tally, "statistical_parity")
    searches = Searches.of(tally, parts, 0, 1e9)
    assert searches.reaching(range(5), seconds=60.0) == 0
    # No bound is known yet where there was no time for a table.
    monkeypatch.setattr(Searches, "_reaches", lambda *_: None)
    assert searches.reaching(range(5), seconds=60.0) == 5


def test_without_time_for_enough_draws_there_is_none(asked):
    decided, attributes = planted()
    audit(None, decided, sensitive_features=attributes, **HOW)
    ((every, group, how, _),) = asked
    assert sentence_test(every, group, **how | {"seconds": 0.0}) is None
    assert sentence_test(every, group, **how | {"n_permutations": 18}) is None
    assert sentence_test(every, group, **how | {"n_permutations": 19}).p_value == 1 / 20


def test_numbers_are_cut_coarser_where_a_search_would_take_long(asked, monkeypatch):
    """And the group is compared with no more than such a search finds in the rows."""
    decided, attributes = planted()
    monkeypatch.setattr(tests_of_sentences, "_FEW_STEPS", 0)
    monkeypatch.setattr(tests_of_sentences, "_STEPS_A_CELL", 2)
    report = audit(None, decided, sensitive_features=attributes, **HOW)
    assert report.in_a_sentence.test.to_dict() == {"p_value": 1 / 40, "n_permutations": 39,
                                                   "bins": 16}  # fmt: skip
    assert "numbers cut in few places" in report.to_dict()["lead"]["chance"]
    assert_checked(report, None, decided, sensitive_features=attributes)
    ((every, group, how, _),) = asked
    # One that is cut finer may have more than any that is looked at here.
    larger = replace(group, unfairness=10 * group.unfairness)
    assert sentence_test(every, larger, **how).p_value == 1 / 40


LIES = [
    ({"p_value": 0.03}, "p_value of in_a_sentence is stated as 0.03, which is 1 · (k + 1)"),
    ({"p_value": 0.0}, "p_value of in_a_sentence is stated as 0.0, "),
    ({"n_permutations": 18}, "18 permutations are too few for one."),
    ({"n_permutations": 79, "p_value": 1 / 80}, "is stated as 79, and 39 were asked for."),
    ({"bins": 32}, None),
    ({"bins": 7}, "bins of in_a_sentence is stated as 7, which numbers are not cut into."),
]


@pytest.mark.parametrize(("lie", "words"), LIES)
def test_lies_about_it_are_refused(report, lie, words):
    decided, attributes = planted()
    rows = {"y_true": None, "y_pred": decided, "sensitive_features": attributes}
    data = copy.deepcopy(report.to_dict())
    data["in_a_sentence"]["test"] |= lie
    if "p_value" in lie:
        data["lead"]["p_value"] = lie["p_value"]
    problems = check_report(data, **rows).problems
    assert problems == [] if words is None else any(words in one for one in problems)


def test_a_lead_without_its_own_p_value_or_with_another_one_is_refused(report):
    decided, attributes = planted()
    rows = {"y_true": None, "y_pred": decided, "sensitive_features": attributes}
    assert check_report(report.to_dict(), **rows).problems == []
    for change in ({"p_value": 2 / 40}, {"p_value_of": "search"}, {"p_value_of": "group"}):
        data = copy.deepcopy(report.to_dict())
        data["lead"] |= change
        (problem,) = check_report(data, **rows).problems
        assert problem.startswith(f"{next(iter(change))} of lead is stated as")
    data = copy.deepcopy(report.to_dict())
    data["in_a_sentence"]["subgroup"]["unfairness"] *= 0.5  # too little to lead
    problems = check_report(data, **rows).problems
    assert "test of in_a_sentence is stated, and the group doesn't lead for another." in problems


@pytest.mark.slow
def test_false_alarms_are_as_many_as_promised():
    """Of 1,000 samples in which nothing differs, the worst that can be said, tested each time.

    99 of 100 right tests have p ≤ 5 % in 32 to 68 of them.
    """
    alarms = 0
    for seed in range(1000):
        rng = np.random.default_rng([15, seed])
        n = 400
        attributes = {
            "race": rng.choice(["blue", "green", "red"], n),
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(18, 60, n).astype(float),
        }
        decided = (rng.random(n) < 0.4).astype(int)
        tally = tally_of(np.zeros(n, int), decided, attributes)
        (part,) = examined(tally, "statistical_parity")
        harmful = part.bound.one_sided(part.seen.notion.harm).prove(part.seen.residual).found
        rule = part.bound.source.rule(harmful.keys[0])
        worst = part.seen.measure(rule, harmful.members[0] > 0, 0)
        test = sentence_test([part], worst, n_permutations=99, random_state=seed)
        alarms += test.p_value <= 0.05
    low, high = stats.binom(1000, 0.05).ppf([0.005, 0.995])
    assert low <= alarms <= high
