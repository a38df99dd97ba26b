"""Cases of what takes rows: audit, prove, bootstrap, surfaces, audit_counts."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from gerrymend import audit, audit_counts, bootstrap, discrimination_surface, prove
from tests.fuzz.disguises import ALL, SAME, Disguise, disguise_of
from tests.fuzz.oracle import Case
from tests.fuzz.samples import CLASSES, NOTIONS, ODD_VALUES, Sample, make_sample, pick

# What an error of any of these may name.
ROWS = ("y_true", "y_pred", "sensitive_features", "sample_weight", "notion", "subgroups",
        "threshold", "decision_probabilities", "pos_label", "budget", "min_group_size",
        "data", "gamma")  # fmt: skip
AUDIT = (*ROWS, "n_permutations", "test_size", "holdout", "top", "random_state", "on_draw",
         "features", "n_jobs", "at_most", "n_resamples", "attributes", "thetas", "standardize",
         "table", "label", "prediction", "count")  # fmt: skip


@dataclass
class Rows:
    """The arguments that hold rows, as they are passed and in their plainest form."""

    given: dict[str, Any]
    plain: dict[str, Any]
    told: list[str] = field(default_factory=list)
    expect: str = "result"
    disguised: set[tuple[str, str]] = field(default_factory=set)

    def disguise(self, argument: str, disguise: Disguise, role: str, column: str = "") -> None:
        """Pass an argument, or one column of it, in another form; each but once."""
        if (argument, column) in self.disguised:
            return
        self.disguised.add((argument, column))
        old = self.plain[argument]
        values = old[column] if column else old
        given, plain = disguise.make(values), disguise.meaning(values, role)
        self.given[argument] = {**self.given[argument], column: given} if column else given
        self.plain[argument] = {**old, column: plain} if column else plain
        self.told.append(f"{argument}{f'[{column!r}]' if column else ''} as {disguise.name}")
        self._expect(disguise.expected(role))
        if sum("Index" in told or "index" in told for told in self.told) > 1:
            self._expect("either")  # rows of two indexes may be those of other people

    def _expect(self, wanted: str) -> None:
        order = ("result", "either", "loose", "error")
        if order.index(wanted) > order.index(self.expect):
            self.expect = wanted


def draw_rows(rng: np.random.Generator, sample: Sample) -> tuple[Rows, dict[str, Any]]:
    """Draw rows in some disguises, and what says how y_pred is to be read."""
    how: dict[str, Any] = {}
    y_pred: list[Any] = sample.decisions
    role = "label"
    match pick(rng, ("decisions", "decisions", "score", "probability")):
        case "score":
            how["threshold"] = 0.5
        case "probability":
            how["decision_probabilities"] = True
    if how:
        y_pred, role = sample.probabilities, "score" if "threshold" in how else "number"
    plain: dict[str, Any] = {
        "y_true": sample.labels,
        "y_pred": y_pred,
        "sensitive_features": sample.attributes,
    }
    if rng.random() < 0.3:
        plain["sample_weight"] = sample.weights
    rows = Rows(dict(plain), dict(plain))
    if len(set(sample.labels)) < 2 or len(sample) < 6:
        rows.expect = "either"
    for _ in range(int(rng.integers(0, 3))):
        _disguise_one(rng, rows, role)
    if rng.random() < 0.15 and rows.expect == "result":
        frames = (pd.DataFrame, pl.DataFrame, pa.table)
        make = pick(rng, frames)
        rows.given["sensitive_features"] = make(rows.plain["sensitive_features"])
        rows.told.append(f"attributes as {make.__name__}")
    return rows, how


def _disguise_one(rng: np.random.Generator, rows: Rows, role_of_y_pred: str) -> None:
    argument = pick(rng, [*rows.plain, "sensitive_features", "sensitive_features"])
    chosen = pick(rng, (SAME, ALL))
    if argument == "sensitive_features":
        column = pick(rng, rows.plain[argument])
        one = disguise_of(rng, rows.plain[argument][column], "attribute", chosen)
        if one is not None:
            rows.disguise(argument, one, "attribute", column)
        return
    role = {"y_true": "label", "y_pred": role_of_y_pred}.get(argument, "number")
    if role == "label":  # both at once: decisions have the labels' type
        one = disguise_of(rng, [*rows.plain["y_true"]], role, chosen)
        both = [name for name in ("y_true", "y_pred") if name == argument or _moves(one)]
        pairs = [(name, one) for name in both if name == "y_true" or role_of_y_pred == "label"]
    else:
        pairs = [(argument, disguise_of(rng, rows.plain[argument], role, chosen))]
    for name, disguise in pairs:
        if disguise is not None:
            rows.disguise(name, disguise, role)


def _moves(disguise: Disguise | None) -> bool:
    """Whether the labels become others, so that decisions have to follow."""
    return disguise is not None and disguise.expected("label") in ("either", "loose")


def draw_settings(rng: np.random.Generator, own: dict[str, Any]) -> tuple[dict[str, Any], list]:
    """Draw settings, and sometimes put an odd value in place of one; returns those, in words.

    Proofs end by themselves where they are compared; an odd number of draws ends with the budget.
    """
    if rng.random() < 0.65:
        return own, []
    name = pick(rng, own)
    odd = own | {"budget": 0.3} if "budget" in own else dict(own)
    odd[name] = pick(rng, ODD_VALUES)
    return odd, [f"{name}={odd[name]!r}"]


def _settings(rng: np.random.Generator) -> dict[str, Any]:
    subgroups = pick(rng, (*CLASSES, *CLASSES[1:]))
    return {
        "notion": pick(rng, (*NOTIONS, "equalized_odds")),
        "subgroups": subgroups,
        "budget": 0.3 if subgroups == "linear" else 60.0,
        "pos_label": None,
    }


def _case(
    entry: Callable[..., Any],
    rows: Rows,
    how: dict[str, Any],
    odd: list[str],
    finish: Callable[[Any], Any],
    figures: Callable[[Any], Any],
) -> Case:
    def call(data: dict[str, Any]) -> Any:
        return finish(entry(**data, **how))

    expect = "either" if odd and rows.expect == "result" else rows.expect
    comparable = expect in ("result", "either") and not odd and how.get("subgroups") != "linear"
    return Case(
        entry=entry.__name__,
        told="; ".join([*rows.told, *odd, _told(how)]),
        call=lambda: call(rows.given),
        names=AUDIT,
        expect=expect if expect in ("result", "error") else "either",
        plain=(lambda: call(rows.plain)) if comparable else None,
        figures=figures if comparable else None,
    )


def _told(how: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}"[:80] for name, value in how.items())


def _shown(report: Any) -> Any:
    """A report in all its forms: each of them has to be made of whatever was audited."""
    json.loads(report.to_json())
    str(report)
    report.to_markdown()
    return report


def _report_figures(report: Any) -> list[Any]:
    return [float(report.unfairness), float(report.upper_bound), report.verdict, report.n_rows]


def audit_case(rng: np.random.Generator) -> Case:
    """Audit rows at hand, some with permutations, held-out rows, or more than one subgroup."""
    rows, decided = draw_rows(rng, make_sample(rng))
    how = _settings(rng) | {
        "gamma": pick(rng, (0, 0.01, 0.05, np.float32(0.01))),
        "min_group_size": pick(rng, (1, 2, 5)),
        "n_permutations": pick(rng, (0, 0, 0, 19)),
        "test_size": None,
        "top": pick(rng, (1, 2, 3)),
        "random_state": int(rng.integers(5)),
        "features": None,
        "on_draw": None,
        "holdout": None,
        "threshold": None,
        "decision_probabilities": False,
    }
    if rng.random() < 0.1:
        how["test_size"] = 0.3
        rows.expect = "either" if rows.expect == "result" else rows.expect
    how, odd = draw_settings(rng, how | decided)
    return _case(audit, rows, how, odd, _shown, _report_figures)


def prove_case(rng: np.random.Generator) -> Case:
    """Prove that none exceeds, at values of any size."""
    rows, decided = draw_rows(rng, make_sample(rng))
    how = _settings(rng) | {"at_most": pick(rng, (0, 0.01, 0.1, 1, 1e308)), "min_group_size": 2}
    how, odd = draw_settings(rng, how | decided)

    def finish(proof: Any) -> Any:
        json.dumps(proof.to_dict(), allow_nan=False)
        str(proof)
        return proof

    def figures(proof: Any) -> list[Any]:
        assert proof.status != "undecided", "an exact class is always decided"
        return [proof.status, proof.upper_bound <= proof.at_most + 1e-12]

    return _case(prove, rows, how, odd, finish, figures)


def bootstrap_case(rng: np.random.Generator) -> Case:
    """Draw a few resamples."""
    rows, decided = draw_rows(rng, make_sample(rng))
    own = {"n_resamples": pick(rng, (1, 5)), "random_state": 0, "on_draw": None}
    how, odd = draw_settings(rng, _settings(rng) | own | decided)

    def figures(found: Any) -> list[Any]:
        return [found.unfairness, found.optimism, found.recurrence, found.n_resamples]

    return _case(bootstrap, rows, how, odd, lambda found: found, figures)


def surface_case(rng: np.random.Generator) -> Case:
    """Measure half-planes of two attributes; most attributes can't be had without a value."""
    rows, decided = draw_rows(rng, make_sample(rng))
    names = list(rows.plain["sensitive_features"])
    how = {
        "notion": pick(rng, NOTIONS),
        "attributes": pick(rng, (None, None, tuple(names[:2]), (names[0], names[-1], "x"))),
        "thetas": pick(rng, (None, [-1, 0, 1], [0.5], np.linspace(-1, 1, 5))),
        "standardize": pick(rng, (True, False)),
        "min_group_size": pick(rng, (1, 5)),
        "pos_label": None,
    }
    how, odd = draw_settings(rng, how | decided)
    rows.expect = "either" if rows.expect == "result" else rows.expect

    def figures(surface: Any) -> list[Any]:
        values = np.nan_to_num(surface.rounds[0].unfairness, nan=-9.0)
        return [surface.n_rows, values.tolist()]

    return _case(discrimination_surface, rows, how, odd, _shown, figures)


def frame_case(rng: np.random.Generator) -> Case:
    """Audit columns of a frame by name: eager, lazy, of any library, or a mapping."""
    sample = make_sample(rng)
    columns: dict[str, Any] = dict(sample.attributes)
    columns |= {"y_true": sample.labels, "decided": sample.decisions, "w": sample.weights}
    make = pick(rng, FRAMES)
    how = _settings(rng) | {"sample_weight": pick(rng, (None, "w")), "min_group_size": 2}
    names: dict[str, Any] = {
        "y_true": "y_true",
        "y_pred": "decided",
        "sensitive_features": list(sample.attributes),
    }
    told = [f"data as {make.__name__}"]
    if rng.random() < 0.25:
        wrong = pick(rng, names)
        names[wrong] = pick(rng, ODD_VALUES)
        told.append(f"{wrong}={names[wrong]!r}")
    how, odd = draw_settings(rng, how)
    plain = {"y_true": sample.labels, "y_pred": sample.decisions,
             "sensitive_features": sample.attributes}  # fmt: skip
    rows = Rows(names, plain, [*told, *odd], "either")

    def call(data: Any, given: dict[str, Any]) -> Any:
        weight = how["sample_weight"]
        if data is None and weight is not None:
            weight = sample.weights
        return _shown(audit(**given, **how | {"sample_weight": weight}, data=data))

    comparable = len(told) == 1 and not odd and how["subgroups"] != "linear"
    return Case(
        "audit of a frame", "; ".join([*rows.told, _told(how)]),
        lambda: call(make(columns), names), AUDIT,
        plain=(lambda: call(None, plain)) if comparable else None,
        figures=_report_figures if comparable else None,
    )  # fmt: skip


def dictionary(columns: dict[str, Any]) -> Any:
    """Pass the columns as they are."""
    return columns


def arrays(columns: dict[str, Any]) -> Any:
    """Pass the columns as arrays."""
    return {name: np.asarray(values) for name, values in columns.items()}


def lazy_polars(columns: dict[str, Any]) -> Any:
    """Pass a query of polars."""
    return pl.LazyFrame(columns)


def twice_named(columns: dict[str, Any]) -> Any:
    """Pass a frame whose columns share a name."""
    frame = pd.DataFrame(columns)
    return pd.concat([frame, frame], axis=1)


def indexed_twice(columns: dict[str, Any]) -> Any:
    """Pass a frame whose index has every value several times."""
    frame = pd.DataFrame(columns)
    return frame.set_index(np.arange(len(frame)) % 2)


FRAMES = (dictionary, arrays, pd.DataFrame, pl.DataFrame, pa.table, lazy_polars, twice_named,
          indexed_twice)  # fmt: skip


def counts_case(rng: np.random.Generator) -> Case:
    """Audit a table of counts, which may be no counts at all."""
    sample = make_sample(rng)
    counts = rng.integers(0, 30, len(sample)).tolist()
    table: dict[str, Any] = dict(sample.attributes)
    table |= {"label": sample.labels, "prediction": sample.decisions, "count": counts}
    rows = Rows({"table": table}, {"table": table}, [], "either")
    for _ in range(int(rng.integers(0, 2))):
        column = pick(rng, table)
        role = {"label": "label", "prediction": "label", "count": "number"}.get(column, "attribute")
        if role != "label" and (one := disguise_of(rng, table[column], role, ALL)) is not None:
            rows.disguise("table", one, role, column)
    how = _settings(rng) | {"sensitive_features": list(sample.attributes), "min_group_size": 2,
                            "n_permutations": pick(rng, (0, 19)), "test_size": None,
                            "gamma": 0.01, "label": "label", "count": "count"}  # fmt: skip
    how, odd = draw_settings(rng, how)
    return _case(audit_counts, rows, how, odd, _shown, _report_figures)
