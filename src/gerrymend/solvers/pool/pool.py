"""Hold what a game has found so far: classifiers, subgroups, and how each treats each."""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import Array
from gerrymend.solvers.base import State
from gerrymend.solvers.players.auditor import Auditor
from gerrymend.solvers.players.learners import Decisions
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
    """Classifiers as their decisions, a bit a row, and subgroups as their cells.

    `error` has the error of each classifier; `unfairness` a row for each subgroup with its signed
    unfairness under each classifier.
    """

    def __init__(self, auditor: Auditor) -> None:
        self._auditor = auditor
        self._n_rows = len(auditor.base_cost)
        self._bits: list[NDArray[np.uint8]] = []
        self._known: dict[bytes, int] = {}
        self.keys: list[Any] = []
        self.groups: list[PooledGroup] = []
        self.error = np.zeros(0)
        self.unfairness = np.zeros((0, 0))

    def __len__(self) -> int:
        return len(self.keys)

    def add_classifier(self, decisions: Decisions, key: Any) -> int:
        """Return the number of a classifier, taken in unless one in the pool decides the same."""
        bits = np.packbits(decisions)
        content = _digest(bits)
        if content in self._known:
            return self._known[content]
        votes = decisions.astype(np.float64)[None]
        residuals = self._auditor.residuals(votes, 1)
        column = [self._values(residuals[group.notion], group) for group in self.groups]
        number = len(self)
        self._set(
            _bits=[*self._bits, bits],
            keys=[*self.keys, key],
            error=np.append(self.error, self._auditor.error(votes, 1).round(_DIGITS)),
            unfairness=np.hstack([self.unfairness, np.reshape(column, (-1, 1))]),
        )
        self._known[content] = number
        return number

    def add_group(self, group: PooledGroup) -> None:
        """Take in a subgroup."""
        notion = self._auditor.notions[group.notion]
        step = max(1, _BLOCK // self._n_rows)
        row = [
            self._values(notion.residuals(self._decisions(slice(start, start + step)), 1), group)
            for start in range(0, len(self), step)
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
        values = residuals @ group.members.astype(np.float64)
        return (values / self._auditor.total_weight).round(_DIGITS)

    def probability(self, weights: Array) -> Array:
        """Return the probability with which a mixture of the pool decides each row 1."""
        p = np.zeros(self._n_rows)
        for classifier in np.flatnonzero(weights).tolist():
            p += weights[classifier] * self._decisions(slice(classifier, classifier + 1))[0]
        return np.clip(p, 0.0, 1.0)

    def cost(self, duals: Array) -> Array:
        """Return the cost of deciding 1 in each row under signed duals λ⁻ − λ⁺ of the subgroups."""
        pressure = [np.zeros((1, len(notion.event_weight))) for notion in self._auditor.notions]
        for which in np.flatnonzero(duals):
            group = self.groups[which]
            pressure[group.notion][0, group.members] += duals[which]
        for notion, by_cell in zip(self._auditor.notions, pressure, strict=True):
            by_cell -= notion.event_share(by_cell)[:, None]
        cost = self._auditor.base_cost[None].copy()
        self._auditor.price(pressure, out=cost)
        return cost[0]

    def values(self, duals: Array, gamma: float) -> Array:
        """L(h, λ) of every classifier h."""
        paid: Array = self.error + duals @ self.unfairness
        return paid - gamma * np.abs(duals).sum()

    def _decisions(self, classifiers: slice) -> Array:
        packed = np.array(self._bits[classifiers])
        return np.unpackbits(packed, axis=1, count=self._n_rows).astype(np.float64)

    def state(self) -> State:
        """Return all that is in it, which nothing changes afterwards: contents are replaced."""
        return {name.removeprefix("_"): getattr(self, name) for name in _CONTENTS}

    def restore(self, state: State) -> None:
        """Replace the contents of the pool by a saved state."""
        self._set(**{name: state[name.removeprefix("_")] for name in _CONTENTS})
        self._known = {_digest(bits): number for number, bits in enumerate(self._bits)}


def _digest(bits: NDArray[np.uint8]) -> bytes:
    return hashlib.blake2b(bits.tobytes()).digest()
