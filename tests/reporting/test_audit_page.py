"""An audit's page in a browser: what is read, what is escaped, what it never asks for."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest

from gerrymend import LinearThresholds, audit
from gerrymend.reporting.audit.page import audit_page
from tests.reporting import audits

pytest.importorskip("jinja2")

REGRESSION = LinearThresholds(search="regression")
CASES = {
    "usual": audits.fixed,
    "hostile": audits.hostile,
    "many": audits.many,
    "few": audits.few,
    "alike": audits.alike,
    "undecided": lambda: audits.fixed(subgroups=REGRESSION, gamma=0.05),
    "several notions": lambda: audits.fixed(notion=("equalized_odds", "statistical_parity")),
}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("case", CASES)
def test_it_opens_and_is_no_wider_than_its_window(case, width, open_page, tmp_path):
    path = CASES[case]().write_html(tmp_path / "audit.html")
    assert path.stat().st_size < 300_000
    opened = open_page(path, width=width, scheme="dark" if width == 390 else "light")
    assert not opened.is_wider_than_its_window()
    opened.page.emulate_media(media="print")
    assert opened.page.locator("summary").last.is_visible()
    assert not opened.errors
    assert not opened.outside()


def test_the_verdict_is_on_top_and_in_words(open_page, tmp_path):
    report = audits.fixed()
    page = open_page(report.write_html(tmp_path / "audit.html")).page
    verdict = page.locator("section.verdict")
    assert verdict.is_visible()
    assert verdict.bounding_box()["y"] < 200
    text = verdict.inner_text()
    assert "More unfair than allowed" in text
    assert report.worst.describe() in text
    assert f"{report.worst.size} of {report.n_rows} rows" in text
    cases = round(report.worst.unfairness * report.n_rows)
    negatives = round(report.worst.share * report.n_rows)
    assert f"\n{cases} more\n" in text
    assert f"of its {negatives} negatives (label “0”) are decided “1” than there would be" in text
    whole = page.locator("main").inner_text().replace("\u00a0", " ")
    for words in ("On 300 rows that were not searched", "each interval of a number) shows",
                  "yes: the model decides by age", "95 % confidence", report.provenance.fingerprint,
                  "31 january 2025", "gerrymend frontier file"):  # fmt: skip
        assert words.lower() in whole.lower(), words


def test_people_who_do_not_see_it_can_read_it(open_page, tmp_path):
    page = open_page(audits.fixed().write_html(tmp_path / "audit.html")).page
    levels = [int(tag[1]) for tag in page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3')].map(h => h.tagName)")]  # fmt: skip
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert page.evaluate("[...document.querySelectorAll('th')].every(th => th.scope)")
    assert page.evaluate(
        "[...document.querySelectorAll('.bars')].every(b => b.getAttribute('aria-label'))"
    )
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details").evaluate("one => one.open")


def test_names_from_the_data_are_text(open_page, tmp_path):
    report = audits.hostile()
    opened = open_page(report.write_html(tmp_path / "audit.html"))
    assert opened.page.title().startswith("More unfair than allowed")
    assert report.worst.describe() in opened.page.locator("article").first.text_content()
    assert audits.HOSTILE in opened.page.locator("main").inner_text()
    assert opened.page.locator("img, main script").count() == 0
    for text in (report._repr_html_(), report.worst._repr_html_()):
        assert "<script>" not in text
        assert "<img" not in text


def test_many_groups_are_the_ones_that_differ_most():
    report = audits.many(90)
    assert len(report.marginals) > 40
    html = report.to_html()
    shown = re.findall(r"<bdi>(district = .*?)</bdi><small>", html)
    assert len(shown) == 40
    least = min(abs(one.unfairness) for one in report.marginals if one.group in shown)
    others = [abs(one.unfairness) for one in report.marginals if one.group not in shown]
    assert max(others) <= least
    assert f"{len(others)} more are in the report" in html


def test_no_row_is_in_any_file():
    """Values that one row has each appear nowhere, but as what lies between two of them."""
    rng = np.random.default_rng(3)
    income = np.sort(rng.choice(np.arange(100_000, 999_999), 200, replace=False)) / 7
    protected = {"income": income, "name": pd.Categorical([f"person {i}" for i in range(200)])}
    with pytest.warns(UserWarning, match="identifier"):
        report = audit(rng.integers(0, 2, 200), (income > 60_000).astype(int),
                       sensitive_features=protected, subgroups="marginals")  # fmt: skip
    for text in (report.to_html(), report.to_markdown(), report.to_json(), str(report),
                 report._repr_html_()):  # fmt: skip
        numbers = {float(one) for one in re.findall(r"\d+\.?\d*", text)}
        assert not numbers & set(income.tolist())
        assert "person " not in text


def test_small_groups_are_not_described():
    y, decided, protected = audits.people()
    protected["race"] = protected["race"].astype("<U9")
    protected["race"][:5] = "fewpeople"
    report = audit(y, decided, sensitive_features=protected, subgroups="marginals")
    assert report.marginals_left_out > 0
    for text in (report.to_html(), report.to_markdown(), report.to_json()):
        assert "fewpeople" not in text
    nobody = audits.few()
    assert not nobody.marginals
    assert nobody.overall_rates[0].rate is None
    assert "Overall not shown" in nobody.to_markdown()


def test_a_page_is_made_of_the_json_alone():
    report = audits.fixed()
    assert audit_page(json.loads(report.to_json())) == report.to_html()


def test_a_heuristic_is_called_a_lower_bound():
    report = CASES["undecided"]()
    assert report.verdict == "undecided"
    html = report.to_html()
    assert "A lower bound" in html
    assert "is not ruled out" in html
    assert "Proven: on these" not in html


def test_the_model_of_a_fit_has_a_section():
    report = audits.fixed()
    sample = {"n_rows": 10, "error": 0.125, "unfairness": 0.01, "upper_bound": 0.02, "exact": False,
              "verdict": "undecided"}  # fmt: skip
    model = {
        "estimator": "logistic",
        "n_predictors": 3,
        "gamma": 0.01,
        "columns": ["<b>", "age"],
        "audited": "training rows",
        "samples": [{"name": "training rows", **sample}],
    }
    html = audit_page(report.to_dict(), model).replace("\u00a0", " ")
    for words in ("The model", "3 × logistic", "12.5 %", "at most 0.0200", "not decided",
                  "&lt;b&gt;, age", "expect it to be less fair on others"):  # fmt: skip
        assert words in html


def test_without_jinja2_a_notebook_shows_text_and_a_page_says_what_to_install(monkeypatch):
    from gerrymend.reporting import page

    def missing():
        raise page._missing("jinja2")

    report = audits.alike()
    monkeypatch.setattr(page, "_environment", missing)
    assert report._repr_html_() is None
    assert audits.fixed().worst._repr_html_() is None
    with pytest.raises(ImportError, match=r"pip install 'gerrymend\[report\]'"):
        report.to_html()
