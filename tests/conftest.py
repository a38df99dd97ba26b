"""Shared fixtures: the paper's data where it is at hand, and small made data."""

import gc
import multiprocessing
import os
import signal
import threading
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from gerrymend.auditing import audit as auditing
from gerrymend.auditing import audit_counts as counting
from gerrymend.auditing import examine as examination
from gerrymend.auditing import provenance
from gerrymend.checker import classes
from gerrymend.impact import unlisted
from tests.checking import assert_tally_checked

# No time limit on an example: a busy machine is no bug. The suite tries the same few every time,
# so that it is as green tomorrow; `make test-slow` looks for new ones.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=12)
settings.register_profile("explore", deadline=None, max_examples=200)
settings.load_profile("explore" if "EXPLORE" in os.environ else "suite")

# A shell's background jobs ignore Ctrl-C, and so would what the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process of pytest-xdist whole files (tests/sharing.py)."""
    from tests.sharing import WholeFiles

    config.option.loadscopereorder = False
    return WholeFiles(config, log)


def pytest_collection_modifyitems(config, items):
    """Begin with what takes longest, so that no process ends long after the other."""
    if config.pluginmanager.hasplugin("xdist"):
        from tests.sharing import turn

        items.sort(key=lambda item: turn(item.nodeid))


def pytest_collection_finish():
    """Look for no garbage among modules and tests: they live until the end, and are many."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    """Let all go at the end, or bindings that count their objects call them leaked."""
    gc.unfreeze()


# Up to what size the checker lists a class in full, for every report that a test makes.
MOST_SUBGROUPS = 5_000 if "EXPLORE" in os.environ else 1_500
MOST_STEPS = 4 * MOST_SUBGROUPS

PAPER_DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
DATASETS = ("communities", "lawschool", "adult", "student")


def load_paper(name: str) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """One-hot features, labels and protected columns, cleaned as the paper did."""
    if not PAPER_DATA.is_dir():
        pytest.skip("the paper's data is not at hand (../shared/data/paper)")
    if name == "communities":
        frame = pd.read_csv(PAPER_DATA / "communities.csv", na_values="?").fillna(0)
        crime = frame.pop("ViolentCrimesPerPop")
        y = crime > crime.quantile(0.7)
        marks = pd.read_csv(PAPER_DATA / "communities_protected.csv", encoding="utf-8-sig").iloc[0]
        protected = frame[[column for column in frame if marks[column] == 1]]
    elif name == "lawschool":
        frame = pd.read_csv(PAPER_DATA / "lawschool.csv").dropna()
        y = frame.pop("bar1") == "P"
        frame["race"] = frame["race"].astype(int).astype(str)
        protected = frame[["race", "fam_inc", "age", "gender"]]
    elif name == "adult":
        frame = pd.read_csv(PAPER_DATA / "adult.csv", skipinitialspace=True)
        y = frame.pop("income") == ">50K"
        protected = frame[["age", "race", "sex"]]
    else:
        frame = pd.read_csv(PAPER_DATA / "student-mat.csv", sep=";").drop(columns=["G1", "G2"])
        y = frame.pop("G3") >= 11
        protected = frame[["sex", "age", "romantic", "Dalc", "Walc"]]
    return pd.get_dummies(frame).to_numpy(float), y.to_numpy(int), protected


@pytest.fixture(autouse=True)
def the_clock_stands_still(monkeypatch):
    """A report has the time at which it was made, and reports are compared."""
    monkeypatch.setattr(provenance, "now", lambda: datetime(2025, 1, 31, 12, tzinfo=UTC))


@pytest.fixture(autouse=True)
def every_report_is_checked(monkeypatch):
    """Whatever report a test makes, code that shares nothing with the auditors verifies it.

    Classes are listed in full up to a smaller size than by default, so as to take little time.
    """
    examine = examination.examine

    one_at_a_time = threading.Lock()

    def examine_and_check(tally, *arguments, **options):
        report = examine(tally, *arguments, **options)
        # One thread at a time: the limits of one would be left behind by another.
        with one_at_a_time, monkeypatch.context() as limits:
            limits.setattr(classes, "MOST_SUBGROUPS", MOST_SUBGROUPS)
            limits.setattr(classes, "MOST_STEPS", MOST_STEPS)
            assert_tally_checked(report, tally)
        return report

    for module in (auditing, counting, unlisted):
        monkeypatch.setattr(module, "examine", examine_and_check)


@pytest.fixture(scope="session")
def forked_workers():
    """Have Dask's workers forked from a process that has imported what they need.

    To import is most of what a worker of the tests does, and the tests kill some.
    """
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context()  # has a list of imports of its own, and sets it once
        multiprocessing.set_forkserver_preload(
            ["distributed", "dask.dataframe", "gerrymend.solvers.dask.partition_block",
             "gerrymend.frontier.training", "sklearn.linear_model", "lightgbm"]
        )  # fmt: skip
        yield


@pytest.fixture
def toy():
    return made_toy()


def made_toy():
    """A small dataset with categories and numbers, and a model worth auditing."""
    rng = np.random.default_rng(0)
    n = 300
    protected = pd.DataFrame(
        {
            "race": rng.choice(["blue", "green", "red"], n),
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(18, 70, n),
        }
    )
    features = rng.standard_normal((n, 4))
    features[:, 0] += (protected["race"] == "blue") & (protected["sex"] == "M")
    y = (features[:, 0] + features[:, 1] + rng.standard_normal(n) > 0.3).astype(int)
    return features, y, protected
