"""ImpactTable: tables of impact ratios as data first, with hooks for those who render them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import narwhals as nw

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.files import check_path, write_whole
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.provenance import Provenance
from gerrymend.impact.category_tables import CategoryTable, ImpactGroup, is_below
from gerrymend.impact.unlisted import Unlisted
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import check_number
from gerrymend.reporting.audit.document import Document
from gerrymend.reporting.frames import check_backend
from gerrymend.reporting.wording import json_text


@dataclass(frozen=True, eq=False, repr=False)
class ImpactTable:
    """The tables of impact_ratios(), and the worst subgroup that is in none of them.

    Attributes
    ----------
    tables : tuple of CategoryTable
        Of each attribute that has categories, then of those that meet.
    unlisted : Unlisted or None
        The worst subgroup that is in no table, and what no subgroup exceeds; None if not searched.
    rate : {"selection", "scoring"}
        What is compared: who is selected, or who scores above the sample's median.
    overall_rate : float
        That of all rows, also those of unknown category.
    n_rows : int
    n_unknown : int
        Rows of which any attribute is unknown.
    unknown : dict
        Rows of unknown category, by attribute.
    untabled : tuple of str
        Attributes that are numbers, and have no table; the search is over them too.
    reference : dict
        The values of the group that was named, by attribute; empty for the most selected one.
    selected : object or None
        The decision that is selected; None of scores.
    threshold, median : float or None
        Where scores are cut, or the sample's median, above which they count.
    confidence : float
        That of the intervals, each for itself.
    depth : int
        So many attributes meet, at most.
    exclude_small : bool
        Whether groups of less than 2 % of their table have no ratio.
    min_group_size : int
        Groups of fewer rows are marked; in `unlisted` they are not described.
    weighted : bool
        Whether rows weigh differently: there are then no exact tests.
    profile : str or None
        The rule that the tables follow.
    provenance : Provenance or None
        When, by what and from which data they were made; None without a search.

    See Also
    --------
    impact_ratios : Compare how often each category, and those in which several meet, are selected.
    AuditReport : The findings of an audit, on the rows that it was given.

    Examples
    --------
    >>> from gerrymend import impact_ratios
    >>> people = {"sex": ["M"] * 100 + ["F"] * 100}
    >>> hired = [1] * 50 + [0] * 50 + [1] * 30 + [0] * 70
    >>> made = impact_ratios(hired, sensitive_features=people, search=False)
    >>> [(group.describe(), group.ratio) for group in made.below(0.8)]
    [('sex = F', 0.6)]
    >>> made.to_frame("polars")["shortfall"].to_list()
    [10, 0]
    """

    tables: tuple[CategoryTable, ...]
    unlisted: Unlisted | None
    rate: str
    overall_rate: float
    n_rows: int
    n_unknown: int
    unknown: Mapping[str, int]
    untabled: tuple[str, ...]
    reference: Mapping[str, Any]
    selected: Any
    threshold: float | None
    median: float | None
    confidence: float
    depth: int
    exclude_small: bool
    min_group_size: int
    weighted: bool
    profile: str | None
    provenance: Provenance | None = None

    @property
    def groups(self) -> tuple[ImpactGroup, ...]:
        """Return the groups of all tables, in their order."""
        return tuple(group for table in self.tables for group in table.groups)

    def below(self, part: float = 0.8) -> tuple[ImpactGroup, ...]:
        """Return the groups whose ratio is below a part of their reference group's rate."""
        part = check_number(part, "part", low=0.0, above=True, remedy="0.8 is four fifths.")
        return tuple(group for group in self.groups if is_below(group, part))

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as plain data, without data of any row but the sums of small groups."""
        names = (
            *("rate", "overall_rate", "n_rows", "n_unknown", "selected", "threshold", "median"),
            *("confidence", "depth", "exclude_small", "min_group_size", "weighted", "profile"),
        )
        return {
            **{name: getattr(self, name) for name in names},
            "unknown": dict(self.unknown),
            "untabled": list(self.untabled),
            "reference": dict(self.reference),
            "tables": [table.to_dict() for table in self.tables],
            "unlisted": None if self.unlisted is None else self.unlisted.to_dict(),
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    def to_json(self, **document: Any) -> str:
        """Return the plain data as JSON; title, owner, …, as in `to_html`, are in "about"."""
        about = Document.of(**document).to_dict()
        return json_text({**self.to_dict(), **({"about": about} if about else {})}, indent=2)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the groups as a frame of "pandas", "polars" or "pyarrow", one a row.

        The column "table" has the attributes, and "group" who is in; rows of unknown category are
        the last of their table, marked in "is_unknown", with no ratio.
        """
        from gerrymend.reporting.impact.rows import flat_rows

        rows = flat_rows(self.to_dict())
        return nw.from_dicts(rows, backend=check_backend(backend)).to_native()

    def to_markdown(self, **document: Any) -> str:
        """Return the sections of the page as Markdown, which takes the same arguments."""
        from gerrymend.reporting.impact.markdown import impact_markdown

        return impact_markdown(self.to_dict(), Document.of(**document))

    def to_html(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        owner: str | None = None,
        purpose: str | None = None,
        date: Any = None,
    ) -> str:
        """Return one self-contained page; needs jinja2 (pip install 'gerrymend[report]').

        Parameters
        ----------
        title : str, optional
            In place of "Impact ratios", or the profile's own.
        model, owner, purpose : str, optional
            Which model it is, who answers for it, and what it decides: on top of the page.
        date : str or datetime.date, optional
            As of when.
        """
        from gerrymend.reporting.impact.page import impact_page

        about = Document.of(title=title, model=model, owner=owner, purpose=purpose, date=date)
        return impact_page(self.to_dict(), about)

    def write_html(self, path: str | Path, **document: Any) -> Path:
        """Write the page of `to_html`, which takes `document`, to a file; return its path."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(**document), path)

    def to_csv(self) -> str:
        """Return the groups as CSV, in which no text is a formula to a spreadsheet.

        One that looks like a formula has an apostrophe before it; to_frame() has it as it is.
        """
        from gerrymend.reporting.impact.sheets import as_csv

        return as_csv(self.to_dict())

    def write_csv(self, path: str | Path) -> Path:
        """Write the CSV of `to_csv` to a file, whole or not at all; return its path."""
        target = check_path(path)
        # The mark at the beginning tells spreadsheets that it is UTF-8.
        write_whole(target, self.to_csv().encode("utf-8-sig", "backslashreplace"))
        return target

    def write_xlsx(self, path: str | Path) -> Path:
        """Write a workbook with a sheet of the groups and one of what they are; return its path.

        It needs openpyxl (pip install 'gerrymend[xlsx]').
        """
        from gerrymend.reporting.impact.sheets import as_xlsx

        target = check_path(path)
        write_whole(target, as_xlsx(self.to_dict()))
        return target

    def _repr_html_(self) -> str | None:
        """Return the tables for notebooks, or None without jinja2, so that they show the text."""
        from gerrymend.reporting.impact.page import impact_fragment

        try:
            return impact_fragment(self.to_dict())
        except ImportError:
            return None

    def __rich__(self) -> Any:
        from gerrymend.reporting.impact.text import impact_spans
        from gerrymend.reporting.text import RichSpans

        return RichSpans(partial(impact_spans, self.to_dict()))

    def __repr__(self) -> str:
        ratios = [group.ratio for group in self.groups if group.ratio is not None]
        return short_repr(
            self,
            rate=self.rate,
            tables=tuple(" × ".join(table.attributes) for table in self.tables),
            n_groups=len(self.groups),
            lowest_ratio=min(ratios, default=None),
            n_rows=self.n_rows,
        )

    def __str__(self) -> str:
        from gerrymend.reporting.impact.text import impact_text

        return impact_text(self.to_dict())


def check_unknown(unknown: Any) -> list[Any]:
    """Return the values that stand for an unknown category as a list; raise for a bare text.

    >>> check_unknown(None), check_unknown(("NA",))
    ([], ['NA'])
    >>> check_unknown("NA")
    Traceback (most recent call last):
    gerrymend._runtime.errors.ArgumentError: unknown must be a list of values that stand for an \
unknown category, as ['NA']; got 'NA'.
    """
    if unknown is None:
        return []
    if not isinstance(unknown, list | tuple | set | frozenset):
        raise ArgumentError(
            "unknown",
            "must be a list of values that stand for an unknown category, as "
            f"['NA']; got {short(unknown)}.",
        )
    return list(unknown)
