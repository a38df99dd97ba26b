"""What is possible, and expected, over every assignment of people to categories, one by one."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

CATEGORIES = ("a", "b", "c")
Assignment = tuple[str, ...]
Probabilities = list[dict[str, Fraction]]


@dataclass
class Instance:
    """Few people: labels, decisions, whether they are known as F or M, and probabilities."""

    y: list[int]
    d: list[int]
    sex: list[str]
    q: Probabilities

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of audit_uncertain()."""
        names = list(self.q[0])
        columns = {name: [float(row[name]) for row in self.q] for name in names}
        return {
            "y_true": self.y,
            "y_pred": self.d,
            "attribute_probabilities": {"race": columns},
            "sensitive_features": {"sex": self.sex},
            "min_group_size": 1,
        }

    def residuals(self, notion: str) -> list[Fraction]:
        """Return outcomes less the mean, 0 outside of the event."""
        event = [notion != "false_positive_rate" or y == 0 for y in self.y]
        decided = [d for d, is_in in zip(self.d, event, strict=True) if is_in]
        mean = Fraction(sum(decided), len(decided))
        return [d - mean if is_in else Fraction(0) for d, is_in in zip(self.d, event, strict=True)]

    def groups(self) -> Iterator[Callable[[str, str], bool]]:
        """Yield who is in, by sex and category: either sex or both, within every set."""
        names = list(self.q[0])
        for size in range(1, len(names) + 1):
            for chosen in itertools.combinations(names, size):
                for sexes in ("F", "M", "FM"):
                    yield lambda sex, one, s=sexes, c=chosen: sex in s and one in c

    def values(self, assignment: Assignment, notion: str) -> list[Fraction]:
        """Return the unfairness of each group, if these are the categories of the people."""
        residuals = self.residuals(notion)
        rows = list(zip(self.sex, assignment, residuals, strict=True))
        return [
            sum((r for sex, one, r in rows if is_in(sex, one)), Fraction(0)) / len(rows)
            for is_in in self.groups()
        ]


def assignments(instance: Instance) -> Iterator[Assignment]:
    """Yield every assignment of people to categories that are possible for them."""
    yield from itertools.product(
        *([name for name, q in row.items() if q > 0] for row in instance.q)
    )


def is_right(instance: Instance, assignment: Assignment, error: Fraction = Fraction(0)) -> bool:
    """Return whether, for either sex, shares are as probabilities say, to within an error."""
    names = list(instance.q[0])
    for sex in set(instance.sex):
        rows = [i for i, one in enumerate(instance.sex) if one == sex]
        found = Counter(assignment[i] for i in rows)
        off = [found[name] - sum(instance.q[i][name] for i in rows) for name in names]
        # The largest of any set is the sum of what is above.
        if sum(max(one, Fraction(0)) for one in off) > error * len(rows):
            return False
    return True


def ends(values: Sequence[Sequence[Fraction]]) -> tuple[Fraction, Fraction]:
    """Return the most that any group has, and the most that one has whatever the assignment."""
    most = max(abs(value) for row in values for value in row)
    surely = max(
        max(min(column), -max(column), Fraction(0)) for column in zip(*values, strict=True)
    )
    return most, surely


def made_instance(seed: int, n_categories: int, *, n_each: int = 4) -> Instance:
    """Return people, as many of either sex, whose probabilities add up to whole numbers of people.

    Probabilities are means over ways to deal the same categories, so that no row's is 0.
    """
    rng = np.random.default_rng(seed)
    names = CATEGORIES[:n_categories]
    q: Probabilities = []
    for _ in "FM":
        dealt = [*names, *rng.choice(names, n_each - n_categories)]
        ways = [list(np.roll(dealt, shift)) for shift in range(n_each)]
        shares = [Fraction(int(part)) for part in rng.integers(1, 9, n_each)]
        for person in range(n_each):
            row = dict.fromkeys(names, Fraction(0))
            for way, share in zip(ways, shares, strict=True):
                row[str(way[person])] += share / sum(shares)
            q.append(row)
    n = 2 * n_each
    y = [0, 1, *rng.integers(0, 2, n - 2).tolist()]
    d = rng.integers(0, 2, n).tolist()
    d[0] = 0
    y[-1], d[-1] = 0, 1
    return Instance(y, d, ["F"] * n_each + ["M"] * n_each, q)
