"""audit(): the worst-treated subgroup of a model's decisions, and how sure that is."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._validation import (
    as_vector,
    check_fraction,
    check_gamma,
    check_labels,
    check_no_missing,
    check_number,
    check_same_length,
    check_weights,
    check_whole,
    decisions_from,
)
from gerrymend.inference.generalisation import generalisation
from gerrymend.inference.held_out import measure_held_out, split
from gerrymend.inference.intervals import simultaneous_intervals
from gerrymend.inference.permutation import permutation_test
from gerrymend.measured import ROUNDING
from gerrymend.notions import FairnessNotion, NotionLike, as_notions
from gerrymend.protected import Column, distinct_rows, read_columns, select_columns
from gerrymend.report import AuditReport
from gerrymend.subgroups import SubgroupClass, as_subgroup_class
from gerrymend.subgroups.base import Bracket
from gerrymend.tally import Examined, Tally
from gerrymend.top import describable, top_subgroups


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
    n_permutations: int = 0,
    test_size: float | None = None,
    holdout: tuple[Any, ...] | None = None,
    top: int = 1,
    random_state: int = 0,
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
        Seconds that the proof may take, and the permutations as many again. What was proven by
        then holds.
    min_group_size : int, default=10
        Groups with fewer rows that count, inside or outside, are not described: few rows identify
        people. The bounds cover them all the same.
    n_permutations : int, default=0
        Permutations for a p-value of the worst unfairness, which pays for the search: the whole
        search is repeated so often. 199 will do; below 19 no p-value can be 5 %.
    test_size : float, optional
        Part of the rows, of each label, to keep out of the search. The report is about the other
        rows; `held_out` has its worst subgroup as measured on these.
    holdout : tuple (y_true, y_pred, sensitive_features), optional
        A second sample to measure the worst subgroup on, in the form of the first; its weights, if
        any, come fourth.
    top : int, default=1
        Subgroups to describe that differ from each other: the worst, the worst without it, ….
    random_state : int, default=0
        Seed of the permutations and of the rows that are held out.

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
    """
    notions, subgroup_class = as_notions(notion), as_subgroup_class(subgroups)
    gamma = check_gamma(gamma)
    budget = check_number(budget, "budget", low=0.0, above=True, remedy="It is in seconds.")
    min_group_size = check_whole(min_group_size, "min_group_size", low=1)
    n_permutations = check_whole(n_permutations, "n_permutations", low=0)
    top = check_whole(top, "top", low=1, remedy="It is a number of subgroups.")
    random_state = check_whole(random_state, "random_state", low=0)
    if test_size is not None:
        test_size = check_fraction(test_size, "test_size", remedy="It is a part of the rows.")
        if holdout is not None:
            raise ValueError(
                "test_size and holdout exclude each other: rows are held out of this sample, or "
                "are a second one."
            )
    labels, predicted = as_vector(y_true, "y_true"), as_vector(y_pred, "y_pred")
    check_no_missing(labels, "y_true")
    check_no_missing(predicted, "y_pred")
    protected = read_columns(sensitive_features)
    check_same_length(y_true=labels, y_pred=predicted, sensitive_features=protected[0].values)
    weight = check_weights(sample_weight, len(labels))
    classes = _classes(labels, predicted, threshold is None and not decision_probabilities)
    if pos_label is not None:
        if pos_label not in classes.tolist():
            raise ValueError(
                f"pos_label={pos_label!r} is no label of y_true; its labels are "
                f"{', '.join(map(repr, classes.tolist()))}."
            )
        classes = np.array([classes[classes != pos_label][0], pos_label])
    p = decisions_from(predicted, classes, threshold, decision_probabilities)

    y = (labels == classes[1]).astype(np.intp)
    tally = Tally.of_rows(distinct_rows(protected), y, p, weight)
    held_out = None
    if holdout is not None:
        held_out = _second_sample(holdout, protected, classes, threshold, decision_probabilities)
    elif test_size is not None:
        tally, held_out = split(tally, test_size, random_state)
    return examine(
        tally,
        held_out=held_out,
        n_permutations=n_permutations,
        top=top,
        random_state=random_state,
        notions=notions,
        subgroups=subgroup_class,
        gamma=gamma,
        budget=budget,
        min_group_size=min_group_size,
    )


def examine(
    tally: Tally,
    *,
    notions: Sequence[FairnessNotion],
    subgroups: SubgroupClass,
    gamma: float,
    budget: float,
    min_group_size: int,
    n_permutations: int = 0,
    held_out: Tally | None = None,
    top: int = 1,
    random_state: int = 0,
    on_draw: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Audit a tally: what audit() does once the data is summed.

    `on_draw(done, of)` hears of the permutations.
    """
    examined = _prove(tally, notions, subgroups, budget)
    n, brackets = tally.total_weight, [part.bracket for part in examined]
    described = [
        describable(part, part.bracket.found, part.seen.residual, min_group_size)
        for part in examined
    ]
    worst = max(
        (one for one in described if one is not None and abs(one.unfairness) > ROUNDING),
        key=lambda one: abs(one.unfairness),
        default=None,
    )
    several = top_subgroups(examined, worst, number=top, smallest=min_group_size) if worst else ()
    found = max(abs(float(bracket.found.values[0])) / n for bracket in brackets)
    if several:  # the same value as the description has it, or a worse one that turned up
        worst = several[0]
        found = max(found, abs(worst.unfairness))
    unfairness = found if found > ROUNDING else 0.0
    return AuditReport(
        worst=worst,
        unfairness=unfairness,
        upper_bound=max(unfairness, *(bracket.upper_bound / n for bracket in brackets)),
        gamma=gamma,
        n_rows=int(tally.n_rows.sum()),
        subgroups=subgroups,
        covers=examined[0].bound.covers,
        partial=_partial(brackets, n),
        min_group_size=min_group_size,
        top=several,
        permutation_test=None
        if n_permutations == 0
        else permutation_test(
            tally,
            examined,
            n_permutations=n_permutations,
            seconds=budget,
            random_state=random_state,
            on_draw=on_draw,
        ),
        held_out=None
        if held_out is None
        else measure_held_out(worst, held_out, smallest=min_group_size),
        intervals=simultaneous_intervals(examined, smallest=min_group_size),
        generalisation=generalisation(tally, examined),
    )


def _prove(
    tally: Tally, notions: Sequence[FairnessNotion], subgroups: SubgroupClass, budget: float
) -> list[Examined]:
    """Close in on the worst of each notion; what one leaves of the time is the others'."""
    deadline = time.monotonic() + budget
    examined = []
    for i, notion in enumerate(notions):
        seen = tally.of_notion(notion)
        bound = seen.bind(subgroups)
        seconds = max(0.0, deadline - time.monotonic()) / (len(notions) - i)
        examined.append(Examined(seen, bound, bound.prove(seen.residual, seconds=seconds)))
    return examined


def _second_sample(
    holdout: Any,
    protected: Sequence[Column],
    classes: NDArray[Any],
    threshold: float | None,
    decision_probabilities: bool,
) -> Tally:
    """The rows of `holdout`, read as those of the first sample were."""
    if not isinstance(holdout, tuple) or len(holdout) not in (3, 4):
        raise ValueError(
            "holdout must be a tuple (y_true, y_pred, sensitive_features), and weights as a fourth "
            f"if rows weigh differently; got {type(holdout).__name__}"
            + (f" of {len(holdout)}." if isinstance(holdout, tuple) else ".")
        )
    labels, predicted = as_vector(holdout[0], "holdout[0]"), as_vector(holdout[1], "holdout[1]")
    check_no_missing(labels, "holdout[0]")
    check_no_missing(predicted, "holdout[1]")
    unknown = sorted(map(repr, set(labels.tolist()) - set(classes.tolist())))
    if unknown:
        raise ValueError(
            f"holdout[0] has labels that y_true has not: {', '.join(unknown[:3])}; "
            f"those of y_true are {', '.join(map(repr, classes.tolist()))}."
        )
    kinds = {column.name: column.kind for column in protected}
    columns = tuple(select_columns(holdout[2], kinds, "holdout[2]").values())
    check_same_length(
        **{f"holdout[{i}]": part for i, part in enumerate((labels, predicted, columns[0].values))}
    )
    weight = check_weights(holdout[3] if len(holdout) == 4 else None, len(labels))
    p = decisions_from(predicted, classes, threshold, decision_probabilities)
    y = (labels == classes[1]).astype(np.intp)
    return Tally.of_rows(distinct_rows(columns), y, p, weight)


def _partial(brackets: Sequence[Bracket], n: float) -> tuple[tuple[str, float], ...]:
    """Parts of the class that were proven for every notion."""
    bounds = [dict(bracket.partial) for bracket in brackets]
    shared = [words for words, _ in brackets[0].partial if all(words in one for one in bounds)]
    return tuple((words, max(one[words] for one in bounds) / n) for words in shared)


def _classes(labels: NDArray[Any], predicted: NDArray[Any], are_decisions: bool) -> NDArray[Any]:
    """The two labels; decisions can show the second where y_true has only one."""
    if are_decisions and (labels == labels[0]).all():
        both = set(predicted.tolist()) | {labels.tolist()[0]}
        if len(both) == 2:
            labels = np.concatenate([labels, predicted])
    return check_labels(labels, "y_true")
