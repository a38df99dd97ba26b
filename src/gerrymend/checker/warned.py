"""Check of a report's warnings: those that the rows show are stated, and no others."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import ZERO, Attribute, Table, exact
from gerrymend.checker.figures import TOLERANCE, outcomes_of, rounding_of
from gerrymend.checker.form import is_number
from gerrymend.checker.references import farthest

# In so few rows an attribute may be one with the label, or differ in every row.
_FEW_ROWS = 20
# Rows alone can't show these: by name, a column of scores; the rows that were held out;
# and numbers that are written in another way than Python's.
_TAKEN_AS_STATED = {"label_is_protected", "decision_is_protected", "holdout_is_searched",
                    "missing_is_category", "numbers_are_categories",
                    "control_is_outcome"}  # fmt: skip
# What tables have in place of a missing value.
_ABSENT = {"", "-", "--", "?", ".", "n/a", "na", "nan", "n.a.", "null", "none", "nil", "missing",
           "unknown", "not available", "#n/a"}  # fmt: skip
_ALIKE = {"constant_decisions", "threshold_outside_scores"}


def check_warnings(case: Case) -> None:
    """Check that the report warns of what its rows show, by code; sentences are not read."""
    stated = case.stated
    table = case.table
    codes = [warning["code"] for warning in stated["warnings"]]
    shown = _shown(table, stated)
    # All rows alike are still on one side of a reference of one's own.
    own = any(notion.get("reference") is not None for notion in stated["notions"])
    alike = set() if own else _decided_alike(table)
    shown -= {"constant_decisions"} if own else set()
    if not own and not alike & set(codes) and (always := _always(table)):
        case.problem(f"warnings lack constant_decisions, and every row is {always}.")
    for code in sorted(shown - set(codes)):
        case.problem(f"warnings lack {code}, which the rows show.")
    # Whether it is so is checked with the rows that were held out.
    same = stated["held_out"] is not None and stated["held_out"]["same_rows"]
    if same != ("holdout_is_searched" in codes):
        case.problem("warnings and held_out disagree on whether other rows were held out.")
    possible = shown | _TAKEN_AS_STATED | alike
    # Audits round the most that is possible.
    scale = max((abs(end) for one in stated["notions"] for end in _ends(table, one)), default=1)
    if _allows_everything(table, stated, slack=TOLERANCE * scale):
        possible.add("gamma_allows_everything")
    if _is_of_one_row(table, slack=TOLERANCE):
        possible.add("weight_of_one_row")
    if table.views and all(_within_deviation(table, one, stated) for one in stated["notions"]):
        possible.add("gamma_allows_everything")
    for code in codes:
        # Of numbers, each notion has outcomes of its own that may all be the same.
        twice = codes.count(code) > max(1, len(table.views))
        if code not in possible or (twice and code in _ALIKE):
            case.problem(f"warnings state {code}, which the rows don't show.")
    if codes:
        case.leave("warnings warnings.*", "their words, and what rows alone can't show")


def _shown(table: Table, stated: Mapping[str, Any]) -> set[str]:
    """Return the codes that the rows show for certain, but for decisions that are alike."""
    found = set() if table.views else set(_about_labels(table))
    if table.by_class and not found and len(_decided_classes(table)) == 1:
        found.add("constant_decisions")
    if any(view.ends[0] == view.ends[1] for view in table.views.values()):
        found.add("constant_decisions")
    if _allows_everything(table, stated):
        found.add("gamma_allows_everything")
    if any(_outside(table, notion) for notion in stated["notions"]):
        found.add("reference_outside_outcomes")
    if table.predicted is not None:
        found |= _about_scores(*table.ends)
    if _is_of_one_row(table):
        found.add("weight_of_one_row")
    if 20 * stated["missing"]["dropped"] > stated["missing"]["of"]:
        found.add("rows_dropped")
    if any(map(_lacks_numbers, table.attributes.values())):
        found.add("missing_is_category")
    if any(map(_has_amounts, table.attributes.values())):
        found.add("numbers_are_categories")
    if any(_is_controlled(table, attribute) for attribute in table.attributes.values()):
        found.add("control_is_protected")
    if table.n_rows > _FEW_ROWS:
        # Of two classes the other one follows from this.
        tables = list(table.by_class.values()) or [table]
        weights = [sum(weight, ZERO) for weight in table.weight]
        by_label = [_parts([weight[1] for weight in one.weight], weights) for one in tables]
        decided = [_parts([sum(one, ZERO) for one in some.positive], weights) for some in tables]
        for attribute in table.attributes.values():
            if not table.views and _tells(attribute, by_label):
                found.add("label_is_protected")
            if not table.views and _tells(attribute, decided):
                found.add("decision_is_protected")
            if len(set(attribute.values)) == 1:
                found.add("constant_attribute")
            if _nearly_unique(attribute, table.n_rows):
                found.add("nearly_unique_attribute")
        if _add_up_to_one(list(table.attributes.values())):
            found.add("attributes_are_probabilities")
    return found


def _is_of_one_row(table: Table, slack: Fraction = ZERO) -> bool:
    """Return whether weights leave fewer than two rows, (Σ w)² / Σ w² of them, or so up to slack.

    Without slack it is so for certain, however an audit has rounded.
    """
    if table.n_rows <= _FEW_ROWS or table.squares is None:
        return False
    margin = slack or -TOLERANCE
    return table.total_weight**2 < 2 * table.total_squares * (1 + margin)


def _add_up_to_one(attributes: list[Attribute]) -> bool:
    """Return whether numbers from 0 to 1, with fractions, add up to 1 in every cell, to 1/100.

    Any two or more of them; of more than 8 all together.
    """
    numbers = [one.values for one in attributes if one.is_number]
    parts = [one for one in numbers if all(0 <= v <= 1 for v in one) and any(v % 1 for v in one)]
    if len(parts) > 8:
        return _is_one(parts)
    return any(
        _is_one(chosen)
        for size in range(2, len(parts) + 1)
        for chosen in itertools.combinations(parts, size)
    )


def _is_one(parts: Sequence[tuple[Fraction, ...]]) -> bool:
    """Return whether numbers add up to 1 in every cell, to 1/100."""
    return all(abs(sum(row) - 1) <= Fraction(1, 100) for row in zip(*parts, strict=True))


def _is_controlled(table: Table, attribute: Attribute) -> bool:
    """Return whether an attribute has one value in each stratum, and more than one overall."""

    def distinct(part: Table) -> set[Any]:
        pairs = zip(attribute.values, part.weight, strict=True)
        return {value for value, weight in pairs if any(weight)}

    strata = table.strata.values()
    return bool(strata) and len(distinct(table)) > 1 and all(len(distinct(p)) < 2 for p in strata)


def _about_scores(low: Fraction, high: Fraction) -> set[str]:
    """Return the code of errors that are all 0, or all above it, or below."""
    if low == high == 0:
        return {"scores_equal_outcomes"}
    return {"scores_on_one_side"} if low > 0 or high < 0 else set()


def _about_labels(table: Table) -> Iterator[str]:
    """Yield the code of decisions that are the labels, or the opposite, but for 1 row in 100."""
    if table.by_class:
        wrong = sum((positive[0] for positive in table.positive), ZERO)
        masses = [sum((w[1] for w in one.weight), ZERO) for one in table.by_class.values()]
        if table.is_labelled and all(masses) and 100 * wrong <= min(masses):
            yield f"decisions_{'nearly_' if wrong else ''}equal_labels"
        return
    labels = [sum((weight[y] for weight in table.weight), ZERO) for y in (0, 1)]
    decided = [sum((positive[y] for positive in table.positive), ZERO) for y in (0, 1)]
    apart = decided[0] + labels[1] - decided[1]
    for what, weight in {"equal": apart, "oppose": sum(labels, ZERO) - apart}.items():
        if all(labels) and 100 * weight <= min(labels):
            yield f"decisions_{'nearly_' if weight else ''}{what}_labels"


def _decided_classes(table: Table) -> list[Any]:
    """Return the classes that any row with weight is decided to be."""
    return [c for c, one in table.by_class.items() if any(map(any, one.positive))]


def _allows_everything(table: Table, stated: Mapping[str, Any], slack: Fraction = ZERO) -> bool:
    """Return whether gamma is no less than a quarter of an event's share, for every notion.

    With s the part of an event that a group has, s·(1 − s) is at most 1/4. Against a reference of
    one's own everyone counts, as far as an outcome can be from it. Of outcomes that are all alike
    no gamma is to blame.
    """
    most = ZERO
    for notion in stated["notions"]:
        event = list(outcomes_of(notion))
        mass = sum((weight[y] for weight in table.view(notion).weight for y in event), ZERO)
        reference = notion.get("reference")
        part = Fraction(1, 4 if reference is None else 1)
        far = farthest(*_ends(table, notion), reference)
        most = max(most, mass / table.total_weight * far * part)
    return most > 0 and exact(stated["gamma"]) >= most - slack


def _within_deviation(table: Table, notion: Mapping[str, Any], stated: Mapping[str, Any]) -> bool:
    """Return whether gamma is no less than half the standard deviation of outcomes.

    No group of rows that weigh 1 each has more, by Cauchy and Schwarz; audits of sums alone, which
    know no range, warn by that.
    """
    view = table.view(notion)
    weights = [weight[1] for weight in view.weight]
    n = sum(weights, ZERO)
    if view.spread is None or weights != [rows[1] for rows in view.rows] or not n:
        return False
    mean = sum((positive[1] for positive in view.positive), ZERO) / n
    variance = sum((by_label[1][1] for by_label in view.spread), ZERO) / n - mean**2
    slack = TOLERANCE * max(Fraction(1), abs(mean))
    return (2 * exact(stated["gamma"]) + slack) ** 2 >= variance > 0


def _ends(table: Table, notion: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    """Return the least and the largest outcome that a row of a notion can have."""
    if table.views:
        return table.view(notion).ends
    ends = [end for pair in outcomes_of(notion).values() for end in pair] or [ZERO]
    return min(ends), max(ends)


def _outside(table: Table, notion: Mapping[str, Any]) -> bool:
    """Return whether all outcomes are on one side of a number that they are compared with."""
    low, high = _ends(table, notion)
    stated = notion.get("reference")
    if not is_number(stated):
        return False
    number = exact(stated)
    rounding = rounding_of(max(map(abs, (low, high, number))))
    return not low - rounding <= number <= high + rounding


def _lacks_numbers(attribute: Attribute) -> bool:
    """Return whether categories are numbers, more than codes are, and one is a missing value."""
    if attribute.is_number:
        return False
    texts = {"" if value is None else str(value).strip().casefold() for value in attribute.values}
    numbers = texts - _ABSENT
    decimals = {text for text in numbers if text.partition(".")[2].strip("0")}
    return (
        texts != numbers
        and all(
            _is_number(text) and not (text[:1] == "0" and text[1:2].isdigit()) for text in numbers
        )
        and (len(numbers) > _FEW_ROWS or bool(decimals))
    )


def _has_amounts(attribute: Attribute) -> bool:
    """Return whether categories are numbers with decimals, point or comma, and more than codes."""
    if attribute.is_number:
        return False
    texts = {str(value).strip().replace(",", ".") for value in attribute.values}
    decimals = {text for text in texts if text.partition(".")[2].strip("0")}
    return (
        len(texts) > _FEW_ROWS
        and bool(decimals)
        and all(re.fullmatch(r"(0|[1-9]\d*)(\.\d+)?", text) for text in texts)
    )


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except InvalidOperation:
        return False
    return True


def _parts(weights: list[Fraction], of: list[Fraction]) -> list[Fraction | None]:
    """Return which part some weights are of others, by cell; None where there is none."""
    return [part / whole if whole else None for part, whole in zip(weights, of, strict=True)]


def _tells(attribute: Attribute, parts: list[list[Fraction | None]]) -> bool:
    """Return whether each value of an attribute has all rows of one class, and no others.

    `parts` has by cell the part that is of each class; of two, of the second alone.
    """
    n_classes = max(2, len(parts))
    for part in parts:
        sides: dict[Any, Fraction] = {}
        for value, share in zip(attribute.values, part, strict=True):
            if share is not None and sides.setdefault(value, share) != share:
                return False
        if sorted(sides.values()) != [0] * (n_classes - 1) + [1]:
            return False
    return True


def _nearly_unique(attribute: Attribute, n_rows: int) -> bool:
    """Return whether an attribute has nearly as many categories or whole numbers as rows."""
    distinct = set(attribute.values)
    if not attribute.is_number:
        return 2 * len(distinct) > n_rows
    return all(value.denominator == 1 for value in distinct) and 1000 * len(distinct) > 999 * n_rows


def _always(table: Table) -> str:
    """Return how every row is decided, if all are decided 0 or all 1; nothing otherwise."""
    pairs = zip(table.positive, table.weight, strict=True)
    if table.views or table.by_class or any(_about_labels(table)):
        return ""
    if not any(any(positive) for positive in table.positive):
        return "decided negative"
    return "decided positive" if all(positive == weight for positive, weight in pairs) else ""


def _decided_alike(table: Table) -> set[str]:
    """Return the codes that are possible where all sums are one part of their weight."""
    if table.views or table.by_class:
        return set()
    parts = {
        decided / weighed
        for positive, weight in zip(table.positive, table.weight, strict=True)
        for decided, weighed in zip(positive, weight, strict=True)
        if weighed
    }
    return _ALIKE if len(parts) == 1 else set()
