"""The rows of two samples, or of two models, and how chance alone would have dealt them.

Let v_g(s) = (1/n_s) Σ_{i ∈ g} w_i·1_E·(u_i − ū_s) be the unfairness of a subgroup on sample s, with
n_s = Σ w_i and ū_s the mean outcome of its own rows in the event (of their stratum, where there are
strata). It is linear in g, so that what it moved by,

    D_g = v_g(new) − v_g(old) = Σ_{c ∈ g} [W_c(new)/n_new − W_c(old)/n_old],

is a residual by cell as any other, and the class's own search and proof find and bound the subgroup
of the largest |D_g|. Each sample is centred at its own mean: what everyone's rate moved by is no
difference between groups. As W sums to 0 in each, D sums to 0.

**Two samples.** If both were drawn alike, which of the rows are the new ones is chance: every
choice of as many rows was as likely as the one that was seen. Rows that are equal in all that
counts are a *kind*, and how many of each kind a choice takes is a multivariate hypergeometric draw.

**Two models on the same rows.** If it is chance which model decided which way, the two decisions of
each row might as well have been swapped. Of n rows of a kind a binomial number is. A swap turns the
sign of the row's part in D: these are paired sign flips.

Either way the observed statistic and those of the draws are exchangeable, whatever the statistic
is, so that (1 + #{draws at least as large}) / (1 + B) is a p-value for every B: for the largest
|D_g|, and for U(new) − U(old) with U the largest |v_g| that a search finds. Each draw is centred
anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.auditing.compared import Compared
from gerrymend.auditing.inference.shuffles import MOST_ROWS
from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.changes.joint_cells import JointCells
from gerrymend.subgroups.rules import Members

# Rows a kind, below which it is quicker to draw row by row than kind by kind.
_FEW_ROWS = 50


class Sides(NamedTuple):
    """W/n of each notion by joint cell, on the old and on the new side of a draw."""

    old: list[Array]
    new: list[Array]


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """What one notion sees of each kind: whether it counts and its outcome, by either decision.

    Of two samples both are the same. `reference` is a number that kinds are compared with, or
    `factor` times the mean of those that are `compared`; by default the mean of their own stratum.
    """

    counts: tuple[Array, Array]
    outcome: tuple[Array, Array]
    reference: float | None = None
    factor: float = 1.0
    compared: Members | None = None


@dataclass(frozen=True, eq=False)
class PooledRows:
    """The rows of both sides by kind: joint cell, stratum, weight, and what each notion sees.

    `n_rows` is how many rows there are of each kind, and `n_new` how many of these are new; None
    where both sides are the same rows, decided by two models.
    """

    cell: NDArray[np.intp]
    stratum: NDArray[np.intp]
    weight: Array
    n_rows: NDArray[np.int64]
    n_new: NDArray[np.int64] | None
    outcomes: list[_Outcomes]
    n_cells: int

    @classmethod
    def of_samples(
        cls, old: Sequence[NotionTally], new: Sequence[NotionTally], joint: JointCells
    ) -> "PooledRows":
        """Pool the rows of two samples, as each notion sees them."""
        strata = _joint_strata(old[0].tally, new[0].tally)
        parts = [
            _table(seen, cells, stratum)
            for seen, cells, stratum in zip((old, new), joint[1:], strata, strict=True)
        ]
        table = np.concatenate(parts)
        kinds, first, n_rows = _kinds(table)
        is_new = np.repeat([0, 1], [len(part) for part in parts])
        n_new = np.bincount(first, is_new, len(kinds)).astype(np.int64)
        outcomes = [
            _of_notion(one, joint, kinds[:, 0], (kinds[:, 3 + 2 * i : 5 + 2 * i],) * 2)
            for i, one in enumerate(new)
        ]
        return cls(*_key(kinds), n_rows, n_new, outcomes, len(joint))

    @classmethod
    def of_models(
        cls, old: Sequence[NotionTally], new: Sequence[NotionTally], joint: JointCells
    ) -> "PooledRows":
        """Pair the decisions of two models on the same rows, which come in the same order."""
        stratum, _ = _joint_strata(old[0].tally, new[0].tally)
        first = _table(old, joint.of_old, stratum)
        table = np.c_[first, _table(new, joint.of_new, stratum)[:, 3:]]
        kinds, _, n_rows = _kinds(table)
        width = first.shape[1]
        outcomes = [
            _of_notion(
                one,
                joint,
                kinds[:, 0],
                (kinds[:, 3 + 2 * i : 5 + 2 * i], kinds[:, width + 2 * i : width + 2 * i + 2]),
            )
            for i, one in enumerate(new)
        ]
        return cls(*_key(kinds), n_rows, None, outcomes, len(joint))

    @property
    def observed(self) -> Sides:
        """Return what was seen."""
        if self.n_new is None:
            return self._swapped(np.zeros_like(self.n_rows))
        return self._parted(self.n_new)

    def draw(self, rng: np.random.Generator) -> Sides:
        """Deal the rows, or the two decisions of each, anew."""
        if self.n_new is None:
            return self._swapped(rng.binomial(self.n_rows, 0.5))
        few = self.n_rows.sum() < _FEW_ROWS * len(self.n_rows)
        method: Literal["count", "marginals"] = "count" if few else "marginals"
        n_new = int(self.n_new.sum())
        return self._parted(rng.multivariate_hypergeometric(self.n_rows, n_new, method=method))

    def _parted(self, n_new: NDArray[np.int64]) -> Sides:
        """Return both sides where so many rows of each kind are new."""
        every = []
        for n_rows in (self.n_rows - n_new, n_new):
            weight = self.weight * n_rows
            total = float(weight.sum()) or 1.0  # of rows without weight there is nothing but 0
            every.append(
                [
                    self._residual(one, weight * one.counts[0], one.outcome[0]) / total
                    for one in self.outcomes
                ]
            )
        return Sides(*every)

    def _swapped(self, n_swapped: NDArray[np.int64]) -> Sides:
        """Return both sides where so many rows of each kind have their decisions swapped."""
        weight = self.weight * self.n_rows
        part = n_swapped / self.n_rows
        total = float(weight.sum())
        every: list[list[Array]] = [[], []]
        for one in self.outcomes:
            for side, swapped in enumerate((part, 1 - part)):
                counts = (1 - swapped) * one.counts[0] + swapped * one.counts[1]
                sums = (1 - swapped) * one.counts[0] * one.outcome[0]
                sums += swapped * one.counts[1] * one.outcome[1]
                mean = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
                every[side].append(self._residual(one, weight * counts, mean) / total)
        return Sides(*every)

    def _residual(self, seen: _Outcomes, mass: Array, outcome: Array) -> Array:
        """Return W by joint cell, for the mass of each kind in the event and its outcome."""
        sums = mass * outcome
        if seen.reference is not None:
            rate = np.full(len(mass), seen.reference)
        elif seen.compared is not None:
            inside = float(mass[seen.compared].sum())
            mean = float(sums[seen.compared].sum()) / inside if inside > 0 else 0.0
            rate = np.full(len(mass), seen.factor * mean)
        else:
            by_stratum = np.bincount(self.stratum, mass)
            total = np.bincount(self.stratum, sums)
            rate = np.divide(total, by_stratum, out=np.zeros_like(total), where=by_stratum > 0)
            rate = rate[self.stratum]
        residual: Array = np.zeros(self.n_cells)
        residual += np.bincount(self.cell, sums - rate * mass, self.n_cells)
        return residual


def obstacle(tallies: Sequence[Tally]) -> str:
    """Say why rows can't be dealt anew; return an empty string where they can."""
    if sum(int(tally.n_rows.sum()) for tally in tallies) >= MOST_ROWS:
        return f"there are {MOST_ROWS:,} rows or more"
    return ""


def _table(
    seen: Sequence[NotionTally], cells: NDArray[np.intp], stratum: NDArray[np.intp]
) -> Array:
    """Return a row for each row: cell, stratum, weight; then each notion's event and outcome."""
    rows = seen[0].tally.rows
    assert rows is not None
    columns: list[NDArray[Any]] = [cells[rows.cell], stratum, rows.weight]
    for one in seen:
        mine = one.tally.rows
        assert mine is not None
        counts = one.notion.in_event(mine.y)
        columns += [counts, np.where(counts, one.notion.outcome(mine.y, mine.p), 0.0)]
    return np.column_stack(columns).astype(np.float64)


def _kinds(table: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.int64]]:
    """Return the distinct rows of a table in order, the kind of each row, and how many it has."""
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    begins = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    kind = np.empty(len(table), dtype=np.intp)
    kind[order] = np.cumsum(begins) - 1
    return ordered[begins], kind, np.bincount(kind).astype(np.int64)


def _key(kinds: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the cell, the stratum and the weight of each kind."""
    return kinds[:, 0].astype(np.intp), kinds[:, 1].astype(np.intp), kinds[:, 2]


def _of_notion(
    seen: NotionTally, joint: JointCells, cell: Array, by_side: tuple[Array, Array]
) -> _Outcomes:
    """Return what a notion sees of kinds; `by_side` has whether they count, and their outcomes."""
    compared = Compared.of(seen.notion, joint.columns)
    inside = None if compared.group is None else compared.group[cell.astype(np.intp)]
    counts = by_side[0][:, 0], by_side[1][:, 0]
    outcome = by_side[0][:, 1], by_side[1][:, 1]
    return _Outcomes(counts, outcome, compared.constant, compared.factor, inside)


def _joint_strata(old: Tally, new: Tally) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the stratum of each row, by values of both samples; all are one without strata."""
    numbers: dict[tuple[Any, ...], int] = {}
    found = []
    for tally in (old, new):
        assert tally.rows is not None
        if tally.strata is None or tally.rows.stratum is None:
            found.append(np.zeros(len(tally.rows.cell), dtype=np.intp))
            continue
        values = (tally.strata.values(i) for i in range(len(tally.strata.parts)))
        table = [numbers.setdefault(tuple(sorted(one.items())), len(numbers)) for one in values]
        found.append(np.array(table)[tally.rows.stratum])
    return found[0], found[1]
