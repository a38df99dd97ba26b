"""Count the rows in which protected attributes are missing: kept as a category, or dropped."""

from dataclasses import dataclass
from typing import Any

from gerrymend.auditing.rare_values import rows_by_value
from gerrymend.auditing.tally import Tally


@dataclass(frozen=True)
class MissingValues:
    """Rows in which columns are missing, and how many were left out for it.

    Attributes
    ----------
    columns : tuple of (str, int)
        Each column that is missing somewhere, and in how many rows.
    of : int
        All rows, before any were dropped.
    dropped : int
        Rows that were left out of the audit, as `gerrymend audit --drop-missing` does; 0 where
        they are in it, in a category of their own.
    dropped_of_holdout : int
        The same of a second file.

    >>> from gerrymend import audit
    >>> report = audit([0] * 4, [1, 1, 0, 0], sensitive_features={"sex": ["F", None, "F", "M"]})
    >>> report.missing.columns, report.missing.dropped
    ((('sex', 1),), 0)
    """

    columns: tuple[tuple[str, int], ...] = ()
    of: int = 0
    dropped: int = 0
    dropped_of_holdout: int = 0

    @classmethod
    def kept(cls, tally: Tally) -> "MissingValues":
        """Count the rows of a tally that have no value of an attribute, as a category."""
        n_rows = tally.n_rows.sum(axis=0)
        rows = {name: by.get(None, 0) for name, by in rows_by_value(tally.columns, n_rows).items()}
        return cls(tuple((name, n) for name, n in rows.items() if n), int(n_rows.sum()))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "columns": [{"column": name, "rows": rows} for name, rows in self.columns],
            "of": self.of,
            "dropped": self.dropped,
            "dropped_of_holdout": self.dropped_of_holdout,
        }


NONE_MISSING = MissingValues()
