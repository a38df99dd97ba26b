"""The code and commands of README and guides run as they stand, and print what is said."""

import ast
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gerrymend.cli import demo
from tests.cli.calling import call
from tests.page_setups import SETUPS

ROOT = Path(__file__).parents[1]
# `docs/extending.md` quotes the source too, and has a test of its own.
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    if "```python" in path.read_text(encoding="utf-8") and path.name != "extending.md"
)


@pytest.fixture(autouse=True)
def every_report_is_checked():
    """Not here: the checker takes longer than this code, which calls it once itself."""


def blocks(page, language):
    """Return the blocks of code of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if name == language]


@pytest.mark.parametrize("page", PAGES)
def test_a_pages_code_is_a_script_that_prints_what_the_page_shows(
    page, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "page.py"
    code = "\n".join([SETUPS.get(page, ""), *blocks(page, "python")])
    script.write_text(code, encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out.strip()
    # A block without a language is what was printed: all of it, or what comes before "…". Where the
    # rows are none of the page's, it can't show what comes out.
    shown = [block.strip() for block in blocks(page, "")]
    assert len(shown) == (bool(printed) and page not in SETUPS)
    for block in shown:
        assert printed.startswith(block.removesuffix("…").strip())
        assert block.endswith("…") or block == printed


def commands(page):
    """Return the words of each gerrymend command, but for those that fetch the paper's data."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["gerrymend"] and words[1] not in ("data", "reproduce"):
                yield words[1:]


# For each page with commands: what they are after the first, and the files that they leave.
COMMANDS = [
    ("README.md", ["audit", "fit"], {"audit.html", "model.skops"}),
    ("docs/auditing.md", ["audit", "audit"], {"audit.html", "report.json"}),
    (
        "docs/deployment.md",
        ["fit", "predict"],
        {"model.skops", "predictions.csv"},
    ),
    ("docs/gates.md", ["audit"], {"audit.json", "audit.html"}),
    ("docs/impact.md", ["impact", "impact"], {"impact.html", "impact.csv", "impact.xlsx"}),
    (
        "docs/scores.md",
        ["calibrate", "calibrate"],
        {"patched.csv", "patches.json", "again.csv"},
    ),
    (
        "docs/changes.md",
        ["audit", "compare", "watch"],
        {"old.json", "changes.html", "watch.json"},
    ),
    (
        "docs/training.md",
        ["frontier", "fit", "predict"],
        {"frontier.html", "model.skops", "predictions.csv"},
    ),
]
PAGES_WITH_COMMANDS = [page for page, _, _ in COMMANDS]


@pytest.mark.parametrize(("page", "names", "files"), COMMANDS)
def test_commands_run_on_the_file_that_the_first_makes(page, names, files, tmp_path, monkeypatch):
    n_rows = 400
    monkeypatch.chdir(tmp_path)
    (first, *others) = commands(page)
    assert first == ["demo", "--save", "people.csv"]
    demo.save_rows(tmp_path / "people.csv", n_rows, seed=0)
    assert [words[0] for words in others] == names
    for words in others:
        code, out, err = call(*words)
        assert code in ((0,) if words[0] in ("frontier", "predict") else (0, 1, 3)), err
        assert out or "--quiet" in words
    assert files <= {path.name for path in tmp_path.iterdir()}
    if "predictions.csv" in files:
        predictions = Path("predictions.csv").read_text(encoding="utf-8")
        assert len(predictions.splitlines()) == n_rows + 1


def test_no_page_has_commands_that_are_not_run():
    pages = ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
    run = [*PAGES_WITH_COMMANDS, "docs/uncertain.md"]
    assert [page for page in sorted(pages) if list(commands(page))] == sorted(run)


def test_the_command_for_probabilities_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    black = rng.beta(0.3, 0.9, 400).round(3)
    loans = {
        "granted": rng.integers(0, 2, 400),
        "p_black": black,
        "p_other": 1 - black,
        "sex": rng.choice(["F", "M"], 400),
    }
    pl.DataFrame(loans).write_csv("loans.csv")
    (words,) = commands("docs/uncertain.md")
    code, out, err = call(*words)
    assert code in (0, 1, 3), err
    assert "race = Black" in out


def test_the_gate_on_github_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.save_rows(tmp_path / "people.csv", 400, seed=0)
    pl.read_csv("people.csv").write_parquet("decisions.parquet")
    (workflow,) = blocks("docs/gates.md", "yaml")
    (line,) = re.findall(r"^- run: gerrymend (.*)$", workflow, re.MULTILINE)
    code, _, err = call(*shlex.split(line))
    assert code == 1, err
    assert (tmp_path / "audit.html").exists()


@pytest.mark.parametrize("page", ["docs/coming_from.md", "docs/tools.md"])
def test_code_for_packages_that_are_not_installed_is_at_least_python(page):
    """It is marked as `py`: MLflow's has tests of its own, AIF360's was run by hand."""
    shown = blocks(page, "py")
    assert shown
    for block in shown:
        ast.parse(block)


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 15
    assert not [link for link in links if not (ROOT / link).exists()]
