"""The first audit in an environment compiles, and says so once; the next one says nothing."""

import os
import subprocess
import sys

import numpy as np

from gerrymend._runtime.compiling import njit

AUDIT = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
from gerrymend import audit
A = {"sex": ["F", "M"] * 20}
for _ in range(2):
    audit([0] * 40, [1, 0, 0, 0] * 10, sensitive_features=A, subgroups="trees")
"""


def said(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", AUDIT], env=environment, capture_output=True, text=True, check=True
    )
    return [line for line in done.stdout.splitlines() if line.startswith("gerrymend.compiling")]


def test_compilation_is_announced_once(tmp_path):
    (line,) = said(tmp_path)
    assert line.endswith("Compiling the search; it takes some seconds, once in this environment.")
    assert said(tmp_path) == []


def test_an_inner_loop_leaves_the_arrays_of_its_caller_as_they_are_held():
    """It counts no references, so it must hold none in the end, to slices neither."""

    @njit(inner=True)
    def ends(values):
        half = values[: len(values) // 2]
        return half[0] + values[len(values) - 1]

    @njit()
    def total(values):
        return ends(values) + ends(values[1:])

    values = np.arange(4.0)
    held = sys.getrefcount(values)
    assert total(values) == 0.0 + 3.0 + 1.0 + 3.0
    assert sys.getrefcount(values) == held
