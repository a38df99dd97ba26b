"""Cases of what trains, decides, is made deterministic, traced out, saved and loaded."""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from gerrymend import (
    DiscriminationSurface,
    ExponentiatedGradient,
    FictitiousPlay,
    MarginalParityClassifier,
    MixtureClassifier,
    NoRegret,
    SubgroupParityClassifier,
    load_model,
    pareto_frontier,
    save_model,
    unfairness_scorer,
)
from gerrymend.models.mixture import Mixture
from tests.fuzz.disguises import ALL, MISSING, disguise_of
from tests.fuzz.oracle import Case
from tests.fuzz.samples import CLASSES, NOTIONS, ODD_VALUES, Sample, make_sample, pick

FIT = ("X", "y", "sensitive_features", "sample_weight", "estimator", "notion", "gamma", "subgroups",
       "solver", "C", "max_iter", "tol", "certify", "budget", "warm_start", "random_state",
       "verbose", "checkpoint", "checkpoint_every", "order", "divisor", "side", "n_samples",
       "perturbation")  # fmt: skip
SOLVERS = ("exponentiated_gradient", "fictitious_play", "no_regret", "multiplicative_weights")

# How X is passed: what must come of it, beside the same rows as an array of float64.
FEATURES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "list": ("result", lambda X: X.tolist()),
    "tuples": ("result", lambda X: tuple(map(tuple, X.tolist()))),
    "Fortran": ("result", np.asfortranarray),
    "strided": ("result", lambda X: np.repeat(X, 2, axis=0)[::2]),
    "read-only": ("result", lambda X: _locked(X)),
    "objects": ("result", lambda X: X.astype(object)),
    "float32": ("result", lambda X: X.astype(np.float32)),
    "pandas": ("frame", lambda X: pd.DataFrame(X, columns=["a", "b", "c"])),
    "pandas, index twice": ("frame", lambda X: pd.DataFrame(
        X, columns=["a", "b", "c"], index=np.arange(len(X)) % 2)),
    "nullable": ("frame", lambda X: pd.DataFrame(X, columns=["a", "b", "c"]).astype("Float64")),
    "polars": ("frame", lambda X: pl.DataFrame(X, schema=["a", "b", "c"])),
    "arrow": ("frame", lambda X: pa.table({name: X[:, j] for j, name in enumerate("abc")})),
    "numbers for names": ("loose", pd.DataFrame),
    "mixed names": ("loose", lambda X: pd.DataFrame(X, columns=["a", 1, None])),
    "names twice": ("loose", lambda X: pd.DataFrame(X, columns=["a", "a", "b"])),
    "MultiIndex": ("loose", lambda X: pd.DataFrame(
        X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))),
    "sparse": ("loose", sparse.csr_matrix),
    "integers beyond 2^53": ("loose", lambda X: (X * 8).astype(np.int64) + 2**53),
    "int8": ("loose", lambda X: (X * 2).astype(np.int8)),
    "booleans": ("loose", lambda X: X > 0),
    "text of numbers": ("loose", lambda X: X.astype(str)),
    "huge": ("loose", lambda X: X * 1e300),
    "tiny": ("loose", lambda X: X * 1e-300),
    "subnormal": ("loose", lambda X: X * 1e-320),
    "constant": ("loose", lambda X: X * 0),
    "lazy": ("error", lambda X: pl.LazyFrame(X, schema=["a", "b", "c"])),
    "masked": ("error", lambda X: np.ma.masked_array(X, mask=X > 0.5)),
    "complex": ("error", lambda X: X.astype(complex)),
    "datetimes": ("error", lambda X: (X * 8).astype(np.int64).astype("datetime64[s]")),
    "NaN": ("error", lambda X: _with(X, np.nan)),
    "infinite": ("error", lambda X: _with(X, np.inf)),
    "None": ("error", lambda X: _with(X.astype(object), None)),
    "words": ("error", lambda X: _with(X.astype(object), "a")),
    "a list in it": ("error", lambda X: _with(X.astype(object), [1])),
    "bytes": ("error", lambda X: X.astype("S") + b"x"),
    "ragged": ("error", lambda X: [[1.0], *X.tolist()[1:]]),
    "structured": ("error", lambda X: np.array(list(map(tuple, X)), dtype="f8,f8,f8")),
    "1-d": ("error", lambda X: X[:, 0]),
    "0-d": ("error", lambda X: np.float64(1)),
    "3-d": ("error", lambda X: X[:, :, None]),
    "no rows": ("error", lambda X: X[:0]),
    "no columns": ("error", lambda X: X[:, :0]),
    "nothing": ("error", lambda X: None),
    "a word": ("error", lambda X: "X"),
    "a mapping": ("error", lambda X: {"a": X[:, 0].tolist()}),
    "a set": ("error", lambda X: {1, 2}),
}  # fmt: skip


def _locked(X: Any) -> Any:
    copy = X.copy()
    copy.flags.writeable = False
    return copy


def _with(X: Any, value: Any) -> Any:
    copy = X.copy()
    copy[0, 0] = value
    return copy


def array_of(sample: Sample) -> Any:
    """The features in eighths, so that narrower floats hold them exactly."""
    return np.round(np.array(sample.features) * 8) / 8


def _decided(model: Any, X: Any) -> list[Any]:
    """What a fitted model says of X, checked to be probabilities and labels."""
    p = np.asarray(model.predict_proba(X))
    assert p.shape == (len(p), 2), p.shape
    assert ((p >= 0) & (p <= 1)).all(), "no probabilities"
    assert set(np.unique(model.predict(X)).tolist()) <= set(model.classes_.tolist())
    return p[:, 1].tolist()


def _estimator(rng: np.random.Generator) -> Any:
    return pick(rng, (None, LinearRegression(), LinearRegression(), GaussianNB(),
                      LogisticRegression(), DecisionTreeClassifier(max_depth=2)))  # fmt: skip


def fit_case(rng: np.random.Generator) -> Case:
    """Fit to rows in disguises, or with an odd parameter, and decide for the same rows."""
    sample = make_sample(rng, tame=rng.random() < 0.7)
    plain: dict[str, Any] = {
        "X": array_of(sample), "y": sample.labels, "sensitive_features": sample.attributes,
        "sample_weight": pick(rng, (None, None, sample.weights)),
    }  # fmt: skip
    how: dict[str, Any] = {
        "estimator": _estimator(rng), "notion": pick(rng, NOTIONS), "gamma": 0.02,
        "subgroups": pick(rng, CLASSES), "solver": pick(rng, SOLVERS[:3]), "C": 10.0,
        "max_iter": 3, "tol": 2e-3, "certify": False, "budget": None, "warm_start": False,
        "random_state": 0, "verbose": 0, "checkpoint": None, "checkpoint_every": 60.0,
    }  # fmt: skip
    kind = pick(rng, (SubgroupParityClassifier,) * 3 + (MarginalParityClassifier,))
    if kind is MarginalParityClassifier:
        how.pop("subgroups")
    given, told, expect = _disguised(rng, plain)
    scaled = told and told[0] in ("X as huge", "X as tiny", "X as subnormal")
    # Others warn of such rows on their own account, and of constant ones the Gaussian.
    if scaled or (told[:1] == ["X as constant"] and isinstance(how["estimator"], GaussianNB)):
        how["estimator"] = LinearRegression()
    if rng.random() < 0.4:
        name = pick(rng, [one for one in how if one not in ("verbose", "checkpoint")])
        how |= {name: pick(rng, ODD_VALUES), "budget": 0.5} if name != "budget" else {
            name: pick(rng, ODD_VALUES)}  # fmt: skip
        told.append(f"{name}={how[name]!r}")
        expect = "either" if expect == "result" else expect
    elif rng.random() < 0.15:
        how["solver"] = _solver(rng)
        expect = "either" if expect == "result" else expect
        told.append(f"solver={how['solver']!r}")

    def call(data: dict[str, Any]) -> Any:
        return _decided(kind(**how).fit(**data), data["X"])

    comparable = expect == "result"
    return Case(
        f"{kind.__name__}.fit", "; ".join([*told, repr(how)]), lambda: call(given), FIT,
        expect=expect if expect == "error" else "either",
        plain=(lambda: call(plain)) if comparable else None,
        figures=list if comparable else None,
    )  # fmt: skip


def _solver(rng: np.random.Generator) -> Any:
    odd = pick(rng, ODD_VALUES)
    return pick(rng, (
        NoRegret(n_samples=odd), NoRegret(perturbation=odd), NoRegret(random_state=odd),
        NoRegret(n_samples=2), FictitiousPlay(order=odd), FictitiousPlay(divisor=odd),
        FictitiousPlay(side=odd), FictitiousPlay(order="appendix"), ExponentiatedGradient(),
    ))  # fmt: skip


def _disguised(
    rng: np.random.Generator, plain: dict[str, Any]
) -> tuple[dict[str, Any], list[str], str]:
    """One of the arguments of a fit in disguise, in words, and what must come of it."""
    given, argument = dict(plain), pick(rng, ("X", "X", "y", "sensitive_features", "none"))
    if plain["sample_weight"] is not None and rng.random() < 0.4:
        argument = "sample_weight"
    if argument == "none":
        return given, [], "either"
    if argument == "X":
        name = pick(rng, FEATURES)
        expect, make = FEATURES[name]
        given["X"] = make(plain["X"])
        return given, [f"X as {name}"], "either" if expect in ("loose", "frame") else expect
    values = plain[argument]
    column = ""
    if argument == "sensitive_features":
        column = pick(rng, values)
        values = values[column]
    role = {"y": "label", "sample_weight": "number"}.get(argument, "attribute")
    one = disguise_of(rng, values, role, ALL)
    if one is None:
        return given, [], "either"
    made = one.make(values)
    given[argument] = {**plain[argument], column: made} if column else made
    expect = one.expected(role)
    if expect == "result":
        expect = "either"
    return given, [f"{argument} as {one.name}"], "either" if expect == "loose" else expect


@functools.cache
def fitted() -> tuple[Any, Sample]:
    """Return one classifier for all cases that need one, and what it was fitted to."""
    sample = make_sample(np.random.default_rng(3), tame=True)
    model = SubgroupParityClassifier(LogisticRegression(), max_iter=4, random_state=0, tol=None)
    model.fit(array_of(sample), sample.labels, sensitive_features=sample.attributes)
    return model, sample


def predict_case(rng: np.random.Generator) -> Case:
    """Decide for rows in disguises, by a classifier or by its mixture."""
    model, sample = fitted()
    chosen = pick(rng, (model, model.mixture_))
    name = pick(rng, FEATURES)
    expect, make = FEATURES[name]
    X = array_of(sample)
    method = pick(rng, ("predict", "predict_proba", "score"))

    def call(data: Any) -> list[Any]:
        if method == "score":
            return [chosen.score(data, sample.labels)]
        return np.asarray(getattr(chosen, method)(data)).tolist()

    return Case(
        f"{type(chosen).__name__}.{method}", f"X as {name}", lambda: call(make(X)),
        ("X", "y", "feature names"), expect=expect if expect in ("error", "result") else "either",
        plain=(lambda: call(X)) if expect == "result" else None,
        figures=list if expect == "result" else None,
    )  # fmt: skip


def score_case(rng: np.random.Generator) -> Case:
    """Score labels and weights in disguises; or draw with an odd seed."""
    model, sample = fitted()
    X, mixture = array_of(sample), model.mixture_
    if rng.random() < 0.3:
        seed = pick(rng, ODD_VALUES)
        return Case("MixtureClassifier.predict", f"random_state={seed!r}",
                    lambda: mixture.predict(X, random_state=seed), ("random_state",))  # fmt: skip
    argument = pick(rng, ("y", "sample_weight"))
    values = sample.labels if argument == "y" else sample.weights
    one = disguise_of(rng, values, "label" if argument == "y" else "number", ALL)
    assert one is not None
    given = {"y": sample.labels, "sample_weight": sample.weights, argument: one.make(values)}
    # Labels that the model does not know are wrong; those that are missing are none.
    role = "number" if argument == "sample_weight" else "label"
    expect = one.expected(role) if role == "number" or one.name in MISSING else "either"
    return Case("MixtureClassifier.score", f"{argument} as {one.name}",
                lambda: mixture.score(X, **given), ("X", "y", "sample_weight"),
                expect=expect if expect == "error" else "either")  # fmt: skip


def derandomize_case(rng: np.random.Generator) -> Case:
    """Make the mixture deterministic, with an odd parameter or rows in a disguise."""
    model, sample = fitted()
    how: dict[str, Any] = {"gamma": 0.2, "notion": pick(rng, NOTIONS), "how": "best",
                           "subgroups": pick(rng, CLASSES), "budget": 0.3}  # fmt: skip
    told = []
    if rng.random() < 0.7:
        name = pick(rng, how)
        how[name] = pick(rng, ODD_VALUES)
        told.append(f"{name}={how[name]!r}")
    rows: dict[str, Any] = {"X": array_of(sample), "y": sample.labels,
                            "sensitive_features": sample.attributes,
                            "sample_weight": sample.weights}  # fmt: skip
    given, disguised, expect = _disguised(rng, rows)
    return Case("derandomize", "; ".join([*told, *disguised, repr(how)]),
                lambda: repr(model.mixture_.derandomize(**given, **how)), (*FIT, "how", "mixture"),
                expect=expect if expect == "error" else "either")  # fmt: skip


def frontier_case(rng: np.random.Generator) -> Case:
    """Trace a frontier of two gammas, with an odd parameter."""
    sample = make_sample(rng, tame=True)
    how: dict[str, Any] = {
        "gammas": [0.0, 0.05], "notions": None, "estimators": None, "test_size": None,
        "X_test": None, "y_test": None, "sensitive_features_test": None,
        "sample_weight_test": None, "marginal": False, "audit_subgroups": "conjunctions",
        "audit_budget": 0.2, "min_group_size": 2, "random_state": 0, "on_point": None,
        "sample_weight": None,
        "estimator": SubgroupParityClassifier(LinearRegression(), max_iter=2),
    }  # fmt: skip
    name = pick(rng, how)
    how[name] = pick(rng, ODD_VALUES)
    estimator = how.pop("estimator")

    def call() -> Any:
        frontier = pareto_frontier(estimator, array_of(sample), sample.labels,
                                   sensitive_features=sample.attributes, **how)  # fmt: skip
        frontier.to_json()
        return str(frontier)

    told = f"{name}={how.get(name, estimator)!r}"
    return Case("pareto_frontier", told, call, (*how, *FIT, "X", "y"))


def training_surface_case(rng: np.random.Generator) -> Case:
    """Watch a training, with an odd parameter."""
    sample = make_sample(rng, tame=True)
    attributes = {"a": [float(i % 5) for i in range(len(sample))],
                  "b": [float(i % 3) for i in range(len(sample))]}  # fmt: skip
    how: dict[str, Any] = {"rounds": None, "attributes": None, "notion": None, "thetas": [-1, 0, 1],
                           "min_group_size": 2, "sample_weight": None}  # fmt: skip
    name = pick(rng, how)
    how[name] = pick(rng, ODD_VALUES)
    classifier = SubgroupParityClassifier(LinearRegression(), max_iter=3)

    def call() -> Any:
        watched = DiscriminationSurface.from_training(
            classifier, array_of(sample), sample.labels, sensitive_features=attributes, **how
        )
        return str(watched)

    return Case("from_training", f"{name}={how[name]!r}", call, (*how, *FIT, "classifier"))


def mixture_case(rng: np.random.Generator) -> Case:
    """Make a MixtureClassifier of odd parts."""
    how: dict[str, Any] = {
        "mixture": Mixture.of_linear(np.array([[1.0], [1.0]]), np.array([0.0, -5.0])),
        "classes": ["no", "yes"], "n_features": 1, "feature_names": None, "seed": 0,
        "training": None,
    }  # fmt: skip
    name = pick(rng, how)
    how[name] = pick(rng, ODD_VALUES)
    return Case("MixtureClassifier", f"{name}={how[name]!r}",
                lambda: repr(MixtureClassifier(**how)), how)  # fmt: skip


def saving_case(rng: np.random.Generator) -> Case:
    """Save to odd paths, load files that are damaged, trust odd types."""
    model, _ = fitted()
    kind = pick(rng, ("path", "model", "load path", "trusted", "damaged", "damaged", "damaged"))
    odd = pick(rng, [one for one in ODD_VALUES if not isinstance(one, str | bytes | int)])
    word = pick(rng, ("", "\x00", "a/b/c.skops", ".", "\ud800", "x" * 300, "né.skops", "[b].skops"))

    def call() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.skops"
            if kind == "path":
                return save_model(model, odd if rng.random() < 0.4 else f"{folder}/{word}")
            if kind == "model":
                return save_model(odd, path)
            if kind == "load path":
                return load_model(odd if rng.random() < 0.4 else f"{folder}/{word}")
            save_model(model, path)
            if kind == "trusted":
                return load_model(path, trusted=pick(rng, (odd, [odd], "x", ["x"], [1], (None,))))
            path.write_bytes(_damaged(rng, path.read_bytes()))
            return load_model(path)

    return Case("saving", f"{kind}, {odd!r}, {word!r}", call, ("path", "model", "trusted"),
                expect="error" if kind == "damaged" else "either")  # fmt: skip


def _damaged(rng: np.random.Generator, content: bytes) -> bytes:
    at = int(rng.integers(len(content)))
    match int(rng.integers(5)):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]
        case 2:
            return content + rng.bytes(10)
        case 3:
            return rng.bytes(200)
    return b""


class Told:
    """An estimator that was fitted, whatever it is asked about."""

    def __init__(self, sample: Sample) -> None:
        self.classes_ = np.unique(np.array(sample.labels))
        self._decisions = np.array(sample.decisions)
        self._p = np.array(sample.probabilities)

    def predict(self, X: Any) -> Any:
        """Return the decisions of the sample."""
        return self._decisions

    def predict_proba(self, X: Any) -> Any:
        """Return its probabilities."""
        return np.column_stack([1 - self._p, self._p])


def scorer_case(rng: np.random.Generator) -> Case:
    """Make a scorer with an odd parameter, and score by it."""
    sample = make_sample(rng, tame=True)
    X = pd.DataFrame({"x": np.arange(len(sample)), **sample.attributes})
    names = ("columns", "notion", "reference", "subgroups", "threshold", "pos_label", "favourable",
             "side", "budget", "random_state")  # fmt: skip
    how = {"columns": [*sample.attributes], "budget": 0.3, "subgroups": "marginals"}
    how[pick(rng, names)] = pick(rng, (*ODD_VALUES, ["x"], ["none"], "sex", X))
    return Case(
        "unfairness_scorer", repr(how),
        lambda: unfairness_scorer(**how)(Told(sample), X, np.array(sample.labels)),
        (*names, "sensitive_features", "y_true", "y_pred"), figures=lambda score: [float(score)],
    )  # fmt: skip
