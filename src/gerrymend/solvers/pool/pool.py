"""Hold what a game has found so far: classifiers, subgroups, and how each treats each."""

import hashlib
from typing import Any, NamedTuple

import numpy as np

from gerrymend._numeric.arrays import on_host
from gerrymend._numeric.sums import Array
from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.solvers.base import State
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.rows import Bits, Play, Rows
from gerrymend.subgroups.rules import Members

# Decisions that are unpacked at once: some megabytes.
_BLOCK = 1 << 20
# Figures are rounded to so many digits: the order in which rows are added up must not decide which
# of two mixtures that are equally good comes out of the program.
_DIGITS = 12
_CONTENTS = ("_bits", "keys", "groups", "error", "unfairness")


class PooledGroup(NamedTuple):
    """A subgroup: which notion it was found for, its cells, and the key of its rule."""

    notion: int
    members: Members
    key: Any


class Pool:
    """Classifiers as their decisions, which only rows can read, and subgroups as their cells.

    `error` has the error of each classifier; `unfairness` a row for each subgroup with its signed
    unfairness under each classifier.
    """

    def __init__(self, rows: Rows, auditor: Auditor) -> None:
        self._rows = rows
        self._auditor = auditor
        self._place = auditor.place
        self._most = self._place.put(rows.label_cells.weight)
        self._at_once = max(1, _BLOCK // int(rows.label_cells.n_rows.sum()))
        self._bits: list[Bits] = []
        self._known: dict[bytes, int] = {}
        self.keys: list[Any] = []
        self.groups: list[PooledGroup] = []
        self.error = np.zeros(0)
        self.unfairness = np.zeros((0, 0))

    def __len__(self) -> int:
        return len(self.keys)

    def add_classifier(self, play: Play) -> int:
        """Return the number of a classifier, taken in unless one in the pool decides the same."""
        content = _digest(play.decisions)
        if content in self._known:
            return self._known[content]
        votes = self._rows.decided([play.decisions])
        residuals = self._auditor.residuals(votes, 1)
        column = [self._values(residuals[group.notion], group) for group in self.groups]
        number = len(self)
        self._set(
            _bits=[*self._bits, play.decisions],
            keys=[*self.keys, play.key],
            error=np.append(self.error, self._auditor.error(votes, 1).round(_DIGITS)),
            unfairness=np.hstack([self.unfairness, np.reshape(column, (-1, 1))]),
        )
        self._known[content] = number
        return number

    def add_group(self, group: PooledGroup) -> None:
        """Take in a subgroup."""
        notion = self._auditor.notions[group.notion]
        row = [
            self._values(notion.residuals(self._decided(start, self._at_once), 1), group)
            for start in range(0, len(self), self._at_once)
        ]
        self._set(
            groups=[*self.groups, group],
            unfairness=np.vstack([self.unfairness, np.concatenate(row)]),
        )

    def _set(self, **contents: Any) -> None:
        """Replace contents in one step: Ctrl-C comes before all of it or after."""
        vars(self).update(contents)

    def _values(self, residuals: Array, group: PooledGroup) -> Array:
        """Signed unfairness of a subgroup, for each residual."""
        values = on_host(residuals @ self._place.as_numbers(group.members))
        return (values / self._auditor.total_weight).round(_DIGITS)

    def decided(self, weights: Array) -> Array:
        """Return the weight that a mixture of the pool decides 1 in each label-cell."""
        decided = self._place.zeros(len(self._most))
        for classifier in np.flatnonzero(weights).tolist():
            decided += float(weights[classifier]) * self._decided(classifier, 1)[0]
        clipped: Array = self._place.xp.clip(decided, 0.0, self._most)
        return clipped

    def fair_constant(self) -> Array | None:
        """Return the weights of what treats all alike at least error; None if nothing does.

        That is one of the two constants, which are the first in the pool, or their mean: a coin
        that is the same for all, as error rates need.
        """
        constants = np.eye(2, len(self))
        coins = [*constants[np.argsort(self.error[:2])], constants.mean(axis=0)]
        for weights in coins:
            residuals = self._auditor.residuals(self.decided(weights)[None], None)
            if self._auditor.upper_bound(residuals)[0] <= ROUNDING:
                return weights
        return None

    def cost(self, duals: Array) -> Array:
        """Return what deciding 1 costs by label-cell, under signed duals λ⁻ − λ⁺ of subgroups."""
        notions = self._auditor.notions
        pressure = [self._place.zeros(1, len(notion.event_weight)) for notion in notions]
        for which in np.flatnonzero(duals):
            group = self.groups[which]
            # In every cell: to pick a group's out takes several times as long.
            members = self._place.as_numbers(group.members)
            pressure[group.notion][0] += float(duals[which]) * members
        return self._auditor.cost(pressure)

    def values(self, duals: Array, gamma: float) -> Array:
        """L(h, λ) of every classifier h."""
        paid: Array = self.error + duals @ self.unfairness
        return paid - gamma * np.abs(duals).sum()

    def _decided(self, first: int, number: int) -> Array:
        return self._rows.decided(self._bits[first : first + number])

    def state(self) -> State:
        """Return all that is in it, which nothing changes afterwards: contents are replaced."""
        return {name.removeprefix("_"): getattr(self, name) for name in _CONTENTS}

    def restore(self, state: State) -> None:
        """Replace the contents of the pool by a saved state."""
        contents = {name: state[name.removeprefix("_")] for name in _CONTENTS}
        contents["groups"] = [
            group._replace(members=self._place.take_back(group.members))
            for group in contents["groups"]
        ]
        self._set(**contents)
        self._known = {_digest(bits): number for number, bits in enumerate(self._bits)}


def _digest(bits: Bits) -> bytes:
    return hashlib.blake2b(bits.tobytes()).digest()
