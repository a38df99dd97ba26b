"""Check the settings of an audit, before any data is read."""

from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.workers import check_jobs
from gerrymend.auditing.inference.population import N_RESAMPLES, check_resampling
from gerrymend.auditing.small_groups import check_min_group_size
from gerrymend.inputs.numbers import short
from gerrymend.inputs.settings import (
    check_budget,
    check_callable,
    check_fraction,
    check_gamma,
    check_whole,
)
from gerrymend.notions import NotionLike, directed_notions
from gerrymend.subgroups import as_subgroup_class


def check_settings(
    *,
    notion: NotionLike,
    reference: Any,
    favourable: Any,
    side: Any,
    subgroups: Any,
    gamma: Any,
    budget: Any,
    min_group_size: Any,
    n_permutations: Any,
    top: Any,
    random_state: Any,
    features: Any = None,
    intersection: Any = None,
    n_jobs: Any = None,
    on_draw: Any = None,
    confidence: Any = None,
    n_resamples: Any = N_RESAMPLES,
    discovery_rate: Any = None,
) -> dict[str, Any]:
    """Check what examine() takes beside tallies, before any data is read.

    Returns
    -------
    dict
        The keyword arguments of examine(). Errors name the argument as the user passed it.
    """
    check_callable(on_draw, "on_draw", "on_draw(done, of)")
    return {
        "notions": directed_notions(notion, favourable, side, reference),
        "favourable": favourable,
        "side": side,
        "subgroups": as_subgroup_class(subgroups),
        "gamma": check_gamma(gamma),
        "budget": check_budget(budget),
        "min_group_size": check_min_group_size(min_group_size),
        "n_permutations": check_whole(n_permutations, "n_permutations", low=0),
        "top": check_whole(top, "top", low=1, remedy="It is a number of subgroups."),
        "random_state": check_whole(random_state, "random_state", low=0),
        "features": None if features is None else _check_features(features),
        "intersection": None if intersection is None else _check_pair(intersection),
        "n_jobs": check_jobs(n_jobs),
        "on_draw": on_draw,
        "discovery_rate": None
        if discovery_rate is None
        else check_fraction(discovery_rate, "discovery_rate", remedy="0.1 for 10 %, for example."),
        **check_resampling(confidence, n_resamples),
    }


def _check_features(features: Any) -> tuple[str, ...]:
    """Check names of columns, perhaps none, and return them."""
    try:
        names = None if isinstance(features, str) else tuple(features)
    except TypeError:  # an array without dimensions says that it can be iterated over, too
        names = None
    if names is None or not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            "features",
            "must be the names of the columns that the model decides by, as a list of "
            f"strings; got {short(features)}. Leave it out where they are not known.",
        )
    return names


def _check_pair(intersection: Any) -> tuple[str, ...]:
    """Check that two columns are named; whether they are there is known once they are read."""
    names = tuple(intersection) if isinstance(intersection, list | tuple) else ()
    if not all(isinstance(n, str) for n in names) or len(names) != 2 or len(set(names)) != 2:
        raise ArgumentError(
            "intersection",
            f"must name two protected attributes, as ['race', 'sex']; got {intersection!r}.",
        )
    return names
