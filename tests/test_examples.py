"""The examples run as a newcomer would run them, without a warning, and say what they should."""

import runpy
import sys
import tempfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {
    "audit_my_model": ["exceeds gamma", "category_0 = v0 and category_1 = v0", "p = 0.010"],
    "train_a_fair_model": ["plain test", "fair test", "MixtureClassifier"],
    "hire_without_labels": [
        "there are 2: with the rate of those who are alike",
        "sex = woman and age ≥ 45",
    ],
    "tables_for_a_regulator": [
        "Of sex and race the lowest ratio is 0.84",
        "In no table: sex = Female and race = Black and age = 40 and older, invited 10%",
    ],
    "waiting_times": [
        "age ≥ 69 and home = country",
        "days, against",
        "in the same strata",
        "Proved",
        "60 ≤ age ≤ 86 (1,492 of 4,000 people)",
        "17.3 days beyond a month, where they wait that long",
        "all whose case is as urgent: 15.2 days (p = 0.010).",
    ],
    "triage_in_three_levels": [
        "false negative rate of “urgent” 45.2 %, against 9.2 %",
        "The subgroup treated worst is language = Arabic and age ≥ 65",
        "The false positive rate of “can wait”",
        "Proved",
    ],
    "calibrate_then_decide": [
        "patches were learnt on 4,000 rows",
        "category_0 = v0 and category_1 = v0, score ≥ 0.6: 73.2% predicted, 31.0% happened",
        "On 2,500 rows that no step has seen",
        "calibrated, then fair",
    ],
    # The figures of docs/frozen.md.
    "repair_a_frozen_model": [
        "On 6,000 rows that nothing was learnt on",
        "the score, as it is 24.5% 42.6% 0.0349 p = 0.01 sex = woman and age ≤ 42",
        "score alone 32.0% 64.1% 0.0186 p = 0.01",
        "score, rent 22.0% 52.6% 0.0092 p = 0.01",
        "score, sex, age 21.8% 48.9% 0.0061 p = 0.03",
        "score, rent, sex, age 20.6% 48.6% 0.0083 p = 0.01",
        "a threshold by group 22.4% 42.6% 0.0064 p = 0.09",
        "chance alone reaches 0.0058",
    ],
    "choose_on_the_frontier": ["on 3,334 test rows", "question of policy", "gamma 0.04: of 1,000"],
}
# What is on the page of an example that writes one.
PAGES = {
    "hire_without_labels": ["Who is hired", "sex = woman and age ≥ 45", "research"],
    "waiting_times": ["Who waits for surgery", "age ≥ 69 and home = country", "planned", " days"],
    "triage_in_three_levels": ["Cases of each level", "language = Arabic and age ≥ 65", "urgent"],
}


@pytest.fixture(autouse=True)
def every_report_is_checked():
    """Not here: the checker would take longer than the examples, which have ten thousand rows."""


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_should(name, tmp_path, monkeypatch, capsys):
    here = tmp_path / "here"
    elsewhere = tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    pages = list(elsewhere.rglob("*.html"))
    assert len(pages) == (name in PAGES)
    for page in pages:
        assert f"The report is in {page}\n" in said
        for words in PAGES[name]:
            assert words in page.read_text().partition("<main")[2]
    # The path of a temporary folder is as long as it is.
    said = said.replace(str(elsewhere), "")
    for words in SAYS[name]:
        assert words in " ".join(said.split())
    assert max(map(len, said.splitlines())) < 160
    assert not list(here.iterdir()), "an example leaves nothing behind"


@pytest.mark.parametrize("name", PAGES)
def test_an_example_writes_its_page_where_it_is_told_to(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "own.html"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert [path.name for path in tmp_path.iterdir()] == ["own.html"]
