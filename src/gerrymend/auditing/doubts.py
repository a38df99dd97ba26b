"""Doubts about what was audited, told before a verdict: each makes a verdict that misleads.

A verdict is about the columns that were given. Where these are probably not the ones that were
meant, nothing differs, or everything does, for reasons that are not fairness.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gerrymend.auditing.gamma_doubts import about_gamma, deviation
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.probability_doubts import about_probabilities
from gerrymend.auditing.provenance import fingerprint
from gerrymend.auditing.stratum_doubts import about_strata
from gerrymend.auditing.tally import Tally
from gerrymend.auditing.weight_doubts import about_weights
from gerrymend.inputs.identifiers import nearly_unique
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.text_numbers import absent_among_numbers, are_amounts
from gerrymend.notions import OVERALL, PREDICTED, AnyNotion, in_words
from gerrymend.reporting.wording import count, digits, figure, percent

# In so few rows an attribute may well be one with the label or the decision.
_FEW_ROWS = 20
# Decisions are nearly the labels where for each row that differs there are so many of the rarer
# label: of a label that is rare, a useless model misses all and still differs in few rows.
_TIMES = 100
# More than this part of the rows, dropped, can be a group that a verdict of the others hides.
_MOST_DROPPED = 0.05
_NOTHING = "No subgroup can differ, which says nothing of fairness."
_NOT_DECISIONS = f"{_NOTHING} Check that these are the decisions that were meant."
_NOT_NUMBERS = f"{_NOTHING} Check that these are the numbers that were meant."
_MEANT = {
    "equal": "the labels {}: either the labels were given in place of decisions, or the model has "
    "seen them.",
    "oppose": "the opposite of the labels {}: the two labels of the decisions are probably turned "
    "round.",
}
# What to do about an attribute that is probably an identifier, and what comes of doing nothing. Of
# numbers it isn't sure: income in cents differs for everyone as well, and no number names a person.
_LEAVE_OUT = "Leave it out, or put its values into groups."
_LEAVE_NUMBER_OUT = (
    "Leave it out if it is an identifier; a measurement, such as income in cents, belongs into "
    "ranges (--ranges, pandas.cut)."
)
_SHUT = "A gate ends with 3 in place of 0 as long as it is there (--accept-warnings)."
# What may be so of an attribute that tells what its groups are compared by.
_MADE_OF_IT = "its groups are made of what they are compared by"
_OTHERWISE = {
    "label": f"it is the label in other words, and {_MADE_OF_IT}.",
    "decision": f"it is the decision in other words, and {_MADE_OF_IT}, or it alone decides.",
}


class Doubt(NamedTuple):
    """A doubt, by a code for programs and a sentence for people.

    Codes are decisions_equal_labels, decisions_oppose_labels, decisions_nearly_equal_labels,
    decisions_nearly_oppose_labels, label_is_protected, decision_is_protected, constant_attribute,
    constant_decisions, threshold_outside_scores, nearly_unique_attribute, missing_is_category,
    numbers_are_categories, attributes_are_probabilities, gamma_allows_everything,
    control_is_outcome, control_is_protected, reference_outside_outcomes, scores_equal_outcomes,
    scores_on_one_side, weight_of_one_row, holdout_is_searched and rows_dropped.
    """

    code: str
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Return the doubt as plain data."""
        return {"code": self.code, "sentence": self.sentence}


def doubts_of(
    tally: Tally,
    held_out: Tally | None,
    decided: Decided,
    named: tuple[Any, Any],
    notions: Sequence[AnyNotion],
    gamma: float,
    allowed: str = "Gamma",
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
    notions, gamma
        The rates that are compared, and the unfairness that is allowed.
    allowed : str
        What that is called.

    >>> from gerrymend.auditing.from_rows import tally_of_rows
    >>> from gerrymend.notions import ERROR_RATE
    >>> tally = tally_of_rows([0, 1, 0, 1], [0, 0, 0, 0], {"sex": ["F", "F", "M", "M"]})
    >>> [doubt.code for doubt in doubts_of(
    ...     tally, None, Decided(), ("y", "d"), [ERROR_RATE], gamma=0.25)]
    ['constant_decisions', 'gamma_allows_everything']
    """
    own = any(notion.reference != OVERALL for notion in notions)
    found = [
        # All rows alike are still above a reference of one's own, or below it.
        *(doubt for doubt in _about_outcomes(tally, decided) if not (own and _is_alike(doubt))),
        *_about_attributes(tally, named),
        *(Doubt(*told) for told in about_gamma(tally, notions, gamma, allowed)),
        *_about_references(tally, notions),
        *_about_scores(tally),
    ]
    others = (about_weights(tally), about_strata(tally, notions), about_probabilities(tally))
    found += [Doubt(*told) for kind in others for told in kind]
    if held_out is not None and fingerprint(held_out) == fingerprint(tally):
        found.append(
            Doubt(
                "holdout_is_searched",
                "The rows to measure on are the rows that were searched: they can't confirm what "
                "was found on themselves.",
            )
        )
    return tuple(found)


def dropping_doubts(missing: MissingValues) -> tuple[Doubt, ...]:
    """Return the doubt about rows that were dropped, where they are more than a small part.

    >>> [doubt.code for doubt in dropping_doubts(MissingValues((("age", 6),), of=100, dropped=6))]
    ['rows_dropped']
    >>> dropping_doubts(MissingValues((("age", 5),), of=100, dropped=5))
    ()
    """
    if missing.dropped <= _MOST_DROPPED * missing.of:
        return ()
    part = percent(missing.dropped / missing.of)
    return (
        Doubt(
            "rows_dropped",
            f"{count(missing.dropped)} of {count(missing.of)} rows ({part}) were dropped, as a "
            "protected attribute is missing there: how these people are treated is not in the "
            "verdict. Numbers in ranges (--ranges) and categories keep them, as a group.",
        ),
    )


def _is_alike(doubt: Doubt) -> bool:
    return doubt.code in ("constant_decisions", "threshold_outside_scores")


def _about_references(tally: Tally, notions: Sequence[AnyNotion]) -> Iterator[Doubt]:
    """Yield the doubt about a number that all outcomes are above, or all below."""
    for notion in notions:
        seen = tally.of_notion(notion)
        low, high = seen.outcome_range
        constant = seen.compared.constant
        rounding = seen.cells.rounding
        if constant is None or low - rounding <= constant <= high + rounding:
            continue
        if seen.notion.reference == PREDICTED:
            continue
        unit = seen.notion.unit
        yield Doubt(
            "reference_outside_outcomes",
            f"The reference {figure(constant, unit)} is outside of what the "
            f"{seen.notion.words} is a mean of, {figure(low, unit)} to {figure(high, unit)}: every "
            "row is on one side of it. It is probably in another unit.",
        )


def _about_scores(tally: Tally) -> Iterator[Doubt]:
    """Yield the doubt about scores that are what happened, or are all on one side of it."""
    if tally.predicted is None:
        return
    low, high = tally.outcome_range
    if low == high == 0:
        yield Doubt(
            "scores_equal_outcomes",
            "The scores are what happened, in every row: either that was given in place of scores, "
            "or the model has seen it.",
        )
    elif low > 0 or high < 0:
        side = "below" if low > 0 else "above"
        yield Doubt(
            "scores_on_one_side",
            f"Every score is {side} what happened: it is probably of something else, or in another "
            "unit.",
        )


def _about_outcomes(tally: Tally, decided: Decided) -> Iterator[Doubt]:
    """Yield doubts about what is compared: numbers, or decisions of two classes or more."""
    if tally.views:
        return _about_numbers(tally)
    return _about_classes(tally) if tally.by_class else _about_decisions(tally, decided)


def _about_classes(tally: Tally) -> Iterator[Doubt]:
    """Yield doubts about decisions of many classes that are the labels, or are all the same."""
    wrong = float(tally.positive.sum())
    rarest = min(float(table.weight[1].sum()) for table in tally.by_class.values())
    if tally.is_labelled and rarest > 0 and _TIMES * wrong <= rarest:
        yield _like_labels(tally, "equal", wrong)
    elif sum(bool(table.positive.any()) for table in tally.by_class.values()) == 1:
        yield Doubt("constant_decisions", f"Every row is decided alike. {_NOT_DECISIONS}")


def _about_decisions(tally: Tally, decided: Decided) -> Iterator[Doubt]:
    """Yield doubts about decisions that are the labels, or that are all the same."""
    if doubt := _one_with_labels(tally):
        yield doubt
        return
    all_positive = np.array_equal(tally.positive, tally.weight)
    always_drawn = tally.rows is not None and bool(np.ptp(tally.rows.p) == 0)
    if tally.positive.any() and not all_positive and not always_drawn:
        return
    if decided.threshold is None:
        how = "with the same probability" if tally.positive.any() and not all_positive else "alike"
        yield Doubt("constant_decisions", f"Every row is decided {how}. {_NOT_DECISIONS}")
        return
    side = "at or above" if all_positive else "below"
    yield Doubt(
        "threshold_outside_scores",
        f"The threshold {digits(decided.threshold)} is outside of the scores' range: all are "
        f"{side} it, and every row is decided alike. {_NOTHING} Pass one among them.",
    )


def _about_numbers(tally: Tally) -> Iterator[Doubt]:
    """Yield a doubt about each outcome that is the same in every row that counts."""
    for name, view in tally.views.items():
        low, high = view.outcome_range
        alike = low == high
        value = f"{digits(low)} in every row"
        if math.isinf(high):
            alike = deviation(view) == 0
            value = f"{view.centre:g} in every row, as far as sums tell"
        if alike:
            yield Doubt("constant_decisions", f"The {in_words(name)} is {value}. {_NOT_NUMBERS}")


def _one_with_labels(tally: Tally) -> Doubt | None:
    """Return the doubt about decisions that are the labels, or their opposite, but for few rows."""
    rarer = tally.weight.sum(axis=1).min()
    # Differences cell by cell are 0 where nothing differs, whatever the weights.
    negative = tally.weight - tally.positive
    apart = tally.positive[0].sum() + negative[1].sum()
    alike = negative[0].sum() + tally.positive[1].sum()
    for what, weight in {"equal": apart, "oppose": alike}.items():
        if rarer > 0 and _TIMES * weight <= rarer:
            return _like_labels(tally, what, weight)
    return None


def _like_labels(tally: Tally, what: str, weight: float) -> Doubt:
    """Return the doubt about decisions that are like the labels, but for rows of this weight."""
    exceptions = (
        f"{count(weight)} of {count(tally.total_weight)} rows"
        if tally.is_count
        else f"{percent(weight / tally.total_weight)} of the rows, by weight"
    )
    where = f"in all but {exceptions}" if weight else "in every row"
    nearly = "nearly_" if weight else ""
    return Doubt(
        f"decisions_{nearly}{what}_labels", f"The decisions are {_MEANT[what].format(where)}"
    )


def _about_attributes(tally: Tally, named: tuple[Any, Any]) -> Iterator[Doubt]:
    """Yield doubts about attributes that are the label, the decision or an identifier."""
    n_rows = int(tally.n_rows.sum())
    # Weight by cell of the rows of each label, of those decided so, and of all.
    total = tally.weight.sum(axis=0)
    tables = list(tally.by_class.values())
    by_label = [table.weight[1] for table in tables] or list(tally.weight)
    positive = tally.positive.sum(axis=0)
    by_decision = [table.positive.sum(axis=0) for table in tables] or [total - positive, positive]
    asked = (("label", named[0], by_label), ("decision", named[1], by_decision))
    for column in tally.protected:
        for what, name, weights in asked:
            if isinstance(name, str) and name == column.name:
                told = f"is the {what} itself: {_MADE_OF_IT}."
            elif n_rows > _FEW_ROWS and not tally.views and _tells(column, weights, total):
                told = f"tells the {what} of every row: {_OTHERWISE[what]}"
            else:
                continue
            yield Doubt(f"{what}_is_protected", f"The protected attribute {column.name} {told}")
        if absent := absent_among_numbers(column.categories or ()):
            rows = sum(int(tally.n_rows[:, column.equals(value)].sum()) for value in absent)
            yield Doubt(
                "missing_is_category",
                f"The protected attribute {column.name} has numbers, taken for categories, and is "
                f"missing in {count(rows)} of {count(n_rows)} rows: each number is a group of its "
                "own, and no range of them is searched. Fill in what is missing, or cut the "
                "numbers into a few named ranges.",
            )
        elif are_amounts(column.categories or ()):
            yield Doubt(
                "numbers_are_categories",
                f"The protected attribute {column.name} has {count(len(column.categories or ()))} "
                "numbers with decimals, taken for categories: each is a group of its own, and no "
                "range of them is searched, so that hardly anything can be found. Have them read "
                "as numbers, unless they are codes.",
            )
        if n_rows > _FEW_ROWS and (column.values == column.values[0]).all():
            yield Doubt(
                "constant_attribute",
                f"The protected attribute {column.name} is the same in every row: it makes no "
                "groups.",
            )
    numbers = {column.name for column in tally.columns if not column.is_categorical}
    for name, distinct in nearly_unique(tally.protected, n_rows).items():
        remedy = _LEAVE_NUMBER_OUT if name in numbers else _LEAVE_OUT
        yield Doubt(
            "nearly_unique_attribute",
            f"The protected attribute {name} has nearly as many values as there are rows "
            f"({distinct:,} in {n_rows:,}): it tells people apart, not groups. {remedy} {_SHUT}",
        )


def _tells(column: Column, weights: Sequence[Any], total: Any) -> bool:
    """Return whether each value of an attribute has the rows of one class, and all of them."""
    there = total > 0
    values = column.values[there]
    distinct = np.unique(values)
    if len(distinct) != len(weights):
        return False
    # As many values as classes: each class is then of one value.
    return all(
        any(
            np.array_equal(weight[there], np.where(values == value, total[there], 0.0))
            for value in distinct
        )
        for weight in weights
    )
