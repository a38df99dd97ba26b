"""Cases of the command line: files and options, valid and hostile."""

import contextlib
import csv
import functools
import importlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import polars as pl
import rich.console
import typer
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from typer.testing import CliRunner

from tests.fuzz.oracle import Case, fault, told_errors
from tests.fuzz.samples import CLASSES, HOSTILE_WORDS, NOTIONS, Sample, make_sample, pick

COMMANDS = ("audit", "impact", "calibrate", "fit", "predict", "frontier", "compare", "watch",
            "data", "reproduce")  # fmt: skip

# What a shell can pass: words that are no numbers, and numbers that are out of range.
ODD_WORDS = ("", " ", "-1", "0", "1", "2", "nan", "inf", "-inf", "1e308", "1e-320", "1e17", "0.5",
             "x", "None", "true", "é", "[b]", "1,5", "0x10", "9" * 30, "-" + "9" * 30, "a,b", ",",
             "\t", "--", "-", "=1+1", "<script>", "label", "score", "%s", "{}")  # fmt: skip


@functools.cache
def application() -> typer.Typer:
    """Build the application as `gerrymend.cli.main` does."""
    app = typer.Typer(no_args_is_help=True, add_completion=False)
    app.callback()(lambda: None)
    for part in COMMANDS:
        importlib.import_module(f"gerrymend.cli.{part}").add_to(app)
    return app


def run_command(arguments: list[str]) -> Any:
    """Run a command in this process; returns its exit code, and asserts that it helps.

    It runs in a folder of its own: an odd word may be the name of a file to write.
    """
    with (
        tempfile.TemporaryDirectory() as here,
        contextlib.chdir(here),
        told_errors(rich.console.Console) as handled,
    ):
        done = CliRunner(env={"COLUMNS": "80"}).invoke(application(), arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    said = done.stdout + done.stderr
    wrong = [] if done.exit_code in (0, 1, 2, 3) else [f"exit code {done.exit_code}"]
    if "Traceback" in said:
        wrong.append("a traceback")
    if done.exit_code == 2:
        wrong += _refusal(done.stderr, handled)
    assert not wrong, f"{'; '.join(wrong)}: {arguments} said {said[:400]!r}"
    return done.exit_code


def _refusal(said: str, handled: list[BaseException]) -> list[str]:
    """Return what is wrong with how a command refused: its words, or where they came from."""
    if not said.strip():
        return ["exit code 2 without a word"]
    named = "--" in said or any(word in said for word in ("FILE", "MODEL", ".csv", ".txt",
                                ".parquet", ".skops", ".json", ".xlsx", "NAMES", "target",
                                "Usage"))  # fmt: skip
    wrong = [] if named else ["names no option"]
    for error in handled[-1:]:
        if not any(kind.__name__ == "ClickException" for kind in type(error).__mro__):
            wrong += [one for one in fault(error, [""]) if "can't be read" not in said]
    return wrong


# Files: a sample as a table, whole or damaged.
def _csv(sample: Sample, separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    columns = _columns(sample)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode("utf-8", "replace")


def _columns(sample: Sample) -> dict[str, list[Any]]:
    features = np.array(sample.features)
    return {
        **sample.attributes,
        "y": sample.labels,
        "decided": sample.decisions,
        "score": sample.probabilities,
        "w": sample.weights,
        "f": features[:, 0].tolist(),
        "n": [3] * len(sample),
    }


def _parquet(sample: Sample) -> bytes:
    content = io.BytesIO()
    pl.DataFrame(_columns(sample)).write_parquet(content)
    return content.getvalue()


def _json_lines(sample: Sample) -> bytes:
    """Return rows as JSON lines, in which values keep their types."""
    columns = _columns(sample)
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows).encode("utf-8", "replace")


def _workbook(sample: Sample) -> bytes:
    """Return rows as a workbook, in which values keep their types."""
    columns = _columns(sample)
    book = openpyxl.Workbook()
    for row in ([*columns], *zip(*columns.values(), strict=True)):
        # A workbook has no characters that control a terminal.
        book.active.append([ILLEGAL_CHARACTERS_RE.sub("", one) if isinstance(one, str) else one
                            for one in row])  # fmt: skip
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _mixed(rng: np.random.Generator, sample: Sample) -> Sample:
    """Return a sample of which a column mixes types, or has what a file should not."""
    if rng.random() < 0.5:
        return sample
    name = pick(rng, sample.attributes)
    values = [*sample.attributes[name]]
    odd = (str(values[-1]), None, True, 3, "3", 0.5, float("nan"), float("inf"), 2**53 + 1,
           10**30, "n/a", "", "2020-01-01")  # fmt: skip
    for place in range(0, len(values), int(rng.integers(1, len(values) + 1))):
        values[place] = pick(rng, odd)
    return replace(sample, attributes={**sample.attributes, name: values})


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _scratched(content: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    return content[:at] + rng.bytes(3) + content[at + 3 :]


Damage = Callable[[bytes, np.random.Generator], bytes]
DAMAGES: tuple[Damage, ...] = (
    lambda content, _: content,
    lambda content, _: content,
    lambda content, _: content,
    lambda content, _: b"\xef\xbb\xbf" + content,
    lambda content, _: content.replace(b"\r\n", b"\n"),
    lambda content, _: content.replace(b"\r\n", b"\r"),
    lambda content, _: content.decode().encode("utf-16"),
    lambda content, _: content.decode().encode("latin-1", "replace"),
    lambda content, _: content.replace(b"0", b"\x00"),
    lambda content, _: content + b"1,2\r\n",
    lambda content, _: content + b",".join([b"1"] * 30) + b"\r\n",
    lambda content, _: content + b'"open quote\r\n',
    lambda content, _: content.replace(b",y,", b",decided,"),
    lambda content, _: content.split(b"\r\n")[0],
    lambda content, _: b"",
    lambda content, _: b"\r\n\r\n",
    lambda content, _: content.replace(b"1", b"NA"),
    lambda content, _: content.replace(b"1", b""),
    lambda content, _: content.replace(b"1", b"9007199254740993"),
    lambda content, _: content.replace(b".", b","),
    lambda content, rng: rng.bytes(300),
    _cut,
    _scratched,
)


def _write(rng: np.random.Generator, sample: Sample, folder: Path) -> Path:
    """Write a sample as a file of some kind, perhaps a damaged one."""
    kind = rng.random()
    whole_or_cut = (lambda content, _: content, lambda content, _: content, _cut, _scratched)
    if kind < 0.2:
        path = folder / "rows.parquet"
        content = _parquet(sample)
        damage: Damage = pick(rng, whole_or_cut)
    elif kind < 0.45:
        make, name = pick(rng, ((_json_lines, "rows.jsonl"), (_workbook, "rows.xlsx")))
        path = folder / name
        content = make(_mixed(rng, sample))
        damage = pick(rng, whole_or_cut)
    else:
        path = folder / pick(rng, ("rows.csv", "rows.csv", "rows.txt", "[b]x.csv", "é.csv"))
        content = _csv(sample, pick(rng, ",,,;\t|"))
        damage = pick(rng, DAMAGES)
    path.write_bytes(damage(content, rng))
    return path


def _changed(rng: np.random.Generator, options: dict[str, Any]) -> list[str]:
    """The options as arguments, with an odd word in one of them, or without one, or one twice."""
    chosen = dict(options)
    extra: list[str] = []
    if rng.random() < 0.6:
        name = pick(rng, chosen)
        match int(rng.integers(4)):
            case 0:
                chosen.pop(name)
            case 1:
                extra = [name, pick(rng, ODD_WORDS)]
            case _:
                chosen[name] = pick(rng, (*ODD_WORDS, *ODD_WORDS, *HOSTILE_WORDS[:20]))
    return [part for item in chosen.items() for part in map(str, item)] + extra


def _command_case(
    rng: np.random.Generator,
    command: str,
    options: dict[str, Any],
    *,
    tame: bool = False,
    labelled: bool = True,
    before: tuple[str, ...] = (),
) -> Case:
    sample = make_sample(rng, tame=tame)
    protected = ",".join(sample.attributes)
    seed = int(rng.integers(2**32))

    def call() -> Any:
        folder = Path(tempfile.mkdtemp())
        try:
            draws = np.random.default_rng(seed)
            path = _write(draws, sample, folder)
            filled = {
                name: str(value).replace("FOLDER", str(folder)) for name, value in options.items()
            }
            label = {"--label": "y"} if labelled else {}
            arguments = _changed(draws, {**label, "--protected": protected, **filled})
            first = [one.replace("FOLDER", str(folder)).replace("FILE", str(path))
                     for one in before]  # fmt: skip
            return run_command([command, *first, str(path), *arguments])
        finally:
            shutil.rmtree(folder)

    return Case(f"gerrymend {command}", f"{options}", call, ("--", "FILE"))


def command_audit_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend audit`."""
    decided = pick(rng, ({"--prediction": "decided"}, {"--prediction": "decided"},
                         {"--score": "score", "--threshold": "0.4"}, {"--probability": "score"},
                         {"--prediction": "decided", "--weight": "w"},
                         {"--prediction": "decided", "--counts": "n"}))  # fmt: skip
    subgroups = pick(rng, CLASSES)
    more = pick(rng, ({}, {"--json": "-"}, {"--json": "FOLDER/out.json"},
                      {"--report": "FOLDER/out.html"}, {"--test-size": "0.3"}, {"--seed": "3"},
                      {"--junit": "FOLDER/j.xml"}, {"--annotations": "-"},
                      {"--positive": "1"}, {"--missing": "NA"}, {"--separator": ","},
                      {"--features": "f,w"}, {"--gamma": "0.1"}, {"--jobs": "1"},
                      {"--depth": "2"}, {"--control": "f"}, {"--control": "n"},
                      {"--reference": "0.3"}, {"--reference": "decided=1", "--factor": "0.8"},
                      {"--confidence": "0.5"}))  # fmt: skip
    return _command_case(rng, "audit", decided | more | {
        "--subgroups": subgroups, "--budget": "0.5", "--min-group-size": "2", "--top": "2",
        "--notion": pick(rng, NOTIONS), "--permutations": pick(rng, ("0", "0", "19"))})  # fmt: skip


def command_fit_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend fit`."""
    more = pick(rng, ({}, {"--weight": "w"}, {"--features": "f,score"}, {"--drop": "n"},
                      {"--test-size": "0.3"}, {"--report": "FOLDER/out.html"},
                      {"--checkpoint": "FOLDER/kept"}, {"--control": "n"}))  # fmt: skip
    return _command_case(rng, "fit", more | {
        "--max-iter": "2", "--subgroups": pick(rng, CLASSES), "--budget": "0.3",
        "--estimator": pick(rng, ("linear-regression", "logistic")), "--notion": pick(rng, NOTIONS),
        "--gamma": "0.05", "--min-group-size": "2", "--seed": "0", "--out": "FOLDER/m.skops",
    }, tame=rng.random() < 0.6)  # fmt: skip


def command_impact_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend impact`."""
    decided = pick(rng, ({"--selected": "decided"}, {"--selected": "decided"}, {"--score": "score"},
                         {"--score": "score", "--threshold": "0.4"},
                         {"--selected": "decided", "--weight": "w"}))  # fmt: skip
    more = pick(rng, ({}, {"--json": "-"}, {"--markdown": "-"}, {"--report": "FOLDER/out.html"},
                      {"--csv": "FOLDER/out.csv"}, {"--xlsx": "FOLDER/out.xlsx"},
                      {"--positive": "1"}, {"--missing": "NA"}, {"--unknown": "red"},
                      {"--profile": pick(rng, ("ll144", "four-fifths", "lending"))},
                      {"--reference": "attribute 0=red"}, {"--depth": "3"}, {"--date": "today"},
                      {"--fail-below": "0.8", "--if-chance": "undecided"}))  # fmt: skip
    return _command_case(rng, "impact", decided | more | {
        "--search-class": pick(rng, CLASSES), "--budget": "0.5", "--min-group-size": "2",
        "--permutations": pick(rng, ("0", "0", "19"))}, labelled=False)  # fmt: skip


def command_compare_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend compare` with the same rows as the old ones, or with a report."""
    more = pick(rng, ({}, {"--json": "-"}, {"--report": "FOLDER/out.html"}, {"--weight": "w"},
                      {"--tolerance": "0.1"}, {"--fail-on": "exceeds"}, {"--control": "n"},
                      {"--old-prediction": "decided"}))  # fmt: skip
    decided = pick(rng, ({"--prediction": "decided"}, {"--score": "score", "--threshold": "0.4"},
                         {"--probability": "score"}))  # fmt: skip
    return _command_case(rng, "compare", decided | more | {
        "--subgroups": pick(rng, CLASSES[1:]), "--budget": "0.5", "--min-group-size": "2",
        "--permutations": pick(rng, ("0", "9")), "--notion": pick(rng, NOTIONS),
    }, before=("FILE",), tame=rng.random() < 0.6)  # fmt: skip


def command_watch_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend watch` on a first batch."""
    more = pick(rng, ({}, {"--json": "-"}, {"--at": "2025-01"}, {"--level": "0.1"},
                      {"--groups": "FOLDER/none.json"}))  # fmt: skip
    decided = pick(rng, ({"--prediction": "decided"}, {"--score": "score", "--threshold": "0.4"}))
    return _command_case(rng, "watch", decided | more | {
        "--subgroups": pick(rng, CLASSES[1:]), "--min-group-size": "2",
        "--notion": pick(rng, NOTIONS),
    }, before=("FOLDER/watch.json",), tame=rng.random() < 0.6)  # fmt: skip


def command_calibrate_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend calibrate`."""
    more = pick(rng, ({}, {"--weight": "w"}, {"--alpha": "0.1"}, {"--notion": "multiaccuracy"},
                      {"--bins": "3"}, {"--positive": "1"}, {"--level": "1"}, {"--depth": "1"},
                      {"--apply": "FOLDER/rows.csv"}, {"--label": "n"}))  # fmt: skip
    return _command_case(rng, "calibrate", more | {
        "--score": pick(rng, ("score", "score", "f")), "--subgroups": pick(rng, CLASSES),
        "--draws": "19", "--max-patches": "5", "--budget": "0.3", "--min-group-size": "2",
        "--out": pick(rng, ("FOLDER/p.csv", "FOLDER/p.parquet", "FOLDER/p.xlsx")),
        "--model": "FOLDER/p.json",
    }, tame=rng.random() < 0.6)  # fmt: skip


def command_frontier_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend frontier`."""
    more = pick(rng, ({}, {"--json": "-"}, {"--test-size": "0.4"}, {"--weight": "w"},
                      {"--control": "n"}))  # fmt: skip
    return _command_case(rng, "frontier", more | {
        "--max-iter": "2", "--subgroups": pick(rng, CLASSES[1:]), "--budget": "0.2",
        "--estimator": "linear-regression", "--gammas": "0,0.1", "--min-group-size": "2",
        "--jobs": "1",
    }, tame=rng.random() < 0.6)  # fmt: skip


@functools.cache
def _model_file() -> bytes:
    """A model that `gerrymend fit` made of a tame sample."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(_csv(make_sample(np.random.default_rng(5), tame=True)))
        out = Path(folder) / "m.skops"
        run_command(["fit", str(path), "--label", "y", "--protected", "attribute 0", "--out",
                     str(out), "--max-iter", "2", "--features", "f,score,w"])  # fmt: skip
        return out.read_bytes()


def command_predict_case(rng: np.random.Generator) -> Case:
    """Run `gerrymend predict`."""
    sample, seed = make_sample(rng), int(rng.integers(2**32))

    def call() -> Any:
        folder = Path(tempfile.mkdtemp())
        try:
            draws = np.random.default_rng(seed)
            model = folder / "m.skops"
            model.write_bytes(pick(draws, (*DAMAGES[:3], _cut, _scratched))(_model_file(), draws))
            out = pick(draws, ("p.csv", "p.parquet", "p.xlsx", "p.txt", "m.skops"))
            options = {"--out": f"{folder}/{out}", "--seed": pick(draws, ("0", "-1", "x"))}
            if draws.random() < 0.5:
                options.pop("--seed")
            arguments = _changed(draws, options)
            return run_command(["predict", str(model), str(_write(draws, sample, folder)),
                                *arguments])  # fmt: skip
        finally:
            shutil.rmtree(folder)

    return Case("gerrymend predict", "a model and a file", call, ("--", "FILE"))


def command_line_case(rng: np.random.Generator) -> Case:
    """Run a command with words in place of arguments: nothing is found, and it says so."""
    command = pick(rng, (*COMMANDS, "nothing"))
    words = [pick(rng, (*ODD_WORDS, *HOSTILE_WORDS[:20])) for _ in range(int(rng.integers(1, 4)))]
    if command == "reproduce":
        words = ["no such table", *words]
    if command == "data":
        words = [pick(rng, ("list", "fetch")), "no such data", *words]
    return Case(f"gerrymend {command}", repr(words), lambda: run_command([command, *words]),
                ("--", "FILE"))  # fmt: skip
