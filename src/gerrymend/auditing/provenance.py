"""Record when a report was made, by which versions, and from which data."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from gerrymend._runtime.versions import versions
from gerrymend.auditing.tally import Tally


@dataclass(frozen=True)
class Provenance:
    """The date, the versions and the data behind a report.

    Attributes
    ----------
    date : str
        In ISO's form, to the second, UTC.
    versions : dict
        Of Python and of the packages that results depend on.
    fingerprint : str
        The sha256 of all that was audited (see `fingerprint`).
    random_state : int
        The seed.
    budget : float
        Seconds that the proof might take.
    top : int
        Subgroups that were to be described; there are fewer where the rest are shades of those.
    """

    date: str
    versions: dict[str, str]
    fingerprint: str
    random_state: int
    budget: float
    top: int = 1

    @classmethod
    def of(cls, tally: Tally, *, random_state: int, budget: float, top: int) -> "Provenance":
        """Record a report that is made now."""
        date = now().isoformat(timespec="seconds")
        return cls(date, versions(), fingerprint(tally), random_state, budget, top)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {
            "date": self.date,
            "versions": dict(self.versions),
            "fingerprint": self.fingerprint,
            "random_state": self.random_state,
            "budget": self.budget,
            "top": self.top,
        }


def now() -> datetime:
    """Return the time, UTC."""
    return datetime.now(UTC)


def fingerprint(tally: Tally) -> str:
    """Return the sha256 of the sums that were audited, by which the same data can be told.

    It is over the names of the protected columns, their values, the labels, and the number of rows,
    their weight and their decisions by protected values and label: the same for every order of the
    rows, and for every engine that has them.

    >>> from gerrymend.auditing.from_rows import tally_of_rows
    >>> one = tally_of_rows([0, 1, 1], [0, 1, 0], {"sex": ["F", "M", "M"]})
    >>> same = tally_of_rows([1, 0, 1], [1, 0, 0], {"sex": ["M", "F", "M"]})
    >>> fingerprint(one) == fingerprint(same)
    True
    >>> other = tally_of_rows([0, 1, 1], [0, 1, 1], {"sex": ["F", "M", "M"]})
    >>> fingerprint(one) == fingerprint(other)
    False
    """
    columns = [
        [
            column.name,
            column.kind,
            None
            if column.categories is None
            else [None if value is None else str(value) for value in column.categories],
        ]
        for column in tally.columns
    ]
    # Names and shapes first, then numbers as little-endian bytes: the same on every machine.
    head = json.dumps([columns, [str(label) for label in tally.labels], tally.n_rows.shape])
    digest = hashlib.sha256(head.encode())
    for column in tally.columns:
        digest.update(column.values.astype("<f8").tobytes())
    for table in (tally, *tally.by_class.values()):
        digest.update(table.n_rows.astype("<i8").tobytes())
        for sums in (table.weight, table.positive):
            # + 0.0 makes −0.0 a 0.0, which has other bytes.
            digest.update(np.ascontiguousarray(sums + 0.0, dtype="<f8").tobytes())
    return digest.hexdigest()
