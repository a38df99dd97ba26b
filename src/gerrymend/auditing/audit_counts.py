"""audit_counts(): audit a table of counts, such as SQL's GROUP BY makes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gerrymend._numeric.sums import exact_parts
from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.classes import tally_of_counts
from gerrymend.auditing.counted_numbers import check_summed, tally_of_counted, tally_of_summed
from gerrymend.auditing.doubts import doubts_of
from gerrymend.auditing.examine import examine
from gerrymend.auditing.from_rows import check_no_decisions, check_no_scores
from gerrymend.auditing.inference.held_out import split
from gerrymend.auditing.inference.population import N_RESAMPLES
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.strata import check_counted, check_enough_rows, tally_of_lines
from gerrymend.auditing.tally import Tally
from gerrymend.inputs.classes import Decided, Names, check_class_number
from gerrymend.inputs.identifiers import check_identifiers
from gerrymend.inputs.numbers import LARGEST_WHOLE, as_numbers, is_number_type, is_whole
from gerrymend.inputs.protected import (
    Cells,
    Column,
    distinct_rows,
    in_use,
    read_columns,
    take_rows,
)
from gerrymend.inputs.sample import Numbers, Sample, finite, read_vector
from gerrymend.inputs.settings import check_test_size
from gerrymend.inputs.validation import (
    as_vector,
    check_attribute_names,
    check_column,
    check_same_length,
    columns_of,
    is_lazy,
)
from gerrymend.notions import (
    AnyNotion,
    GroupMean,
    NotionLike,
    OutcomeNotion,
    by_class,
    check_labels_given,
)


def audit_counts(
    table: Any,
    *,
    sensitive_features: Any,
    label: str | None = "label",
    prediction: str = "prediction",
    count: str = "count",
    notion: NotionLike = "false_positive_rate",
    reference: float | GroupMean | None = None,
    subgroups: Any = "linear",
    gamma: float = 0.01,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str = "both",
    budget: float = 30.0,
    min_group_size: int = MIN_GROUP_SIZE,
    control_features: Any = None,
    leave_out_empty_strata: bool = False,
    n_permutations: int = 0,
    test_size: float | None = None,
    top: int = 1,
    random_state: int = 0,
    on_draw: Callable[[int, int], None] | None = None,
    features: Sequence[str] | None = None,
    intersection: Sequence[str] | None = None,
    n_jobs: int | None = None,
    confidence: float | None = None,
    n_resamples: int = N_RESAMPLES,
    discovery_rate: float | None = None,
    total: str | None = None,
    squares: str | None = None,
) -> AuditReport:
    """Audit a table of counts, with the same report as audit() gives for the rows it counts.

    An audit needs no more than the number of rows of each combination of protected values, label
    and decision. Where the rows can't leave a database, their counts can:
    `SELECT race, sex, label, prediction, count(*) AS count FROM loans GROUP BY ALL`.

    Parameters
    ----------
    table : frame, mapping from names to columns, or lazy frame
        Lines of the same values are added up; a count may be 0.
    sensitive_features : str or list of str
        The protected columns.
    label, prediction, count : str
        The columns of the true label (None where the notion reads none), of the decision (or of a
        score, with `threshold`, or of a probability, with `decision_probabilities=True`), and of
        the number of rows.
    notion, reference, subgroups, gamma, threshold, decision_probabilities, pos_label
        As in audit().
    favourable, side, budget, min_group_size
        As in audit().
    control_features : str or list of str, optional
        The columns within whose values groups are compared.
    leave_out_empty_strata, n_permutations, test_size, top, random_state, on_draw
        As in audit().
    features, intersection, n_jobs, confidence, n_resamples, discovery_rate
        As in audit().
    total, squares : str, optional
        Of numbers, the columns of the sum of outcomes and of the sum of their squares over the rows
        of a line, in place of `label` and `prediction`. Without them each line has the numbers
        themselves, and their count.

    Returns
    -------
    AuditReport
        The report that audit() makes of the rows.

    Raises
    ------
    TypeError, ValueError
        For a column that is not there, counts that are no whole numbers, and as in audit().

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.

    Examples
    --------
    >>> table = {
    ...     "sex":        ["F", "F", "M", "M", "F", "M"],
    ...     "label":      ["no", "no", "no", "no", "yes", "yes"],
    ...     "prediction": ["no", "yes", "no", "yes", "yes", "yes"],
    ...     "count":      [600, 200, 700, 100, 250, 150],
    ... }
    >>> report = audit_counts(table, sensitive_features="sex")
    >>> report.worst.describe(), report.worst.size, report.worst.rate, report.n_rows
    ('sex = F', 1050, 0.25, 2000)

    Numbers, of which the sum and the sum of squares are enough:
    `SELECT town, count(*) AS count, sum(days) AS total, sum(days * days) AS squares …`.

    >>> waits = {"town": ["Au", "Ulm"], "count": [20, 20], "total": [240.0, 120.0],
    ...          "squares": [2960.0, 800.0]}
    >>> worst = audit_counts(waits, sensitive_features="town", total="total", squares="squares",
    ...                      notion="mean_outcome", gamma=1.0).worst
    >>> worst.describe(), worst.rate, worst.overall_rate, worst.unfairness
    ('town = Au', 12.0, 9.0, 1.5)
    """
    settings = check_settings(
        notion=notion,
        reference=reference,
        favourable=favourable,
        side=side,
        subgroups=subgroups,
        gamma=gamma,
        budget=budget,
        min_group_size=min_group_size,
        n_permutations=n_permutations,
        top=top,
        random_state=random_state,
        features=features,
        intersection=intersection,
        n_jobs=n_jobs,
        on_draw=on_draw,
        confidence=confidence,
        n_resamples=n_resamples,
        discovery_rate=discovery_rate,
    )
    if test_size is not None:
        test_size = check_test_size(test_size)
    check_no_scores(settings["notions"])
    names = {"label": label, "prediction": prediction, "count": count}
    if total is not None or squares is not None:
        check_summed(total, squares, settings["notions"])
        names = {"total": total, "squares": squares, "count": count}
    else:
        check_labels_given(label, settings["notions"], "label")
    attributes = check_attribute_names(sensitive_features)
    controls = []
    if control_features is not None:
        controls = check_attribute_names(control_features, "control_features")
    # Only for a hint: the default name "label" may be missing from a table that needs none.
    unread = not any(notion.reads_labels for notion in settings["notions"])
    columns = _columns(table, attributes, controls, names, unread=unread)
    n = _counts(columns[count])
    values = {
        argument: as_vector(columns[name], argument)
        for argument, name in names.items()
        if name is not None and argument != "count"
    }
    protected = read_columns({name: columns[name] for name in attributes})
    check_same_length(
        **{argument: len(vector) for argument, vector in values.items()},
        count=len(n),
        sensitive_features=len(protected[0].values),
    )
    decided = Decided(threshold, decision_probabilities, pos_label, many=True)
    some = n > 0  # a line of no rows says nothing
    strata = None
    if controls:
        lines = {name: columns[name] for name in controls}
        read = take_rows(read_columns(lines, "control_features"), some)
        # Categories of lines that were dropped must not become strata of no rows.
        strata = check_enough_rows(distinct_rows([in_use(column) for column in read]), int(n.sum()))
    tally = _tally_of(
        {argument: vector[some] for argument, vector in values.items()},
        {column.name: in_use(column) for column in take_rows(protected, some)},
        n[some],
        strata,
        decided,
        settings["notions"],
    )
    settings["notions"] = by_class(settings["notions"], tally.labels, favourable)
    check_counted(tally, settings["notions"], leave_out=leave_out_empty_strata)
    check_identifiers(tally.columns, int(n.sum()))
    doubts = doubts_of(
        tally,
        None,
        decided,
        (names.get("label"), names.get("prediction")),
        settings["notions"],
        settings["gamma"],
    )
    held_out = None
    if test_size is not None:
        # After the doubts, which are about all rows.
        tally, held_out = split(tally, test_size, settings["random_state"])
    return examine(tally, held_out=held_out, doubts=doubts, **settings)


def _tally_of(
    values: Mapping[str, NDArray[Any]],
    protected: Mapping[str, Column],
    counts: NDArray[np.int64],
    strata: Cells | None,
    decided: Decided,
    notions: Sequence[AnyNotion],
) -> Tally:
    """Sum the counts by cell and label, with their strata; `values` are by argument and line."""
    given = values.get("label"), values.get("prediction")
    names = Names(labels="label", decisions="prediction")
    if means := [notion for notion in notions if isinstance(notion, OutcomeNotion)]:
        check_no_decisions(decided, means[0])
        if "total" in values:
            total = finite(values["total"], "total")
            # Squares tell a spread alone, and pass 2⁵³ for a million ordinary incomes.
            squares = finite(values["squares"], "squares", exact=False)
            columns = [*protected.values()]
            return tally_of_summed(columns, counts, total, squares, strata, means[0])
        return tally_of_counted(Numbers.read(*given, protected, names=names), counts, strata, means)
    sample = Sample.read(given[0], protected, decisions=given[1], decided=decided, names=names)
    check_class_number(sample.known, int(counts.sum()), "label")
    if sample.decided is not None:
        cells = distinct_rows(sample.columns)
        label = sample.y if sample.is_labelled else None
        classes = tuple(sample.classes.tolist())
        return tally_of_counts(cells, classes, label, sample.decided, counts, strata)
    assert sample.p is not None
    weight = counts.astype(np.float64)
    return tally_of_lines(
        distinct_rows(sample.columns),
        strata,
        sample.y,
        counts,
        weight,
        # Products n·p are rounded once; split into parts they add up without a further error.
        np.array([*exact_parts(weight * sample.p), np.zeros(len(counts))]),
        squared_weight=weight,  # each of the rows weighs 1
        is_count=bool(((sample.p == 0) | (sample.p == 1)).all()),
        labels=sample.pair,
        is_labelled=sample.is_labelled,
    )


def _columns(
    table: Any,
    attributes: list[str],
    controls: list[str],
    named: dict[str, str | None],
    *,
    unread: bool,
) -> dict[str, Any]:
    """Return the columns of the table, or raise a ValueError if one that is named is missing.

    `named` has the column of each argument, None where there is none; labels are `unread` where no
    notion asks for them. Of a lazy frame only the named columns are collected.
    """
    names = {argument: name for argument, name in named.items() if name is not None}
    if is_lazy(table):
        frame = nw.from_native(table)
        available = list(frame.collect_schema())
    else:
        columns = columns_of(table, "table")
        available = list(columns)
    for name in attributes:
        check_column(name, "sensitive_features", available, "table")
    for name in controls:
        check_column(name, "control_features", available, "table")
    check_column(named["count"], "count", available, "table")  # None is no name
    for argument, name in names.items():
        needless = " The notion reads no labels: label=None." if unread else ""
        remedy = needless if argument == "label" else ""
        check_column(name, argument, available, "table", remedy)
    if is_lazy(table):
        wanted = list(dict.fromkeys([*attributes, *controls, *names.values()]))
        columns = columns_of(frame.select(wanted).collect().to_native(), "table")
    return columns


def _counts(column: Any) -> NDArray[np.int64]:
    """Return numbers of rows, or raise a ValueError unless they are whole and not all 0."""
    numbers = as_numbers(read_vector(column, "count"), "count", what="whole numbers")
    # From 2⁵³ on float64 skips whole numbers.
    wrong = ~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers)))
    # Decimals and long doubles may have places that float64 has not.
    unrounded = column.to_list() if hasattr(column, "to_list") else column
    listed = list(unrounded) if not wrong.any() else []
    finer = [one for one in listed if is_number_type(type(one)) and not is_whole(one)]
    if finer or wrong.any():
        raise ArgumentError(
            "count",
            "must be whole numbers of rows, 0 or more and below 2⁵³; got "
            f"{finer[0] if finer else format(numbers[wrong][0], '.17g')}. Sums of "
            "weights are no counts: audit the rows, with ",
            Argument("sample_weight"),
            ".",
        )
    if not numbers.any():
        raise ArgumentError("count", "is 0 in every line: the table counts no rows.")
    if numbers.sum() >= LARGEST_WHOLE:
        raise ArgumentError(
            "count",
            f"adds up to {numbers.sum():g} rows, and sums are exact below 2⁵³; divide all "
            "counts by a constant, and audit them as rows with ",
            Argument("sample_weight"),
            ".",
        )
    return numbers.astype(np.int64)
