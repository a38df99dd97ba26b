"""action.yml: it parses, names only options that there are, and its script does what it says."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.calling import options_of
from tests.cli.test_pipelines import commands_in, one_test, written

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
# Inputs that are no options of `gerrymend audit`.
OTHERS = {"file", "options", "requirement", "python"}


def test_it_is_a_composite_action():
    assert ACTION["runs"]["using"] == "composite"
    assert {"name", "description", "inputs", "outputs", "runs"} <= ACTION.keys()
    for step in STEPS:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "what is pasted into a script runs as one"
    for given in ACTION["inputs"].values():
        assert given["description"]
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} == {
        "file", "protected",
    }  # fmt: skip


def test_every_input_is_an_option_and_reaches_the_script():
    known = options_of("audit")
    named = {f"--{name}" for name in ACTION["inputs"].keys() - OTHERS}
    assert named <= known
    audit = STEPS[-1]
    looped = re.search(r"for option in (.*?); do", audit["run"], re.DOTALL)[1]
    assert {f"--{name}" for name in looped.replace("\\\n", " ").split()} == named
    assert set(re.findall(r'"(--[a-z][a-z-]*)=', audit["run"])) <= known
    for name in ACTION["inputs"].keys() - OTHERS:
        variable = f"INPUT_{name.upper().replace('-', '_')}"
        assert audit["env"][variable] == f"${{{{ inputs.{name} }}}}"
    used = {value for step in STEPS for value in step["env"].values()}
    assert used == {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}


def test_what_it_installs_are_extras_that_there_are():
    extras = re.search(r"\[([a-z,]+)\]", STEPS[0]["run"])[1].split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras) <= project["optional-dependencies"].keys()


def ran(folder, inputs, file):
    """Run the last step as a runner would; return what is known of it after."""
    given = {"python": sys.executable, "file": str(file), **inputs}
    variables = {
        name: given.get(re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)[1], "")
        for name, value in STEPS[-1]["env"].items()
    }
    told = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in told.values():
        path.touch()
    environment = os.environ | variables | {name: str(path) for name, path in told.items()}
    # As GitHub's own `shell: bash`.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[-1]["run"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          check=False)  # fmt: skip
    return done, *(path.read_text() for path in told.values())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to run the script with")
@pytest.mark.parametrize("expected", [1, 2, 3])
def test_its_script_shows_the_verdict_and_ends_with_its_code(tmp_path, expected):
    file = written(tmp_path, 1 if expected == 2 else expected)
    inputs = {"label": "y", "prediction": "d", "protected": "sex", "notion": "statistical_parity",
              "permutations": "0", "junit": str(tmp_path / "a b.xml"),
              "options": "--subgroups=marginals\n--model-name=::error::no\n"}  # fmt: skip
    if expected == 2:
        inputs["label"] = "$(touch x)"
    done, output, summary = ran(tmp_path, inputs, file)
    assert done.returncode == expected, done.stderr
    assert output == f"exit-code={expected}\n"
    assert not (tmp_path / "x").exists()
    first, *lines = done.stdout.splitlines()
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    commands = "\n".join(lines[lines.index(f"::{token}::") + 1 :])
    if expected == 2:
        ((level, _, message),) = commands_in(commands)
        assert (level, message.partition(",")[0]) == ("error", "The call or the data is wrong")
        assert summary == ""
        return
    assert commands_in(commands)[0][0] == {1: "error", 3: "warning"}[expected]
    assert summary.startswith("# Subgroup fairness audit")
    assert one_test((tmp_path / "a b.xml").read_text())[0] == {1: (1, 0), 3: (0, 1)}[expected]
