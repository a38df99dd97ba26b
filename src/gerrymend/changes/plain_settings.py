"""Notions and classes of subgroups from the plain data of a report, or of a watch's file."""

from collections.abc import Mapping
from typing import Any

from gerrymend import subgroups
from gerrymend._runtime.errors import ArgumentError
from gerrymend.notions import OVERALL, AnyNotion, FairnessNotion, GroupMean, as_notions
from gerrymend.subgroups import ExplicitGroups, SubgroupClass


def notion_of_plain(plain: Mapping[str, Any]) -> AnyNotion:
    """Return a notion by its plain data; raise an ArgumentError for a mean by other functions."""
    reference = plain.get("reference", OVERALL)
    if isinstance(reference, Mapping):
        group = {name: wanted_of_plain(one) for name, one in reference["group"].items()}
        reference = GroupMean(group, factor=reference["factor"])
    fields = {key: plain[key] for key in ("name", "event", "a", "b", "worse", "unit")}
    # A mean of numbers is told as the rate of the same name, which stands for it here.
    (notion,) = as_notions(
        FairnessNotion(**fields, of_class=plain.get("class"), reference=reference)
    )
    return notion


def class_of_plain(plain: Mapping[str, Any]) -> SubgroupClass:
    """Return the class of subgroups that a report has as plain data."""
    kind = getattr(subgroups, str(plain.get("name")), None)
    if not (isinstance(kind, type) and issubclass(kind, SubgroupClass)):
        raise ArgumentError(
            "subgroups",
            f"of the old report is {plain.get('name')!r}, which is none of gerrymend's; pass an "
            "instance of it.",
        )
    parameters = dict(plain["parameters"])
    if kind is ExplicitGroups:
        parameters["groups"] = {
            name: {attribute: wanted_of_plain(one) for attribute, one in conditions.items()}
            for name, conditions in parameters["groups"].items()
        }
    try:
        return kind(**parameters)
    except TypeError as error:
        raise ArgumentError(
            "old", f"has a class of subgroups that can't be made: {error}."
        ) from None


def wanted_of_plain(plain: Mapping[str, Any]) -> Any:
    """Return a condition as users write it."""
    return list(plain["values"]) if "values" in plain else (plain["low"], plain["high"])
