"""Files whose first line has a name, a format and the sha256 of all the rest of the file."""

import hashlib
import re
from typing import NamedTuple


class Opened(NamedTuple):
    """A sealed file: its format, what it holds, and whether that is what was sealed."""

    version: int
    content: bytes
    is_whole: bool


def sealed(name: bytes, version: int, content: bytes) -> bytes:
    """The content, after a line by which it is known.

    >>> opened(b"note", sealed(b"note", 1, b"words"))
    Opened(version=1, content=b'words', is_whole=True)
    >>> opened(b"note", sealed(b"note", 1, b"words")[:-1]).is_whole
    False
    """
    return b"".join([_first_line(name, version, content), content])


def _first_line(name: bytes, version: int, content: bytes) -> bytes:
    start = name + b", format %d" % version
    digest = hashlib.sha256(start)
    digest.update(content)
    return start + b", sha256 %s\n" % digest.hexdigest().encode()


def opened(name: bytes, whole: bytes) -> Opened | None:
    """What is in a sealed file; None if it is none of that name."""
    line = re.match(re.escape(name) + rb", format (\d{1,9}), sha256 [0-9a-f]{64}\n", whole)
    if line is None:
        return None
    version, content = int(line[1]), whole[line.end() :]
    return Opened(version, content, _first_line(name, version, content) == line[0])
