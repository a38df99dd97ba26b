"""Check of a report's warnings: those that the rows show are stated, and no others."""

from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.exact import ZERO, Attribute, Table

# In so few rows an attribute may be one with the label, or differ in every row.
_FEW_ROWS = 20
# Rows alone can't show these: by name, a column of scores; the rows that were held out.
_TAKEN_AS_STATED = {"label_is_protected", "decision_is_protected", "holdout_is_searched"}
_ALIKE = {"constant_decisions", "threshold_outside_scores"}


def check_warnings(case: Case) -> None:
    """Check that the report warns of what its rows show, by code; sentences are not read."""
    stated = case.stated
    table = case.table
    codes = [warning["code"] for warning in stated["warnings"]]
    shown = _shown(table)
    if not _decided_alike(table) & set(codes) and (always := _always(table)):
        case.problem(f"warnings lack constant_decisions, and every row is {always}.")
    for code in sorted(shown - set(codes)):
        case.problem(f"warnings lack {code}, which the rows show.")
    # Whether it is so is checked with the rows that were held out.
    same = stated["held_out"] is not None and stated["held_out"]["same_rows"]
    if same != ("holdout_is_searched" in codes):
        case.problem("warnings and held_out disagree on whether other rows were held out.")
    possible = shown | _TAKEN_AS_STATED | _decided_alike(table)
    for code in codes:
        if code not in possible or (codes.count(code) > 1 and code in _ALIKE):
            case.problem(f"warnings state {code}, which the rows don't show.")
    if codes:
        case.leave("warnings warnings.*", "their words, and what rows alone can't show")


def _shown(table: Table) -> set[str]:
    """Return the codes that the rows show for certain, but for decisions that are alike."""
    labels = [sum((weight[y] for weight in table.weight), ZERO) for y in (0, 1)]
    found = set()
    if all(labels) and all(
        positive == [0, weight[1]]
        for positive, weight in zip(table.positive, table.weight, strict=True)
    ):
        found.add("decisions_equal_labels")
    if all(labels) and all(
        positive == [weight[0], 0]
        for positive, weight in zip(table.positive, table.weight, strict=True)
    ):
        found.add("decisions_oppose_labels")
    if table.n_rows > _FEW_ROWS:
        by_label = [weight[1] for weight in table.weight]
        decided = [sum(positive, ZERO) for positive in table.positive]
        for attribute in table.attributes.values():
            if _is_one_with(attribute, by_label, table):
                found.add("label_is_protected")
            if _is_one_with(attribute, decided, table):
                found.add("decision_is_protected")
            if len(set(attribute.values)) == 1:
                found.add("constant_attribute")
            if _nearly_unique(attribute, table.n_rows):
                found.add("nearly_unique_attribute")
    return found


def _is_one_with(attribute: Attribute, positive: list[Any], table: Table) -> bool:
    """Return whether an attribute has the labels' values, the positive one where rows are so."""
    if set(attribute.values) != set(table.labels):
        return False
    return all(
        weighed == (sum(weight, ZERO) if value == table.labels[1] else 0)
        for value, weighed, weight in zip(attribute.values, positive, table.weight, strict=True)
    )


def _nearly_unique(attribute: Attribute, n_rows: int) -> bool:
    """Return whether an attribute has nearly as many categories or whole numbers as rows."""
    distinct = set(attribute.values)
    if not attribute.is_number:
        return 2 * len(distinct) > n_rows
    return all(value.denominator == 1 for value in distinct) and 1000 * len(distinct) > 999 * n_rows


def _always(table: Table) -> str:
    """Return how every row is decided, if all are decided 0 or all 1; nothing otherwise."""
    pairs = zip(table.positive, table.weight, strict=True)
    if _shown(table) & {"decisions_equal_labels", "decisions_oppose_labels"}:
        return ""
    if not any(any(positive) for positive in table.positive):
        return "decided negative"
    return "decided positive" if all(positive == weight for positive, weight in pairs) else ""


def _decided_alike(table: Table) -> set[str]:
    """Return the codes that are possible where all sums are one part of their weight."""
    parts = {
        decided / weighed
        for positive, weight in zip(table.positive, table.weight, strict=True)
        for decided, weighed in zip(positive, weight, strict=True)
        if weighed
    }
    return _ALIKE if len(parts) == 1 else set()
