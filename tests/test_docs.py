"""The site: every public name has a page, every page is reached, and the gallery draws pictures."""

import re
import runpy
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot as plt

import gerrymend
from gerrymend import datasets
from gerrymend import mlflow as logging
from gerrymend import pytest as assertions

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


@pytest.fixture(autouse=True)
def every_report_is_checked():
    """Not here: the checker takes longer than the gallery."""


def test_every_public_name_is_in_the_reference():
    names = [*gerrymend.__all__, *datasets.__all__, *assertions.__all__, *logging.__all__]
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(names)


def test_every_page_is_in_a_table_of_contents():
    pages = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```$", "\n".join(pages.values()), re.S | re.M)
    reached = {line for tree in trees for line in tree.splitlines()}
    assert pages.keys() - reached == {"index"}


def test_the_gallery_has_a_dozen():
    assert len(GALLERY) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_of_the_gallery_ends_in_a_picture(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    plt.close("all")
    runpy.run_path(str(path), run_name="__main__")
    drawn = [axes for number in plt.get_fignums() for axes in plt.figure(number).axes]
    plt.close("all")
    assert any(axes.has_data() for axes in drawn)
    assert not list(tmp_path.iterdir())
