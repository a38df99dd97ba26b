"""Commands that are called here tell nothing of how long they take, however busy the machine is."""

import pytest

from gerrymend.cli import progress


@pytest.fixture(autouse=True)
def no_lines_of_long_work(monkeypatch):
    """Compiling alone may take longer than the first line waits; tests of it set their own time."""
    monkeypatch.setattr(progress, "_FIRST_LINE", 3600.0)
