"""Marks for single parameters of a test."""

from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """Leave these values of a parametrised test to `make test-slow`."""
    return pytest.param(*values, marks=pytest.mark.slow)
