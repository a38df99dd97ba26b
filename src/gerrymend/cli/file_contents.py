"""Contents of a file, whatever it is packed or written in: gzip, UTF-16, Windows' own, or a pipe.

What had to be guessed is said in a warning. A plain file in UTF-8 is left where it is: it may be
larger than memory.
"""

import codecs
import gzip
import sys
import warnings
import zlib
from pathlib import Path

from gerrymend.inputs.settings import did_you_mean

# So many bytes are looked at to tell text from other files.
_START = 1 << 16
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Files of these kinds are no text, and have no encoding.
_NO_TEXT = (b"PAR1", b"PK\x03\x04")

Source = Path | bytes


def source_of(path: Path) -> Source:
    """Return a path to what can be read as it is, or the bytes that are in it, as UTF-8.

    `-` is standard input. Raises a ValueError for what is no file, is empty, or is no text.
    """
    source: Source = sys.stdin.buffer.read() if str(path) == "-" else path
    check_there(path)
    if start_of(source).startswith(_GZIP):
        try:
            source = gzip.decompress(_all_of(source))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"FILE {path} is gzip, and broken: {error}. Pack it again.") from None
    start = start_of(source)
    if not start.strip():
        raise ValueError(f"FILE {path} is empty; a table has a header and rows.")
    check_no_report(path, start)
    return source if start.startswith(_NO_TEXT) else _as_utf8(path, source, start)


def start_of(source: Source) -> bytes:
    """Return the first bytes of a file."""
    if isinstance(source, bytes):
        return source[:_START]
    with source.open("rb") as file:
        return file.read(_START)


def check_there(path: Path) -> None:
    """Raise a ValueError where there is no such file."""
    if path.is_dir():
        raise ValueError(
            f"FILE {path} is a folder; name a CSV or Parquet file in it, or let --engine dask "
            "read all of its Parquet files."
        )
    if not path.exists() and str(path) != "-":
        beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ValueError(f"FILE {path} does not exist{did_you_mean(path.name, beside)}.")


def check_no_report(path: Path, start: bytes) -> None:
    """Raise a ValueError for a page, or for a report in JSON: what a command wrote of a table.

    JSON lines begin with a row, which ends in the line that it begins in.
    """
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    what = None
    if text[:9].lower() == b"<!doctype" or text[:5].lower() == b"<html":
        what = "an HTML page"
    elif text.partition(b"\n")[0].strip() == b"{":
        is_ours = b'"verdict"' in text and b'"gamma"' in text
        what = "a report of gerrymend" if is_ours else "one JSON object over several lines"
    if what is not None:
        raise ValueError(
            f"FILE {path} is {what}, and no table; name the file with the rows: CSV, Parquet, JSON "
            "lines (a row in each line) or xlsx."
        )


def _all_of(source: Source) -> bytes:
    return source if isinstance(source, bytes) else source.read_bytes()


def _as_utf8(path: Path, source: Source, start: bytes) -> Source:
    """Return text in UTF-8; of one that was written in another encoding, say which."""
    if start.startswith(_UTF16):
        encoding = "utf-16"
    elif b"\0" in start:
        raise not_a_table(path)
    elif _is_utf8(source):
        return source
    else:
        encoding = "cp1252"
    try:
        text = _all_of(source).decode(encoding)
    except UnicodeDecodeError:
        raise not_a_table(path) from None
    name = {"utf-16": "UTF-16", "cp1252": "Windows-1252 (cp1252)"}[encoding]
    warnings.warn(
        f"FILE {path} is not in UTF-8 and was read as {name}; see that its letters are right.",
        UserWarning,
        stacklevel=2,
    )
    return text.encode()


def _is_utf8(source: Source) -> bool:
    """Return whether all of a file is UTF-8, without holding it in memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        if isinstance(source, bytes):
            decoder.decode(source, final=True)
            return True
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def not_a_table(path: Path) -> ValueError:
    """Return the error for a file that is none of those that can be read."""
    return ValueError(
        f"FILE {path} is no table: it is neither CSV, Parquet, JSON lines nor xlsx. Export it as "
        "one of these."
    )
