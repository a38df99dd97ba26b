"""Cases of weights over all scales that a float has, against sums of fractions."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import SubgroupParityClassifier, audit, bootstrap, prove
from tests.fuzz.oracle import Case
from tests.fuzz.samples import CLASSES, NOTIONS, Sample, make_sample, pick

NAMES = ("sample_weight", "sensitive_features", "notion", "y_true", "y", "X", "subgroups")

STATUSES = ("proved", "refuted", "undecided")

# The event and the outcome a + b·p of each notion, by label: what the definitions say.
_DEFINED: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "false_positive_rate": ((1, 0), (0, 0), (1, 1)),
    "false_negative_rate": ((0, 1), (1, 1), (-1, -1)),
    "statistical_parity": ((1, 1), (0, 0), (1, 1)),
    "error_rate": ((1, 1), (0, 1), (1, -1)),
}


def make_weights(rng: np.random.Generator, n: int) -> list[float]:
    """Draw weights as people have them, and as nobody has them."""
    ordinary = rng.integers(1, 5, n).astype(float)
    match int(rng.integers(10)):
        case 0:
            weights = ordinary * 10.0 ** rng.integers(-300, 300)
        case 1:
            weights = 10.0 ** rng.uniform(-300, 300, n)
        case 2:
            weights = np.exp(-0.5 * rng.normal(0, 4, n) ** 2)  # a kernel
        case 3:
            weights = ordinary * rng.choice([0.0, 1.0], n)
        case 4:
            weights = rng.choice([1e-17, 1.0, 3.0], n)
        case 5:
            weights = ordinary * 5e-324
        case 6:
            weights = np.full(n, 1.7e308)
        case 7:
            weights = rng.choice([5e-324, 1e308], n)
        case 8:
            weights = np.ones(n)
            weights[0] = rng.choice([1e300, 1e-300])
        case _:
            weights = 2.0 ** -rng.integers(0, 80, n)
    return [float(weight) for weight in weights]


def _sample(rng: np.random.Generator) -> Sample:
    """A sample of which all attributes are words."""
    sample = make_sample(rng, tame=True)
    n = len(sample)
    sample.attributes = {name: [pick(rng, "abc") for _ in range(n)] for name in ("one", "other")}
    sample.weights = make_weights(rng, n)
    return sample


def _groups(sample: Sample, depth: int) -> Iterator[list[bool]]:
    """List the members of each conjunction of so many values at most."""
    singles = [
        [value == wanted for value in values]
        for values in sample.attributes.values()
        for wanted in "abc"
    ]
    yield from singles
    if depth == 2:
        for one, other in itertools.product(singles[:3], singles[3:]):
            yield [a and b for a, b in zip(one, other, strict=True)]


def exact_unfairness(sample: Sample, notion: str, depth: int) -> float:
    """Return the largest |α(g)·(u(g) − u)| of the listed groups, in fractions."""
    event, a, b = _DEFINED[notion]
    weights = [Fraction(weight) for weight in sample.weights]
    mass = [w * event[y] for w, y in zip(weights, sample.labels, strict=True)]
    outcome = [
        w * (a[y] + b[y] * d) for w, y, d in zip(mass, sample.labels, sample.decisions, strict=True)
    ]
    if not sum(mass):
        raise ValueError("sample_weight is 0 in the event")
    rate = sum(outcome) / sum(mass)
    residual = [u - w * rate for u, w in zip(outcome, mass, strict=True)]
    sums = (sum(r for r, m in zip(residual, members, strict=True) if m)
            for members in _groups(sample, depth))  # fmt: skip
    return float(max(map(abs, sums)) / sum(weights))


def exact_case(rng: np.random.Generator) -> Case:
    """Audit groups that can be listed: a result is the exact one."""
    sample, notion = _sample(rng), pick(rng, NOTIONS)
    subgroups, depth = pick(rng, (("marginals", 1), ("conjunctions", 2)))
    entry = pick(rng, ("audit", "prove", "bootstrap"))
    share = pick(rng, (0.9, 1.1))

    def plain() -> float:
        return exact_unfairness(sample, notion, depth)

    def expected() -> float:
        exact = plain()
        return exact if entry != "prove" else STATUSES.index(
            "refuted" if exact > share * exact else "proved")  # fmt: skip

    def call() -> Any:
        rows: dict[str, Any] = {
            "y_true": sample.labels, "y_pred": sample.decisions, "notion": notion,
            "sensitive_features": sample.attributes, "sample_weight": sample.weights,
            "subgroups": subgroups,
        }  # fmt: skip
        if entry == "prove":
            return STATUSES.index(prove(**rows, at_most=share * plain()).status)
        if entry == "bootstrap":
            return bootstrap(**rows, n_resamples=2).unfairness
        report = audit(**rows)
        report.to_json()
        return report.unfairness

    return Case(f"{entry}, weighted", f"{notion}, {subgroups}, {sample.weights}", call, NAMES,
                plain=expected,
                figures=lambda value: [float(value)])  # fmt: skip


def scaled_case(rng: np.random.Generator) -> Case:
    """Audit by any class, with weights times a power of two: the result is the same."""
    sample = make_sample(rng, tame=True)
    n = len(sample)
    sample.attributes["age"] = (rng.integers(180, 700, n) / 10).tolist()
    weights = [1.0 + rng.integers(4) for _ in range(n)]
    if rng.random() < 0.5:
        age = np.array(sample.attributes["age"])
        weights = np.exp(-0.5 * ((age - 30) / 7) ** 2).tolist()
    power = 2.0 ** rng.integers(-900, 900)
    subgroups = pick(rng, CLASSES[1:])

    def call(scale: float) -> Any:
        report = audit(sample.labels, sample.decisions, sensitive_features=sample.attributes,
                       sample_weight=[weight * scale for weight in weights], subgroups=subgroups,
                       n_permutations=0)  # fmt: skip
        report.to_json()
        return [report.unfairness, report.upper_bound]

    return Case("audit, weights scaled", f"{subgroups}, times {power}", lambda: call(power), NAMES,
                plain=lambda: call(1.0), figures=list)  # fmt: skip


def permuted_case(rng: np.random.Generator) -> Case:
    """Audit the same rows in another order, whatever they weigh: the result is the same."""
    sample = make_sample(rng, tame=True)
    sample.weights = make_weights(rng, len(sample))
    order = rng.permutation(len(sample))
    subgroups, notion = pick(rng, CLASSES[1:]), pick(rng, NOTIONS)

    def call(rows: Sample) -> Any:
        report = audit(rows.labels, rows.decisions, sensitive_features=rows.attributes,
                       sample_weight=rows.weights, subgroups=subgroups, notion=notion)  # fmt: skip
        return [report.unfairness, report.upper_bound]

    return Case("audit, rows permuted", f"{subgroups}, {notion}, {sample.weights}",
                lambda: call(sample.taken(order)), NAMES, plain=lambda: call(sample),
                figures=list)  # fmt: skip


def weighted_fit_case(rng: np.random.Generator) -> Case:
    """Fit with such weights, over each class: the kernels get what fits together."""
    sample = make_sample(rng, tame=True)
    n = len(sample)
    if rng.random() < 0.6:
        sample.attributes = {"age": (rng.integers(180, 700, n) / 10).tolist()}
    sample.weights = make_weights(rng, n)
    subgroups = pick(rng, CLASSES)
    estimator = pick(rng, (LinearRegression(), LogisticRegression()))
    solver = pick(rng, ("exponentiated_gradient", "fictitious_play"))

    def call() -> Any:
        model = SubgroupParityClassifier(estimator, subgroups=subgroups, solver=solver, max_iter=3,
                                         gamma=0.02, random_state=0)  # fmt: skip
        model.fit(sample.features, sample.labels, sensitive_features=sample.attributes,
                  sample_weight=sample.weights)  # fmt: skip
        return [*model.predict_proba(sample.features)[:, 1], *model.history_["unfairness"]]

    return Case("fit, weighted", f"{subgroups}, {solver}, {estimator}, {sample.weights}", call,
                NAMES, figures=lambda values: [float(value) for value in values])  # fmt: skip
