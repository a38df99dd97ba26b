"""Audits with probabilities as they are shown: the same figures everywhere, and no text acts."""

import io
import json

import numpy as np
import pytest

from gerrymend import audit_uncertain, check_report
from gerrymend.reporting.uncertain.words import lead_sentences, look, table_rows
from tests.reporting.hostile import STRINGS, Elements, assert_inert, assert_text_alone

pytest.importorskip("jinja2")
rich = pytest.importorskip("rich.console")

N = 400
RNG = np.random.default_rng(0)
P = RNG.beta(0.5, 0.5, N)
SEX = RNG.choice(["F", "M"], N)
D = (RNG.random(N) < 0.3 + 0.4 * P).astype(int)


def made(name="race", first="Black", second="White", known="sex", **how):
    given = {
        "y_true": None,
        "y_pred": D,
        "notion": "statistical_parity",
        "attribute_probabilities": {name: {first: P, second: 1 - P}},
        "sensitive_features": {known: SEX},
    }
    return audit_uncertain(**given | how)


@pytest.fixture(scope="module")
def hostile():
    return [
        made(*STRINGS[i : i + 4], y_pred=np.array(STRINGS[i : i + 2], dtype=object)[D])
        for i in range(0, 100, 4)
    ]


@pytest.fixture(scope="module")
def tame():
    return made(*(f"word {i}" for i in range(4)))


def test_pages_show_hostile_text_as_text(hostile, tame):
    like = tame.to_html("word")
    for report, title in zip(hostile, STRINGS, strict=False):
        assert_text_alone(report.to_html(title), like)
        assert_text_alone(report._repr_html_(), tame._repr_html_())


def test_markdown_shows_hostile_text_as_text(hostile, tame):
    markdown_it = pytest.importorskip("markdown_it")
    reader = markdown_it.MarkdownIt("gfm-like", {"linkify": False, "html": True})
    like = {tag for tag, _ in Elements(reader.render(tame.to_markdown("word"))).found}
    for report, title in zip(hostile, STRINGS, strict=False):
        text = report.to_markdown(title)
        assert_inert(text)
        page = Elements(reader.render(text))
        assert {tag for tag, _ in page.found} <= like
        assert not page.links


def test_text_and_json_are_inert(hostile):
    for report in hostile:
        console = rich.Console(width=80, file=io.StringIO())
        console.print(report)
        for text in (str(report), repr(report), console.file.getvalue(), report.to_json()):
            assert_inert(text)
        assert json.loads(report.to_json()) == json.loads(json.dumps(report.to_dict()))


def test_every_output_has_the_figures():
    report = made(n_permutations=19)
    data = report.to_dict()
    texts = [str(report), report.to_markdown(), report.to_html()]
    for text in (" ".join(one.replace("\N{NO-BREAK SPACE}", " ").split()) for one in texts):
        for group, *figures in table_rows(data):
            assert group in text
            assert all(figure.split(" to ")[0] in text for figure in figures)
        assert look(data).heading in text
        assert "by 19 shuffles" in text
        assert "Nobody was assigned to a category of race" in text
    assert len({one[0] for one in table_rows(data)}) == len(table_rows(data))


@pytest.mark.parametrize(
    ("gamma", "heading", "kind"),
    [
        (1e-9, "Expected to be more unfair than allowed, and not decided", "undecided"),
        (0.05, "Not decided", "undecided"),
        (0.2499, "Within what is allowed, whoever is who", "within"),
    ],
)
def test_what_is_expected_alone_is_no_verdict(gamma, heading, kind):
    report = made(gamma=gamma, sensitive_features=None, pool_size=400)
    assert report.lower_bound == 0
    shown = look(report.to_dict())
    assert (shown.heading, shown.kind) == (heading, kind)
    sentences = " ".join(lead_sentences(report.to_dict()))
    assert "whoever the members are, as long as the probabilities are right on average" in sentences


def test_what_is_so_whoever_is_who_is_red():
    report = made(y_pred=(SEX == "F").astype(int), gamma=0.01)
    assert look(report.to_dict()).kind == "exceeds"
    assert f"{report.surely.describe()} has an unfairness of" in " ".join(str(report).split())


def test_a_bound_that_is_shown_is_not_below_what_it_bounds():
    report = made()
    shown = next(one for one in lead_sentences(report.to_dict()) if "no group has more" in one)
    assert float(shown.split("more than ")[1].split(",")[0]) >= report.upper_bound - 1e-12


def test_warnings_are_never_green():
    report = made(y_true=D, notion="error_rate")
    assert report.verdict == "within gamma"
    assert look(report.to_dict()).kind == "undecided"
    assert "Warning" in str(report)


def test_the_checker_says_that_it_does_not_read_it():
    with pytest.raises(ValueError, match="kind 'uncertain', which the checker doesn't read"):
        check_report(made(), None, D, sensitive_features={"sex": SEX})


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1200, "dark")])
def test_the_page_fits_its_window_and_asks_for_nothing(open_page, tmp_path, width, scheme):
    page = made("a_long_name_of_an_attribute", "one of its categories").write_html(
        tmp_path / "uncertain.html", title="Loans 4.2"
    )
    opened = open_page(page, width=width, scheme=scheme)
    assert not opened.is_wider_than_its_window()
    assert opened.outside() == []
    assert opened.errors == []
    assert opened.page.title().endswith(": Loans 4.2")
    assert opened.page.locator("script").count() == 0
