"""pareto_frontier(): models over gammas, notions and estimators, trained and audited by workers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.workers import Workers, check_jobs
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, check_min_group_size
from gerrymend.auditing.strata import strata_of
from gerrymend.frontier.points import FrontierPoint, FrontierReference
from gerrymend.frontier.references import check_today, with_today
from gerrymend.frontier.settings import (
    GAMMAS,
    Setting,
    audited_class,
    check_levels,
    every_setting,
    one_seed,
)
from gerrymend.frontier.tradeoffs import ParetoFrontier, mark_dominated, mark_references
from gerrymend.frontier.training import trained_and_audited
from gerrymend.inputs.sample import Names, Sample, named_columns
from gerrymend.inputs.settings import check_budget, check_callable, check_test_size
from gerrymend.models.features import warn_all_protected
from gerrymend.notions import OutcomeNotion, check_decisions, directed_notions, moment_of
from gerrymend.training.fit import ParityClassifier


class FrontierInterrupted(KeyboardInterrupt):
    """KeyboardInterrupt of a sweep; `frontier` has the points that were done.

    See Also
    --------
    pareto_frontier
        Train a model for each gamma, notion and estimator, and audit each as audit() does.
    """

    def __init__(self, frontier: ParetoFrontier) -> None:
        super().__init__("Interrupted; the points that were done are in `frontier`.")
        self.frontier = frontier


def pareto_frontier(
    estimator: ParityClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    control_features: Any = None,
    gammas: Sequence[float] = GAMMAS,
    notions: Sequence[Any] | None = None,
    estimators: Mapping[str, Any] | Sequence[Any] | None = None,
    sample_weight: Any = None,
    test_size: float | None = None,
    X_test: Any = None,
    y_test: Any = None,
    sensitive_features_test: Any = None,
    control_features_test: Any = None,
    sample_weight_test: Any = None,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str = "both",
    today: Any = None,
    today_test: Any = None,
    marginal: bool = False,
    audit_subgroups: Any = None,
    audit_budget: float = 10.0,
    min_group_size: int = MIN_GROUP_SIZE,
    n_jobs: int | None = None,
    random_state: Any = None,
    on_point: Callable[[FrontierPoint, int], None] | None = None,
) -> ParetoFrontier:
    """Train a model for each gamma, notion and estimator, and audit each as audit() does.

    Parameters
    ----------
    estimator : SubgroupParityClassifier or MarginalParityClassifier
        The classifier to train; it is cloned, and never changed. Its own gamma is ignored.
    X, y, sensitive_features, control_features
        The rows, as in its fit(); without sensitive_features every column of X is taken as
        protected, with a warning. With control features all models are trained and audited within
        strata, the references too.
    gammas : sequence of float
        The unfairness to allow; of a mean of numbers in its unit, and to be given. The gammas of a
        notion and an estimator are trained together.
    notions : sequence of notions, optional
        Each in turn; the classifier's own by default. Models of different notions are never
        compared. A mean of numbers that is linear in decisions can be one, with labels 0 and 1.
    estimators : mapping from names to estimators, or sequence of estimators, optional
        The estimators that the Learner trains, each in turn; the classifier's own by default.
    sample_weight
        Weights of the rows, as in its fit().
    test_size : float, optional
        Share of the rows, of each label in each stratum, to keep out of the training and to audit
        on too.
    X_test, y_test, sensitive_features_test, control_features_test, sample_weight_test : optional
        Or other rows to audit on. Attributes that are columns of X need not be given.
    pos_label, favourable, side
        The positive label, the decision that people wish for, and which subgroups the audits
        count, as in audit(). Models are trained to be fair to both sides.
    today : fitted model, or array of decisions, optional
        Your model as it is today, to be audited on the same rows over the same subgroups, and shown
        among the points. A model decides by its predict() of X; decisions are labels of the rows
        of X, in their order.
    today_test : array of decisions, optional
        Those of the rows of X_test, where `today` are decisions.
    marginal : bool, default=False
        Train the paper's MARGINAL too, which is fair to one attribute at a time, for contrast:
        the same gammas, notions and estimators, audited over the same class, in
        `marginal_points`. It takes about as long again.
    audit_subgroups : str or SubgroupClass, optional
        The class to audit over. By default the classifier's own, searched and proven as audit()
        does, whatever search was used in training; for a MarginalParityClassifier, "linear".
    audit_budget : float, default=10.0
        Seconds for the proof of each audit.
    min_group_size : int, default=10
        Groups with fewer rows in the event, inside or outside, are not described.
    n_jobs : int, optional
        Number of workers, through joblib and whatever backend it is configured to use, which share
        the cores between them. The result is the same, unless the budget ends a proof.
    random_state : int, RandomState or None
        Seeds all models alike, and the choice of rows that are held out; the classifier's own by
        default.
    on_point : callable, optional
        Called as on_point(point, of) when a point is done; `of` is the number of points in all,
        those of MARGINAL included, which come last.

    Returns
    -------
    ParetoFrontier
        A point for each gamma, notion and estimator, and what each costs.

    Raises
    ------
    FrontierInterrupted
        On Ctrl-C, with the points that were done.

    See Also
    --------
    SubgroupParityClassifier
        A classifier of least error whose rates differ by at most gamma in every subgroup.
    FrontierDisplay
        Draw the models of a frontier as points (error, unfairness), on training and test rows.
    less_discriminatory_alternatives
        Return the adverse impact ratios of the models of a frontier, beside error and unfairness.

    Notes
    -----
    A point is dominated if another of its notion, MARGINAL's included, has no more error and no
    more unfairness, and less of one, by what the strongest audit found. `suggested` is the knee,
    as defined there. Rows that a choice was made on are no longer a test of it.

    Beside the points, `references` has the model of `today` and each estimator fitted once without
    a constraint. They are no candidates: nothing is known of the rows that today's model was fitted
    to, and if these are among those audited here its figures flatter it. So they dominate no point,
    and are no knee; how many points beat them, and how many they beat, is told.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier, pareto_frontier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(600, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(LinearRegression(), max_iter=50, tol=None, random_state=0)
    >>> frontier = pareto_frontier(
    ...     clf, data.data, data.target, sensitive_features=data.sensitive_features,
    ...     gammas=[0.0, 0.02])
    >>> [point.gamma for point in frontier.points]
    [0.0, 0.02]
    >>> fair, other = (point.train for point in frontier.points)
    >>> fair.unfairness < other.unfairness, fair.upper_bound >= fair.unfairness
    (True, True)
    >>> frontier.model(0.02).gamma
    0.02
    """
    # Every check comes before any work, those of the rows last since they take longest.
    n_jobs = check_jobs(n_jobs)
    check_callable(on_point, "on_point", "on_point(point, of)")
    seed = one_seed(estimator, random_state)
    settings = every_setting(estimator, notions, estimators, seed, marginal=marginal)
    how = {
        "subgroups": audited_class(estimator, audit_subgroups),
        "budget": check_budget(audit_budget, "audit_budget"),
        "min_group_size": check_min_group_size(min_group_size),
        "favourable": favourable,
        "side": side,
        "leave_out_empty_strata": estimator.leave_out_empty_strata,
    }
    for setting in settings:
        directed_notions(setting.rates, favourable, side)
    levels = check_levels(gammas, settings)
    check_today(today, today_test, second=X_test is not None)
    if sensitive_features is None:
        warn_all_protected("pareto_frontier(..., sensitive_features=...)")
    read = Sample.read(y, sensitive_features, sample_weight, control=control_features, features=X)
    rows = with_today(read, today)
    # Classifiers take the second label in sorted order as positive. If the user means the first,
    # notions are turned for the training, and keep the user's terms in the audits.
    if rows.with_positive(pos_label).pair != rows.pair:
        settings = [setting.of_other_label(pos_label) for setting in settings]
    samples: Sequence[Sample]
    if test_size is not None:
        if X_test is not None or y_test is not None:
            raise ArgumentError(
                "test_size", "and X_test exclude each other; leave one of them out."
            )
        # After with_today(), so that decisions by row are split along with their rows.
        samples = rows.split(check_test_size(test_size), seed)
    else:
        given = {
            "X_test": X_test,
            "y_test": y_test,
            "sensitive_features_test": sensitive_features_test,
            "control_features_test": control_features_test,
            "sample_weight_test": sample_weight_test,
        }
        second = _test_rows(rows, sensitive_features, control_features, given)
        decided = today if today_test is None else today_test
        argument = "today" if today_test is None else "today_test"
        samples = (rows, *(with_today(sample, decided, argument) for sample in second))
    # Only now: today's decisions were compared with labels in sorted order.
    samples = [sample.with_positive(pos_label) for sample in samples]
    _check_rows(samples, settings, leave_out=estimator.leave_out_empty_strata)

    data = _data_arguments(sensitive_features, control_features, sample_weight)
    points: list[FrontierPoint] = []
    references: list[FrontierReference] = []
    asked = len(settings) * len(levels)
    try:
        # Contexts are left in reverse: the generator ends, and its tasks with it, before the pool.
        with (
            Workers(n_jobs) as workers,
            closing(trained_and_audited(settings, levels, samples, how, data, workers)) as done,
        ):
            for model in done:
                if isinstance(model, FrontierReference):
                    references.append(model)
                    continue
                points.append(model)
                if on_point is not None:
                    on_point(model, asked)
    except KeyboardInterrupt:
        # A reference alone is no frontier: its properties take the least and the largest gamma.
        if not points:
            raise
        raise FrontierInterrupted(_frontier(points, references, settings, levels)) from None
    return _frontier(points, references, settings, levels)


def _frontier(
    done: list[FrontierPoint],
    references: list[FrontierReference],
    settings: Sequence[Setting],
    gammas: list[float],
) -> ParetoFrontier:
    """Mark the dominated points, and make the frontier; MARGINAL's points come last in `done`."""
    n_points = sum(not setting.contrast for setting in settings) * len(gammas)
    marked = mark_dominated(done)
    points = marked[:n_points]
    return ParetoFrontier(
        points,
        marked[n_points:],
        n_missing=len(settings) * len(gammas) - len(done),
        references=mark_references(references, points),
    )


def _check_rows(samples: Sequence[Sample], settings: Sequence[Setting], *, leave_out: bool) -> None:
    """Raise ArgumentError for a sample that a notion can't be told of, or within its strata."""
    rates = list(dict.fromkeys(rate for setting in settings for rate in setting.rates))
    # Not strict: without test rows there is one sample, and one lead is left over.
    for sample, lead in zip(samples, ("", "In the test rows: "), strict=False):
        try:
            for rate in rates:
                check_decisions(rate, sample.classes)
                if isinstance(rate, OutcomeNotion) and len(samples) > 1:
                    rate.check_any_rows(sample.y.astype(float), np.full(len(sample.y), 0.5))
            moments = [moment_of(rate, sample.y) for rate in rates]
            strata_of(sample, moments, leave_out=leave_out)
        except ArgumentError as error:
            error.lead = f"{lead}{error.lead}"
            raise


def _data_arguments(
    sensitive_features: Any, control_features: Any, sample_weight: Any
) -> dict[str, str]:
    """Return the arguments of fit beside X and y, as code: names of columns, or of variables."""
    data = {}
    attributes = {"sensitive_features": sensitive_features, "control_features": control_features}
    for argument, given in attributes.items():
        names = [given] if isinstance(given, str) else given
        is_names = isinstance(names, list | tuple) and all(isinstance(n, str) for n in names)
        if given is not None:
            data[argument] = repr(list(names)) if is_names else argument
    return data if sample_weight is None else data | {"sample_weight": "sample_weight"}


def _test_rows(
    train: Sample, sensitive_features: Any, control_features: Any, given: dict[str, Any]
) -> list[Sample]:
    """Read the second sample; return it in a list, which is empty if none was given.

    Raises ValueError if a part of it is missing, or its labels differ from those of the training.
    """
    # In the order in which the caller's dict names them.
    X, y, protected, control, weight = given.values()
    if all(value is None for value in given.values()):
        return []
    if X is None or y is None:
        missing = "X_test" if X is None else "y_test"
        raise ArgumentError(missing, "is not given; a second sample needs both X_test and y_test.")
    if control is not None and control_features is None:
        raise ArgumentError(
            "control_features_test",
            "is given, and control_features is not: both samples are compared within strata, or "
            "neither.",
        )
    names = Names(
        "y_test", "", "sensitive_features_test", "sample_weight_test", "X_test",
        "control_features_test",
    )  # fmt: skip
    test = Sample.read(
        y,
        _of_test_rows(train, protected, sensitive_features, "sensitive_features"),
        weight,
        control=_of_test_rows(train, control, control_features, "control_features"),
        features=X,
        names=names,
    )
    if test.pair != train.pair:
        raise ArgumentError(
            "y_test", f"has the labels {[*test.pair]}, and y {[*train.pair]}; they must agree."
        )
    return [test]


def _of_test_rows(train: Sample, given: Any, of_training: Any, argument: str) -> Any:
    """Return the attributes of the test rows: those given, or the same columns of X."""
    if given is not None or of_training is None:
        return given
    # named_columns() hands back what it got, unless these are names of columns of X.
    if named_columns(train.features, of_training, argument) is of_training:
        raise ArgumentError(
            f"{argument}_test",
            f"is not given, and {argument} are no columns of X; pass those of the test rows too.",
        )
    return of_training
