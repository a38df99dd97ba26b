"""Who is in, in words: the worst group in a sentence, the composition, and the fewest terms."""

import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gerrymend import LinearThresholds, SubgroupParityClassifier, Trees, audit, pareto_frontier
from gerrymend.auditing.composition import composition
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.auditing.in_a_sentence import can_be_said, sentence_class, sentence_group
from gerrymend.auditing.inference.disclosure import Published, cells_of
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.inputs.protected import Column, distinct_rows, read_columns
from gerrymend.notions import FALSE_POSITIVE_RATE
from gerrymend.reporting.audit.subgroup_words import who_is_in
from gerrymend.subgroups import Conjunctions, ValueSets
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.rules import Condition, Conjunction
from tests.checking import assert_checked
from tests.subgroups.brute_force import intervals, products, value_subsets


def skewed(seed, n=400):
    """Decisions that lean on a sum of attributes, so that the worst threshold is a formula."""
    rng = np.random.default_rng(seed)
    A = {"race": rng.choice(["a", "b", "c"], n), "sex": rng.choice(["F", "M"], n),
         "age": rng.integers(20, 60, n)}  # fmt: skip
    lean = 0.04 * (A["age"] - 40) + (A["race"] == "a") - 0.8 * (A["sex"] == "F")
    decided = rng.random(n) < 1 / (1 + np.exp(-lean))
    return {"y_true": np.zeros(n, int), "y_pred": decided.astype(int), "sensitive_features": A}


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("favourable", [None, "positive"])
def test_the_group_in_a_sentence_is_the_worst_of_all_of_them(seed, favourable):
    """By enumeration of every product of value sets and intervals, on the side of the worst."""
    data = skewed(seed, n=150)
    data["sensitive_features"]["age"] = data["sensitive_features"]["age"] // 10
    report = audit(**data, favourable=favourable, min_group_size=1)
    said = report.in_a_sentence
    assert said is not None
    assert said.exact
    columns = distinct_rows(read_columns(data["sensitive_features"]))
    residual = np.bincount(columns.index, data["y_pred"] - data["y_pred"].mean())
    sign = np.sign(report.worst.unfairness)
    groups = products(columns.columns, 3, value_subsets, intervals)
    best = max(sign * float(residual[group].sum()) for group in groups) / 150
    own = sign * said.subgroup.unfairness
    # The group itself may be a simpler one, which has nearly as much.
    assert (said.simpler_than or own) == pytest.approx(best, abs=1e-12)
    assert 0.9 * best <= own <= best + 1e-12
    assert said.upper_bound == pytest.approx(best, abs=1e-12)
    members = said.subgroup.contains(data["sensitive_features"])
    worst = report.worst.contains(data["sensitive_features"])
    # By hand, over rows that all count: what both share, and the worst's unfairness there.
    assert said.overlap == pytest.approx((members & worst).sum() / (members | worst).sum())
    centred = data["y_pred"] - data["y_pred"].mean()
    assert said.accounts_for == pytest.approx(centred[members & worst].sum() / centred[worst].sum())
    assert_checked(report, **data)


def test_no_search_is_made_for_what_is_a_sentence_itself():
    data = skewed(0)
    for subgroups in ("conjunctions", "marginals", Trees()):
        assert audit(**data, subgroups=subgroups).in_a_sentence is None
    assert audit(**data).in_a_sentence is not None


def test_a_search_that_time_ended_is_told():
    rng = np.random.default_rng(0)
    data = skewed(1)
    report = audit(**data)
    data["sensitive_features"] |= {f"x{i}": rng.standard_normal(400).round(3) for i in range(4)}
    seen = tally_of_rows(*data.values()).of_notion(FALSE_POSITIVE_RATE)
    nothing = Published(seen.rows_of_cells, 10)
    said, _ = sentence_group(seen, report.worst, nothing, min_group_size=10, seconds=0.0)
    assert not said.exact
    assert said.upper_bound > abs(said.subgroup.unfairness)
    report = dataclasses.replace(report, in_a_sentence=said)
    assert "has the most that was found" in flat(str(report))
    assert "is too small to tell, or the time was up" in flat(str(report))
    assert "or the time was up" in flat(report.to_markdown())


def test_many_values_are_taken_one_by_one():
    few = Column("race", np.zeros(3), tuple("abc"))
    many = Column("town", np.zeros(3), tuple("abcdefgh"))
    assert isinstance(sentence_class((few, few)), ValueSets)
    assert isinstance(sentence_class((few, many)), Conjunctions)


def test_small_regions_are_not_told_by_the_overlap():
    """All but four of the worst are in the sentence's group: their number would follow."""
    for seed in range(6):
        report = audit(**skewed(seed), min_group_size=20)
        said = report.in_a_sentence
        A = skewed(seed)["sensitive_features"]
        first, second = report.worst.contains(A), said.subgroup.contains(A)
        regions = [((first == a) & (second == b)).sum() for a in (0, 1) for b in (0, 1)]
        if any(0 < n < 20 for n in regions):
            assert said.overlap is None
            assert said.accounts_for is None


def test_who_is_in_by_hand():
    """1,000 men and 200 women; the group is 700 men over 50 and all women over 50, 100 of them."""
    sex = np.repeat(["M", "F"], [1000, 200])
    age = np.r_[np.repeat([60, 30], [700, 300]), np.repeat([60, 30], [100, 100])]
    cells = distinct_rows(read_columns({"sex": sex, "age": age}))
    rows = np.bincount(cells.index)
    old = cells.columns[1].values == 60
    by_age, by_sex = composition(cells.columns, rows, old, 10)
    assert by_sex.to_dict() == {"attribute": "sex", "value": "M", "share": 0.875,
                                "at_least": False, "overall": 1000 / 1200}  # fmt: skip
    # All in it are 60, as more than half of everyone: the least that half do not exceed is 60.
    assert by_age.to_dict() == {"attribute": "age", "median": 60.0, "overall": 60.0}


def test_values_that_mark_the_group_are_told_and_not_those_it_has_fewer_of():
    """Half of it speaks English, but three quarters of everyone do: they are not who is hit.

    Of 1000 members 480 speak English, 290 another language and 230 Spanish; of 5000 in all 3750,
    350 and 900. Another language is 22 points above everyone's share, and public insurance (550
    against 1750) 20.
    """
    language = np.tile([0.0, 1.0, 2.0], 4)
    insurance = np.tile(np.repeat([0.0, 1.0], 3), 2)
    rows = np.array([240, 140, 70, 240, 150, 160, 2240, 30, 530, 1030, 30, 140])
    members = np.arange(12) < 6
    by_language, by_insurance = composition(
        (Column("insurance", insurance, ("private", "public")),
         Column("language", language, ("english", "other", "spanish"))),
        rows, members, 10)  # fmt: skip
    assert (by_language.value, by_language.share, by_language.overall) == ("other", 0.29, 0.07)
    assert (by_insurance.value, by_insurance.share, by_insurance.overall) == ("public", 0.55, 0.35)
    who = {"composition": [by_language.to_dict(), by_insurance.to_dict()]}
    told = "29 % with language = other (everyone: 7 %), 55 % with insurance = public (35 %)"
    assert who_is_in(who) == told
    # A value that the group has less of than everyone marks nobody, where no other may be told.
    fewer = {"attribute": "language", "value": "english", "share": 0.48, "at_least": False,
             "overall": 0.75}  # fmt: skip
    assert who_is_in({"composition": [fewer]}) == ""


@pytest.mark.parametrize("seed", range(5))
def test_the_value_that_marks_a_group_by_enumeration(seed):
    """Of all values, with every number of rows that follows."""
    rng = np.random.default_rng(seed)
    race = rng.choice(list("abcd"), 300, p=[0.6, 0.2, 0.15, 0.05])
    members = rng.random(300) < np.where(race == "b", 0.6, 0.3)
    (column,) = read_columns({"race": race})
    (trait,) = composition((column,), np.ones(300, dtype=int), members, 10)
    above = {}
    for value in "abcd":
        has = race == value
        if (has & members).sum() >= 10 and (~has & ~members).sum() >= 10:
            above[value] = has[members].mean() - has.mean()
    assert above[trait.value] == max(above.values())


def test_few_others_are_told_as_a_bound():
    """999 men and one woman: "99.9 %" would tell that there is one."""
    sex = np.array([0.0, 1.0, 0.0, 1.0])
    column = Column("sex", sex, ("F", "M"))
    members = np.array([True, True, False, False])
    (trait,) = composition((column,), np.array([1, 999, 400, 600]), members, 10)
    assert (trait.value, trait.share, trait.at_least) == ("M", 0.99, True)
    # Of few women outside it is told no more than that: 403 − 10 of 1000, and not 400.
    (trait,) = composition((column,), np.array([400, 600, 3, 997]), members, 10)
    assert (trait.value, trait.share, trait.at_least) == ("F", 0.393, True)
    # Few of either: by the smaller of the 1000 in it and the 998 men.
    (trait,) = composition((column,), np.array([5, 995, 995, 3]), members, 10)
    assert (trait.value, trait.share, trait.at_least) == ("M", 0.988, True)
    # Of men everyone's share would tell of 3 women outside, and there are too few women inside.
    assert composition((column,), np.array([5, 995, 3, 997]), members, 10) == ()


@pytest.mark.parametrize("seed", range(30))
def test_no_number_of_rows_below_the_floor_follows(seed):
    rng = np.random.default_rng(seed)
    columns = distinct_rows(read_columns({
        "race": rng.choice(list("abcdef"), 300, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]),
        "sex": rng.choice(["F", "M"], 300, p=[0.03, 0.97])})).columns  # fmt: skip
    rows = rng.integers(1, 40, len(columns[0].values))
    members = rng.random(len(rows)) < 0.5
    size = rows[members].sum()
    for trait in composition(columns, rows, members, 10):
        column = next(one for one in columns if one.name == trait.attribute)
        has = column.equals(trait.value)
        parts = [rows[has & members].sum(), rows[~has & members].sum(),
                 rows[has & ~members].sum(), rows[~has & ~members].sum()]  # fmt: skip
        few = [0 < n < 10 for n in parts]
        assert few == [False, few[1], few[2], False]
        assert trait.at_least == (few[1] or few[2])
        if trait.at_least:
            # By what is known anyhow, the rows of the group and those of the value, and the floor.
            known = [
                whole
                for whole, is_few in zip([size, rows[has].sum()], few[1:3], strict=True)
                if is_few
            ]
            assert trait.share == (min(known) - 10) / size < parts[0] / size
        else:
            assert trait.share == pytest.approx(parts[0] / size)


def test_the_fewest_terms_that_select_the_same_rows():
    """Noise is no term, and a term that changes nobody is none either."""
    rng = np.random.default_rng(0)
    columns = {name: Column(name, rng.standard_normal(60).round(2)) for name in "abcd"}
    columns["region"] = Column("region", rng.integers(0, 3, 60).astype(float), ("n", "s", "w"))
    terms = (*(Term(name, False) for name in "abcd"), Term("region", True, "s"))
    levels = {**dict.fromkeys("abcd"), "region": ("n", "s", "w")}
    full = LinearRule(terms, (1.0, 3e-16, -0.5, 2e-17, 3e-16), 0.123456789, levels)
    members = full.members(columns)
    short = full.in_few_digits(columns, members)
    assert [term.attribute for term in short.terms] == ["a", "c"]
    assert short.members(columns).tolist() == members.tolist()


def test_no_term_of_a_reported_rule_can_be_dropped():
    for seed in range(4):
        data = skewed(seed)
        report = audit(**data)
        rule = report.worst.rule
        cells = distinct_rows(read_columns(data["sensitive_features"])).columns
        columns = {column.name: column for column in cells}
        members = rule.members(columns)
        for i in range(len(rule.terms)):
            kept = [j for j in range(len(rule.terms)) if j != i]
            rest = LinearRule(tuple(rule.terms[j] for j in kept),
                              tuple(rule.coefficients[j] for j in kept), 0.0,
                              rule.levels)  # fmt: skip
            scores = rest.scores(columns)
            assert scores[members].min() <= scores[~members].max()
        sizes = [abs(c) * np.std(term.evaluate(columns[term.attribute]))
                 for term, c in zip(rule.terms, rule.coefficients, strict=True)]  # fmt: skip
        # In the order of their sizes, to the digits that are printed.
        assert all(b <= 1.05 * a for a, b in itertools.pairwise(sizes))


def test_the_composition_leads_and_the_formula_follows():
    data = skewed(2, n=3000)
    report = audit(**data, favourable="positive", top=2)
    rule = report.worst.describe()
    assert "·" in rule
    first = report.worst.composition[0]
    who = f"{first.attribute} = {first.value}" if first.median is None else "median age"
    for shown in (str(report), report.to_markdown(), report.to_html(), str(report.worst)):
        text = flat(shown.replace("\\", ""))
        assert who in text
        assert text.index(who) < text.index("·[")
    heading = next(line for line in report.to_markdown().splitlines() if line.startswith("### 1."))
    assert who in heading
    assert "·" not in heading
    assert "Few conditions" in str(report)
    # Which values have no term is said.
    for attribute, values in report.worst.rule.to_dict()["reference"].items():
        assert f"{attribute} = {' or '.join(values)}" in report.to_html()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_and_a_frontier_say_who():
    rng = np.random.default_rng(0)
    data = skewed(3, n=1500)
    A = data["sensitive_features"]
    y = data["y_pred"]
    X = np.column_stack([A["age"], A["race"] == "a", A["sex"] == "F", rng.standard_normal(1500)])
    clf = SubgroupParityClassifier(
        LogisticRegression(),
        gamma=0.05,
        max_iter=3,
        subgroups=LinearThresholds(restarts=5),
        random_state=0,
    )
    frontier = pareto_frontier(clf, X, y, sensitive_features=A, gammas=[0.05], audit_budget=2.0)
    worst = frontier.model(0.05).worst_subgroup_
    assert worst.composition
    if "·" in worst.describe():
        assert "(everyone: " in str(worst)
    shown = frontier.points[0].train.shown
    assert "·" in shown.describe()
    for text in (frontier.to_markdown(), frontier.to_html()):
        assert "(everyone: " in text


def test_the_floor_of_the_audit_is_that_of_the_composition():
    report = audit(**skewed(0, n=60), min_group_size=25, subgroups="marginals")
    for trait in report.worst.composition:
        if trait.median is None and not trait.at_least:
            assert round(trait.share * report.worst.size) >= 25


@pytest.mark.parametrize("favourable", [None, "negative"])
def test_values_that_few_rows_have_are_named_nowhere(favourable):
    """Neither by the sentence, nor by who is in, nor as a value without a term."""
    data = skewed(1, n=1200)
    data["sensitive_features"]["race"] = data["sensitive_features"]["race"].astype("<U9")
    data["sensitive_features"]["race"][:4] = "rareville"
    report = audit(**data, favourable=favourable, top=2)
    assert "·" in report.worst.describe()
    assert report.in_a_sentence is not None
    for shown in (report.to_json(), str(report), report.to_markdown(), report.to_html()):
        assert "rareville" not in shown
    assert_checked(report, **data)


def test_fine_numbers_are_cut_into_bins():
    """Every pair of 400 cuts of three numbers takes minutes, and says no more."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 3))
    lean = x @ [1.0, -0.8, 0.6]
    data = {"y_true": np.zeros(400, int), "sensitive_features": x,
            "y_pred": (rng.random(400) < 1 / (1 + np.exp(-lean))).astype(int)}  # fmt: skip
    report = audit(**data, favourable="negative")
    said = report.in_a_sentence
    assert "cut into at most 32 bins" in said.covers
    text = flat(str(report))
    assert "with at most three conditions, numbers cut in few places, has" in text
    assert "numbers cut into at most 32 bins" in flat(report.to_markdown())
    assert text.count("numbers cut into at most 32 bins at") == 0
    assert_checked(report, **data)


@pytest.mark.parametrize("unknown", [9999.0, -999.0])
def test_medians_are_not_made_coarse_by_few_that_are_far_away(unknown):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 2000).astype(float)
    age[:20] = unknown
    columns = read_columns({"age": age})
    old = age >= 60
    (trait,) = composition(columns, np.ones(2000, dtype=int), old, 10)
    assert trait.median == np.sort(age[old])[(old.sum() - 1) // 2]
    assert trait.overall == np.sort(age)[999]


def sayable(rule):
    return can_be_said(Subgroup(rule, FALSE_POSITIVE_RATE, 0.1, 0.5, 10, 0.5, 0.3))


def test_the_kind_of_a_rule_and_not_its_signs_say_that_it_is_a_formula():
    """A town may be called "a·b"; a sum whose terms count 1 or −1 has no such sign."""
    towns = {"town": ("a·b", "not (c", "d")}
    by_town = LinearRule((Term("town", True, "a·b"),), (1.0,), 0.5, towns)
    assert by_town.describe() == "town = a·b"
    assert sayable(by_town)
    both = LinearRule((Term("town", True, "a·b"), Term("sex", True, "F")), (1.0, 1.0), 1.5,
                      {"sex": ("F", "M")} | towns)  # fmt: skip
    assert sayable(both)
    assert both.complement().describe() == "not (sex = F and town = a·b)"
    assert not sayable(both.complement())
    assert sayable(Conjunction((Condition("not (x", ("a·b",)),), {"not (x": "str"}))
    plain_sum = LinearRule((Term("age", False), Term("town", True, "d")), (1.0, -1.0), 40.0,
                           {"age": None} | towns)  # fmt: skip
    assert plain_sum.describe() == "age − [town=d] ≥ 40"
    assert not sayable(plain_sum)


def test_a_category_that_looks_like_a_formula_needs_no_sentence():
    town = np.repeat(["a·b", "c"], 60)
    decided = np.r_[np.tile([1, 1, 0], 20), np.tile([0, 0, 1], 20)]
    data = {"y_true": 0 * decided, "y_pred": decided, "sensitive_features": {"town": town}}
    report = audit(**data, favourable="negative")
    assert "a·b" in report.disadvantaged.describe()
    assert report.in_a_sentence is None
    assert_checked(report, **data)


def test_the_next_best_is_said_where_the_best_would_disclose():
    """Of what is described, all but the worst by value and all but few of the next are told."""
    data = skewed(0)
    seen = tally_of_rows(*data.values()).of_notion(FALSE_POSITIVE_RATE)
    worst = audit(**data).worst
    best, kept_back = sentence_group(seen, worst, Published(seen.rows_of_cells, 10),
                                     min_group_size=10)  # fmt: skip
    assert not kept_back
    beside = Published(seen.rows_of_cells, 10)
    members = cells_of(seen, best.subgroup)
    # All of the best but four rows of it are published: these would follow.
    for cell in np.flatnonzero(members & (seen.rows_of_cells > 0)):
        fewer = members & (np.arange(len(members)) != cell)
        if seen.rows_of_cells[cell] < 10 and beside.told(fewer.astype(int)) is None:
            break
    beside.add(fewer.astype(int))
    other, kept_back = sentence_group(seen, worst, beside, min_group_size=10)
    assert kept_back
    assert other.subgroup.describe() != best.subgroup.describe()
    assert not other.exact
    assert abs(other.subgroup.unfairness) < abs(best.subgroup.unfairness) <= other.upper_bound
