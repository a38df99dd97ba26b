"""The tutorials for contributors: what they quote is in the source, and what they show runs."""

import re
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"<!-- from (\S+) -->\n```python\n(.*?)```", TEXT, re.DOTALL)
ALL_CODE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("path", "code"), QUOTED)
def test_what_is_quoted_is_the_source(path, code):
    assert code in (ROOT / path).read_text(encoding="utf-8")


def test_the_examples_run():
    quoted = [code for _, code in QUOTED]
    examples = [code for code in ALL_CODE if code not in quoted]
    assert len(examples) == 4
    names: dict[str, object] = {"__name__": "tutorial"}
    with warnings.catch_warnings():
        # A solver that remembers one round converges to nothing.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for example in examples:
            exec(compile(example, "docs/extending.md", "exec"), names)
