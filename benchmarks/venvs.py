"""Peers run in venvs of their own, which are made when they are first asked for."""

import subprocess
import venv
from pathlib import Path

HERE = Path(__file__).parent


def run_peer(name, requirement, *arguments, limit=None):
    """What `peer_NAME.py` prints, run by the venv `.venv-NAME` that has the requirement."""
    script = HERE / f"peer_{name}.py"
    run = subprocess.run(
        [_python(name, requirement), "-W", "ignore", script, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=limit,
    )  # fmt: skip
    if run.returncode:
        raise RuntimeError(f"{requirement} failed:\n{run.stderr}")
    return run.stdout


def _python(name, requirement):
    home = HERE.parent / f".venv-{name}"
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        venv.create(home, with_pip=True)
        made = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"{requirement} can't be installed:\n{made.stderr}")
        ready.touch()
    return python
