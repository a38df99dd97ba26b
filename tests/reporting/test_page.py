"""The page that all reports share: what it escapes, and what its policy keeps from running."""

import pytest

from gerrymend.reporting import page

HOSTILE = "<img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"


@pytest.fixture
def templates(monkeypatch):
    """Two templates of a test's own beside the package's."""
    jinja2 = pytest.importorskip("jinja2")
    shell = '{%% extends "page.html" %%}{%% block main %%}<h1>%s</h1>{%% endblock %%}'
    own = jinja2.DictLoader(
        {"escaped.html": shell % "{{ text }}", "raw.html": shell % "{{ text | safe }}"}
    )
    environment = page._environment()
    both = jinja2.ChoiceLoader([own, environment.loader])
    monkeypatch.setattr(environment, "loader", both)


def test_text_is_text(templates, open_page, tmp_path):
    html = page.render_page("escaped.html", title=HOSTILE, text=HOSTILE)
    opened = open_page(page.write_page(html, tmp_path / "page.html"))
    assert opened.page.inner_text("h1") == HOSTILE
    assert opened.page.title() == HOSTILE
    assert not opened.errors
    assert not opened.outside()


def test_text_can_t_turn_what_stands_around_it(templates):
    html = page.render_page("escaped.html", title="t", text="etar\u202e evil\x00")
    assert "<h1>etar⟨U+202E⟩ evil⟨U+0000⟩</h1>" in html


def test_the_policy_stops_what_a_template_let_through(templates, open_page, tmp_path):
    """Even unescaped, a script that is not the page's own does not run, nothing is fetched."""
    leak = '<img src="https://example.org/leak.png">'
    script = "document.body.dataset.own = 'ran'"
    html = page.render_page("raw.html", title="t", text=HOSTILE + leak, scripts=[script])
    opened = open_page(page.write_page(html, tmp_path / "page.html"))
    assert opened.page.title() == "t"
    assert opened.page.evaluate("document.body.dataset.own") == "ran"
    assert opened.refused["https://example.org/leak.png"] == "csp"
    assert all("Content Security Policy" in error for error in opened.errors)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="in a folder that does not exist"):
        page.write_page("", tmp_path / "nowhere" / "page.html")
