"""unfairness_scorer(): score estimators by an audit, in scikit-learn's searches and validations."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.audit import audit
from gerrymend.auditing.settings import check_settings
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.inputs.numbers import short
from gerrymend.models.told_decisions import told_decisions
from gerrymend.notions import GroupMean, NotionLike

_GAMMA = 0.0  # decides a verdict, which is no part of a score


def unfairness_scorer(
    columns: Sequence[Any] | None = None,
    *,
    notion: NotionLike = "false_positive_rate",
    reference: float | GroupMean | None = None,
    subgroups: Any = "linear",
    threshold: float | None = None,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str = "both",
    budget: float = 5.0,
    random_state: int = 0,
) -> "UnfairnessScorer":
    """Return a scorer for scikit-learn: minus the largest unfairness that an audit finds.

    Greater is better, as scikit-learn has it, and 0 is best. It is for `scoring` of cross_validate,
    GridSearchCV and the like, alone or beside others.

    Parameters
    ----------
    columns : list of names or of numbers, optional
        The protected columns, of a frame X by name and of an array by number. Without them the
        scorer requests `sensitive_features` by metadata routing.
    notion, reference, subgroups
        As in audit().
    threshold : float, optional
        Decide the positive label where its predict_proba is at least this, rather than by predict.
    pos_label, favourable, side
        As in audit().
    budget : float, default=5.0
        Seconds of each audit at most. The score is what was found by then, not what was proven.
    random_state : int, default=0
        As in audit().

    Returns
    -------
    scorer
        Called as scorer(estimator, X, y). Decisions are those of predict; of a classifier of
        gerrymend, that draws, the probabilities of both; and of "multiaccuracy" and
        "multicalibration" the probabilities of the positive label, as scores. Its
        `set_score_request` is that of scikit-learn's scorers, and has `sensitive_features`,
        `control_features` and `sample_weight`.

    See Also
    --------
    audit : Audits decisions once, with proof, chance and a report.
    pareto_frontier : Models of least error for several gammas, each audited.

    Examples
    --------
    >>> import pandas as pd
    >>> from gerrymend import unfairness_scorer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> X = pd.DataFrame({"sex": [0, 1] * 200, "age": [*range(20, 60)] * 10})
    >>> y = ((X["age"] > 40) | (X["sex"] == 1)).astype(int)
    >>> scoring = {"right": "accuracy", "fair": unfairness_scorer(["sex"],
    ...     notion="statistical_parity", subgroups="marginals")}
    >>> found = cross_validate(LogisticRegression(), X, y, cv=2, scoring=scoring)
    >>> [round(float(score), 3) for score in found["test_fair"]]
    [-0.125, -0.125]
    """
    settings = {
        "notion": notion,
        "reference": reference,
        "subgroups": subgroups,
        "favourable": favourable,
        "side": side,
        "budget": budget,
        "random_state": random_state,
    }
    # Here, since what a scorer raises while a search runs is a score of nan.
    check_settings(**settings, gamma=_GAMMA, min_group_size=MIN_GROUP_SIZE, n_permutations=0, top=1)
    is_list = isinstance(columns, Sequence) and not isinstance(columns, str | bytes)
    is_list |= isinstance(columns, np.ndarray) and columns.ndim == 1
    if columns is not None and (not is_list or not len(columns)):
        raise ArgumentError(
            "columns",
            f"must be a list of the protected columns of X; got {short(columns)}. Leave it out to "
            "pass sensitive_features by metadata routing.",
        )
    chosen = None if columns is None else list(columns)
    return UnfairnessScorer(chosen, settings, {"threshold": threshold, "pos_label": pos_label})


class UnfairnessScorer:
    """Score a fitted estimator on rows by minus the largest unfairness that an audit finds."""

    def __init__(
        self,
        columns: list[Any] | None,
        settings: Mapping[str, Any],
        decided: Mapping[str, Any],
    ) -> None:
        self._columns = columns
        self._settings = settings
        self._decided = decided
        self._requests: dict[str, Any] = {
            "sensitive_features": columns is None,
            "control_features": False,
            "sample_weight": False,
        }

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Return minus the unfairness of an estimator's decisions on these rows."""
        protected = sensitive_features if self._columns is None else self._protected(X)
        if protected is None:
            raise ArgumentError(
                "sensitive_features",
                "did not reach the scorer, and it has no columns of X. Name these, as "
                "unfairness_scorer(['sex']); or pass it by metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True), and "
                "params={'sensitive_features': A} in cross_validate.",
            )
        report = audit(
            y,
            sensitive_features=protected,
            control_features=control_features,
            sample_weight=sample_weight,
            gamma=_GAMMA,
            **self._settings,
            **told_decisions(estimator, X, notion=self._settings["notion"], **self._decided),
        )
        return -report.unfairness

    def set_score_request(
        self,
        *,
        sensitive_features: bool | str | None = UNCHANGED,
        control_features: bool | str | None = UNCHANGED,
        sample_weight: bool | str | None = UNCHANGED,
    ) -> Self:
        """Say what metadata routing brings: True, False, or the name under which it comes."""
        asked = {
            "sensitive_features": sensitive_features,
            "control_features": control_features,
            "sample_weight": sample_weight,
        }
        self._requests |= {name: value for name, value in asked.items() if value != UNCHANGED}
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what the scorer requests, for scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        for name, value in self._requests.items():
            request.score.add_request(param=name, alias=value)
        return request

    def _protected(self, X: Any) -> Any:
        """Return the protected columns of X; raise ArgumentError where they are not there."""
        assert self._columns is not None
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        try:
            if isinstance(frame, nw.DataFrame):
                return frame.select(*self._columns).to_native()
            return np.asarray(X)[:, self._columns]
        except (IndexError, TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
            raise ArgumentError(
                "columns",
                f"{short(self._columns)} can't be taken from X: {error}. Columns of a frame are "
                "named, and those of an array counted from 0.",
            ) from None

    def __repr__(self) -> str:
        shown = {"columns": self._columns, **self._settings}
        told = (f"{name}={short(value)}" for name, value in shown.items() if value is not None)
        return f"unfairness_scorer({', '.join(told)})"
