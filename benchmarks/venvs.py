"""Peers run in venvs of their own, which are made when they are first asked for."""

import subprocess
import venv
from pathlib import Path

HERE = Path(__file__).parent


def run_peer(name, requirement, *arguments, limit=None, only=()):
    """What `peer_NAME.py` prints, run by the venv `.venv-NAME` that has the requirement.

    Where `only` is given, that is what is installed beside it, whatever else it asks for.
    """
    script = HERE / f"peer_{name}.py"
    run = subprocess.run(
        [_python(name, requirement, only), "-W", "ignore", script, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=limit,
    )  # fmt: skip
    if run.returncode:
        raise RuntimeError(f"{requirement} failed:\n{run.stderr}")
    return run.stdout


def _python(name, requirement, only):
    home = HERE.parent / f".venv-{name}"
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        venv.create(home, with_pip=True)
        for what in ([*only], ["--no-deps", requirement]) if only else ([requirement],):
            _install(python, what)
        ready.touch()
    return python


def _install(python, what):
    made = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"{' '.join(what)} can't be installed:\n{made.stderr}")
