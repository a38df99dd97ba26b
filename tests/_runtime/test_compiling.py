"""The first audit in an environment compiles, and shows how far it is; the next one is silent."""

import io
import os
import subprocess
import sys

import numpy as np
import rich.console
import rich.progress

from gerrymend._runtime import compiling
from gerrymend._runtime.compiling import expected, njit, shown_by
from gerrymend.cli.progress import progress

PROOFS = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
from gerrymend import prove
A = {"sex": ["F", "M"] * 20}
for _ in range(2):
    prove([0] * 40, [1, 0, 0, 0] * 10, sensitive_features=A, subgroups="trees", at_most=1)
"""


def made_loops():
    """Return two loops that were never compiled; the second calls the first, and itself."""

    @njit()
    def twice(value):
        return 2 * value

    # A global of the outer loop, as in a module.
    called = {"twice": twice, "njit": njit}
    source = "@njit()\ndef four_times(value):\n    return twice(twice(value))\n"
    exec(source, called)
    return twice, called["four_times"]


def test_progress_counts_the_loops_that_are_done_of_those_that_are_needed():
    shown = []
    _, four_times = made_loops()
    _, other = made_loops()
    with shown_by(lambda *of: shown.append(of)), expected([four_times, other]):
        four_times(1)
        other(1)
    words, done, of = zip(*shown, strict=True)
    assert set(words) == {compiling.WORDS, ""}
    assert words.index("") == len(words) - 1
    assert list(done[:-1]) == sorted(done[:-1])
    assert (done[0], done[-2]) == (0, 4)
    assert set(of[:-1]) == {4}


def test_nothing_is_shown_of_loops_that_are_compiled():
    shown = []
    _, four_times = made_loops()
    four_times(1)
    with shown_by(lambda *of: shown.append(of)), expected([four_times]):
        four_times(2)
    assert shown == []


def test_a_loop_that_nobody_expected_is_shown_without_a_number():
    shown = []
    twice, _ = made_loops()
    with shown_by(lambda *of: shown.append(of)):
        twice(1)
    assert {of for _, _, of in shown} == {None}
    assert shown[-1] == ("", 0, None)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines_shown(stream, monkeypatch):
    """Return what was written over and over on one line."""
    monkeypatch.setattr(sys, "stderr", stream)
    _, four_times = made_loops()
    with expected([four_times]):
        four_times(1)
    return [line.rstrip() for line in stream.getvalue().split("\r")]


def test_a_terminal_has_a_line_that_is_gone_at_the_end(monkeypatch):
    lines = lines_shown(Terminal(), monkeypatch)
    assert f"{compiling.WORDS}: 0 of 2 loops" in lines
    assert f"{compiling.WORDS}: 2 of 2 loops" in lines
    assert lines[-2:] == ["", ""]
    assert "\n" not in "".join(lines)


def test_a_file_is_left_alone(monkeypatch):
    assert lines_shown(io.StringIO(), monkeypatch) == [""]


def test_quarters_are_logged(caplog):
    caplog.set_level("INFO", "gerrymend.compiling")
    loops = [made_loops()[1] for _ in range(4)]
    with expected(loops):
        for loop in loops:
            loop(1)
    logged = [text for text in caplog.messages if text != compiling.MESSAGE]
    assert logged == [f"Compiled {n} of 8 loops." for n in (2, 4, 6, 8)]


def said(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROOFS], env=environment, capture_output=True, text=True, check=True
    )
    return [line for line in done.stdout.splitlines() if line.startswith("gerrymend.compiling")]


def test_compilation_is_told_once_in_an_environment(tmp_path):
    first, *parts = said(tmp_path)
    assert first == f"gerrymend.compiling: {compiling.MESSAGE}"
    assert parts[-1] == "gerrymend.compiling: Compiled 3 of 3 loops."
    assert len(parts) == 3
    assert said(tmp_path) == []


def test_an_inner_loop_leaves_the_arrays_of_its_caller_as_they_are_held():
    """It counts no references, so it must hold none in the end, to slices neither."""

    @njit(inner=True)
    def ends(values):
        half = values[: len(values) // 2]
        return half[0] + values[len(values) - 1]

    @njit()
    def total(values):
        return ends(values) + ends(values[1:])

    values = np.arange(4.0)
    held = sys.getrefcount(values)
    assert total(values) == 0.0 + 3.0 + 1.0 + 3.0
    assert sys.getrefcount(values) == held


def test_the_command_line_shows_a_bar_and_then_what_it_said_before(monkeypatch):
    shown = []

    def update(bars, _, description):
        shown.append((description, bars.tasks[0].completed, bars.tasks[0].total))

    monkeypatch.setattr(rich.progress.Progress, "update", update)
    _, four_times = made_loops()
    console = rich.console.Console(file=io.StringIO(), force_terminal=True)
    with progress(console, "Reading") as say, expected([four_times]):
        say("Searching", 3, 4)
        four_times(1)
    assert shown[0] == shown[-1] == ("Searching", 3, 4)
    assert shown[1] == (compiling.WORDS, 0, 2)
    assert shown[-2] == (compiling.WORDS, 2, 2)
