"""Files that are written whole or not at all."""

import contextlib
import os
import uuid
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file first, then move into place; nothing stays after a failure."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):  # gone after a success
            part.unlink()
