"""Check of a report's statements about chance: its p-value and its bound on generalisation.

A p-value can't be recomputed without drawing the permutations again, so it is only checked to be a
possible one: (k + 1) / (permutations + 1) for a whole k, and consistent with the figures beside it.
The bound on generalisation follows from the number of rows and the richness of the class, and is
worked out here.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import floor, log, sqrt
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import Table, exact
from gerrymend.checker.figures import ROUNDING, TOLERANCE

# The level that `detectable` is for.
_LEVEL = Fraction(5, 100)


def check_permutations(case: Case) -> None:
    """Check that the permutation test is possible, and note that no permutation was drawn again."""
    if case.stated["p_value"] is None:
        case.problem(*_wrong_absence(case.stated))
        case.leave("no_p_value", "that no p-value was asked for, or the reason why there is none")
        return
    case.problem(*_wrong_test(case))
    case.leave(
        "p_value n_permutations detectable searched_unfairness",
        "the p-value can be one of so many permutations, and agrees with the figures beside it; "
        "the permutations were not made again",
    )


def _wrong_absence(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each figure of a permutation test that is stated without a p-value."""
    absent = {"n_permutations": 0, "detectable": None, "searched_unfairness": None}
    for name, nothing in absent.items():
        if stated[name] != nothing:
            yield f"{name} is stated as {stated[name]!r}, and there is no p-value."


def _wrong_test(case: Case) -> Iterator[str]:
    """Yield what can't be true of a p-value of so many permutations.

    It is (k + 1) / (permutations + 1), where k permutations have an unfairness as large as the one
    found: never 0, and one of finitely many values. With two families of notions the smaller of two
    p-values is doubled (Bonferroni).
    """
    stated = case.stated
    p = exact(stated["p_value"])
    draws = stated["n_permutations"]
    if stated["no_p_value"] is not None:
        yield "no_p_value states why there is no p-value, and there is one."
    if draws < 1:
        yield f"p_value is stated as {stated['p_value']!r}, of {draws} permutations."
        return
    # Notions over all rows and over those of one label are two tests, of which the smaller p-value
    # counts twice; so are those of each class, and the mean of each kind of numbers.
    families = len(
        {
            (
                all(notion["event"]),
                notion["class"],
                None if notion["unit"] is None else notion["name"],
            )
            for notion in stated["notions"]
        }
    )
    reached = p * (draws + 1) / families - 1
    whole = round(reached)
    if p != 1 and (abs(reached - whole) > TOLERANCE * (draws + 1) or not 0 <= whole <= draws):
        yield (
            f"p_value is stated as {stated['p_value']!r}, which is {families} · (k + 1) / "
            f"({draws} + 1) for no whole number k."
        )
    if not 0 < p <= 1:
        yield f"p_value is stated as {stated['p_value']!r}, and is above 0 and at most 1."
    yield from _wrong_level(families, case)


def _wrong_level(families: int, case: Case) -> Iterator[str]:
    """Yield what is wrong with `detectable` and `searched_unfairness`, given the p-value.

    `detectable` is the smallest unfairness that would have been significant at 5 %; it exists only
    where the level leaves at least one permutation in the tail.
    """
    stated = case.stated
    found = stated["searched_unfairness"]
    least = stated["detectable"]
    if found is None:
        yield "searched_unfairness is not stated, and there is a p-value."
    elif exact(found) > exact(stated["upper_bound"]) + TOLERANCE:
        yield f"searched_unfairness is stated as {found!r}, above upper_bound."
    enough = floor(_LEVEL / families * (stated["n_permutations"] + 1)) >= 1
    if enough != (least is not None):
        yield (
            f"detectable is stated as {least!r}, and {stated['n_permutations']} permutations are "
            f"{'enough' if enough else 'too few'} for it."
        )
    if least is None or found is None:
        return
    # Unfairness is e·ḡ·(1 − ḡ)·Δ (see `confidence`), so at most 1/4 of the outcomes' span.
    span = case.span
    if least > span / 4 + float(TOLERANCE):
        yield f"detectable is stated as {least!r}, and no unfairness exceeds {span / 4:g}."
    significant = exact(stated["p_value"]) <= _LEVEL
    if families == 1 and significant and exact(found) < exact(least) - ROUNDING:
        yield (
            f"p_value is stated as {stated['p_value']!r}, and searched_unfairness, {found!r}, is "
            f"below what is detectable, {least!r}."
        )


# The distance of any subgroup's unfairness in the population from that in its sample.


def check_generalisation(case: Case) -> None:
    """Check the bound on generalisation against the number of rows and the richness of the class.

    Where rows were parted at random, the stated richness is taken as it is: see `Case.parted`.
    """
    stated = case.stated
    bound = stated["generalisation"]
    basis, known = _basis(stated["class"], case.table)
    if not known or (case.parted and bound is not None):
        case.leave("generalisation generalisation.basis", "how rich the class is")
        if bound is None:
            return
        # The stated richness is taken, and the distance is checked against that.
        basis = bound["basis"]
    # Numbers have no range that a bound could scale with.
    if bound is None or basis is None or stated["weighted"]:
        possible = basis is not None and not stated["weighted"] and not case.table.views
        if possible == (bound is None):
            case.problem(
                f"generalisation is {'not ' if bound is None else ''}stated, and "
                f"{'follows' if possible else 'does not follow'} from this class and these weights."
            )
        return
    case.problem(*_wrong_generalisation(bound, basis, case))


def _wrong_generalisation(bound: Mapping[str, Any], basis: str, case: Case) -> Iterator[str]:
    """Yield what is wrong with a stated bound, whose richness in words should be `basis`.

    The error probability is shared among the notions (Bonferroni). A distance of 1/4 or more,
    before outcomes are scaled, is vacuous: no unfairness is larger.
    """
    if bound["basis"] != basis:
        yield f"generalisation: its basis is stated as {bound['basis']!r}, and is {basis!r}."
        return
    delta = (1 - bound["confidence"]) / len(case.stated["notions"])
    distance = _distance(case.table.n_rows, basis, delta)
    if distance is None:
        yield f"generalisation: its basis is stated as {basis!r}, which is none."
        return
    scaled = distance * case.span
    if abs(bound["distance"] - scaled) > float(TOLERANCE) * (1 + scaled):
        yield f"generalisation: its distance is stated as {bound['distance']!r}, and is {scaled!r}."
    if bound["vacuous"] != (distance >= 0.25):
        yield f"generalisation: vacuous is stated as {bound['vacuous']!r}, and is not."


def _basis(searched: Mapping[str, Any], table: Table) -> tuple[str | None, bool]:
    """Return the richness of the class in the report's words, and whether it is known here.

    None in place of words means that a report states no bound for this class. A linear threshold
    over d columns divides d + 1 rows in every way, and no more. Marginal groups divide D rows in no
    more ways than 2·numbers·D + categories.

    >>> from gerrymend.checker.exact import Attribute
    >>> ages = Attribute("age", True, (20, 40))
    >>> races = Attribute("race", False, ("blue", "green"))
    >>> table = Table({"age": ages, "race": races}, [], [], [])
    >>> _basis({"name": "LinearThresholds", "parameters": {}}, table)
    ('VC dimension 3', True)
    >>> _basis({"name": "Marginals", "parameters": {}}, table)
    ('VC dimension 3', True)
    """
    name = searched["name"]
    parameters = searched["parameters"]
    attributes = table.attributes.values()
    numbers = sum(attribute.is_number for attribute in attributes)
    categories = [len(set(a.values)) for a in attributes if not a.is_number]
    if name == "LinearThresholds":
        columns = numbers + sum(categories) - len(categories)
        return (None if parameters.get("search") == "grid" else f"VC dimension {columns + 1}"), True
    if name in ("Conjunctions", "ValueSets", "Trees"):
        return None, True
    if name == "ExplicitGroups":
        return f"{len(parameters.get('groups', ())):,} subgroups", True
    if name != "Marginals":
        return None, False
    if not numbers:
        return f"{sum(categories):,} subgroups", True
    dimension = 0
    # The largest D with 2^D ≤ 2·numbers·D + categories: more rows can't be divided in all 2^D ways.
    while 2 ** (dimension + 1) <= 2 * numbers * (dimension + 1) + sum(categories):
        dimension += 1
    return f"VC dimension {dimension}", True


def _distance(n: int, basis: str, delta: float) -> float | None:
    """Return the bound for outcomes between 0 and 1, or None for an unknown `basis`.

    With finitely many subgroups it is a union bound over Hoeffding's inequality; with a VC
    dimension it comes from the Rademacher complexity, by the Sauer–Shelah bound on the ways to
    divide n rows. One part is for the subgroup's sum, one for the overall rate.

    >>> round(_distance(100_000, "10 subgroups", 0.05), 4)
    0.0111
    >>> round(_distance(1_000_000, "VC dimension 8", 0.05), 4)
    0.0314
    """
    # Hoeffding for the overall rate: 2·exp(−2nε²) = δ/4 at this ε.
    overall = sqrt(log(8 / delta) / (2 * n))
    if found := re.fullmatch(r"([\d,]+) subgroups", basis):
        number = int(found[1].replace(",", ""))
        return overall + sqrt(log(8 * number / delta) / (2 * n)) if number else None
    if found := re.fullmatch(r"VC dimension (\d+)", basis):
        ways = choices = 1  # Σ (n choose i) up to the dimension
        for i in range(min(n, int(found[1]))):
            choices = choices * (n - i) // (i + 1)
            ways += choices
        return overall + 2 * sqrt(2 * log(2 * ways) / n) + sqrt(log(4 / delta) / (2 * n))
    return None
