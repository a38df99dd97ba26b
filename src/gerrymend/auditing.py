"""audit(): the worst-treated subgroup of a model's decisions, and how sure that is."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gerrymend._validation import (
    as_vector,
    check_attribute_names,
    check_classes,
    check_column,
    check_gamma,
    check_no_missing,
    check_number,
    check_same_length,
    check_weights,
    check_whole,
    columns_of,
    decisions_from,
    is_lazy,
)
from gerrymend.measured import Subgroup
from gerrymend.notions import FairnessNotion, NotionLike, as_notions
from gerrymend.protected import distinct_rows, read_columns, warn_of_identifiers
from gerrymend.pushdown import tally_of_lazy
from gerrymend.report import ROUNDING, AuditReport
from gerrymend.subgroups import SubgroupClass, as_subgroup_class
from gerrymend.subgroups.base import BoundClass, Bracket, Found
from gerrymend.tally import NotionTally, Tally


def audit(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: NotionLike = "false_positive_rate",
    subgroups: Any = "linear",
    gamma: float = 0.01,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    budget: float = 30.0,
    min_group_size: int = 10,
    data: Any = None,
) -> AuditReport:
    """Find the subgroup that a model's decisions treat worst.

    Parameters
    ----------
    y_true : array of labels, of two values
    y_pred : array of decisions, of the same two values
        Or scores, with `threshold`; or a mixture's probabilities of deciding the positive label,
        with `decision_probabilities=True`.
    sensitive_features : frame, Series, mapping from names to columns, or array
        The protected attributes: strings, categoricals, booleans and numbers. Rows are matched by
        position, never by an index.
    notion : str, FairnessNotion or tuple of these, default="false_positive_rate"
        The rate to compare; of several, the worst is reported.
    subgroups : {"linear", "marginals"} or SubgroupClass, default="linear"
        The class of subgroups to search.
    gamma : float, default=0.01
        The unfairness to allow.
    sample_weight : array of weights, optional
    threshold : float, optional
        Decide the positive label where the score y_pred is at least this.
    decision_probabilities : bool, default=False
        Whether y_pred are the probabilities with which a randomised model decides.
    pos_label : label, optional
        The positive label; by default the second in sorted order.
    budget : float, default=30.0
        Seconds that the proof may take. What it has proven by then holds.
    min_group_size : int, default=10
        Groups with fewer rows that count, inside or outside, are not described: few rows identify
        people. The bounds cover them all the same.
    data : frame or mapping from names to columns, optional
        Where the columns are. y_true, y_pred and sample_weight are then names of columns, and
        sensitive_features a list of names. A lazy frame (a Polars LazyFrame, a DuckDB relation,
        PySpark, Dask) is summed by its own engine: only sums by protected values travel, and the
        report is the same.

    Returns
    -------
    AuditReport

    Examples
    --------
    The paper's toy example: fair to each race and to each gender, and not to blue men.

    >>> from gerrymend import audit, LinearThresholds
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> decisions = (toy.score >= 0.5).astype(int)
    >>> audit(toy.target, decisions, sensitive_features=toy.sensitive_features,
    ...       subgroups="marginals").unfairness
    0.0
    >>> print(audit(toy.target, decisions, sensitive_features=toy.sensitive_features,
    ...             subgroups=LinearThresholds(search="grid")))
    Audit of 800 rows over LinearThresholds(search='grid'): exceeds gamma.
    Worst subgroup found: race = blue and gender = man (200 rows)
      false positive rate 100.0%, overall 50.0%; its rows that count are 12.5% of all rows
      unfairness 0.0625 (exact for this class), gamma 0.01

    Where the data lives, here in a Polars query:

    >>> import polars as pl
    >>> people = pl.LazyFrame({**toy.sensitive_features, "y": toy.target, "score": toy.score})
    >>> audit("y", "score", threshold=0.5, sensitive_features=["race", "gender"], data=people,
    ...       subgroups=LinearThresholds(search="grid")).worst.describe()
    'race = blue and gender = man'
    """
    settings = check_settings(
        notion=notion,
        subgroups=subgroups,
        gamma=gamma,
        budget=budget,
        min_group_size=min_group_size,
    )
    decided = {
        "threshold": threshold,
        "decision_probabilities": decision_probabilities,
        "pos_label": pos_label,
    }
    given = {
        "y_true": y_true,
        "y_pred": y_pred,
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
    }
    if data is None:
        _refuse_frames(given)
        tally = tally_of_rows(**given, **decided)
    elif is_lazy(data):
        tally = tally_of_lazy(data, **given, **decided)
    else:
        tally = tally_of_rows(**_chosen(data, **given), **decided)
    warn_of_identifiers(tally.columns, int(tally.n_rows.sum()))
    return examine(tally, **settings)


def check_settings(
    *, notion: NotionLike, subgroups: Any, gamma: Any, budget: Any, min_group_size: Any
) -> dict[str, Any]:
    """What examine() takes beside a tally, checked before any data is read."""
    return {
        "notions": as_notions(notion),
        "subgroups": as_subgroup_class(subgroups),
        "gamma": check_gamma(gamma),
        "budget": check_number(
            budget, "budget", low=0.0, above=True, remedy="It is in seconds: 30, for example."
        ),
        "min_group_size": check_whole(min_group_size, "min_group_size", low=1),
    }


def tally_of_rows(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
) -> Tally:
    """Check rows that are at hand, and sum them; the arguments are those of audit()."""
    labels, predicted = as_vector(y_true, "y_true"), as_vector(y_pred, "y_pred")
    check_no_missing(labels, "y_true")
    check_no_missing(predicted, "y_pred")
    protected = read_columns(sensitive_features)
    check_same_length(y_true=labels, y_pred=predicted, sensitive_features=protected[0].values)
    weight = check_weights(sample_weight, len(labels))
    are_decisions = threshold is None and not decision_probabilities
    classes = check_classes(labels, predicted if are_decisions else None, pos_label)
    p = decisions_from(predicted, classes, threshold, decision_probabilities)
    y = (labels == classes[1]).astype(np.intp)
    return Tally.of_rows(distinct_rows(protected), y, p, weight)


def _chosen(data: Any, **names: Any) -> dict[str, Any]:
    """The columns of an eager frame that the arguments name."""
    columns = columns_of(data, "data")
    attributes = check_attribute_names(names.pop("sensitive_features"))
    for name in attributes:
        check_column(name, "sensitive_features", columns, "data")
    chosen = {
        argument: columns[check_column(name, argument, columns, "data")]
        for argument, name in names.items()
        if name is not None or argument != "sample_weight"
    }
    return chosen | {"sensitive_features": {name: columns[name] for name in attributes}}


def _refuse_frames(given: Mapping[str, Any]) -> None:
    """Lazy frames, and names of columns, need `data`."""
    for argument, values in given.items():
        if isinstance(values, str) or is_lazy(values):
            got = repr(values) if isinstance(values, str) else f"a lazy {type(values).__name__}"
            raise TypeError(
                f"{argument} is {got}, and data is not given. Pass the frame as data=, and the "
                "names of its columns as y_true, y_pred and sensitive_features."
            )


def examine(
    tally: Tally,
    *,
    notions: Sequence[FairnessNotion],
    subgroups: SubgroupClass,
    gamma: float,
    budget: float,
    min_group_size: int,
) -> AuditReport:
    """Audit a tally: what audit() does once the data is summed."""
    deadline = time.monotonic() + budget
    brackets: list[tuple[NotionTally, BoundClass, Bracket]] = []
    for i, notion in enumerate(notions):
        seen = tally.of_notion(notion)
        bound = seen.bind(subgroups)
        seconds = max(0.0, deadline - time.monotonic()) / (len(notions) - i)
        brackets.append((seen, bound, bound.prove(seen.residual, seconds=seconds)))
    described = [_describable(*parts, min_group_size) for parts in brackets]
    worst = max(
        (one for one in described if one is not None and abs(one.unfairness) > ROUNDING),
        key=lambda one: abs(one.unfairness),
        default=None,
    )
    n = tally.total_weight
    found = max(abs(float(bracket.found.values[0])) / n for _, _, bracket in brackets)
    if worst is not None:  # the same value, as the description has it
        found = max(found, abs(worst.unfairness))
    unfairness = found if found > ROUNDING else 0.0
    return AuditReport(
        worst=worst,
        unfairness=unfairness,
        upper_bound=max(unfairness, *(bracket.upper_bound / n for _, _, bracket in brackets)),
        gamma=gamma,
        n_rows=int(tally.n_rows.sum()),
        subgroups=subgroups,
        covers=brackets[0][1].covers,
        partial=_partial([bracket for _, _, bracket in brackets], n),
        min_group_size=min_group_size,
        notions=tuple(notions),
    )


def _describable(
    seen: NotionTally, bound: BoundClass, bracket: Bracket, smallest: int
) -> Subgroup | None:
    """The worst subgroup that was found, or the worst of those that are large enough."""
    found: Found | None = bracket.found
    assert found is not None
    inside = int(seen.rows[found.members[0] > 0].sum())
    if min(inside, int(seen.rows.sum()) - inside) < smallest:
        found = bound.worst_of_size(seen.residual, seen.rows, smallest)
    if found is None:
        return None
    return seen.measure(bound.source.rule(found.keys[0]), found.members[0] > 0)


def _partial(brackets: Sequence[Bracket], n: float) -> tuple[tuple[str, float], ...]:
    """Parts of the class that were proven for every notion."""
    bounds = [dict(bracket.partial) for bracket in brackets]
    shared = [words for words, _ in brackets[0].partial if all(words in one for one in bounds)]
    return tuple((words, max(one[words] for one in bounds) / n) for words in shared)
