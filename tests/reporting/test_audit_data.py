"""An audit as JSON, Markdown and a table: the same content as its page."""

import html
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from gerrymend import audit
from gerrymend.reporting.audit.markdown import audit_markdown
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.markdown import escaped
from tests.reporting import audits

GOLDEN = Path(__file__).parent / "golden" / "audit.json"


def test_golden_json():
    """What changes here is a change of what users' programs read: make it on purpose."""
    found = json.loads(audits.fixed().to_json())
    found["provenance"]["versions"] = {}
    expected = json.loads(GOLDEN.read_text())
    assert list(found) == list(expected)
    assert_close(found, expected)


def assert_close(found, expected, where="report"):
    """Equal, and numbers to 9 digits: intervals are by special functions, which differ a little."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for key, value in expected.items():
            assert_close(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            assert_close(found[i], value, f"{where}[{i}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), where
    else:
        assert found == expected, where


def test_markdown_has_the_sections_of_the_page():
    report = audits.fixed()
    text = report.to_markdown()
    page = re.findall(r"<h2>(.*?)</h2>", report.to_html())
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [html.unescape(one) for one in page] == sections[:-1]
    assert sections[-1] == "For experts"
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) in (3, 4, 7) for line in rows)


def test_markdown_shows_names_as_text():
    name = "a|b*c_[d](http://x.example) <i>`&amp;"
    y, decided, protected = audits.people()
    report = audit(y, decided, sensitive_features={name: protected["race"]}, subgroups="marginals")
    text = report.to_markdown()
    assert all(line.startswith("    ") for line in text.splitlines() if name in line)  # code
    assert escaped(name) in text
    markdown_it = pytest.importorskip("markdown_it")
    page = markdown_it.MarkdownIt("commonmark").enable("table").render(text)
    assert "<i>" not in page
    assert "<a " not in page
    assert "a|b*c_[d](http://x.example) &lt;i&gt;`&amp;amp; = blue" in page


def test_golden_text():
    """What print(report) says: a wording is changed on purpose."""
    assert str(audits.fixed()) + "\n" == GOLDEN.with_name("audit.txt").read_text(encoding="utf-8")


def test_a_terminal_shows_what_print_does():
    rich = pytest.importorskip("rich.console")
    console = rich.Console(width=80, record=True, file=io.StringIO())
    report = audits.fixed()
    console.print(report)
    assert console.export_text() == f"{report}\n"
    assert max(map(len, str(report).splitlines())) <= 80
    narrow = rich.Console(width=48, record=True, file=io.StringIO())
    narrow.print(report)
    text = narrow.export_text()
    assert max(map(len, text.splitlines())) <= 48
    assert text.split() == str(report).split()


def test_text_markdown_and_page_say_the_same_sentences():
    """The verdict's sentences and the facts of the proof stand in each, word by word."""
    report = audits.fixed()
    view = audit_view(report.to_dict())
    facts = dict(view["subgroups"][0]["facts"])
    sentences = [view["heading"], *view["verdict"], view["gap"]["sentence"], facts["Proof"],
                 facts["On other rows"], facts["Difference"], facts["Rate"]]  # fmt: skip
    texts = {
        "text": str(report),
        "Markdown": report.to_markdown().replace("\\", ""),
        "page": html.unescape(re.sub(r"<[^>]*>", "", report.to_html())),
    }
    for name, text in texts.items():
        one_line = " ".join(text.split())
        for sentence in sentences:
            assert sentence in one_line, (name, sentence)


def test_the_fingerprint_is_of_the_data_and_not_of_its_order():
    y, decided, protected = audits.people()
    order = np.random.default_rng(0).permutation(len(y))
    first = audit(y, decided, sensitive_features=protected)
    in_order = {name: one[order] for name, one in protected.items()}
    shuffled = audit(y[order], decided[order], sensitive_features=in_order)
    assert first.provenance.fingerprint == shuffled.provenance.fingerprint
    decided[0] = 1 - decided[0]
    other = audit(y, decided, sensitive_features=protected)
    assert first.provenance.fingerprint != other.provenance.fingerprint


def test_marginals_by_hand():
    """Blue men and green women are decided 1: 1/2 for each race and sex, whatever the class."""
    race, sex = ["blue"] * 20 + ["green"] * 20, (["M"] * 10 + ["F"] * 10) * 2
    decided = [1] * 10 + [0] * 20 + [1] * 10
    for subgroups in ("linear", "conjunctions", "value_sets"):
        report = audit([0] * 40, decided, sensitive_features={"race": race, "sex": sex},
                       subgroups=subgroups)  # fmt: skip
        assert (report.marginal_unfairness, report.unfairness) == (0.0, 0.125)
        assert [(one.group, one.size, one.rate) for one in report.marginals] == [
            ("race = blue", 20, 0.5), ("race = green", 20, 0.5), ("sex = F", 20, 0.5),
            ("sex = M", 20, 0.5)]  # fmt: skip
        assert report.overall_rates[0].to_dict() == {
            "notion": "false_positive_rate", "rate": 0.5, "rows": 40}  # fmt: skip
    alone = audit([0] * 40, decided, sensitive_features={"race": race, "sex": sex},
                  subgroups="marginals")  # fmt: skip
    assert [one.to_dict() for one in alone.marginals] == [one.to_dict() for one in alone.intervals]


def test_features_say_which_protected_columns_are_used():
    y, decided, protected = audits.people()
    for features, used in ((None, None), ([], ()), (("sex", "amount"), ("sex",))):
        report = audit(y, decided, sensitive_features=protected, features=features)
        assert report.protected_used == used
    for wrong in ("sex", 3, [1]):
        with pytest.raises(TypeError, match="features must be the names of the columns"):
            audit(y, decided, sensitive_features=protected, features=wrong)


def test_weights_are_not_counted_as_cases():
    y, decided, protected = audits.people()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    report = audit(y, decided, sensitive_features=protected, sample_weight=weight)
    assert report.weighted
    assert "more cases" not in audit_markdown(report.to_dict())
