"""Assertions pass where the commands exit with 0, and fail with the report; no row is in it."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from gerrymend import LinearThresholds, audit, compare
from gerrymend.pytest import assert_not_worse, assert_within_gamma
from tests.auditing.inference.test_standing_out import small_group_hit_hard
from tests.cli.calling import call

pytest_plugins = ["pytester"]

N = 400
SEX = np.where(np.arange(N) % 2 == 0, "F", "M")
LABEL = np.zeros(N, dtype=int)
# One woman in two is decided 1, and one man in four; or as many of both.
UNEQUAL = np.isin(np.arange(N) % 8, [0, 2, 1]).astype(int)
EQUAL = (np.arange(N) % 4 < 2).astype(int)
FAILED = pytest.fail.Exception


def made(decisions, **how):
    return audit(LABEL, decisions, sensitive_features={"sex": SEX}, **how)


# Nothing is audited beside pytester in one process: it drops the modules that were imported.
SUITE = """
from pathlib import Path

from gerrymend import audit
from gerrymend.pytest import assert_within_gamma

SEX = ["F", "M"] * 200
NAMES = ["Zacharias"] + ["Ann", "Bo"] * 199 + ["Ann"]


def test_equal():
    assert_within_gamma(audit([0] * 400, [1, 1, 0, 0] * 100, sensitive_features={"sex": SEX}))


def test_unequal():
    people = {"sex": SEX, "name": NAMES}
    report = audit([0] * 400, [1, 0] * 200, sensitive_features=people)
    Path("said.txt").write_text(str(report), encoding="utf-8")
    assert_within_gamma(report)
"""


def test_a_suite_shows_the_report_where_it_fails(pytester):
    pytester.makepyfile(SUITE)
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly")
    ran.assert_outcomes(passed=1, failed=1)
    said = (pytester.path / "said.txt").read_text(encoding="utf-8")
    lines = ["A subgroup exceeds gamma.", "", *said.splitlines()]
    ran.stdout.fnmatch_lines([line.replace("[", "[[]") for line in lines], consecutive=True)
    ran.stdout.fnmatch_lines(["FAILED *::test_unequal - *"])
    shown = ran.stdout.str()
    assert "Zacharias" not in shown
    assert "Traceback" not in shown
    assert "pytest.fail" not in shown  # nothing of our code, either


CASES = {
    "within": (EQUAL, {}, 0),
    "exceeds": (UNEQUAL, {}, 1),
    "warned": (LABEL, {}, 3),
    "accepted": (LABEL, {"accept_warnings": True}, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_it_passes_where_the_command_does(name, tmp_path):
    decisions, how, expected = CASES[name]
    path = tmp_path / "people.csv"
    pl.DataFrame({"sex": SEX, "y": np.arange(N) // 200, "d": decisions}).write_csv(path)
    options = ["--accept-warnings"] if how else []
    columns = ["--label", "y", "--prediction", "d", "--protected", "sex"]
    asked = ["--notion", "statistical_parity", "--permutations", 0]
    code, _, err = call("audit", path, *columns, *asked, *options)
    assert code == expected
    label = np.arange(N) // 200
    people = {"sex": SEX}
    report = audit(label, decisions, sensitive_features=people, notion="statistical_parity")
    if code == 0:
        assert_within_gamma(report, **how)
        return
    with pytest.raises(FAILED) as failed:
        assert_within_gamma(report, **how)
    reason = str(failed.value).partition("\n")[0]
    told = err.strip().replace("--accept-warnings", "accept_warnings=True")
    assert f"Exit code {code}: {reason[0].lower()}{reason[1:]}" == told


def test_what_is_not_proven_does_not_pass():
    rng = np.random.default_rng(0)
    A = {f"x{i}": rng.normal(size=300) for i in range(6)}
    report = audit(
        None, rng.integers(0, 2, 300), sensitive_features=A, notion="statistical_parity",
        gamma=0.15, subgroups=LinearThresholds("regression"),
    )  # fmt: skip
    assert report.verdict == "undecided"  # no proof follows the regression
    with pytest.raises(FAILED, match=r"^Neither was shown, that a subgroup exceeds gamma or that"):
        assert_within_gamma(report)


def test_who_stands_out_fails_where_that_is_asked_for():
    y, d, A, _ = small_group_hit_hard()
    report = audit(
        y, d, sensitive_features=A, notion="false_negative_rate", favourable="positive",
        n_permutations=99, subgroups="conjunctions", gamma=0.02,
    )  # fmt: skip
    assert (report.verdict, report.stands_out) == ("within gamma", True)
    assert_within_gamma(report)
    with pytest.raises(FAILED, match=r"^A group stands out from chance, and fail_on='stands-out'"):
        assert_within_gamma(report, fail_on="stands-out")


def test_comparisons():
    rows = {"sensitive_features": {"sex": SEX}, "random_state": 0, "n_permutations": 39}
    fair = made(EQUAL)
    assert_not_worse(compare(fair, LABEL, EQUAL, **rows))
    worse = compare(fair, LABEL, UNEQUAL, **rows)
    with pytest.raises(FAILED) as failed:
        assert_not_worse(worse)
    assert str(failed.value) == f"It is worse than before.\n\n{worse}"
    as_bad = compare(made(UNEQUAL), LABEL, UNEQUAL, **rows)
    assert_not_worse(as_bad)
    with pytest.raises(FAILED, match=r"^A subgroup exceeds gamma, and fail_on='exceeds' fails for"):
        assert_not_worse(as_bad, fail_on="exceeds")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assert_within_gamma(0.3), r"report must be a report of audit\(\); got 0.3"),
        (lambda: assert_within_gamma(made(EQUAL), fail_on="no"), "fail_on='no' is unknown"),
        (lambda: assert_within_gamma(made(EQUAL), accept_warnings=1), "must be True or False"),
        (
            lambda: assert_within_gamma(made(EQUAL), fail_on="stands-out"),
            "fail_on='stands-out' needs a p-value, and the report has none; pass n_permutations",
        ),
        (lambda: assert_not_worse(made(EQUAL)), "comparison must be a comparison of compare"),
    ],
)
def test_what_it_is_not_for_is_an_error_and_no_failure(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_pytest_is_imported_where_a_test_fails():
    code = (
        "import sys; import gerrymend.pytest\n"
        "assert 'pytest' not in sys.modules\n"
        "sys.modules['pytest'] = None\n"
        "from gerrymend import audit\n"
        "report = audit([0] * 40, [1] * 20 + [0] * 20,"
        " sensitive_features={'sex': ['F'] * 20 + ['M'] * 20})\n"
        "gerrymend.pytest.assert_within_gamma(report)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "gerrymend.pytest needs pytest, which is not installed: pip install" in ran.stderr
