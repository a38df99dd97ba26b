"""Run cases by number in a process of their own: `python -m tests.fuzz.batch FIRST [LAST]`.

A line of JSON is written before each case, and one for each finding, so that whoever reads them
knows which case it was that ended the process.
"""

import contextlib
import faulthandler
import io
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.fuzz import (
    calibration_cases,
    change_cases,
    command_cases,
    comparison_cases,
    impact_cases,
    maker_cases,
    model_cases,
    output_cases,
    row_cases,
    uncertain_cases,
    weight_cases,
)
from tests.fuzz.oracle import Case, judge

ROOT = Path(__file__).parents[2]
COMMAND = ["-m", "tests.fuzz.batch"]

# Case number n is made by the maker at n modulo their number: each gets its share of any range.
MAKERS: tuple[Callable[[np.random.Generator], Case], ...] = (
    row_cases.audit_case,
    row_cases.audit_case,
    row_cases.audit_case,
    row_cases.audit_case,
    row_cases.prove_case,
    impact_cases.impact_case,
    impact_cases.impact_case,
    uncertain_cases.uncertain_case,
    change_cases.compare_case,
    change_cases.watch_case,
    row_cases.bootstrap_case,
    row_cases.surface_case,
    row_cases.frame_case,
    row_cases.frame_case,
    row_cases.counts_case,
    row_cases.counts_case,
    weight_cases.exact_case,
    weight_cases.scaled_case,
    weight_cases.permuted_case,
    weight_cases.weighted_fit_case,
    weight_cases.weighted_fit_case,
    model_cases.fit_case,
    model_cases.fit_case,
    model_cases.fit_case,
    model_cases.fit_case,
    model_cases.predict_case,
    model_cases.score_case,
    model_cases.derandomize_case,
    model_cases.frontier_case,
    model_cases.training_surface_case,
    model_cases.mixture_case,
    model_cases.saving_case,
    model_cases.scorer_case,
    maker_cases.notion_case,
    maker_cases.class_case,
    maker_cases.groups_case,
    maker_cases.marginals_case,
    maker_cases.data_case,
    command_cases.command_audit_case,
    command_cases.command_audit_case,
    command_cases.command_audit_case,
    command_cases.command_impact_case,
    command_cases.command_calibrate_case,
    command_cases.command_fit_case,
    command_cases.command_fit_case,
    command_cases.command_frontier_case,
    command_cases.command_predict_case,
    command_cases.command_line_case,
    comparison_cases.strata_case,
    comparison_cases.strata_case,
    comparison_cases.reference_case,
    comparison_cases.group_mean_case,
    comparison_cases.number_case,
    comparison_cases.number_case,
    comparison_cases.summed_case,
    comparison_cases.lazy_case,
    comparison_cases.strata_fit_case,
    comparison_cases.strata_fit_case,
    comparison_cases.score_case,
    maker_cases.score_notion_case,
    calibration_cases.calibrate_case,
    calibration_cases.calibrate_case,
    calibration_cases.calibrator_case,
    calibration_cases.apply_case,
    calibration_cases.patches_file_case,
    output_cases.output_case,
    output_cases.output_case,
    output_cases.report_file_case,
    output_cases.watch_file_case,
    output_cases.learnt_case,
    output_cases.learnt_case,
    command_cases.command_compare_case,
    command_cases.command_watch_case,
)

# A case takes a tenth of a second; one that takes this long, however busy the machine, hangs.
_HANGS = 300.0


@dataclass(frozen=True)
class Finding:
    """A case that came to what it must not, and the words for it."""

    number: int
    entry: str
    words: str
    told: str

    def __str__(self) -> str:
        again = f"python -m tests.fuzz.batch {self.number}"
        return f"{again}\n  {self.entry}: {self.words}\n  with {self.told}"


def make_case(number: int) -> Case:
    """Make a case from its number alone."""
    return MAKERS[number % len(MAKERS)](np.random.default_rng(number))


def run_cases(first: int, last: int) -> None:
    """Run cases in this process, and write what comes of them."""
    logging.disable()
    for number in range(first, last):
        _write({"number": number})
        faulthandler.dump_traceback_later(_HANGS, exit=True)
        case = make_case(number)
        with contextlib.redirect_stdout(io.StringIO()):
            wrong = judge(case)
        faulthandler.cancel_dump_traceback_later()
        for words in wrong:
            _write({"number": number, "entry": case.entry, "words": words, "told": case.told})


def _write(line: dict[str, object]) -> None:
    sys.__stdout__.write(json.dumps(line) + "\n")
    sys.__stdout__.flush()


def findings_of(first: int, last: int) -> list[Finding]:
    """Run cases in another process; where one ends it, that is a finding, and the rest goes on."""
    found: list[Finding] = []
    while first < last:
        done = subprocess.run(
            [sys.executable, *COMMAND, str(first), str(last)],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        found += [Finding(**line) for line in lines if "words" in line]
        reached = lines[-1]["number"] if lines else first
        if done.returncode == 0:
            break
        words = f"ended the process with {done.returncode}: {done.stderr.strip()[-1500:]}"
        found.append(Finding(reached, MAKERS[reached % len(MAKERS)].__name__, words, ""))
        first = reached + 1
    return found


if __name__ == "__main__":
    start = int(sys.argv[1])
    run_cases(start, int(sys.argv[2]) if len(sys.argv) > 2 else start + 1)
