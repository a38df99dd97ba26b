"""Rows of more than two classes, summed without rounding: a table of each against the rest."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gerrymend.checker.arguments import check_lengths, read_columns, read_labels, read_weights
from gerrymend.checker.exact import Table, summed, with_strata
from gerrymend.checker.figures import rate_of

Rows = tuple[Any, Any, Any, Any, Any]


def read_many(rows: Rows, like: Table | None = None) -> Table:
    """Read the arguments of an audit of many classes, and sum them without rounding.

    Parameters
    ----------
    rows : tuple
        y_true, y_pred, sensitive_features, sample_weight and control_features, as in audit().
    like : Table, optional
        The first sample, whose classes a second one has.

    Returns
    -------
    Table
        Every row has label 0, and is decided 1 where the decision is wrong; `by_class` has the
        tables of one against the rest.
    """
    y_true, y_pred, sensitive_features, sample_weight, control_features = rows
    decided = read_labels(y_pred, "y_pred")
    true = None if y_true is None else read_labels(y_true, "y_true")
    columns = read_columns(sensitive_features)
    given = read_weights(sample_weight, len(decided))
    check_lengths(columns, y_pred=decided, sample_weight=given, y_true=true)
    classes = tuple(sorted(set(decided if true is None else true))) if like is None else like.labels
    if unknown := sorted(map(repr, {*decided, *(true or ())} - set(classes))):
        raise ValueError(
            f"y_pred has values that are no label: {', '.join(unknown[:3])}. The labels of the "
            "report are more than two, so that decisions are labels: pass those that it is about."
        )
    cells = list(zip(*(values for _, values in columns.values()), strict=True))
    places = list(dict.fromkeys(cells))

    def table(labels: list[int], decisions: list[int]) -> Table:
        """Sum the rows by these labels and decisions, with their strata."""

        def make(some: list[Any]) -> Table:
            one = summed(columns, Counter(some), classes, places)
            return replace(one, is_labelled=true is not None)

        every = list(zip(cells, labels, decisions, given, strict=True))
        return with_strata(make(every), control_features, every, make)

    none = [0] * len(decided)
    by_class = {}
    for one in classes:
        y = none if true is None else [int(label == one) for label in true]
        by_class[one] = table(y, [int(decision == one) for decision in decided])
    # For label 0 the error rate's outcome is the decision itself: with [y ≠ p] as the decision,
    # and every row of label 0, its mean is the part that is decided wrongly.
    wrong = none
    if true is not None:
        wrong = [int(y != p) for y, p in zip(true, decided, strict=True)]
    return replace(table(none, wrong), by_class=by_class)


def wrong_classes(stated: Mapping[str, Any], table: Table) -> Iterator[str]:
    """Yield what is wrong with the classes that notions are of: all are compared, each once."""
    compared: dict[str, list[Any]] = {}
    for notion in stated["notions"]:
        rate = rate_of(notion)
        if notion["class"] is None:
            if table.by_class and rate != "error_rate":
                yield f"The notion {notion['name']} is of no class, and there are many."
        elif rate == notion["name"]:
            yield f"The notion {rate} is stated to be of the class {notion['class']!r}."
        else:
            compared.setdefault(rate, []).append(notion["class"])
    for rate, classes in compared.items():
        if classes != list(table.by_class):
            yield (
                f"The {rate} is stated of the classes {classes!r}, and there are "
                f"{list(table.by_class)!r}."
            )
