"""Check of the groups that are flagged: the p-value of each, and which p-values are small enough.

Tails of the hypergeometric distribution are summed term by term, from logarithms of factorials.
Those of a sum over strata are a product of polynomials, multiplied as whole numbers.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.crossed import Meetings, hidden_range, meetings_of, wrong_meetings
from gerrymend.checker.figures import Measured, Sums
from gerrymend.checker.groups import named_groups
from gerrymend.checker.rules import RuleError, members

# P-values are compared by their ratio: both are sums of many terms in float64.
_CLOSE = 1e-7
# Over strata they may be off by so much, which is far below what is ever flagged.
_OFF = 1e-11
# A chance in a stratum is a whole number of 2^-_DIGITS, and one below that is 0.
_DIGITS = 100
# Terms of a sum of 1/i that are added one by one.
_MOST_TERMS = 1_000_000
_LISTS = ("intervals", "marginals", "intersections")


def check_flags(case: Case) -> None:
    """Check p-values and flags of all groups that are listed, and the summary of them."""
    stated = case.stated
    groups = [one for name in _LISTS for one in stated[name]]
    discovery = stated["discovery"]
    groups += [] if discovery is None else discovery["groups"]
    if discovery is None:
        if any(one["p_value"] is not None or one["flagged"] is not None for one in groups):
            case.problem("Groups are flagged, and discovery is not stated.")
        case.leave("discovery", "that no groups were to be flagged")
        return
    if not all(map(_is_exact, case.measured.values())):
        case.problem("Groups are flagged, and there is no exact test of these rows.")
        return
    before = len(case.result.problems)
    for one in groups:
        case.problem(*(f"The group {one['group']!r}: {words}" for words in _wrong_p(one, case)))
    case.problem(*_wrong_flags(discovery, case), *_wrong_others(discovery, case))
    if len(case.result.problems) == before:
        case.result.checked.append(
            f"The p-values of the groups that are listed, and that the {discovery['flagged']:,} "
            "that are flagged are those of the stated false discovery rate."
        )


def _is_exact(seen: Measured) -> bool:
    """Return whether rows are counts of two outcomes, compared with each other."""
    return seen.table.is_count and seen.kinds <= 2 and seen.reference is None


def _wrong_p(one: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield a sentence if the p-value of a group is not that of its rows."""
    seen = case.measured.get(one["notion"])
    if seen is None:
        return
    if one["p_value"] is None or one["flagged"] is None:
        yield "it has no p_value or no flag, and groups are flagged."
        return
    try:
        inside = members(one["rule"], case.table)
    except RuleError:  # which is noted where groups are listed
        return
    p = p_value(seen, inside)
    if abs(one["p_value"] - p) > _CLOSE * p + (_OFF if seen.strata else 1e-300):
        yield f"its p_value is stated as {one['p_value']!r}, and is {p!r}."


def _wrong_flags(discovery: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield what is wrong with the summary, and with flags given the stated p-values.

    Benjamini and Yekutieli: the k smallest of m are flagged, for the largest k with the k-th at
    most k·q/(m·(1 + 1/2 + … + 1/m)).
    """
    stated = case.stated
    every = [*(one for name in _lists(stated) for one in stated[name]), *discovery["groups"]]
    groups = [one for one in every if one["p_value"] is not None]
    m = max(1, discovery["tested"])
    k = _flagged(sorted(one["p_value"] for one in groups), m, discovery["rate"])
    # Where none is flagged, it is what the smallest p-value would have had to keep to.
    threshold = _step(m, discovery["rate"]) * max(k, 1)
    if abs(discovery["threshold"] - threshold) > 1e-9 * threshold:
        yield f"discovery.threshold is stated as {discovery['threshold']!r}, and is {threshold!r}."
    if discovery["flagged"] != k:
        yield f"discovery.flagged is stated as {discovery['flagged']}, and is {k}."
    for one in groups:
        told = one["flagged"]
        if told != (one["p_value"] <= threshold * (1 + 1e-12)):
            yield f"The group {one['group']!r}: flagged is stated as {told!r}, and is {not told!r}."


def _step(m: int, rate: float) -> float:
    """Return what the smallest of m p-values may be, and by how much more each that follows."""
    # The harmonic sum is the price for tests that depend on each other in any way, as those of
    # groups that share rows do. Benjamini and Hochberg's, without it, is not proven for these.
    harmonic = math.fsum(1 / i for i in range(1, min(m, _MOST_TERMS) + 1))
    # No report has so many groups, but a lie may.
    harmonic += math.log(m / _MOST_TERMS) if m > _MOST_TERMS else 0.0
    return rate / (m * harmonic)


def _flagged(ordered: list[float], m: int, rate: float) -> int:
    """Return how many of m p-values are flagged; the others are above these, which are in order."""
    step = _step(m, rate)
    k = 0
    for place, p in enumerate(ordered, start=1):
        k = place if p <= step * place * (1 + 1e-12) else k
    return k


def _wrong_others(discovery: Mapping[str, Any], case: Case) -> Iterator[str]:
    """Yield what is wrong with the groups in which attributes meet, and with the number of all."""
    stated = case.stated
    listed = _number(case)
    meetings = meetings_of(case)
    beside = 0 if listed is None else max(0, discovery["tested"] - listed)
    if meetings is not None:
        beside = meetings.number * len(stated["notions"])
    yield from wrong_meetings(discovery, meetings, beside, case)
    if listed is None or meetings is None:
        case.leave(
            "discovery.tested discovery.depth discovery.capped discovery.hidden discovery.groups",
            "how many groups there are, and that no other one is to be told: numbers are cut, "
            "there are many, or the class is not known",
        )
        return
    expected = {
        "tested": listed + beside,
        "depth": meetings.depth,
        "capped": meetings.capped,
    }
    for name, value in expected.items():
        if discovery[name] != value:
            yield f"discovery.{name} is stated as {discovery[name]!r}, and is {value!r}."
    if len(case.measured) == len(stated["notions"]) and discovery["tested"] == expected["tested"]:
        yield from _wrong_hidden(discovery, meetings, listed, case)


def _wrong_hidden(
    discovery: Mapping[str, Any], meetings: Meetings, listed: int, case: Case
) -> Iterator[str]:
    """Yield a sentence if the number of groups that may not be shown can't be that."""
    stated = case.stated
    shown = [one["p_value"] for name in _lists(stated) for one in stated[name]]
    m = max(1, discovery["tested"])

    def highest(others: list[float]) -> float:
        every = sorted([*(p for p in shown if p is not None), *others])
        return _step(m, discovery["rate"]) * max(1, _flagged(every, m, discovery["rate"]))

    try:
        least, most, could_be_told = hidden_range(discovery, meetings, p_value, highest, case)
    except (RuleError, KeyError, TypeError, AttributeError):
        return  # a rule that can't be read, which was noted with its group
    if could_be_told:
        yield "discovery: a group is not told that is to be flagged, and could be described."
    in_lists = listed - len(shown)
    if not least <= discovery["hidden"] - in_lists <= most:
        yield (
            f"discovery.hidden is stated as {discovery['hidden']}, and is between "
            f"{least + in_lists} and {most + in_lists}."
        )
    elif least < most:
        case.leave(
            "discovery.hidden discovery.groups",
            "that groups which are large enough would give away smaller ones beside others",
        )


def _lists(stated: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the lists of a report; for Marginals two of them are one."""
    return _LISTS[1:] if stated["class"]["name"] == "Marginals" else _LISTS


def _number(case: Case) -> int | None:
    """Return how many groups there are for the lists, shown or too small; None if not known."""
    stated = case.stated
    number = sum(len(stated[name]) + stated[f"{name}_left_out"] for name in _LISTS[1:])
    name = stated["class"]["name"]
    if name in ("Marginals", "LinearThresholds", "Conjunctions", "ValueSets", "Trees"):
        return number
    if name != "ExplicitGroups":
        return None
    try:
        own = len(named_groups(stated["class"]["parameters"], case.table))
    except (RuleError, KeyError, TypeError, AttributeError):  # noted where groups are listed
        return None
    return number + own * len(stated["notions"])


def p_value(seen: Measured, inside: list[bool]) -> float:
    """Return the p-value of "the rate of a group is that of the others", for one group.

    Each row weighs 1 and has one of two outcomes: the group's number of one of them is
    hypergeometric given all margins, and within strata a sum of such.
    """
    group = seen.sums(inside)
    others = seen.everyone.without(group)
    if not group.mass or not others.mass:
        return 1.0
    if seen.strata:
        return within_strata([_margins(part, inside) for part in seen.strata])
    return fisher(*_margins(seen, inside))


def _margins(seen: Measured, inside: list[bool]) -> tuple[int, int, int, int]:
    """Return a group's number of an outcome and of rows, and those of all."""
    group = seen.sums(inside)
    # A stratum may have outcomes of one kind alone: its own ends are those of the notion.
    found, total = (round(_scaled(sums, seen)) for sums in (group, seen.everyone))
    return found, group.rows, total, seen.everyone.rows


def _scaled(sums: Sums, seen: Measured) -> float:
    """Return Σ w·u with outcomes scaled to lie between 0 and 1."""
    return (float(sums.outcome) - seen.lowest * float(sums.mass)) / seen.span


def fisher(found: int, size: int, total: int, rows: int) -> float:
    """Return twice the smaller tail at `found` of `size` rows, drawn of `rows` with `total`.

    Of 4 rows 2 have the outcome, and so have both of the group: 1 of the 6 ways to choose 2.

    >>> round(fisher(2, 2, 2, 4), 12), fisher(1, 2, 2, 4)
    (0.333333333333, 1.0)
    """
    least, most = _range(size, total, rows)
    ways = _log_ways(rows, size)

    def chance(k: int) -> float:
        return math.exp(_log_ways(total, k) + _log_ways(rows - total, size - k) - ways)

    # Away from the mode terms fall, and faster than in a geometric series.
    mode = (size + 1) * (total + 1) // (rows + 2)
    away = range(found, least - 1, -1) if found <= mode else range(found, most + 1)
    terms: list[float] = []
    for k in away:
        terms.append(chance(k))
        if terms[-1] < 1e-18 * terms[0]:
            break
    tail = math.fsum(terms)
    # Both tails hold `found` itself, so that together they are 1 plus its chance.
    return min(1.0, 2 * min(tail, 1 - tail + terms[0]))


def within_strata(margins: Sequence[tuple[int, int, int, int]]) -> float:
    """Return twice the smaller tail of a sum of hypergeometric variables, each as in `fisher`.

    Two strata of two rows, of which one has the outcome; the group is a row of each, and both have
    it: 1 of the 4 ways.

    >>> within_strata([(1, 1, 1, 2), (1, 1, 1, 2)])
    0.5
    """
    # Chances are the coefficients of a polynomial for each stratum, and those of a sum the
    # coefficients of their product: of whole numbers with room enough for each, one product of all.
    width = (_DIGITS * len(margins) + 64) // 8
    product = 1
    place = 0
    length = 1
    for found, size, total, rows in margins:
        least, most = _range(size, total, rows)
        mode = min(max((size + 1) * (total + 1) // (rows + 2), least), most)
        # From the mode, each from its neighbour: exact in proportion, and then divided by the sum.
        terms = {mode: 1 << 2 * _DIGITS}
        for k in range(mode, most):
            up = (total - k) * (size - k), (k + 1) * (rows - total - size + k + 1)
            terms[k + 1] = terms[k] * up[0] // up[1]
        for k in range(mode, least, -1):
            down = k * (rows - total - size + k), (total - k + 1) * (size - k + 1)
            terms[k - 1] = terms[k] * down[0] // down[1]
        whole = sum(terms.values())
        chances = [(terms[k] << _DIGITS) // whole for k in range(least, most + 1)]
        product *= int.from_bytes(b"".join(c.to_bytes(width, "little") for c in chances), "little")
        place += found - least
        length += most - least
    every = product.to_bytes(width * length + width, "little")
    ways = [int.from_bytes(every[i : i + width], "little") for i in range(0, width * length, width)]
    smaller = min(sum(ways[: place + 1]), sum(ways[place:]))
    return min(1.0, 2 * smaller / sum(ways))


def _range(size: int, total: int, rows: int) -> tuple[int, int]:
    """Return how many of `size` rows have the outcome at least and at most."""
    # The others are rows − size, and whatever of the total they have no room for is in the group.
    return max(0, size + total - rows), min(size, total)


def _log_ways(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
