"""What all that a report publishes tells together: no set of few rows, by rank and brute force.

The check shares no code with the guard: it reads a report's JSON, evaluates its rules itself, and
asks of every set of few rows whether its indicator is in the span of those that are published.
"""

import json

import numpy as np
import pytest

from gerrymend import audit, check_report

FLOOR = 10
EVENTS = {"false_positive_rate": 0, "false_negative_rate": 1}


def meets(condition, row):
    value = row[condition["attribute"]]
    if "values" in condition or "other_than" in condition:
        is_in = value in condition.get("values", condition.get("other_than"))
        return is_in == ("values" in condition)
    low, high = (condition[end] for end in ("low", "high"))
    return (low is None or value >= low) and (high is None or value < high)


def is_member(rule, row):
    if rule["kind"] == "conjunction":
        return all(meets(condition, row) for condition in rule["conditions"])
    if rule["kind"] == "tree":
        node = rule["tree"]
        while not isinstance(node, bool):
            node = node["yes"] if meets(node["condition"], row) else node["no"]
        return node
    score = sum(
        term["coefficient"]
        * (row[term["attribute"]] == term["value"] if "value" in term else row[term["attribute"]])
        for term in rule["terms"]
    )
    return score >= rule["threshold"]


def published(report, cells, notion=None):
    """Indicators over the cells: of one notion's groups, or of all whose sizes are told."""

    def inside(one):
        return np.array([is_member(one["rule"], cell) for cell in cells])

    known = [np.ones(len(cells))]
    said = report["in_a_sentence"]
    groups = [one for name in ("top", "marginals", "intervals", "intersections")
              for one in report[name]]  # fmt: skip
    single = ("worst", "disadvantaged", "favoured", "core", "single_interval")
    groups += [report[name] for name in single
               if report[name]]  # fmt: skip
    groups += [said["subgroup"]] if said else []
    sharpest = (report["sharpest"] or {}).get("subgroup")
    groups += [sharpest] if sharpest else []
    for one in groups:
        if "apart" in one and notion == one["notion"]:
            known.append(inside(one) & inside(first(report)))
        if notion in (None, one["notion"]):
            known.append(inside(one))
        for trait in one.get("composition", ()) if notion is None else ():
            if "share" in trait:
                has = np.array([cell[trait["attribute"]] == trait["value"] for cell in cells])
                known.append(has)
                if not trait["at_least"]:
                    known.append(has & inside(one))
    if said and said["overlap"] is not None and notion == said["subgroup"]["notion"]:
        known.append(inside(leading(report)) & inside(said["subgroup"]))
    if sharpest and report["sharpest"]["within"] is not None and notion == sharpest["notion"]:
        known.append(inside(sharpest) & inside(largest(report)))
    return np.array(known, dtype=float)


def leading(report):
    """The subgroup of the class that a report begins with."""
    lead = report["worst"]
    if lead["treated"] is not None:
        lead = report["disadvantaged"] or report["favoured"] or lead
    return lead


def first(report):
    """The group that leads: who stands out, where the largest unfairness may be chance."""
    sharpest = (report["sharpest"] or {}).get("subgroup")
    return sharpest if sharpest and report["p_value"] > 0.05 else largest(report)


def largest(report):
    """The group of the largest unfairness, or the one in a sentence that has most of it."""
    lead, said = leading(report), report["in_a_sentence"]
    if said is None:
        return lead
    own, worst = abs(said["subgroup"]["unfairness"]), abs(lead["unfairness"])
    most = own >= 0.8 * worst and (own > report["gamma"]) == (worst > report["gamma"])
    return said["subgroup"] if most else lead


def few_told(known, rows):
    """The fewest rows of a set below the floor that follows; None if there is none."""
    there = rows > 0
    atoms, place = np.unique(known[:, there], axis=1, return_inverse=True)
    n = np.bincount(place.ravel(), rows[there])
    if n.sum() < FLOOR:
        return None  # then nothing is told of the event

    def sets(start, left):
        for i in range(start, len(n)):
            if n[i] < left:
                yield [i]
                yield from ([i, *rest] for rest in sets(i + 1, left - n[i]))

    chosen = list(sets(0, FLOOR))
    if not chosen:
        return None
    wanted = np.zeros((len(chosen), len(n)))
    for row, members in zip(wanted, chosen, strict=True):
        row[members] = 1
    directions = np.linalg.svd(atoms, full_matrices=False)[2][: np.linalg.matrix_rank(atoms)]
    left = wanted - wanted @ directions.T @ directions
    follows = (left**2).sum(axis=1) < 1e-9
    return (wanted[follows] @ n).min() if follows.any() else None


def people(seed):
    """Few people of skewed categories, a number in some, decided at random by them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 400))
    race = rng.choice(list("abcd")[: rng.integers(2, 5)], n)
    if seed % 3 == 0:
        race = np.where(rng.random(n) < 0.55, "a", race)
    protected = {"race": race, "sex": rng.choice(["F", "M"], n, p=[0.8, 0.2])}
    third = [{}, {"home": rng.choice(["land", "town"], n, p=[0.3, 0.7])},
             {"age": rng.integers(0, 5, n)}, {"age": rng.integers(20, 60, n)}]  # fmt: skip
    protected |= third[seed % 4]
    y = (rng.random(n) < rng.choice([0.1, 0.4])).astype(int)
    lean = rng.standard_normal(4)
    woman = protected["sex"] == "F"
    score = lean @ [race == "a", race == "b", woman, woman & (race == "a")]
    decided = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    return y, decided, protected


def disclosed(seed):
    """The small sets that follow from a report: by notion, and of people."""
    y, decided, protected = people(seed)
    report = audit(
        y,
        decided,
        sensitive_features=protected,
        subgroups=["linear", "linear", "conjunctions", "value_sets", "trees"][seed % 5],
        notion=list(EVENTS) if seed % 7 == 0 else "false_positive_rate",
        top=[1, 1, 3][seed % 3],
        favourable=[None, "negative"][seed % 2],
        n_permutations=19 if seed % 5 == 2 else 0,  # where they are quick
        budget=2.0,
    )
    report = json.loads(report.to_json())
    rows = list(zip(*(values.tolist() for values in protected.values()), strict=True))
    cells = sorted(set(rows))
    index = np.array([cells.index(row) for row in rows])
    named = [dict(zip(protected, cell, strict=True)) for cell in cells]
    found = {}
    for notion in report["notions"]:
        name = notion["name"]
        in_event = np.bincount(index[y == EVENTS[name]], minlength=len(cells))
        found[name] = few_told(published(report, named, name), in_event)
    found["people"] = few_told(published(report, named), np.bincount(index, minlength=len(cells)))
    return {name: rows for name, rows in found.items() if rows is not None}


@pytest.mark.parametrize("seeds", [range(first, first + 8) for first in range(0, 32, 8)])
def test_reports_tell_of_no_small_set_together(seeds):
    assert {seed: told for seed in seeds if (told := disclosed(seed))} == {}


def test_a_small_group_of_the_other_label_alone_is_not_told_of():
    """Four people of c, none in the event: all but a and b, by size, and of the other label."""
    race = np.repeat(["a", "b", "c"], [60, 60, 4])
    sex = np.tile(["F", "M"], 62)
    y = np.r_[np.tile([0, 0, 1], 40), np.ones(4, int)]
    decided = np.tile([1, 0, 0, 1], 31)
    for subgroups in ("marginals", "linear", "conjunctions"):
        report = audit(y, decided, sensitive_features={"race": race, "sex": sex},
                       subgroups=subgroups)  # fmt: skip
        sizes = {one.group: one.size for one in (*report.marginals, *report.intervals)}
        assert not {"race = a", "race = b"} <= set(sizes)


@pytest.mark.parametrize("subgroups", ["conjunctions", "linear", "trees"])
def test_a_cut_at_the_edge_of_a_range_tells_of_no_one(subgroups):
    """One blue person is 89: all blue people below 88.5 are all of them but one."""
    rng = np.random.default_rng(0)
    race = np.repeat(["blue", "green"], [80, 120])
    age = np.r_[rng.integers(20, 60, 79), 89, rng.integers(20, 60, 120)]
    decided = np.r_[np.ones(79, int), 0, np.zeros(120, int)]
    report = audit(0 * decided, decided, sensitive_features={"race": race, "age": age},
                   subgroups=subgroups, favourable="negative")  # fmt: skip
    report = json.loads(report.to_json())
    named = [{"race": one, "age": int(years)} for one, years in zip(race, age, strict=True)]
    assert report["worst"] is not None
    assert few_told(published(report, named, "false_positive_rate"), np.ones(200)) is None
    assert few_told(published(report, named), np.ones(200)) is None


def test_the_sharpest_group_costs_no_one():
    """Of many audits with a group that stands out: it is told, or kept back, and nobody small."""
    told = []
    for seed in range(24):
        rng = np.random.default_rng([3, seed])
        protected = {
            "race": rng.choice(list("abc"), 300, p=[0.75, 0.2, 0.05]),
            "sex": rng.choice(["F", "M"], 300),
            "home": rng.choice(["l", "t"], 300),
        }
        hit = (protected["race"] == "b") & (protected["sex"] == "F")
        decided = (rng.random(300) < np.where(hit, 0.9, 0.25)).astype(int)
        report = audit(
            0 * decided,
            decided,
            sensitive_features=protected,
            top=3,
            subgroups="conjunctions",
            favourable="negative",
            n_permutations=39,
        )
        assert (report.sharpest.subgroup is None) <= ("sharpest" in report.kept_back)
        told.append(report.sharpest.subgroup is not None)
        assert_no_few_are_told(report, protected)
    assert sum(told) > 16


def assert_no_few_are_told(report, protected):
    """No sum over few rows follows from what the JSON of a report tells, over the event or all."""
    plain = json.loads(report.to_json())
    named = [
        dict(zip(protected, row, strict=True))
        for row in zip(*(values.tolist() for values in protected.values()), strict=True)
    ]
    ones = np.ones(len(named))
    assert few_told(published(plain, named, "false_positive_rate"), ones) is None
    assert few_told(published(plain, named), ones) is None


def planted(seed):
    """600 people of whom women of one ethnicity, 50 and older, fare worst."""
    rng = np.random.default_rng(seed)
    protected = {"sex": rng.choice(["female", "male"], 600),
                 "ethnicity": rng.choice(["Alder", "Birch", "Cedar"], 600, p=[0.5, 0.3, 0.2]),
                 "age": rng.integers(19, 78, 600)}  # fmt: skip
    hit = (protected["sex"] == "female") & (protected["ethnicity"] == "Birch")
    hit &= protected["age"] >= 50
    return protected, (rng.random(600) < np.where(hit, 0.7, 0.15)).astype(int)


@pytest.mark.parametrize(("seed", "has_core"), [(7, True), (13, False), (0, True), (14, True)])
def test_who_is_in_a_formula_costs_no_cell_of_the_table_and_no_core(seed, has_core):
    """The table and where most lies are told before who is in a formula that doesn't lead.

    With the formula G and two traits of it, F∩G + B∩G − G is F∩B∩G where all of G have one of the
    two: beside it the cell F∩B, of those who fare worst, tells of the few of them outside of G.
    """
    protected, decided = planted(seed)
    report = audit(0 * decided, decided, sensitive_features=protected, favourable="negative")
    assert report.in_a_sentence is not None
    assert report.kept_back == ("composition",)
    assert report.intersections.left_out == 0
    assert (report.core is not None) == has_core
    result = check_report(report.to_dict(), 0 * decided, decided, sensitive_features=protected)
    assert result.problems == []
    assert_no_few_are_told(report, protected)


def test_who_is_in_a_formula_that_leads_is_told_before_the_table():
    """Ten terms name nobody: where no sentence has most of it, its traits do."""
    rng = np.random.default_rng(1)
    n = 3000
    names = [f"a{i}" for i in range(6)]
    protected = {name: rng.choice(["no", "yes"], n, p=[0.6, 0.4]) for name in names}
    score = sum((values == "yes").astype(int) for values in protected.values())
    decided = (rng.random(n) < np.where(score >= 3, 0.45, 0.2)).astype(int)
    report = audit(0 * decided, decided, sensitive_features=protected, favourable="negative")
    said = report.in_a_sentence.subgroup
    assert said.unfairness < 0.8 * report.worst.unfairness
    assert report.worst.composition
    assert "composition" not in report.kept_back
