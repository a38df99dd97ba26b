"""`gerrymend audit`: the same report as audit()'s, exit codes, and what bad input gets."""

import itertools
import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from gerrymend import LinearThresholds, audit
from gerrymend.cli import audit as cli_audit
from gerrymend.cli import demo
from gerrymend.cli import main as cli_main
from gerrymend.cli import shared as cli_parts
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.reporting import page as reporting_page
from gerrymend.reporting.text import wrapped
from gerrymend.subgroups import Conjunctions, Trees, ValueSets
from tests.cli.calling import examples_of

DECIDED = ["--label", "y", "--prediction", "decided"]
UNTESTED = ["--permutations", "0"]
ARGUMENTS = [*DECIDED, "--protected", "race,sex,age", *UNTESTED]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    n = 300
    frame = pl.DataFrame(
        {
            "race": rng.choice(["blue", "green", "[red]"], n),
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(18, 70, n),
            "y": rng.integers(0, 2, n),
            "score": rng.random(n).round(3),
            "weight": rng.integers(1, 4, n),
        }
    )
    return frame.with_columns(
        decided=(pl.col("score") > 0.5).cast(int),
        word=pl.when(pl.col("y") == 1).then(pl.lit("yes")).otherwise(pl.lit("no")),
    )


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    people.write_csv(folder / "people.csv")
    people.write_csv(folder / "semicolons.csv", separator=";")
    people.write_csv(folder / "tabs.txt", separator="\t", include_bom=True)
    people.write_parquet(folder / "people.parquet")
    counts = people.group_by("race", "sex", "age", "y", "decided").len("n")
    counts.write_csv(folder / "counts.csv")
    return folder


def call(*arguments):
    """The command, in this process: its exit code, standard output and standard error."""
    app = typer.Typer()
    app.callback()(lambda: None)
    cli_audit.add_to(app)
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["audit", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def as_json(people, **how):
    usual = {"sensitive_features": ["race", "sex", "age"], "top": 3, "n_permutations": 0}
    report = audit("y", how.pop("y_pred", "decided"), data=people, **usual | how)
    return json.loads(json.dumps(report.to_dict()))


@pytest.mark.parametrize("name", ["people.csv", "semicolons.csv", "tabs.txt", "people.parquet"])
def test_the_report_is_that_of_the_rows(people, folder, name):
    code, out, err = call(folder / name, *ARGUMENTS, "--subgroups", "marginals", "--json", "-")
    report = json.loads(out, parse_constant=pytest.fail)
    assert report == as_json(people, subgroups="marginals")
    assert (code, err) == (1, "Exit code 1: a subgroup exceeds gamma.\n")


def test_the_report_of_counts(people, folder):
    code, out, _ = call(folder / "counts.csv", *ARGUMENTS, "--counts", "n", "--json", "-",
                        "--notion", "equalized_odds,error_rate")  # fmt: skip
    notion = ("equalized_odds", "error_rate")
    assert json.loads(out) == as_json(people, notion=notion)
    assert code == 1


WAYS = [
    (["--score", "score", "--threshold", "0.7"], {"y_pred": "score", "threshold": 0.7}),
    (["--score", "score"], {"y_pred": "score", "threshold": 0.5}),
    (["--probability", "score"], {"y_pred": "score", "decision_probabilities": True}),
    (["--prediction", "decided", "--weight", "weight"], {"sample_weight": "weight"}),
    (["--prediction", "decided", "--positive", "0"], {"pos_label": 0}),
    (["--prediction", "decided", "--min-group-size", "40"], {"min_group_size": 40}),
    (["--prediction", "decided", "--top", "1", "--seed", "5"],
     {"top": 1, "random_state": 5, "subgroups": LinearThresholds(random_state=5)}),
    (["--prediction", "decided", "--test-size", "0.4"], {"test_size": 0.4}),
    (["--prediction", "decided", "--permutations", "19", "--subgroups", "marginals", "--jobs", "2"],
     {"n_permutations": 19, "subgroups": "marginals"}),
    (["--prediction", "decided", "--weight", "weight", "--confidence", "0.9", "--resamples", "29",
      "--subgroups", "marginals"],
     {"sample_weight": "weight", "confidence": 0.9, "n_resamples": 29, "subgroups": "marginals"}),
    (["--prediction", "score", "--notion", "mean_outcome", "--permutations", "19", "--test-size",
      "0.4", "--subgroups", "marginals"],
     {"y_pred": "score", "notion": "mean_outcome", "n_permutations": 19, "test_size": 0.4,
      "subgroups": "marginals"}),
    (["--prediction", "decided", "--subgroups", "marginals", "--discovery-rate", "0.2"],
     {"discovery_rate": 0.2, "subgroups": "marginals"}),
    (["--prediction", "decided", "--subgroups", "conjunctions", "--depth", "3"],
     {"subgroups": Conjunctions(max_depth=3)}),
    (["--prediction", "decided", "--subgroups", "value_sets", "--depth", "1"],
     {"subgroups": ValueSets(max_depth=1)}),
    (["--prediction", "decided", "--subgroups", "trees", "--depth", "1"],
     {"subgroups": Trees(max_depth=1)}),
    (
        ["--prediction", "decided", "--notion", "error_rate", "--notion", "false_negative_rate"],
        {"notion": ("error_rate", "false_negative_rate")},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "how"), WAYS)
def test_options_are_arguments(people, folder, options, how):
    protected = ["--protected", "race", "--protected", "sex,age"]
    with joblib.parallel_config(backend="threading"):  # of --jobs: it takes no process to start
        _, out, _ = call(folder / "people.csv", "--label", "y", *protected, *UNTESTED, *options,
                         "--json", "-", "--gamma", "0.02")  # fmt: skip
    assert json.loads(out) == as_json(people, gamma=0.02, **how)


TEXT = ["--label", "word", "--score", "score", "--protected", "race,age", "--subgroups",
        "marginals"]  # fmt: skip


def test_the_text_for_people(folder):
    code, out, err = call(folder / "people.csv", *TEXT, "--permutations", 19, "--test-size", 0.3)
    assert code == 1
    assert err == "Exit code 1: a subgroup exceeds gamma.\n"
    assert out.lstrip().startswith("More unfair than allowed, which could be")
    assert max(map(len, out.splitlines())) <= 80
    one_line = " ".join(out.split())
    for words in ("and 0.01 is allowed", "May be chance", "false positive rate", " points, ",
                  "Exact: none has more. Proven over", "(p = ", "(19 permutations)",
                  "not “none exceeds what is", "Verdict exceeds gamma; gamma is 0.01",
                  "On 90 rows that were not searched", "with 95 % confidence", "Audited 210 rows",
                  "word = yes is the positive label",
                  "positive are rows with score ≥ 0.5"):  # fmt: skip
        assert words in one_line
    _, out, _ = call(folder / "people.csv", *TEXT, *UNTESTED, "--gamma", 0.1)
    assert "Within what is allowed\nProven: on these 300 rows the largest unfairness of any" in out
    assert "p-value" not in out


def test_few_permutations_and_small_groups_are_told(folder):
    _, out, _ = call(folder / "people.csv", *TEXT, "--permutations", 5, "--min-group-size", 100)
    assert "5 permutations are too few for p = 0.05; 19 are enough" in " ".join(out.split())
    words = " ".join(out.split())
    assert "A subgroup that is too small or told by values too rare to be described has an" in words
    assert "has fewer than 100 negatives inside, or outside, or is told by values that few" in words


def test_a_second_file_is_measured_on(people, folder):
    _, out, _ = call(folder / "people.csv", *ARGUMENTS, "--holdout", folder / "people.parquet",
                     "--subgroups", "marginals", "--json", "-")  # fmt: skip
    report = json.loads(out)
    assert report == as_json(people, subgroups="marginals", holdout=people)
    assert report["held_out"]["subgroup"]["rate"] == report["worst"]["rate"]


def test_permutations_are_counted_on_a_terminal(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, _, err = call(folder / "people.csv", *TEXT, "--permutations", 19)
    assert "19/19\x1b[0m permutations" in err


def test_permutations_that_time_was_up_for_are_told(folder, monkeypatch):
    # A clock that goes on by a second each time it is read, so that no busy machine can matter.
    monkeypatch.setattr(time, "monotonic", itertools.count(0.0, 1.0).__next__)
    _, out, _ = call(folder / "people.csv", *TEXT, "--permutations", 10**9, "--budget", "1000")
    assert "of 1,000,000,000, all that --budget had time for" in " ".join(out.split())


@pytest.mark.parametrize("width", [30, 48, 80])
def test_long_rules_break_before_a_sign(width):
    terms = [f"0.{i}5·attribute_{i}" for i in range(10)]
    text = " − ".join(terms) + " ≥ 3"
    lines = wrapped(text, width)
    assert " ".join(lines) == text
    assert max(map(len, lines)) <= width
    assert all(line[0] in "−≥" for line in lines[1:])


def test_brackets_in_the_data_are_no_markup(tmp_path):
    path = tmp_path / "brackets.csv"
    pl.DataFrame(
        {"race": ["[red]", "[/b]"] * 20, "y": [0] * 39 + [1], "decided": [1, 0] * 20}
    ).write_csv(path)
    _, out, _ = call(path, *DECIDED, "--protected", "race", "--subgroups", "marginals")
    assert "race = [red]" in out or "race = [/b]" in out


def test_no_name_turns_the_text_around_it(tmp_path):
    path = tmp_path / "reversed.csv"
    race = ["live\u202e", "green"] * 20
    pl.DataFrame({"race": race, "y": [0] * 39 + [1], "decided": [1, 0] * 20}).write_csv(path)
    _, out, _ = call(path, *DECIDED, "--protected", "race", "--subgroups", "marginals")
    assert "race = live⟨U+202E⟩" in out
    assert "\u202e" not in out


def test_json_to_a_file_is_whole_or_not_there(people, folder, tmp_path):
    target = tmp_path / "report.json"
    code, out, _ = call(folder / "people.csv", *ARGUMENTS, "--json", target)
    assert code == 1
    assert "exceeds gamma" in out
    assert json.loads(target.read_text()) == as_json(people)
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]
    code, _, err = call(folder / "people.csv", *ARGUMENTS, "--json", tmp_path / "no" / "x.json")
    assert code == 2
    assert "can't be written" in err


def test_a_page_for_people(folder, tmp_path, monkeypatch):
    page = tmp_path / "audit.html"
    options = [folder / "people.csv", *ARGUMENTS, "--subgroups", "marginals"]
    code, out, _ = call(*options, "--report", page, "--features", "age,city")
    assert code == 1
    assert f"The report is in {page}" in " ".join(out.split())
    assert "the model decides by age" in page.read_text()
    _, out, err = call(*options, "--report", page, "--json", "-")
    assert json.loads(out)["protected_used"] is None
    assert f"The report is in {page}" in err
    monkeypatch.setattr(cli_parts, "check_installed", no_jinja2)
    monkeypatch.setattr(AuditRequest, "audit", None)  # nothing is audited before it is known
    for target, message in [
        (page, "HTML reports need jinja2, .* pip install 'gerrymend.report.'"),
        ("-", "--report - is no file; name one"),
        (tmp_path, "--report .* can't be written"),
        ("/dev/null", "--report /dev/null can't be written"),
        (folder / "people.csv", "by this command already; name another file"),
    ]:
        code, out, err = call(*options, "--report", target)
        assert (code, out) == (2, "")
        assert_says(err, message)


def no_jinja2(*_):
    raise reporting_page._missing("jinja2")


def test_columns_and_separators(tmp_path):
    """A comma in a column's name, a text for missing values, a separator that is given."""
    path = tmp_path / "odd.csv"
    path.write_text('race~y~"d, 1"\n' + "NA~0~1\ngreen~0~0\ngreen~1~0\n" * 10)
    options = ["--label", "y", "--prediction", "d, 1", "--separator", "~", "--json", "-", *UNTESTED]
    _, out, _ = call(path, *options, "--protected", "race", "--missing", "NA")
    assert json.loads(out)["worst"]["subgroup"] == "race = (missing)"
    _, out, _ = call(path, *options, "--protected", "race", "--protected", "d, 1")
    assert json.loads(out)["n_rows"] == 30


WARNED = (
    "Exit code 3: the report warns of what it was given; --accept-warnings lets the verdict "
    "decide.\n"
)


def test_an_identifier_is_warned_of_and_standard_output_stays_clean(people, folder, tmp_path):
    path = tmp_path / "ids.parquet"
    people.with_row_index("id").write_parquet(path)
    code, out, err = call(path, *DECIDED, "--protected", "id,race", "--json", "-", "--subgroups",
                          "marginals", "--gamma", "0.1")  # fmt: skip
    assert (code, err) == (3, WARNED)
    assert "The protected attribute id has nearly as many values" in out
    assert json.loads(out)["warnings"][0]["code"] == "nearly_unique_attribute"
    # As it says: left out, or in ranges, it is no longer warned of.
    for remedy in (["race"], ["id,race", "--ranges", "id=150"]):
        code, out, err = call(path, *DECIDED, "--protected", *remedy, "--json", "-", "--subgroups",
                              "marginals", "--gamma", "0.1")  # fmt: skip
        assert (code, json.loads(out)["warnings"]) == (0, []), err


FILES = {
    "folder": None,
    "empty.csv": b"",
    "blank.csv": b" \n\n",
    "junk.csv": bytes(range(256)) * 40,
    "broken.parquet": b"PAR1 and then nothing",
    "twice.csv": b"race,y,decided,race\nb,0,1,g\n",
    "long.csv": b"race,y,decided\nb,0,1\ng,1,0,7\n",
    "header.csv": b"race,y,decided\n",
    "three.csv": b"race,y,decided\n" + b"b,0,1\ng,1,0\nb,2,1\n" * 5,
    "words.csv": b"race,y,decided\n" + b"b,yes,1\ng,no,0\n" * 5,
    "gaps.csv": b"race,y,decided,p,age\n" + b"b,,1,0.5,\ng,1,,2.5,30\nb,0,1,0,40\n" * 5,
    "report.json": b'{\n  "warnings": [],\n  "verdict": "exceeds gamma",\n  "gamma": 0.01\n}\n',
    "pretty.json": b'{\n  "rows": 5\n}\n',
    "page.html": b"\n<!doctype html>\n<html>\n",
    "granted.csv": b"race,y,decided\n" + b"b,1,yes\ng,0,no\n" * 5,
    "good.csv": b"race,y,decided,p,n,age\n" + b"b,0,1,0.5,3,\ng,1,0,2.5,4,30\nb,0,0,-1,1,40\n" * 5,
}
BAD = [
    ("nowhere.csv", [], "FILE .*nowhere.csv does not exist"),
    ("goood.csv", [], r"does not exist \(did you mean 'good.csv'\?\)"),
    ("folder", [], "is a folder; name a CSV or Parquet file"),
    ("empty.csv", [], "is empty; a table has a header and rows"),
    ("blank.csv", [], "is empty"),
    ("junk.csv", [], "is no table: it is neither CSV, Parquet, JSON lines nor xlsx"),
    ("broken.parquet", [], "can't be read as a table"),
    ("report.json", [], "is a report of gerrymend, and no table; name the file with the rows"),
    ("pretty.json", [], "is one JSON object over several lines, and no table"),
    ("page.html", [], "is an HTML page, and no table; name the file with the rows"),
    ("granted.csv", [], r"no label: 'no', 'yes' \(labels: 0, 1\)\. These are words, and labels are "
     r"numbers; recode them: 1 for the positive decision and 0 for the other\.$"),
    ("twice.csv", [], "has more than one column named 'race'"),
    ("long.csv", [], "can't be read as a table: line 3 has 4 fields"),
    ("header.csv", [], "--label y is empty: it has no rows"),
    ("three.csv", ["--positive", "3"], "--positive=3 is no label of --label y; its labels are"),
    ("words.csv", [], r"--prediction decided has values that are no label: 0, 1 \(labels: 'no'"),
    ("gaps.csv", [], r"--label y has 5 missing values; .* \(the first is row 1 of 15\)"),
    ("gaps.csv", ["--label", "race"], r"--prediction decided has 5 .* \(the first is row 2 of"),
    ("good.csv", ["--label", "yy"], r"--label='yy' is no column of .* \(did you mean 'y'\?\)\. It"),
    ("good.csv", ["--protected", "race,sx"], "--protected='sx' is no column .* It has: race, y,"),
    ("good.csv", ["--protected", "race,race"], "--protected names the column 'race' more"),
    ("good.csv", ["--protected", "age"], "Column 'age' of --protected is numeric and has missing"),
    ("good.csv", ["--prediction", "p"], "--prediction p has values that are no label: .*--score"),
    ("good.csv", ["--weight", "race"], "--weight race must be numbers; got "),
    ("good.csv", ["--weight", "p"], "--weight p has negative values .the smallest is -1"),
    ("good.csv", ["--weight", "n", "--counts", "n"], "--weight and --counts exclude each other"),
    ("good.csv", ["--counts", "p"], "--counts p must be whole numbers of rows, .* got 0.5"),
    ("good.csv", ["--score", "p"], "says what the model decided; got --prediction and --score"),
    ("good.csv", ["--threshold", "0.5"], "--threshold 0.5 cuts scores, and --prediction has none"),
    ("good.csv", ["--gamma", "-0.1"], "--gamma must be a number of at least 0; got -0.1"),
    ("good.csv", ["--budget", "0"], "--budget must be a number above 0; got 0.*It is in seconds"),
    ("good.csv", ["--min-group-size", "0"], "--min-group-size must be a number of at least 1"),
    ("good.csv", ["--notion", "fpr"], "--notion='fpr' is unknown. Choose from false_positive_rate"),
    ("good.csv", ["--subgroups", "lineer"], "--subgroups='lineer' is unknown .did you mean"),
    ("good.csv", ["--subgroups", "marginals", "--depth", "2"], "--depth 2 is not for --sub"),
    ("good.csv", ["--subgroups", "trees", "--depth", "0"], "--depth must be .* got 0"),
    ("good.csv", ["--top", "0"], "--top must be a number of at least 1; got 0"),
    ("good.csv", ["--permutations", "-1"], "--permutations must be a number of at least 0; got -1"),
    ("good.csv", ["--confidence", "95"], "--confidence must be below 1; got 95.0. 0.95 for 95 %"),
    ("good.csv", ["--confidence", ".99", "--resamples", "9"], "--resamples must be at least 99 f"),
    ("good.csv", ["--discovery-rate", "0"], "--discovery-rate must be a number above 0; got 0"),
    ("good.csv", ["--test-size", "1.5"], "--test-size must be .* got 1.5"),
    ("good.csv", ["--holdout", "x.csv", "--test-size", "0.5"], "--holdout and --test-size exclude"),
    ("good.csv", ["--holdout", "x.csv", "--counts", "n"], "--holdout and --counts exclude"),
    ("good.csv", ["--holdout", "nowhere.csv"], "FILE nowhere.csv does not exist"),
    ("good.csv", ["--positive", "7"], "--positive=7 is no label of --label y; its labels are 0, 1"),
    ("good.csv", ["--separator", ",,"], "--separator must be one character, or tab; got ',,'"),
    ("good.csv", ["--json", "."], "--json . can't be written"),
]  # fmt: skip


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).mkdir() if content is None else (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(("name", "options", "message"), BAD)
def test_bad_calls_and_files_exit_with_2(bad_files, name, options, message):
    given = {"--label": "y", "--prediction": "decided", "--protected": "race"}
    given |= dict(zip(options[::2], options[1::2], strict=True))
    arguments = [word for pair in given.items() for word in pair]
    code, out, err = call(bad_files / name, *arguments)
    assert (code, out) == (2, "")
    assert_says(err, message)


def assert_says(err, message):
    with pytest.raises(ValueError, match=message):
        raise ValueError(err)
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_probabilities_lie_between_0_and_1(bad_files):
    code, _, err = call(bad_files / "good.csv", "--label", "y", "--probability", "p",
                        "--protected", "race")  # fmt: skip
    assert code == 2
    assert_says(err, r"--probability p ranges from -1 to 2.5; with --probability it must lie in")
    code, _, err = call(bad_files / "good.csv", "--label", "y", "--protected", "race")
    assert code == 2
    assert_says(err, "says what the model decided; got none of them")


def test_without_polars_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    code, _, err = call(folder / "people.csv", *ARGUMENTS)
    assert (code, err) == (
        2,
        "Reading a file needs polars, which is not installed: pip install 'gerrymend[cli]'\n",
    )


def test_an_interruption_exits_with_130(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(AuditRequest, "audit", interrupted)
    code, out, err = call(folder / "people.csv", *ARGUMENTS)
    assert (code, out, err) == (130, "", "Interrupted.\n")


def test_an_interruption_of_the_imports_exits_with_130(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli_main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "Interrupted.\n")


class Panic(BaseException):
    """As compiled packages raise them: no Exception."""


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, EOFError, Panic])
def test_an_error_that_nobody_caught_is_no_verdict(folder, monkeypatch, capsys, kind):
    """Python's own exit code would be 1, which says that a subgroup exceeds gamma."""

    def fails(*_):
        raise kind("lost")

    monkeypatch.setattr(AuditRequest, "audit", fails)
    command = ["gerrymend", "audit", str(folder / "people.csv"), *ARGUMENTS]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        cli_main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    if kind is EOFError:  # of a file that was cut off
        assert err == "lost\n"
    else:
        assert err.startswith("Traceback (most recent call last):")
        assert f"{kind.__name__}: lost" in err
        assert err.endswith("Please report it with the lines above.\n")


def test_what_cannot_be_proven_is_noted_before_and_said_after(tmp_path):
    rng = np.random.default_rng(0)
    numbers = {f"x{j}": rng.standard_normal(200) for j in range(9)}
    labels = {"y": rng.integers(0, 2, 200), "decided": rng.integers(0, 2, 200)}
    pl.DataFrame(numbers | labels).write_csv(tmp_path / "numbers.csv")
    names = ["--protected", ",".join(numbers), "--budget", "0.1", "--gamma", "0.1"]
    code, out, err = call(tmp_path / "numbers.csv", *DECIDED, *names, *UNTESTED)
    assert code == 3
    assert err.count("Note: No bound will be proven: linear thresholds of these attributes") == 1
    assert "No bound was proven over every linear threshold" in " ".join(out.split())


def test_the_installed_command_has_its_code_also_where_nobody_reads(people, tmp_path):
    """Codes are told apart in this process, above; of one it is seen that it is passed on."""
    command = Path(sys.executable).with_name("gerrymend")
    if not command.exists():
        pytest.skip("gerrymend is not installed beside this Python")
    people.with_row_index("id").write_parquet(tmp_path / "ids.parquet")
    words = [command, "audit", tmp_path / "ids.parquet", *DECIDED, "--protected", "id,race",
             "--subgroups", "marginals", "--gamma", "0.1", *UNTESTED]  # fmt: skip
    piped = f"set -o pipefail; {shlex.join(map(str, words))} | true"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, WARNED)


def test_a_gamma_below_0_is_an_error_of_usage(folder):
    code, out, err = call(folder / "people.csv", *ARGUMENTS, "--gamma", "-1")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_the_example_in_the_help_can_be_pasted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made, audited = examples_of("audit")
    assert made == ["gerrymend", "demo", "--save", "people.csv"]
    demo.save_rows(tmp_path / "people.csv", 400, seed=0)
    code, out, _ = call(*audited[2:])
    assert code == 1
    assert "400" in out


TELLS_WHEN_IT_PROVES = """
import sys, threading, time
from gerrymend.cli import main

def tell():
    names = set()
    while "prove" not in names:
        time.sleep(0.001)
        frame, names = sys._current_frames()[threading.main_thread().ident], set()
        while frame:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
    print("proving", flush=True)

threading.Thread(target=tell, daemon=True).start()
main()
"""


def test_an_interrupt_in_compiled_code_is_no_verdict(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(8)]
    rows = {name: rng.standard_normal(800) for name in names}
    rows |= {"y": rng.integers(0, 2, 800), "d": rng.integers(0, 2, 800)}
    big = tmp_path / "big.csv"
    pl.DataFrame(rows).write_csv(big)
    telling = [sys.executable, "-c", TELLS_WHEN_IT_PROVES, "audit", str(big), "--label", "y",
               "--prediction", "d", "--protected", ",".join(names), "--budget", "300"]  # fmt: skip
    with subprocess.Popen(telling, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"proving\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said.decode().strip()) == (130, "Interrupted.")


def test_the_disadvantaged_side_decides_the_exit_code(tmp_path):
    """Some are always decided yes, and nobody is much less often than others."""
    rows = ["race,y,decided", *["a,no,yes"] * 40, *["b,no,yes", "b,no,no"] * 80,
            *["c,no,yes", "c,no,no"] * 80, *["c,yes,yes"] * 20]  # fmt: skip
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(rows))
    usual = [file, *DECIDED, "--protected", "race", "--subgroups", "marginals", *UNTESTED,
             "--gamma", "0.03"]  # fmt: skip
    assert call(*usual)[0] == 1
    code, out, _ = call(*usual, "--favourable", "negative", "--side", "disadvantaged")
    assert code == 1
    assert "The subgroup treated worst is race = a" in " ".join(out.split())
    code, out, _ = call(*usual, "--favourable", "positive", "--side", "disadvantaged")
    assert code == 0
    assert "race = a" not in out
    assert "y = yes is the positive label" in out
    _, out, _ = call(*usual, "--positive", "no", "--favourable", "positive")
    assert "y = no is the positive label" in out
    code, _, err = call(*usual, "--side", "disadvantaged")
    assert code == 2
    assert "--favourable" in err
