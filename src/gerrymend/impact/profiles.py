"""Profiles: which tables a rule asks for, what it compares with, and when a gate shuts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.inputs.settings import check_choice


class Profile(NamedTuple):
    """Say how a rule has its tables made; its words are in `reporting.impact.rules`.

    `needs_reference` is True where groups are compared with one that is named, False where they are
    compared with the most selected, and None where either will do. `fail_below` is the ratio below
    which a gate shuts by default; None where the rule sets none. `depth` is how many attributes
    meet.
    """

    name: str
    needs_reference: bool | None
    fail_below: float | None
    depth: int


PROFILES = {
    one.name: one
    for one in (
        Profile("ll144", needs_reference=False, fail_below=None, depth=2),
        Profile("four-fifths", needs_reference=False, fail_below=0.8, depth=1),
        Profile("lending", needs_reference=True, fail_below=None, depth=2),
    )
}
# Tables that no rule is named for.
PLAIN = Profile("", needs_reference=None, fail_below=None, depth=2)


def profile_of(name: Any, reference: Mapping[str, Any]) -> Profile:
    """Return a profile by name, PLAIN for None; raise an ArgumentError for a reference of another.

    `reference` has the values of the group that was named, or none.

    >>> profile_of("ll144", {}).fail_below is None
    True
    """
    if name is None:
        return PLAIN
    profile = PROFILES[check_choice(name, "profile", PROFILES)]
    if profile.needs_reference is False and reference:
        told = ", ".join(f"{attribute} = {value}" for attribute, value in reference.items())
        raise ArgumentError(
            "reference",
            f"is {told}, and the rule of ",
            Argument("profile", value=repr(profile.name)),
            " compares with the most selected group. Leave it out; or leave out the profile.",
        )
    if profile.needs_reference and not reference:
        raise ArgumentError(
            "reference",
            "is not given, and ",
            Argument("profile", value=repr(profile.name)),
            " compares with a control group that you name, such as {'race': 'White'}: it is no "
            "finding of the data.",
        )
    return profile
