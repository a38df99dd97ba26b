"""2,400 generated inputs: no crash, no silent cast, no bare error from below."""

import csv
import subprocess
import sys

import pytest

from tests.fuzz.batch import ROOT, findings_of

NUMBER, STEP = 2_400, 200


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, NUMBER, STEP))
def test_any_input_gets_a_result_or_an_error_that_helps(first):
    found = findings_of(first, first + STEP)
    assert not found, f"{len(found)} findings:\n\n" + "\n\n".join(map(str, found))


# Some by the command as it is called, in a process of its own: exit codes are the system's.
CALLS = [
    ([], 2, "Usage"),
    (["audit"], 2, "Usage"),
    (["audit", "nowhere.csv", "--label", "y", "--protected", "a", "--prediction", "d"], 2, "FILE"),
    (["audit", "FILE", "--label", "y", "--protected", "a", "--prediction", "d"], 0, "gamma"),
    (["audit", "FILE", "--label", "x", "--protected", "a", "--prediction", "d"], 2, "--label"),
    (["audit", "FILE", "--label", "y", "--protected", "a", "--prediction", "d", "--gamma", "nan"],
     2, "--gamma"),
    (["fit", "FILE", "--label", "y", "--protected", "a", "--out", "/no/where/m.skops"], 2, "--out"),
    (["predict", "FILE", "FILE", "--out", "p.csv"], 2, "MODEL"),
    (["frontier", "FILE", "--label", "y", "--protected", "a", "--gammas", "x"], 2, "--gammas"),
    (["data", "fetch", "nothing"], 2, "nothing"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "code", "word"), CALLS)
def test_commands_in_a_process_of_their_own(arguments, code, word, tmp_path):
    file = tmp_path / "rows.csv"
    with file.open("w", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(["a", "f", "d", "y"])
        writer.writerows([i % 2, i, i // 2 % 2, i // 4 % 2] for i in range(64))
    done = subprocess.run(
        [sys.executable, "-c", "from gerrymend.cli import main; main()",
         *(str(file) if word == "FILE" else word for word in arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert word in said
    assert "Traceback" not in said
