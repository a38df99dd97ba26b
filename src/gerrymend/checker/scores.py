"""Rows with scores, summed without rounding: errors, scores, and the bin that each score is in.

A bin is told by its lower end, or by a number below the first cut: an interval whose ends are cuts
then has the same rows by bins as by scores.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gerrymend.checker.arguments import (
    Columns,
    check_lengths,
    read_columns,
    read_labels,
    read_vector,
    read_weights,
)
from gerrymend.checker.exact import SLACK, ZERO, Attribute, Table, exact, weigh
from gerrymend.checker.labels import classes_of
from gerrymend.checker.numbers import finite_numbers, summed_numbers
from gerrymend.checker.plain import is_finite, shown_value

# The notions of scores, and what they are compared with.
NAMES = ("multiaccuracy", "multicalibration")
PREDICTED = "predicted"
# A column beside the attributes, which have other names.
_BIN = "\0bin"


def score_notion(stated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the notion of a report that is about scores; None of one that is about others."""
    return next((one for one in stated["notions"] if is_of_scores(one)), None)


def is_of_scores(notion: Mapping[str, Any]) -> bool:
    """Return whether a notion is one of scores, by its name or by what it compares with."""
    return notion["name"] in NAMES or notion.get("reference") == PREDICTED


def of_scores(stated: Mapping[str, Any]) -> bool:
    """Return whether a report, as plain data, is about scores."""
    return score_notion(stated) is not None


def read_scores(
    notion: Mapping[str, Any],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    pos_label: Any,
    like: Table | None = None,
) -> Table:
    """Read the arguments of an audit of scores.

    Parameters
    ----------
    notion : mapping
        As the report states it: whether there are labels, and where the score is cut.
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As they were passed to `audit()`.
    like : Table, optional
        The first sample, whose labels a second one has.
    """
    of_labels = notion["unit"] is None
    labels = None if like is None else like.labels
    happened, labels = read_happened(y_true, pos_label, labels, of_labels=of_labels)
    predicted = read_predicted(y_pred, of_labels=of_labels)
    columns = read_columns(sensitive_features)
    weights = read_weights(sample_weight, len(predicted))
    check_lengths(columns, y_true=happened, y_pred=predicted, sample_weight=weights)
    table = score_table(notion, happened, predicted, columns, weights)
    table = replace(table, labels=labels)
    return replace(table, views={notion["name"]: table})


def read_happened(
    y_true: Any, pos_label: Any, labels: tuple[Any, ...] | None = None, *, of_labels: bool
) -> tuple[list[Fraction], tuple[Any, ...]]:
    """Return what happened, of labels as 0 or 1, and the two labels, known or not."""
    if not of_labels:
        return finite_numbers(y_true, "y_true"), (None, None)
    given = read_labels(y_true, "y_true")
    pair = tuple(classes_of(given, [], pos_label)) if labels is None else labels
    return [Fraction(label == pair[1]) for label in given], pair


def read_predicted(y_pred: Any, *, of_labels: bool) -> list[Fraction]:
    """Return the scores; of labels they are probabilities."""
    if of_labels:
        return list(map(_probability, read_vector(y_pred, "y_pred")))
    return finite_numbers(y_pred, "y_pred")


def score_table(
    notion: Mapping[str, Any],
    happened: list[Fraction],
    predicted: list[Fraction],
    columns: Columns,
    weights: list[Any],
) -> Table:
    """Sum rows by protected row and, where the notion has cuts of the score, by its bin."""
    cuts = [exact(cut) for cut in notion.get("cuts") or ()]
    bins = [_lower_end(score, cuts) for score in predicted]
    keys = list(zip(*(values for _, values in columns.values()), bins, strict=True))
    errors = [y - s for y, s in zip(happened, predicted, strict=True)]
    of_labels = notion["unit"] is None
    table = _summed(columns, keys, errors, predicted, weights, of_labels=of_labels)
    if notion.get("cuts") is None:
        return table
    score = Attribute(str(notion.get("score")), True, tuple(key[-1] for key in dict.fromkeys(keys)))
    return replace(table, score=score, cuts=cuts)


def _summed(
    columns: Columns,
    keys: list[Any],
    errors: list[Fraction],
    predicted: list[Fraction],
    weights: list[Any],
    *,
    of_labels: bool,
) -> Table:
    """Sum errors, scores and what a draw of right scores would vary by, by cell."""
    rows = [
        (key, 1, error, weight) for key, error, weight in zip(keys, errors, weights, strict=True)
    ]
    cells = list(dict.fromkeys(keys))
    table = summed_numbers({**columns, _BIN: (True, [])}, cells, rows, is_labelled=True)
    place = {cell: i for i, cell in enumerate(cells)}
    scores = [ZERO] * len(cells)
    variance = [ZERO] * len(cells)
    counted = Counter(zip(keys, predicted, errors, weights, strict=True))
    for (key, score, error, weight), count in counted.items():
        each = weigh(weight)
        scores[place[key]] += each * score * count
        of_row = score * (1 - score) if of_labels else error**2
        variance[place[key]] += each**2 * of_row * count
    attributes = {name: one for name, one in table.attributes.items() if name in columns}
    return replace(table, attributes=attributes, predicted=scores, variance=variance)


def _lower_end(score: Fraction, cuts: list[Fraction]) -> Fraction:
    """Return what stands for the bin of a score.

    >>> halves = [Fraction(1, 2)]
    >>> _lower_end(Fraction(1, 2), halves), _lower_end(Fraction(1, 4), halves)
    (Fraction(1, 2), Fraction(-1, 2))
    """
    below = [cut for cut in cuts if cut <= score]
    if below:
        return below[-1]
    return cuts[0] - 1 if cuts else ZERO


def _probability(value: Any) -> Fraction:
    """Return a score as a fraction, or raise a ValueError if it is outside of [0, 1]."""
    score = exact(value) if is_finite(value) else None
    if score is None or not -SLACK <= score <= 1 + SLACK:
        raise ValueError(f"y_pred has the score {shown_value(value)}; of labels it lies in [0, 1].")
    return min(max(score, ZERO), Fraction(1))


def intervals_of_score(table: Table, active: Iterable[int]) -> list[int]:
    """Return the set of active cells, as bits, of each run of neighbouring bins that has any."""
    assert table.score is not None
    values = [table.score.values[cell] for cell in active]
    distinct = sorted(set(values))
    return [
        sum(1 << i for i, value in enumerate(values) if low <= value <= high)
        for place, low in enumerate(distinct)
        for high in distinct[place:]
    ]


def within_words(table: Table) -> str:
    """Return the end of a class in words where it is searched within intervals of the score."""
    if table.score is None:
        return ""
    cuts = ", ".join(_printed(cut) for cut in table.cuts)
    return f", within every interval of {table.score.name} (cut at {cuts})"


def _printed(cut: Fraction) -> str:
    """Return a cut as reports print it.

    >>> _printed(Fraction(1, 10)), _printed(Fraction(-3))
    ('0.1', '−3')
    """
    return repr(float(cut)).removesuffix(".0").replace("-", "−")


def wrong_score_notion(notion: Mapping[str, Any], table: Table) -> Iterator[str]:
    """Yield what is wrong with a notion of scores, as it is stated."""
    name = notion["name"]
    if name not in NAMES:
        yield f"The notion {name} compares with what was predicted, and is none of scores."
    if (notion["event"], notion["a"], notion["b"]) != ([True, True], [0, 0], [1, 1]):
        yield f"The notion {name} is stated to be another mean than that of all errors."
    if notion.get("reference") != PREDICTED:
        yield f"The notion {name} is stated to compare with {notion.get('reference')!r}."
    cuts = notion.get("cuts")
    if (name == "multicalibration") != (cuts is not None and bool(notion.get("score"))):
        yield f"The notion {name} has cuts of a score, and is stated without; or the other way."
    elif cuts is not None and any(low >= high for low, high in itertools.pairwise(cuts)):
        yield f"The cuts of the score are stated as {cuts!r}, not in order."
    if table.score is not None and table.score.name in table.attributes:
        yield f"The score is stated to be called {table.score.name!r}, as an attribute is."
