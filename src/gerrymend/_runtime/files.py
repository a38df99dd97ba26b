"""Atomic writes: a file is written whole or not at all."""

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically; after a failure it is as before, and no temporary file is left.

    A symbolic link is kept, and its target is written. Raises FileExistsError if the path is a
    folder, a device or anything else that isn't a plain file.
    """
    target = Path(os.path.realpath(path))
    if not _can_be_replaced(target):
        raise FileExistsError(
            f"path {str(path)!r} exists and is not a plain file; choose another path."
        )
    # In the same folder: a move within a file system is atomic.
    part = _beside(target)
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            # Before the move, or a power failure could leave the name without the content.
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        with contextlib.suppress(OSError):  # it was moved, if all went well
            part.unlink()


def check_path(path: Any) -> Path:
    """Return a path that a file can have; raise TypeError or ValueError for anything else."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a path; got {path!r}.")
    if not can_be_named(path):
        raise ValueError(
            f"path={path!r} has characters that no file's name can have; choose another."
        )
    return Path(path).expanduser()


def can_be_named(path: str | os.PathLike[str]) -> bool:
    """Return True if a file can have this name, as far as its characters go.

    >>> can_be_named("fit.checkpoint"), can_be_named("a\\0b")
    (True, False)
    """
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def can_be_written(path: Path) -> bool:
    """Return True if `write_whole` can write this file; for a check before long work.

    Permissions don't tell if a folder takes files (a full disk, a read-only mount), so an empty
    file is created there and removed.
    """
    target = Path(os.path.realpath(path))
    part = _beside(target)
    try:
        part.touch()
        part.unlink()
        return _can_be_replaced(target)
    except OSError:
        return False


def _can_be_replaced(target: Path) -> bool:
    """Return True if the path is a plain file or doesn't exist."""
    return target.is_file() or not target.exists()


def _beside(target: Path) -> Path:
    """Return the path of a new temporary file in the folder of the target."""
    return target.with_name(f".{uuid.uuid4().hex}.part")
