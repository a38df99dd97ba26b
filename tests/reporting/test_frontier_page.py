"""The frontier's page in a browser: picking, comparing, refitting; text from the data is text."""

import io
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
import typer
from rich.console import Console
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from gerrymend import FrontierInterrupted, SubgroupParityClassifier, pareto_frontier
from gerrymend.cli import demo
from gerrymend.cli import fit as cli_fit
from gerrymend.cli import frontier as cli_frontier
from gerrymend.datasets import make_intersectional
from gerrymend.reporting import wording
from gerrymend.reporting.frontier import page as frontier_page
from gerrymend.reporting.frontier import text as frontier_text
from tests.reporting.waiting import wait_until

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

HOSTILE = "<img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"
GAMMAS = [0.0, 0.01, 0.02, 0.05]


def frontier_of(*, protected=None, **options):
    data = make_intersectional(400, cardinalities=(2, 3), n_numeric=0, random_state=0)
    clf = SubgroupParityClassifier(
        LinearRegression(), subgroups="conjunctions", max_iter=20, tol=None, random_state=3
    )
    usual = {"gammas": GAMMAS, "marginal": True, "test_size": 0.3}
    return pareto_frontier(
        clf, data.data, data.target, sensitive_features=protected or data.sensitive_features,
        **usual | options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def frontier():
    return frontier_of()


@pytest.fixture
def opened(frontier, open_page, tmp_path):
    return open_page(frontier.write_html(tmp_path / "frontier.html"))


def test_what_exceeds_its_gamma_is_marked(frontier):
    """Gamma 0 is kept on no rows: each sample says so, and the text counts the test rows."""
    data = frontier.to_dict()
    zero = data["points"][0]
    assert zero["gamma"] == 0 < zero["test"]["unfairness"]
    facts = {fact["name"]: fact["detail"] for fact in page_facts(data, 0)}
    assert facts["Unfairness, test rows"].startswith("above its gamma; ")
    free = {fact["name"]: fact["detail"] for fact in page_facts(data, len(GAMMAS) - 1)}
    last = data["points"][-1]
    assert last["test"]["unfairness"] < last["gamma"]
    assert not free["Unfairness, test rows"].startswith("above")
    beyond = sum(one["test"]["unfairness"] > one["gamma"] + 5e-5 for one in data["points"])
    assert f"On the test rows {beyond} of {len(GAMMAS)} models exceed" in str(frontier).replace(
        "\n", " "
    )


def page_facts(data, place):
    points = frontier_page.page_view(data)["points"]
    return next(one["facts"] for one in points if one["place"] == place)


def pair(page):
    """The compared points: name of each fact, and its values for A and B."""
    lines = page.locator("#compare tbody tr").all()
    cells = [[cell.text_content() for cell in line.locator("th, td").all()] for line in lines]
    return {name: (a, b) for name, a, b in cells}


def picked(page):
    return tuple(text.split("unfairness")[0] for text in pair(page)["Gamma"])


def mark_of(page, place):
    """Where a point is on the screen: the second trace has the points, MARGINAL's first."""
    return page.evaluate(
        """place => {
          const plot = document.getElementById("plot"), trace = plot.data[1];
          plot.scrollIntoView({block: "center"});
          const number = trace.customdata.indexOf(place), box = plot.getBoundingClientRect();
          const {xaxis, yaxis} = plot._fullLayout;
          return [box.left + xaxis._offset + xaxis.d2p(trace.x[number]),
                  box.top + yaxis._offset + yaxis.d2p(trace.y[number])];
        }""",
        place,
    )


def click(page, place):
    """Click as a person does: plotly picks what it has seen hovered, and looks every 50 ms."""
    page.mouse.move(*mark_of(page, place))
    wait_until(
        page,
        "place => document.getElementById('plot')._hoverdata?.[0].customdata === place",
        place,
    )
    page.mouse.down()
    page.mouse.up()


def test_it_opens_with_what_has_no_constraint_and_without_a_word_to_anyone(opened, frontier):
    page = opened.page
    assert page.inner_text("h1") == "What a fairer treatment costs"
    assert "Nothing is chosen here." in page.inner_text("main")
    tests = [point.test for point in frontier.points]
    fair = min(range(4), key=lambda i: (tests[i].unfairness, tests[i].error))
    assert picked(page) == ("noneunconstrained", f"{GAMMAS[fair]:g}")
    assert not opened.errors
    assert not opened.outside()
    assert page.locator(".plotlyjsicon").count() == 0
    assert page.locator('a[href^="http"]').count() == 0
    assert "suggested, not chosen" in page.inner_text("#plot") or not frontier.suggested


def test_the_keyboard_picks_a_point(opened, frontier):
    page = opened.page
    page.focus('input[name^="a-"][value="1"]')
    page.keyboard.press("Space")
    point = frontier.points[1]
    facts = pair(page)
    assert facts["Gamma"][0].startswith("0.01")
    assert facts["Error, test rows"][0].startswith(wording.percent(point.test.error))
    assert facts["Unfairness, test rows"][0].startswith(wording.unfairness(point.test.unfairness))
    assert (point.test.worst or "None differs.") in facts["Subgroup, test rows"][0]
    assert (point.train.worst or "None differs.") in facts["Subgroup, training rows"][0]
    assert facts["Predictors"][0].startswith(str(point.n_predictors))
    page.keyboard.press("ArrowDown")
    assert pair(page)["Gamma"][0].startswith("0.02")
    assert page.evaluate("document.activeElement.value") == "2"
    assert page.is_checked('input[name^="a-"][value="2"]')
    assert not opened.errors


def test_a_click_in_the_picture_picks_a_point(opened, frontier):
    page = opened.page
    for target in ("a", "b"):
        page.check(f'input[name="target"][value="{target}"]')
        for place in (1, 2, 5):  # 5 is MARGINAL's second
            click(page, place)
            page.wait_for_selector(f'input[name^="{target}-"][value="{place}"]:checked')
            assert picked(page)["ab".index(target)] == f"{GAMMAS[place % 4]:g}"
    assert "MARGINAL" in pair(page)["Trained"][0]
    assert not opened.errors


def test_models_on_one_spot_take_turns(frontier, open_page, tmp_path):
    twice = replace(frontier, points=(frontier.points[1],) * 2, marginal_points=())
    opened = open_page(twice.write_html(tmp_path / "frontier.html"))
    for place in (0, 1, 0):
        opened.page.mouse.click(*mark_of(opened.page, 0))
        opened.page.wait_for_selector(f'input[name^="a-"][value="{place}"]:checked')


def test_models_that_are_all_alike_are_said_to_be_so(frontier, open_page, tmp_path):
    """Every gamma allows what training finds: one model, four times, on one spot."""
    point = replace(frontier.points[1], reported_unfairness=0.0123)
    points = tuple(replace(point, gamma=gamma) for gamma in (0.1, 0.2, 0.3))
    alike = replace(frontier, points=points, marginal_points=())
    told = "all 3 models that were trained have the same error and unfairness"
    remedy = "allows more than the 0.0123 that training found"
    opened = open_page(alike.write_html(tmp_path / "frontier.html"))
    summary = opened.page.inner_text(".notion p")
    assert told in summary
    assert remedy in summary
    assert "both the most accurate and the fairest" not in summary
    assert opened.page.get_by_text("3 models", exact=True).count() == 1
    # There is something to compare with all the same.
    gammas = picked(opened.page)
    assert gammas == ("noneunconstrained", "0.1")
    text = " ".join(str(alike).split())
    assert told in text
    assert remedy in text
    assert told not in str(frontier)
    below = replace(alike, points=tuple(replace(one, gamma=0.001) for one in points))
    assert "ask for smaller ones" not in str(below)


def test_what_is_beaten_is_called_so_and_has_no_mark_of_another(opened, frontier):
    """MARGINAL's mark in the picture is ×."""
    page = opened.page
    assert any(point.test.dominated for point in frontier.points)
    assert "×" not in page.inner_text("body")
    assert "“Beaten”, hollow in the picture: another model" in page.inner_text("body")
    assert "beaten" in page.locator("td.mark").all_inner_texts()


def test_nothing_is_said_of_what_is_beaten_where_nothing_is(frontier):
    def kept(model):
        seen = {key: replace(getattr(model, key), dominated=False) for key in ("train", "test")}
        return replace(model, **seen)

    clean = replace(frontier, points=tuple(map(kept, frontier.points)), marginal_points=(),
                    references=tuple(map(kept, frontier.references)))  # fmt: skip
    assert "×" not in str(clean)
    assert "hollow" not in clean.to_html().partition("<script")[0]
    assert "×" in str(frontier)


def test_two_points_are_compared_in_words(opened, frontier):
    page = opened.page
    page.check('input[name^="a-"][value="3"]')
    page.check('input[name^="b-"][value="0"]')
    before, after = frontier.points[3], frontier.points[0]
    for key, words in (("test", "test rows"), ("train", "training rows")):
        one, other = getattr(before, key), getattr(after, key)
        (line,) = [text for text in page.locator("#words p").all_inner_texts() if words in text]
        shown = [round(100 * each.error, 1) for each in (one, other)]
        difference = f"{abs(shown[1] - shown[0]):.1f}".removesuffix(".0")
        verb = "costs" if other.error > one.error else "saves"
        assert f"from A to B {verb} {difference} points" in line
        moves = "falls" if other.unfairness < one.unfairness else "rises"
        ends = [wording.unfairness(each.unfairness) for each in (one, other)]
        assert f"{moves} from {ends[0]} to {ends[1]}" in line
    page.check('input[name^="b-"][value="3"]')
    assert "the same model" in page.inner_text("#words")


def test_figures_on_other_rows(opened, frontier):
    page = opened.page
    page.check('input[name="rows"][value="train"]')
    shown = page.locator('tr[data-place="1"] td.of-train').first.inner_text()
    assert shown.startswith(wording.percent(frontier.points[1].train.error))
    assert not page.locator('tr[data-place="1"] td.of-test').first.is_visible()
    drawn = page.evaluate("document.getElementById('plot').data[1].x")
    everyone = (*frontier.marginal_points, *frontier.points, *frontier.references)
    assert drawn == [model.train.error for model in everyone]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_its_window(frontier, open_page, tmp_path, width, scheme):
    opened = open_page(frontier.write_html(tmp_path / "f.html"), width=width, scheme=scheme)
    assert not opened.is_wider_than_its_window()
    ink = opened.page.evaluate("document.getElementById('plot')._fullLayout.font.color")
    assert ink == {"light": "#1b1f24", "dark": "#e8eaed"}[scheme]
    opened.page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    wait_until(
        opened.page, "ink => document.getElementById('plot')._fullLayout.font.color != ink", ink
    )
    assert (tmp_path / "f.html").stat().st_size < 6e6
    assert not opened.errors


def test_on_paper_nothing_asks_for_a_hand(opened):
    page = opened.page
    page.emulate_media(media="print")
    assert not page.locator("input[type=radio]:visible").count()
    assert "Choose A and B" not in page.inner_text("main")
    assert "0.05" in page.inner_text(".notion table")


def test_a_letter_beside_the_left_most_point_is_whole(frontier, open_page, tmp_path):
    opened = open_page(frontier.write_html(tmp_path / "f.html"), width=390)
    page = opened.page
    tests = [point.test.error for point in frontier.points]
    page.check(f'input[name^="a-"][value="{int(np.argmin(tests))}"]')
    letter = page.locator("#plot .textpoint text").first
    assert letter.text_content() == "A"
    assert not letter.evaluate("it => Boolean(it.closest('[clip-path]'))")
    assert letter.bounding_box()["x"] >= page.locator("#plot").bounding_box()["x"]


def test_hostile_names_are_text(open_page, tmp_path):
    rows = np.arange(400)
    protected = {HOSTILE: np.array([HOSTILE, "b"])[rows % 2], "long " * 16: rows % 3}
    frontier = frontier_of(
        protected=protected, estimators={HOSTILE: LinearRegression()}, gammas=[0.0, 0.05]
    )
    opened = open_page(frontier.write_html(tmp_path / "frontier.html"), width=390)
    page = opened.page
    assert HOSTILE in pair(page)["Trained"][0]
    assert HOSTILE in page.inner_text("#key")
    assert HOSTILE in page.text_content("#compare") + page.text_content(".notion")
    page.mouse.move(*mark_of(page, 0))
    page.wait_for_selector("#plot .hoverlayer text")
    assert page.title() == "What a fairer treatment costs"
    assert not opened.errors
    assert not opened.outside()
    assert not opened.is_wider_than_its_window()
    for text in (frontier.to_markdown(), frontier._repr_html_()):
        assert "<script>" not in text.replace("\\<", "")
        assert "<img" not in text.replace("\\<", "")


def test_no_name_turns_the_words_around_it(open_page, tmp_path):
    """Neither on the page, whose script is given data, nor in Markdown or the text."""
    rows = np.arange(400)
    turns = "live\u202e"
    frontier = frontier_of(
        protected={turns: np.array([turns, "b"])[rows % 2]}, gammas=[0.0, 0.05],
        estimators={turns: LinearRegression()},
    )  # fmt: skip
    opened = open_page(frontier.write_html(tmp_path / "frontier.html"))
    assert "live⟨U+202E⟩" in pair(opened.page)["Trained"][0]
    assert opened.page.locator("tbody[data-estimator]").first.is_visible()
    shown = (opened.page.text_content("html"), frontier.to_markdown(), str(frontier),
             frontier._repr_html_())  # fmt: skip
    for text in shown:
        assert "\u202e" not in text
        assert "live⟨U+202E⟩" in text
    assert not opened.errors


def test_markdown_makes_no_links(frontier):
    named = replace(frontier.points[0], estimator="www.evil.example http://evil.example #1")
    text = replace(frontier, points=(named,)).to_markdown()
    assert r"www\.evil.example http\://evil.example \#1" in text


def test_what_is_said_of_the_ends_is_said_without_marginal(frontier):
    def words(one):
        return frontier_page.page_view(one.to_dict())["notions"][0]["summary"]

    assert words(frontier).startswith("4 models were trained, MARGINAL’s aside.")
    assert words(replace(frontier, marginal_points=())).startswith("4 models were trained. On")


def test_text_markdown_and_page_open_with_what_has_no_constraint(frontier):
    (plain,) = frontier.references
    fairest = min(frontier.points, key=lambda one: (one.test.unfairness, one.test.error)).test
    accurate = min(frontier.points, key=lambda one: (one.test.error, one.test.unfairness)).test
    told = [(one.error, one.unfairness) for one in (plain.test, fairest, accurate)]
    start, end, best = (
        (wording.percent(error), wording.unfairness(unfair)) for error, unfair in told
    )
    ends = (
        f"On the test rows {{}} decides {{}} wrongly, with an unfairness of up to {{}} in a "
        f"subgroup; the fairest of them {end[0]}, with {end[1]}."
    )
    opening = ends.format("LinearRegression without constraint", *start)
    data = frontier.to_dict()
    assert opening in " ".join(str(frontier).split())
    assert opening in frontier.to_markdown().partition("## ")[0]
    assert opening in frontier_page.page_view(data)["notions"][0]["summary"]
    assert str(frontier).index("4 models were trained") < str(frontier).index("size: predictors")
    alone = str(replace(frontier, references=()))
    assert ends.format("the most accurate of them", *best) in " ".join(alone.split())


def test_bounds_are_rounded_up_and_exact_ones_are_the_same(frontier):
    data = frontier.to_dict()
    data["points"][0]["test"] |= {"unfairness": 0.1, "upper_bound": 0.10625, "exact": False}
    data["points"][1]["test"] |= {"exact": True}
    first, second = (one["samples"]["test"] for one in frontier_page.page_view(data)["points"][:2])
    assert first["at_most_words"] == "0.1063"
    assert first["bound_words"] == "proven to be at most 0.1063"
    assert second["at_most_words"] == "the same"
    assert "0.1063" in frontier_text.as_text(data)
    assert "0.1063" in frontier_text.as_markdown(data)


def test_without_scripts_a_table_remains(frontier, chromium, tmp_path):
    path = frontier.write_html(tmp_path / "frontier.html")
    context = chromium.new_context(
        java_script_enabled=False, viewport={"width": 800, "height": 600}
    )
    page = context.new_page()
    page.goto(path.as_uri())
    text = page.inner_text("main")
    for point in (*frontier.points, *frontier.marginal_points):
        assert f"{point.gamma:g}" in text
        assert (point.test.worst or "None differs.") in text
        assert (point.train.worst or "None differs.") in text
    assert not page.locator("#plot").is_visible()
    assert not page.locator('input[type="radio"]').first.is_visible()
    page.locator("details summary").first.click()
    assert "model = SubgroupParityClassifier(" in page.inner_text("main")
    context.close()


def test_the_code_shown_refits(opened, frontier):
    page = opened.page
    page.check('input[name^="a-"][value="1"]')
    code = page.locator("#refits code").first.inner_text()
    assert code == frontier.points[1].code
    assert "gamma=0.01" in code
    page.locator("#refits button").first.click()
    # Not wait_for_function: where it has to ask twice it evaluates text, which the page forbids.
    page.locator("#refits [role=status]").first.filter(has_text=re.compile(r"\S")).wait_for()
    told = page.locator("#refits [role=status]").first.inner_text()
    assert told.strip() in ("Copied.", "Selected; copy it with Ctrl+C or ⌘C.")
    data = make_intersectional(400, cardinalities=(2, 3), n_numeric=0, random_state=0)
    names = {"X": data.data, "y": data.target, "sensitive_features": data.sensitive_features}
    exec(code, names)
    assert names["model"].gamma == 0.01


def test_without_a_clipboard_the_code_is_selected(opened):
    page = opened.page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.locator("#refits button").first.click()
    selected = page.evaluate("getSelection().toString()")
    assert selected.strip() == page.locator("#refits code").first.inner_text().strip()
    assert "Selected" in page.locator("#refits [role=status]").first.inner_text()


def command(part, name):
    app = typer.Typer()

    @app.callback()
    def gerrymend():
        pass

    part.add_to(app)
    return lambda *words: CliRunner().invoke(app, [name, *map(str, words)])


def test_the_command_shown_refits(open_page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.save_rows(tmp_path / "my people.csv", 200, seed=0)
    asked = ["my people.csv", "--label", "repaid", "--protected", "race,sex", "--subgroups",
             "conjunctions", "--estimator", "linear-regression", "--max-iter", "20", "--seed", "5",
             "--gammas", "0.01,0.05", "--prediction", "granted", "--drop", "id,applied,score",
             "--test-size", "0.3", "--report", "page.html"]  # fmt: skip
    ran = command(cli_frontier, "frontier")(*asked)
    assert ran.exit_code == 0, ran.output
    assert "The page to choose on: page.html" in ran.output
    opened = open_page(tmp_path / "page.html")
    opened.page.check('input[name^="a-"][value="0"]')
    line = opened.page.locator("#refits code").first.inner_text()
    words = shlex.split(line)
    assert words[:3] == ["gerrymend", "fit", "my people.csv"]
    assert words[words.index("--gamma") + 1] == "0.01"
    ran = command(cli_fit, "fit")(*words[2:])
    assert ran.exit_code in (0, 1, 3), ran.output
    assert (tmp_path / "model.skops").exists()
    assert opened.page.locator("tbody[data-estimator]").count() == 3  # today's, and MARGINAL's
    opened.page.check('input[name^="a-"][value="2"]')
    assert "no command trains it" in opened.page.inner_text("#refits")
    assert not opened.errors


@pytest.fixture(scope="module")
def one_point():
    return frontier_of(gammas=[0.01], marginal=False, test_size=None)


def test_one_point_beside_what_has_no_constraint(one_point, open_page, tmp_path):
    opened = open_page(one_point.write_html(tmp_path / "frontier.html"))
    assert picked(opened.page) == ("noneunconstrained", "0.01")


def test_one_point_only(one_point, open_page, tmp_path):
    alone = replace(one_point, references=())
    opened = open_page(alone.write_html(tmp_path / "frontier.html"))
    assert pair(opened.page)["Gamma"] == ("0.01unfairness allowed in training", "–")
    assert opened.page.inner_text("#words") == "Pick a second model to compare."
    assert "One model was trained." in opened.page.inner_text(".notion")
    opened.page.check('input[name^="b-"][value="0"]')
    assert "the same model" in opened.page.inner_text("#words")
    assert not opened.errors


def test_what_was_interrupted_says_so(open_page, tmp_path):
    def stop_at_the_second(point, of):
        if point.gamma == 0.01:
            raise KeyboardInterrupt

    with pytest.raises(FrontierInterrupted) as stopped:
        frontier_of(on_point=stop_at_the_second)
    opened = open_page(stopped.value.frontier.write_html(tmp_path / "frontier.html"))
    assert "before 6 more models were trained" in opened.page.inner_text(".verdict")
    assert opened.page.locator("tr[data-place]").count() == 2 + 1  # and what has no constraint
    assert not opened.errors


def test_notions_and_estimators_are_chosen_and_never_mixed(open_page, tmp_path):
    frontier = frontier_of(
        notions=["false_positive_rate", "error_rate"], gammas=[0.0, 0.05],
        estimators={"plain": LinearRegression(), "flat": LinearRegression(fit_intercept=False)},
    )  # fmt: skip
    opened = open_page(frontier.write_html(tmp_path / "frontier.html"))
    page = opened.page

    def drawn():
        places = page.evaluate("document.getElementById('plot').data[1].customdata")
        everyone = (*frontier.points, *frontier.marginal_points, *frontier.references)
        return {(everyone[place].notion, everyone[place].estimator) for place in places}

    both = {"plain", "flat"}
    assert drawn() == {("false_positive_rate", name) for name in both}
    page.select_option("#notion", label="error rate")
    assert drawn() == {("error_rate", name) for name in both}
    assert [section.is_visible() for section in page.locator(".notion").all()] == [False, True]
    page.select_option("#estimator", label="flat")
    assert drawn() == {("error_rate", "flat")}
    assert pair(page)["Trained"][0].startswith("flat")
    assert not page.locator('tbody[data-estimator="plain"]').last.is_visible()
    assert not opened.errors


def test_what_can_not_be_written_has_no_code(frontier, open_page, tmp_path):
    bare = replace(frontier, points=tuple(replace(one, code=None) for one in frontier.points))
    opened = open_page(bare.write_html(tmp_path / "frontier.html"))
    assert "can't be written as code" in opened.page.inner_text("#refits")


def test_in_notebooks_a_table_or_the_text(frontier, monkeypatch):
    html = frontier._repr_html_()
    assert html.count("<tr") == 1 + 2 + 8 + 1  # one estimator, unconstrained
    assert "<script" not in html

    def missing(data):
        raise ImportError

    monkeypatch.setattr(frontier_page, "fragment", missing)
    assert frontier._repr_html_() is None


def test_markdown_has_every_point(frontier):
    text = frontier.to_markdown()
    assert text.count("\n| ") == 2 * 2 + 8 + 1
    assert "## MARGINAL, for contrast: false positive rate, LinearRegression" in text


def test_a_terminal_shows_tables(frontier):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(frontier)
    text = console.export_text()
    for point in (*frontier.points, *frontier.marginal_points):
        for sample in (point.train, point.test):
            assert f"{sample.error:.4f}" in text
            most = "same" if sample.report.exact else wording.bound(sample.upper_bound)
            assert f" {most} " in text
    assert text.count("×") == str(frontier).count("×")
