"""UncertainReport: what an audit finds where an attribute is known as probabilities."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.doubts import Doubt
from gerrymend.auditing.provenance import Provenance
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.auditing.verdict import verdict
from gerrymend.notions import FairnessNotion
from gerrymend.reporting.wording import json_text
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.uncertain.group import UncertainGroup


@dataclass(frozen=True, eq=False, repr=False)
class UncertainReport:
    """An audit where an attribute is known as probabilities: expected, and possible, unfairness.

    Nobody is assigned to a category. Figures are of two kinds: expected ones, which are true on
    average if decisions depend on the attribute through nothing but its probabilities and the known
    attributes; and bounds, which hold whoever the members are, as long as the probabilities are
    right on average.

    Attributes
    ----------
    worst : UncertainGroup or None
        The group of the largest expected unfairness, of those large enough to be described.
    expected_unfairness : float
        The largest expected unfairness that was found, without sign.
    expected_bound : float
        No group has a larger expected one.
    upper_bound : float
        No group has more in truth.
    surely : UncertainGroup or None
        The group that has most whoever its members are; None where none is told of that has any.
    lower_bound : float
        So much a group has in truth, at least, whoever the members are.
    gamma : float
        The unfairness to allow.
    n_rows : int
        Rows of positive weight.
    attribute : str
        The attribute that is known as probabilities.
    categories : tuple of UncertainGroup
        Each of its categories, of those with enough rows, for each notion.
    known_attributes : tuple of str
    pool_size : int
        Among so many people, at least, probabilities are taken to be right on average.
    n_pools : int
    n_free : int
        People whose known attributes fewer than `pool_size` share: nothing is taken to be right.
    probability_error : float
        How far the shares of a pool may be from what probabilities say.
    notions : tuple of FairnessNotion
    subgroups : SubgroupClass
        The class over the known attributes.
    covers : str
        All groups that were searched, in words.
    min_group_size : int
        Groups that fewer rows are expected in, in the event, are not described.
    weighted : bool
        Whether rows weigh differently.
    p_value : float or None
        Of the expected unfairness, by permutations of the decisions among people.
    n_permutations : int
        Permutations that were made.
    labels : pair
    is_labelled : bool
    warnings : tuple of Doubt
    provenance : Provenance

    See Also
    --------
    audit_uncertain : Audit where an attribute is known as probabilities, as by BISG.
    AuditReport : The findings of an audit, on the rows that it was given.

    Examples
    --------
    >>> from gerrymend import audit_uncertain
    >>> p = [0.1] * 200 + [0.9] * 200
    >>> report = audit_uncertain(
    ...     None, ([1] * 8 + [0] * 2) * 20 + ([1] * 4 + [0] * 6) * 20,
    ...     attribute_probabilities={"race": {"Black": p, "White": [1 - x for x in p]}},
    ...     notion="statistical_parity", gamma=0.02)
    >>> round(report.expected_unfairness, 3), round(report.upper_bound, 3), report.verdict
    (0.08, 0.15, 'exceeds gamma')
    """

    worst: UncertainGroup | None
    expected_unfairness: float
    expected_bound: float
    upper_bound: float
    surely: UncertainGroup | None
    lower_bound: float
    gamma: float
    n_rows: int
    attribute: str
    categories: tuple[UncertainGroup, ...]
    known_attributes: tuple[str, ...]
    pool_size: int
    n_pools: int
    n_free: int
    probability_error: float
    notions: tuple[FairnessNotion, ...]
    subgroups: SubgroupClass
    covers: str
    min_group_size: int
    weighted: bool
    p_value: float | None
    n_permutations: int
    labels: tuple[Any, Any]
    is_labelled: bool
    warnings: tuple[Doubt, ...]
    provenance: Provenance

    @property
    def verdict(self) -> str:
        """Return "within gamma", "exceeds gamma" or "undecided".

        - "within gamma": no group exceeds it, whoever the members are;
        - "exceeds gamma": a group does, whoever its members are;
        - "undecided": it depends on who they are, or more was not proven. The expected unfairness
          alone decides nothing.
        """
        return verdict(self.lower_bound, self.upper_bound, self.gamma, ROUNDING)

    @property
    def exact(self) -> bool:
        """Return whether no group has a larger expected unfairness than what was found."""
        return self.expected_bound <= self.expected_unfairness + ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; nothing of a row is in it."""
        return {
            "kind": "uncertain",
            "verdict": self.verdict,
            "gamma": self.gamma,
            "expected_unfairness": self.expected_unfairness,
            "expected_bound": self.expected_bound,
            "exact": self.exact,
            "upper_bound": self.upper_bound,
            "lower_bound": self.lower_bound,
            "worst": None if self.worst is None else self.worst.to_dict(),
            "surely": None if self.surely is None else self.surely.to_dict(),
            "n_rows": self.n_rows,
            "weighted": self.weighted,
            "attribute": self.attribute,
            "categories": [one.to_dict() for one in self.categories],
            "known_attributes": list(self.known_attributes),
            "pool_size": self.pool_size,
            "n_pools": self.n_pools,
            "n_free": self.n_free,
            "probability_error": self.probability_error,
            "notions": [notion.to_dict() for notion in self.notions],
            "class": self.subgroups.to_dict(),
            "covers": self.covers,
            "min_group_size": self.min_group_size,
            "p_value": self.p_value,
            "n_permutations": self.n_permutations,
            "labels": list(self.labels),
            "is_labelled": self.is_labelled,
            "warnings": [doubt.to_dict() for doubt in self.warnings],
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        return json_text(self.to_dict(), indent=2)

    def to_markdown(self, title: str | None = None) -> str:
        """Return the report as Markdown; names from the data are escaped."""
        from gerrymend.reporting.uncertain.markdown import uncertain_markdown

        return uncertain_markdown(self.to_dict(), title)

    def to_html(self, title: str | None = None) -> str:
        """Return one self-contained page; needs jinja2 (pip install 'gerrymend[report]')."""
        from gerrymend.reporting.uncertain.page import uncertain_page

        return uncertain_page(self.to_dict(), title)

    def write_html(self, path: str | Path, title: str | None = None) -> Path:
        """Write the page of `to_html` to a file, whole or not at all, and return its path."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(title), path)

    def __repr__(self) -> str:
        return short_repr(
            self,
            verdict=self.verdict,
            expected_unfairness=self.expected_unfairness,
            upper_bound=self.upper_bound,
            worst=None if self.worst is None else self.worst.describe(),
            n_rows=self.n_rows,
        )

    def __str__(self) -> str:
        from gerrymend.reporting.uncertain.text import uncertain_text

        return uncertain_text(self.to_dict())

    def __rich__(self) -> Any:
        """Return the text for rich to print, as wide as its console."""
        from gerrymend.reporting.text import RichSpans
        from gerrymend.reporting.uncertain.text import uncertain_spans

        return RichSpans(partial(uncertain_spans, self.to_dict()))

    def _repr_html_(self) -> str | None:
        """Return what leads and the table for notebooks; None without jinja2."""
        from gerrymend.reporting.uncertain.page import uncertain_fragment

        return uncertain_fragment(self.to_dict())
