"""Files that are written whole or not at all."""

import contextlib
import os
import uuid
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file first, then move into place; nothing stays after a failure.

    A link stays one: what it points to is written. What is no file, a device or a folder, is left.
    """
    target = Path(os.path.realpath(path))
    if not _can_be_replaced(target):
        raise FileExistsError(f"path {str(path)!r} is there, and is no file; name another.")
    part = _beside(target)
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or a power failure could leave the name without the content
        os.replace(part, target)
    finally:
        with contextlib.suppress(OSError):  # gone after a success
            part.unlink()


def can_be_written(path: Path) -> bool:
    """Whether `write_whole` could write this file, to be known before there is anything to write.

    Its folder may be one in which no file can be made, whatever its permissions say: so one is.
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
    """Whether there is nothing, or a plain file."""
    return target.is_file() or not target.exists()


def _beside(target: Path) -> Path:
    return target.with_name(f".{uuid.uuid4().hex}.part")
