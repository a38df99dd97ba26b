"""Cases of what is constructed: notions, classes of subgroups, made data."""

from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gerrymend import (
    Conjunctions,
    ExplicitGroups,
    FairnessNotion,
    LinearThresholds,
    Marginals,
    Multicalibration,
    Trees,
    ValueSets,
    audit,
)
from gerrymend.datasets import make_benchmark, make_gerrymandered, make_intersectional
from tests.fuzz.oracle import Case
from tests.fuzz.samples import HOSTILE_WORDS, ODD_VALUES, Sample, make_sample, pick


def _audited(sample: Sample, **how: Any) -> Any:
    report = audit(sample.labels, sample.decisions, sensitive_features=sample.attributes,
                   budget=0.3, min_group_size=1, **how)  # fmt: skip
    report.to_json()
    return report


def _figures(report: Any) -> list[Any]:
    return [float(report.unfairness), float(report.upper_bound)]


ODD_PAIRS = (
    (0, 1), (1, -1), (0.0, float("nan")), (float("inf"), 1), (1e308, -1e308), (1e200, 0),
    (1e-320, 0), ("a", "b"), (None, None), (1j, 0), (0, 1, 2), (1,), (), "ab", [0, 1],
    np.array([0, 1]), np.array([[0, 1]]), (True, False), (2**70, 0), ([1], [2]), {0: 1, 1: 2}, 3,
    None, (np.float32(0.5), np.int8(1)), ("1", "0"), (0, 0),
)  # fmt: skip


def notion_case(rng: np.random.Generator) -> Case:
    """Define a notion of odd parts, and audit by it."""
    how: dict[str, Any] = {"name": "mine", "event": (True, True), "a": (0, 1), "b": (1, -1)}
    for field in dict.fromkeys(pick(rng, how) for _ in range(2)):
        how[field] = pick(rng, ODD_PAIRS if field != "name" else (*ODD_VALUES, *HOSTILE_WORDS))
    sample = make_sample(rng, tame=True)
    never = [field for field in ("a", "b") if _is_no_pair_of_numbers(how[field])]
    return Case(
        "FairnessNotion", repr(how), lambda: _audited(sample, notion=FairnessNotion(**how)),
        ("name", "event", "a", "b", "notion", "FairnessNotion"),
        expect="error" if never else "either", figures=_figures,
    )  # fmt: skip


ODD_BINS = (
    [0.5, 0.2], [], [float("nan")], [0.5, "x"], np.array([[0.1]]), [1e308, float("inf")],
    (0.5, 0.5), [Fraction(1, 2)], [True], list(range(200)), (-1e-320, 1e-320), [-3, 3], "10", b"5",
)  # fmt: skip


def score_notion_case(rng: np.random.Generator) -> Case:
    """Define a notion of scores with odd parts, and audit by it."""
    how: dict[str, Any] = {"bins": 3, "score": None, "target": None, "unit": ""}
    for field in dict.fromkeys(pick(rng, how) for _ in range(2)):
        odd = (*ODD_VALUES, *HOSTILE_WORDS, *(ODD_BINS if field == "bins" else ()))
        how[field] = pick(rng, odd)
    sample = make_sample(rng, tame=True)

    def audited() -> Any:
        report = audit(
            sample.labels, sample.probabilities, sensitive_features=sample.attributes,
            budget=0.3, min_group_size=1, notion=Multicalibration(**how),
        )  # fmt: skip
        report.to_json()
        return report

    return Case(
        "Multicalibration", repr(how), audited,
        ("bins", "score", "target", "unit", "notion", "y_pred", "y_true", "sensitive_features"),
        figures=_figures,
    )  # fmt: skip


def _is_no_pair_of_numbers(pair: Any) -> bool:
    try:
        numbers = [float(value) for value in pair if not isinstance(value, str | complex)]
    except (TypeError, ValueError, OverflowError):
        return True
    return len(numbers) != 2 or not np.isfinite(numbers).all()


def class_case(rng: np.random.Generator) -> Case:
    """Make a class of subgroups with an odd parameter, and audit over it."""
    odd = pick(rng, ODD_VALUES)
    kind, name = pick(rng, (
        (Conjunctions, "max_depth"), (Conjunctions, "numeric"), (Conjunctions, "bins"),
        (ValueSets, "max_depth"), (ValueSets, "bins"), (Trees, "max_depth"), (Trees, "bins"),
        (LinearThresholds, "search"), (LinearThresholds, "intercept"),
        (LinearThresholds, "restarts"), (LinearThresholds, "random_state"),
    ))  # fmt: skip
    if (kind, name) == (LinearThresholds, "restarts") and isinstance(odd, int) and odd > 100:
        odd = -odd  # so many searches would be made
    sample = make_sample(rng, tame=True)
    return Case(
        kind.__name__, f"{name}={odd!r}",
        lambda: _audited(sample, subgroups=kind(**{name: odd})), (name, "subgroups"),
        figures=_figures,
    )  # fmt: skip


def groups_case(rng: np.random.Generator) -> Case:
    """Name groups by odd conditions, and audit them."""
    sample = make_sample(rng, tame=True)
    column = pick(rng, (*sample.attributes, *sample.attributes, "no such", 3))
    values = sample.attributes.get(column, [0])
    nan = float("nan")
    condition = pick(rng, (
        values[0], [values[0]], values[0], (nan, nan), (nan, 1), (0, nan), (1, 0), (0, 1),
        (0, 1, 2), (None, 1), (None, None), ("a", "b"), (-np.inf, np.inf), [], (), [[1]], {},
        {"a": 1}, nan, None, [None], [nan], np.array([0]), np.array([]), (2**70, 2**71),
        *ODD_VALUES,
    ))  # fmt: skip
    groups = pick(rng, (
        {"mine": {column: condition}}, {"mine": {column: condition}}, {"mine": {}}, {},
        {pick(rng, ODD_VALUES[:40]): {column: condition}}, {"mine": condition}, condition,
        [("mine", {column: condition})],
    ))  # fmt: skip
    return Case(
        "ExplicitGroups", repr(groups)[:200],
        lambda: _audited(sample, subgroups=ExplicitGroups(groups)),
        ("groups", "group", "subgroups", "ExplicitGroups", "sensitive_features"), figures=_figures,
    )  # fmt: skip


def marginals_case(rng: np.random.Generator) -> Case:
    """Pass what is no class, or the class in place of an instance."""
    sample = make_sample(rng, tame=True)
    odd = pick(rng, (Marginals, Trees, Trees(), *ODD_VALUES, *HOSTILE_WORDS))
    return Case("subgroups", repr(odd)[:100], lambda: _audited(sample, subgroups=odd),
                ("subgroups",), figures=_figures)  # fmt: skip


# Numbers of rows that would be made, if there were memory for them.
_TOO_MANY = (2**31, 1e17, 2**53 + 1)


def data_case(rng: np.random.Generator) -> Case:
    """Make data with an odd parameter."""
    make, own = pick(rng, (
        (make_gerrymandered, {"n_samples": 20, "shift": 1.0, "noise": 0.0}),
        (make_intersectional, {"n_samples": 20, "cardinalities": (2, 3), "n_numeric": 1,
                               "n_features": 3, "shift": 2.0}),
        (make_benchmark, {"n_samples": 20, "cardinalities": (2,), "numeric": (5,), "rate": 0.3,
                          "shift": 0.1}),
    ))  # fmt: skip
    own = own | {"random_state": 0}
    name = pick(rng, own)
    odd = pick(rng, [one for one in ODD_VALUES if not isinstance(one, int | float)
                     or one not in _TOO_MANY])  # fmt: skip
    if name in ("cardinalities", "numeric") and rng.random() < 0.7:
        odd = pick(rng, ([odd], (2, odd)))
    how = own | {name: odd}

    def figures(data: Bunch) -> list[Any]:
        numeric = [np.asarray(data[key], float) for key in ("data", "score") if key in data]
        return [float(np.abs(values).max()) for values in numeric if values.size]

    return Case(make.__name__, f"{name}={odd!r}", lambda: make(**how), own, figures=figures)
