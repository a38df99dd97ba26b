"""The code and commands of README and guides run as they stand, and print what is said."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from gerrymend.cli import demo
from tests.cli.calling import call

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/auditing.md",
    "docs/impact.md",
    "docs/training.md",
    "docs/paper.md",
    "docs/getting_started.md",
    "docs/coming_from.md",
    "docs/changes.md",
    "docs/tools.md",
    "docs/frozen.md",
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
    script.write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out.strip()
    # A block without a language is what was printed: all of it, or what comes before "…".
    shown = [block.strip() for block in blocks(page, "")]
    assert len(shown) == bool(printed)
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


@pytest.mark.parametrize(
    ("page", "names", "files"),
    [
        ("README.md", ["audit", "fit"], {"audit.html", "model.skops"}),
        ("docs/auditing.md", ["audit", "audit"], {"audit.html", "report.json"}),
        ("docs/impact.md", ["impact", "impact"], {"impact.html", "impact.csv", "impact.xlsx"}),
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
    ],
)
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
        assert out
    assert files <= {path.name for path in tmp_path.iterdir()}
    if "predictions.csv" in files:
        predictions = Path("predictions.csv").read_text(encoding="utf-8")
        assert len(predictions.splitlines()) == n_rows + 1


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 15
    assert not [link for link in links if not (ROOT / link).exists()]
