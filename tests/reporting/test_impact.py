"""Impact ratios as they are shown: every output has the figures, and no text of the data acts."""

import csv
import io
import json
import zipfile

import numpy as np
import pytest

from gerrymend import impact_ratios
from gerrymend.reporting.impact.beyond import beyond_sentences
from gerrymend.reporting.impact.rows import COLUMNS
from tests.impact.rule_data import SELECTED, rows_of
from tests.reporting.hostile import STRINGS, Elements, assert_inert, assert_text_alone

pytest.importorskip("jinja2")
rich = pytest.importorskip("rich.console")

N = 400
FIVES = [STRINGS[i : i + 5] for i in range(0, 100, 5)]
SAID = ("title", "model", "owner", "purpose", "date")
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"]


def made_of(strings, **how):
    """Tables of attributes that are named by the strings, of which each has two as categories."""
    rng = np.random.default_rng(0)
    columns = {
        name: np.where(rng.random(N) < 0.5, name, other).astype(object)
        for name, other in zip(strings, [*strings[1:], strings[0]], strict=True)
    }
    decided = np.array(strings[:2], dtype=object)[rng.integers(0, 2, N)]
    how = {"depth": 1, "pos_label": strings[1], "budget": 2, "subgroups": "marginals"} | how
    return impact_ratios(decided, sensitive_features=columns, **how)


@pytest.fixture(scope="module")
def hostile():
    # A search takes a while: its words are made of every fourth.
    return [made_of(strings, search=i % 4 == 0) for i, strings in enumerate(FIVES)]


@pytest.fixture(scope="module")
def tame():
    return made_of([f"word {i}" for i in range(5)])


def test_pages_show_hostile_text_as_text(hostile, tame):
    like = tame.to_html(**dict.fromkeys(SAID, "word"))
    for made, five in zip(hostile, FIVES, strict=True):
        assert_text_alone(made.to_html(**dict(zip(SAID, five, strict=True))), like)
        assert_text_alone(made._repr_html_(), tame._repr_html_())


def test_markdown_shows_hostile_text_as_text(hostile, tame):
    markdown_it = pytest.importorskip("markdown_it")
    reader = markdown_it.MarkdownIt("gfm-like", {"linkify": False, "html": True})
    like = {tag for tag, _ in Elements(reader.render(tame.to_markdown(model="word"))).found}
    for made, five in zip(hostile, FIVES, strict=True):
        text = made.to_markdown(title=five[0], model=five[1])
        assert_inert(text)
        page = Elements(reader.render(text))
        assert {tag for tag, _ in page.found} <= like
        assert not page.links


def test_text_and_json_are_inert(hostile):
    for made in hostile:
        console = rich.Console(width=80, file=io.StringIO())
        console.print(made)
        for text in (str(made), repr(made), console.file.getvalue(), made.to_json()):
            assert_inert(text)
        assert json.loads(made.to_json()) == json.loads(json.dumps(made.to_dict()))


def formulas():
    group = np.repeat(FORMULAS, 50)
    decided = np.tile([1, 0], 200)
    return impact_ratios(decided, sensitive_features={"=A1": group}, search=False)


def test_no_cell_of_csv_is_a_formula(hostile):
    for made in (formulas(), *hostile):
        text = made.to_csv()
        assert_inert(text.replace("\r\n", "\n"))
        for row in csv.DictReader(io.StringIO(text)):
            for name in ("table", "group"):
                assert not row[name].lstrip().startswith(tuple("=+-@＝＋－＠"))
            assert int(row["n"]) > 0


def test_no_cell_of_a_workbook_is_a_formula(hostile, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    for made in (formulas(), *hostile[::5], hostile[-1]):
        path = made.write_xlsx(tmp_path / "made.xlsx")
        with zipfile.ZipFile(path) as parts:
            assert not any(b"<f>" in parts.read(name) for name in parts.namelist())
        for sheet in openpyxl.load_workbook(path):
            for row in sheet.iter_rows():
                assert all(cell.data_type != "f" for cell in row)


def test_a_workbook_has_the_figures_of_the_frame(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    attributes, selected = rows_of(SELECTED, "sex", "race")
    made = impact_ratios(selected, sensitive_features=attributes, search=False)
    book = openpyxl.load_workbook(made.write_xlsx(tmp_path / "made.xlsx"))
    heads, *rows = book["Impact ratios"].iter_rows(values_only=True)
    assert heads == tuple(COLUMNS)
    frame = made.to_frame("pandas")
    assert len(rows) == len(frame) == 2 + 7 + 14
    for row, wanted in zip(rows, frame.to_dict("records"), strict=True):
        for name, value in zip(heads, row, strict=True):
            # A workbook has numbers to 16 digits.
            number = isinstance(value, float)
            assert value is None or value == (
                pytest.approx(wanted[name]) if number else wanted[name]
            )
            assert value is not None or np.isnan(wanted[name])
    notes = dict(book["Notes"].iter_rows(values_only=True))
    assert notes["No legal advice"].startswith("This is no legal advice")
    assert set(COLUMNS) <= notes.keys()


def test_csv_has_the_figures_of_the_frame(tmp_path):
    attributes, selected = rows_of(SELECTED, "sex", "race")
    made = impact_ratios(selected, sensitive_features=attributes, search=False)
    text = made.write_csv(tmp_path / "made.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    for row, wanted in zip(rows, made.to_frame("pandas").to_dict("records"), strict=True):
        assert row["group"] == wanted["group"]
        assert float(row["ratio"]) == wanted["ratio"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library(backend, tame):
    frame = tame.to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == list(COLUMNS)


PROFILES = {
    "ll144": ({}, ["Local Law 144", "sets no threshold", "Uniform Guidelines"]),
    "four-fifths": ({}, ["four fifths", "1607.4", "rule of thumb"]),
    "lending": ({"reference": "a"}, ["approval rate", "adverse impact ratio", "control group"]),
    None: ({}, ["No rule was named"]),
}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_page_states_its_rule_and_that_it_is_no_advice(profile):
    how, words = PROFILES[profile]
    group = {"g": ["a", "a", "a", "b", "b", "b"] * 10}
    made = impact_ratios(
        [1, 1, 0, 1, 0, 0] * 10, profile=profile, search=False, sensitive_features=group, **how
    )
    for text in (made.to_html(), made.to_markdown()):
        shown = " ".join(text.split()).replace("\N{NO-BREAK SPACE}", " ")
        assert "This is no legal advice" in shown
        assert all(word in shown for word in words)
    assert "no legal advice" in " ".join(str(made).split())


def test_what_the_page_says_of_ratios():
    attributes, selected = rows_of(SELECTED, "sex", "race")
    page = impact_ratios(
        selected, sensitive_features=attributes, profile="ll144", search=False
    ).to_html()
    for shown in ("0.789", "below 0.8, under 2&nbsp;%", "1.000", "reference"):
        assert shown.replace("&nbsp;", "\N{NO-BREAK SPACE}") in page
    # Of sex alone nothing is below: the law's threshold is nobody's.
    assert page.count(">below 0.8") == 1


def test_a_tiny_reference_is_told_of():
    y = [1] * 30 + [0] * 30 + [1] * 10 + [0] * 29 + [1]
    made = impact_ratios(y, sensitive_features={"g": ["a"] * 60 + ["b"] * 39 + ["c"]}, search=False)
    words = " ".join(str(made).split())
    assert "That is 1 person: every ratio of this table hangs on them" in words
    assert "1 group has fewer than 10 rows" in words


def test_one_that_is_in_no_table_leads_where_the_tables_are_fine():
    race, sex = np.repeat(["a", "b"], 200), np.tile(["F", "M"], 200)
    decided = ((race == "a") != (sex == "F")).astype(int)
    made = impact_ratios(decided, sensitive_features={"race": race, "sex": sex}, depth=1)
    assert [group.ratio for group in made.groups] == [1.0] * 4
    words = " ".join(str(made).split())
    assert "The tables don't show all: race = " in words
    assert "exact" in words


def test_what_is_not_known_is_not_said():
    made = made_of([f"word {i}" for i in range(5)], search=False)
    assert "No subgroup that is in no table was looked for." in " ".join(str(made).split())
    weighted = impact_ratios([1, 0] * 20, sensitive_features={"g": ["a", "b", "b", "a"] * 10},
                             sample_weight=np.arange(40) + 1, search=False)  # fmt: skip
    assert "There is none: rows weigh differently" in " ".join(weighted.to_markdown().split())


def test_a_bound_that_was_not_proven_is_said_to_be_none():
    made = made_of([f"word {i}" for i in range(5)])
    data = made.to_dict()
    data["unlisted"] = data["unlisted"] | {"no_bound": "there was no time"}
    told = " ".join(beyond_sentences(data))
    assert "was not proven: there was no time." in told
    assert "No subgroup has an unfairness above" not in told
