"""Comparison: what changed from one audit to another, as data first."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.doubts import Doubt
from gerrymend.auditing.inference.held_out import HeldOut
from gerrymend.auditing.inference.population import PopulationBound
from gerrymend.auditing.provenance import Provenance
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.subgroup import ROUNDING, Subgroup
from gerrymend.auditing.verdict import verdict
from gerrymend.changes.movement import Movement
from gerrymend.notions import AnyNotion
from gerrymend.subgroups.base import SubgroupClass

# A p-value of no more than this is no chance.
LEVEL = 0.05
BETTER, SAME, WORSE, CANT_TELL = "better", "same", "worse", "can't tell"


@dataclass(frozen=True, eq=False, repr=False)
class Standing:
    """The largest unfairness of one side: found on its rows, and what none exceeds.

    Attributes
    ----------
    n_rows : int
        Rows that were audited.
    unfairness, upper_bound : float
        As in AuditReport.
    worst : Subgroup or None
        The worst subgroup, of those that may be told.
    made_on : str or None
        When the report was made, of which this is; None where it is of rows.
    """

    n_rows: int
    unfairness: float
    upper_bound: float
    worst: Subgroup | None
    made_on: str | None = None

    def __repr__(self) -> str:
        worst = None if self.worst is None else self.worst.describe()
        told = {name: getattr(self, name) for name in ("n_rows", "unfairness", "upper_bound")}
        return short_repr(self, **told, worst=worst)

    def to_dict(self, gamma: float, rounding: float) -> dict[str, Any]:
        """Return it as plain data, with its verdict for a gamma."""
        return {
            "n_rows": self.n_rows,
            "unfairness": self.unfairness,
            "upper_bound": self.upper_bound,
            "exact": self.upper_bound <= self.unfairness + rounding,
            "verdict": verdict(self.unfairness, self.upper_bound, gamma, rounding),
            "worst": None if self.worst is None else self.worst.to_dict(),
            "made_on": self.made_on,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What changed from an audit, or from a model, to another.

    Attributes
    ----------
    basis : {"report", "samples", "models"}
        What the old side is: a report alone, rows of its own, or another model's decisions on the
        same rows.
    old, new : Standing
        The largest unfairness of either side, with the worst subgroup.
    old_worst_now : HeldOut
        The old side's worst subgroup, measured on the new rows. It was not chosen on these, so its
        intervals are valid.
    moved : Movement or None
        The subgroup whose treatment moved most; None where the old rows are not at hand.
    tolerance : float
        A change of the largest unfairness up to this counts as none.
    p_value : float or None
        The p-value of the change of the largest unfairness, by permutations that exchange old and
        new rows, or the decisions of the two models.
    n_permutations : int
        Permutations behind the p-values.
    no_p_value : str
        Why there is none.
    population : PopulationBound or None
        Beside a report alone: what holds for the people that the new rows were drawn from.
    gamma, notions, subgroups, covers, favourable, side, min_group_size, labels, attributes, \
control_features
        As in AuditReport, of both sides.
    kept_back : tuple of str
        What is not told, as a group of fewer than `min_group_size` rows would follow: "old_worst",
        "moved".
    warnings : tuple of Doubt
        Why it may say nothing of fairness, as in AuditReport, of the new rows.
    provenance : Provenance
        When it was made, by what, and the fingerprint of the new rows.

    See Also
    --------
    compare : Compare an audit with an earlier one, or a model with another.
    Movement
        The subgroup whose treatment, beside everyone's, moved most; and what none moved by more.
    Watch : Watch a stream of batches for a subgroup that exceeds gamma.

    Examples
    --------
    >>> from gerrymend import compare
    >>> A = {"sex": ["F"] * 400 + ["M"] * 400}
    >>> labels, old, new = [0] * 800, [0, 1] * 400, [1] * 300 + [0] * 100 + [0, 1] * 200
    >>> found = compare(old, labels, new, sensitive_features=A)
    >>> found.verdict, found.old.unfairness, found.new.unfairness, found.p_value
    ('worse', 0.0, 0.0625, 0.01)
    """

    basis: str
    old: Standing
    new: Standing
    old_worst_now: HeldOut
    moved: Movement | None
    tolerance: float
    gamma: float
    provenance: Provenance
    p_value: float | None = None
    n_permutations: int = 0
    no_p_value: str = ""
    population: PopulationBound | None = None
    notions: tuple[AnyNotion, ...] = ()
    subgroups: SubgroupClass | None = None
    covers: str = ""
    favourable: str | None = None
    side: str = "both"
    min_group_size: int = MIN_GROUP_SIZE
    labels: tuple[Any, ...] = (0, 1)
    is_labelled: bool = True
    attributes: tuple[str, ...] = ()
    control_features: tuple[str, ...] = ()
    kept_back: tuple[str, ...] = ()
    warnings: tuple[Doubt, ...] = ()
    rounding: float = ROUNDING

    @property
    def change(self) -> float:
        """Return by how much the largest unfairness that was found rose; negative if it fell."""
        return self.new.unfairness - self.old.unfairness

    @property
    def exceeds(self) -> bool:
        """Return whether a subgroup of the new rows exceeds gamma."""
        return self.new.unfairness > self.gamma + self.rounding

    @property
    def beyond_chance(self) -> bool | None:
        """Return whether chance hardly makes such a change; None where that was not tested.

        By the p-value, at 5 %. Beside a report alone: whether the largest unfairness among the
        people of the new rows is on one side of the report's figure, with 95 % confidence.
        """
        if self.basis != "report":
            return None if self.p_value is None else self.p_value <= LEVEL
        people = self.population
        if people is None or people.lower_bound is None or people.upper_bound is None:
            return None
        if self.change > 0:
            return people.lower_bound > self.old.unfairness
        return people.upper_bound < self.old.unfairness

    @property
    def verdict(self) -> str:
        """Return "better", "same", "worse" or "can't tell".

        - "worse": the largest unfairness that was found rose by more than `tolerance`, beyond
          chance;
        - "same": on the new rows none exceeds what was found on the old ones by more than
          `tolerance`, which is proven, and what was found fell by no more than that;
        - "better": it is proven that none on the new rows comes within `tolerance` of what was
          found on the old ones, beyond chance;
        - "can't tell": anything else.
        """
        limit = self.tolerance + self.rounding
        if self.change > limit:
            return WORSE if self.beyond_chance else CANT_TELL
        if -self.change <= limit:
            proven = self.new.upper_bound - self.old.unfairness <= limit
            return SAME if proven else CANT_TELL
        proven = self.old.unfairness - self.new.upper_bound > limit
        return BETTER if proven and self.beyond_chance else CANT_TELL

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data; nothing of a row is in it."""
        return {
            "kind": "comparison",
            "verdict": self.verdict,
            "basis": self.basis,
            "change": self.change,
            "tolerance": self.tolerance,
            "gamma": self.gamma,
            "beyond_chance": self.beyond_chance,
            "p_value": self.p_value,
            "n_permutations": self.n_permutations,
            "no_p_value": self.no_p_value or None,
            "old": self.old.to_dict(self.gamma, self.rounding),
            "new": self.new.to_dict(self.gamma, self.rounding),
            "old_worst_now": self.old_worst_now.to_dict(),
            "moved": None if self.moved is None else self.moved.to_dict(),
            "population": None if self.population is None else self.population.to_dict(),
            "warnings": [doubt.to_dict() for doubt in self.warnings],
            "kept_back": list(self.kept_back),
            "covers": self.covers,
            "class": None if self.subgroups is None else self.subgroups.to_dict(),
            "notions": [notion.to_dict() for notion in self.notions],
            "favourable": self.favourable,
            "side": self.side,
            "min_group_size": self.min_group_size,
            "labels": list(self.labels),
            "is_labelled": self.is_labelled,
            "attributes": list(self.attributes),
            "control_features": list(self.control_features),
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        from gerrymend.reporting.wording import json_text

        return json_text(self.to_dict(), indent=2)

    def to_markdown(self, title: str | None = None) -> str:
        """Return the comparison as Markdown; names from the data are escaped."""
        from gerrymend.reporting.changes.markdown import comparison_markdown

        return comparison_markdown(self.to_dict(), title)

    def to_html(self, title: str | None = None) -> str:
        """Return one self-contained page; needs jinja2 (pip install 'gerrymend[report]')."""
        from gerrymend.reporting.changes.page import comparison_page

        return comparison_page(self.to_dict(), title)

    def write_html(self, path: str | Path, title: str | None = None) -> Path:
        """Write the page of `to_html` to a file, whole or not at all, and return its path."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(title), path)

    def __repr__(self) -> str:
        names: Mapping[str, Any] = {
            name: getattr(self, name) for name in ("verdict", "basis", "change", "p_value")
        }
        return short_repr(self, **names)

    def __str__(self) -> str:
        from gerrymend.reporting.changes.text import comparison_text

        return comparison_text(self.to_dict())

    def __rich__(self) -> Any:
        """Return the text for rich to print, as wide as its console."""
        from gerrymend.reporting.changes.text import comparison_spans
        from gerrymend.reporting.text import RichSpans

        return RichSpans(partial(comparison_spans, self.to_dict()))

    def _repr_html_(self) -> str | None:
        from gerrymend.reporting.changes.page import comparison_fragment

        return comparison_fragment(self.to_dict())
