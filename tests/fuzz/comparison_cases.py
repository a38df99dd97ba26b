"""Cases of what rows are compared with: their strata, a reference of one's own, and of numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from sklearn.linear_model import LinearRegression

from gerrymend import (
    DiscriminationSurface,
    GroupMean,
    Multicalibration,
    SubgroupParityClassifier,
    audit,
    audit_counts,
    discrimination_surface,
    pareto_frontier,
    prove,
)
from gerrymend.notions import OUTCOME_NAMES
from tests.fuzz.disguises import ALL, SAME, disguise_of
from tests.fuzz.model_cases import FIT, array_of, fitted
from tests.fuzz.oracle import Case
from tests.fuzz.row_cases import (
    AUDIT,
    Rows,
    _case,
    _report_figures,
    _settings,
    _shown,
    draw_rows,
    draw_settings,
)
from tests.fuzz.samples import CLASSES, NOTIONS, ODD_VALUES, Sample, make_sample, pick

COMPARED = (*AUDIT, "control_features", "leave_out_empty_strata", "reference", "factor", "group",
            "total", "squares", "favourable", "side", "confidence", "how", "mixture")  # fmt: skip


def make_control(rng: np.random.Generator, n: int) -> dict[str, list[Any]]:
    """Make control features of two strata, which few rows are too few for, or of too many."""
    values = pick(rng, (["cook", "nurse"], [1, 2], [True, False], [0.5, 1.5], list(range(20))))
    return {"job": [pick(rng, values) for _ in range(n)]}


def _as_given(case: Case) -> Case:
    case.names = COMPARED
    return case


def strata_case(rng: np.random.Generator) -> Case:
    """Audit, prove or measure within strata, whose column may be in a disguise or odd."""
    sample = make_sample(rng)
    rows, decided = draw_rows(rng, sample)
    # Too many strata, or one without a row of the event, are refused.
    rows.expect = "either" if rows.expect == "result" else rows.expect
    control = make_control(rng, len(sample))
    rows.given["control_features"] = dict(control)
    rows.plain["control_features"] = dict(control)
    if rng.random() < 0.5:
        one = disguise_of(rng, control["job"], "attribute", pick(rng, (SAME, ALL)))
        if one is not None:
            rows.disguise("control_features", one, "attribute", "job")
    elif rng.random() < 0.3:
        odd_control = pick(rng, (*ODD_VALUES, "job", ["job"], np.zeros((len(sample), 0))))
        rows.given["control_features"] = rows.plain["control_features"] = odd_control
        rows.told.append(f"control_features={odd_control!r}"[:80])
    entry = pick(rng, (audit, audit, prove, discrimination_surface))
    how = _settings(rng) | {"min_group_size": pick(rng, (1, 2, 5)),
                            "leave_out_empty_strata": pick(rng, (False, True))}  # fmt: skip
    if entry is prove:
        how |= {"at_most": pick(rng, (0, 0.01, 0.1, 1))}
    elif entry is discrimination_surface:
        how = {name: how[name] for name in ("min_group_size", "leave_out_empty_strata")}
        how |= {"notion": pick(rng, NOTIONS), "thetas": [-1, 0, 1], "attributes": None}
    else:
        how |= {"n_permutations": pick(rng, (0, 0, 19)), "test_size": pick(rng, (None, None, 0.3))}
        how |= {"top": 2, "confidence": None, "random_state": 0}
    how, odd = draw_settings(rng, how | decided)
    return _as_given(_case(entry, rows, how, odd, _FINISH[entry], _FIGURES[entry]))


def make_reference(rng: np.random.Generator, sample: Sample) -> Any:
    """Make a reference: a number, a group that there is or is not, or an odd one."""
    name = pick(rng, sample.attributes)
    value = pick(rng, sample.attributes[name])
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = pick(rng, ((None, value), (value, None), (value, value)))
    factor = pick(rng, (1, 0.8, 0.8, np.float32(2)))
    return pick(rng, (0.5, 0, 1.0, -3, 1e99, GroupMean({name: value}, factor),
                      GroupMean({name: value}, factor)))  # fmt: skip


def reference_case(rng: np.random.Generator) -> Case:
    """Audit or prove decisions against a reference of one's own."""
    sample = make_sample(rng)
    rows, decided = draw_rows(rng, sample)
    rows.expect = "either" if rows.expect == "result" else rows.expect
    entry = pick(rng, (audit, audit, prove))
    how = _settings(rng) | {
        "reference": make_reference(rng, sample), "min_group_size": pick(rng, (1, 2, 5)),
        "favourable": pick(rng, (None, "positive")), "side": "both",
    }  # fmt: skip
    if entry is prove:
        how |= {"at_most": pick(rng, (0, 0.01, 0.1, 1))}
    else:
        how |= {"n_permutations": pick(rng, (0, 19)), "top": 2, "test_size": None}
        how |= {"confidence": pick(rng, (None, None, 0.5)), "n_resamples": 5}
    how, odd = draw_settings(rng, how | decided)
    return _as_given(_case(entry, rows, how, odd, _FINISH[entry], _FIGURES[entry]))


def group_mean_case(rng: np.random.Generator) -> Case:
    """Make a GroupMean of odd parts, and audit against what comes of it."""
    group = pick(rng, ({"a": "u"}, {"a": ["u", "v"]}, {"a": ()}, {}, {"b": 1}, {1: "u"},
                       {"a": pick(rng, ODD_VALUES)}))  # fmt: skip
    how = {"group": group, "factor": 0.8}
    name = pick(rng, how)
    if name == "factor" or rng.random() < 0.3:
        how[name] = pick(rng, (*ODD_VALUES, 0.5, 2))

    def call() -> Any:
        return _shown(audit(
            None, [0, 1, 1, 0] * 10, sensitive_features={"a": ["u", "v"] * 20},
            notion="statistical_parity", reference=GroupMean(**how), subgroups="marginals",
        ))  # fmt: skip

    return Case("GroupMean", f"{name}={how[name]!r}", call, COMPARED)


def number_case(rng: np.random.Generator) -> Case:
    """Audit or prove means of numbers: rows in disguises, against anything, or within strata."""
    sample = make_sample(rng)
    n = len(sample)
    plain: dict[str, Any] = {
        "y_true": (rng.integers(-20, 20, n) / 4).tolist(),
        "y_pred": rng.integers(-8, 30, n).tolist(),
        "sensitive_features": sample.attributes,
    }
    rows = Rows(dict(plain), dict(plain), [], "either" if n < 20 else "result")
    for _ in range(int(rng.integers(0, 3))):
        argument = pick(rng, ("y_true", "y_pred"))
        values = rows.plain[argument]
        one = disguise_of(rng, values, "number", pick(rng, (SAME, ALL)))
        if one is not None:
            rows.disguise(argument, one, "number")
    entry = pick(rng, (audit, audit, prove))
    how = _settings(rng) | {"notion": pick(rng, OUTCOME_NAMES), "min_group_size": 2}
    match pick(rng, ("overall", "reference", "strata")):
        case "reference":
            how["reference"] = make_reference(rng, sample)
            rows.expect = "either" if rows.expect == "result" else rows.expect
        case "strata":
            how["control_features"] = make_control(rng, n)
            rows.expect = "either" if rows.expect == "result" else rows.expect
    how |= {"at_most": 0.5} if entry is prove else {"gamma": 0.5, "n_permutations": 0}
    how, odd = draw_settings(rng, how)
    return _as_given(_case(entry, rows, how, odd, _FINISH[entry], _FIGURES[entry]))


def score_case(rng: np.random.Generator) -> Case:
    """Audit or prove scores: of labels or numbers, in disguises, at all scores or in intervals."""
    sample = make_sample(rng)
    n = len(sample)
    numbers = bool(rng.random() < 0.4)
    plain: dict[str, Any] = {
        "y_true": (rng.integers(-20, 20, n) / 4).tolist() if numbers else sample.labels,
        "y_pred": (rng.integers(0, 9, n) / 8).tolist(),
        "sensitive_features": sample.attributes,
    }
    # So few rows may have one score, one label, or numbers of two values.
    rows = Rows(dict(plain), dict(plain), [], "either")
    for _ in range(int(rng.integers(0, 3))):
        values = rows.plain["y_pred"]
        one = disguise_of(rng, values, "number", pick(rng, (SAME, ALL)))
        if one is not None:
            rows.disguise("y_pred", one, "number")
    rows.expect = "either" if rows.expect == "result" else rows.expect
    entry = pick(rng, (audit, audit, prove))
    cut = pick(rng, (2, 3, 10, [0.5], (0.25, 0.75), np.array([0.1, 0.9])))
    notions = ("multiaccuracy", "multicalibration", Multicalibration(cut))
    how = _settings(rng) | {"notion": pick(rng, notions), "min_group_size": 2}
    how |= {"at_most": 0.5} if entry is prove else {"gamma": 0.5, "n_permutations": 0}
    how, odd = draw_settings(rng, how)
    return _as_given(_case(entry, rows, how, odd, _FINISH[entry], _FIGURES[entry]))


def summed_case(rng: np.random.Generator) -> Case:
    """Audit a table of counts, with sums of numbers, against a reference or within strata."""
    sample = make_sample(rng)
    n = len(sample)
    counts = rng.integers(1, 9, n)
    total = rng.integers(-3, 4, n) * counts
    table: dict[str, Any] = dict(sample.attributes) | make_control(rng, n)
    table |= {"prediction": sample.decisions, "count": counts.tolist()}
    table |= {"total": total.tolist(), "squares": (total**2 // counts + 5).tolist()}
    how: dict[str, Any] = {
        "sensitive_features": list(sample.attributes), "label": None, "min_group_size": 2,
        "count": "count", "subgroups": pick(rng, CLASSES[1:]), "gamma": 0.1,
        "notion": "statistical_parity",
    }  # fmt: skip
    if rng.random() < 0.6:
        how |= {"notion": "mean_outcome", "total": "total", "squares": "squares"}
    match pick(rng, ("overall", "reference", "strata")):
        case "reference":
            how["reference"] = make_reference(rng, sample)
        case "strata":
            how["control_features"] = ["job"]
    rows = Rows({"table": table}, {"table": table}, [], "either")
    if rng.random() < 0.5:
        used = [name for name in ("count", "total", "squares") if name in map(str, how.values())]
        column = pick(rng, used)
        one = disguise_of(rng, table[column], "number", ALL)
        if one is not None:
            rows.disguise("table", one, "number", column)
    how, odd = draw_settings(rng, how)
    return _as_given(_case(audit_counts, rows, how, odd, _shown, _report_figures))


def lazy_case(rng: np.random.Generator) -> Case:
    """Audit a query of polars within strata, against a reference, or of numbers."""
    sample = make_sample(rng)
    n = len(sample)
    columns: dict[str, Any] = dict(sample.attributes)
    control = make_control(rng, n)
    columns |= {"y true": sample.labels, "decided": sample.decisions, "strata": control["job"]}
    columns |= {"days": rng.integers(0, 60, n).tolist()}
    how = _settings(rng) | {"min_group_size": 2}
    names: dict[str, Any] = {"y_true": "y true", "y_pred": "decided"}
    if rng.random() < 0.5:
        how["notion"] = "mean_outcome"
        names = {"y_true": None, "y_pred": "days"}
    plain = {"y_true": names["y_true"] and sample.labels, "y_pred": columns[names["y_pred"]],
             "sensitive_features": sample.attributes}  # fmt: skip
    if rng.random() < 0.5:
        names["control_features"] = ["strata"]
        plain["control_features"] = {"strata": control["job"]}
    else:
        how["reference"] = make_reference(rng, sample)
    names |= {"sensitive_features": list(sample.attributes)}
    rows = Rows(names | {"data": "lazy"}, plain, ["a query"], "either")
    how, odd = draw_settings(rng, how)

    def call(given: dict[str, Any]) -> Any:
        data = {"data": pl.LazyFrame(columns)} if "data" in given else {}
        return _shown(audit(**given | data, **how))

    comparable = not odd and how["subgroups"] != "linear"
    return Case(
        "audit of a query", f"{rows.told}; {how!r}"[:400], lambda: call(rows.given), COMPARED,
        plain=(lambda: call(plain)) if comparable else None,
        figures=_report_figures if comparable else None,
    )  # fmt: skip


def strata_fit_case(rng: np.random.Generator) -> Case:
    """Fit, trace, watch or derandomize within strata, whose column may be odd."""
    model, known = fitted()
    what = pick(rng, ("fit", "fit", "fit_path", "frontier", "surface", "derandomize"))
    sample = known if what == "derandomize" else make_sample(rng, tame=True)
    X = array_of(sample)
    control: Any = make_control(rng, len(sample))
    if rng.random() < 0.5:
        one = disguise_of(rng, control["job"], "attribute", ALL)
        control = control if one is None else {"job": one.make(control["job"])}
    elif rng.random() < 0.4:
        control = pick(rng, (*ODD_VALUES, "job", ["a"], X[:, 0], X[:2]))
    clf = SubgroupParityClassifier(
        LinearRegression(), notion=pick(rng, NOTIONS), subgroups=pick(rng, CLASSES), max_iter=2,
        random_state=0, leave_out_empty_strata=pick(rng, (False, True, True, None, 1)),
    )  # fmt: skip
    common = {"sensitive_features": sample.attributes, "control_features": control}

    def call() -> Any:
        if what == "derandomize":
            return model.mixture_.derandomize(
                X, sample.labels, gamma=0.3, budget=0.2, notion=clf.notion,
                subgroups=clf.subgroups, leave_out_empty_strata=clf.leave_out_empty_strata,
                **common,
            )  # fmt: skip
        if what == "frontier":
            return str(pareto_frontier(clf, X, sample.labels, gammas=[0.1], audit_budget=0.2,
                                       test_size=pick(rng, (None, 0.4)), **common))  # fmt: skip
        if what == "surface":
            common["sensitive_features"] = {"a": X[:, 0], "b": X[:, 1]}
            return str(DiscriminationSurface.from_training(
                clf, X, sample.labels, thetas=[-1, 0, 1], min_group_size=2, **common))  # fmt: skip
        more = {"gammas": [0.1]} if what == "fit_path" else {}
        return getattr(clf, what)(X, sample.labels, **common, **more)

    names = (*COMPARED, *FIT, "gammas", "classifier")
    return Case(f"{what} within strata", f"{clf!r}, {control!r}"[:400], call, names)


def _proof(proof: Any) -> Any:
    str(proof)
    return proof


_FINISH: dict[Callable[..., Any], Callable[[Any], Any]] = {
    audit: _shown,
    prove: _proof,
    discrimination_surface: _shown,
}
_FIGURES: dict[Callable[..., Any], Callable[[Any], Any]] = {
    audit: _report_figures,
    prove: lambda proof: [proof.status],
    discrimination_surface: lambda surface: [
        surface.n_rows,
        np.nan_to_num(surface.rounds[0].unfairness, nan=-9.0).tolist(),
    ],
}
