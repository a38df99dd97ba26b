"""The first audit in an environment compiles, and says so once; the next one says nothing."""

import os
import subprocess
import sys

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
