"""Bound how far the unfairness of any subgroup is from its sample's: uniform convergence.

Rows are independent draws; outcomes are scaled to u in [0, 1]. For a subgroup g let
s¹ = E[g·1_E·u] and s⁰ = E[g·1_E·(1 − u)], so that α = E[g·1_E] = s¹ + s⁰; for everyone let them be
t¹, t⁰ and e. The overall rate is r = t¹/e, and unfairness v = s¹ − α·r. Write r' for the sample's
rate, and d for what is the sample's less the truth. As r'·e' = t¹', e·dr = dt¹ − r'·de, and hence

    dv = ds¹ − r'·dα − α·dr
       = [(1 − r')·ds¹ − r'·ds⁰] − (α/e)·[(1 − r')·dt¹ − r'·dt⁰].

Each bracket is at most the larger of its two deviations, and α/e ≤ 1, so that
|dv| ≤ max(|ds¹|, |ds⁰|) + max(|dt¹|, |dt⁰|). Of the failures δ one half is allowed to each:

- |dt| ≤ √(ln(8/δ) / 2n): Hoeffding, two functions, two sides.
- |ds| over K subgroups that were fixed beforehand ≤ √(ln(8K/δ) / 2n): the same, K times.
- |ds| over subgroups that divide n rows in at most Π ways ≤ 2·√(2 ln(2Π)/n) + √(ln(4/δ) / 2n):
  symmetrisation, Massart's lemma for the 2Π vectors ±g·u of length at most √n, and McDiarmid for
  each of the two functions. By Sauer and Shelah Π ≤ Σ_{i ≤ D} (n choose i), D the VC dimension.

For several notions δ is shared among them. As v = e·ḡ·(1 − ḡ)·Δ (see `intervals`) no unfairness
exceeds 1/4 of the outcomes' range, so a bound of as much or more says nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from gerrymend.auditing.tally import Examined, Tally


@dataclass(frozen=True)
class Generalisation:
    """A bound on how far any subgroup's unfairness is from its sample's.

    Attributes
    ----------
    distance : float
        With probability `confidence` over a sample of independent rows, no subgroup of the class
        differs by more, for the people that the rows were drawn from.
    confidence : float
        The probability.
    basis : str
        What is known of the class: its number of subgroups, or its VC dimension.
    vacuous : bool
        Whether it says nothing, as unfairness can't be that large.

    Examples
    --------
    >>> from gerrymend import audit
    >>> report = audit([0, 1] * 50, [1, 1] * 50, sensitive_features={"age": [*range(50)] * 2})
    >>> report.generalisation.basis, report.generalisation.vacuous
    ('VC dimension 2', True)
    """

    distance: float
    confidence: float
    basis: str
    vacuous: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as plain data."""
        return {
            "distance": self.distance,
            "confidence": self.confidence,
            "basis": self.basis,
            "vacuous": self.vacuous,
        }


def generalisation(
    tally: Tally, examined: Sequence[Examined], *, confidence: float = 0.95
) -> Generalisation | None:
    """Return the bound; None where rows weigh differently or the class's size is not known.

    And None for numbers, which have no range.
    """
    if tally.views or not np.array_equal(tally.weight, tally.n_rows):
        return None
    n = int(tally.n_rows.sum())
    # The failures that are allowed are shared among the notions (Bonferroni).
    delta = (1 - confidence) / len(examined)
    worst: Generalisation | None = None
    for part in examined:
        if part.bound.n_subgroups is not None:
            distance = finite_distance(n, part.bound.n_subgroups, delta)
            basis = f"{part.bound.n_subgroups:,} subgroups"
        elif part.bound.vc_dimension is not None:
            distance = vc_distance(n, part.bound.vc_dimension, delta)
            basis = f"VC dimension {part.bound.vc_dimension}"
        else:
            return None
        # The derivation has outcomes in [0, 1]: others stretch the bound by their range.
        low, high = part.seen.notion.outcome_range
        # No unfairness exceeds a quarter of the range.
        bound = Generalisation((high - low) * distance, confidence, basis, distance >= 0.25)
        if worst is None or bound.distance > worst.distance:
            worst = bound
    return worst


def finite_distance(n: int, n_subgroups: int, delta: float) -> float:
    """Return the bound for a number of subgroups that were fixed beforehand.

    >>> round(finite_distance(100_000, 10, 0.05), 4)
    0.0111
    """
    everyone = math.sqrt(math.log(8 / delta) / (2 * n))
    return everyone + math.sqrt(math.log(8 * n_subgroups / delta) / (2 * n))


def vc_distance(n: int, vc_dimension: int, delta: float) -> float:
    """Return the bound for a class of some VC dimension.

    >>> round(vc_distance(1_000_000, 8, 0.05), 4)
    0.0314
    """
    everyone = math.sqrt(math.log(8 / delta) / (2 * n))
    symmetrised = 2 * math.sqrt(2 * (math.log(2) + log_growth(n, vc_dimension)) / n)
    return everyone + symmetrised + math.sqrt(math.log(4 / delta) / (2 * n))


def log_growth(n: int, vc_dimension: int) -> float:
    """Return ln Σ_{i ≤ D} (n choose i), of the most ways to divide n rows.

    Three points of a line, by intervals (D = 2): every way but both ends without the middle.

    >>> round(math.exp(log_growth(3, 2)), 9)
    7.0
    """
    i = np.arange(min(n, vc_dimension) + 1)
    return float(logsumexp(gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)))
