"""A report as a document: what is said of the model, who is affected, what changed; one scale."""

import datetime
import html
import json
import re

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from gerrymend import audit
from gerrymend.cli import audit as cli_audit
from gerrymend.cli import demo
from gerrymend.reporting.audit.people import people_figures
from tests.reporting import audits

pytest.importorskip("jinja2")

SAID = {
    "title": "Loans, <i>1st</i> quarter",
    "model": f"Loans 4.2 {audits.HOSTILE}",
    "owner": "Retail credit risk | Ann",
    "purpose": "Decide who is offered a loan",
    "date": datetime.date(2025, 1, 31),
}


@pytest.fixture(scope="module")
def report():
    return audits.fixed(n_permutations=0)


@pytest.fixture(scope="module")
def earlier():
    """Of other rows, another class and another gamma."""
    return audits.fixed(subgroups="marginals", gamma=0.02, test_size=None, n_permutations=0)


def test_what_is_said_is_on_top_and_is_text(report, open_page, tmp_path):
    opened = open_page(report.write_html(tmp_path / "audit.html", **SAID), width=390)
    page = opened.page
    assert page.inner_text("h1") == SAID["title"]
    top = page.inner_text("header")
    for words in (SAID["model"], SAID["owner"], SAID["purpose"], "31 January 2025"):
        assert words in top
    assert SAID["title"] in page.title()
    assert page.locator("script").count() == 0
    assert not opened.errors
    assert not opened.outside()
    assert not opened.is_wider_than_its_window()
    text = report.to_markdown(**SAID)
    assert text.startswith(r"# Loans, \<i\>1st\</i\> quarter")
    assert r"- Owner: Retail credit risk \| Ann" in text
    about = json.loads(report.to_json(**SAID))["about"]
    assert about == SAID | {"date": "31 January 2025"}
    assert "about" not in json.loads(report.to_json())
    assert "Owner" not in report.to_html()


def test_people_come_first(report, open_page, tmp_path):
    page = open_page(report.write_html(tmp_path / "audit.html")).page
    worst = report.worst
    figures = page.locator(".verdict .people li").all_inner_texts()
    cases = round(abs(worst.unfairness) * report.n_rows)
    assert figures[0].startswith(f"{worst.size} of {report.n_rows}")
    assert worst.describe() in figures[0]
    assert figures[1].startswith(f"{cases} more")
    # The base is named: it is not the people of the group, but those whom the rate is over.
    negatives = round(worst.share * report.n_rows)
    assert (f"of its {negatives} negatives (label “0”) are decided “1” than there would be at the "
            "overall rate") in figures[1]  # fmt: skip
    first = page.locator(".verdict strong + *")
    assert first.get_attribute("class") == "people"
    assert f"**{worst.size} of {report.n_rows}** people" in report.to_markdown()


def test_who_is_treated_worst_comes_first_where_that_is_known():
    report = audits.fixed(n_permutations=0, favourable="negative")
    text = report.to_markdown()
    (line,) = [line for line in text.splitlines() if line.startswith("- **") and " people " in line]
    assert "the subgroup treated worst" in line
    assert str(report.disadvantaged.size) in line


def test_rows_that_weigh_differently_are_no_cases():
    y, decided, protected = audits.people()
    report = audit(y, decided, sensitive_features=protected, sample_weight=[1.0, 2.0] * 200,
                   subgroups="marginals")  # fmt: skip
    assert report.to_html().count("<li><b>") == 1
    assert '<ul class="people">' not in audits.alike().to_html()


NO_BREAK = "\u00a0"


def drawn(page):
    """Where bars and dots are, as parts of their tracks, beside the rate that is written there."""
    html = page.replace("\n", " ").replace(NO_BREAK, " ")
    bars = re.findall(
        r'class="bar(?: rate)?" style="width: ([\d.]+)%"></span></span>'
        r'<span class="value">([\d.]+) %',
        html,
    )
    dots = re.findall(
        r'class="dot" style="left: ([\d.]+)%"></span></span> <span class="number">([\d.]+) %', html
    )
    return [(float(at), float(rate)) for at, rate in bars + dots]


def test_all_rates_are_on_one_scale():
    report = audits.fixed(notion=("equalized_odds", "statistical_parity"), n_permutations=0)
    page = report.to_html().replace(NO_BREAK, " ")
    found = drawn(page)
    # Of a large group everyone else has a bar as well.
    bars = 2 * page.count('<article class="card">') + page.count(">Everyone else</span>")
    assert len(found) == bars + len(report.marginals)
    (top,) = set(re.findall(r"on a scale from 0 % to ([\d.]+) %", page))
    for at, rate in found:
        assert at == pytest.approx(100 * rate / float(top), abs=0.1)  # rates have three digits
    assert f"All rates on this page are drawn on one scale, from 0 % to {top} %." in page


def test_where_most_lies_is_drawn_and_on_the_scale():
    """Of women those below 60 are treated a little worse than men, and the others far worse."""
    sex = np.repeat(["F", "M"], 2000)
    age = np.tile(np.arange(20, 70), 80)
    rate = np.where(sex == "M", 0.15, np.where(age < 60, 0.25, 0.8))
    decided = (np.random.default_rng(5).random(4000) < rate).astype(int)
    report = audit(0 * decided, decided, sensitive_features={"sex": sex, "age": age},
                   subgroups="conjunctions", favourable="negative")  # fmt: skip
    core = report.core
    (*_, (number, words)) = people_figures(report.to_dict())
    assert number == f"{round(core.unfairness * report.n_rows):,} of these"
    assert f"are among {core.size} people of the group, {core.describe()}:" in words
    others = [one.rate_interval.high for one in report.marginals]
    assert core.rate > max(report.disadvantaged.rate, *others)
    page = report.to_html().replace(NO_BREAK, " ")
    found = drawn(page)
    assert sum(rate == round(100 * core.rate, 1) for _, rate in found) == 1
    (top,) = set(re.findall(r"on a scale from 0 % to ([\d.]+) %", page))
    assert float(top) >= 100 * core.rate
    assert all(at == pytest.approx(100 * rate / float(top), abs=0.1) for at, rate in found)


def test_no_figure_is_parted_from_its_percent(report, open_page, tmp_path):
    page = open_page(report.write_html(tmp_path / "audit.html")).page
    text = page.inner_text("main")
    assert re.search(r"\d" + NO_BREAK + "%", text)
    assert not re.search(r"\d %", text)
    commands = page.locator("pre code").all_inner_texts()
    assert commands
    assert NO_BREAK not in " ".join(commands)
    assert NO_BREAK not in report.to_markdown() + str(report)


def test_what_next_names_the_label_where_it_is_known(report):
    for label, words in (("repaid", "--label repaid"), ("it's late", "--label 'it'\"'\"'s late'")):
        assert report.to_markdown(label=label).count(words) == 2
    assert report.to_markdown().count("--label LABEL") == 2


def test_what_changed_is_told_with_what_differs(report, earlier, tmp_path):
    file = tmp_path / "earlier.json"
    file.write_text(earlier.to_json())
    pages = [report.to_html(since=since) for since in (earlier, earlier.to_dict(), file, str(file))]
    assert len(set(pages)) == 1
    text = report.to_markdown(since=file)
    assert "## What changed" in text
    for words in (
        "| Rows | 1,200 | 900 |",
        "| Verdict | More unfair than allowed | More unfair than allowed |",
        f"rose from {earlier.unfairness:.4f} to {report.unfairness:.4f}. Both are exact",
        "The data are not the same",
        "unfairness allowed: 0.02 then, 0.01 now",
        f"subgroups searched: {earlier.covers} then",
        f"| The subgroup of it | {earlier.worst.describe()} |",
    ):
        assert words in text.replace("\\", "")
    assert "What changed" not in report.to_html()


def test_an_earlier_report_is_text_too(report, open_page, tmp_path):
    opened = open_page(
        report.write_html(tmp_path / "audit.html", since=audits.hostile()), width=390
    )
    assert audits.HOSTILE in opened.page.inner_text("main")
    assert opened.page.locator("script, img").count() == 0
    assert not opened.errors
    assert not opened.is_wider_than_its_window()


def test_the_same_report_again_has_not_changed(report):
    text = report.to_markdown(since=report)
    assert f"The largest unfairness found is {report.unfairness:.4f}, as it was." in text
    assert "The data are the same" in text
    assert "not made alike" not in text


def test_what_is_not_exact_is_told(report, earlier):
    vague = earlier.to_dict() | {"exact": False, "upper_bound": 0.5, "verdict": "undecided"}
    text = report.to_markdown(since=vague)
    assert "Not both are exact: a larger one may have been missed, then or now." in text
    assert "| Verdict | Not decided |" in text
    old = {name: value for name, value in vague.items() if name not in ("provenance", "notions")}
    old["worst"] = {k: v for k, v in old["worst"].items() if k not in ("composition", "treated")}
    old["worst"] |= {"subgroup": "2·age ≥ 3", "rule": {"kind": "linear", "terms": []}}
    text = report.to_markdown(since=old)
    assert "Whether the data are the same is not known" in text
    assert "| The subgroup of it | 2·age ≥ 3 |" in text


BAD = [
    ({"owner": 7}, "owner must be text; got 7 of type int"),
    ({"date": 2025}, "date must be text; got 2025"),
    ({"since": "no such file.json"}, "since 'no such file.json' can't be read"),
    ({"since": {"verdict": "within gamma"}}, "since is no report of an audit: gamma, unfair"),
    ({"since": [1]}, "since is no report; pass the JSON"),
]


@pytest.mark.parametrize(("said", "message"), BAD)
def test_what_can_not_be_said_is_told(report, said, message):
    with pytest.raises((TypeError, ValueError), match=message):
        report.to_html(**said)


def test_the_command_says_it_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.save_rows(tmp_path / "people.csv", 200, seed=0)
    app = typer.Typer()
    app.callback()(lambda: None)
    cli_audit.add_to(app)
    usual = [
        "audit",
        "people.csv",
        "--label",
        "repaid",
        "--prediction",
        "granted",
        "--protected",
        "race,sex",
        "--subgroups",
        "conjunctions",
        "--permutations",
        "0",
    ]
    said = ["--title", "Loans", "--model-name", "4.2", "--owner", "Risk", "--since", "first.json"]
    written = ["--report", "page.html", "--markdown", "page.md", "--json", "second.json"]
    runs = [["--json", "first.json"], [*said, *written]]
    for extra in runs:
        done = CliRunner().invoke(app, [*usual, *extra])
        assert done.exit_code in (0, 1, 3), done.output
    page = (tmp_path / "page.html").read_text()
    assert "The data are the same" in page
    assert "<h1><bdi>Loans</bdi></h1>" in page
    assert (tmp_path / "page.md").read_text().startswith("# Loans\n\n- Model: 4.2\n- Owner: Risk")
    assert json.loads((tmp_path / "second.json").read_text())["about"]["owner"] == "Risk"
    for extra in (["--since", "none.json"], ["--since", "people.csv"]):
        done = CliRunner().invoke(app, [*usual, *extra])
        assert done.exit_code == 2
        assert "--since" in done.output


WORDS = ("refused", "granted")
COLUMNS = {"label": "repaid", "decision": "ok"}


def by_notion(notion):
    """A report on men who are decided 0 more often, whatever their label."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 600)
    y = rng.integers(0, 2, 600)
    d = (rng.random(600) < np.where(sex == "M", 0.2, 0.7)).astype(int)
    return audit(y, d, sensitive_features={"sex": sex}, notion=notion, subgroups="marginals",
                 favourable="positive", gamma=0.001)  # fmt: skip


@pytest.mark.parametrize(
    ("notion", "who"),
    [
        ("false_negative_rate", "of those with repaid = 1 are refused"),
        ("false_positive_rate", "of those with repaid = 0 are granted"),
        ("statistical_parity", "of them are granted"),
    ],
)
def test_decisions_have_words_where_these_are_given(notion, who):
    """In every output; what the words stand for is said once, by the columns."""
    report = by_notion(notion)
    for text in (report.to_html(**COLUMNS, decisions=WORDS),
                 report.to_markdown(**COLUMNS, decisions=WORDS)):  # fmt: skip
        told = html.unescape(" ".join(text.replace("\\", "").split()))
        assert who in told
        means = "Who is decided ok = 1 is granted, and who is decided ok = 0 refused."
        assert told.count(means) == 1
        assert "To be granted is favourable." in told
        assert "decided ok = " not in told.replace(means, "")
    assert "refused" not in report.to_html(**COLUMNS)


@pytest.mark.parametrize("given", ["refused,granted", ["refused"], ["no", "no"], ["", "x"], [1, 2]])
def test_words_for_decisions_are_two(given):
    with pytest.raises(ValueError, match=r"^decisions must be two words, for the neg"):
        by_notion("error_rate").to_html(decisions=given)


def test_words_for_two_decisions_are_not_taken_for_those_of_three():
    rng = np.random.default_rng(0)
    y, d = rng.integers(0, 3, (2, 600))
    sex = {"sex": rng.choice(["F", "M"], 600)}
    report = audit(y, d, sensitive_features=sex, subgroups="marginals")
    assert "refused" not in report.to_html(decisions=WORDS)
