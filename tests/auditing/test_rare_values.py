"""Nobody is named: values that few rows have are listed in no output."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gerrymend import audit, check_report, prove
from gerrymend.auditing.from_rows import tally_of_rows
from gerrymend.auditing.rare_values import rare_values
from gerrymend.inputs.protected import Column, Others
from gerrymend.subgroups.linear_rule import LinearRule, Term
from gerrymend.subgroups.rules import Condition
from tests.cli.calling import call
from tests.marks import slow

N = 480
RNG = np.random.default_rng(8)
# Half of the rows are of three towns, the others of villages that three rows have each.
VILLAGES = np.array([f"Village{i:03}" for i in range(N)])
TOWN = RNG.choice(np.array(["Ulm", "Bonn", "Graz"], dtype="U10"), N)
TOWN[1::2] = VILLAGES[np.repeat(np.arange(80), 3)]
SEX = RNG.choice(["F", "M"], N)
AGE = RNG.integers(18, 80, N)
Y = RNG.integers(0, 2, N)
# Who is harmed lives in some of the villages, and in Ulm.
IN = np.isin(TOWN, VILLAGES[:32]) | (TOWN == "Ulm")
D = (RNG.random(N) < 0.2 + 0.6 * IN).astype(int)
ROWS = {"town": TOWN, "sex": SEX, "age": AGE}
CLASSES = ["linear", "value_sets", "trees", "conjunctions", "marginals"]


def outputs(report):
    return {
        "text": str(report),
        "json": report.to_json(),
        "markdown": report.to_markdown(),
        "page": report.to_html(),
        "fragment": report._repr_html_(),
    }


@pytest.mark.filterwarnings("ignore:.*identifier")
@pytest.mark.parametrize(
    ("subgroups", "min_group_size"),
    [*((one, 10) for one in CLASSES), ("linear", 1), ("value_sets", 1),
     *(slow(one, 1) for one in CLASSES[2:])],
)  # fmt: skip
def test_no_value_of_few_rows_is_in_any_output(subgroups, min_group_size):
    town = TOWN.copy()
    if min_group_size == 1:  # villages of one row each: a person
        town[1::2] = VILLAGES[1::2]
    rows = {"y_true": Y, "y_pred": D, "sensitive_features": ROWS | {"town": pd.Categorical(town)}}
    report = audit(**rows, subgroups=subgroups, top=3, budget=5, min_group_size=min_group_size)
    for kind, text in outputs(report).items():
        assert "Village" not in text, kind
    ((attribute, number),) = report.rare_values
    assert (attribute, number) == ("town", 80 if min_group_size == 10 else N // 2)
    assert f"{number} of town" in report.to_html()
    result = check_report(report, **rows)
    assert result.ok, result.problems


def test_the_verdict_is_about_everyone():
    """The search is over all values, and only the description takes the rare ones together."""
    tie = np.where(np.isin(TOWN, VILLAGES[:32]), "harmed", "other")
    only = {"sensitive_features": {"town": TOWN}, "subgroups": "value_sets"}
    harmed = (tie == "harmed").astype(int)
    report = audit(np.zeros(N, int), harmed, **only, gamma=0.05)
    free = audit(np.zeros(N, int), harmed, sensitive_features={"tie": tie}, subgroups="value_sets")
    assert report.unfairness == pytest.approx(free.unfairness, abs=1e-12)
    assert report.withheld
    assert abs(report.worst.unfairness) < report.unfairness
    assert "or is told by values that fewer than 10 rows have" in " ".join(str(report).split())


@pytest.mark.parametrize("subgroups", ["linear", "value_sets"])
def test_rows_of_rare_values_are_told_together(subgroups):
    """All villages are harmed: that can be said without naming one."""
    village = np.char.startswith(TOWN.astype(str), "Village")
    decided = np.where(village, RNG.random(N) < 0.9, RNG.random(N) < 0.1).astype(int)
    report = audit(np.zeros(N, int), decided, sensitive_features={"town": TOWN},
                   subgroups=subgroups, budget=5)  # fmt: skip
    names = {"Ulm", "Bonn", "Graz"}
    assert set(re.findall(r"Ulm|Bonn|Graz", report.worst.describe())) == names
    inside = report.worst.contains({"town": TOWN})
    assert inside.all() != inside.any()
    np.testing.assert_array_equal(inside, village == inside[village][0])
    assert report.worst.size == inside.sum()
    # Of new rows, those of a village that nobody has heard of are treated as the others are.
    new = report.worst.contains({"town": ["Ulm", "Elsewhere"]})
    assert new.tolist() == [inside[TOWN == "Ulm"][0], inside[village][0]]


def test_the_worst_that_may_be_told_is_the_worst_of_merged_values():
    """Against a search of the same rows, whose rare values were made one by hand."""
    merged = np.where(np.char.startswith(TOWN.astype(str), "Village"), "any village", TOWN)
    for subgroups in ("linear", "value_sets"):
        report, expected = (
            audit(Y, D, sensitive_features={"town": town, "sex": SEX}, subgroups=subgroups)
            for town in (TOWN, merged)
        )
        assert abs(report.worst.unfairness) == pytest.approx(abs(expected.worst.unfairness))
        same = report.worst.contains({"town": TOWN, "sex": SEX}) == (
            expected.worst.contains({"town": merged, "sex": SEX})
        )
        assert same.all() or not same.any()  # a group, or all others, which differ as much


def test_a_proof_names_nobody():
    proof = prove(Y, D, sensitive_features=ROWS, subgroups="value_sets", at_most=0.001)
    assert proof.status == "refuted"
    assert "Village" not in str(proof)


def test_a_report_that_names_someone_is_refused():
    rows = {"y_true": Y, "y_pred": D, "sensitive_features": {"town": TOWN, "sex": SEX}}
    report = audit(**rows, subgroups="value_sets").to_dict()
    lie = json.loads(json.dumps(report))
    for one in (lie["worst"], lie["top"][0]):
        (condition,) = [c for c in one["rule"]["conditions"] if c["attribute"] == "town"]
        told = condition.pop("other_than", None) or condition.pop("values")
        condition["other_than"] = [*told, "Village000"]
    assert any("lists a value of 'town'" in one for one in check_report(lie, **rows).problems)
    fewer = report | {"rare_values": []}
    assert any("rare_values" in one for one in check_report(fewer, **rows).problems)


def test_rare_values_are_counted_over_all_rows():
    tally = tally_of_rows(Y, D, ROWS)
    counts = pd.Series(TOWN).value_counts()
    assert rare_values(tally, 10) == {"town": frozenset(counts[counts < 10].index)}
    assert rare_values(tally, 3) == {}
    assert rare_values(tally, 1) == {}


def test_conditions_on_others():
    towns = Column("town", np.array([0.0, 1.0, 2.0, 3.0]), ("Au", "Bonn", "Ulm", None))
    others = Others(("Bonn", "Ulm"))
    alone = Condition("town", (others,))
    assert alone.holds(towns).tolist() == [True, False, False, True]
    assert alone.describe() == "town not in {Bonn, Ulm}"
    assert alone.to_dict() == {"attribute": "town", "other_than": ["Bonn", "Ulm"]}
    beside = Condition("town", ("Bonn", others))
    assert beside.holds(towns).tolist() == [True, True, False, True]
    assert beside.describe() == "town ≠ Ulm"


def test_a_linear_rule_without_a_term_for_others():
    others = Others(("Bonn", "Ulm"))
    levels = {"age": None, "town": ("Bonn", "Ulm", others)}
    terms = (Term("age", False), Term("town", True, "Ulm"), Term("town", True, others))
    rule = LinearRule(terms, (0.1, 2.0, -3.0), 1.0, levels)
    merged = Column("town", RNG.integers(0, 3, 60).astype(float), ("Bonn", "Ulm", others))
    ages = Column("age", RNG.integers(0, 60, 60).astype(float))
    columns = {"age": ages, "town": merged}
    told = rule.without_others()
    assert not any(isinstance(term.value, Others) for term in told.terms)
    np.testing.assert_array_equal(told.members(columns), rule.members(columns))
    assert "Others" not in told.describe()


def test_the_command_line_names_nobody(tmp_path):
    """The issue's own case: identifiers, insisted on."""
    path = tmp_path / "people.csv"
    ids = [f"APP-{i:04}" for i in range(N)]
    pl.DataFrame({"application_id": ids, "sex": SEX, "y": Y, "d": D}).write_csv(path)
    files = {"--json": "r.json", "--markdown": "r.md", "--report": "r.html"}
    written = [word for option, name in files.items() for word in (option, tmp_path / name)]
    for subgroups in ("linear", "value_sets", "trees"):
        code, out, err = call(
            "audit", path, "--label", "y", "--prediction", "d", "--protected", "application_id,sex",
            "--categorical", "application_id", "--subgroups", subgroups, "--permutations", "0",
            "--budget", "5", *written)  # fmt: skip
        verdict = json.loads((tmp_path / "r.json").read_text())["verdict"]
        assert code == (1 if verdict == "exceeds gamma" else 3), err
        for text in (out, err, *((tmp_path / name).read_text() for name in files.values())):
            assert "APP-" not in text


@pytest.mark.parametrize("side", ["disadvantaged", "both"])
@pytest.mark.parametrize("subgroups", ["linear", "value_sets"])
def test_who_is_treated_worse_is_told_without_names(subgroups, side):
    """Wrongly refused most often: one group of villages, too rare to be told, and Ulm."""
    refused = np.isin(TOWN, VILLAGES[:40]) | ((TOWN == "Ulm") & (RNG.random(N) < 0.8))
    rows = {"y_true": np.ones(N, int), "y_pred": 1 - refused, "sensitive_features": {"town": TOWN}}
    report = audit(**rows, subgroups=subgroups, notion="false_negative_rate", side=side,
                   favourable="positive", budget=5)  # fmt: skip
    assert "Village" not in report.to_json()
    told = report.disadvantaged
    assert told.unfairness > 0
    assert told.contains({"town": ["Ulm"]}).all()
    if side == "disadvantaged":
        assert report.worst.unfairness > 0


@pytest.mark.parametrize("subgroups", ["value_sets", "linear", "conjunctions", "trees"])
def test_a_value_of_rows_that_are_held_out_is_named_nowhere(subgroups):
    rng = np.random.default_rng(1)
    town = np.array(["x", "y"], "U12")[rng.integers(0, 2, 200)]
    town[0], town[1:4] = "JOHNSMITH", "JANEDOE"
    sex = np.array(list("FM"))[rng.integers(0, 2, 200)]
    people = {"town": town, "sex": sex, "age": rng.integers(0, 5, 200)}
    rate = 0.3 + 0.3 * (sex == "F") * (town == "x") + 0.1 * (people["age"] > 2)
    decided = (rng.random(200) < rate).astype(int)
    for seed in range(3):
        report = audit(
            0 * decided, decided, sensitive_features=people, notion="statistical_parity",
            subgroups=subgroups, budget=2, test_size=0.3, random_state=seed,
        )  # fmt: skip
        for text in (report.to_json(), str(report), report.to_markdown()):
            assert "JOHNSMITH" not in text
            assert "JANEDOE" not in text
