"""Look for less discriminatory alternatives among the models of a frontier, by impact ratios."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np

from gerrymend._numeric.sums import Array
from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.reprs import short_repr
from gerrymend.frontier.points import FrontierPoint
from gerrymend.frontier.tradeoffs import ParetoFrontier
from gerrymend.impact.attributes import as_categories, read_reference
from gerrymend.impact.group_sums import told
from gerrymend.impact.meetings import meetings, reference_place, sums_of_meetings
from gerrymend.impact.selected import Selected
from gerrymend.impact.table import check_unknown
from gerrymend.impact.two_rates import ratio_of
from gerrymend.inputs.classes import Names, check_positive
from gerrymend.inputs.features import n_rows_of
from gerrymend.inputs.sample import Numbers, named_columns
from gerrymend.inputs.settings import check_whole
from gerrymend.inputs.validation import as_vector, check_same_length
from gerrymend.inputs.weights import check_comparable
from gerrymend.reporting.frames import check_backend
from gerrymend.reporting.wording import json_text


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """Models of a frontier with the adverse impact ratio of each group under each of them.

    Attributes
    ----------
    models : tuple of dict
        By model: name, gamma, notion, estimator, error, unfairness, whether another model of the
        frontier beats it, and its `rates` and `ratios` by group.
    groups : tuple of str
        Who is compared, in words.
    reference : str or None
        The control group; None for the most approved of each model.
    n_rows : int
        Rows that the ratios are of.

    See Also
    --------
    less_discriminatory_alternatives
        Return the adverse impact ratios of the models of a frontier, beside error and unfairness.
    ParetoFrontier : The points of pareto_frontier(): models that trade error for unfairness.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gerrymend import SubgroupParityClassifier, less_discriminatory_alternatives
    >>> from gerrymend import pareto_frontier
    >>> from gerrymend.datasets import make_intersectional
    >>> data = make_intersectional(600, cardinalities=(2, 3), n_numeric=0, random_state=0)
    >>> clf = SubgroupParityClassifier(LinearRegression(), max_iter=20, tol=None, random_state=0,
    ...                                notion="statistical_parity")
    >>> frontier = pareto_frontier(
    ...     clf, data.data, data.target, sensitive_features=data.sensitive_features,
    ...     gammas=[0.0, 0.05])
    >>> name, values = next(iter(data.sensitive_features.items()))
    >>> found = less_discriminatory_alternatives(
    ...     frontier, data.data, sensitive_features={name: values}, reference=values[0])
    >>> found.to_frame("polars").columns[:4]
    ['model', 'gamma', 'notion', 'estimator']
    """

    models: tuple[Mapping[str, Any], ...]
    groups: tuple[str, ...]
    reference: str | None
    n_rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return the models as plain data."""
        return {
            "models": [dict(model) for model in self.models],
            "groups": list(self.groups),
            "reference": self.reference,
            "n_rows": self.n_rows,
        }

    def to_json(self) -> str:
        """Return the plain data as JSON."""
        return json_text(self.to_dict(), indent=2)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame of "pandas", "polars" or "pyarrow", one model a row.

        Ratios are columns, as "ratio: race = B".
        """
        rows = []
        for model in self.models:
            plain = {name: value for name, value in model.items() if not isinstance(value, dict)}
            ratios = {f"ratio: {group}": ratio for group, ratio in model["ratios"].items()}
            rows.append(plain | ratios)
        return nw.from_dicts(rows, backend=check_backend(backend)).to_native()

    def to_markdown(self) -> str:
        """Return the models as a table in Markdown, with what it is."""
        from gerrymend.reporting.impact.models import alternatives_markdown

        return alternatives_markdown(self.to_dict())

    def to_html(self) -> str:
        """Return one self-contained page; needs jinja2 (pip install 'gerrymend[report]')."""
        from gerrymend.reporting.impact.models import alternatives_page

        return alternatives_page(self.to_dict())

    def write_html(self, path: str | Path) -> Path:
        """Write the page of `to_html` to a file, whole or not at all; return its path."""
        from gerrymend.reporting.page import write_page

        return write_page(self.to_html(), path)

    def __repr__(self) -> str:
        return short_repr(self, n_models=len(self.models), groups=self.groups, n_rows=self.n_rows)

    def __str__(self) -> str:
        from gerrymend.reporting.impact.models import alternatives_text

        return alternatives_text(self.to_dict())


def less_discriminatory_alternatives(
    frontier: ParetoFrontier,
    X: Any,
    *,
    sensitive_features: Any,
    reference: Any,
    today: Any = None,
    pos_label: Any = None,
    depth: int = 1,
    unknown: Any = None,
    sample_weight: Any = None,
) -> Alternatives:
    """Return the adverse impact ratios of the models of a frontier, beside error and unfairness.

    A frontier is a search for less discriminatory alternatives: models for the same purpose, each
    with as little error as its gamma leaves. Which of them serves the purpose as well is a question
    of business and law, which no figure answers.

    Parameters
    ----------
    frontier : ParetoFrontier
        What pareto_frontier() returned; best of notion "statistical_parity".
    X : frame, array or list
        Rows to take the ratios of: best those that were not trained on.
    sensitive_features : frame, Series, mapping from names to columns, or array
        Their attributes, as in impact_ratios(); or names of columns of X.
    reference : value or mapping from attributes to values
        The control group, as in impact_ratios().
    today : array of decisions, optional
        What your model decides of these rows, for the first line.
    pos_label : label, optional
        The decision that is wished for; by default the second in sorted order.
    depth : int, default=1
        So many attributes meet, at most.
    unknown : list of values, optional
        Values that stand for an unknown category, beside None.
    sample_weight : array of weights, optional
        How much each row counts.

    Returns
    -------
    Alternatives
        Rates are expected ones: models draw their decisions.

    Raises
    ------
    TypeError, ValueError
        For an argument that can't be used; the message names it.

    See Also
    --------
    pareto_frontier
        Train a model for each gamma, notion and estimator, and audit each as audit() does.
    impact_ratios : Compare how often each category, and those in which several meet, are selected.

    Examples
    --------
    See `Alternatives`.
    """
    if not isinstance(frontier, ParetoFrontier):
        raise ArgumentError(
            "frontier",
            f"must be what pareto_frontier() returned; got {type(frontier).__name__}.",
        )
    depth = check_whole(depth, "depth", low=1, remedy="It is how many attributes meet.")
    values = check_unknown(unknown)
    check_comparable(sample_weight)
    classes = frontier.points[0].model.classes_
    place = 1
    if pos_label is not None:
        place = check_positive(classes, pos_label, Names(labels="frontier"))
    protected = named_columns(X, sensitive_features)
    none = np.zeros(n_rows_of(X))
    read = Numbers.read(None, none, protected, sample_weight, names=Names(decisions="X"))
    columns = as_categories(read.columns, values)
    named = read_reference(reference, columns)
    chosen = meetings(columns, depth)

    def measured(p: Array) -> dict[str, Any]:
        """Return the rates and ratios of the groups where rows are decided with probability p."""
        rates: dict[str, float] = {}
        ratios: dict[str, float | None] = {}
        for meeting, sums in zip(chosen, sums_of_meetings(chosen, read.weight, p), strict=True):
            names = [column.name for column in meeting]
            none = np.zeros(len(sums.values), dtype=bool)
            place = reference_place(names, sums, named, none)
            # A model that approves nobody of the control group has no ratio, and others have.
            other = None if place is None or not sums.selected[place] else sums.rate(place)
            for group, values in enumerate(sums.values):
                rate = sums.rate(group)
                rates[told(values)] = rate.value
                ratios[told(values)] = None if other is None else ratio_of(rate, other)
        return {"rates": rates, "ratios": ratios}

    models = []
    if today is not None:
        decided = _decided(today, protected, len(none), classes.tolist()[place])
        models.append(_of_today(frontier) | measured(decided))
    for point in frontier.points:
        p = np.asarray(point.model.predict_proba(X))[:, place]
        models.append(_of_point(point) | measured(p))
    return Alternatives(
        models=tuple(models),
        groups=tuple(models[0]["rates"]),
        reference=told(named) if named else None,
        n_rows=len(read.p),
    )


def _decided(today: Any, protected: Any, n_rows: int, pos_label: Any) -> Array:
    """Return 1 for the rows that today's model approves; errors name `today`."""
    check_same_length(X=n_rows, today=len(as_vector(today, "today")))
    try:
        return Selected.read(today, protected, pos_label=pos_label).is_in.astype(np.float64)
    except ArgumentError as error:
        if error.argument != "y_pred":
            raise
        raise ArgumentError("today", *error.words, lead=error.lead) from None


def _of_point(point: FrontierPoint) -> dict[str, Any]:
    """Return what is told of a model of the frontier."""
    return {
        "model": f"gamma {point.gamma:g}",
        "gamma": point.gamma,
        "notion": point.notion,
        "estimator": point.estimator,
        "error": point.compared.error,
        "unfairness": point.compared.unfairness,
        "beaten": point.compared.dominated,
    }


def _of_today(frontier: ParetoFrontier) -> dict[str, Any]:
    """Return what is told of the model of today: error and unfairness where the frontier has it."""
    known = next((one for one in frontier.references if one.kind == "today"), None)
    return {
        "model": "today",
        "gamma": None,
        "notion": None if known is None else known.notion,
        "estimator": None,
        "error": None if known is None else known.compared.error,
        "unfairness": None if known is None else known.compared.unfairness,
        "beaten": None if known is None else known.compared.dominated,
    }
