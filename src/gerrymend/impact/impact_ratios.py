"""impact_ratios(): the tables that regulators ask for, and the worst subgroup in none of them."""

from typing import Any

import numpy as np

from gerrymend._numeric.sums import total
from gerrymend._runtime.errors import ArgumentError
from gerrymend.auditing.from_rows import Given, rows_of
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, check_min_group_size
from gerrymend.impact.attributes import HIGHEST, as_categories, read_reference
from gerrymend.impact.category_tables import Settings, category_tables
from gerrymend.impact.profiles import PROFILES, profile_of
from gerrymend.impact.selected import RATES, SCORING, SELECTION, Selected
from gerrymend.impact.table import ImpactTable, check_unknown
from gerrymend.impact.unlisted import default_class, look_beyond
from gerrymend.inputs.settings import (
    check_budget,
    check_choice,
    check_flag,
    check_fraction,
    check_whole,
)
from gerrymend.inputs.weights import check_comparable
from gerrymend.subgroups import as_subgroup_class


def impact_ratios(
    y_pred: Any,
    *,
    sensitive_features: Any,
    rate: str = SELECTION,
    threshold: float | None = None,
    pos_label: Any = None,
    reference: Any = HIGHEST,
    depth: int | None = None,
    profile: str | None = None,
    unknown: Any = None,
    exclude_small: bool = False,
    confidence: float = 0.95,
    sample_weight: Any = None,
    data: Any = None,
    search: bool = True,
    subgroups: Any = None,
    budget: float = 30.0,
    min_group_size: int = MIN_GROUP_SIZE,
    n_permutations: int = 0,
    random_state: int = 0,
) -> ImpactTable:
    """Compare how often each category, and those in which several meet, are selected.

    The impact ratio of a group is its rate over that of the most selected group of its table, as
    New York City's Local Law 144 has it, or over that of a group that is named. An audit compares
    with everyone's rate instead.

    Parameters
    ----------
    y_pred : array of decisions, of two values
        Or scores, with `threshold` or `rate="scoring"`. Of more than two decisions name the one
        that is selected, as `pos_label`, and it is compared with the rest.
    sensitive_features : frame, Series, mapping from names to columns, or array
        The attributes. Text, categoricals, booleans and up to 10 whole numbers are categories;
        other numbers have no table, and are searched. None is an unknown category. Rows are matched
        by position.
    rate : {"selection", "scoring"}, default="selection"
        With "scoring", y_pred are scores, and the rate of a group is the part of it that scores
        above the median of all rows.
    threshold : float, optional
        Those whose score y_pred is at least this are selected.
    pos_label : label, optional
        The decision that is selected; by default the second in sorted order.
    reference : "highest", value or mapping from attributes to values, default="highest"
        The group that others are compared with: the most selected of each table, or
        {"race": "White", "sex": "M"}. A table with an attribute that is not named has the most
        selected.
    depth : int, optional
        So many attributes meet, at most; 2 by default, and 1 by the profile "four-fifths".
    profile : {"ll144", "four-fifths", "lending"}, optional
        The rule that tables, words and page follow. None of it is legal advice.
    unknown : list of values, optional
        Values that stand for an unknown category, beside None.
    exclude_small : bool, default=False
        Give groups of less than 2 % of their table no ratio, as some rules allow; they can't be the
        most selected group either. Their rows and rates are shown, and they are marked in any case.
    confidence : float, default=0.95
        Of the intervals.
    sample_weight : array of weights, optional
        Rates are then weighted, intervals and deviations approximate, and there is no exact test.
    data : frame or mapping from names to columns, optional
        Where the columns are; y_pred, sensitive_features and sample_weight are then names.
    search : bool, default=True
        Look for the worst subgroup that is in no table.
    subgroups : str or SubgroupClass, optional
        The class to search; by default conjunctions of one attribute more than tables have or,
        where there are no more, sets of values.
    budget
        Of that search, as in audit().
    min_group_size : int, default=10
        Groups of fewer rows are marked in the tables, and not described by the search.
    n_permutations, random_state
        Of that search, as in audit().

    Returns
    -------
    ImpactTable
        The tables, and the worst subgroup that is in none of them.

    Raises
    ------
    TypeError, ValueError
        For an argument that can't be used; the message names it.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    less_discriminatory_alternatives
        Return the adverse impact ratios of the models of a frontier, beside error and unfairness.

    Notes
    -----
    Intervals and tests are of each group for itself, and not for the choice of the most selected
    one: of groups that are alike, the others' ratios come out below 1.

    Examples
    --------
    The promotion exams behind Ricci v. DeStefano (2009): who passed, of 118 firefighters.

    >>> from gerrymend import impact_ratios
    >>> race = ["White"] * 68 + ["Black"] * 27 + ["Hispanic"] * 23
    >>> passed = [1] * 41 + [0] * 27 + [1] * 9 + [0] * 18 + [1] * 6 + [0] * 17
    >>> made = impact_ratios(passed, sensitive_features={"race": race}, search=False)
    >>> for group in made.groups:
    ...     print(f"{group.describe()}: {group.rate:.1%}, ratio {group.ratio:.2f}")
    race = Black: 33.3%, ratio 0.55
    race = Hispanic: 26.1%, ratio 0.43
    race = White: 60.3%, ratio 1.00
    >>> black = made.groups[0]
    >>> black.shortfall, round(black.standard_deviations, 2), round(black.p_value, 3)
    (5, -2.37, 0.023)
    """
    confidence = check_fraction(confidence, "confidence", remedy="0.95, for example.")
    min_group_size = check_min_group_size(min_group_size)
    exclude_small = check_flag(exclude_small, "exclude_small")
    if depth is not None:
        depth = check_whole(depth, "depth", low=1, remedy="It is how many attributes meet.")
    searched: dict[str, Any] = {
        "budget": check_budget(budget),
        "min_group_size": min_group_size,
        "n_permutations": check_whole(n_permutations, "n_permutations", low=0),
        "random_state": check_whole(random_state, "random_state", low=0),
    }
    chosen = None if subgroups is None else as_subgroup_class(subgroups)
    search = check_flag(search, "search")
    values = check_unknown(unknown)
    rate = check_choice(rate, "rate", RATES)
    if profile is not None:
        profile = check_choice(profile, "profile", PROFILES)
    if rate == SCORING and profile == "lending":
        raise ArgumentError(
            "rate",
            "is 'scoring', and the profile 'lending' is about who is approved; pass decisions, or "
            "a threshold.",
        )
    given = rows_of(data, Given(None, y_pred, sensitive_features, sample_weight))
    check_comparable(given.sample_weight)
    read = Selected.read(
        given.y_pred, given.sensitive_features, given.sample_weight,
        rate=rate, threshold=threshold, pos_label=pos_label,
    )  # fmt: skip
    columns = as_categories(read.columns, values)
    named = read_reference(reference, columns)
    rule = profile_of(profile, named)
    settings = Settings(named, depth or rule.depth, confidence, exclude_small, min_group_size)
    tables = category_tables(read, columns, settings)
    found = None
    if search:
        chosen = chosen or default_class(columns, settings.depth)
        found = look_beyond(read, columns, tables, subgroups=chosen, **searched)
    is_unknown = {column.name: column.equals(None) for column in columns if column.is_categorical}
    return ImpactTable(
        tables=tables,
        unlisted=found,
        rate=rate,
        overall_rate=total(read.weight * read.is_in) / total(read.weight),
        n_rows=len(read.is_in),
        n_unknown=int(np.logical_or.reduce([*is_unknown.values()]).sum()),
        unknown={name: int(rows.sum()) for name, rows in is_unknown.items() if rows.any()},
        untabled=tuple(column.name for column in columns if not column.is_categorical),
        reference=named,
        selected=read.label,
        threshold=read.threshold,
        median=read.median,
        confidence=confidence,
        depth=settings.depth,
        exclude_small=exclude_small,
        min_group_size=min_group_size,
        weighted=read.is_weighted,
        profile=profile,
        provenance=None if found is None else found.report.provenance,
    )
