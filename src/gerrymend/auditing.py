"""audit(): the worst-treated subgroup of a model's decisions, and how sure that is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gerrymend._validation import (
    as_vector,
    check_gamma,
    check_labels,
    check_no_missing,
    check_same_length,
    check_weights,
    decisions_from,
)
from gerrymend.auditor import Auditor, Subgroup
from gerrymend.notions import NotionLike, as_notions
from gerrymend.protected import distinct_rows, read_columns
from gerrymend.subgroups import SubgroupClass, as_subgroup_class

# Differences below this are rounding, not unfairness.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class AuditReport:
    """What an audit found, on the rows that it was given.

    Attributes
    ----------
    worst : Subgroup or None
        The worst subgroup that was found; None where none differs from the overall rate.
    unfairness : float
        Its unfairness, without sign. A lower bound for the class, unless `exact`.
    upper_bound : float
        No subgroup of the class exceeds it, on these rows.
    exact : bool
        Whether the whole class was searched, so that the two are equal.
    gamma : float
        The unfairness to allow.
    n_rows : int
        Rows that were audited.
    subgroups : SubgroupClass
        The class that was searched.
    """

    worst: Subgroup | None
    unfairness: float
    upper_bound: float
    exact: bool
    gamma: float
    n_rows: int
    subgroups: SubgroupClass

    @property
    def verdict(self) -> str:
        """ "within gamma" (proven), "exceeds gamma" (shown by `worst`), or "undecided"."""
        if self.unfairness > self.gamma + _ROUNDING:
            return "exceeds gamma"
        return "within gamma" if self.upper_bound <= self.gamma + _ROUNDING else "undecided"

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data; nothing of a row is in it."""
        worst = self.worst
        return {
            "verdict": self.verdict,
            "gamma": self.gamma,
            "unfairness": self.unfairness,
            "upper_bound": self.upper_bound,
            "exact": self.exact,
            "n_rows": self.n_rows,
            "subgroups": repr(self.subgroups),
            "worst": None
            if worst is None
            else {
                "subgroup": worst.describe(),
                "notion": worst.notion.name,
                "unfairness": worst.unfairness,
                "share": worst.share,
                "size": worst.size,
                "rate": worst.rate,
                "overall_rate": worst.overall_rate,
            },
        }

    def __str__(self) -> str:
        lines = [f"Audit of {self.n_rows:,} rows over {self.subgroups!r}: {self.verdict}."]
        if self.worst is None:
            lines.append("No subgroup was found that differs at all.")
        else:
            w = self.worst
            lines.append(f"Worst subgroup found: {w.describe()} ({w.size:,} rows)")
            lines.append(
                f"  {w.notion.words} {w.rate:.1%}, overall {w.overall_rate:.1%}; its rows that "
                f"count are {w.share:.1%} of all rows"
            )
        bound = (
            "exact for this class"
            if self.exact
            else f"a lower bound; no subgroup of the class exceeds {self.upper_bound:.4f}"
        )
        lines.append(f"  unfairness {self.unfairness:.4f} ({bound}), gamma {self.gamma:g}")
        return "\n".join(lines)


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
    p = decisions_from(predicted, classes, threshold, decision_probabilities)[None]

    cells = distinct_rows(protected)
    y = (labels == classes[1]).astype(np.intp)
    auditor = Auditor(notions, subgroup_class, cells, y, weight)
    answer = auditor.worst(p, None)
    worst = auditor.subgroup(answer, 0, p[0], None)
    if worst is not None and abs(worst.unfairness) <= _ROUNDING:
        worst = None
    unfairness = 0.0 if worst is None else abs(worst.unfairness)
    exact = all(one.subgroups.exact for one in auditor.notions)
    bound = float(auditor.upper_bound(answer)[0])
    return AuditReport(
        worst=worst,
        unfairness=unfairness,
        upper_bound=unfairness if exact else max(bound, unfairness),
        exact=exact,
        gamma=gamma,
        n_rows=len(labels),
        subgroups=subgroup_class,
    )


def _classes(labels: NDArray[Any], predicted: NDArray[Any], are_decisions: bool) -> NDArray[Any]:
    """The two labels; decisions can show the second where y_true has only one."""
    if are_decisions and (labels == labels[0]).all():
        both = set(predicted.tolist()) | {labels.tolist()[0]}
        if len(both) == 2:
            labels = np.concatenate([labels, predicted])
    return check_labels(labels, "y_true")
