"""The frontier's page: today's model among the points, axes as in the plot, and no dead button."""

import pytest

from gerrymend import FrontierDisplay
from gerrymend.reporting import wording
from tests.reporting.test_frontier_page import GAMMAS, click, frontier_of, pair, picked
from tests.reporting.waiting import wait_until

pytest.importorskip("jinja2")
pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def frontier():
    """A frontier with a model of today that decides the same for everyone: fair, and wrong."""
    return frontier_of(today=[0] * 400)


@pytest.fixture
def opened(frontier, open_page, tmp_path):
    return open_page(frontier.write_html(tmp_path / "frontier.html"))


def kept(page, name):
    """What plotly has drawn of the second trace, which has the marks."""
    return page.evaluate(f"document.getElementById('plot').data[1].{name}")


def test_today_is_there_from_the_start(opened, frontier):
    page = opened.page
    today, plain = frontier.references
    facts = pair(page)
    assert facts["Trained"][0].startswith("your model today")
    assert facts["Gamma"][0].startswith("none")
    fairest = min(frontier.points, key=lambda one: (one.test.unfairness, one.test.error))
    assert picked(page)[1] == f"{fairest.gamma:g}"
    place = len(frontier.points) + len(frontier.marginal_points)
    drawn = [*zip(*(kept(page, name) for name in ("customdata", "x", "y")), strict=True)]
    for number, one in enumerate((today, plain)):
        assert (place + number, one.test.error, one.test.unfairness) in drawn
    assert kept(page, "marker.symbol")[-1].startswith("star")
    words = page.inner_text("main")
    start = (
        f"your model today decides {wording.percent(today.test.error)} wrongly",
        f"LinearRegression without constraint {wording.percent(plain.test.error)}, with",
    )
    for text in (*start, "your model today", "unconstrained", "LinearRegression, unconstrained",
                 "of the 4 models trained", "no point to choose", "flatter it"):  # fmt: skip
        assert text in words
    assert not opened.errors


def test_a_reference_is_picked_by_keyboard_and_by_click(opened, frontier):
    page = opened.page
    place = len(frontier.points) + len(frontier.marginal_points) + 1
    page.check('input[name="target"][value="b"]')
    click(page, place)
    page.wait_for_selector(f'input[name^="b-"][value="{place}"]:checked')
    assert "fitted once, with no regard to fairness" in pair(page)["Trained"][1]
    assert "This is the estimator fitted as it is" in page.inner_text("#refits")
    page.focus(f'input[name^="a-"][value="{place - 1}"]')
    page.keyboard.press("Space")
    assert page.is_checked(f'input[name^="a-"][value="{place - 1}"]')


def test_axes_are_those_of_the_plot(opened, frontier):
    axes = FrontierDisplay.from_frontier(frontier).ax_
    drawn = "document.getElementById('plot')._fullLayout"
    titles = [opened.page.evaluate(f"{drawn}.{name}.title.text") for name in ("xaxis", "yaxis")]
    assert titles == [axes.get_xlabel(), axes.get_ylabel()]
    gammas = [point.test.error for point in frontier.points]
    assert set(gammas) <= set(kept(opened.page, "x"))
    bars = kept(opened.page, "error_y.array")
    bounds = [one.test.upper_bound - one.test.unfairness for one in frontier.points]
    first = len(frontier.marginal_points)
    assert bars[first : first + len(GAMMAS)] == pytest.approx(bounds)


# As in axe's rule nested-interactive: roles whose children a screen reader takes for a picture or
# a label hide what can be focused inside them.
NESTED = """() => [...document.querySelectorAll(
    "[role=img], [role=button], [role=checkbox], [role=radio], [role=slider], [role=switch], "
    + "[role=tab], [role=option], button, summary, a, label select")]
  .flatMap((outer) => [...outer.querySelectorAll("a, button, input, select, textarea, [tabindex]")]
    .filter((inner) => inner.tabIndex >= 0).map(() => outer.outerHTML.slice(0, 80)))"""


def test_nothing_to_focus_is_inside_of_a_picture(opened):
    page = opened.page
    page.wait_for_selector("#plot .modebar-btn", state="attached")
    assert page.evaluate(NESTED) == []
    figure = page.locator("figure", has=page.locator("#plot"))
    named = figure.get_attribute("aria-labelledby").split()
    assert all(page.locator(f"#{name}").count() == 1 for name in named)


def test_no_button_of_the_picture_is_dead(opened):
    page = opened.page
    page.wait_for_selector("#plot .modebar-btn", state="attached")
    titles = page.eval_on_selector_all(
        ".modebar-btn", "all => all.map(one => one.getAttribute('data-title'))"
    )
    assert titles == ["Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]
    before = page.evaluate("document.getElementById('plot')._fullLayout.xaxis.range")
    page.locator('.modebar-btn[data-title="Zoom in"]').click()
    wait_until(
        page,
        "range => document.getElementById('plot')._fullLayout.xaxis.range[0] != range[0]",
        before,
    )
    with page.expect_download() as download:
        page.locator('.modebar-btn[data-title="Download plot as a PNG"]').click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    assert not opened.errors
    assert not opened.outside()
