"""The README's code and commands run as they stand, and print what it says."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from gerrymend.cli import demo
from tests.cli.calling import call

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


@pytest.fixture(autouse=True)
def every_report_is_checked():
    """Not here: the checker takes longer than the README's code, which calls it once itself."""


def test_the_readmes_code_is_a_script_that_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "readme.py"
    script.write_text("\n".join(PYTHON), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    assert len(PYTHON) == 11
    assert f"```\n{capsys.readouterr().out.strip()}\n```" in README


def commands():
    """Return the words of each gerrymend command, but for those that fetch the paper's data."""
    for block in SHELL:
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["gerrymend"] and words[1] not in ("data", "reproduce"):
                yield words[1:]


def test_the_readmes_commands_run_on_the_file_that_the_first_makes(tmp_path, monkeypatch):
    n_rows = 400
    monkeypatch.chdir(tmp_path)
    (first, *others) = commands()
    assert first == ["demo", "--save", "people.csv"]
    demo.save_rows(tmp_path / "people.csv", n_rows, seed=0)
    assert [words[0] for words in others] == ["audit", "audit", "frontier", "fit", "predict"]
    for words in others:
        code, out, err = call(*words)
        assert code in ((0,) if words[0] in ("frontier", "predict") else (0, 1, 3)), err
        assert out
    written = {path.name for path in tmp_path.iterdir()}
    assert {"audit.html", "report.json", "frontier.html", "model.skops"} <= written
    assert len(Path("predictions.csv").read_text(encoding="utf-8").splitlines()) == n_rows + 1
