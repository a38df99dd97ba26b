"""The queries of a lazy frame: the columns that an audit needs, checked by type and summed.

Parts of weights on grids are summed by the engine, so that the order in which it adds can't matter:
see `from_engine`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import narwhals as nw

from gerrymend._runtime.errors import Argument
from gerrymend.auditing.lazy_exact import check_exact
from gerrymend.inputs.classes import Decided
from gerrymend.inputs.numbers import float_from, no_numbers
from gerrymend.inputs.protected import check_attribute_type
from gerrymend.inputs.validation import (
    PROBABILITIES,
    check_attribute_names,
    check_column,
    check_cut,
    check_none,
)

# Labels and decisions have few values. Of a column that has more, so many groups are collected:
# enough for a message, and a bound on what travels.
ENOUGH = 1000


@dataclass(frozen=True, eq=False)
class LazyRows:
    """Hold the query of the columns that an audit needs, under names of our own.

    They are `label`, if there are any; `decision`, unless y_pred are probabilities; `weight` and
    `positive`, w·p, where counts don't give them; and `p` and the missing values of y_pred and of
    the weights.

    Attributes
    ----------
    frame : narwhals.LazyFrame
        These columns; nothing is computed yet.
    attributes : dict of str to str
        The column in `frame` of each protected attribute.
    weighted, probabilities : bool
        Whether rows have weights, and whether y_pred are probabilities.
    cut : float or None
        The threshold of scores.
    is_labelled : bool
        False where rows have decisions alone.
    controls : dict of str to str
        The column in `frame` of each control feature.
    """

    frame: "nw.LazyFrame[Any]"
    attributes: dict[str, str]
    weighted: bool
    cut: float | None
    probabilities: bool
    is_labelled: bool = True
    controls: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: Any,
        y_true: Any,
        y_pred: Any,
        sensitive_features: Any,
        sample_weight: Any,
        control_features: Any,
        decided: Decided,
    ) -> "LazyRows":
        """Choose the columns of an audit; raise an error that names one that can't be used."""
        probabilities = decided.decision_probabilities
        cut = check_cut(decided.threshold, probabilities)
        columns = ChosenColumns.of(data, sensitive_features, sample_weight, control_features)
        schema = columns.schema
        chosen = {}
        is_labelled = y_true is not None
        if is_labelled:
            chosen["label"] = nw.col(check_column(y_true, "y_true", schema, "data"))
        check_column(y_pred, "y_pred", schema, "data")
        chosen |= _predicted(y_pred, schema[y_pred], cut, probabilities)
        rows = cls(
            columns.select(chosen),
            columns.attributes,
            columns.weighted,
            cut,
            probabilities,
            is_labelled,
            columns.controls,
        )
        return rows._with_products()

    def scaled(self, scale: float) -> "LazyRows":
        """Multiply the weights by a power of two.

        w·p is taken again from the scaled weights: of the smallest floats a product keeps few
        digits, or none.
        """
        frame = self.frame.with_columns(weight=nw.col("weight") * scale)
        return replace(self, frame=frame)._with_products()

    def _with_products(self) -> "LazyRows":
        """Add the columns that follow from `weight` and `p`, and replace those that are there."""
        rows = self.frame
        if self.weighted:
            # As 1 and 0, to be added up.
            rows = rows.with_columns(counted=(nw.col("weight") > 0).cast(nw.Int64))
        if self.probabilities:
            # A mixture's weights may add up to a rounding above 1. `p` itself stays as it is, so
            # that its extremes still show what is farther off, and is refused.
            p = nw.col("p").clip(0.0, 1.0)
            rows = rows.with_columns(
                positive=nw.col("weight") * p if self.weighted else p,
                certain=((p == 0.0) | (p == 1.0)).cast(nw.Int64),
            )
        elif self.weighted:
            # The decision is a key that rows are grouped by: w·p is w in groups that are decided
            # 1, and those of the others are left out when groups are added up.
            rows = rows.with_columns(positive=nw.col("weight"))
        # Grids depend on the least positive number, and min() over all would find the zeros.
        for name in self.summed:
            some = nw.when(nw.col(name) > 0).then(nw.col(name)).alias(f"{name}_some")
            rows = rows.with_columns(some)
        return replace(self, frame=rows)

    @property
    def has_sums(self) -> bool:
        """True where Σ w·p has to be summed, as counts don't give it."""
        return self.weighted or self.probabilities

    @property
    def keys(self) -> list[str]:
        """Columns that the first query groups by; there are none where all rows are one group."""
        return ["label"] * self.is_labelled + ["decision"] * (not self.probabilities)

    def checks(self) -> "nw.DataFrame[Any]":
        """Run the first query: extremes and missing values to check, by label and decision."""
        if "score" in self.frame.collect_schema():
            check_exact(self.frame, "score", "y_pred")
        wanted = [nw.len().alias("n"), nw.col("missing").sum()]
        if self.weighted:
            wanted += [nw.col("weight").min().alias("weight_min"),
                       nw.col("weight_some").min().alias("weight_least"),
                       nw.col("weight").max().alias("weight_max"),
                       nw.col("weight_missing").sum()]  # fmt: skip
        if self.has_sums:
            wanted += [nw.col("positive_some").min().alias("positive_least"),
                       nw.col("positive").max().alias("positive_max")]  # fmt: skip
        if self.probabilities:
            wanted += [nw.col("p").min().alias("p_min"), nw.col("p").max().alias("p_max"),
                       nw.col("certain").sum()]  # fmt: skip
        if not self.keys:
            return self.frame.select(*wanted).collect()
        return self.frame.group_by(self.keys).agg(*wanted).head(ENOUGH).collect()

    def sums(self, shifts_of: Callable[[str, int], list[float]]) -> "nw.DataFrame[Any]":
        """Run the second query: sums by protected values, label and decision.

        `shifts_of` returns the grids of a column, or of its squares, as `grid_shifts` makes them.
        """
        keys = [*self.attributes.values(), *self.controls.values(), *self.keys]
        rows = self.frame
        sums = [nw.len().alias("n")]
        shifts = {name: shifts_of(name, 1) for name in self.summed}
        if self.weighted:
            rows = rows.with_columns(square=nw.col("weight") * nw.col("weight"))
            shifts["square"] = shifts_of("weight", 2)
            sums.append(nw.col("counted").sum())
        rows, parts = in_parts(rows, shifts)
        return rows.group_by(keys).agg(*sums, *parts).collect()

    @property
    def summed(self) -> list[str]:
        """Columns of numbers that have to be summed, as counts don't give them."""
        return ["weight"] * self.weighted + ["positive"] * self.has_sums


class ChosenColumns(NamedTuple):
    """Hold a query, and those of its columns that every audit needs, under names of our own.

    `attributes` and `controls` have the name of each protected attribute and control feature, by
    the user's; `expressions` are all of these, the weight and whether it is missing, by our names.
    """

    frame: "nw.LazyFrame[Any]"
    schema: nw.Schema
    attributes: dict[str, str]
    controls: dict[str, str]
    expressions: dict[str, nw.Expr]
    weighted: bool

    @classmethod
    def of(
        cls, data: Any, sensitive_features: Any, sample_weight: Any, control_features: Any
    ) -> "ChosenColumns":
        """Choose the columns; raise an error that names one that can't be used."""
        frame: nw.LazyFrame[Any] = nw.from_native(data)
        schema = frame.collect_schema()
        attributes = _attribute_columns(schema, sensitive_features)
        controls = _attribute_columns(schema, control_features, "control_features")
        chosen = {key: nw.col(name) for name, key in [*attributes.items(), *controls.items()]}
        weighted = sample_weight is not None
        if weighted:
            chosen |= _weighed(schema, sample_weight)
        return cls(frame, schema, attributes, controls, chosen, weighted)

    def select(self, others: Mapping[str, nw.Expr]) -> "nw.LazyFrame[Any]":
        """Return the query of these columns and of others."""
        return self.frame.select(**self.expressions, **others)


def _attribute_columns(
    schema: nw.Schema, named: Any, argument: str = "sensitive_features"
) -> dict[str, str]:
    """Return a name of our own for each of the columns named; raise for one that can't be used.

    A user's column may be called `weight` or `n`, like columns that are made here.
    """
    if named is None and argument == "control_features":
        return {}
    names = check_attribute_names(named, argument)
    for name in names:
        check_column(name, argument, schema, "data")
        check_attribute_type(name, schema[name], argument)
    return {name: f"{argument}_{i}" for i, name in enumerate(names)}


def in_parts(
    rows: "nw.LazyFrame[Any]", shifts: Mapping[str, Sequence[float]]
) -> tuple["nw.LazyFrame[Any]", list[nw.Expr]]:
    """Split columns into parts on their grids; return the rows and the sums of all parts."""
    sums = []
    # (x + shift) − shift rounds x to a grid on which the engine's additions are exact; the
    # remainder goes on to the next, finer grid. All columns at once: a query grows with each step.
    for i in range(max(map(len, shifts.values()), default=0)):
        left = {name: grids[i] for name, grids in shifts.items() if i < len(grids)}
        parts = {f"{name}_{i}": (nw.col(name) + shift) - shift for name, shift in left.items()}
        rows = rows.with_columns(**parts)
        rows = rows.with_columns(**{name: nw.col(name) - nw.col(f"{name}_{i}") for name in left})
        sums += [nw.col(part).sum() for part in parts]
    return rows, sums


def _predicted(name: str, dtype: Any, cut: float | None, probabilities: bool) -> dict[str, nw.Expr]:
    """Return the expressions of the decision, or its probability, and of its being missing."""
    is_missing = {"missing": missing(name, dtype)}
    if cut is not None:
        score = as_numbers(name, dtype, "y_pred", Argument("threshold"))
        if dtype.is_integer():  # exact, as in `at_least`
            return is_missing | {"decision": _whole_at_least(nw.col(name), dtype, cut)}
        given = {"score": nw.col(name)} if isinstance(dtype, nw.Decimal) else {}
        return is_missing | given | {"decision": score >= float_from(cut)}
    if probabilities:
        return is_missing | {"p": as_numbers(name, dtype, "y_pred", PROBABILITIES)}
    return is_missing | {"decision": nw.col(name)}


def _whole_at_least(score: nw.Expr, dtype: Any, cut: float) -> nw.Expr:
    """Return where whole numbers are at least a cut, rounded up: one that their type can hold."""
    bits = int(re.sub(r"\D", "", str(dtype)))
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if dtype.is_signed_integer() else (0, 2**bits)
    least = math.ceil(cut)
    if least <= low:
        return score == score
    return score != score if least >= high else score >= nw.lit(least, dtype)


def _weighed(schema: nw.Schema, name: Any) -> dict[str, nw.Expr]:
    """Return the expressions of the weight, and of its being missing."""
    check_column(name, "sample_weight", schema, "data")
    return {
        "weight": as_numbers(name, schema[name], "sample_weight"),
        "weight_missing": missing(name, schema[name]),
    }


def as_numbers(name: str, dtype: Any, argument: str, because: Argument | None = None) -> nw.Expr:
    """Return a column as floats; raise `no_numbers` if it has none."""
    if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
        raise no_numbers(argument, "text" if dtype == nw.String else str(dtype), because)
    return nw.col(name).cast(nw.Float64)


def missing(name: str, dtype: Any) -> nw.Expr:
    """Return an expression that is 1 where there is no value.

    NaN is one: engines differ in whether they count it as missing.
    """
    column = nw.col(name)
    is_missing = column.is_null() | column.is_nan() if dtype.is_float() else column.is_null()
    return is_missing.cast(nw.Int64)


def check_none_of(
    rows: "nw.LazyFrame[Any]", are_missing: nw.Expr, n_missing: int, argument: str
) -> None:
    """Raise ValueError if the number of missing values isn't 0, and say which row is the first.

    Rows of Polars have an order; other engines return them in any, and no row is told of.
    """
    if not n_missing or not rows.implementation.is_polars():
        check_none(n_missing, argument)
        return
    marked = rows.select(marked=are_missing).collect()["marked"]
    check_none(n_missing, argument, marked.arg_max(), len(marked))
