"""FrontierPoint and FrontierReference: a model's figures on training and test rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.audit import audit
from gerrymend.auditing.report import AuditReport
from gerrymend.auditing.subgroup import Subgroup
from gerrymend.inputs.sample import Sample
from gerrymend.notions import OutcomeNotion
from gerrymend.reporting.audit.who_leads import is_the_same, says_most
from gerrymend.reporting.wording import percent


@dataclass(frozen=True, eq=False, repr=False)
class OnRows:
    """Figures of a model on some rows: its error and its audit.

    Attributes
    ----------
    error : float
        The expected error of the randomised decisions.
    report : AuditReport
        The audit of the decisions' probabilities.
    dominated : bool
        True if another model of the same notion, MARGINAL's included, has on these rows no more
        error and no more unfairness, and less of one.
    """

    error: float
    report: AuditReport
    dominated: bool = False

    @classmethod
    def measure(cls, rows: Sample, p: Array, how: Mapping[str, Any]) -> "OnRows":
        """Audit decisions that are positive with probability `p`, with the settings `how`."""
        of_numbers = isinstance(how["notion"][0], OutcomeNotion)
        # Rates are linear in the decisions, so that the rate of the probabilities is the expected
        # rate of decisions drawn with them; the same holds of the error below.
        of_rates = {"decision_probabilities": True, "pos_label": rows.pair[1]}
        report = audit(
            rows.labels, p, sensitive_features=rows.protected, control_features=rows.control,
            sample_weight=rows.given_weight, **{} if of_numbers else of_rates, **how,
        )  # fmt: skip
        wrong = np.where(rows.y == 1, 1.0 - p, p)
        return cls(float(np.average(wrong, weights=rows.given_weight)), report)

    @property
    def unfairness(self) -> float:
        """The largest unfairness that the audit found, a lower bound unless it is exact."""
        return self.report.unfairness

    @property
    def upper_bound(self) -> float:
        """An unfairness that no subgroup of the audited class exceeds on these rows."""
        return self.report.upper_bound

    def __repr__(self) -> str:
        return short_repr(
            self, error=self.error, unfairness=self.unfairness, n_rows=self.report.n_rows
        )

    @property
    def shown(self) -> Subgroup | None:
        """The subgroup that is treated worst or, where that is not known, differs most.

        Where that is a formula, the group in a sentence that has most of its unfairness.
        """
        said = self.report.in_a_sentence
        if said is not None and says_most(self.report.to_dict()):
            return said.subgroup
        return self.report.disadvantaged or self.report.worst

    @property
    def _who(self) -> str | None:
        """Say who is in it, with its part of the unfairness found where that is not all."""
        data = self.report.to_dict()
        if self.shown is None or not says_most(data) or is_the_same(data):
            # No share is told where there is no leading sentence to qualify, or where the group in
            # the sentence has the very members of the worst one: its share is then all.
            return None if self.shown is None else str(self.shown)
        part = percent(abs(self.shown.unfairness) / self.unfairness)
        return f"{self.shown}, with {part} of the unfairness found"

    @property
    def worst(self) -> str | None:
        """That subgroup in words; None if none is large enough to be described."""
        return None if self.shown is None else self.shown.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        worst = self.shown
        return {
            "n_rows": self.report.n_rows,
            "error": self.error,
            "unfairness": self.unfairness,
            "upper_bound": self.upper_bound,
            "exact": self.report.exact,
            "covers": self.report.covers,
            "verdict": self.report.verdict,
            "worst": self.worst,
            "worst_who": self._who,
            "worst_size": None if worst is None else worst.size,
            "worst_rate_of": None if worst is None else worst.notion.words,
            "worst_rate": None if worst is None else worst.rate,
            "unit": self.report.notions[0].unit,
            "overall_rate": None if worst is None else worst.overall_rate,
            "rest_rate": None if worst is None else worst.rest_rate,
            "overall_rates": [one.to_dict() for one in self.report.overall_rates],
            "within_strata": bool(self.report.control_features),
            "worst_treated": None if worst is None else worst.treated,
            "withheld": self.report.withheld,
            "min_group_size": self.report.min_group_size,
            "dominated": self.dominated,
        }


class _OnBoth:
    """Base of models that were measured on training rows, and on test rows if there are any."""

    train: OnRows
    test: OnRows | None

    @property
    def compared(self) -> OnRows:
        """The figures that models are compared by: on the test rows, if there are any."""
        return self.train if self.test is None else self.test

    def _figures(self) -> dict[str, Any]:
        """Return what both kinds of models show of themselves."""
        return {
            "error": self.compared.error,
            "unfairness": self.compared.unfairness,
            "rows": "train" if self.test is None else "test",
        }


@dataclass(frozen=True, eq=False, repr=False)
class FrontierPoint(_OnBoth):
    """One model of a frontier.

    Attributes
    ----------
    gamma : float
        The unfairness that it was trained to allow.
    notion, estimator : str
        Names of the rates that were equalised, and of the estimator that was trained.
    reported_unfairness : float
        The unfairness that the Auditor of the training found on the training rows, a lower bound
        too. As a rule it is below that of `train`, but either search may find more.
    n_predictors : int
        Number of predictors in the mixture.
    n_oracle_calls : int
        Number of times that the estimator was trained.
    seconds : float
        Time of training, of all gammas of its notion and estimator, which train together.
    train, test : OnRows
        Error and audit on the training rows, and on the test rows, if there are any.
    model : fitted classifier
    code, command : str or None
        Python code, and a command, that train the model again; None if there is none.

    See Also
    --------
    ParetoFrontier : The points of pareto_frontier(): models that trade error for unfairness.
    pareto_frontier
        Train a model for each gamma, notion and estimator, and audit each as audit() does.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier, pareto_frontier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(300, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(LinearRegression(), max_iter=20, tol=None, random_state=0)
    >>> frontier = pareto_frontier(
    ...     clf, data.data, data.target, sensitive_features=data.sensitive_features,
    ...     gammas=[0.05, 0.1])
    >>> point = frontier.points[-1]
    >>> point.gamma, point.train.unfairness <= point.train.upper_bound, point.test
    (0.1, True, None)
    """

    gamma: float
    notion: str
    estimator: str
    reported_unfairness: float
    n_predictors: int
    n_oracle_calls: int
    seconds: float
    train: OnRows
    test: OnRows | None
    model: Any
    code: str | None = None
    command: str | None = None

    def __repr__(self) -> str:
        return short_repr(
            self,
            gamma=self.gamma,
            notion=self.notion,
            estimator=self.estimator,
            **self._figures(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain data, without data of any row."""
        return {
            "gamma": self.gamma,
            "notion": self.notion,
            "estimator": self.estimator,
            "reported_unfairness": self.reported_unfairness,
            "n_predictors": self.n_predictors,
            "n_oracle_calls": self.n_oracle_calls,
            "seconds": self.seconds,
            "train": self.train.to_dict(),
            "test": None if self.test is None else self.test.to_dict(),
            "code": self.code,
            "command": self.command,
        }


@dataclass(frozen=True, eq=False, repr=False)
class FrontierReference(_OnBoth):
    """A model to hold the points against, audited on the same rows over the same subgroups.

    It dominates no point: marks and knees are the same without it.

    Attributes
    ----------
    kind : "today" or "unconstrained"
        The decisions that pareto_frontier() was given as `today`, or the estimator as it is without
        a constraint, fitted once to the same training rows.
    notion : str
        Name of the rates that it was audited by.
    estimator : str or None
        Name of the estimator; None for "today".
    train, test : OnRows
        Error and audit on the training rows, and on the test rows, if there are any. `dominated` is
        True if one of the points, MARGINAL's aside, has no more error and no more unfairness, and
        less of one. The gamma of the audits is the least of the points'.
    """

    kind: Literal["today", "unconstrained"]
    notion: str
    estimator: str | None
    train: OnRows
    test: OnRows | None

    def __repr__(self) -> str:
        return short_repr(
            self,
            kind=self.kind,
            notion=self.notion,
            estimator=self.estimator,
            **self._figures(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, without data of any row or a verdict on any gamma."""
        samples = {
            # An audit has to be given some gamma, but this model was trained to none: its verdict
            # would answer a question that nobody asked.
            name: None if rows is None else rows.to_dict() | {"verdict": None}
            for name, rows in (("train", self.train), ("test", self.test))
        }
        return {
            "kind": self.kind,
            "notion": self.notion,
            "estimator": self.estimator,
            **samples,
        }


def positive_probability(model: Any, rows: Sample) -> Array:
    """Return the probabilities with which a fitted model decides the rows' positive label."""
    # classes_ is sorted, and `pair` has the positive label second, whichever it is by pos_label:
    # the column of predict_proba is 0 where the user's positive label sorts first.
    place = model.classes_.tolist().index(rows.pair[1])
    p: Array = model.predict_proba(rows.features)[:, place]
    return p
