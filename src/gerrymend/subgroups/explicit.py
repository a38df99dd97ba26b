"""Subgroups that the user lists by name and conditions."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

from gerrymend._numeric.sums import Array
from gerrymend.inputs.categories import plain_type
from gerrymend.inputs.conditions import plain_condition, plain_values
from gerrymend.inputs.held_numbers import is_lost
from gerrymend.inputs.numbers import as_float, is_missing, is_number_type, short
from gerrymend.inputs.protected import Column, take_rows
from gerrymend.inputs.settings import did_you_mean
from gerrymend.subgroups.base import SubgroupClass
from gerrymend.subgroups.listed import ListedClass
from gerrymend.subgroups.rules import Condition, Conjunction


class ExplicitGroups(SubgroupClass):
    """Groups given by conditions on the protected attributes.

    Parameters
    ----------
    groups : dict
        Maps the name of a group to its conditions: a dict that maps an attribute to a value, a
        list of values, or a pair (low, high) for low ≤ x < high, with None for an open end.

    See Also
    --------
    Marginals
        Each value of a categorical attribute, and both sides of the mean of each numeric one.
    Conjunctions : Every conjunction of a few conditions, each on a different attribute. Exact.

    Examples
    --------
    >>> from gerrymend import audit
    >>> groups = ExplicitGroups({
    ...     "blue men": {"race": "blue", "sex": "M"},
    ...     "over 60": {"age": (60, None)},
    ... })
    >>> report = audit(
    ...     [0, 0, 0, 0, 1], [1, 0, 0, 0, 1], subgroups=groups, min_group_size=1,
    ...     sensitive_features={"race": ["blue", "blue", "green", "green", "blue"],
    ...                         "sex": ["M", "F", "M", "F", "M"], "age": [61, 35, 70, 20, 44]})
    >>> print(report.worst)
    blue men (race = blue and sex = M)
    """

    def __init__(self, groups: Mapping[str, Mapping[str, Any]]) -> None:
        self.groups = groups

    def bind(self, columns: tuple[Column, ...], weight: Array, event_weight: Array) -> ListedClass:
        """Check the conditions against the columns and list the groups.

        Raises ValueError for a condition that no row could meet because of its attribute or type,
        and warns of a group that selects no row.
        """
        if not isinstance(self.groups, Mapping) or not self.groups:
            raise ValueError(
                "groups of ExplicitGroups must map at least one name to its conditions, as in "
                f"{{'blue men': {{'race': 'blue', 'sex': 'M'}}}}; got {self.groups!r}."
            )
        by_name = {column.name: column for column in columns}
        rules = [
            named_group(f"The explicit group {name!r} of groups", wanted, by_name, str(name))
            for name, wanted in self.groups.items()
        ]
        for rule in rules:
            if not rule.members(by_name).any():
                warnings.warn(
                    f"The explicit group {rule.describe()!r} selects no row; check its values.",
                    UserWarning,
                    stacklevel=2,
                )
        return ListedClass.of(
            take_rows(columns, event_weight > 0), rules, f"the {len(rules)} groups that were named"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the class as plain data, with conditions in the form of `Condition.to_dict`."""
        groups = {
            str(name): {attribute: plain_condition(value) for attribute, value in wanted.items()}
            for name, wanted in self.groups.items()
        }
        return {"name": type(self).__name__, "parameters": {"groups": groups}}


def named_group(
    where: str, wanted: Any, columns: Mapping[str, Column], name: str = ""
) -> Conjunction:
    """Return the rule of a group that a user names by conditions on these columns.

    `where` is how each error begins. Raises ValueError for a condition that no row could meet.
    """
    if not isinstance(wanted, Mapping) or not wanted:
        raise ValueError(
            f"{where} must map attributes to values, as in {{'race': 'blue'}}; got {wanted!r}."
        )
    for attribute in wanted:
        if attribute not in columns:
            hint = did_you_mean(attribute, columns) if isinstance(attribute, str) else ""
            raise ValueError(
                f"{where} uses the attribute {attribute!r}, which is none of the protected "
                f"columns{hint}: {', '.join(columns)}."
            )
    conditions = tuple(_condition(where, columns[a], value) for a, value in wanted.items())
    kinds = {attribute: columns[attribute].kind for attribute in wanted}
    return Conjunction(conditions, kinds, name=name)


def _condition(where: str, column: Column, wanted: Any) -> Condition:
    """Check what is asked of one attribute and return it as a condition.

    `where` names the group at the start of each error message.
    """
    if isinstance(wanted, list | set | frozenset) and not wanted:
        raise ValueError(f"{where} asks {column.name!r} to be in an empty list; name a value.")
    if not isinstance(wanted, tuple):  # a tuple is an interval, anything else one value or several
        listed = wanted if isinstance(wanted, list | set | frozenset) else [wanted]
        for value in listed:
            _check_value(where, column, value)
        return Condition(column.name, values=tuple(plain_values(wanted)))
    numbers = all(end is None or is_number_type(type(end)) for end in wanted)
    if column.is_categorical or len(wanted) != 2 or not numbers:
        raise ValueError(
            f"{where} asks {column.name!r} to be in {short(wanted)}; a pair is an interval (low, "
            "high) of a number: pass a list for several values."
        )
    low = -math.inf if wanted[0] is None else as_float(wanted[0])
    high = math.inf if wanted[1] is None else as_float(wanted[1])
    lost = any(is_lost(end) for end in wanted if end is not None)
    if lost or not low < high:  # NaN is below nothing
        raise ValueError(
            f"{where} asks {column.name!r} to be in {short(wanted)}, which is no interval: low "
            "must be below high, and both must be numbers of float64; None leaves an end open."
        )
    return Condition(column.name, low=low, high=high)


def _check_value(where: str, column: Column, value: Any) -> None:
    """Raise ValueError if the type of a value is one that no row of the column can have."""
    if is_missing(value):  # a category of its own; a number is never missing
        fits = column.is_categorical
    elif column.is_categorical:
        plain = plain_type(type(value))
        fits = plain is not None and column.kind in (plain.__name__, "any")
    else:
        fits = is_number_type(type(value)) and math.isfinite(as_float(value)) and not is_lost(value)
    if not fits:
        holds = f"categories of type {column.kind}" if column.is_categorical else "numbers"
        raise ValueError(
            f"{where} asks {column.name!r} to be {short(value)}, and the column holds {holds}; "
            "name a value that it can have."
        )
