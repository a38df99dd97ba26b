"""Cases of what results are asked for, of files that are read again, and of labels to learn."""

import functools
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from gerrymend import (
    AuditDisplay,
    ConvergenceDisplay,
    FrontierDisplay,
    SubgroupCalibrationDisplay,
    SubgroupCalibrator,
    SubgroupParityClassifier,
    SurfaceDisplay,
    TrajectoryDisplay,
    Watch,
    audit,
    compare,
    discrimination_surface,
    impact_ratios,
    less_discriminatory_alternatives,
    pareto_frontier,
)
from tests.fuzz.disguises import ALL, disguise_of
from tests.fuzz.model_cases import array_of
from tests.fuzz.oracle import Case
from tests.fuzz.samples import HOSTILE_WORDS, ODD_VALUES, make_sample, pick


@functools.cache
def _results() -> dict[str, Any]:
    """Return a small result of each kind, and the rows that they are of."""
    with warnings.catch_warnings():  # of few rounds, on few rows
        warnings.simplefilter("ignore")
        return _made()


def _made() -> dict[str, Any]:
    sample = make_sample(np.random.default_rng(3), tame=True)
    A = {"age": [i % 7 for i in range(len(sample))], "pay": [i % 5 for i in range(len(sample))],
         "sex": ["FM"[i % 2] for i in range(len(sample))]}  # fmt: skip
    rows = {"y_true": sample.labels, "y_pred": sample.decisions, "sensitive_features": A}
    X = array_of(sample)
    model = SubgroupParityClassifier(LinearRegression(), max_iter=2, subgroups="marginals")
    frontier = pareto_frontier(model, X, sample.labels, sensitive_features=A, gammas=[0.1, 0.2],
                               audit_budget=1.0)  # fmt: skip
    watch = Watch(subgroups="conjunctions", min_group_size=1)
    watch.update(**rows, at=1)
    return {
        "rows": rows,
        "scores": sample.probabilities,
        "X": X,
        "report": audit(**rows, subgroups="conjunctions", min_group_size=1, confidence=0.9,
                        n_resamples=20),
        "tables": impact_ratios(sample.decisions, sensitive_features=A, search=False),
        "frontier": frontier,
        "others": less_discriminatory_alternatives(frontier, X, sensitive_features=A,
                                                   reference="highest"),
        "surface": discrimination_surface(**rows, attributes=("age", "pay"), thetas=[-1, 1],
                                          min_group_size=1),
        "curve": audit(sample.labels, sample.probabilities, sensitive_features=A, min_group_size=1,
                       notion="multicalibration", subgroups="conjunctions"),
        "model": model.fit(X, sample.labels, sensitive_features=A),
        "watch": watch,
    }  # fmt: skip


def _drawn(make: Callable[..., Any], **how: Any) -> str:
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    try:
        return repr(make(**how))
    finally:
        plt.close("all")


# What is asked, by the result that is asked, with the argument that is odd.
_HISTORY = {"rounds": [1, 2], "error": [0.1, 0.2], "unfairness": [0.2, 0.1], "gamma": 0.1}
_ASKED: tuple[tuple[str, str, Callable[[dict[str, Any], Any], Any]], ...] = (
    *((name, "backend", lambda of, odd, name=name: of[name].to_frame(odd))
      for name in ("report", "tables", "frontier", "others")),
    *((name, "path", lambda of, odd, name=name: of[name].write_html(odd))
      for name in ("report", "tables", "frontier", "others", "surface")),
    ("tables", "path", lambda of, odd: of["tables"].write_csv(odd)),
    ("tables", "path", lambda of, odd: of["tables"].write_xlsx(odd)),
    ("tables", "part", lambda of, odd: of["tables"].below(odd)),
    *((name, "date", lambda of, odd, name=name: of[name].to_html(date=odd))
      for name in ("report", "tables")),
    ("report", "gamma", lambda of, odd: of["report"].rows_needed(odd)),
    ("report", "power", lambda of, odd: of["report"].rows_needed(power=odd)),
    ("surface", "number", lambda of, odd: of["surface"].rate(odd)),
    ("surface", "number", lambda of, odd: of["surface"].worst(odd)),
    ("surface", "number", lambda of, odd: _drawn(
        SurfaceDisplay.from_surface, surface=of["surface"], number=odd)),
    ("frontier", "gamma", lambda of, odd: of["frontier"].model(odd)),
    ("frontier", "notion", lambda of, odd: of["frontier"].model(0.1, notion=odd)),
    ("frontier", "notion", lambda of, odd: _drawn(
        FrontierDisplay.from_report, frontier=of["frontier"], notion=odd)),
    ("report", "ax", lambda of, odd: _drawn(AuditDisplay.from_report, report=of["report"], ax=odd)),
    ("report", "report", lambda of, odd: _drawn(AuditDisplay.from_report, report=odd)),
    ("curve", "report", lambda of, odd: _drawn(SubgroupCalibrationDisplay.from_report, report=odd)),
    ("model", "estimator", lambda of, odd: _drawn(ConvergenceDisplay.from_estimator,
                                                  estimator=odd)),
    *(("history", name, lambda of, odd, name=name: _drawn(
        TrajectoryDisplay, **{**_HISTORY, name: odd})) for name in _HISTORY),
    ("history", "gap", lambda of, odd: _drawn(ConvergenceDisplay, **_HISTORY, gap=odd)),
    ("watch", "at", lambda of, odd: _saved(of, at=odd)),
    ("watch", "pos_label", lambda of, odd: _saved(of, pos_label=odd)),
    ("watch", "threshold", lambda of, odd: _saved(of, threshold=odd)),
    *(("old", name, lambda of, odd, name=name: str(compare(
        of["report"], **of["rows"], budget=1.0, n_permutations=0, **{name: odd})))
      for name in ("gamma", "side", "favourable", "min_group_size")),
)  # fmt: skip


def _saved(of: dict[str, Any], at: Any = None, **how: Any) -> Watch:
    """Return a watch that took in a batch, and was saved and loaded."""
    watch = Watch(subgroups="marginals", min_group_size=1, **how)
    watch.update(**of["rows"], at=at)
    with tempfile.TemporaryDirectory() as folder:
        return Watch.load(watch.save(Path(folder) / "watch.json"))


def output_case(rng: np.random.Generator) -> Case:
    """Ask a result with an odd argument."""
    result, argument, ask = pick(rng, _ASKED)
    # A text is a path: what is written there is not of a test.
    texts = () if argument == "path" else HOSTILE_WORDS
    odd = pick(rng, [one for one in (*ODD_VALUES, *texts)
                     if not (argument == "path" and isinstance(one, str))])  # fmt: skip
    names = (argument, "error", "rounds", "y_true", "y_pred")
    return Case(
        f"{result}, asked", f"{argument}={odd!r}"[:200], lambda: ask(_results(), odd), names
    )


def changed(rng: np.random.Generator, plain: Any) -> tuple[Any, str]:
    """Return plain data of which one part is another, and where that is."""
    whole: Any = json.loads(json.dumps(plain))
    part = whole
    told = []
    while True:
        key = pick(rng, part if isinstance(part, dict) else range(len(part)))
        told.append(str(key))
        if rng.random() < 0.3 or not isinstance(part[key], dict | list) or not part[key]:
            break
        part = part[key]
    if rng.random() < 0.2 and isinstance(part, dict):
        del part[key]
        return whole, f"{'.'.join(told)} gone"
    part[key] = pick(rng, (None, True, -1, 3, 0.5, 1e308, 10**400, "", "x", "\ud800", [], [[]],
                           [None], {}, {"a": 1}, float("nan")))  # fmt: skip
    return whole, f"{'.'.join(told)} = {part[key]!r}"[:100]


def report_file_case(rng: np.random.Generator) -> Case:
    """Compare with a report that was changed, or watch its groups."""
    of = _results()
    plain, told = changed(rng, of["report"].to_dict())
    if rng.random() < 0.5:
        # What is wrong with a setting of it may be told as that, or as the rows' own.
        names = ("old", "gamma", "bins", "max_depth", "favourable", "side", "min_group_size",
                 "notion", "subgroups", "y_true", "sensitive_features", "control_features",
                 "numeric")  # fmt: skip
        return Case("compare", told, lambda: str(
            compare(plain, **of["rows"], budget=1.0, n_permutations=0)), names)  # fmt: skip

    def watched() -> Any:
        watch = Watch(groups=plain, subgroups="marginals", min_group_size=1)
        watch.update(**of["rows"], at=1)
        return str(watch.watched)

    return Case("Watch.groups", told, watched, ("groups", "sensitive_features"))


def watch_file_case(rng: np.random.Generator) -> Case:
    """Load a watch whose file was changed, which is always told."""
    with tempfile.TemporaryDirectory() as folder:
        watch = _results()["watch"]
        watch._written = None
        plain = json.loads(watch.save(Path(folder) / "watch.json").read_text())
    other, told = changed(rng, plain)

    def call() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "watch.json"
            path.write_text(json.dumps(other))
            return Watch.load(path)

    is_other = json.dumps(other) != json.dumps(plain)
    return Case("Watch.load", told, call, ("path",), expect="error" if is_other else "either")


def learnt_case(rng: np.random.Generator) -> Case:
    """Learn by fit_path, a calibrator or a frontier from labels in a disguise."""
    of = _results()
    rows = of["rows"]
    labels = rows["y_true"]
    A = rows["sensitive_features"]
    one = disguise_of(rng, labels, "label", ALL)
    assert one is not None
    entry = pick(rng, ("fit_path", "SubgroupCalibrator", "today", "lda"))

    def call(given: Any) -> list[Any]:
        if entry == "fit_path":
            model = SubgroupParityClassifier(LinearRegression(), max_iter=2, subgroups="marginals",
                                             random_state=0, tol=None)  # fmt: skip
            path = model.fit_path(of["X"], given, sensitive_features=A, gammas=[0.05, 0.5])
            return [one.predict_proba(of["X"])[:, 1].tolist() for one in path]
        if entry == "SubgroupCalibrator":
            made = SubgroupCalibrator(LogisticRegression(), cv=2, n_draws=19, level=1,
                                      max_patches=1, subgroups="marginals", min_group_size=1,
                                      random_state=0, budget=1.0)  # fmt: skip
            made.fit(of["X"], given, sensitive_features=A)
            return made.predict_proba(of["X"], sensitive_features=A)[:, 1].tolist()
        if entry == "lda":
            found = less_discriminatory_alternatives(
                of["frontier"], of["X"], sensitive_features=A, reference="highest", today=given
            )
            return [list(model["rates"].values()) for model in found.models]
        model = SubgroupParityClassifier(LinearRegression(), max_iter=2, subgroups="marginals",
                                         random_state=0)  # fmt: skip
        found = pareto_frontier(model, of["X"], labels, sensitive_features=A, gammas=[0.1],
                                audit_budget=1.0, today=given)  # fmt: skip
        return [reference.train.error for reference in found.references]

    expect = one.expected("label")
    if one.name == "nothing" and entry in ("today", "lda"):  # there need be no such model
        expect = "either"
    # Labels that were moved are none of the model's.
    comparable = expect == "result"
    return Case(
        entry, f"labels as {one.name}", lambda: call(one.make(labels)),
        ("y", "today", "pos_label", "X", "cv", "y_true", "frontier"),
        expect=expect if expect in ("result", "error") else "either",
        plain=(lambda: call(labels)) if comparable else None,
        figures=list if comparable else None,
    )  # fmt: skip
