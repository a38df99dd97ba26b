"""The page of a discrimination surface, in a browser."""

import numpy as np
import pytest

from gerrymend import DiscriminationSurface, SubgroupParityClassifier, discrimination_surface
from gerrymend.datasets import make_intersectional
from gerrymend.reporting import wording
from tests.all_rounds import MAY_EXCEED_GAMMA

pytestmark = MAY_EXCEED_GAMMA

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

HOSTILE = "<script>document.title='ran'</script>"
IMAGE = (
    "\"><img src=x onerror=\"document.title='ran'\"> <b>bold</b> <a href='javascript:1'>a</a> %{x}"
)


@pytest.fixture(scope="module")
def surface():
    data = make_intersectional(600, random_state=0)
    clf = SubgroupParityClassifier(
        solver="fictitious_play", max_iter=12, tol=None, gamma=0.0, random_state=0
    )
    return DiscriminationSurface.from_training(
        clf, data.data, data.target, sensitive_features=data.sensitive_features,
        attributes=("number_0", ("category_0", "v0")), rounds=[1, 2, 5],
    )  # fmt: skip


def fake(names=("age", "race"), n=200, **how):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, n)).round(2)
    y = rng.integers(0, 2, n)
    return discrimination_surface(
        y, rng.integers(0, 2, n), sensitive_features=dict(zip(names, (first, second), strict=True)),
        **how,
    )  # fmt: skip


def point_at(page, first, second):
    """Move the pointer to the square of θ, and wait for its label."""
    x, y = page.evaluate(
        """([first, second]) => {
            const map = document.getElementById("map"), {xaxis, yaxis} = map._fullLayout;
            map.scrollIntoView();
            const {left, top} = map.getBoundingClientRect();
            const x = xaxis._offset + xaxis.c2p(first), y = yaxis._offset + yaxis.c2p(second);
            return [left + x, top + y];
        }""",
        [first, second],
    )
    page.mouse.move(x, y - 2)
    page.mouse.move(x, y)
    page.wait_for_selector(".hoverlayer text")


def test_a_round_is_turned_to(surface, open_page, tmp_path):
    opened = open_page(surface.write_html(tmp_path / "surface.html"))
    page = opened.page
    assert page.inner_text("#round-name") == "12"
    assert surface.worst()["subgroup"] in page.inner_text("main > p >> nth=1")
    words = page.inner_text("#group-words")
    assert words == surface.worst()["subgroup"]
    page.focus("#round")
    page.keyboard.press("Home")
    assert page.inner_text("#round-name") == "1"
    assert page.get_attribute("#round", "aria-valuetext") == "1"
    drawn = np.array(page.evaluate("document.getElementById('map').data[0].z"), dtype=float)
    np.testing.assert_allclose(drawn, surface.rounds[0].unfairness.T)
    scale = page.evaluate("document.getElementById('map').data[0].zmax")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#round-name") == "2"
    assert page.evaluate("document.getElementById('map').data[0].zmax") == scale == surface.limit
    i, j = surface.rounds[1].place
    mark = page.evaluate("(({x, y}) => [x[0], y[0]])(document.getElementById('map').data[3])")
    assert mark == [surface.thetas[i], surface.thetas[j]]
    worst = page.evaluate("document.getElementById('course').data[0].y")
    np.testing.assert_allclose(worst, [one.worst for one in surface.rounds])
    assert not opened.errors
    assert not opened.outside()
    assert not opened.is_wider_than_its_window()


def test_it_plays_and_pauses(surface, open_page, tmp_path):
    page = open_page(surface.write_html(tmp_path / "surface.html")).page
    page.click("#play")
    assert page.get_attribute("#play", "aria-pressed") == "true"
    assert page.inner_text("#round-name") == "1"
    page.wait_for_selector("#play[aria-pressed=false]")
    assert page.inner_text("#round-name") == "12"


def test_a_group_is_described_by_pointer_and_by_keys(surface, open_page, tmp_path):
    page = open_page(surface.write_html(tmp_path / "surface.html")).page
    page.focus("#map")
    i, j = surface.rounds[-1].place
    for key, step in (("ArrowLeft", (-1, 0)), ("ArrowDown", (0, -1)), ("ArrowUp", (0, 1))):
        page.keyboard.press(key)
        i, j = (min(20, max(0, place + by)) for place, by in zip((i, j), step, strict=True))
    assert page.inner_text("#group-words") == surface.subgroups[i][j]
    assert page.inner_text("#group-size") == f"{int(surface.size[i, j]):,}"
    assert page.inner_text("#group-overall").startswith(
        f"{100 * surface.rounds[-1].overall_rate:.1f}".rstrip("0").rstrip(".")
    )
    point_at(page, -1, 1)
    assert page.inner_text("#group-words") == surface.subgroups[0][-1]
    assert "rows" in page.text_content(".hoverlayer")


def test_names_from_the_data_are_text(open_page, tmp_path):
    surface = fake((HOSTILE, IMAGE))
    opened = open_page(surface.write_html(tmp_path / "surface.html"))
    page = opened.page
    assert HOSTILE in page.inner_text("h1")
    assert IMAGE in page.inner_text("h1")
    assert page.inner_text("#group-words") == surface.worst()["subgroup"]
    point_at(page, 1, -1)
    assert "<script>" in page.text_content(".hoverlayer")
    assert page.locator("#map a, #map img:not([src^='data:'])").count() == 0
    assert page.title().startswith("Discrimination surface: <script>")
    assert not opened.errors
    assert not opened.outside()


def test_no_name_turns_the_words_around_it(open_page, tmp_path):
    surface = fake(("live\u202e", "race"))
    page = open_page(surface.write_html(tmp_path / "surface.html")).page
    assert "live⟨U+202E⟩" in page.inner_text("#group-words")
    assert "\u202e" not in page.text_content("html") + surface._repr_html_()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_long_names_on_a_phone(scheme, open_page, tmp_path):
    names = ("a" * 80, "the share of households " * 4 + "x")
    path = fake(names).write_html(tmp_path / "surface.html")
    opened = open_page(path, width=390, scheme=scheme)
    assert not opened.is_wider_than_its_window()
    assert opened.page.locator("#round").count() == 0
    assert not opened.errors


def test_on_paper_nothing_asks_for_a_hand(surface, open_page, tmp_path):
    page = open_page(surface.write_html(tmp_path / "surface.html")).page
    page.focus("#round")
    page.keyboard.press("Home")
    page.emulate_media(media="print")
    assert not page.is_visible("#round")
    assert not page.is_visible("#play")
    assert "Round 1. × is the worst group" in page.inner_text("figcaption")


def test_long_names_fit_on_paper(open_page, tmp_path):
    names = ("a" * 80, ("the share of households " * 4)[:80])
    two = {"plain": np.arange(200) % 2, "fair": np.arange(200) % 3 > 0}
    values = np.random.default_rng(0).normal(size=(2, 200))
    surface = discrimination_surface(
        np.zeros(200), two, sensitive_features=dict(zip(names, values, strict=True))
    )
    opened = open_page(surface.write_html(tmp_path / "surface.html"), width=680)
    opened.page.emulate_media(media="print")
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert not opened.is_wider_than_its_window()
    wide = opened.page.evaluate("document.querySelector('.table table').scrollWidth")
    assert wide <= opened.page.evaluate("document.querySelector('main').clientWidth")


def test_the_surface_as_text_and_markdown(surface):
    text, table = str(surface), fake((HOSTILE, "a|b")).to_markdown()
    for number, one in enumerate(surface.rounds):
        assert f"round {one.name}: {surface.worst(number)['subgroup']}" in text
        assert wording.unfairness(one.worst) in text
    assert len(text) < 1_000
    assert "<script" not in table.replace("\\<", "")
    assert r"a\|b" in table
    assert table.count("\n| ") == 3
    nobody = fake(min_group_size=150)
    for words in (str(nobody), nobody.to_markdown()):
        assert "no group is large enough to be shown" in words


def test_without_scripts_there_is_the_table(surface, chromium, tmp_path):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(surface.write_html(tmp_path / "surface.html").resolve().as_uri())
    assert "The map needs scripts, which are off here." in page.inner_text("main")
    assert page.is_hidden("#map")
    assert page.locator("tbody tr").count() == 4
    assert page.is_visible(f"tbody >> text={surface.worst(0)['subgroup']} >> nth=0")
    context.close()


def test_where_no_group_is_large_enough(open_page, tmp_path):
    surface = fake(min_group_size=150)
    html = surface.to_html()
    assert len(html) < 20_000  # nothing to draw, no plotly
    opened = open_page(surface.write_html(tmp_path / "surface.html"))
    assert "Smaller groups are not shown" in opened.page.inner_text("main").replace("\n", " ")
    assert not opened.errors


def test_a_notebook_gets_the_sentence_and_the_table():
    shown = fake((HOSTILE, "race"))._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    assert '<th scope="col">' in shown
