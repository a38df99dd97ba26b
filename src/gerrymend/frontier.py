"""pareto_frontier(): what each unfairness costs in error, over gammas, notions and estimators."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_random_state

from gerrymend._sums import Array
from gerrymend._validation import check_fraction, check_gamma, check_number, check_whole
from gerrymend.learners import check_estimator_kind
from gerrymend.notions import FairnessNotion, as_notions
from gerrymend.parity import ParityClassifier
from gerrymend.rows import Rows
from gerrymend.subgroups import LinearThresholds, SubgroupClass, as_subgroup_class
from gerrymend.tradeoffs import FrontierPoint, OnRows, ParetoFrontier, mark_dominated

GAMMAS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


class FrontierInterrupted(KeyboardInterrupt):
    """The user stopped the work; `frontier` has the points that were done."""

    def __init__(self, frontier: ParetoFrontier) -> None:
        super().__init__("Interrupted; the points that were done are in `frontier`.")
        self.frontier = frontier


def pareto_frontier(
    estimator: ParityClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    gammas: Sequence[float] = GAMMAS,
    notions: Sequence[Any] | None = None,
    estimators: Mapping[str, Any] | Sequence[Any] | None = None,
    sample_weight: Any = None,
    test_size: float | None = None,
    X_test: Any = None,
    y_test: Any = None,
    sensitive_features_test: Any = None,
    sample_weight_test: Any = None,
    audit_subgroups: Any = None,
    audit_budget: float = 10.0,
    min_group_size: int = 10,
    n_jobs: int | None = None,
    random_state: Any = None,
    on_point: Callable[[FrontierPoint, int], None] | None = None,
) -> ParetoFrontier:
    """Train a model for each gamma, notion and estimator, and audit each as audit() does.

    Parameters
    ----------
    estimator : SubgroupParityClassifier or MarginalParityClassifier
        What is trained; it is cloned, and never changed. Its own gamma plays no part.
    X, y, sensitive_features, sample_weight :
        The rows, as in its fit().
    gammas : sequence of float
        The unfairness to allow. The gammas of a notion and an estimator are trained together.
    notions : sequence of notions, optional
        Each in turn; the classifier's own by default. Models of different notions are never
        compared.
    estimators : mapping from names to estimators, or sequence of estimators, optional
        What the Learner trains, each in turn; the classifier's own by default.
    test_size : float, optional
        Part of the rows, of each label, to keep out of the training, and to audit on too.
    X_test, y_test, sensitive_features_test, sample_weight_test : optional
        Or: other rows to audit on. Protected attributes that are columns of X need not be given.
    audit_subgroups : str or SubgroupClass, optional
        The class to audit over. By default the classifier's own, searched and proven as audit()
        does it whatever it was trained against; for a MarginalParityClassifier, "linear".
    audit_budget : float, default=10.0
        Seconds that the proof of one audit may take.
    min_group_size : int, default=10
        Groups with fewer rows that count, inside or outside, are not described.
    n_jobs : int, optional
        Processes, through joblib. The result is the same, unless the budget ends a proof.
    random_state : int, RandomState or None
        Seeds all models alike, and the rows that are held out; the classifier's own by default.
    on_point : callable, optional
        Called as on_point(point, of) when a point is done; `of` is how many there will be.

    Returns
    -------
    ParetoFrontier

    Raises
    ------
    FrontierInterrupted
        On Ctrl-C, with the points that were done.

    Notes
    -----
    A point is dominated if another of its notion has no more error and no more unfairness, and
    less of one, by what the strongest audit found. `suggested` is the knee, by the definition
    that it states. Rows that a choice was made on are no test of it any more.

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
    seed = _one_seed(estimator, random_state)
    settings = _settings(estimator, notions, estimators, seed)
    how = {
        "subgroups": _audited_class(estimator, audit_subgroups),
        "budget": check_number(
            audit_budget,
            "audit_budget",
            low=0.0,
            above=True,
            remedy="It is in seconds: 10, for example.",
        ),
        "min_group_size": check_whole(min_group_size, "min_group_size", low=1),
    }
    levels = _check_gammas(gammas)
    rows = Rows.read(X, y, sensitive_features, sample_weight)
    samples: Sequence[Rows]
    if test_size is not None:
        if X_test is not None or y_test is not None:
            raise ValueError("test_size and X_test exclude each other; leave one of them out.")
        check_fraction(test_size, "test_size", remedy="It is a part of the rows.")
        samples = rows.split(test_size, seed)
    else:
        given = {
            "X_test": X_test,
            "y_test": y_test,
            "sensitive_features_test": sensitive_features_test,
            "sample_weight_test": sample_weight_test,
        }
        samples = (rows, *_test_rows(rows, sensitive_features, given))

    points: list[FrontierPoint] = []
    try:
        for point in _points(settings, levels, samples, how, n_jobs):
            points.append(point)
            if on_point is not None:
                on_point(point, len(settings) * len(levels))
    except KeyboardInterrupt:
        if not points:
            raise
        raise FrontierInterrupted(ParetoFrontier(mark_dominated(points))) from None
    return ParetoFrontier(mark_dominated(points))


class _Setting(NamedTuple):
    """What is trained for every gamma at once."""

    notion: str
    estimator: str
    classifier: ParityClassifier


class _Path(NamedTuple):
    """What a setting came to: a model for each gamma, and its probabilities on each sample."""

    models: list[Any]
    probabilities: list[list[Array]]
    seconds: float
    warnings: list[tuple[str, type[Warning]]]


def _points(
    settings: Sequence[_Setting],
    gammas: list[float],
    samples: Sequence[Rows],
    how: dict[str, Any],
    n_jobs: int | None,
) -> Iterator[FrontierPoint]:
    """As many settings at once as there are processes; then their audits, each on its own.

    So points are done early, and a single setting keeps all processes busy too.
    """
    workers = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    at_once = effective_n_jobs(n_jobs)
    for start in range(0, len(settings), at_once):
        batch = settings[start : start + at_once]
        paths = list(workers(delayed(_train)(one.classifier, gammas, samples) for one in batch))
        for message, category in dict.fromkeys(one for path in paths for one in path.warnings):
            warnings.warn(message, category, stacklevel=3)
        games = [
            (setting, path, game)
            for setting, path in zip(batch, paths, strict=True)
            for game in range(len(gammas))
        ]
        audits = workers(
            delayed(_measure)(
                samples, path.probabilities[game],
                how | {"notion": setting.classifier.notion, "gamma": gammas[game]},
            )
            for setting, path, game in games
        )  # fmt: skip
        for (setting, path, game), measured in zip(games, audits, strict=True):
            yield _point(setting, path, gammas, game, measured)


def _train(classifier: ParityClassifier, gammas: list[float], samples: Sequence[Rows]) -> _Path:
    """A path; warnings are carried along, as those of another process would not be heard."""
    train = samples[0]
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models = classifier.fit_path(
            train.features, train.labels, gammas=gammas,
            sensitive_features=train.protected, sample_weight=train.weight,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    probabilities = [
        [model.predict_proba(sample.features)[:, 1] for sample in samples] for model in models
    ]
    return _Path(
        models, probabilities, seconds, [(str(one.message), one.category) for one in caught]
    )


def _measure(
    samples: Sequence[Rows], probabilities: list[Array], how: dict[str, Any]
) -> list[OnRows]:
    """Error and audit of one model on each sample."""
    return [OnRows.measure(rows, p, how) for rows, p in zip(samples, probabilities, strict=True)]


def _point(
    setting: _Setting, path: _Path, gammas: list[float], game: int, measured: list[OnRows]
) -> FrontierPoint:
    model = path.models[game]
    worst = model.worst_subgroup_
    return FrontierPoint(
        gamma=gammas[game],
        notion=setting.notion,
        estimator=setting.estimator,
        reported_unfairness=0.0 if worst is None else abs(worst.unfairness),
        n_predictors=len(model.weights_),
        n_oracle_calls=model.n_oracle_calls_,
        seconds=path.seconds,
        train=measured[0],
        test=measured[1] if len(measured) > 1 else None,
        model=model,
    )


def _one_seed(estimator: Any, random_state: Any) -> int:
    """One seed for all, drawn here, so that it can't depend on who trains first."""
    if not isinstance(estimator, ParityClassifier):
        raise TypeError(
            "estimator must be a SubgroupParityClassifier or a MarginalParityClassifier; got "
            f"{estimator!r}. What it trains goes inside: "
            "SubgroupParityClassifier(LogisticRegression())."
        )
    state = estimator.random_state if random_state is None else random_state
    if isinstance(state, int | np.integer):
        return int(state)
    return int(check_random_state(state).randint(np.iinfo(np.int32).max))


def _settings(
    estimator: ParityClassifier, notions: Any, estimators: Any, seed: int
) -> list[_Setting]:
    """Every notion with every estimator, in a copy of the classifier."""
    named_notions = _named_notions([estimator.notion] if notions is None else notions)
    trained = _named_estimators([estimator.estimator] if estimators is None else estimators)
    return [
        _Setting(
            notion,
            name,
            clone(estimator).set_params(notion=rates, estimator=clone(one), random_state=seed),
        )
        for notion, rates in named_notions.items()
        for name, one in trained.items()
    ]


def _named_notions(notions: Any) -> dict[str, tuple[FairnessNotion, ...]]:
    if not isinstance(notions, list | tuple) or not notions:
        raise TypeError(
            "notions must be a list of at least one notion, such as ['false_positive_rate', "
            f"'equalized_odds']; got {notions!r}."
        )
    named = {
        one if isinstance(one, str) else " and ".join(part.name for part in as_notions(one)):
        as_notions(one)
        for one in notions
    }  # fmt: skip
    if len(named) < len(notions):
        raise ValueError(f"notions has the same one twice: {notions!r}; leave one of them out.")
    return named


def _named_estimators(estimators: Any) -> dict[str, Any]:
    """By the names that were given, or those of their classes where these differ."""
    if isinstance(estimators, str) or not isinstance(estimators, Mapping | Sequence):
        raise TypeError(
            "estimators must be a list of estimators, or a mapping from names to them; got "
            f"{estimators!r}."
        )
    if not estimators:
        raise ValueError(
            "estimators is empty; pass at least one, or None for the classifier's own."
        )
    if isinstance(estimators, Mapping):
        return {
            str(name): check_estimator_kind(one, weighted=False) for name, one in estimators.items()
        }
    usable = [check_estimator_kind(one, weighted=False) for one in estimators]
    names = [type(one).__name__ for one in usable]
    if len(set(names)) < len(names):
        names = [" ".join(repr(one).split()) for one in usable]
    if len(set(names)) < len(names):
        raise ValueError(
            f"estimators has the same one twice: {', '.join(names)}; leave one of them out, or "
            "name them: estimators={'first': …, 'second': …}."
        )
    return dict(zip(names, usable, strict=True))


def _audited_class(estimator: ParityClassifier, asked: Any) -> SubgroupClass:
    """The class to audit over; of linear thresholds all, however they were searched in training."""
    chosen = as_subgroup_class(
        getattr(estimator, "subgroups", "linear") if asked is None else asked
    )
    if asked is None and isinstance(chosen, LinearThresholds):
        return LinearThresholds(intercept=chosen.intercept)
    return chosen


def _check_gammas(gammas: Any) -> list[float]:
    if isinstance(gammas, str) or not isinstance(gammas, Iterable):
        raise TypeError(f"gammas must be a list of numbers; got {gammas!r}. For one: [{gammas!r}].")
    levels = [check_gamma(gamma) for gamma in gammas]
    if not levels:
        raise ValueError("gammas is empty; pass at least one value of gamma.")
    if len(set(levels)) < len(levels):
        repeated = sorted({gamma for gamma in levels if levels.count(gamma) > 1})
        raise ValueError(
            f"gammas has {', '.join(f'{gamma:g}' for gamma in repeated)} more than once; pass each "
            "value once."
        )
    return levels


def _test_rows(train: Rows, sensitive_features: Any, given: dict[str, Any]) -> list[Rows]:
    """The second sample, in a list; an empty one where there is none."""
    X, y, protected, weight = given.values()
    if all(value is None for value in given.values()):
        return []
    if X is None or y is None:
        missing = "X_test" if X is None else "y_test"
        raise ValueError(f"{missing} is not given; a second sample needs both X_test and y_test.")
    if protected is None:
        names = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
        if names is not None and train.protected is sensitive_features:
            raise ValueError(
                "sensitive_features_test is not given, and sensitive_features are no columns of X; "
                "pass those of the test rows too."
            )
        protected = names
    test = Rows.read(X, y, protected, weight, suffix="_test")
    labels = [np.unique(rows.labels).tolist() for rows in (train, test)]
    if labels[0] != labels[1]:
        raise ValueError(f"y_test has the labels {labels[1]}, and y {labels[0]}; they must agree.")
    return [test]
