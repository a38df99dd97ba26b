"""The reproduction on made data: from nothing to records, figures and the report."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from gerrymend.reproduction import TARGETS, claims, figures, report
from gerrymend.reproduction.games import PaperData, pareto, watched_rounds
from gerrymend.reproduction.plans import units
from gerrymend.reproduction.records import Records, write_text
from gerrymend.reproduction.run import DATASETS, expand, run
from tests.marks import slow


def made(name, n=45):
    rng = np.random.default_rng(len(name))
    protected = {
        "racePctWhite": rng.random(n).round(2),
        "racepctblack": rng.random(n).round(2),
        "sex": rng.choice(["F", "M"], n),
    }
    X = np.column_stack([rng.standard_normal((n, 3)), protected["racepctblack"]])
    y = (X.sum(axis=1) + rng.standard_normal(n) > 0.5).astype(int)
    return PaperData(
        name, X, y, protected, note="made data" if name.startswith("law_school") else ""
    )


@pytest.fixture(scope="module")
def data():
    return {name: made(name) for name in (*DATASETS, "law_school_all")}


@pytest.fixture(scope="module")
def quick(data, tmp_path_factory):
    """A whole quick run."""
    out = tmp_path_factory.mktemp("quick")
    return run(expand("all"), data, out, quick=True), out


def save_as_it_stands(figure, path, **_):
    figure.set_layout_engine("none")
    figure.set_dpi(50)
    figure.canvas.print_png(path)


@pytest.mark.parametrize(
    ("left_out", "n_figures", "laid_out"),
    [
        # The surface of one convention: the others are drawn in the same way, and take a while.
        # So does it to find room for every text, which is matplotlib's.
        (("appendix*", "body_t-1_predicted*"), 10, False),
        slow((), 16, True),
    ],
)
def test_quick_makes_every_record_figure_and_the_report(
    quick, tmp_path, monkeypatch, left_out, n_figures, laid_out
):
    if not laid_out:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", save_as_it_stands)
    records, out = quick
    some = shutil.ignore_patterns(*left_out)
    kept = Records(shutil.copytree(records.folder, tmp_path / "records", ignore=some))
    drawn = [path for target in TARGETS for path in figures.draw(target, kept, tmp_path)]
    assert len(drawn) == n_figures
    assert all(path.stat().st_size > 5000 for path in drawn)
    text = report.write_report(records, out / "REPRODUCTION.md").read_text(encoding="utf-8")
    for words in ("## Claims", "## Table 1", "What the paper's auditor misses", "Held-out rows",
                  "The no-regret algorithm"):  # fmt: skip
        assert words in text
    assert any(verdict in text for verdict in (claims.HELD, claims.REPORTED))
    in_short = report.write_report(records, out / "QUICK.md", quick=True).read_text("utf-8")
    assert "verdicts are withheld" in in_short
    assert f"**{claims.HELD}" not in in_short


def test_stand_in_data_is_marked_wherever_it_has_a_number(quick):
    records, out = quick
    text = report.write_report(records, out / "REPRODUCTION.md").read_text(encoding="utf-8")
    claim_words = ("Law School converges", "close on Law School", "Law School's frontier")
    for line in text.splitlines():
        shown = line
        for words in claim_words:
            shown = shown.replace(words, "")
        shown = shown.replace("within it on Law School", "")
        assert shown.count("Law School") == shown.count("Law School (stand-in data)"), line


def test_records_of_other_data_are_not_taken_for_these(data, tmp_path):
    run(("table1",), data, tmp_path, quick=True)
    other = {**data, "student": made("student", n=48)}
    again = []
    records = run(("table1",), other, tmp_path, quick=True, on_unit=lambda u, *_: again.append(u))
    assert [unit.name for unit in again] == ["student"]
    assert records.result("table1", "student")["rows"] == 48
    record = records.read("table1", "student")
    assert record["config"]["seed"] == 0


def test_claims_without_records_are_counted(data, tmp_path):
    records = run(("toy",), data, tmp_path, quick=True)
    text = report.write_report(records, tmp_path / "R.md").read_text(encoding="utf-8")
    assert "21 more claims are left out" in text


def test_a_claim_is_left_out_only_for_want_of_a_record_that_it_reads(quick, tmp_path):
    records, _ = quick
    shutil.copytree(records.folder, tmp_path / "records")
    (tmp_path / "records" / "marginal" / "adult.json").unlink()
    left = Records(tmp_path / "records")
    text = report.write_report(left, tmp_path / "R.md").read_text(encoding="utf-8")
    assert "MARGINAL fares much worse" not in text
    assert "Student: MARGINAL's subgroup unfairness" in text


def test_a_record_says_how_it_was_made(quick):
    records, _ = quick
    record = records.read("subgroup", "student")
    assert record["config"]["rounds"] == 300
    assert record["config"]["gammas"] == [0.0, 0.001, 0.005, 0.022]
    assert {"python", "numpy", "gerrymend"} <= record["versions"].keys()


def test_figures_and_report_need_nothing_but_records(quick, tmp_path):
    """They are moved to where nothing else is, and read as another run would."""
    moved = shutil.copytree(quick[0].folder, tmp_path / "moved")
    (drawn,) = figures.draw("toy", Records(moved), tmp_path)
    assert drawn == tmp_path / "figures" / "figure_1_toy.png"
    assert drawn.exists()
    written = report.write_report(Records(moved), tmp_path / "one" / "REPRODUCTION.md")
    expected = report.write_report(quick[0], tmp_path / "two" / "EXPECTED.md")
    assert written.read_text("utf-8") == expected.read_text("utf-8")


def test_a_killed_run_goes_on_and_ends_the_same(data, quick, tmp_path):
    whole, _ = quick
    done = []

    def killed(unit, _done, _total):
        done.append(unit)
        if len(done) == 4:
            raise KeyboardInterrupt

    targets = ("table1", "toy", "surface", "c")
    with pytest.raises(KeyboardInterrupt):
        run(targets, data, tmp_path, quick=True, on_unit=killed)
    left_over = [path for path in tmp_path.rglob("*") if path.name.startswith(".writing")]
    assert not left_over
    again = []
    records = run(targets, data, tmp_path, quick=True, on_unit=lambda unit, *_: again.append(unit))
    assert not {unit.name for unit in done[:4]} & {
        unit.name for unit in again if unit.experiment == done[0].experiment
    }
    for path in tmp_path.rglob("*.json"):
        experiment, unit = path.parent.name, path.stem
        assert records.result(experiment, unit) == whole.result(experiment, unit)
    expected = sum(len(units(t, DATASETS, quick=True)) for t in ("table1", "toy", "surface", "c"))
    assert len(list(tmp_path.rglob("*.json"))) == expected


def test_another_configuration_or_a_broken_record_is_done_again(data, tmp_path):
    run(("toy",), data, tmp_path, quick=True)
    path = tmp_path / "records" / "quick" / "toy" / "toy.json"
    first = path.read_text(encoding="utf-8")
    for spoiled in ("{", json.dumps({**json.loads(first), "config": {"n_rows": 7}})):
        path.write_text(spoiled, encoding="utf-8")
        again = []
        run(("toy",), data, tmp_path, quick=True, on_unit=lambda unit, *_, a=again: a.append(unit))
        assert len(again) == 1
        assert path.read_text(encoding="utf-8") == first


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "record.json"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="not JSON compliant"):
        Records(tmp_path).write("x", "y", {}, {"value": float("nan")})


def test_the_frontier_is_what_nothing_dominates():
    rng = np.random.default_rng(0)
    points = [(float(e), float(u), i) for i, (e, u) in enumerate(rng.random((200, 2)))]
    kept = {label for *_, label in pareto(points)}
    for error, unfairness, label in points:
        dominated = any(
            e <= error and u <= unfairness and (e, u) != (error, unfairness) for e, u, _ in points
        )
        assert (label in kept) == (not dominated)


def test_watched_rounds_hold_the_first_and_the_last():
    rounds = watched_rounds(180_000)
    assert rounds[:50].tolist() == list(range(1, 51))
    assert rounds[-1] == 180_000
    assert len(rounds) <= 601


@pytest.mark.slow
def test_the_command(tmp_path):
    start = [sys.executable, "-c", "from gerrymend.cli import main; main()", "reproduce"]
    done = subprocess.run(
        [*start, "toy", "--out", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "figure_1_toy.png" in done.stdout
    wrong = subprocess.run([*start, "tabel1"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "did you mean 'table1'?" in wrong.stderr
