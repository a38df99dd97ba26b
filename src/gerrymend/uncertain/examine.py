"""Examine people with probabilities: what is expected, what is possible, and what is sure."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.interrupts import check_stopped, interruptible
from gerrymend._runtime.versions import versions
from gerrymend.auditing.doubts import Doubt
from gerrymend.auditing.provenance import Provenance, now
from gerrymend.auditing.small_groups import may_be_described, too_few
from gerrymend.auditing.subgroup import ROUNDING, beyond_rounding
from gerrymend.notions import FairnessNotion
from gerrymend.subgroups import SubgroupClass
from gerrymend.subgroups.compiling import compile_proofs
from gerrymend.uncertain.chance import permuted
from gerrymend.uncertain.extremes import Extremes
from gerrymend.uncertain.group import UncertainGroup, expected_rows, group_of, members_of
from gerrymend.uncertain.people import People, Rated
from gerrymend.uncertain.pools import Pool, pools_of
from gerrymend.uncertain.report import UncertainReport
from gerrymend.uncertain.search import Candidate, KnownClass, Searched

# Parts of the budget: of what is expected, of what is possible, and of what is sure.
_EXPECTED = 0.4
_POSSIBLE = 0.4
_SURE = 0.2
# Groups of a side that are tried before those of enough rows are searched for by themselves, and
# sets of categories for which they are.
_TRIED = 50
_SETS_SEARCHED = 8


class Asked(NamedTuple):
    """What is asked of people: the settings of audit_uncertain() that are no rows."""

    notions: tuple[FairnessNotion, ...]
    subgroups: SubgroupClass
    gamma: float
    pool_size: int
    probability_error: float
    budget: float
    min_group_size: int
    n_permutations: int
    random_state: int


@dataclass(frozen=True, eq=False)
class Sides:
    """What was searched of one kind of sums, for sums that are positive and negative."""

    sums: tuple[Array, Array]
    searched: tuple[Searched, Searched]

    @classmethod
    def of(cls, known: KnownClass, positive: Array, negative: Array, seconds: float) -> "Sides":
        """Search `positive` for the largest sum, and `negative` for the least."""
        sums = (positive, negative)
        return cls(
            sums,
            (
                known.largest(positive, 1, seconds / 2),
                known.largest(negative, -1, seconds / 2),
            ),
        )

    def joined(self, *others: "Sides") -> "Sides":
        """Return the same with all groups that others found: a search may miss what they don't."""
        found = [one for other in others for each in other.searched for one in each.candidates]
        positive, negative = self.searched
        return Sides(
            self.sums,
            (positive.joined(found, self.sums[0], 1), negative.joined(found, self.sums[1], -1)),
        )

    @property
    def value(self) -> float:
        """Return the largest that was found, without sign."""
        return max(one.value for one in self.searched)

    @property
    def upper_bound(self) -> float:
        """Return what no group exceeds, without sign."""
        return max(one.upper_bound for one in self.searched)


@dataclass(frozen=True, eq=False)
class Looked:
    """One notion, with all that was searched for it."""

    rated: Rated
    known: KnownClass
    extremes: Extremes
    expected: Sides
    possible: Sides
    sure: Sides

    @classmethod
    def of(
        cls, rated: Rated, known: KnownClass, pools: Sequence[Pool], error: float, seconds: float
    ) -> "Looked":
        """Search all groups for what is expected, possible and sure."""
        sums = rated.expected()
        extremes = rated.extremes(pools, error)
        lowest, highest = extremes
        expected = Sides.of(known, sums, sums, _EXPECTED * seconds)
        possible = Sides.of(known, highest, lowest, _POSSIBLE * seconds)
        sure = Sides.of(known, lowest, highest, _SURE * seconds)
        return cls(
            rated=rated,
            known=known,
            extremes=extremes,
            expected=expected.joined(possible, sure),
            possible=possible.joined(expected, sure),
            sure=sure.joined(expected, possible),
        )

    def told(self, sides: Sides, least: int) -> Iterator[UncertainGroup]:
        """Yield groups that may be described, the one with most of a side first."""
        for sign, sums, searched in zip((1, -1), sides.sums, sides.searched, strict=True):
            candidates = searched.candidates[:_TRIED]
            found = [one for one in candidates if self._may_be_told(one, least)]
            if not found:
                some = candidates[:_SETS_SEARCHED]
                larger = (self._of_size(sums, one, sign, least) for one in some)
                found = [one for one in larger if one and self._may_be_told(one, least)]
            if found:
                group = group_of(self.rated, self.extremes, max(found, key=lambda one: one.value))
                if group is not None:
                    yield group

    def _of_size(self, sums: Array, small: Candidate, sign: int, least: int) -> Candidate | None:
        """Return the best group of the same categories with enough rows that are expected."""
        rows = np.floor(expected_rows(self.rated, small.number)).astype(np.intp)
        return self.known.of_size(sums[:, small.number], small.number, sign, rows, least)

    def _may_be_told(self, candidate: Candidate, least: int) -> bool:
        """Return whether enough rows of the event are in a group and out of it.

        Its known attributes alone have to leave as many in and out, or nobody out: of these it is
        known who has them.
        """
        cells = members_of(self.rated, candidate)
        rows = expected_rows(self.rated, candidate.number)
        everyone = expected_rows(self.rated, len(self.rated.people.probabilities.sets) - 1)
        inside, total = rows[cells].sum(), everyone.sum()
        known = may_be_described(everyone[cells].sum(), total, least, or_everyone=True)
        return bool(known & may_be_described(inside, total, least))

    def of_categories(self, least: int) -> Iterator[UncertainGroup]:
        """Yield each category, of those that may be described."""
        everyone = np.ones(len(self.rated.people.cells), dtype=bool)
        for number in range(len(self.rated.people.probabilities.categories)):
            candidate = Candidate(0.0, number, everyone, None)
            if self._may_be_told(candidate, least):
                group = group_of(self.rated, self.extremes, candidate)
                assert group is not None
                yield group


@interruptible
def examine_uncertain(people: People, asked: Asked, doubts: tuple[Doubt, ...]) -> UncertainReport:
    """Search, bound and describe; see audit_uncertain()."""
    pools = pools_of(people.cells.index, people.probabilities.values, asked.pool_size)
    rated = [Rated.of(notion, people) for notion in asked.notions]
    if people.has_known:
        compile_proofs([asked.subgroups], people.known)
    known = [_bound(one, asked.subgroups) for one in rated]
    deadline = time.monotonic() + asked.budget
    looked: list[Looked] = []
    for one, groups in zip(rated, known, strict=True):
        check_stopped()
        left = max(0.0, deadline - time.monotonic()) / (len(rated) - len(looked))
        looked.append(Looked.of(one, groups, pools, asked.probability_error, left))
    test = None
    if asked.n_permutations:
        test = permuted(
            people,
            asked.notions,
            known,
            n_permutations=asked.n_permutations,
            seconds=asked.budget,
            random_state=asked.random_state,
        )
    n = people.total_weight
    least = asked.min_group_size
    worst = _most(looked, lambda one: one.expected, least, lambda group: abs(group.unfairness))
    surely = _most(looked, lambda one: one.sure, least, lambda group: group.surely)
    expected = max(one.expected.value for one in looked) / n
    upper_bound = max(one.possible.upper_bound for one in looked) / n
    expected_bound = max(one.expected.upper_bound for one in looked) / n
    return UncertainReport(
        worst=worst,
        expected_unfairness=beyond_rounding(expected),
        # What is expected is possible, too.
        expected_bound=max(expected, min(expected_bound, upper_bound)),
        upper_bound=upper_bound,
        surely=_beside(surely, worst, looked, least),
        lower_bound=beyond_rounding(max(one.sure.value for one in looked) / n),
        gamma=asked.gamma,
        n_rows=len(people.of_sets),
        attribute=people.probabilities.name,
        categories=tuple(group for one in looked for group in one.of_categories(least)),
        known_attributes=tuple(column.name for column in people.known),
        pool_size=asked.pool_size,
        n_pools=sum(not pool.is_free for pool in pools),
        n_free=sum(len(pool.rows) for pool in pools if pool.is_free),
        probability_error=asked.probability_error,
        notions=asked.notions,
        subgroups=asked.subgroups,
        covers=_covers(people, known[0]),
        min_group_size=least,
        weighted=people.sample.is_weighted,
        p_value=None if test is None else test.p_value,
        n_permutations=0 if test is None else test.n_draws,
        labels=people.sample.pair,
        is_labelled=people.sample.is_labelled,
        warnings=doubts,
        provenance=Provenance(
            now().isoformat(timespec="seconds"),
            versions(),
            _fingerprint(people),
            asked.random_state,
            asked.budget,
        ),
    )


def _bound(rated: Rated, subgroups: SubgroupClass) -> KnownClass:
    """Return the class over the known attributes, bound to the rows of a notion."""
    people = rated.people
    if not people.has_known:
        return KnownClass(None, rated.active)
    weights = people.by_cell(np.column_stack([people.sample.weight, rated.weight])).T
    return KnownClass(subgroups.bind(people.known, *weights), rated.active)


def _covers(people: People, known: KnownClass) -> str:
    """Return all groups that are searched, in words."""
    within = f" and {known.covers}" if people.has_known else ""
    return f"every set of categories of {people.probabilities.name}, within everyone{within}"


def _fingerprint(people: People) -> str:
    """Return the sha256 of names, and of the rows with their probabilities, in whatever order."""
    sample = people.sample
    assert sample.p is not None
    columns = [column.values for column in sample.columns]
    columns += [
        sample.y.astype(np.float64),
        sample.p,
        sample.weight,
        *people.probabilities.values.T,
    ]
    rows = np.column_stack(columns).astype("<f8") + 0.0
    names = [column.name for column in people.known]
    head = repr([names, people.probabilities.name, people.probabilities.categories, sample.pair])
    digest = hashlib.sha256(head.encode(errors="backslashreplace"))
    digest.update(np.ascontiguousarray(rows[np.lexsort(rows.T)]).tobytes())
    return digest.hexdigest()


def _most(looked: Sequence[Looked], sides: Any, least: int, size: Any) -> UncertainGroup | None:
    """Return the group that has most of a kind, of all notions; None where none is told of.

    Of two that have as much, as the two halves of all people have, that of the first category.
    """
    told = [group for one in looked for group in one.told(sides(one), least)]
    largest = max(map(size, told), default=0.0)
    if not beyond_rounding(largest):
        return None
    order = list(looked[0].rated.people.probabilities.categories)
    alike = [group for group in told if size(group) > largest - ROUNDING]
    return min(alike, key=lambda group: [order.index(one) for one in group.categories])


def _beside(
    group: UncertainGroup | None, other: UncertainGroup | None, looked: Sequence[Looked], least: int
) -> UncertainGroup | None:
    """Return a group, or None where another that is told differs from it by few known people."""
    if group is None or other is None or group.rule is None or other.rule is None:
        return group
    people = looked[0].rated.people
    columns = {column.name: column for column in people.known}
    one, two = (each.rule.members(columns) for each in (group, other) if each.rule is not None)
    rows = np.bincount(people.cells.index, minlength=len(people.cells))
    parts = [rows[one & ~two].sum(), rows[two & ~one].sum()]
    return None if any(part and too_few(part, least) for part in parts) else group
