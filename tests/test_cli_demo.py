"""`gerrymend demo`: its story is what the audits found, and it fits a terminal."""

import os
import subprocess
import sys

import pytest

from gerrymend import demo


@pytest.fixture(scope="module")
def found():
    return demo.run(400, seed=1)


def test_marginals_and_the_regression_are_blind_and_the_proof_is_not(found):
    assert [row.auditor for row in found] == ["marginals", "regression", "linear", "linear"]
    marginals, regression, linear, repaired = (row.report for row in found)
    assert (marginals.unfairness, marginals.verdict) == (0.0, "within gamma")
    assert (regression.worst, regression.verdict) == (None, "undecided")
    assert linear.unfairness == 0.0625
    assert linear.exact
    assert repaired.exact
    assert repaired.verdict == "within gamma"
    assert found[3].error < 0.28


def test_it_fits_80_columns():
    code = "from gerrymend.cli import show_demo; show_demo(400, 1)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env={**os.environ, "COLUMNS": "80"})  # fmt: skip
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "race = blue and gender = man" in run.stdout
    assert "exceeds gamma" in run.stdout
    assert "repaired model: within" in " ".join(run.stdout.split())


def call(folder, *arguments):
    """The command, in a folder of its own."""
    code = "from gerrymend.cli import main; main()"
    command = [sys.executable, "-c", code, "demo", "--rows", "80", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def test_a_report_is_written_and_nothing_that_is_not_ours_overwritten(tmp_path):
    code, out, _ = call(tmp_path)
    page = tmp_path / "gerrymend-demo.html"
    assert (code, "in gerrymend-demo.html" in out) == (0, True)
    assert "race = blue and gender = man" in page.read_text()
    assert call(tmp_path)[0] == 0  # a page of ours may be written anew
    page.write_text("mine")
    code, out, _ = call(tmp_path)
    assert (code, page.read_text()) == (0, "mine")
    assert "No report was written: --report gerrymend-demo.html is a file that gerrymend did" in out
    code, out, err = call(tmp_path, "--report", "gerrymend-demo.html")
    assert (code, out, page.read_text()) == (2, "", "mine")
    assert "name another" in err
    assert call(tmp_path, "--report", "other.html")[0] == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["gerrymend-demo.html", "other.html"]
