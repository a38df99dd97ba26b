"""Proofs that are compiled before the clock starts: those that will be asked for, and no others."""

import numpy as np
import pytest

from gerrymend import LinearThresholds
from gerrymend.inputs.protected import Column
from gerrymend.subgroups import compiling

AGES = np.arange(12.0)


def category(name, size):
    return Column(name, AGES % size, tuple("abcd"[:size]))


@pytest.mark.parametrize(
    ("columns", "compiled"),
    [
        ([Column("age", AGES), category("a", 2), category("b", 2)], [(1, 1)]),
        ([Column("age", AGES), category("a", 4), category("b", 3)], [(1, 2)]),
        ([Column("age", AGES + 0.25), category("a", 4), category("b", 3)], [(1, 1), (1, 2)]),
        ([Column("income", 1e4 * AGES), category("a", 4), category("b", 3)], [(1, 1), (1, 2)]),
        ([category("a", 4), category("b", 3)], [(0, 2)]),
    ],
)
def test_only_what_these_attributes_need_is_compiled(monkeypatch, columns, compiled):
    """Cones for few dimensions, boxes of gaps for more, both where numbers would be pooled."""
    proven = []
    monkeypatch.setattr(compiling, "_prove_small", lambda _, *sizes: proven.append(sizes))
    compiling.compile_proofs(LinearThresholds(), columns)
    assert proven == compiled
