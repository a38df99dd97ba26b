"""A hundred hostile strings as names, values, labels and titles: every output only shows them."""

import csv
import dataclasses
import io
import json
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from gerrymend import SubgroupParityClassifier, audit, discrimination_surface, pareto_frontier
from gerrymend.cli.progress import progress
from gerrymend.cli.shared import notes
from gerrymend.frontier.points import OnRows
from gerrymend.reporting.audit.page import audit_page
from gerrymend.reporting.wording import visible
from tests.cli.calling import call
from tests.reporting.hostile import LIVE, STRINGS, Elements, assert_inert, assert_text_alone

pytest.importorskip("jinja2")
rich = pytest.importorskip("rich.console")

N = 400
# Five at a time: what an audit does to tell of nobody grows faster than its attributes.
FIVES = [STRINGS[i : i + 5] for i in range(0, 100, 5)]
TAME = [f"word {i}" for i in range(5)]
PARTS = [STRINGS[:34], STRINGS[34:67], STRINGS[67:]]
SAID = ("title", "model", "owner", "purpose", "date")


def table(strings):
    """Columns that are named by the strings, of which each has two; labels are two of them."""
    rng = np.random.default_rng(0)
    values = [*strings[1:], strings[0]]
    columns = {name: np.where(rng.random(N) < 0.5, name, other).astype(object)
               for name, other in zip(strings, values, strict=True)}  # fmt: skip
    labels = np.array(strings[:2], dtype=object)
    y = rng.integers(0, 2, N)
    decided = (rng.random(N) < 0.3 + 0.4 * (columns[strings[0]] == strings[0])).astype(int)
    return labels[y], labels[decided], columns


def reported(strings):
    y, decided, columns = table(strings)
    return audit(y, decided, sensitive_features=columns, subgroups="marginals", top=3,
                 features=strings, intersection=strings[:2], favourable="positive",
                 pos_label=strings[1], notion="equalized_odds")  # fmt: skip


def test_what_acts_is_found():
    """Or the other tests would show nothing: put raw into a page and a text, most do."""
    tame = Elements("<p>word</p>").found
    assert sum(bool(Elements(f"<p>{text}</p>").found - tame) for text in STRINGS) >= 25
    assert sum(bool(LIVE.search(text)) for text in STRINGS) >= 15
    like = {tag for tag, _ in Elements(in_markdown("word")).found}
    shown = ({tag for tag, _ in Elements(in_markdown(text)).found} for text in STRINGS)
    assert sum(bool(tags - like) for tags in shown) >= 40


@pytest.fixture(scope="module")
def reports():
    return [reported(strings) for strings in (TAME, *FIVES)]


@pytest.fixture(scope="module")
def said():
    """What a report says of its model: all strings, five at a time."""
    return [dict(zip(SAID, five, strict=True)) for five in FIVES]


def in_markdown(text):
    """Return a text as a reader of Markdown shows it, with tables and raw HTML."""
    markdown_it = pytest.importorskip("markdown_it")
    return markdown_it.MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)


def test_pages_of_audits(reports, said):
    tame, *hostile = reports
    like = tame.to_html(**dict.fromkeys(SAID, "word"), label="y", decision="d", since=tame)
    for report, document in zip(hostile, said, strict=True):
        names = {"label": STRINGS[2], "decision": STRINGS[70]}
        assert_text_alone(report.to_html(**document, **names, since=tame), like)
        worded = report.to_html(**document, **names, decisions=(document["title"], "yes"))
        assert_text_alone(worded, like)
        assert_text_alone(report._repr_html_(), tame._repr_html_())
        assert_text_alone(report.worst._repr_html_(), tame.worst._repr_html_())
    assert_text_alone(hostile[0].to_html(**said[1], since=hostile[1]), like)


def test_markdown_of_audits(reports, said):
    tame, *hostile = reports
    like = in_markdown(tame.to_markdown(**dict.fromkeys(SAID, "word"), label="y", decision="d"))
    tags = {tag for tag, _ in Elements(like).found}
    for report, document in zip(hostile, said, strict=True):
        text = report.to_markdown(**document, label=STRINGS[40], decision=STRINGS[44],
                                  decisions=(document["owner"], document["purpose"]))  # fmt: skip
        assert_inert(text)
        page = Elements(in_markdown(text))
        assert {tag for tag, _ in page.found} <= tags, {tag for tag, _ in page.found} - tags
        assert not page.links


def test_text_and_json_of_audits(reports, said):
    for report in reports:
        console = rich.Console(width=80, file=io.StringIO())
        console.print(report)
        for text in (str(report), repr(report), str(report.worst), console.file.getvalue()):
            assert_inert(text)
        assert_inert(report.to_json())
        assert json.loads(report.to_json()) == json.loads(json.dumps(report.to_dict()))
        assert " ".join(console.file.getvalue().split()) == " ".join(str(report).split())
    for document in said:
        text = reports[1].to_json(**document)
        assert_inert(text)
        assert json.loads(text)["about"] == {name: words for name, words in document.items()
                                             if words.strip()}  # fmt: skip


@pytest.fixture(scope="module")
def frontiers(reports):
    """Two frontiers: of tame names, and one with all strings as estimators and in its groups."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    clf = SubgroupParityClassifier(LinearRegression(), subgroups="marginals", max_iter=1, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frontier = pareto_frontier(clf, X, (X[:, 0] > 0) * 1, gammas=[0.05], marginal=True,
                                   sensitive_features={"a": rng.integers(0, 2, 80)},
                                   estimators={"e": LinearRegression()})  # fmt: skip
    (point,), (contrast,) = frontier.points, frontier.marginal_points
    made = []
    for strings in (["word"], STRINGS):
        on = [OnRows(0.1, report) for report in (reports[:1] if len(strings) == 1 else reports[1:])]
        points = tuple(
            dataclasses.replace(point, estimator=name, command=f"fit {name}", train=on[i % len(on)],
                                test=on[-1], gamma=i / 500, notion=point.notion)
            for i, name in enumerate(strings)
        )  # fmt: skip
        other = dataclasses.replace(contrast, train=on[0], test=on[-1], estimator=strings[-1])
        made.append(dataclasses.replace(frontier, points=points, marginal_points=(other,),
                                        references=(), label=strings[0]))  # fmt: skip
    return made


def test_frontiers(frontiers):
    pytest.importorskip("plotly")
    tame, hostile = frontiers
    assert_text_alone(hostile._repr_html_(), tame._repr_html_())
    # The bundled plotly has control characters of its own.
    html, like = (one.to_html().partition("/*! ")[0] for one in (hostile, tame))
    allowed = Elements(like).found | {
        ("option", ("value",)), ("div", ()), ("label", ("class", "for")), ("select", ("id",)),
    }  # fmt: skip
    assert Elements(html).found <= allowed, Elements(html).found - allowed
    for text in (str(hostile), repr(hostile), hostile.to_markdown(), hostile.to_json()):
        assert_inert(text)
    shown, like = (Elements(in_markdown(one.to_markdown())) for one in (hostile, tame))
    assert shown.found <= like.found | {("ul", ()), ("li", ())}
    assert {point["estimator"] for point in json.loads(hostile.to_json())["points"]} == set(STRINGS)


@pytest.fixture(scope="module")
def surfaces():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 60)).round(1)
    y, decided = rng.integers(0, 2, (2, 60))
    return [
        discrimination_surface(y, dict.fromkeys(models, decided), thetas=[-1, 0, 1],
                               sensitive_features={names[0]: first, names[1]: second})
        for models, names in (((["word", "other"]), "ab"), (STRINGS[:50], STRINGS[50:52]),
                              (STRINGS[50:], STRINGS[66:68]))
    ]  # fmt: skip


def test_surfaces(surfaces):
    pytest.importorskip("plotly")
    tame, *hostile = surfaces
    like = Elements(tame.to_html())
    table_like = Elements(in_markdown(tame.to_markdown()))
    for surface in hostile:
        page = Elements(surface.to_html())
        assert page.found <= like.found, page.found - like.found
        assert page.scripts <= like.scripts
        assert_text_alone(surface._repr_html_(), tame._repr_html_())
        assert Elements(in_markdown(surface.to_markdown())).found <= table_like.found
        for text in (str(surface), repr(surface), surface.to_markdown(), surface.to_json()):
            assert_inert(text)


def test_plots_draw_them_as_they_are(reports, frontiers, surfaces):
    """Formulas between dollars, and line ends, are text; a glyph that a font lacks is a box."""
    plt = pytest.importorskip("matplotlib.pyplot")
    from gerrymend import AuditDisplay, FrontierDisplay, SurfaceDisplay

    displays = [*map(AuditDisplay.from_report, reports[1::7]),
                FrontierDisplay.from_report(frontiers[1]),
                *map(SurfaceDisplay.from_surface, surfaces[1:])]  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph|.*constrained_layout")
        for display in displays:
            # Texts are measured, in which formulas are parsed: to draw all takes long.
            display.figure_.set_dpi(20)
            renderer = display.figure_.canvas.get_renderer()
            for text in display.figure_.findobj(plt.Text):
                shown = text.get_text()
                assert_inert(shown)
                text.get_window_extent(renderer)
                # What matplotlib reads as a formula has two dollars that are not escaped.
                assert shown.replace("\\$", "").count("$") < 2 or not text.get_parse_math()
    plt.close("all")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A Parquet file for each part, with a label and decisions among the hostile columns."""
    folder = tmp_path_factory.mktemp("hostile")
    made = []
    for i, strings in enumerate(PARTS):
        y, decided, columns = table(strings)
        path = folder / f"{i}.parquet"
        named = {f"y {strings[3]}": y, f"d {strings[4]}": decided}
        pl.DataFrame(columns | named).write_parquet(path)
        made.append((path, strings, [*named]))
    return made


def options_of(strings, label):
    protected = [f"--protected={name}" for name in strings if name.strip()]
    return [f"--label={label}", *protected, "--subgroups", "marginals"]


@pytest.mark.parametrize("part", range(3))
def test_the_terminal_of_an_audit(files, tmp_path, part):
    path, strings, (label, decision) = files[part]
    words = [f"--{name}={text}" for name, text in
             zip(("title", "model-name", "owner", "purpose", "date"), strings[9:], strict=False)
             if "\x00" not in text]  # fmt: skip
    targets = ["--report", tmp_path / "r.html", "--markdown", tmp_path / "r.md", "--json",
               tmp_path / "r.json"]  # fmt: skip
    columns = [*options_of(strings[:8], label), f"--prediction={decision}"]
    columns.append(f"--decisions={strings[14].replace(',', '')},{strings[15].replace(',', '')}")
    code, out, err = call("audit", path, *columns, "--permutations", 0, *words, *targets)
    assert code in (0, 1, 3), err
    assert_inert(out + err)
    assert visible(label) in out
    assert "\x1b" not in (tmp_path / "r.json").read_text() + (tmp_path / "r.html").read_text()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("command", ["fit", "frontier"])
@pytest.mark.parametrize("part", range(3))
def test_the_terminal_of_training(files, tmp_path, command, part):
    path, strings, (label, _) = files[part]
    usual = ["--estimator", "linear-regression", "--max-iter", 1]
    features = [f"--features={name}" for name in strings[:6] if name.strip()]
    asked = [*options_of(strings[:6], label), *features, *usual, *written(command, tmp_path)]
    if command == "fit":
        asked += ["--test-rows", tmp_path / "t.csv", f"--decisions=no,{strings[0]}"]
    code, out, err = call(command, path, *asked)
    assert code in (0, 1, 3), err
    assert_inert(out + err)
    html = (tmp_path / "m.html").read_text()
    assert_no_more(html, tame_page(command, tmp_path / "tame", usual))
    if command == "frontier":
        assert_inert((tmp_path / "m.json").read_text())
        return
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    text = (tmp_path / "m.md").read_text()
    assert_inert(text)
    assert {tag for tag, _ in Elements(in_markdown(text)).found} <= MARKDOWN_TAGS
    assert not Elements(in_markdown(text)).links
    ids = [name for name in strings if name.strip()]
    code, out, err = call("predict", tmp_path / "m.skops", path, "--out", tmp_path / "p.csv",
                          *(f"--id={name}" for name in ids))  # fmt: skip
    assert code == 0, err
    assert_inert(out + err)
    assert_no_formulas(tmp_path / "p.csv", pl.read_parquet(path).select(ids))


MARKDOWN_TAGS = {"h1", "h2", "h3", "p", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th",
                 "td", "em", "ol", "code", "pre", "br", "hr", "blockquote"}  # fmt: skip


def written(command, folder):
    """Return the options by which a command writes all that it can."""
    own = {
        "fit": ["--out", folder / "m.skops", "--markdown", folder / "m.md"],
        "frontier": ["--gammas", "0.1", "--no-marginal", "--json", folder / "m.json"],
    }
    return [*own[command], "--test-size", "0.5", "--report", folder / "m.html"]


def tame_page(command, folder, options):
    """Return the page that a command writes of words that do nothing."""
    folder.mkdir()
    words = [f"word {i}" for i in range(6)]
    y, decided, columns = table(words)
    path = folder / "tame.parquet"
    pl.DataFrame(columns | {"label": y, "decision": decided}).write_parquet(path)
    features = [f"--features={name}" for name in words]
    code, _, err = call(command, path, *options_of(words, "label"), *features, *options,
                        *written(command, folder))  # fmt: skip
    assert code in (0, 1, 3), err
    return (folder / "m.html").read_text()


def assert_no_more(html, like):
    """Fail where a page has a kind of element, of attribute or of link that a tame one lacks."""
    # The bundled plotly has control characters of its own.
    page, tame = (Elements(one.partition("/*! ")[0]) for one in (html, like))
    for kind in ("tags", "attributes"):
        first, second = (
            {tag for tag, _ in one.found} if kind == "tags"
            else {name for _, names in one.found for name in names}
            for one in (page, tame)
        )  # fmt: skip
        assert first <= second, first - second
    assert page.links <= tame.links
    assert html.lower().count("</script") == like.lower().count("</script")
    # Of these the bundled plotly has some, in both.
    assert LIVE.findall(html.replace("\t", "")) == LIVE.findall(like.replace("\t", ""))


def assert_no_formulas(path, ids):
    """Fail where a cell is one to a spreadsheet, or is not the value that the row has."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert len(lines) == len(ids)
    for cell in (*head, *(cell for line in lines for cell in line)):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or is_number(cell), cell
    for name, column in zip(ids.columns, zip(*lines, strict=True), strict=False):
        for written, value in zip(column, ids[name], strict=True):
            assert written in (value, f"'{value}"), (written, value)


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("command", ["fit", "frontier", "predict", "calibrate"])
def test_errors_of_other_commands_name_them_inertly(files, tmp_path, command):
    path, strings, (label, _) = files[0]
    usual = [path, f"--label={label}", f"--protected={strings[1]}"]
    given = {
        "fit": [*usual, "--out", tmp_path / "m.skops", "--features={}!"],
        "frontier": [*usual, "--features={}!"],
        "predict": [tmp_path / "none.skops", "{}!", "--out", tmp_path / "p.csv"],
        "calibrate": [*usual, "--score={}!", "--out", tmp_path / "p.csv"],
    }[command]
    for text in STRINGS:
        filled = [str(one).replace("{}", text) for one in given]
        code, out, err = call(command, *filled)
        assert (code, out) == (2, ""), (text, out)
        assert_inert(err)


def test_errors_name_them_inertly(files):
    path, _, (label, decision) = files[0]
    usual = [path, f"--label={label}", f"--prediction={decision}"]
    for i, text in enumerate(STRINGS):
        options = ([f"--protected={text}!"], ["--protected=x", f"--positive={text}"],
                   [f"--notion={text}", f"--protected={STRINGS[1]}"])[i % 3]  # fmt: skip
        code, out, err = call("audit", *usual, *options, "--permutations", 0)
        assert (code, out) == (2, "")
        assert_inert(err)


def test_progress_and_notes_are_inert():
    for text in STRINGS:
        console = rich.Console(width=80, file=io.StringIO(), force_terminal=True, color_system=None)
        with progress(console, f"Reading {text}") as say:
            say(f"training {text}", 1, 2)
        with notes(console, {}):
            warnings.warn(f"Column {text!s} has dates.", UserWarning, stacklevel=1)
        # The bar's own signs: moves of the cursor, and its hiding.
        own = ("\x1b[?25l", "\x1b[?25h", "\x1b[1A", "\x1b[2K", "\r", "\x1b[?2026h", "\x1b[?2026l")
        shown = console.file.getvalue()
        for sign in own:
            shown = shown.replace(sign, "")
        assert_inert(shown)


def test_a_page_of_a_model_shows_its_columns(reports):
    sample = {"name": "test rows", "n_rows": 9, "error": 0.1, "unfairness": 0.0, "upper_bound": 0.0,
              "exact": True, "verdict": "within gamma"}  # fmt: skip
    pages = []
    for words in (["word"], STRINGS):
        model = {"estimator": words[-1], "n_predictors": 2, "gamma": 0.1, "columns": words,
                 "audited": "test rows", "gate": "both", "samples": [sample]}  # fmt: skip
        pages.append(audit_page(reports[0].to_dict(), model))
    assert_text_alone(pages[1], pages[0])


def test_errors_of_the_library_are_inert_by_themselves():
    """As a traceback shows them: no sign of a name acts on a terminal, or turns what is around."""
    for text in STRINGS:
        with pytest.raises(ValueError, match="differ in length") as raised:
            audit([0, 1], [0, 1], sensitive_features={f"{text}!": ["a", "b"], "short": ["a"]})
        assert_inert(str(raised.value))
        with pytest.raises(ValueError, match=r"must be two words") as raised:
            reported_words(text)
        assert_inert(str(raised.value))


def reported_words(text):
    report = audit([0, 1] * 20, [1, 1] * 20, sensitive_features={"a": ["x", "y"] * 20})
    return report.to_html(decisions=(text, text))
