"""Doubts about what was audited, told before a verdict: each makes a verdict that misleads.

A verdict is about the columns that were given. Where these are probably not the ones that were
meant, nothing differs, or everything does, for reasons that are not fairness.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gerrymend.auditing.provenance import fingerprint
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.identifiers import nearly_unique
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Decided
from gerrymend.notions import in_words

# In so few rows an attribute may well be one with the label or the decision.
_FEW_ROWS = 20


class Doubt(NamedTuple):
    """A doubt, by a code for programs and a sentence for people.

    Codes are decisions_equal_labels, decisions_oppose_labels, label_is_protected,
    decision_is_protected, constant_attribute, constant_decisions, threshold_outside_scores,
    nearly_unique_attribute and holdout_is_searched.
    """

    code: str
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Return the doubt as plain data."""
        return {"code": self.code, "sentence": self.sentence}


def doubts_of(
    tally: Tally, held_out: Tally | None, decided: Decided, named: tuple[Any, Any]
) -> tuple[Doubt, ...]:
    """Return all doubts about the rows that are searched and those that are held out.

    Parameters
    ----------
    tally, held_out : Tally
        Of all rows, and of a second sample if there is one.
    decided : Decided
        How decisions were read.
    named : pair
        The names of the columns of labels and of decisions; arrays have none, and are ignored.

    >>> from gerrymend.auditing.from_rows import tally_of_rows
    >>> tally = tally_of_rows([0, 1, 0, 1], [0, 0, 0, 0], {"sex": ["F", "F", "M", "M"]})
    >>> [doubt.code for doubt in doubts_of(tally, None, Decided(), ("y", "d"))]
    ['constant_decisions']
    """
    about = _about_numbers(tally) if tally.views else _about_decisions(tally, decided)
    found = [*about, *_about_attributes(tally, named)]
    if held_out is not None and fingerprint(held_out) == fingerprint(tally):
        found.append(
            Doubt(
                "holdout_is_searched",
                "The rows to measure on are the rows that were searched: they can't confirm what "
                "was found on themselves.",
            )
        )
    return tuple(found)


def _about_decisions(tally: Tally, decided: Decided) -> Iterator[Doubt]:
    """Yield doubts about decisions that are the labels, or that are all the same."""
    always_right = np.array_equal(tally.positive[1], tally.weight[1]) and tally.weight[1].any()
    if always_right and not tally.positive[0].any() and tally.weight[0].any():
        yield Doubt(
            "decisions_equal_labels",
            "The decisions are the labels in every row: either the labels were given in place of "
            "decisions, or the model has seen them.",
        )
        return
    always_wrong = np.array_equal(tally.positive[0], tally.weight[0]) and tally.weight[0].any()
    if always_wrong and not tally.positive[1].any() and tally.weight[1].any():
        yield Doubt(
            "decisions_oppose_labels",
            "The decisions are the opposite of the labels in every row: the two labels of the "
            "decisions are probably turned round.",
        )
        return
    all_positive = np.array_equal(tally.positive, tally.weight)
    always_drawn = tally.rows is not None and bool(np.ptp(tally.rows.p) == 0)
    if tally.positive.any() and not all_positive and not always_drawn:
        return
    nothing = "No subgroup can differ, which says nothing of fairness."
    if decided.threshold is None:
        how = "with the same probability" if tally.positive.any() and not all_positive else "alike"
        yield Doubt("constant_decisions", f"Every row is decided {how}. {nothing}")
        return
    side = "at or above" if all_positive else "below"
    yield Doubt(
        "threshold_outside_scores",
        f"The threshold {decided.threshold:g} is outside of the scores' range: all are {side} it, "
        f"and every row is decided alike. {nothing}",
    )


def _about_numbers(tally: Tally) -> Iterator[Doubt]:
    """Yield a doubt about each outcome that is the same in every row that counts."""
    for name, view in tally.views.items():
        assert view.rows is not None
        outcomes = view.rows.p[view.rows.y == 1]
        if len(outcomes) and np.ptp(outcomes) == 0:
            yield Doubt(
                "constant_decisions",
                f"The {in_words(name)} is the same in every row. No subgroup can differ, which "
                "says nothing of fairness.",
            )


def _about_attributes(tally: Tally, named: tuple[Any, Any]) -> Iterator[Doubt]:
    """Yield doubts about attributes that are the label, the decision or an identifier."""
    n_rows = int(tally.n_rows.sum())
    # Weight by cell of the rows with a positive label, of those decided so, and of all.
    total = tally.weight.sum(axis=0)
    asked = (
        ("label", named[0], tally.weight[1]),
        ("decision", named[1], tally.positive.sum(axis=0)),
    )
    for column in tally.columns:
        for what, name, positive in asked:
            if (isinstance(name, str) and name == column.name) or (
                n_rows > _FEW_ROWS
                and not tally.views
                and _is_one_with(column, tally.labels, positive, total)
            ):
                yield Doubt(
                    f"{what}_is_protected",
                    f"The protected attribute {column.name} is the {what} itself: its groups are "
                    "made of what they are compared by.",
                )
        if n_rows > _FEW_ROWS and (column.values == column.values[0]).all():
            yield Doubt(
                "constant_attribute",
                f"The protected attribute {column.name} is the same in every row: it makes no "
                "groups.",
            )
    for name, distinct in nearly_unique(tally.columns, n_rows).items():
        yield Doubt(
            "nearly_unique_attribute",
            f"The protected attribute {name} has nearly as many values as there are rows "
            f"({distinct:,} in {n_rows:,}): it tells people apart, not groups.",
        )


def _is_one_with(column: Column, labels: tuple[Any, Any], positive: Any, total: Any) -> bool:
    """Return whether an attribute has the values of the labels, each where the rows are so."""
    if not column.is_categorical and isinstance(labels[1], str):
        return False
    is_positive = column.equals(labels[1])
    if not (is_positive | column.equals(labels[0])).all() or is_positive.all():
        return False
    same = np.where(is_positive, total, 0.0)
    return bool(is_positive.any() and np.array_equal(positive, same))
