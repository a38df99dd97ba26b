"""Bars on a terminal, some lines elsewhere, and a clean terminal after Ctrl-C."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from rich.console import Console

from gerrymend.cli import demo
from gerrymend.cli import progress as showing
from tests.cli.calling import call

pty = pytest.importorskip("pty", reason="there are no terminals to make here")
RUN = [sys.executable, "-c", "from gerrymend.cli import main; main()"]
AUDIT = ["audit", "people.csv", "--label", "repaid", "--prediction", "granted",
         "--protected", "race,sex", "--notion", "false_negative_rate"]  # fmt: skip
FIT = ["fit", "people.csv", "--label", "repaid", "--protected", "race,sex",
       "--drop", "id,applied,granted", "--out", "m.skops"]  # fmt: skip
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"  # the cursor
# Seconds after which a command hangs, however busy the machine is.
PATIENCE = 600


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.save_rows(tmp_path / "people.csv", 400, seed=0)


class Terminal:
    """A command whose standard error is a terminal."""

    def __init__(self, *words):
        mine, its = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
        self._process = subprocess.Popen(
            [*RUN, *words], stderr=its, stdout=subprocess.DEVNULL, env=environment
        )
        os.close(its)
        self._heard, self._news = "", threading.Condition()
        self._is_closed = False
        self._reader = threading.Thread(target=self._read, args=(mine,))
        self._reader.start()

    def _read(self, end):
        while True:
            try:
                more = os.read(end, 4096)
            except OSError:  # how Linux says that the other end is closed
                more = b""
            with self._news:
                self._heard += more.decode(errors="replace")
                self._is_closed = not more
                self._news.notify()
            if not more:
                return os.close(end)

    def wait_for(self, words):
        with self._news:
            self._news.wait_for(lambda: words in self._heard or self._is_closed, PATIENCE)
            assert words in self._heard, self._heard

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)

    def end(self):
        code = self._process.wait(PATIENCE)
        self._reader.join()
        return code, self._heard


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(showing, "_FIRST_LINE", PATIENCE)  # compiling alone may take longer
    for words in ([*AUDIT, "--permutations", "19"], [*FIT, "--max-iter", "3"]):
        code, out, err = call(*words)
        assert code in (0, 1, 3), err
        assert out
        assert "\x1b" not in err + out
        assert all(line.startswith(("Note: ", "Exit code ")) for line in err.splitlines())


def wait_for(words, text):
    until = time.monotonic() + PATIENCE
    while words not in text.getvalue() and time.monotonic() < until:
        time.sleep(0.001)
    assert words in text.getvalue()


def test_long_work_is_told_in_lines_without_a_terminal(monkeypatch):
    monkeypatch.setattr(showing, "_FIRST_LINE", 0.001)
    text = io.StringIO()
    with showing.progress(Console(file=text, width=40), "Reading rows") as say:
        wait_for("After 0.001 s: Reading rows\n", text)
        say("rounds at most: error 0.25", 3, 1200)
        wait_for("s: 3 of 1,200 rounds at most: error 0.25\n", text)
        say("Saving")
        wait_for("s: Saving\n", text)
    told = text.getvalue()
    after = [
        float(seconds) for seconds in re.findall(r"^After ([0-9.e+]+) s: ", told, re.MULTILINE)
    ]
    assert after == pytest.approx([0.001 * 2**i for i in range(len(after))], rel=1e-4)
    time.sleep(0.01)
    assert text.getvalue() == told, "nothing is told of work that has ended"


def test_a_quiet_command_tells_nothing_of_its_work(monkeypatch):
    monkeypatch.setattr(showing, "_FIRST_LINE", 0.0001)
    for words in (AUDIT, [*FIT, "--max-iter", "3"]):
        _, _, err = call(*words)
        assert "After 0.0001 s: " in err
        _, _, err = call(*words, "--quiet")
        assert "After " not in err.partition("Note: After")[0]


def test_a_bar_counts_permutations():
    code, heard = Terminal(*AUDIT, "--permutations", "19").end()
    assert code == 1
    assert "19/19 permutations" in heard.replace("\x1b[0m", "").replace("\x1b[32m", "")
    assert heard.rindex(SHOWN) > heard.rindex(HIDDEN)


def test_ctrl_c_leaves_the_terminal_clean():
    terminal = Terminal(*AUDIT, "--permutations", "9999999", "--budget", "300")
    terminal.wait_for("/9999999")
    terminal.interrupt()
    code, heard = terminal.end()
    assert code == 130
    assert heard.rindex(SHOWN) > heard.rindex(HIDDEN)
    assert heard.rindex("Interrupted.") > heard.rindex("/9999999")
    assert "\x1b[2K" in heard[heard.rindex("/9999999") :]  # the bar is wiped off
