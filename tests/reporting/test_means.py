"""Means of numbers in words: never a rate, with their unit, and with what makes them unsure."""

import html
import re

import matplotlib as mpl
import numpy as np
import pytest

from gerrymend import AuditDisplay, OutcomeNotion, audit
from gerrymend.reporting.audit.page import audit_page, subgroup_fragment
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.view import audit_view
from tests.reporting.audits import people

mpl.use("agg")
WAITING = OutcomeNotion(
    "waiting_time", lambda _, days: days, reads_labels=False, unit="days", worse="higher"
)


def waiting(n_rows=600, **how):
    """An audit of days, which some wait longer for."""
    rng = np.random.default_rng(1)
    home = rng.choice(["town", "country"], n_rows)
    sex = rng.choice(["F", "M"], n_rows)
    days = rng.gamma(4.0, 3.0, n_rows) + 9 * ((home == "country") & (sex == "F"))
    usual = {"sensitive_features": {"home": home, "sex": sex}, "notion": WAITING, "gamma": 0.3}
    return audit(None, days, **usual | {"subgroups": "conjunctions"} | how)


@pytest.fixture(scope="module")
def report():
    urgency = np.where(np.arange(600) % 3 == 0, "soon", "planned")
    return waiting(n_permutations=19, control_features={"urgency": urgency})


def test_unfairness_has_the_unit_of_what_it_is_of():
    sex = np.repeat(["F", "M"], 100)
    days = np.where(sex == "F", 30.0, 20.0) + np.tile([0.0, 1.0], 100)
    report = audit(None, days, sensitive_features={"sex": sex}, notion=WAITING, gamma=0.5)
    text = " ".join(str(report).split())
    assert "is 2.5000 days, and 0.5 days is allowed; no subgroup" in text
    assert "unfairness 2.5000 days" in text
    view = audit_view(report.to_dict())
    tiles = {name: value for name, value, _ in view["figures"]}
    assert tiles["Unfairness allowed"] == "0.5 days"
    assert tiles["Largest unfairness found"] == "2.5000 days"
    facts = dict(view["subgroups"][0]["facts"])
    assert facts["Unfairness"] == "2.5000 days; 0.5 days is allowed"
    assert facts["Size"] == "100 of 200 rows (50 %)"


def read(page):
    """Return what is read of a page, by eyes or by a screen reader."""
    page = re.sub(r"<style.*?</style>", "", page, flags=re.DOTALL)
    page = re.sub(r'<[^>]*aria-label="([^"]*)"[^>]*>', r" \1 ", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_no_mean_is_called_a_rate(report):
    told = [
        read(audit_page(report.to_dict())),
        read(report._repr_html_()),
        read(subgroup_fragment(report.worst.to_dict())),
        report.to_markdown(),
        str(report),
    ]
    for text in told:
        assert not re.search(r"\brates?\b", text, re.IGNORECASE)
    assert "Means by group" in told[0]
    assert "points" not in told[0]
    assert re.search(r"That is, for example, [0-9.]+ days for 10 % of the rows", told[0])


def test_a_picture_has_the_unit_of_its_means(report):
    ax = AuditDisplay.from_report(report).ax_
    ax.figure.canvas.draw()
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    labels += [text.get_text() for text in ax.get_legend().get_texts()]
    assert not any("%" in words and "interval" not in words for words in labels)
    assert any(words.endswith(" days") for words in labels)


def test_intervals_that_may_be_too_narrow_are_said_to_be_so(report):
    def notes(one):
        return " ".join(rates["legend"] for rates in audit_view(one.to_dict())["rates"])

    assert "fewer than some 300 rows can be too narrow" in notes(report)
    assert "narrow" not in notes(waiting(2_000, subgroups="marginals"))
    y, decided, protected = people()
    rates = audit(y, decided, sensitive_features=protected, subgroups="marginals")
    assert "narrow" not in notes(rates)


def test_how_much_for_how_many_is_said_of_what_is_allowed_too():
    rng = np.random.default_rng(0)
    sex = np.resize(["F", "M"], 400)
    days = rng.gamma(2, 5, 400) + 3 * (sex == "F")
    for gamma in (0.1, 50.0):
        report = audit(None, days, sensitive_features={"sex": sex}, notion=WAITING, gamma=gamma,
                       subgroups="marginals")  # fmt: skip
        told = " ".join(str(report).split())
        assert "On average that is " in told
        assert "for 50 % of the rows." in told


def test_the_first_figures_are_of_one_group():
    """Half wait 30.5 days, the others 20.5: there are no cases to count, but days."""
    sex = np.repeat(["F", "M"], 100)
    days = np.where(sex == "F", 30.0, 20.0) + np.tile([0.0, 1.0], 100)
    report = audit(None, days, sensitive_features={"sex": sex}, notion=WAITING, gamma=0.5)
    size, gap = people_figures(report.to_dict())
    assert size == ("100 of 200", "people (rows) are in the subgroup treated worst, 50 %: sex = F")
    assert gap == (
        "5 days more",
        "on average: waiting time 30.5 days, against 25.5 days overall",
    )
    rows = {"sensitive_features": {"sex": sex}, "favourable": "positive", "gamma": 0.5}
    report = audit(None, -days, **rows, notion="mean_outcome")
    assert people_figures(report.to_dict())[1][0] == "5 less"
