"""compare(): what changed since an earlier audit, or from one model to another."""

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import narwhals as nw

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.interrupts import interruptible
from gerrymend.auditing.doubts import doubts_of
from gerrymend.auditing.from_rows import Given
from gerrymend.auditing.provenance import Provenance
from gerrymend.auditing.references import check_references
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.auditing.strata import check_counted
from gerrymend.changes.comparison import Comparison
from gerrymend.changes.earlier_report import EarlierReport
from gerrymend.changes.two_sides import MODELS, REPORT, SAMPLES, Searches, SideRows
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_number
from gerrymend.inputs.validation import columns_of, is_frame, is_lazy
from gerrymend.notions import (
    Multiaccuracy,
    by_class,
    directed_notions,
)
from gerrymend.subgroups.compiling import compile_proofs

# Settings that neither the caller nor a report has.
_DEFAULTS = {
    "notion": "false_positive_rate",
    "subgroups": "linear",
    "gamma": 0.01,
    "side": "both",
    "min_group_size": MIN_GROUP_SIZE,
}


@interruptible
def compare(
    old: Any,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: Any = None,
    subgroups: Any = None,
    gamma: float | None = None,
    tolerance: float | None = None,
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str | None = None,
    budget: float = 30.0,
    min_group_size: int | None = None,
    data: Any = None,
    control_features: Any = None,
    leave_out_empty_strata: bool = False,
    n_permutations: int = 199,
    random_state: int = 0,
    on_draw: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare an audit with an earlier one, or a model with another.

    It measures the old side's worst subgroup on the new rows, searches these for the new worst, and
    searches the whole class for the subgroup whose unfairness moved most. What moved is tested
    with the search repeated, so that the p-value has paid for it.

    Parameters
    ----------
    old : AuditReport, dict or path; tuple of arrays or frame; or decisions
        What to compare with:

        - an audit's report, its `to_dict()`, or the JSON that it was saved as. Settings are then
          its own, and those that are passed have to be the same;
        - older rows: a tuple (y_true, y_pred, sensitive_features), weights as a fourth and control
          features as a fifth, or a frame with the same columns where `data` is one;
        - another model's decisions on the new rows: an array as y_pred is, or the name of a column
          of `data`.
    y_true, y_pred, sensitive_features
        The new rows, as in audit().
    notion, subgroups, gamma
        As in audit(), which has their defaults; of a report, those that it was made with. Notions
        of scores can't be compared.
    tolerance : float, optional
        A change of the largest unfairness by no more than this is none; by default gamma.
    sample_weight, threshold, decision_probabilities, pos_label
        How the new rows are read, as in audit().
    favourable, side
        As in audit(); of a report, those that it was made with.
    budget : float, default=30.0
        Seconds that searches and proofs may take, and permutations as many again.
    min_group_size
        As in audit(); of a report, that which it was made with.
    data
        The frame that has the new rows, as in audit(). A lazy one is collected, as rows are dealt
        anew one by one.
    control_features, leave_out_empty_strata
        As in audit().
    n_permutations : int, default=199
        Permutations for the p-values, each with the searches repeated: of which rows are the new
        ones or, of two models, of the two decisions of each row. Beside a report alone rows are
        drawn anew instead, 400 times.
    random_state : int, default=0
        Seed of the permutations.
    on_draw : callable, optional
        Called as on_draw(done, of) while they are made.

    Returns
    -------
    Comparison
        Its `verdict` is "better", "same", "worse" or "can't tell", by the rule that is told there.

    Raises
    ------
    TypeError, ValueError
        For an argument that can't be used, a report of another version, or one whose rates, gamma,
        class, labels or attributes are not those of the new rows.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    Watch : Watch a stream of batches for a subgroup that exceeds gamma.

    Examples
    --------
    A model is replaced by one that grants women fewer loans:

    >>> import numpy as np
    >>> from gerrymend import audit, compare
    >>> sex = np.array(["F", "M"] * 500)
    >>> rows = dict(y_true=None, sensitive_features={"sex": sex}, notion="statistical_parity")
    >>> today = np.arange(1000) % 5 < 3
    >>> then = audit(y_pred=today, **rows)
    >>> tomorrow = today & ~((sex == "F") & (np.arange(1000) % 3 == 0))
    >>> compare(today, y_pred=tomorrow, **rows).verdict
    'worse'
    >>> found = compare(then.to_dict(), y_pred=tomorrow, **rows)
    >>> found.verdict, found.new.worst.describe()
    ('worse', 'sex = M')
    """
    given = Given(y_true, y_pred, sensitive_features, sample_weight, control_features)
    basis, other = _read_old(old, data)
    settings = _settings(
        other if isinstance(other, EarlierReport) else None,
        {
            "notion": notion,
            "subgroups": subgroups,
            "gamma": gamma,
            "favourable": favourable,
            "side": side,
            "min_group_size": min_group_size,
        },
        budget=budget,
        n_permutations=n_permutations,
        random_state=random_state,
        on_draw=on_draw,
    )
    if tolerance is not None:
        words = "It is an unfairness; a change by no more than this is none."
        tolerance = check_number(tolerance, "tolerance", low=0.0, remedy=words)
    labels = other.labels if isinstance(other, EarlierReport) else None
    decided = Decided(threshold, decision_probabilities, pos_label, many=True, labels=labels)
    if labels is not None:
        _check_labels_given(given, labels)
    rows = SideRows.read(other, basis, data, given, decided, settings["notions"])
    notions = by_class(settings["notions"], rows.new.labels, settings["favourable"])
    settings["notions"] = notions
    for tally in rows.tallies:
        check_counted(tally, notions, leave_out=leave_out_empty_strata)
        check_references(tally, notions, settings["min_group_size"])
    if isinstance(other, EarlierReport):
        other.check_rows(rows.new)
        other.check_notions(notions)
    names = (y_true, y_pred) if data is not None else (None, None)
    doubts = doubts_of(rows.new, None, decided, names, notions, settings["gamma"])
    compile_proofs([settings["subgroups"]], rows.new.protected)
    work = Searches(rows, settings, time.monotonic() + settings["budget"])
    parts = work.against_report(other) if isinstance(other, EarlierReport) else work.against_rows()
    return Comparison(
        basis=basis,
        tolerance=settings["gamma"] if tolerance is None else tolerance,
        gamma=settings["gamma"],
        notions=notions,
        subgroups=settings["subgroups"],
        favourable=settings["favourable"],
        side=settings["side"],
        min_group_size=settings["min_group_size"],
        labels=rows.new.labels,
        is_labelled=rows.new.is_labelled,
        attributes=tuple(column.name for column in rows.new.protected),
        control_features=tuple(column.name for column in rows.new.strata_columns),
        warnings=doubts,
        provenance=Provenance.of(
            rows.new, random_state=settings["random_state"], budget=settings["budget"], top=1
        ),
        rounding=work.rounding,
        **parts,
    )


def _read_old(old: Any, data: Any) -> tuple[str, Any]:
    """Return what the old side is, and it: a report that was read, rows, or decisions."""
    if old is None:
        raise ArgumentError(
            "old", "is None; pass a report or its JSON, older rows, or another model's decisions."
        )
    if isinstance(old, str) and data is not None and old in _names_of(data):
        return MODELS, old
    is_plain = isinstance(old, Mapping) and "verdict" in old
    if isinstance(old, AuditReport | str | Path) or is_plain:
        return REPORT, EarlierReport.of(old)
    if isinstance(old, tuple) or is_frame(old) or is_lazy(old):
        return SAMPLES, old
    if isinstance(old, Mapping):
        # One may be the rows of a mapping, where `data` is one.
        return (SAMPLES, old) if isinstance(data, Mapping) else (REPORT, EarlierReport.of(old))
    return MODELS, old


def _names_of(data: Any) -> Collection[str]:
    """Return the names of the columns of a frame, eager or lazy."""
    if is_lazy(data):
        return nw.from_native(data).collect_schema().names()
    return columns_of(data, "data")


def _settings(report: EarlierReport | None, given: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return the arguments of the searches; those of a report where it is one."""
    if report is not None:
        names = ("gamma", "side", "min_group_size", "favourable")
        given = {**given, **{name: report.setting(name, given[name]) for name in names}}
    chosen = {
        name: _DEFAULTS.get(name) if value is None else value for name, value in given.items()
    }
    # Of a report each notion says itself which side is worse, also where favourable does not.
    searched: dict[str, Any] = chosen if report is None else {**chosen, "side": "both"}
    checked = check_settings(**searched, reference=None, top=1, **others)
    if report is not None:
        checked["side"] = given["side"]
        checked["subgroups"] = report.subgroup_class(given["subgroups"])
        asked = given["notion"]
        favourable = checked["favourable"]
        notions = None if asked is None else directed_notions(asked, favourable, checked["side"])
        checked["notions"] = report.notions(notions)
    if any(isinstance(one, Multiaccuracy) for one in checked["notions"]):
        raise ArgumentError(
            "notion",
            "is of scores, and rates or means of two sides are compared here; calibrate() and "
            "audit() look into scores.",
        )
    return checked


def _check_labels_given(given: Given, labels: tuple[Any, ...]) -> None:
    """Raise an ArgumentError where a report has labels, and the new rows have none."""
    if given.y_true is None:
        raise ArgumentError(
            "y_true",
            "is not given, and the old report has labels "
            f"{', '.join(map(repr, labels))}; pass those of the new rows.",
        )
