"""Listing of all subgroups of a small class, each as a set of cells, one bit a cell.

A cell is a distinct row of protected values. Only cells that have weight in a notion's event add
to the unfairness of a subgroup, so that subgroups are listed as the sets that they are among these
`active` cells: two that differ elsewhere are one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from gerrymend.checker.dichotomies import dichotomies, most_dichotomies
from gerrymend.checker.exact import ZERO, Attribute, Table
from gerrymend.checker.form import is_whole
from gerrymend.checker.rules import RuleError, condition_holds
from gerrymend.checker.scores import intervals_of_score

# Limits to what is listed, and to the set operations that listing it may take.
MOST_SUBGROUPS = 200_000
MOST_STEPS = 1_000_000
# Float64 can't tell on which side of a mean a value is that is closer to it than this.
_CLOSE = Fraction(1, 10**9)

# What the parameters of each class can be. How thresholds were searched changes no listing.
_DEPTH = {"max_depth": lambda value: value is None or (is_whole(value) and value >= 1)}
_BINS = {"bins": lambda value: value is None or (is_whole(value) and value >= 2)}
PARAMETERS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "LinearThresholds": {
        "search": lambda value: value in ("search", "regression", "grid"),
        "intercept": lambda value: isinstance(value, bool),
        "restarts": lambda value: value is None or is_whole(value),
        "random_state": is_whole,
    },
    "Conjunctions": {
        **_DEPTH,
        "numeric": lambda value: value in ("intervals", "half_lines"),
        **_BINS,
    },
    "ValueSets": {**_DEPTH, **_BINS},
    "Trees": {**_DEPTH, **_BINS},
    "Marginals": {},
    "ExplicitGroups": {"groups": lambda value: isinstance(value, Mapping) and bool(value)},
}


class NotListedError(Exception):
    """Raised where the subgroups of a class can't be listed here; the message says why."""


def subgroups_of(searched: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return every subgroup of a class among the active cells; bit i is set where active[i] is in.

    Raises a NotListedError for a class or a parameter that is not known here, and for a class with
    too many subgroups.

    >>> colours = Attribute("race", False, ("blue", "green", "red"))
    >>> table = Table({"race": colours}, [[1, 0]] * 3, [], [])
    >>> marginals = {"name": "Marginals", "parameters": {}}
    >>> sorted(map(bin, subgroups_of(marginals, table, [0, 1, 2])))
    ['0b1', '0b10', '0b100']
    """
    name = searched["name"]
    parameters = searched["parameters"]
    if name not in _LISTS:
        raise NotListedError(f"{name} is a class that the checker doesn't know")
    for parameter in parameters:
        if parameter not in PARAMETERS[name]:
            raise NotListedError(
                f"{name} has a parameter that the checker doesn't know, {parameter!r}"
            )
    if parameters.get("bins") is not None:
        raise NotListedError("its numbers are in bins, which the report doesn't hold")
    try:
        if table.score is not None:
            return _within_scores(_LISTS[name], parameters, table, active)
        return _LISTS[name](parameters, table, active)
    except (KeyError, TypeError, AttributeError) as problem:
        raise NotListedError(f"its parameters can't be read ({problem!r})") from None
    except RuleError as problem:
        raise NotListedError(str(problem)) from None


def _within_scores(
    listing: "_Listing", parameters: Mapping[str, Any], table: Table, active: Sequence[int]
) -> set[int]:
    """Return every subgroup of a class, within each interval of the score.

    The class is listed over distinct protected rows, one cell of each; all cells of a row are in,
    or none is.
    """
    rows = list(zip(*(one.values for one in table.attributes.values()), strict=True))
    first: dict[Any, int] = {}
    for cell in active:
        first.setdefault(rows[cell], cell)
    groups = listing(parameters, table, list(first.values()))
    # The cells of each distinct row, as bits of the active ones.
    cells = [0] * len(first)
    place = {row: i for i, row in enumerate(first)}
    for i, cell in enumerate(active):
        cells[place[rows[cell]]] |= 1 << i
    intervals = intervals_of_score(table, active)
    _check_few(len(groups) * len(intervals), MOST_SUBGROUPS, "subgroups")
    whole = [sum(part for i, part in enumerate(cells) if group >> i & 1) for group in groups]
    return {group & interval for group in whole for interval in intervals}


def bits(inside: Iterable[bool]) -> int:
    """Return a set of cells as a whole number, bit i set where `inside` has a true at i.

    >>> bin(bits([True, False, True]))
    '0b101'
    """
    return sum(1 << i for i, member in enumerate(inside) if member)


def _check_few(count: int, most: int, what: str) -> None:
    """Raise a NotListedError if `count` is above `most`; `what` names what was counted."""
    if count > most:
        raise NotListedError(f"too large for a limit of {most:,} {what}")


# One attribute: the cells of each value, in order, and the sets that conditions make of them.


def _by_value(attribute: Attribute, active: Sequence[int]) -> list[int]:
    """Return the set of active cells of each distinct value, in order for a number.

    >>> ages = Attribute("age", True, (40, 20, 40))
    >>> list(map(bin, _by_value(ages, [0, 1, 2])))
    ['0b10', '0b101']
    """
    values = [attribute.values[cell] for cell in active]
    distinct = set(values)
    ordered = sorted(distinct) if attribute.is_number else list(distinct)
    return [bits(value == one for value in values) for one in ordered]


def _intervals(by_value: list[int]) -> list[int]:
    """Return the cells of each run of consecutive values, everyone included.

    >>> list(map(bin, _intervals([0b1, 0b10, 0b100])))
    ['0b1', '0b11', '0b111', '0b10', '0b110', '0b100']
    """
    n_ends = len(by_value) + 1
    _check_few(comb(n_ends, 2), MOST_SUBGROUPS, "subgroups")
    return [sum(by_value[low:high]) for low, high in combinations(range(n_ends), 2)]


def _half_lines(by_value: list[int]) -> list[int]:
    """Return the cells on either side of each cut between two values.

    >>> list(map(bin, _half_lines([0b1, 0b10, 0b100])))
    ['0b1', '0b110', '0b11', '0b100']
    """
    cuts = range(1, len(by_value))
    return [side for cut in cuts for side in (sum(by_value[:cut]), sum(by_value[cut:]))]


def _unions(by_value: list[int]) -> list[int]:
    """Return the cells of each nonempty set of values.

    >>> list(map(bin, _unions([0b1, 0b10])))
    ['0b1', '0b10', '0b11']
    """
    _check_few(2 ** len(by_value), MOST_SUBGROUPS, "subgroups")
    sizes = range(1, len(by_value) + 1)
    return [sum(chosen) for size in sizes for chosen in combinations(by_value, size)]


# The classes.


def _marginals(parameters: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return each category, and both sides of the mean of each number.

    Raises a NotListedError where a value is so close to the mean that the auditors' float64 and
    exact arithmetic may put it on different sides.
    """
    groups: set[int] = set()
    for attribute in table.attributes.values():
        if not attribute.is_number:
            groups |= set(_by_value(attribute, active))
            continue
        mean = mean_of(attribute.values, table)
        if near_the_mean(attribute.values, mean):
            raise NotListedError(
                f"rounding decides on which side of its mean a {attribute.name!r} is"
            )
        above = bits(attribute.values[cell] >= mean for cell in active)
        groups |= {above, bits([True] * len(active)) & ~above}
    return groups


def _explicit(parameters: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return the groups that the user named."""
    groups = set()
    for conditions in parameters["groups"].values():
        held = [condition_holds({"attribute": a, **c}, table) for a, c in conditions.items()]
        groups.add(bits(all(holds[cell] for holds in held) for cell in active))
    return groups


def _conjunctions(parameters: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return each conjunction of one value or range of at most `max_depth` attributes."""
    numeric = {"intervals": _intervals, "half_lines": _half_lines}[parameters["numeric"]]
    return _products(lambda by_value: by_value, numeric, parameters["max_depth"], table, active)


def _value_sets(parameters: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return each conjunction of sets of values and intervals of at most `max_depth` attributes."""
    return _products(_unions, _intervals, parameters["max_depth"], table, active)


def _products(
    categorical: Callable[[list[int]], list[int]],
    numeric: Callable[[list[int]], list[int]],
    depth: int | None,
    table: Table,
    active: Sequence[int],
) -> set[int]:
    """Return each intersection of one condition on each of at most `depth` attributes.

    `with_conditions[k]` are the sets made by k conditions. It is filled from the deepest down, so
    that an attribute adds one condition to what the attributes before it have made, and never two.
    """
    depth = len(table.attributes) if depth is None else min(depth, len(table.attributes))
    with_conditions: list[set[int]] = [{bits([True] * len(active))}, *(set() for _ in range(depth))]
    for attribute in table.attributes.values():
        parts = (numeric if attribute.is_number else categorical)(_by_value(attribute, active))
        # From the deepest down: what this attribute adds is not combined with itself.
        for k in reversed(range(depth)):
            fewer = with_conditions[k]
            _check_few(len(fewer) * len(parts), MOST_STEPS, "steps")
            with_conditions[k + 1] |= {one & part for one in fewer for part in parts}
            _check_few(len(with_conditions[k + 1]), MOST_SUBGROUPS, "subgroups")
    return set().union(*with_conditions)


def _trees(parameters: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return each union of leaves of a decision tree of depth `max_depth`.

    A tree of depth 0 is everyone or no one; one of depth k + 1 is a split with any tree of depth k
    on either side. A split is the value of a category against all others, or a cut of a number.
    """
    everyone = bits([True] * len(active))
    splits: set[int] = set()
    for attribute in table.attributes.values():
        by_value = _by_value(attribute, active)
        splits |= set(_half_lines(by_value) if attribute.is_number else by_value) - {everyone}
    splits = {min(split, everyone & ~split) for split in splits}  # yes and no can change places
    groups = {0, everyone}
    for _ in range(parameters["max_depth"]):
        deeper = set(groups)
        for split in splits:
            yes = {group & split for group in groups}
            no = {group & ~split for group in groups}
            _check_few(len(yes) * len(no), MOST_STEPS, "steps")
            deeper |= {one | other for one in yes for other in no}
            _check_few(len(deeper), MOST_SUBGROUPS, "subgroups")
        if deeper == groups:  # as all depths beyond this one are
            break
        groups = deeper
    return groups


def _linear(parameters: Mapping[str, Any], table: Table, active: Sequence[int]) -> set[int]:
    """Return each set of active cells that a linear threshold selects.

    Categories become indicators of each value. The numbers of subgroups and steps are bounded
    before any work is done.
    """
    if parameters.get("search") == "grid":
        return _paper_grid(table, active)
    if not parameters.get("intercept", True):
        raise NotListedError("thresholds through the mean are not listed")
    columns: list[list[Fraction]] = []
    for attribute in table.attributes.values():
        values = [attribute.values[cell] for cell in active]
        if attribute.is_number:
            columns.append(values)
        else:
            columns += [[Fraction(value == one) for value in values] for one in set(values)]
    points = list(zip(*columns, strict=True))
    # Counted before any of them is listed.
    subgroups, steps = most_dichotomies(points)
    where = f"over {len(points):,} distinct rows that count"
    _check_few(subgroups, MOST_SUBGROUPS, f"subgroups {where}")
    _check_few(steps, MOST_STEPS, f"steps {where}")
    return dichotomies(points)


def _paper_grid(table: Table, active: Sequence[int]) -> set[int]:
    """Return the subgroups of the paper's grid of thresholds on two attributes.

    They are θ·(x − mean) < 0 for θ in {−1, −.9, …, .9}², x two numbers or indicators. The auditors
    use float64, so that a row too near to a threshold makes the class impossible to list here.
    """
    first, second = (_centred(attribute, table) for attribute in table.attributes.values())
    steps = [Fraction(step, 10) for step in range(-10, 10)]
    groups = set()
    for a in steps:
        for b in steps:
            sums = [a * first[cell] + b * second[cell] for cell in active]
            if any(0 < abs(value) <= _CLOSE for value in sums):
                raise NotListedError("rounding decides on which side of a threshold a row is")
            groups.add(bits(value < 0 for value in sums))
    return groups


def _centred(attribute: Attribute, table: Table) -> list[Fraction]:
    """Return an attribute of each cell less its weighted mean, a category as an indicator."""
    values: Sequence[Fraction] = attribute.values
    if not attribute.is_number:
        # The indicator of the category of less weight; of equals the first one in order.
        # The auditors' encoding of two categories: one indicator, of the rarer.
        weight = dict.fromkeys(attribute.categories, ZERO)
        for value, by_label in zip(attribute.values, table.weight, strict=True):
            weight[value] += sum(by_label)
        rarest = min(weight, key=weight.__getitem__)
        values = [Fraction(value == rarest) for value in attribute.values]
    mean = mean_of(values, table)
    return [value - mean for value in values]


def near_the_mean(values: Sequence[Fraction], mean: Fraction) -> bool:
    """Return whether rounding decides on which side of the mean a value is.

    >>> near_the_mean([Fraction(1), Fraction(2)], Fraction(3, 2))
    False
    >>> near_the_mean([Fraction(1), Fraction(2)], 2 + Fraction(1, 10**12))
    True
    """
    close = _CLOSE * (1 + abs(mean))
    return any(0 < abs(value - mean) <= close for value in values)


def mean_of(values: Sequence[Fraction], table: Table) -> Fraction:
    """Return the weighted mean over all rows of a number that is given by cell.

    >>> table = Table({}, [], [[1, 2], [0, 1]], [])
    >>> mean_of([Fraction(10), Fraction(30)], table)
    Fraction(15, 1)
    """
    weighted = (value * sum(by_label) for value, by_label in zip(values, table.weight, strict=True))
    return sum(weighted, ZERO) / table.total_weight


_Listing = Callable[[Mapping[str, Any], Table, Sequence[int]], set[int]]
_LISTS: dict[str, _Listing] = {
    "LinearThresholds": _linear,
    "Conjunctions": _conjunctions,
    "ValueSets": _value_sets,
    "Trees": _trees,
    "Marginals": _marginals,
    "ExplicitGroups": _explicit,
}
