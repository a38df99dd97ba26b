"""What a frontier is over: notions, estimators and gammas, checked and named."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gerrymend.classifiers import MarginalParityClassifier
from gerrymend.frontier.as_code import Code, UnwritableError
from gerrymend.inputs.seeds import draw_seed
from gerrymend.inputs.settings import check_flag, check_gamma
from gerrymend.notions import FairnessNotion, as_notions
from gerrymend.solvers import ExponentiatedGradient, as_solver
from gerrymend.solvers.estimators import check_estimator_kind
from gerrymend.subgroups import LinearThresholds, SubgroupClass, as_subgroup_class
from gerrymend.training.fit import ParityClassifier


class Setting(NamedTuple):
    """What is trained for every gamma at once; `contrast` if it is MARGINAL beside another."""

    notion: str
    estimator: str
    classifier: ParityClassifier
    contrast: bool = False

    def code(self, gammas: Sequence[float], gamma: float, data: Mapping[str, str]) -> str | None:
        """Python code that trains the model of one gamma again; None where none can be written.

        The default solver has one pool for all gammas; so they are all trained again, and the
        result is the same.
        """
        code = Code()
        classifier, shared = self.classifier, [gamma]
        if isinstance(as_solver(classifier.solver), ExponentiatedGradient):
            shared = list(gammas)
        try:
            parameters = code.arguments(
                classifier,
                notion=code.notion(as_notions(classifier.notion)),
                gamma=code.of(gamma),
            )
            name = code.of(classifier).partition("(")[0]
        except UnwritableError:
            return None
        arguments = ["X", "y", *(f"{name}={words}" for name, words in data.items())]
        fit, which, notes = "fit", "", [f"# {', '.join(('X', *_named(data)))}: the training rows."]
        if len(shared) > 1:
            fit, which = "fit_path", f"[{shared.index(gamma)}]"
            arguments.insert(2, f"gammas={code.of(shared)}")
            notes.append("# Gammas are trained together, each with what the others found.")
        return "\n".join(
            [
                *code.imports, "", *notes, f"model = {name}(",
                *(f"    {one}," for one in parameters), f").{fit}({', '.join(arguments)}){which}",
            ]
        )  # fmt: skip


def _named(data: Mapping[str, str]) -> list[str]:
    """The arguments that are names of the reader's own variables."""
    return ["y", *(name for name, words in data.items() if name == words)]


def one_seed(estimator: Any, random_state: Any) -> int:
    """One seed for all, drawn here, so that it can't depend on who trains first."""
    if not isinstance(estimator, ParityClassifier):
        raise TypeError(
            "estimator must be a SubgroupParityClassifier or a MarginalParityClassifier; got "
            f"{estimator!r}. What it trains goes inside: "
            "SubgroupParityClassifier(LogisticRegression())."
        )
    if estimator.checkpoint is not None:
        raise ValueError(
            f"estimator has checkpoint={estimator.checkpoint!r}, which is for one fit, and a "
            "frontier trains several; set checkpoint=None."
        )
    state = estimator.random_state if random_state is None else random_state
    seed = draw_seed(state)  # which checks it
    return int(state) if isinstance(state, int | np.integer) else seed


def every_setting(
    estimator: ParityClassifier, notions: Any, estimators: Any, seed: int, *, marginal: bool
) -> list[Setting]:
    """Every notion with every estimator, in a copy of the classifier; then MARGINAL's."""
    if check_flag(marginal, "marginal") and isinstance(estimator, MarginalParityClassifier):
        raise ValueError(
            "marginal=True trains MARGINAL beside another classifier, and estimator is MARGINAL "
            "already; leave it out."
        )
    named_notions = _named_notions([estimator.notion] if notions is None else notions)
    trained = _named_estimators([estimator.estimator] if estimators is None else estimators)
    settings = [
        Setting(
            notion,
            name,
            clone(estimator).set_params(notion=rates, estimator=clone(one), random_state=seed),
        )
        for notion, rates in named_notions.items()
        for name, one in trained.items()
    ]
    return settings + [_contrast(setting) for setting in settings if marginal]


def _contrast(setting: Setting) -> Setting:
    """The same, one protected attribute at a time."""
    parameters = setting.classifier.get_params(deep=False)
    shared = {name: parameters[name] for name in MarginalParityClassifier().get_params(deep=False)}
    return setting._replace(classifier=MarginalParityClassifier(**shared), contrast=True)


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


def audited_class(estimator: ParityClassifier, asked: Any) -> SubgroupClass:
    """The class to audit over; of linear thresholds all, however they were searched in training."""
    chosen = as_subgroup_class(
        getattr(estimator, "subgroups", "linear") if asked is None else asked
    )
    if asked is None and isinstance(chosen, LinearThresholds):
        return LinearThresholds(intercept=chosen.intercept)
    return chosen


def check_gammas(gammas: Any) -> list[float]:
    """The gammas as a list, each once."""
    is_scalar = isinstance(gammas, np.ndarray) and gammas.ndim == 0
    if isinstance(gammas, str) or is_scalar or not isinstance(gammas, Iterable):
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
