"""Settings of a frontier: notions, estimators and gammas, checked and named."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gerrymend._runtime.errors import Argument, ArgumentError, as_of
from gerrymend.classifiers import MarginalParityClassifier
from gerrymend.frontier.as_code import Code, UnwritableError
from gerrymend.inputs.seeds import draw_seed
from gerrymend.inputs.settings import check_flag, check_gammas
from gerrymend.notions import AnyNotion, FairnessNotion, OutcomeNotion, as_notions, as_trainable
from gerrymend.solvers import ExponentiatedGradient, as_solver
from gerrymend.solvers.players.estimator_checks import check_estimator_kind
from gerrymend.subgroups import LinearThresholds, SubgroupClass, as_subgroup_class
from gerrymend.training.fit import ParityClassifier

# From none to more than most models have without constraint, in steps of about two.
GAMMAS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


class Setting(NamedTuple):
    """A notion and an estimator, with the classifier that is trained for all gammas at once.

    `rates` are what is audited, in the user's terms of which label is positive: the classifier has
    them in terms of its own order of labels. `contrast` is True for the paper's MARGINAL, trained
    beside another classifier.
    """

    notion: str
    estimator: str
    classifier: ParityClassifier
    rates: tuple[AnyNotion, ...]
    contrast: bool = False

    def of_other_label(self, pos_label: Any) -> "Setting":
        """Return the setting for labels of which the first in order is the positive one.

        Raises an ArgumentError for a mean of numbers, which has no positive label.
        """
        for mean in self.rates:
            if isinstance(mean, OutcomeNotion):
                raise ArgumentError(
                    Argument("pos_label", value=repr(pos_label)),
                    f"is for rates, and the {mean.words} is a mean of numbers; leave it out.",
                )
        rates = (rate for rate in self.rates if isinstance(rate, FairnessNotion))
        turned = tuple(rate.of_other_label() for rate in rates)
        return self._replace(classifier=clone(self.classifier).set_params(notion=turned))

    def code(self, gammas: Sequence[float], gamma: float, data: Mapping[str, str]) -> str | None:
        """Return Python code that trains the model of one gamma again, or None if none can.

        `data` has the arguments of fit beside X and y, as code. The default solver shares one pool
        between all gammas, so the code trains all of them, to get the same model.
        """
        code = Code()
        classifier = self.classifier
        # Solvers that play each gamma on its own need no others in the code.
        shared = [gamma]
        if isinstance(as_solver(classifier.solver), ExponentiatedGradient):
            shared = list(gammas)
        try:
            parameters = code.arguments(
                classifier, notion=code.notion(as_notions(classifier.notion)), gamma=code.of(gamma)
            )
            name = code.of(type(classifier))
        except UnwritableError:
            return None
        arguments = ["X", "y", *(f"{name}={words}" for name, words in data.items())]
        fit = "fit"
        which = ""
        notes = [f"# {', '.join(('X', *_named(data)))}: the training rows."]
        if len(shared) > 1:
            fit = "fit_path"
            which = f"[{shared.index(gamma)}]"
            # After X and y, which are positional.
            arguments.insert(2, f"gammas={code.of(shared)}")
            notes.append("# Gammas are trained together, each with what the others found.")
        return "\n".join(
            [
                *code.imports, "", *notes, f"model = {name}(",
                *(f"    {words}," for words in parameters),
                f").{fit}({', '.join(arguments)}){which}",
            ]
        )  # fmt: skip


def _named(data: Mapping[str, str]) -> list[str]:
    """List the arguments that are variables of the reader: those that stand for themselves."""
    return ["y", *(name for name, words in data.items() if name == words)]


def one_seed(estimator: Any, random_state: Any) -> int:
    """Check the estimator of a frontier and return the seed that all its models share.

    The seed is drawn here, before workers start, so that it can't depend on their order. Raises
    TypeError for another estimator, and ValueError for one with a checkpoint.
    """
    if not isinstance(estimator, ParityClassifier):
        raise ArgumentError(
            "estimator",
            "must be a SubgroupParityClassifier or a MarginalParityClassifier; got "
            f"{estimator!r}. What it trains goes inside: "
            "SubgroupParityClassifier(LogisticRegression()).",
        )
    if estimator.checkpoint is not None:
        raise ArgumentError(
            "estimator",
            f"has checkpoint={estimator.checkpoint!r}, which is for one fit, and a "
            "frontier trains several; set checkpoint=None.",
        )
    # The argument of the sweep wins over the classifier's own.
    state = estimator.random_state if random_state is None else random_state
    seed = draw_seed(state)  # which checks `state`
    # A number is a seed itself, so that a model is the same as from a fit with that random_state.
    return int(state) if isinstance(state, int | np.integer) else seed


def every_setting(
    estimator: ParityClassifier, notions: Any, estimators: Any, seed: int, *, marginal: bool
) -> list[Setting]:
    """Return a setting for every notion and estimator, followed by MARGINAL's if asked for.

    Each has a copy of the classifier. Raises ValueError for MARGINAL beside MARGINAL.
    """
    if check_flag(marginal, "marginal") and isinstance(estimator, MarginalParityClassifier):
        raise ValueError(
            "marginal=True trains MARGINAL beside another classifier, and estimator is MARGINAL "
            "already; leave it out."
        )
    # The classifier's own are named by its parameter.
    with as_of("notions" if notions is not None else "notion"):
        named_notions = _named_notions([estimator.notion] if notions is None else notions)
    with as_of("estimators" if estimators is not None else "estimator"):
        trained = _named_estimators([estimator.estimator] if estimators is None else estimators)
    settings = [
        Setting(
            notion,
            name,
            clone(estimator).set_params(notion=rates, estimator=clone(learned), random_state=seed),
            rates,
        )
        # Notion by notion, then by estimator: the order of `points`, and of the page's lists.
        for notion, rates in named_notions.items()
        for name, learned in trained.items()
    ]
    # After all others, as _frontier() counts on when it takes the first n points apart.
    return settings + [_contrast(setting) for setting in settings if marginal]


def _contrast(setting: Setting) -> Setting:
    """Return the same setting for MARGINAL, which has a part of the parameters."""
    parameters = setting.classifier.get_params(deep=False)
    shared = {name: parameters[name] for name in MarginalParityClassifier().get_params(deep=False)}
    return setting._replace(classifier=MarginalParityClassifier(**shared), contrast=True)


def _named_notions(notions: Any) -> dict[str, tuple[AnyNotion, ...]]:
    """Return notions by name; those without one name are joined by "and".

    Rates and means are not in one frontier, as they are not in one audit.
    """
    if not isinstance(notions, list | tuple) or not notions:
        raise ArgumentError(
            "notions",
            "must be a list of at least one notion, such as ['false_positive_rate', "
            f"'equalized_odds']; got {notions!r}.",
        )
    named = {}
    for notion in notions:
        rates = as_trainable(notion)
        named[notion if isinstance(notion, str) else " and ".join(n.name for n in rates)] = rates
    if len(named) < len(notions):
        raise ArgumentError(
            "notions", f"has the same one twice: {notions!r}; leave one of them out."
        )
    # Asked for its error alone: it refuses rates beside means.
    as_notions(tuple(rate for rates in named.values() for rate in rates))
    return named


def _named_estimators(estimators: Any) -> dict[str, Any]:
    """Return estimators by the names given, those of their classes, or their code if these repeat.

    Raises TypeError or ValueError if there are none, or one is there twice.
    """
    if isinstance(estimators, str) or not isinstance(estimators, Mapping | Sequence):
        raise ArgumentError(
            "estimators",
            f"must be a list of estimators, or a mapping from names to them; got {estimators!r}.",
        )
    if not estimators:
        raise ArgumentError(
            "estimators", "is empty; pass at least one, or None for the classifier's own."
        )
    listed = estimators.values() if isinstance(estimators, Mapping) else estimators
    usable = [check_estimator_kind(estimator, weighted=False) for estimator in listed]
    if isinstance(estimators, Mapping):
        return dict(zip(map(str, estimators), usable, strict=True))
    names = [type(estimator).__name__ for estimator in usable]
    # Two of one class differ in their parameters, if in anything; repr() may break lines.
    if len(set(names)) < len(names):
        names = [" ".join(repr(estimator).split()) for estimator in usable]
    if len(set(names)) < len(names):
        raise ArgumentError(
            "estimators",
            f"has the same one twice: {', '.join(names)}; leave one of them out, or "
            "name them: estimators={'first': …, 'second': …}.",
        )
    return dict(zip(names, usable, strict=True))


def audited_class(estimator: ParityClassifier, asked: Any) -> SubgroupClass:
    """Return the class of subgroups to audit over, by default that of the estimator.

    Linear thresholds are searched and proven with audit()'s own settings, however cheap the search
    of the training was.
    """
    if asked is not None:
        return as_subgroup_class(asked, "audit_subgroups")
    chosen = as_subgroup_class(getattr(estimator, "subgroups", "linear"))
    if isinstance(chosen, LinearThresholds):
        # Whether rules have an intercept is a matter of which groups there are, and is kept; how
        # they are searched is not.
        return LinearThresholds(intercept=chosen.intercept)
    return chosen


def check_levels(gammas: Any, settings: Sequence[Setting]) -> list[float]:
    """Return the gammas as a list.

    Raises
    ------
    ArgumentError
        If a gamma is there twice; or if none are given for a mean of numbers, since the default
        gammas are for rates, whose unfairness is at most 1/4.
    """
    mean = settings[0].rates[0]
    # By identity: the same numbers, given by a user, are in the unit of the mean.
    if gammas is GAMMAS and isinstance(mean, OutcomeNotion):
        raise ArgumentError(
            "gammas",
            f"is not given, and the {mean.words} is a mean of numbers: pass the unfairness to "
            f"allow, in {mean.unit or 'their unit'}, up to what is there without constraint.",
        )
    levels = check_gammas(gammas)
    if len(set(levels)) < len(levels):
        repeated = sorted({gamma for gamma in levels if levels.count(gamma) > 1})
        raise ArgumentError(
            "gammas",
            f"has {', '.join(f'{gamma:g}' for gamma in repeated)} more than once; pass each "
            "value once.",
        )
    return levels
