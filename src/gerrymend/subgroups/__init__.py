"""Classes of subgroups: each knows how to find its worst member."""

from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import check_choice
from gerrymend.subgroups.base import BoundClass, Found, SubgroupClass
from gerrymend.subgroups.conjunctions import Conjunctions
from gerrymend.subgroups.explicit import ExplicitGroups
from gerrymend.subgroups.linear import LinearThresholds
from gerrymend.subgroups.marginals import Marginals
from gerrymend.subgroups.rules import Rule
from gerrymend.subgroups.trees import Trees
from gerrymend.subgroups.value_sets import ValueSets

__all__ = [
    "CLASS_NAMES",
    "BoundClass",
    "Conjunctions",
    "ExplicitGroups",
    "Found",
    "LinearThresholds",
    "Marginals",
    "Rule",
    "SubgroupClass",
    "Trees",
    "ValueSets",
    "as_subgroup_class",
]

_BY_NAME = {
    "linear": LinearThresholds,
    "marginals": Marginals,
    "conjunctions": Conjunctions,
    "value_sets": ValueSets,
    "trees": Trees,
}
CLASS_NAMES = tuple(_BY_NAME)


def as_subgroup_class(subgroups: Any, argument: str = "subgroups") -> SubgroupClass:
    """Return the class of subgroups that a name stands for; an instance is returned as it is.

    Raises an ArgumentError for an unknown name, and for anything else.

    >>> as_subgroup_class("linear")
    LinearThresholds()
    """
    if isinstance(subgroups, SubgroupClass):
        return subgroups
    if isinstance(subgroups, str):
        return _BY_NAME[check_choice(subgroups, argument, _BY_NAME)]()
    raise ArgumentError(
        argument,
        f"must be one of {', '.join(map(repr, _BY_NAME))} or a SubgroupClass such as "
        f"LinearThresholds(); got {short(subgroups)}.",
    )
