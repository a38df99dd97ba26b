"""The Auditor: answers the decisions of a model with the worst subgroup, for one or more notions.

What is decided comes by label-cell (`rows.py`), and is reduced to sums by cell once a call; all
that follows is over cells.
"""

import math
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.places import MEMORY, Place
from gerrymend._numeric.sums import Array, exactly_summable, total, total_by_cell
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.subgroup import ROUNDING, EventCells, Subgroup
from gerrymend.notions import FairnessNotion, nothing_counts
from gerrymend.solvers.players.centring import Centring, Overall, WithinStrata
from gerrymend.solvers.players.closing_look import CLOSING_WORK, closing_look
from gerrymend.solvers.players.rows import LabelCells
from gerrymend.subgroups.base import BoundClass, Found, SubgroupClass
from gerrymend.subgroups.compiling import compile_proofs
from gerrymend.subgroups.rules import Members

# The part of the time that is left which a search may take; and of the budget, however late it is.
_SEARCH_SHARE = 0.5
_LEAST = 0.02


class NotionAuditor:
    """One notion over some label-cells.

    Written with the outcome u = a + b·p of the rows in the event, summed by part (`centring.py`):
    `offset` is the sum of w·a, and each call adds the sum of w·b·p. `subgroups` are searched every
    round; `audited_class` says how `audit` would search them. `event` are the label-cells in the
    event, in the order of their parts. Votes, residuals and pressure are at a `place`, which is
    memory where there are strata.
    """

    def __init__(
        self,
        notion: FairnessNotion,
        subgroups: SubgroupClass,
        label_cells: LabelCells,
        audited_class: SubgroupClass | None = None,
        place: Place = MEMORY,
    ) -> None:
        self.notion = notion
        self.place = place
        self._cells = cells = label_cells.cells
        moment = label_cells.moment(notion)
        event, key = self._event_in(label_cells, moment.counts)
        # Only cells that have rows in the event matter; they are numbered anew.
        parts, self.starts, self._part = _runs(key)
        self.distinct = len(parts) == len(key)
        self._active, _, cell = _runs(parts // _n_strata(label_cells))
        weight = label_cells.weight[event]

        slope = moment.slope[event]
        self._unit_slope = bool((slope == 1.0).all())
        self.whole = label_cells.is_whole and bool((slope == np.rint(slope)).all())
        offset = total_by_cell(self._part, weight * moment.offset[event], len(parts))
        self._has_offset = bool(offset.any())
        self.event = event if isinstance(event, slice) else place.put(event)
        self._of_part = place.put(self._part)
        self.slope = place.put(slope)
        self.offset = place.put(offset)
        part_weight = total_by_cell(self._part, weight, len(parts))
        self.event_weight = total_by_cell(cell, part_weight, len(self._active))
        self._centring: Centring = Overall(self.event_weight, place)
        if label_cells.stratum is not None:
            self._centring = WithinStrata(part_weight, cell, parts % _n_strata(label_cells))
        self._total_weight = total(label_cells.weight)
        self._n_rows = np.zeros(len(cells), dtype=np.intp)
        np.add.at(self._n_rows, cells.index, label_cells.n_rows)
        self._cell_weight = total_by_cell(cells.index, label_cells.weight, len(cells))
        self.subgroups = self._bound(subgroups)
        self._audited_class = audited_class

    def _bound(self, subgroups: SubgroupClass) -> BoundClass:
        event_weight = np.zeros(len(self._cells))
        event_weight[self._active] = self.event_weight
        bound = subgroups.bind(self._cells.columns, self._cell_weight, event_weight)
        return bound if self.place.is_memory else bound.at(self.place)

    @cached_property
    def audited(self) -> BoundClass:
        """The same class with the search of `audit`, bound when it is first asked for."""
        if self._audited_class is None:
            return self.subgroups
        return self.subgroups.searched_as(self._audited_class) or self._bound(self._audited_class)

    def _event_in(
        self, label_cells: LabelCells, counts: NDArray[np.bool_]
    ) -> tuple[slice | NDArray[np.intp], NDArray[np.intp]]:
        """Return the label-cells in the event, in order of their parts, and a key of each part."""
        event = np.flatnonzero(counts & (label_cells.weight > 0))
        if event.size == 0:
            raise nothing_counts(self.notion)
        key = self._cells.index[event]
        if label_cells.stratum is not None:
            key = key * _n_strata(label_cells) + label_cells.stratum[event]
        order = np.argsort(key, kind="stable")
        event = event[order]
        if (np.diff(event) == 1).all():  # sorted by label and cell: a view, not a copy
            return slice(int(event[0]), int(event[-1]) + 1), key[order]
        return event, key[order]

    def _outcomes(self, votes: Array, n_votes: int | None) -> Array:
        """Sum of w·u by part, one model a row.

        Votes are the weight decided 1 in each label-cell, added up over so many plays; with
        n_votes=None they are those of a mixture.
        """
        weighted = votes[:, self.event]
        if not self._unit_slope:
            weighted = weighted * self.slope
        if not self.whole or n_votes is None:
            weighted = self.place.xp.stack([exactly_summable(model) for model in weighted])
        if not self.distinct:
            weighted = self._by_part(weighted)
        outcomes = weighted * (1.0 if n_votes is None else 1.0 / n_votes)
        if self._has_offset:
            outcomes += self.offset
        return outcomes

    def _by_part(self, weighted: Array) -> Array:
        """Return sums over the label-cells of each part."""
        if self.place.is_memory:
            return np.add.reduceat(weighted, self.starts, axis=1)
        # Of values that are exactly summable, so that no digit is lost in the differences.
        xp = self.place.xp
        totals = xp.cumulative_sum(weighted, axis=1, include_initial=True)
        ends = self.place.put(np.append(self.starts, len(self._part)))
        sums: Array = xp.diff(xp.take(totals, ends, axis=1), axis=1)
        return sums

    def spread(self, pressure: Array) -> Array:
        """b·Σ_g (λ⁻_g − λ⁺_g)·centre(g) for each label-cell in the event, from pressure by cell."""
        parts = self._centring.centred(pressure)
        by_row = parts if self.distinct else self.place.xp.take(parts, self._of_part, axis=1)
        return by_row if self._unit_slope else by_row * self.slope

    def residuals(self, votes: Array, n_votes: int | None) -> Array:
        """W, the centred outcomes by cell; a group's sum, over all weight, is its unfairness."""
        return self._centring.residuals(self._outcomes(votes, n_votes))

    def subgroup(
        self, key: Any, members: Members, votes: Array, n_votes: int | None
    ) -> Subgroup | None:
        """Return the subgroup of a key, measured on the rows that its description selects."""
        outcomes = on_host(self._centring.by_cell(self._outcomes(votes[None], n_votes))[0])
        expected = None
        if isinstance(self._centring, WithinStrata):
            expected = outcomes - self.residuals(votes[None], n_votes)[0]
        cells = EventCells(
            self.notion,
            self._cells.columns,
            self._n_rows,
            self._active,
            self.event_weight,
            self._total_weight,
            expected,
        )
        return cells.measure(self.subgroups.source.rule(key), on_host(members), outcomes)


def _runs(
    keys: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct ones of sorted keys, where each begins, and which of them each key is.

    >>> [part.tolist() for part in _runs(np.array([2, 2, 5]))]
    [[2, 5], [0, 2], [0, 0, 1]]
    """
    begins = np.append(True, keys[1:] != keys[:-1])
    starts = np.flatnonzero(begins)
    return keys[starts], starts, np.cumsum(begins) - 1


def _n_strata(label_cells: LabelCells) -> int:
    """Return a number that no stratum's reaches."""
    return 1 if label_cells.stratum is None else int(label_cells.stratum.max()) + 1


class Answer(NamedTuple):
    """The Auditor's answer to each model: which notion, and what was found for each notion."""

    unfairness: Array
    notion: NDArray[np.intp]
    found: list[Found]
    residuals: list[Array]

    def key(self, model: int) -> tuple[int, Any]:
        """Notion and key of the subgroup that was found for one model."""
        which = int(self.notion[model])
        return which, self.found[which].keys[model]


class Auditor:
    """All notions at once: what is worst over them, and what the Learner pays for it."""

    def __init__(
        self,
        notions: Sequence[FairnessNotion],
        subgroups: SubgroupClass,
        label_cells: LabelCells,
        audited_class: SubgroupClass | None = None,
        place: Place = MEMORY,
    ) -> None:
        self.place = place
        self.notions = [
            NotionAuditor(notion, subgroups, label_cells, audited_class, place)
            for notion in notions
        ]
        self._subgroups = audited_class or subgroups
        self.label_cells = label_cells
        self.total_weight = total(label_cells.weight)
        base_cost = 1.0 - 2.0 * label_cells.labels.astype(np.float64)
        self.base_cost: Array = place.put(base_cost)
        self.pressed = self._pressed()
        # err = ⟨w, y⟩ / n + ⟨w·(1 − 2y), p⟩ / n
        self.error_of_zero = total(label_cells.weight * label_cells.labels) / self.total_weight
        self._error_slope = place.put(base_cost / self.total_weight)
        self._deadline = math.inf
        self._least_seconds = 0.0

    def keep_to(self, deadline: float, budget: float) -> None:
        """Have searches end by a deadline, by time.monotonic, of a budget in seconds.

        Without one, an infinite one, no search looks at the clock, so that a seed repeats a fit.
        """
        self._deadline = deadline
        self._least_seconds = _LEAST * budget

    def seconds(self, share: float = _SEARCH_SHARE) -> float:
        """Return how long a search may take that begins now: a share of what is left."""
        if math.isinf(self._deadline):
            return math.inf
        return max(self._least_seconds, share * (self._deadline - time.monotonic()))

    def search(self, bound: BoundClass, residuals: Array) -> Found:
        """Search a class for the worst subgroup of each residual, in the time that there is."""
        if math.isinf(self._deadline):
            return bound.worst(residuals)
        share = _SEARCH_SHARE / len(residuals)
        found = [bound.search(residual, seconds=self.seconds(share)) for residual in residuals]
        values, members, keys = zip(*found, strict=True)
        # Members lie where residuals do.
        together = self.place.xp.concat(members)
        return Found(np.concatenate(values), together, np.concatenate(keys))

    def _pressed(self) -> slice:
        """Return a slice of all label-cells whose cost can change: those in a notion's event."""
        everyone = np.arange(len(self.label_cells))
        places = [
            everyone[one.event if isinstance(one.event, slice) else on_host(one.event)]
            for one in self.notions
        ]
        return slice(int(min(p.min() for p in places)), int(max(p.max() for p in places)) + 1)

    @interruptible
    def worst(self, votes: Array, n_votes: int | None) -> Answer:
        """Find the worst subgroup of each model, by the search of the rounds.

        Votes are the weight decided 1 in each label-cell, added up over so many plays; with
        n_votes=None they are those of a mixture.
        """
        residuals = self.residuals(votes, n_votes)
        found = [
            self.search(one.subgroups, residual)
            for one, residual in zip(self.notions, residuals, strict=True)
        ]
        if len(found) == 1:  # the usual case, and this is run every round
            unfairness = np.abs(found[0].values) / self.total_weight
            return Answer(unfairness, np.zeros(len(votes), dtype=np.intp), found, residuals)
        values = np.abs([one.values for one in found]) / self.total_weight
        return Answer(values.max(axis=0), values.argmax(axis=0), found, residuals)

    def residuals(self, votes: Array, n_votes: int | None) -> list[Array]:
        """W of each notion, one model a row."""
        return [one.residuals(votes, n_votes) for one in self.notions]

    def subgroup(
        self, answer: Answer, model: int, votes: Array, n_votes: int | None
    ) -> Subgroup | None:
        """Return the subgroup of an answer for one model, measured on that model's votes."""
        which, key = answer.key(model)
        members = answer.found[which].members[model] > 0
        return self.notions[which].subgroup(key, members, votes, n_votes)

    @interruptible
    def audited_subgroup(
        self,
        known: Subgroup | None,
        residuals: Sequence[Array],
        votes: Array,
        n_votes: int,
        share: float,
    ) -> Subgroup | None:
        """Return the worst subgroup of a model: the known one, or what a closing look finds.

        `residuals` has those of each notion; `share` is the part of what a fit may spend on such
        looks, in work or seconds.
        """
        worst = known
        for i, (notion, residual) in enumerate(zip(self.notions, residuals, strict=True)):
            if not self._looks_again(notion):
                continue
            part = share / (len(self.notions) - i)
            look = closing_look(
                notion.audited, residual, work=share * CLOSING_WORK, seconds=self.seconds(part)
            )
            found = look.found
            least = (abs(worst.unfairness) if worst else 0.0) + ROUNDING
            if abs(float(found.values[0])) / self.total_weight > least:
                members = found.members[0] > 0
                worst = notion.subgroup(found.keys[0], members, votes, n_votes) or worst
        return worst

    def _looks_again(self, notion: NotionAuditor) -> bool:
        """Tell if rounds may have missed a subgroup: by their search, or for want of time."""
        return math.isfinite(self._deadline) or not (
            notion.subgroups.exact or notion.audited is notion.subgroups
        )

    def compile_proofs(self) -> None:
        """Have compiled what proofs of the class need, before a clock starts."""
        compile_proofs([self._subgroups], self.label_cells.cells.columns)

    def upper_bound(self, residuals: Sequence[Array]) -> Array:
        """Unfairness that no subgroup of the class exceeds, for each model, by its residuals."""
        bounds = [
            self.bounds(one.subgroups, residual)
            for one, residual in zip(self.notions, residuals, strict=True)
        ]
        largest: Array = np.max(bounds, axis=0) / self.total_weight
        return largest

    def bounds(self, bound: BoundClass, residuals: Array) -> Array:
        """Return a |value| that no subgroup exceeds, for each residual.

        It is that of the worst where a search is exact, unless time ends it.
        """
        if not bound.exact or math.isinf(self._deadline):
            return bound.upper_bound(residuals)
        share = _SEARCH_SHARE / len(residuals)
        return np.array(
            [
                bound.prove(residual, seconds=self.seconds(share)).upper_bound
                for residual in residuals
            ]
        )

    def error(self, votes: Array, n_votes: int) -> Array:
        """Weighted error of each model."""
        error: Array = self.error_of_zero + on_host(votes @ self._error_slope) / n_votes
        return error

    def cost(self, pressure: Sequence[Array]) -> Array:
        """Return what deciding 1 costs in each label-cell, by the pressure of one model."""
        cost = self.place.copy(self.base_cost[None])
        self.price(pressure, out=cost)
        one: Array = cost[0]
        return one

    def price(self, pressure: Sequence[Array], out: Array) -> None:
        """Write what deciding 1 costs, (1 − 2y) + b·Σ_g (λ⁻_g − λ⁺_g)·centre(g), where pressed.

        The cost of other label-cells is (1 − 2y) in every round.
        """
        if len(self.notions) == 1 and isinstance(self.notions[0].event, slice):
            event = self.pressed  # the usual case, and this is run every round
            spread = self.notions[0].spread(pressure[0])
            if self.place.is_memory:
                np.add(self.base_cost[event], spread, out=out[:, event])
            else:
                out[:, event] = self.base_cost[event] + spread
            return
        out[:, self.pressed] = self.base_cost[self.pressed]
        for notion, by_cell in zip(self.notions, pressure, strict=True):
            out[:, notion.event] += notion.spread(by_cell)

    def fine(self, pressure: Sequence[Array], residuals: Sequence[Array]) -> Array:
        """Σ_g (λ⁻_g − λ⁺_g)·v_g: what each model pays for unfairness, gamma not yet allowed for.

        That is ⟨pressure, W⟩ / n, as W is centred already.
        """
        paid: Array = np.vecdot(pressure[0], residuals[0])
        for by_cell, residual in zip(pressure[1:], residuals[1:], strict=True):
            paid += np.vecdot(by_cell, residual)
        return paid / self.total_weight
