"""The wheel, in a fresh environment with no extras: import, audit, fit, help and the command."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

IMPORT = """
import gerrymend, sys
assert gerrymend.__file__.startswith(sys.prefix), gerrymend.__file__
print(gerrymend.__version__)
"""
AUDIT = """
from gerrymend import audit, check_report
from gerrymend.datasets import make_gerrymandered
toy = make_gerrymandered(400)
rows = dict(y_true=toy.target, y_pred=(toy.score >= 0.5).astype(int),
            sensitive_features=toy.sensitive_features)
report = audit(**rows)
assert check_report(report, **rows).ok
print(report.verdict, report)
"""
FIT = """
from gerrymend import SubgroupParityClassifier
from gerrymend.datasets import make_gerrymandered
toy = make_gerrymandered(400)
model = SubgroupParityClassifier(random_state=0)
model.fit(toy.data, toy.target, sensitive_features=toy.sensitive_features)
print(sorted(set(model.predict(toy.data).tolist())))
"""
HELP = """
import gerrymend
help(gerrymend)
for name in gerrymend.__all__:
    help(getattr(gerrymend, name))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A fresh environment with the wheel and what it depends on, and no more."""
    folder = tmp_path_factory.mktemp("wheel")
    wheels = folder / "wheels"
    reached = _pip(sys.executable, "download", "--no-deps", "--dest", folder / "probe", "hatchling")
    if reached.returncode:
        pytest.skip(f"pip reaches no index that has hatchling: {reached.stderr.strip()[-300:]}")
    built = _pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", wheels, ROOT)
    assert built.returncode == 0, built.stderr
    (wheel,) = wheels.glob("gerrymend-*.whl")
    venv.create(folder / "environment", with_pip=True)
    scripts = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    installed = _pip(scripts / "python", "install", wheel)
    assert installed.returncode == 0, installed.stderr
    return scripts


def _pip(python, *arguments):
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    return _run(*command, folder=ROOT)


def _run(*command, folder):
    """Run a command that sees no source and no settings of this process's Python."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"),
    [(IMPORT, "0."), (AUDIT, "exceeds gamma"), (FIT, "[0, 1]"), (HELP, "SubgroupParityClassifier")],
    ids=["import", "audit", "fit", "help"],
)
def test_a_fresh_environment_needs_no_extra(environment, tmp_path, code, said):
    done = _run(environment / "python", "-W", "error", "-c", code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.slow
def test_the_command_says_what_to_install(environment, tmp_path):
    done = _run(environment / "gerrymend", "--help", folder=tmp_path)
    assert done.returncode == 2  # 1 is a verdict
    assert "pip install 'gerrymend[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
