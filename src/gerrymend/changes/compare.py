"""compare(): what changed since an earlier audit, or from one model to another."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.chosen_subgroups import cells_of, published_by, worst_of_notion
from gerrymend.auditing.doubts import doubts_of
from gerrymend.auditing.examine import prove_each
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.from_rows import Given, read_tally, rows_of, second_sample
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.held_out import HeldOut, measure_held_out
from gerrymend.auditing.inference.population import PopulationBound, population_bound
from gerrymend.auditing.provenance import Provenance, fingerprint
from gerrymend.auditing.references import check_references
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.strata import check_counted
from gerrymend.auditing.subgroup import Subgroup, beyond_rounding
from gerrymend.auditing.tally import Tally, largest_rounding
from gerrymend.changes.chance_of_change import ChangeTest, chance_of_change
from gerrymend.changes.comparison import Comparison, Standing
from gerrymend.changes.earlier_report import EarlierReport
from gerrymend.changes.joint_cells import JointCells
from gerrymend.changes.movement import JointNotion, movement, prove_movement
from gerrymend.changes.pooled_rows import PooledRows, obstacle
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_number
from gerrymend.inputs.validation import columns_of, is_frame, is_lazy
from gerrymend.notions import (
    AnyNotion,
    FairnessNotion,
    Multiaccuracy,
    by_class,
    directed_notions,
)
from gerrymend.subgroups.compiling import compile_proofs

REPORT, SAMPLES, MODELS = "report", "samples", "models"
# The confidence of what holds of the people, beside a report alone.
_CONFIDENCE = 0.95
# The parts of a budget that proofs have, of the largest on either side and of what moved.
_PROVING = 0.8
_DEFAULTS = {
    "notion": "false_positive_rate",
    "subgroups": "linear",
    "gamma": 0.01,
    "side": "both",
    "min_group_size": MIN_GROUP_SIZE,
}


@interruptible
def compare(
    old: Any,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: Any = None,
    subgroups: Any = None,
    gamma: float | None = None,
    tolerance: float | None = None,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str | None = None,
    budget: float = 30.0,
    min_group_size: int | None = None,
    data: Any = None,
    control_features: Any = None,
    leave_out_empty_strata: bool = False,
    n_permutations: int = 199,
    random_state: int = 0,
    on_draw: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare an audit with an earlier one, or a model with another.

    It measures the old side's worst subgroup on the new rows, searches these for the new worst, and
    searches the whole class for the subgroup whose unfairness moved most. What moved is tested
    with the search repeated, so that the p-value has paid for it.

    Parameters
    ----------
    old : AuditReport, dict or path; tuple of arrays or frame; or decisions
        What to compare with:

        - an audit's report, its `to_dict()`, or the JSON that it was saved as. Settings are then
          its own, and those that are passed have to be the same;
        - older rows: a tuple (y_true, y_pred, sensitive_features), weights as a fourth and control
          features as a fifth, or a frame with the same columns where `data` is one;
        - another model's decisions on the new rows: an array as y_pred is, or the name of a column
          of `data`.
    y_true, y_pred, sensitive_features, sample_weight, threshold, decision_probabilities, \
pos_label, data, control_features, leave_out_empty_strata
        The new rows, as in audit(). Those of a lazy frame are collected, as they are dealt anew
        one by one.
    notion, subgroups, gamma, favourable, side, min_group_size
        As in audit(), which has their defaults; of a report, those that it was made with. Notions
        of scores can't be compared.
    tolerance : float, optional
        A change of the largest unfairness by no more than this is none; by default gamma.
    budget : float, default=30.0
        Seconds that searches and proofs may take, and permutations as many again.
    n_permutations : int, default=199
        Permutations for the p-values, each with the searches repeated: of which rows are the new
        ones or, of two models, of the two decisions of each row. Beside a report alone rows are
        drawn anew instead, 400 times.
    random_state : int, default=0
        Seed of the permutations.
    on_draw : callable, optional
        Called as on_draw(done, of) while they are made.

    Returns
    -------
    Comparison
        Its `verdict` is "better", "same", "worse" or "can't tell", by the rule that is told there.

    Raises
    ------
    TypeError, ValueError
        For an argument that can't be used, a report of another version, or one whose rates, gamma,
        class, labels or attributes are not those of the new rows.

    Examples
    --------
    A model is replaced by one that grants women fewer loans:

    >>> import numpy as np
    >>> from gerrymend import audit, compare
    >>> sex = np.array(["F", "M"] * 500)
    >>> rows = dict(y_true=None, sensitive_features={"sex": sex}, notion="statistical_parity")
    >>> today = np.arange(1000) % 5 < 3
    >>> then = audit(y_pred=today, **rows)
    >>> tomorrow = today & ~((sex == "F") & (np.arange(1000) % 3 == 0))
    >>> compare(today, y_pred=tomorrow, **rows).verdict
    'worse'
    >>> found = compare(then.to_dict(), y_pred=tomorrow, **rows)
    >>> found.verdict, found.new.worst.describe()
    ('worse', 'sex = M')
    """
    given = Given(y_true, y_pred, sensitive_features, sample_weight, control_features)
    basis, other = _read_old(old, data)
    settings = _settings(
        other if isinstance(other, EarlierReport) else None,
        {
            "notion": notion,
            "subgroups": subgroups,
            "gamma": gamma,
            "favourable": favourable,
            "side": side,
            "min_group_size": min_group_size,
        },
        budget=budget,
        n_permutations=n_permutations,
        random_state=random_state,
        on_draw=on_draw,
    )
    if tolerance is not None:
        words = "It is an unfairness; a change by no more than this is none."
        tolerance = check_number(tolerance, "tolerance", low=0.0, remedy=words)
    labels = other.labels if isinstance(other, EarlierReport) else None
    decided = Decided(threshold, decision_probabilities, pos_label, many=True, labels=labels)
    if labels is not None:
        _check_labels_given(given, labels)
    rows = _Rows.read(other, basis, data, given, decided, settings["notions"])
    notions = by_class(settings["notions"], rows.new.labels, settings["favourable"])
    settings["notions"] = notions
    for tally in rows.tallies:
        check_counted(tally, notions, leave_out=leave_out_empty_strata)
        check_references(tally, notions, settings["min_group_size"])
    if isinstance(other, EarlierReport):
        other.check_rows(rows.new)
        other.check_notions(notions)
    names = (y_true, y_pred) if data is not None else (None, None)
    doubts = doubts_of(rows.new, None, decided, names, notions, settings["gamma"])
    compile_proofs([settings["subgroups"]], rows.new.protected)
    work = _Work(rows, settings, time.monotonic() + settings["budget"])
    parts = work.against_report(other) if isinstance(other, EarlierReport) else work.against_rows()
    return Comparison(
        basis=basis,
        tolerance=settings["gamma"] if tolerance is None else tolerance,
        gamma=settings["gamma"],
        notions=notions,
        subgroups=settings["subgroups"],
        favourable=settings["favourable"],
        side=settings["side"],
        min_group_size=settings["min_group_size"],
        labels=rows.new.labels,
        is_labelled=rows.new.is_labelled,
        attributes=tuple(column.name for column in rows.new.protected),
        control_features=tuple(column.name for column in rows.new.strata_columns),
        warnings=doubts,
        provenance=Provenance.of(
            rows.new, random_state=settings["random_state"], budget=settings["budget"], top=1
        ),
        rounding=work.rounding,
        **parts,
    )


def _read_old(old: Any, data: Any) -> tuple[str, Any]:
    """Return what the old side is, and it: a report that was read, rows, or decisions."""
    if old is None:
        raise ArgumentError(
            "old", "is None; pass a report or its JSON, older rows, or another model's decisions."
        )
    if isinstance(old, str) and data is not None and old in _names_of(data):
        return MODELS, old
    is_plain = isinstance(old, Mapping) and "verdict" in old
    if isinstance(old, AuditReport | str | Path) or is_plain:
        return REPORT, EarlierReport.of(old)
    if isinstance(old, tuple) or is_frame(old) or is_lazy(old):
        return SAMPLES, old
    if isinstance(old, Mapping):
        # One may be the rows of a mapping, where `data` is one.
        return (SAMPLES, old) if isinstance(data, Mapping) else (REPORT, EarlierReport.of(old))
    return MODELS, old


def _names_of(data: Any) -> Collection[str]:
    """Return the names of the columns of a frame, eager or lazy."""
    if is_lazy(data):
        return nw.from_native(data).collect_schema().names()
    return columns_of(data, "data")


def _settings(report: EarlierReport | None, given: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return the arguments of the searches; those of a report where it is one."""
    if report is not None:
        names = ("gamma", "side", "min_group_size", "favourable")
        given = {**given, **{name: report.setting(name, given[name]) for name in names}}
    chosen = {
        name: _DEFAULTS.get(name) if value is None else value for name, value in given.items()
    }
    # Of a report each notion says itself which side is worse, also where favourable does not.
    searched: dict[str, Any] = chosen if report is None else {**chosen, "side": "both"}
    checked = check_settings(**searched, reference=None, top=1, **others)
    if report is not None:
        checked["side"] = given["side"]
        checked["subgroups"] = report.subgroup_class(given["subgroups"])
        asked = given["notion"]
        favourable = checked["favourable"]
        notions = None if asked is None else directed_notions(asked, favourable, checked["side"])
        checked["notions"] = report.notions(notions)
    if any(isinstance(one, Multiaccuracy) for one in checked["notions"]):
        raise ArgumentError(
            "notion",
            "is of scores, and rates or means of two sides are compared here; calibrate() and "
            "audit() look into scores.",
        )
    return checked


def _check_labels_given(given: Given, labels: tuple[Any, ...]) -> None:
    """Raise an ArgumentError where a report has labels, and the new rows have none."""
    if given.y_true is None:
        raise ArgumentError(
            "y_true",
            "is not given, and the old report has labels "
            f"{', '.join(map(repr, labels))}; pass those of the new rows.",
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of either side, as tallies; `old` is None beside a report alone."""

    basis: str
    old: Tally | None
    new: Tally

    @property
    def tallies(self) -> list[Tally]:
        return [self.new] if self.old is None else [self.old, self.new]

    @classmethod
    def read(
        cls,
        other: Any,
        basis: str,
        data: Any,
        given: Given,
        decided: Decided,
        notions: tuple[AnyNotion, ...],
    ) -> "_Rows":
        """Read both sides; the old one has the labels and the attributes of the new one."""
        arrays = rows_of(data, given)
        new = read_tally(None, arrays, decided, notions)
        if basis == REPORT:
            return cls(basis, None, new)
        decided = decided._replace(labels=new.labels)
        if basis == SAMPLES:
            if data is not None:
                other = tuple(rows_of(other, given))
            return cls(basis, second_sample(
                other, new, None, arrays, decided, notions, "old"), new)  # fmt: skip
        if data is not None and isinstance(other, str):
            other = rows_of(data, given._replace(y_pred=other)).y_pred
        try:
            old = read_tally(None, arrays._replace(y_pred=other), decided, notions)
        except ArgumentError as error:
            error.lead = f"In old: {error.lead}"
            raise
        return cls(basis, old, new)


@dataclass(frozen=True, eq=False)
class _Work:
    """The searches of a comparison: their rows, their settings, and when they have to end."""

    rows: _Rows
    settings: dict[str, Any]
    deadline: float

    @property
    def rounding(self) -> float:
        """What rounding alone may make of an unfairness."""
        tallies = self.rows.tallies
        return max(
            largest_rounding(tally.of_notion(one) for one in self.settings["notions"])
            for tally in tallies
        )

    def against_report(self, report: EarlierReport) -> dict[str, Any]:
        """Return the parts of a comparison with a report, of which no rows are at hand."""
        notions = self.settings["notions"]
        then = report.worst(self.rows.new, notions)
        new, examined = self._standing(self.rows.new, _PROVING)
        told = self._told(examined, [new.worst])
        now, kept_back = self._measured(then, self.rows.new, told, report.fingerprint)
        old = Standing(
            n_rows=int(report.data["n_rows"]),
            unfairness=float(report.data["unfairness"]),
            upper_bound=float(report.data["upper_bound"]),
            worst=then,
            made_on=report.made_on,
        )
        return {
            "old": old,
            "new": new,
            "old_worst_now": now,
            "moved": None,
            "population": self._population(examined, new),
            "no_p_value": "the old rows are not at hand, only their report",
            "covers": examined[0].bound.covers,
            "kept_back": kept_back,
        }

    def against_rows(self) -> dict[str, Any]:
        """Return the parts of a comparison with rows, or with a model on the same rows."""
        before, after = self.rows.tallies
        same_rows = self.rows.basis == MODELS
        old, examined_old = self._standing(before, _PROVING / 3)
        new, examined = self._standing(after, _PROVING / 2)
        told = self._told(examined, [new.worst])
        now, kept_back = self._measured(old.worst, after, told)
        told_old = told if same_rows else self._told(examined_old, [old.worst])
        notions = self._joint(examined_old, examined)
        brackets = prove_movement(notions, self._left() * _PROVING)
        test = self._test(notions)
        moved = movement(
            notions,
            brackets,
            (told,) if same_rows else (told_old, told),
            min_group_size=self.settings["min_group_size"],
            p_value=test.p_moved,
            same_rows=same_rows,
            seconds=max(1.0, self._left()),
        )
        if moved.moved and moved.now is None:
            kept_back = (*kept_back, "moved")
        return {
            "old": old,
            "new": new,
            "old_worst_now": now,
            "moved": moved,
            "p_value": test.p_change,
            "n_permutations": test.n_draws,
            "no_p_value": test.reason,
            "covers": examined[0].bound.covers,
            "kept_back": kept_back,
        }

    def _left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def _standing(self, tally: Tally, part: float) -> tuple[Standing, list[Examined]]:
        """Search and prove one side, in a part of the time that is left."""
        seconds = part * self._left()
        notions = self.settings["notions"]
        side = self.settings["side"]
        examined = prove_each(tally, notions, self.settings["subgroups"], seconds, side=side)
        n = tally.total_weight
        values = [abs(float(one.bracket.found.values[0])) / n for one in examined]
        largest = examined[int(np.argmax(values))]
        floor = self.settings["min_group_size"]
        worst = worst_of_notion(largest, examined, floor, time.monotonic() + 0.1 * self._left())
        unfairness = max(values) if worst is None else max(*values, abs(worst.unfairness))
        unfairness = beyond_rounding(unfairness, largest_rounding(one.seen for one in examined))
        return (
            Standing(
                n_rows=int(tally.n_rows.sum()),
                unfairness=unfairness,
                upper_bound=max(unfairness, *(one.bracket.upper_bound / n for one in examined)),
                worst=_alone(worst) if worst is not None and worst.differs else None,
            ),
            examined,
        )

    def _told(
        self, examined: Sequence[Examined], groups: Sequence[Subgroup | None]
    ) -> dict[FairnessNotion, Published]:
        """Return what these groups tell of their rows."""
        seen = [one.seen for one in examined]
        described = [one for one in groups if one is not None]
        floor = self.settings["min_group_size"]
        return published_by(seen, described, floor, max(1.0, self._left()))

    def _measured(
        self,
        then: Subgroup | None,
        tally: Tally,
        told: Mapping[FairnessNotion, Published],
        found_on: str | None = None,
    ) -> tuple[HeldOut, tuple[str, ...]]:
        """Return the old worst subgroup as it is on new rows, and what is not told of it.

        `found_on` is the fingerprint of the rows of a report.
        """
        floor = self.settings["min_group_size"]
        searched = self.rows.tallies[0]
        now = measure_held_out(then, tally, searched=searched, min_group_size=floor)
        if self.rows.old is None:  # of which there is a report, with a fingerprint
            now = replace(now, same_rows=fingerprint(tally) == found_on)
        if now.subgroup is None:
            return now, () if then is None else ("old_worst",)
        seen = tally.of_notion(_notion_of(now.subgroup, self.settings["notions"]))
        blocks = cells_of(seen, now.subgroup).astype(np.intp)
        published = told[now.subgroup.notion]
        if published.told(blocks) is not None:
            return HeldOut(now.n_rows, level=now.level, same_rows=now.same_rows), ("old_worst",)
        published.add(blocks)
        return now, ()

    def _joint(self, old: Sequence[Examined], new: Sequence[Examined]) -> list[JointNotion]:
        """Bind the class to the cells of both sides, once for each notion."""
        before, after = self.rows.tallies
        joint = JointCells.of(before.columns, after.columns)
        subgroups = self.settings["subgroups"]
        side = self.settings["side"]
        return [
            JointNotion.of(then.seen, now.seen, joint, subgroups, side)
            for then, now in zip(old, new, strict=True)
        ]

    def _test(self, notions: Sequence[JointNotion]) -> ChangeTest:
        """Test what changed against chance."""
        if reason := obstacle(self.rows.tallies):
            return ChangeTest(0, reason=reason)
        of = PooledRows.of_models if self.rows.basis == MODELS else PooledRows.of_samples
        old = [one.old for one in notions]
        new = [one.new for one in notions]
        return chance_of_change(
            of(old, new, notions[0].joint),
            [one.search for one in notions],
            n_permutations=self.settings["n_permutations"],
            seconds=self.settings["budget"],
            random_state=self.settings["random_state"],
            rounding=max(one.rounding for one in notions),
            on_draw=self.settings["on_draw"],
        )

    def _population(self, examined: Sequence[Examined], new: Standing) -> PopulationBound:
        """Bound the largest unfairness among the people that the new rows were drawn from."""
        return population_bound(
            self.rows.new,
            examined,
            unfairness=new.unfairness,
            upper_bound=new.upper_bound,
            gamma=self.settings["gamma"],
            confidence=_CONFIDENCE,
            seconds=self.settings["budget"],
            random_state=self.settings["random_state"],
            on_draw=self.settings["on_draw"],
        )


def _alone(subgroup: Subgroup) -> Subgroup:
    """Return a subgroup without who is in it by composition, which would tell of more groups."""
    return replace(subgroup, composition=())


def _notion_of(subgroup: Subgroup, notions: Sequence[AnyNotion]) -> AnyNotion:
    """Return the notion that a subgroup was measured by."""
    return next(one for one in notions if one.name == subgroup.notion.name)
