"""What commands advise can be done: every option that is named is one of that command."""

import ast
import html
import importlib.util
import io
import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer
from rich.console import Console

import gerrymend
from gerrymend.cli import main
from gerrymend.cli.app import application
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.demo import save_rows
from gerrymend.cli.refit import untrainable_columns
from gerrymend.cli.shared import tell
from tests.cli.calling import call, options_of

COMMANDS = ("audit", "fit", "frontier", "predict")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SOURCE = Path(gerrymend.__file__).parent


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 240
    race = rng.choice(["blue", "green"], n)
    x = rng.standard_normal(n)
    y = (rng.random(n) < 0.3 + 0.4 * (x > 0)).astype(int)
    d = (rng.random(n) < 0.3 + 0.3 * (race == "blue")).astype(int)
    path = tmp_path_factory.mktemp("advice") / "people.csv"
    pl.DataFrame({"race": race, "x": x, "y": y, "d": d}).write_csv(path)
    return path


def named_in(text, command):
    """Options in a text; those in a whole command line are that command's."""
    lines = re.findall(r"gerrymend (\w+)((?: (?!gerrymend )[^\s<]+)*)", text)
    for other, rest in lines:
        if other in COMMANDS and other != command:
            assert set(OPTION.findall(rest)) <= options_of(other), rest
            text = text.replace(rest, "")
    return set(OPTION.findall(text))


CALLS = {
    "audit": ["--prediction", "d", "--gamma", "0.001"],
    "audit, undecided": ["--prediction", "d", "--gamma", "0.05", "--budget", "0.000001",
                         "--protected", "x"],
    "audit, held out": ["--prediction", "d", "--test-size", "0.5"],
    "fit": ["--gamma", "0", "--max-iter", "1"],
    "fit, certified": ["--gamma", "0", "--max-iter", "2", "--certify", "--budget", "0.01"],
    "fit, tested": ["--gamma", "0.1", "--max-iter", "1", "--test-size", "0.3"],
    "frontier": ["--gammas", "0,0.01", "--max-iter", "1"],
    "frontier, tested": ["--gammas", "0,0.3", "--max-iter", "1", "--test-size", "0.3"],
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_what_is_said_names_options_of_the_command(file, tmp_path, case):
    command = case.partition(",")[0]
    page = tmp_path / "page.html"
    options = ["--label", "y", "--protected", "race", "--report", page, *CALLS[case]]
    if command != "audit":
        options += ["--estimator", "linear-regression"]
    if command == "fit":
        options += ["--out", tmp_path / "m.skops"]
    if command == "frontier":
        options += ["--no-marginal"]
    code, out, err = call(command, file, *options)
    assert code in (0, 1, 3), err
    shown = page.read_text().partition("<main")[2].partition("<script")[0]
    for text in (out, err, shown.replace("&#39;", "'")):
        assert named_in(" ".join(text.split()), command) <= options_of(command)
    # Parameters of the library are no options.
    assert not re.search(r"[Rr]aise C\b|\btol\b|certify=", out + err)


def test_what_next_has_the_names_of_this_command_line(file, tmp_path, monkeypatch):
    """The commands are printed whole, and run as they are."""
    monkeypatch.chdir(file.parent)
    text = file.read_text().replace("blue", "").replace(",", ";")
    (file.parent / "my people.csv").write_text(text)
    options = ["--label", "y", "--prediction", "d", "--protected", "race,x", "--drop-missing",
               "--subgroups", "conjunctions", "--depth", "1", "--gamma", "0.001", "--separator",
               ";", "--accept-warnings"]  # fmt: skip
    page = tmp_path / "page.html"
    _, out, _ = call("audit", "my people.csv", *options, "--report", page)
    typed = out.partition("What next")[2].replace("\\\n", "")
    frontier, fit = (
        shlex.split(line)[1:] for line in typed.splitlines() if line.startswith("gerrymend ")
    )
    assert f"gerrymend {shlex.join(fit)}" in html.unescape(page.read_text())
    shared = ["my people.csv", "--label", "y", "--protected", "race,x"]
    assert frontier[:6] == ["frontier", *shared]
    assert fit[:6] == ["fit", *shared]
    assert {"--depth", "--separator", "--drop-missing"} <= set(frontier) & set(fit)
    assert frontier[frontier.index("--prediction") + 1] == fit[fit.index("--drop") + 1] == "d"
    quick = ["--max-iter", "1", "--estimator", "linear-regression"]
    assert call(*frontier, *quick, "--gammas", "0.1", "--no-marginal")[0] == 0
    code, _, err = call(*fit, *quick)
    assert code in (0, 1, 3), err


@pytest.mark.parametrize(("top", "told"), [(3, True), (1, False)])
def test_fewer_subgroups_than_were_asked_for_are_said_to_be_so(file, top, told):
    """Of two races one differs, and the other is the rest."""
    _, out, _ = call("audit", file, "--label", "y", "--prediction", "d", "--protected", "race",
                     "--subgroups", "marginals", "--permutations", "0", "--top", top)  # fmt: skip
    assert ("in none of the groups told no other has a tenth of" in " ".join(out.split())) == told


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_breaks_a_message_between_words_alone(terminal):
    """An error of one long line; a path is never broken, and a log has it whole."""
    path = f"/tmp/{'long' * 20}"
    words = f"Column 'age' of {path} has numbers that were read as text."
    shown = io.StringIO()
    tell(Console(file=shown, width=30, force_terminal=terminal, no_color=True), words)
    lines = shown.getvalue().splitlines()
    assert " ".join(lines) == words
    assert (len(lines) > 1) == terminal
    assert any(path in line for line in lines)
    assert all(len(line) <= 30 or " " not in line for line in lines if terminal)


def test_nothing_is_next_where_nothing_has_to_be_mended(file):
    code, out, _ = call("audit", file, "--label", "y", "--prediction", "d", "--protected", "race",
                        "--gamma", "0.1")  # fmt: skip
    assert (code, "What next" in out) == (0, False)


def all_options(command):
    """Return the options of a command, and of all commands below it."""
    names = {"--help"}
    for parameter in command.params:
        names |= {*parameter.opts, *parameter.secondary_opts}
    for part in getattr(command, "commands", {}).values():
        names |= all_options(part)
    return names


def texts_of(path):
    """Return every text in a module, and a template whole, but for variables of its style."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [re.sub(r"var\(--[\w-]+\)|(?<=[{; \x22])--[\w-]+(?=:)", "", text)]
    found = ast.walk(ast.parse(text))
    return [
        one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def test_every_option_in_the_source_is_one_of_some_command():
    """Whatever a message may say, in any module or template; scripts have no words of their own."""
    known = all_options(typer.main.get_command(application()))
    assert {"--data-home", "--no-marginal", "--save", "--version", "--dates"} <= known
    files = [path for kind in ("py", "html") for path in SOURCE.rglob(f"*.{kind}")]
    seen = set()
    # Which calls pip.
    for path in set(files) - {SOURCE / "datasets" / "_obtain.py"}:
        found = {option for text in texts_of(path) for option in OPTION.findall(text)}
        assert found <= known, (path, found - known)
        seen |= found
    assert {"--permutations", "--test-size", "--certify", "--accept-warnings"} <= seen


def test_every_option_in_the_documents_is_one_of_some_command():
    known = all_options(typer.main.get_command(application()))
    root = SOURCE.parents[1]
    for path in [root / "README.md", *(root / "docs").glob("*.md")]:
        # Options of others: pip's, git's and pytest's.
        lines = [line for line in path.read_text(encoding="utf-8").splitlines()
                 if not re.search(r"\b(pip|git|pytest|python -m|dask)\b", line)]  # fmt: skip
        found = set(OPTION.findall("\n".join(lines)))
        assert found <= known, (path, found - known)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_fits_80_columns(command):
    _, out, _ = call(command, "--help")
    assert max(map(len, out.splitlines())) <= 80
    for name in options_of(command):
        assert name in out


def run(*arguments, hidden=()):
    """The command line in a process of its own, without some packages."""
    code = f"import sys; sys.modules.update(dict.fromkeys({list(hidden)!r})); " \
        "from gerrymend.cli import main; main()"  # fmt: skip
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True,
                          text=True, check=False)  # fmt: skip


def test_the_version(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gerrymend", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out.split()[0], said.err) == (0, "gerrymend", "")


def test_the_command_line_as_a_module(monkeypatch, capsys):
    """Python's own exit code for a module that it can't run is 1: a gate's "exceeds gamma"."""
    monkeypatch.setattr(sys, "argv", ["gerrymend", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("gerrymend", run_name="__main__")
    assert (ended.value.code, capsys.readouterr().out.split()[0]) == (0, "gerrymend")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra_of_the_command_line_it_exits_with_2(package):
    done = run("audit", hidden=[package])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip().endswith("pip install 'gerrymend[cli]'")


MISSING = {
    "polars": ["audit", "FILE", "--label", "y", "--protected", "race", "--prediction", "d"],
    "jinja2": ["audit", "FILE", "--label", "y", "--protected", "race", "--prediction", "d",
               "--report", "OUT"],
    "skops": ["fit", "FILE", "--label", "y", "--protected", "race", "--out", "OUT"],
    "plotly": ["frontier", "FILE", "--label", "y", "--protected", "race", "--report", "OUT"],
}  # fmt: skip


@pytest.mark.parametrize("package", MISSING)
def test_a_missing_extra_exits_with_2(file, tmp_path, monkeypatch, package):
    monkeypatch.chdir(tmp_path)
    given = {"FILE": file, "OUT": tmp_path / "out.html"}
    command, *options = [given.get(word, word) for word in MISSING[package]]
    for module in (package, "skops.io") if package == "skops" else (package,):
        monkeypatch.setitem(sys.modules, module, None)
    if package in ("jinja2", "plotly"):
        find = importlib.util.find_spec
        monkeypatch.setattr("importlib.util.find_spec", lambda n: None if n == package else find(n))
    code, out, err = call(command, *options)
    assert (code, out) == (2, "")
    assert "pip install 'gerrymend[" in err
    assert not (tmp_path / "out.html").exists()


def test_what_saves_models_is_not_imported_before_there_is_one(file, tmp_path, monkeypatch):
    # skops walks all of scikit-learn, and with it imports torch: seconds.
    for module in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
        monkeypatch.delitem(sys.modules, module)
    options = ["--protected", "race", "--out", tmp_path / "m.skops"]
    code, _, err = call("fit", file, "--label", "Y", *options)
    assert (code, "--label" in err) == (2, True)
    assert "skops" not in sys.modules


def test_predictions_stand_beside_an_id(file, tmp_path):
    out = tmp_path / "m.skops"
    options = ["--label", "y", "--protected", "race", "--estimator", "linear-regression",
               "--max-iter", "2", "--drop", "d"]  # fmt: skip
    code, _, err = call("fit", file, *options, "--out", out, "--gamma", "0.1")
    assert code == 0, err
    rows = pl.read_csv(file).with_columns(id=pl.Series([f"p{i}" for i in range(240)]), n="x")
    rows.write_csv(tmp_path / "new.csv")
    plain, beside = tmp_path / "plain.csv", tmp_path / "beside.csv"
    assert call("predict", out, tmp_path / "new.csv", "--out", plain)[0] == 0
    code, said, _ = call("predict", out, tmp_path / "new.csv", "--out", beside, "--id", "id,race",
                         "--quiet")  # fmt: skip
    assert (code, said) == (0, "")
    written = pl.read_csv(beside)
    assert written.columns == ["id", "race", "prediction"]
    assert written["id"].to_list() == rows["id"].to_list()
    assert written["prediction"].equals(pl.read_csv(plain)["prediction"])
    code, _, err = call("predict", out, tmp_path / "new.csv", "--out", beside, "--id", "ids")
    assert code == 2
    assert "did you mean 'id'" in err


def test_a_model_trained_on_codes_reads_them_as_codes(tmp_path):
    """Whole numbers of a Parquet file too, which has types of its own."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"code": rng.integers(1, 5, 200), "x": rng.random(200),
                          "y": rng.integers(0, 2, 200)})  # fmt: skip
    frame.write_parquet(tmp_path / "p.parquet")
    options = ["--label", "y", "--protected", "code", "--estimator", "linear-regression",
               "--max-iter", "2", "--gamma", "0.1", "--categorical", "code",
               "--subgroups", "marginals"]  # fmt: skip
    model = tmp_path / "m.skops"
    code, _, err = call("fit", tmp_path / "p.parquet", *options, "--out", model)
    assert code == 0, err
    code, _, err = call("predict", model, tmp_path / "p.parquet", "--out", tmp_path / "o.csv")
    assert (code, err) == (0, "")


def test_a_page_names_the_file_and_no_folder_of_this_machine(file, tmp_path):
    """It goes to others; what the terminal says is there to be typed."""
    page = tmp_path / "page.html"
    _, out, _ = call("audit", file, "--label", "y", "--prediction", "d", "--protected", "race",
                     "--subgroups", "marginals", "--permutations", "0", "--gamma", "0.001",
                     "--report", page)  # fmt: skip
    shown = html.unescape(page.read_text())
    assert file.name in shown
    assert str(file.parent) not in shown
    assert str(file.parent) in "".join(out.split())


def test_page_and_markdown_begin_with_the_name_of_the_file_as_text(file, tmp_path):
    named = tmp_path / "<b>_of_[bank].csv"
    named.write_bytes(file.read_bytes())
    page, markdown = tmp_path / "page.html", tmp_path / "page.md"
    call("audit", named, "--label", "y", "--prediction", "d", "--protected", "race",
         "--subgroups", "marginals", "--permutations", "0",
         "--report", page, "--markdown", markdown)  # fmt: skip
    assert " rows of &lt;b&gt;_of_[bank].csv, " in page.read_text()
    assert "<b>_of" not in page.read_text()
    assert r" rows of \<b\>\_of\_\[bank\].csv, " in markdown.read_text()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_commands_that_are_printed_run_on_the_file_of_the_demonstration(
    tmp_path, monkeypatch, kind
):
    """Its ids tell rows apart, and its dates would be learnt by heart: both are dropped."""
    monkeypatch.chdir(tmp_path)
    save_rows(Path("people.csv"))
    people = pl.read_csv("people.csv", try_parse_dates=kind == "parquet")
    write = {"csv": people.write_csv, "parquet": people.write_parquet, "jsonl": people.write_ndjson}
    write[kind](f"people.{kind}")
    asked = ["--label", "repaid", "--prediction", "granted", "--protected", "race,sex"]
    asked += ["--notion", "false_negative_rate", "--permutations", "0"]
    code, out, err = call("audit", f"people.{kind}", *asked)
    assert code == 1, err
    joined = out.replace(" \\\n", " ")
    commands = [shlex.split(one) for one in joined.splitlines() if one.startswith("gerrymend ")]
    assert [words[1] for words in commands] == ["frontier", "fit"]
    for _, command, *words in commands:
        dropped = {words[i + 1] for i, word in enumerate(words) if word == "--drop"}
        assert dropped == ({"id", "applied", "granted"} if command == "fit" else {"id", "applied"})
        assert words[words.index("--test-size") + 1] == "0.3"
        quick = ["--estimator", "linear-regression", "--max-iter", "1", "--quiet"]
        code, _, err = call(command, *words, *quick)
        assert code in (0, 1, 3), err


def test_advice_on_a_file_is_no_reason_to_fail(tmp_path):
    """Codes and texts in one column of JSON lines are read where --categorical says so."""
    rng = np.random.default_rng(0)
    lines = [
        json.dumps({"id": f"p{i}", "code": i % 3 or "x", "y": i % 2, "d": int(i % 3 > 0)})
        for i in rng.permutation(300).tolist()
    ]
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(lines))
    asked = ["--label", "y", "--prediction", "d", "--protected", "code", "--permutations", "0"]
    code, out, err = call("audit", path, *asked, "--categorical", "code")
    assert code == 1, err
    assert out.count("--drop id") == 2
    request = AuditRequest(tmp_path / "gone.csv", "y", ["code"], prediction="d")
    assert untrainable_columns(request) == []
