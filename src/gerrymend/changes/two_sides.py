"""The searches behind a comparison: either side, the old worst on new rows, and what moved most."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.chosen_subgroups import cells_of, published_by, worst_of_notion
from gerrymend.auditing.examine import prove_each
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.from_rows import Given, read_tally, rows_of, second_sample
from gerrymend.auditing.inference.disclosure import Published
from gerrymend.auditing.inference.held_out import HeldOut, measure_held_out
from gerrymend.auditing.inference.population import PopulationBound, population_bound
from gerrymend.auditing.provenance import fingerprint
from gerrymend.auditing.subgroup import Subgroup, beyond_rounding
from gerrymend.auditing.tally import Tally, largest_rounding
from gerrymend.changes.chance_of_change import ChangeTest, chance_of_change
from gerrymend.changes.comparison import Standing
from gerrymend.changes.earlier_report import EarlierReport
from gerrymend.changes.joint_cells import JointCells
from gerrymend.changes.movement import JointNotion, movement, prove_movement
from gerrymend.changes.pooled_rows import PooledRows, obstacle
from gerrymend.inputs.sample import Decided
from gerrymend.notions import AnyNotion, FairnessNotion

# What the old side is.
REPORT, SAMPLES, MODELS = "report", "samples", "models"
# The confidence of what holds of the people, beside a report alone.
_CONFIDENCE = 0.95
# The part of the time that is left that proofs have: of the largest on either side, of what moved.
_PROVING = 0.8


@dataclass(frozen=True, eq=False)
class SideRows:
    """The rows of either side, as tallies; `old` is None beside a report alone."""

    basis: str
    old: Tally | None
    new: Tally

    @property
    def tallies(self) -> list[Tally]:
        """The old rows, if there are any, and the new ones."""
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
    ) -> "SideRows":
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
class Searches:
    """The searches of a comparison: their rows, their settings, and when they have to end."""

    rows: SideRows
    settings: dict[str, Any]
    deadline: float

    @property
    def rounding(self) -> float:
        """Return what rounding alone may make of an unfairness."""
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
