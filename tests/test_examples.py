"""The examples run as a newcomer would run them, without a warning, and say what they should."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {
    "audit_my_model": ["exceeds gamma", "category_0 = v0 and category_1 = v0", "p-value 0.01"],
    "train_a_fair_model": ["plain  test", "fair   test", "MixtureClassifier"],
    "choose_on_the_frontier": ["on 3,334 test rows", "question of policy", "gamma 0.04: of 1,000"],
}


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_should(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 160
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"
