"""Sealed files: a first line with a name, a format and the sha256 of the content after it."""

import hashlib
import re
from typing import NamedTuple


class Opened(NamedTuple):
    """A sealed file: its format, its content, and True if the content is as it was sealed."""

    version: int
    content: bytes
    is_whole: bool


def sealed(name: bytes, version: int, content: bytes) -> bytes:
    """Return the content with a line before it that tells its name, format and sha256.

    >>> opened(b"note", sealed(b"note", 1, b"words"))
    Opened(version=1, content=b'words', is_whole=True)
    >>> opened(b"note", sealed(b"note", 1, b"words")[:-1]).is_whole
    False
    """
    return b"".join([_first_line(name, version, content), content])


def _first_line(name: bytes, version: int, content: bytes) -> bytes:
    """Return the first line; its digest covers the name and the format too."""
    start = name + b", format %d" % version
    digest = hashlib.sha256(start)
    digest.update(content)
    return start + b", sha256 %s\n" % digest.hexdigest().encode()


def opened(name: bytes, whole: bytes) -> Opened | None:
    """Return the parts of a sealed file, or None if it isn't one of that name."""
    line = re.match(re.escape(name) + rb", format (\d{1,9}), sha256 [0-9a-f]{64}\n", whole)
    if line is None:
        return None
    version = int(line[1])
    content = whole[line.end() :]
    return Opened(version, content, _first_line(name, version, content) == line[0])
