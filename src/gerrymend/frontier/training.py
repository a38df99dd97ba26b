"""Train a model for each setting and gamma, and audit each, by workers."""

import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Literal, NamedTuple

from gerrymend._numeric.sums import Array
from gerrymend._runtime.by_thread import heard_warnings
from gerrymend._runtime.errors import Message
from gerrymend._runtime.workers import Common, Workers
from gerrymend.frontier.points import (
    FrontierPoint,
    FrontierReference,
    OnRows,
    positive_probability,
)
from gerrymend.frontier.references import plain_decisions
from gerrymend.frontier.settings import Setting
from gerrymend.inputs.sample import Sample


class _Path(NamedTuple):
    """The result of training a setting.

    `models` has one model for each gamma, `probabilities` an array for each model and sample,
    `unconstrained` the same of the estimator fitted plainly, and `seconds` the time of all models.
    """

    models: list[Any]
    probabilities: list[list[Array]]
    unconstrained: list[Array]
    seconds: float
    warnings: list[Warning]


class _ToAudit(NamedTuple):
    """Decisions to be audited: probabilities for each sample, and what the figures are made to."""

    probabilities: list[Array]
    notion: Any
    gamma: float
    made: Callable[[list[OnRows]], FrontierPoint | FrontierReference]


def trained_and_audited(
    settings: Sequence[Setting],
    gammas: list[float],
    samples: Sequence[Sample],
    how: dict[str, Any],
    data: Mapping[str, str],
    workers: Workers,
) -> Generator[FrontierPoint | FrontierReference, None, None]:
    """Yield the points, trained a setting a worker, and then audited each on its own.

    So the first points are done early, and a single setting keeps all workers busy too. Today's
    model comes first, and each estimator without constraint before its points.
    """
    rows = Common(samples)
    # Audits need labels, attributes and weights alone: features, as a rule the larger part, are
    # sent to the workers that train and to no others.
    audited = Common([sample.without_features() for sample in samples])

    def audits(batch: list[_ToAudit]) -> Generator[FrontierPoint | FrontierReference, None, None]:
        tasks = [
            (audited, task.probabilities, how | {"notion": task.notion, "gamma": task.gamma})
            for task in batch
        ]
        with closing(workers(_measure, tasks)) as measured:
            for task, figures in zip(batch, measured, strict=True):
                yield task.made(figures)

    yield from audits(_of_today(settings, samples, min(gammas)))
    # As many settings as workers at a time: all of the first batch are trained, then audited and
    # yielded, before the next is trained. Ctrl-C then loses one batch at most.
    for start in range(0, len(settings), workers.number):
        batch = settings[start : start + workers.number]
        paths = list(workers(_train, [(rows, setting, gammas) for setting in batch]))
        heard = {
            (str(told), told.__class__): told
            for setting, path in zip(batch, paths, strict=True)
            for told in (_of_contrast(path.warnings) if setting.contrast else path.warnings)
        }
        for told in heard.values():  # the same warning of several settings once
            warnings.warn(told, stacklevel=3)
        yield from audits([
            task
            for setting, path in zip(batch, paths, strict=True)
            for task in _of_setting(setting, path, gammas, data)
        ])  # fmt: skip


def _of_today(
    settings: Sequence[Setting], samples: Sequence[Sample], gamma: float
) -> list[_ToAudit]:
    """List the audits of today's model, one a notion; none if it was not given."""
    notions = {setting.notion: setting.rates for setting in settings}
    decided = [sample.p for sample in samples if sample.p is not None]
    return [
        _ToAudit(decided, notion, gamma, partial(_reference, "today", name, None))
        for name, notion in notions.items()
        if decided
    ]


def _of_setting(
    setting: Setting, path: _Path, gammas: list[float], data: Mapping[str, str]
) -> list[_ToAudit]:
    """List the audits of a setting: of its estimator without constraint, and of its models."""
    notion = setting.rates
    plain = partial(_reference, "unconstrained", setting.notion, setting.estimator)
    alone = [] if setting.contrast else [_ToAudit(path.unconstrained, notion, min(gammas), plain)]
    return alone + [
        _ToAudit(
            probabilities,
            notion,
            gamma,
            partial(_point, setting, path, gamma, model, setting.code(gammas, gamma, data)),
        )
        for gamma, model, probabilities in zip(gammas, path.models, path.probabilities, strict=True)
    ]


def _train(samples: Common[Sequence[Sample]], setting: Setting, gammas: list[float]) -> _Path:
    """Train a setting for all gammas; collect its warnings, which a worker process would lose."""
    train = samples.value[0]
    start = time.perf_counter()
    with heard_warnings() as heard:
        models = setting.classifier.fit_path(
            train.features, train.labels, gammas=gammas,
            sensitive_features=train.protected, control_features=train.control,
            sample_weight=train.given_weight,
        )  # fmt: skip
        # Without the plain fit below, which is no part of what a point cost.
        seconds = time.perf_counter() - start
        plain: list[Array] = []
        if not setting.contrast:  # whose estimator is that of another setting
            plain = plain_decisions(setting.classifier, models[0], samples.value)
    # Here, where the features are: an audit then needs no more than probabilities to be sent.
    probabilities = [
        [positive_probability(model, sample) for sample in samples.value] for model in models
    ]
    told = [warning.message for warning in heard if isinstance(warning.message, Warning)]
    return _Path(models, probabilities, plain, seconds, told)


def _of_contrast(told: list[Warning]) -> list[Warning]:
    """Return warnings that say that they are about MARGINAL."""
    lead = "MARGINAL, for contrast: "
    # A Message keeps its type, and arguments that the command line renames; others are made anew
    # from their text.
    ours = [warning for warning in told if isinstance(warning, Message)]
    for warning in ours:
        warning.lead = f"{lead}{warning.lead}"
    return [warning if warning in ours else type(warning)(f"{lead}{warning}") for warning in told]


def _measure(
    samples: Common[Sequence[Sample]], probabilities: list[Array], how: dict[str, Any]
) -> list[OnRows]:
    """Return error and audit of one model on each sample."""
    return [
        OnRows.measure(rows, p, how) for rows, p in zip(samples.value, probabilities, strict=True)
    ]


def _reference(
    kind: Literal["today", "unconstrained"],
    notion: str,
    estimator: str | None,
    measured: list[OnRows],
) -> FrontierReference:
    return FrontierReference(kind, notion, estimator, measured[0], _second(measured))


def _second(measured: list[OnRows]) -> OnRows | None:
    """Return the figures on the test rows, if there are any."""
    return measured[1] if len(measured) > 1 else None


def _point(
    setting: Setting,
    path: _Path,
    gamma: float,
    model: Any,
    code: str | None,
    measured: list[OnRows],
) -> FrontierPoint:
    worst = model.worst_subgroup_
    return FrontierPoint(
        gamma=gamma,
        notion=setting.notion,
        estimator=setting.estimator,
        reported_unfairness=0.0 if worst is None else abs(worst.unfairness),
        n_predictors=len(model.weights_),
        n_oracle_calls=model.n_oracle_calls_,
        seconds=path.seconds,
        train=measured[0],
        test=_second(measured),
        model=model,
        code=code,
    )
