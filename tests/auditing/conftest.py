"""Watch queries."""

import narwhals as nw
import pytest


@pytest.fixture
def collected(monkeypatch):
    """All that queries return, in a list that grows."""
    frames = []
    collect = nw.LazyFrame.collect

    def watched(self, *args, **kwargs):
        frames.append(collect(self, *args, **kwargs))
        return frames[-1]

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    return frames
