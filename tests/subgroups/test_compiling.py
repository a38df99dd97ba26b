"""Proofs that are compiled before the clock starts: those that will be asked for, and no others."""

import subprocess
import sys

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import compiling
from gerrymend.subgroups.compiling import BOXES, CONES, LINE, PLANE

AGES = np.arange(12.0)
# In a process of its own, where nothing is compiled or loaded yet.
AUDITS = """
import numpy as np
from gerrymend import audit
from gerrymend.subgroups import compiling
algorithms = [value for value in vars(compiling).values() if isinstance(value, compiling.Algorithm)]
loops = {loop for algorithm in algorithms for loop in algorithm.loops}
for algorithm in algorithms:
    compiling._prove_small(algorithm)
    print(*{loop.py_func.__name__ for loop in algorithm.loops if len(loop.overloads) != 1})
rng = np.random.default_rng(0)
numbers = {name: rng.integers(0, 9, 300).astype(float) for name in ("age", "visits")}
texts = {name: rng.choice(list("abcd"), 300) for name in ("race", "town")}
attributes = {**numbers, **texts, "sex": rng.choice(["F", "M"], 300)}
for names in (["age"], ["age", "visits"], ["age", "race", "sex"], ["age", "race", "town"]):
    audit(
        rng.integers(0, 2, 300), rng.integers(0, 2, 300), budget=2,
        sensitive_features={name: attributes[name] for name in names},
    )
    print(*{loop.py_func.__name__ for loop in loops if len(loop.overloads) != 1})
"""


def category(name, size):
    return Column(name, AGES % size, tuple("abcd"[:size]))


@pytest.mark.parametrize(
    ("columns", "algorithms"),
    [
        ([Column("age", AGES)], [LINE]),
        ([Column("age", AGES), category("a", 4)], [LINE]),
        ([Column("age", AGES), Column("income", AGES)], [PLANE]),
        ([Column("age", AGES), category("a", 2), category("b", 2)], [CONES]),
        ([Column("age", AGES), Column("sex", AGES % 2), category("b", 4)], [CONES]),
        ([Column("age", AGES), category("a", 4), category("b", 3)], [BOXES]),
        ([Column("age", AGES + 0.25), category("a", 4), category("b", 3)], [BOXES, CONES]),
        ([Column("income", 1e4 * AGES), category("a", 4), category("b", 3)], [BOXES, CONES]),
        ([category("a", 4), category("b", 3)], [CONES]),
    ],
)
def test_only_what_these_attributes_need_is_compiled(monkeypatch, columns, algorithms):
    """Cones for few dimensions, boxes of gaps for more, both where numbers would be pooled."""
    proven = []
    monkeypatch.setattr(compiling, "_prove_small", proven.append)
    compiling.compile_proofs([LinearThresholds()], columns)
    assert proven == algorithms


def test_small_proofs_reach_every_loop_and_audits_compile_no_second_version():
    done = subprocess.run(
        [sys.executable, "-c", AUDITS], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
    assert done.stdout.count("\n") == 6 + 4
