"""Arrays that memory has no room for: in files, and mapped only while they are used."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np


class FileStore:
    """Attributes of objects that lie in a folder of their own, which goes when the store does.

    Pages of a mapped file count as memory of the process, and a worker of Dask that has too much of
    it is stopped: so they are mapped for one question, and not between two.

    >>> from types import SimpleNamespace
    >>> owner, store = SimpleNamespace(values=np.arange(3.0)), FileStore()
    >>> store.put(owner, "values")
    >>> with store.mapped():
    ...     float(owner.values.sum())
    3.0
    >>> owner.values is None
    True
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="gerrymend-", dir=folder))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._kept: list[tuple[Any, str, Path]] = []
        self._numbers = count()

    def put(self, owner: Any, *attributes: str) -> None:
        """Keep attributes of an object from now on."""
        for attribute in attributes:
            path = self._folder / f"{next(self._numbers)}.npy"
            np.save(path, getattr(owner, attribute), allow_pickle=False)
            setattr(owner, attribute, None)
            self._kept.append((owner, attribute, path))

    @contextmanager
    def mapped(self) -> Iterator[None]:
        """Memory-map the stored attributes while the context is open."""
        for owner, attribute, path in self._kept:
            setattr(owner, attribute, np.asarray(np.load(path, mmap_mode="r")))
        try:
            yield
        finally:
            for owner, attribute, _ in self._kept:
                setattr(owner, attribute, None)

    def forget(self, owner: Any, attribute: str) -> None:
        """Keep an attribute no more."""
        for kept in [one for one in self._kept if one[0] is owner and one[1] == attribute]:
            kept[2].unlink()
            self._kept.remove(kept)
