"""JUnit XML and annotations say what the exit code says, and no name in them acts."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from gerrymend.reporting.pipeline.annotations import annotation_lines
from gerrymend.reporting.pipeline.junit import junit_xml
from gerrymend.reporting.pipeline.outcome import Outcome
from tests.cli.calling import call
from tests.reporting.hostile import LIVE, STRINGS

N = 400
I = np.arange(N)  # noqa: E741
SEX = np.where(I % 2 == 0, "F", "M")
DECIDED = {
    0: (I % 4 < 2).astype(int),  # as many of either
    1: np.isin(I % 8, [0, 1, 2]).astype(int),  # of women twice as many
    3: np.zeros(N, dtype=int),  # decided all alike, which is warned of
}
COLUMNS = ["--label", "y", "--prediction", "d", "--protected", "sex", "--permutations", 0,
           "--notion", "statistical_parity"]  # fmt: skip


def written(folder, code):
    """A file of rows, of which an audit exits with a code."""
    path = folder / "people.csv"
    pl.DataFrame({"sex": SEX, "y": I // 200, "d": DECIDED[code]}).write_csv(path)
    return path


def one_test(text):
    """Return what a reader of JUnit XML sees: counts, the test's name, its result, and texts."""
    suites = ElementTree.fromstring(text)
    (suite,) = suites
    (case,) = suite
    (result,) = case
    counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    assert {name: int(suites.get(name)) for name in ("tests", "failures", "errors")} == {
        name: counts[name] for name in ("tests", "failures", "errors")
    }
    assert (counts["tests"], counts["skipped"]) == (1, 0)
    failed = (counts["failures"], counts["errors"])
    return failed, case, result


def commands_in(text):
    """Return the commands that a runner takes from lines: level, title and message, unescaped.

    As actions/runner reads them: a line that begins with ::, its properties up to the next ::.
    """
    found = []
    for line in text.splitlines():
        assert line.startswith("::"), line
        head, _, data = line[2:].partition("::")
        level, _, properties = head.partition(" ")
        given = dict(one.split("=", 1) for one in properties.split(","))
        assert given.keys() == {"title"}
        title = given["title"].replace("%3A", ":").replace("%2C", ",")
        found.append((level, *(unescaped(part) for part in (title, data))))
    return found


def unescaped(text):
    assert re.fullmatch(r"([^%\r\n]|%25|%0A|%0D)*", text), text
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


RESULTS = {
    0: ((0, 0), "system-out", "notice"),
    1: ((1, 0), "failure", "error"),
    3: ((0, 1), "error", "warning"),
}


@pytest.mark.parametrize("expected", RESULTS)
def test_an_audit_says_in_both_what_its_exit_code_says(tmp_path, expected):
    path = written(tmp_path, expected)
    files = ["--junit", tmp_path / "j.xml", "--annotations", tmp_path / "a.txt"]
    code, out, err = call("audit", path, *COLUMNS, *files, "--json", tmp_path / "r.json")
    assert code == expected, err
    failed, tag, level = RESULTS[expected]
    report = json.loads((tmp_path / "r.json").read_text())
    counted, case, result = one_test((tmp_path / "j.xml").read_text())
    assert (counted, result.tag) == (failed, tag)
    assert case.get("name") == "people.csv: no subgroup exceeds gamma"
    assert case.get("classname") == "gerrymend.audit"
    # The whole report, as it is printed, but for what the command read and what to type next.
    printed = " ".join(out.split())
    paragraphs = result.text.split("\n\n")
    assert len(paragraphs) > 3
    assert sum(" ".join(part.split()) in printed for part in paragraphs) >= len(paragraphs) - 1
    first, *warnings = commands_in((tmp_path / "a.txt").read_text())
    assert first[0] == level
    assert report["lead"] is None or report["lead"]["subgroup"] in first[2]
    told = [one["sentence"] for one in report["warnings"]]
    assert [message for _, _, message in warnings] == told
    assert {level for level, _, _ in warnings} <= {"warning"}
    assert bool(told) == (expected == 3)
    if expected:
        assert err.strip() in first[2]
        assert err.strip() in result.get("message")


def test_a_pass_with_a_reservation_is_no_notice(tmp_path):
    """Accepted warnings are in the heading all the same."""
    path = written(tmp_path, 3)
    code, out, _ = call("audit", path, *COLUMNS, "--accept-warnings", "--annotations", "-")
    assert code == 0
    assert [level for level, _, _ in commands_in(out)] == ["warning", "warning"]


def test_a_fit(tmp_path):
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    pl.DataFrame({"sex": SEX, "x": x, "y": (x > 0).astype(int)}).write_csv(path)
    asked = ["--label", "y", "--protected", "sex", "--out", tmp_path / "m.skops", "--max-iter", 3,
             "--estimator", "linear-regression", "--gamma", 0.1]  # fmt: skip
    code, out, err = call("fit", path, *asked, "--junit", "-", "--annotations", tmp_path / "a")
    failed, case, _ = one_test(out)
    assert failed == RESULTS[code][0], err
    assert case.get("classname") == "gerrymend.fit"
    assert commands_in((tmp_path / "a").read_text())[0][0] in ("notice", "warning", "error")


def test_a_comparison(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    written(tmp_path, 0).rename(old)
    written(tmp_path, 1).rename(new)
    asked = [*COLUMNS[:6], *COLUMNS[8:], "--permutations", 39, "--subgroups", "marginals"]
    code, out, _ = call("compare", old, new, *asked, "--junit", "-")
    failed, case, result = one_test(out)
    assert (code, failed) == (1, (1, 0))
    assert case.get("name") == "new.csv: not worse than before"
    assert result.get("message").startswith("Worse than before. The largest unfairness of a")
    again = tmp_path / "again.csv"
    written(tmp_path, 0).rename(again)
    code, out, _ = call("compare", old, again, *asked, "--annotations", "-")
    assert (code, commands_in(out)[0][0]) == (0, "notice")


def test_a_watch_tells_of_its_alarm(tmp_path):
    """Women are never decided 1 in this stream: sooner or later that is no chance."""
    state = tmp_path / "watch.json"
    path = tmp_path / "batch.csv"
    told = []
    for batch in range(8):
        women = SEX == "F"
        decided = (np.random.default_rng(batch).random(N) < 0.8 * ~women).astype(int)
        pl.DataFrame({"sex": SEX, "d": decided}).write_csv(path)
        asked = ["--prediction", "d", "--protected", "sex", "--notion", "statistical_parity",
                 "--subgroups", "marginals", "--at", batch]  # fmt: skip
        files = ["--junit", "-", "--annotations", tmp_path / "a"]
        code, out, err = call("watch", state, path, *asked, *files)
        assert code in (0, 1), err
        failed, case, _ = one_test(out)
        assert case.get("name") == "watch.json: no alarm"
        assert failed == RESULTS[code][0]
        ((level, title, words),) = commands_in((tmp_path / "a").read_text())
        assert level == RESULTS[code][2]
        assert title == f"gerrymend watch: {'Alarm' if code else 'No alarm'}"
        told.append((code, "Most against sex = " in words))
    assert told[0] == (0, False)
    assert told[-1] == (1, True)
    same = call("watch", state, path, "--prediction", "d", "--protected", "sex", "--junit", state)
    assert same[0] == 2
    assert "--junit" in same[2]


def test_impact_ratios_tell_of_their_gate_where_there_is_one(tmp_path):
    path = written(tmp_path, 1)
    asked = ["--selected", "d", "--protected", "sex", "--no-search"]
    code, out, err = call("impact", path, *asked, "--junit", "-")
    assert (code, out) == (2, "")
    assert err.startswith("--junit and --annotations tell of a gate, and there is none; say below")
    for below, expected in ((0.8, 1), (0.4, 0)):
        code, out, _ = call("impact", path, *asked, "--fail-below", below, "--junit", "-",
                            "--annotations", tmp_path / "a")  # fmt: skip
        failed, case, _ = one_test(out)
        assert (code, failed) == (expected, RESULTS[expected][0])
        assert case.get("name") == f"people.csv: no group has a ratio below {below}"
        assert commands_in((tmp_path / "a").read_text())[0][0] == RESULTS[expected][2]


def test_bad_targets_are_refused_and_old_files_removed(tmp_path):
    path = written(tmp_path, 0)
    code, _, err = call("audit", path, *COLUMNS, "--json", "-", "--annotations", "-")
    assert code == 2
    assert err == "--json - and --annotations - exclude each other; name a file for one.\n"
    same = tmp_path / "one"
    code, _, err = call("audit", path, *COLUMNS, "--junit", same, "--annotations", same)
    assert code == 2
    assert "--annotations" in err
    assert "is read, or written, by this command already" in err
    (tmp_path / "j.xml").write_text("of yesterday")
    code, _, err = call("audit", path, *COLUMNS, "--gamma", -1, "--junit", tmp_path / "j.xml")
    assert code == 2
    assert not (tmp_path / "j.xml").exists()
    assert "is removed" in err


@pytest.mark.parametrize(
    "string", [*STRINGS, "\ufffe\uffff", "a\r\n::error::b", "%0A::error::", "]]>"]
)
def test_hostile_text_stays_text(string):
    outcome = Outcome("audit", string, 1, string, False, string, (string,), (string,), string)
    text = junit_xml(outcome)
    _, case, result = one_test(text)
    assert not LIVE.search(text.replace("\n", ""))
    told = commands_in(annotation_lines(outcome))
    assert [level for level, _, _ in told] == ["error", "warning"]
    assert not LIVE.search("".join(part for one in told for part in one).replace("\n", ""))
    # What no terminal and no reader of XML acts on is as it was.
    if not LIVE.search(string.replace("\n", "")) and "\ufffe" not in string:
        assert result.text == string
        assert case.get("name") == " ".join(string.split())
        assert told[1][2] == string
        assert told[0][1] == f"gerrymend audit: {string}"


def test_hostile_names_in_a_file(tmp_path):
    names = ["::error::x", "a\n::warning::b", "%0A::error::y", "##[error]z", "<&\"'>"]
    rng = np.random.default_rng(0)
    values = rng.choice(names, N)
    pl.DataFrame(
        {"::set-output name=x::y": values, "y": I % 2, "d": (values == names[1]).astype(int)}
    ).write_parquet(tmp_path / "r.parquet")
    code, out, _ = call(
        "audit", tmp_path / "r.parquet", "--label", "y", "--prediction", "d", "--protected",
        "::set-output name=x::y", "--permutations", 0, "--annotations", "-", "--junit",
        tmp_path / "j.xml",
    )  # fmt: skip
    assert code == 1
    assert {level for level, _, _ in commands_in(out)} <= {"error", "warning"}
    assert commands_in(out)[0][0] == "error"
    one_test((tmp_path / "j.xml").read_text())
