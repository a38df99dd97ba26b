"""What would be uploaded, and its wheel in a fresh environment with no extras."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
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


def test_what_would_be_uploaded_is_built_and_passes_the_check_of_the_index(tmp_path):
    # As `make package` does, but with the backend that is installed: no index is needed.
    for needed in ("build", "hatchling", "twine"):
        pytest.importorskip(needed)
    python = [sys.executable, "-m"]
    built = _run(
        *python, "build", "--no-isolation", "--outdir", tmp_path / "dist", ROOT, folder=tmp_path
    )
    assert built.returncode == 0, built.stderr
    source, wheel = sorted((tmp_path / "dist").iterdir(), key=lambda path: path.suffix)
    checked = _run(*python, "twine", "check", "--strict", source, wheel, folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert inside >= {"pyproject.toml", "README.md", "LICENSE", "src/gerrymend/__init__.py"}
    with zipfile.ZipFile(wheel) as archive:
        packaged = {name for name in archive.namelist() if name.startswith("gerrymend/")}
    ours = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert packaged >= ours


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
