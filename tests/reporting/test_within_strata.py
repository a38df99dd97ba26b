"""Tables within strata: each group beside what is expected of it, and not the overall rate."""

import matplotlib as mpl
import numpy as np
import pytest

from gerrymend import AuditDisplay, audit
from gerrymend.reporting.audit.page import audit_page
from gerrymend.reporting.audit.view import audit_view
from tests.reporting.test_means import read

mpl.use("agg")


@pytest.fixture(scope="module")
def rows():
    """Women apply where few are admitted; blue women are admitted less often everywhere."""
    rng = np.random.default_rng(0)
    department = rng.choice(["A", "B", "C"], 3_000)
    women = np.select([department == "A", department == "B"], [0.2, 0.5], 0.8)
    sex = np.where(rng.random(3_000) < women, "F", "M")
    race = rng.choice(["blue", "green"], 3_000)
    chance = np.select([department == "A", department == "B"], [0.7, 0.45], 0.2)
    admitted = rng.random(3_000) < chance - 0.15 * ((sex == "F") & (race == "blue"))
    return department, {"sex": sex, "race": race}, admitted.astype(int)


@pytest.fixture(scope="module")
def report(rows):
    department, attributes, admitted = rows
    return audit(None, admitted, sensitive_features=attributes, notion="statistical_parity",
                 control_features={"department": department}, favourable="positive",
                 subgroups="conjunctions")  # fmt: skip


def expected(rows, members):
    """The rate of each one's department, averaged over the members, by hand."""
    department, _, admitted = rows
    rates = {name: admitted[department == name].mean() for name in "ABC"}
    return np.mean([rates[name] for name in department[members]])


def test_each_group_has_what_is_expected_of_it(rows, report):
    _, attributes, admitted = rows
    groups = [*report.marginals, *report.intersections.groups]
    assert len(groups) == 8
    for group in groups:
        members = group.rule.contains(attributes)
        assert group.overall_rate == pytest.approx(expected(rows, members), abs=1e-12)
        gap = admitted[members].mean() - group.overall_rate
        assert group.unfairness == pytest.approx(members.mean() * gap, abs=1e-12)


def test_without_strata_that_is_the_overall_rate(rows):
    _, attributes, admitted = rows
    plain = audit(None, admitted, sensitive_features=attributes, notion="statistical_parity",
                  subgroups="marginals")  # fmt: skip
    assert {round(group.overall_rate, 12) for group in plain.marginals} == {
        round(admitted.mean(), 12)
    }
    assert "expected" not in read(audit_page(plain.to_dict()))


def test_tables_show_differences_within_strata(rows, report):
    """Women are admitted far less often, as their departments are; by how much less, within."""
    _, attributes, admitted = rows
    view = audit_view(report.to_dict())
    (women,) = (one for one in view["rates"][0]["groups"] if one["name"] == "sex = F")
    inside = attributes["sex"] == "F"
    rate = admitted[inside].mean()
    wanted = expected(rows, inside)
    assert women["rate"] == f"{round(100 * rate, 1):g} %"
    assert women["expected"] == f"{round(100 * wanted, 1):g} %"
    assert women["gap"] == f"−{100 * (wanted - rate):.1f} points"
    # The line is where the group's own reference is, not the overall rate.
    assert women["reference_at"] > women["at"]
    page = read(audit_page(report.to_dict()))
    assert f"expected {women['expected']}" in page
    assert "rate expected by its strata" in page
    assert "overall rate" not in page
    assert "are decided “1” than there would be at the rates of their strata" in page


def test_where_two_attributes_meet_colours_are_by_the_difference_within_strata(rows, report):
    _, attributes, admitted = rows
    (table,) = audit_view(report.to_dict())["maps"]
    cells = {(row["value"], column): cell for row in table["rows"]
             for column, cell in zip(table["columns"], row["cells"], strict=True)}  # fmt: skip
    assert set(cells) == {(sex, race) for sex in "FM" for race in ("blue", "green")}
    for (sex, race), cell in cells.items():
        inside = (attributes["sex"] == sex) & (attributes["race"] == race)
        gap = admitted[inside].mean() - expected(rows, inside)
        assert cell["side"] == ("above" if gap > 0 else "below")
        assert float(cell["gap"].split()[0].replace("−", "-")) == pytest.approx(100 * gap, abs=0.1)
    furthest = max(cells, key=lambda one: cells[one]["strength"])
    assert furthest == ("F", "blue")
    assert f"from {cells['F', 'blue']['expected']};" in report.to_markdown()


def test_a_picture_draws_each_group_from_what_is_expected(report):
    display = AuditDisplay.from_report(report)
    (women,) = (group for group in display.groups if group.words == "sex = F")
    (listed,) = (group for group in report.marginals if group.group == "sex = F")
    assert women.expected == pytest.approx(listed.overall_rate)
    at = [line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() == "|"
          and len(line.get_xdata()) == 1]  # fmt: skip
    assert any(np.isclose(at, listed.overall_rate))
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "expected by its strata" in words
