"""`gerrymend demo`: its story is what the audits found, and it fits a terminal."""

import sys

import pytest

from gerrymend.cli import demo, main, show_demo


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


def test_it_fits_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    show_demo(400, 1)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "race = blue and gender = man" in shown
    assert "exceeds gamma" in shown
    assert "repaired model: within" in " ".join(shown.split())


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """The command, in a folder of its own; `test_package.py` starts it as a process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gerrymend", "demo", "--rows", "80", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return run


def test_a_report_is_written_and_nothing_that_is_not_ours_overwritten(call, tmp_path):
    code, out, _ = call()
    page = tmp_path / "gerrymend-demo.html"
    assert (code, "in gerrymend-demo.html" in out) == (0, True)
    assert "race = blue and gender = man" in page.read_text()
    assert call()[0] == 0  # a page of ours may be written anew
    page.write_text("mine")
    code, out, _ = call()
    assert (code, page.read_text()) == (0, "mine")
    assert "No report was written: --report gerrymend-demo.html is a file that gerrymend did" in out
    code, out, err = call("--report", "gerrymend-demo.html")
    assert (code, out, page.read_text()) == (2, "", "mine")
    assert "name another" in err
    assert call("--report", "other.html")[0] == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["gerrymend-demo.html", "other.html"]
