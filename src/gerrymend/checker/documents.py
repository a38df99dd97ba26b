"""Name what is under check, for errors."""

from typing import NamedTuple


class Document(NamedTuple):
    """What is under check, as errors call it, and what a user has of that kind."""

    name: str
    source: str


A_REPORT = Document("report", "what audit() returned")
PATCHES = Document("patches", "what calibrate() returned")
