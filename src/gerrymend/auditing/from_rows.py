"""Reading of what users pass into a tally: arrays, columns of a frame by name, or a lazy frame."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.classes import tally_of_sample
from gerrymend.auditing.from_engine import tally_of_lazy
from gerrymend.auditing.lazy_numbers import numbers_of_lazy
from gerrymend.auditing.outcome_tables import tally_of_outcomes, tally_of_scores
from gerrymend.auditing.strata import read_strata, stratified
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.bins import cuts_of, score_column, score_of
from gerrymend.inputs.classes import AUDIT, BY_LABEL, Decided, check_class_number
from gerrymend.inputs.identifiers import check_identifiers
from gerrymend.inputs.indexes import check_same_index
from gerrymend.inputs.numbers import short
from gerrymend.inputs.protected import check_kinds, check_spreads
from gerrymend.inputs.sample import Numbers, Sample
from gerrymend.inputs.scores import NO_LABELS, Scores, check_varied, score_name
from gerrymend.inputs.validation import check_attribute_names, check_column, columns_of, is_lazy
from gerrymend.notions import (
    SCORE,
    AnyNotion,
    Multiaccuracy,
    Multicalibration,
    OutcomeNotion,
    check_labels_given,
)


class Given(NamedTuple):
    """The rows that audit() was given, by argument: arrays, or names of columns of `data`."""

    y_true: Any
    y_pred: Any
    sensitive_features: Any
    sample_weight: Any = None
    control_features: Any = None


def read_tally(data: Any, given: Given, decided: Decided, notions: Sequence[AnyNotion]) -> Tally:
    """Return the tally of the rows that audit() was given.

    `data` is the frame, eager or lazy, that `given` names columns of; None where `given` has the
    arrays themselves. Labels may be None where none of the `notions` reads them. Raises an
    ArgumentError, and warns of numbers that look like identifiers.
    """
    check_labels_given(given.y_true, notions, "y_true")
    if data is None:
        _refuse_frames(given)
    tally = _tally(data, given, decided, notions)
    # The warning is to point at the line that calls audit(), prove() or discrimination_surface().
    check_identifiers(tally.protected, int(tally.n_rows.sum()), stacklevel=4)
    return tally


def _tally(
    data: Any,
    given: Given,
    decided: Decided,
    notions: Sequence[AnyNotion],
    kinds: Mapping[str, str] | None = None,
) -> Tally:
    """Read rows and sum them; a second sample has the attributes in `kinds`, of the first."""
    if means := [notion for notion in notions if isinstance(notion, OutcomeNotion)]:
        if isinstance(means[0], Multiaccuracy):
            return _tally_of_scores(data, given, decided, means[0], kinds)
        check_no_decisions(decided, means[0])
        if is_lazy(data):
            tally = numbers_of_lazy(data, *given, means)
            if tally is not None:
                return _like_first(tally, kinds)
            # A function of arrays that no engine can run.
            data = collected(data, given)
        rows = given if data is None else _chosen(data, given)
        numbers = Numbers.read(*rows[:4], kinds=kinds)
        for mean in means if kinds is not None else ():
            mean.check_any_rows(numbers.y, numbers.p)
        return _stratified(tally_of_outcomes(numbers, means), rows)
    if is_lazy(data):
        return _like_first(tally_of_lazy(data, *given, decided=decided), kinds)
    rows = given if data is None else _chosen(data, given)
    return _stratified(tally_of_rows(*rows[:4], decided, kinds), rows)


def tally_of_kinds(
    given: Given, decided: Decided, notions: Sequence[AnyNotion], kinds: Mapping[str, str]
) -> Tally:
    """Return the tally of arrays whose attributes are of these kinds, as those of a first sample.

    Raises an ArgumentError where they are not.
    """
    check_labels_given(given.y_true, notions, "y_true")
    _refuse_frames(given)
    return _tally(None, given, decided, notions, kinds)


def _tally_of_scores(
    data: Any,
    given: Given,
    decided: Decided,
    notion: Multiaccuracy,
    kinds: Mapping[str, str] | None,
) -> Tally:
    """Read scores and sum their errors; those of a lazy frame are collected, as each row counts."""
    # A positive label is no setting of decisions here: scores predict it.
    check_no_decisions(decided._replace(pos_label=None), notion)
    if given.control_features is not None:
        raise ArgumentError(
            "control_features",
            f"can't be combined with {notion.name!r}, which compares each row with its own score. "
            "Add them to ",
            Argument("sensitive_features"),
            ", and subgroups are searched within them.",
        )
    rows = rows_of(data, given)
    scores = Scores.read(*rows[:4], decided=decided, target=notion.target, kinds=kinds)
    if not isinstance(notion, Multicalibration):
        return tally_of_scores(scores, notion, None)
    columns = scores.rows.columns
    name = notion.score
    if kinds is None:
        check_varied(scores.rows.p, AUDIT.decisions)
        name = score_name(name, None if data is None else given.y_pred, columns, SCORE)
    assert name is not None
    cuts = cuts_of(
        notion.bins,
        scores.rows.p,
        scores.rows.weight,
        probabilities=scores.labels != NO_LABELS,
    )
    return tally_of_scores(scores, notion, score_column(name, scores.rows.p, cuts))


def as_read(notions: Sequence[AnyNotion], tally: Tally) -> tuple[AnyNotion, ...]:
    """Return notions as they are of these rows: those of scores with what was read of them."""
    of_labels = tally.labels != NO_LABELS
    score = score_of(tally.columns)
    return tuple(
        one.as_read(of_labels=of_labels, score=score) if isinstance(one, Multiaccuracy) else one
        for one in notions
    )


def _like_first(tally: Tally, kinds: Mapping[str, str] | None) -> Tally:
    """Return a tally of a lazy frame, or raise unless a second sample has the first's kinds."""
    if kinds is None:
        check_spreads(tally.columns)
    else:
        check_kinds({column.name: column for column in tally.columns}, kinds, "data")
    return tally


def _stratified(tally: Tally, rows: Given) -> Tally:
    """Return the tally with its strata, by the control features of the rows; None are one."""
    if rows.control_features is None:
        return tally
    strata = read_strata(rows.control_features, int(tally.n_rows.sum()))
    check_same_index(**rows._asdict())
    return stratified(tally, strata)


def check_no_decisions(decided: Decided, notion: OutcomeNotion) -> None:
    """Raise an ArgumentError for a setting of decisions, where numbers are compared."""
    for argument, value in zip(decided._fields[:3], decided[:3], strict=True):
        # By type: a threshold of 0 equals False, and arrays and NA can't be compared.
        if value is not None and not (isinstance(value, bool | np.bool_) and not value):
            raise ArgumentError(
                Argument(argument, value=short(value)),
                f"is for decisions, and the {notion.words} is a mean of numbers; leave it out.",
            )


def check_no_scores(notions: Sequence[AnyNotion]) -> None:
    """Raise an ArgumentError for a notion of scores, where rows are not at hand."""
    for notion in notions:
        if isinstance(notion, Multiaccuracy):
            raise ArgumentError(
                Argument("notion", value=repr(notion.name)),
                "needs the score of each row, and counts have none; pass the rows to audit(). "
                "Of sums of errors notion='mean_error' with reference=0 takes the averages.",
            )


def rows_of(data: Any, given: Given) -> Given:
    """Return the arrays that were given, or columns of a frame; those of a lazy one are collected.

    Raises an ArgumentError for a name, or a lazy frame, that comes without `data`.
    """
    if data is None:
        _refuse_frames(given)
        return given
    return _chosen(collected(data, given) if is_lazy(data) else data, given)


def collected(data: Any, given: Given) -> Any:
    """Return the columns of a lazy frame that the arguments name, and no others, in memory."""
    frame = nw.from_native(data)
    there = frame.collect_schema().names()
    named = [name for name in (given.y_true, given.y_pred, given.sample_weight) if name is not None]
    named += check_attribute_names(given.sensitive_features)
    if given.control_features is not None:
        named += check_attribute_names(given.control_features, "control_features")
    # A name that is not there is told of with the argument that has it, once they are chosen.
    wanted = [name for name in dict.fromkeys(named) if name in there]
    return frame.select(wanted).collect().to_native()


def tally_of_rows(
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    decided: Decided = BY_LABEL,
    kinds: Mapping[str, str] | None = None,
) -> Tally:
    """Read rows that are at hand, and sum them; the arguments are those of audit()."""
    sample = Sample.read(
        y_true,
        sensitive_features,
        sample_weight,
        decisions=y_pred,
        decided=decided,
        kinds=kinds,
        names=AUDIT,
    )
    check_class_number(sample.known, len(sample.weight), AUDIT.labels)
    return tally_of_sample(sample)


def _chosen(data: Any, given: Given) -> Given:
    """Return the columns of an eager frame that the arguments name."""
    columns = columns_of(data, "data")
    chosen: dict[str, Any] = {}
    for argument, named in given._asdict().items():
        if named is None and argument in ("y_true", "sample_weight", "control_features"):
            chosen[argument] = None
        elif argument in ("sensitive_features", "control_features"):
            names = check_attribute_names(named, argument)
            chosen[argument] = {
                name: columns[check_column(name, argument, columns, "data")] for name in names
            }
        else:
            chosen[argument] = columns[check_column(named, argument, columns, "data")]
    return Given(**chosen)


def _refuse_frames(given: Given) -> None:
    """Raise an ArgumentError for a lazy frame, or a column's name, that comes without `data`."""
    for argument, values in given._asdict().items():
        if isinstance(values, str) or is_lazy(values):
            got = repr(values) if isinstance(values, str) else f"a lazy {type(values).__name__}"
            raise ArgumentError(
                argument,
                f"is {got}, and data is not given. Pass the frame as data=, and the names of its "
                "columns as y_true, y_pred and sensitive_features.",
            )


def second_sample(
    holdout: Any,
    like: Tally,
    data: Any,
    given: Given,
    decided: Decided,
    notions: Sequence[AnyNotion],
    name: str = "holdout",
) -> Tally:
    """Return the tally of `holdout`, which has the form of the first sample.

    It is a frame if the first was one, and otherwise a tuple of arrays. Labels and attributes are
    those of the first; errors begin with "In holdout:".

    Parameters
    ----------
    holdout : frame or tuple of arrays
        The second sample, as audit() was given it.
    like : Tally
        That of the first sample.
    data, given, decided, notions
        As in `read_tally`, of the first sample; names of columns are those of `holdout` too.
    name : str, default="holdout"
        The argument that the second sample was passed as.

    Returns
    -------
    Tally

    Raises
    ------
    ArgumentError
        If the two differ in labels, in kinds of attributes, or in what they have.
    """
    if data is None:
        if not isinstance(holdout, tuple) or not 3 <= len(holdout) <= 5:
            raise ArgumentError(
                name,
                "must be a tuple (y_true, y_pred, sensitive_features), weights as a fourth if rows "
                f"weigh differently and control features as a fifth; got {type(holdout).__name__}"
                + (f" of {len(holdout)}." if isinstance(holdout, tuple) else "."),
            )
        # Before `given` becomes that of the second sample.
        controlled = given.control_features is not None
        given = Given(*holdout)
        if controlled != (given.control_features is not None):
            raise ArgumentError(
                name,
                "has control features, as a fifth, exactly if the first sample has; pass both with "
                "them, or both without (None for weights that there are not).",
            )
        if (given.y_true is None) == like.is_labelled:
            have = "has labels, and the first sample has none"
            if given.y_true is None:
                have = "has no labels, and the first sample has"
            raise ArgumentError(name, f"{have}; pass both with labels, or both without.")
    kinds = {column.name: column.kind for column in like.protected}
    try:
        decided = decided._replace(labels=like.labels)
        tally = _tally(None if data is None else holdout, given, decided, notions, kinds)
    except ArgumentError as error:
        # The error names y_true or another argument, which both samples have.
        error.lead = f"In {name}: {error.lead}"
        raise
    if tally.labels != like.labels:
        raise ArgumentError(
            name,
            f"are {tally.labels!r}, and those of y_true {like.labels!r}; a second sample has the "
            "same ones.",
            lead="The labels of ",
        )
    return tally
