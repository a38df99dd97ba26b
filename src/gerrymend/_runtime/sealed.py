"""Sealed files: a line with name, format and sha256 of what follows it; and digests of JSON."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple


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


def digest_of_plain(plain: Mapping[str, Any]) -> str:
    """Return the sha256 of plain data but for its "sha256", whatever the order and the blanks.

    >>> one = {"a": 1, "b": [0.5]}
    >>> digest_of_plain(one) == digest_of_plain({"b": [0.5], "a": 1, "sha256": "0f"})
    True
    """
    rest = {name: value for name, value in plain.items() if name != "sha256"}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
