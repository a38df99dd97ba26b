"""The table of two categories on a page and in Markdown: read without colours, nothing small."""

import numpy as np
import pytest

from gerrymend import audit
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.reporting.audit.heat_map import heat_map_sentence, heat_maps
from gerrymend.reporting.wording import percent
from tests.auditing.test_intersections import report_of, rows_of
from tests.reporting.audits import HOSTILE

pytest.importorskip("jinja2")

TABLE = [[4, 30, 30], [20, 40, 30], [30, 30, 30]]


@pytest.mark.parametrize("width", [400, 1200])
def test_every_cell_says_its_rate_and_its_side(open_page, tmp_path, width):
    report = report_of(TABLE)
    opened = open_page(report.write_html(tmp_path / "audit.html"), width=width)
    page = opened.page
    cells = page.locator("table.map tbody td").all_inner_texts()
    assert len(cells) == 9
    assert sum("not shown" in text for text in cells) == 4
    shown = [text for text in cells if "not shown" not in text]
    (overall,) = report.overall_rates
    for one, text in zip(report.intersections.groups, shown, strict=True):
        sign = "▲" if one.rate > overall.rate else "▼"
        assert text.replace("\u00a0", " ").startswith(f"{percent(one.rate)} {sign}")
        assert f"{one.size} rows" in text
    assert page.locator("table.map thead th").all_inner_texts() == ["b0", "b1", "b2"]
    assert "4 combinations are not shown" in page.inner_text("main")
    assert page.locator("table.map caption, .table:has(table.map)").count() == 1
    assert not opened.is_wider_than_its_window()
    assert not opened.errors
    opened.page.emulate_media(media="print")
    assert page.locator("table.map").is_visible()


def test_a_table_that_is_wider_than_the_window_says_so(open_page, tmp_path):
    """Shadows at its edges, which covers hide where there is no more; the names of rows stay."""
    y, decided, protected = rows_of(np.full((3, 8), 30))
    report = audit(y, decided, sensitive_features=protected, subgroups="marginals")
    opened = open_page(report.write_html(tmp_path / "audit.html"), width=390)
    page = opened.page
    region = page.locator(".table:has(table.map)")
    hidden = region.evaluate("e => e.scrollWidth - e.clientWidth")
    assert hidden > 100
    assert not opened.is_wider_than_its_window()
    shades = region.evaluate("e => getComputedStyle(e).backgroundAttachment")
    assert shades == "local, local, scroll, scroll"
    region.evaluate("e => { e.scrollLeft = 9999; }")
    assert region.evaluate("e => e.scrollLeft") == pytest.approx(hidden, abs=2)
    name = page.locator("table.map tbody th").first.bounding_box()
    assert name["x"] == pytest.approx(region.bounding_box()["x"], abs=2)


def test_a_colour_is_as_strong_as_the_rate_is_far():
    y, decided, protected = rows_of([[40, 40], [40, 40]])
    decided[:] = 0
    decided[:40] = 1  # the first cell alone
    page = audit(y, decided, sensitive_features=protected, subgroups="marginals").to_html()
    assert page.count('class="above" style="--strength: 45%"') == 1
    assert page.count('class="below" style="--strength: 15%"') == 3  # 25 points below, against 75


def test_a_value_whose_cells_are_all_kept_back_is_a_column_still():
    """Left out, it would look as if nobody had it; and they may be those treated worst."""
    report = report_of(TABLE).to_dict()
    hidden = [
        one for one in report["intersections"] if "b1" not in one["rule"]["conditions"][1]["values"]
    ]
    told = {"intersections": hidden, "intersections_left_out": 7}
    assert len(hidden) < len(report["intersections"])
    (table,) = heat_maps(report | told)
    assert table["columns"] == ["b0", "b1", "b2"]
    assert [row["cells"][1] for row in table["rows"]] == [None] * 3
    assert "7 combinations are not shown" in heat_map_sentence(report | told)
    assert "they may be among the worst" in heat_map_sentence(report | told)
    assert not heat_maps(report | {"intersections": []})


def test_hostile_values_are_text(open_page, tmp_path):
    y, decided, protected = rows_of([[40, 40], [40, 40]])
    renamed = {HOSTILE: np.char.add(protected["first"], HOSTILE), "b|c": protected["second"]}
    report = audit(y, decided, sensitive_features=renamed, subgroups="marginals")
    opened = open_page(report.write_html(tmp_path / "audit.html"), width=400)
    assert HOSTILE in opened.page.inner_text("table.map")
    assert opened.page.title() != "ran"
    assert opened.page.locator("script, img").count() == 0
    assert not opened.errors
    assert not opened.is_wider_than_its_window()
    section = report.to_markdown().partition("## Where two attributes meet")[2]
    section = section.partition("\n## ")[0]
    assert r"b\|c" in section
    assert "<" not in section.replace("\\<", "")


def test_without_two_categories_there_is_no_table():
    report = audit([0] * 40, [1, 0] * 20, sensitive_features={"sex": ["F", "M"] * 20})
    assert "Where two attributes meet" not in report.to_html()
    assert "Where two attributes meet" not in report.to_markdown()


def test_the_command_names_two(tmp_path):
    file = tmp_path / "people.csv"
    lines = [f"{i % 2},{i % 3},{'xy'[i % 2]},{'pqr'[i % 3]},{'uv'[i // 60]},0" for i in range(120)]
    file.write_text("\n".join(["d,n,a,b,c,y", *lines]))
    usual = {"file": file, "label": "y", "prediction": "d", "protected": ["a,b,c"],
             "subgroups": "marginals", "permutations": 0}  # fmt: skip
    asked = AuditRequest(**usual, intersection=["c,b"]).audit()
    assert asked.intersections.attributes == ("c", "b")
    assert AuditRequest(**usual).audit().intersections.attributes == ("a", "b")
    with pytest.raises(ValueError, match="--intersection names 'd', which is not protected"):
        AuditRequest(**usual, intersection=["c,d"]).audit()
