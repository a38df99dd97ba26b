"""References: what the outcomes of a group are compared with.

The value of a subgroup is (1/n)·Σ w·(u − r) over its rows in the event. The reference r is the mean
over all rows in the event ("overall"), a number, or a factor times the mean of a named group. What
scores predict is compared with the scores themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.conditions import plain_condition
from gerrymend.inputs.held_numbers import held
from gerrymend.inputs.numbers import LARGEST, is_number_type, short

OVERALL = "overall"
# Of notions of scores: each row is compared with its own, so that its error is with 0.
PREDICTED = "predicted"


@dataclass(frozen=True)
class GroupMean:
    """A factor times the mean of a named group, for others to be compared with.

    Parameters
    ----------
    group : dict
        Maps protected attributes to a value, a list of values, or a pair (low, high) for
        low ≤ x < high, with None for an open end: who is in, as of a group of ExplicitGroups.
    factor : float, default=1.0
        Above 0; 0.8 for four fifths of the group's mean.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.
    FairnessNotion : A rate that should be the same in every subgroup.
    OutcomeNotion : A mean of numbers, one a row, that should be the same in every subgroup.

    Examples
    --------
    The rule of four fifths, for every subgroup and not for women alone: is anyone's rate of
    positive decisions below four fifths of the men's?

    >>> from gerrymend import GroupMean, audit
    >>> hired = [1, 1, 0, 0] * 10 + [1, 0, 0, 0] * 10
    >>> report = audit(None, hired, sensitive_features={"sex": ["M"] * 40 + ["F"] * 40},
    ...                notion="statistical_parity", favourable="positive", side="disadvantaged",
    ...                reference=GroupMean({"sex": "M"}, factor=0.8))
    >>> worst = report.worst
    >>> print(worst, worst.rate, worst.overall_rate, round(worst.unfairness, 3))
    sex = F 0.25 0.4 -0.075
    """

    group: Mapping[str, Any]
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.group, Mapping) or not self.group:
            raise ArgumentError(
                "group",
                "of a GroupMean must map attributes to values, as in {'sex': 'M'}; got "
                f"{short(self.group)}.",
            )
        factor = _as_number(self.factor, "factor")
        if factor is None or factor <= 0:
            raise ArgumentError(
                "factor",
                f"of a group's mean must be a number above 0; got {short(self.factor)}. Pass 0.8 "
                "for four fifths; a reference of 0 is the number 0.",
            )
        # The class is frozen; this replaces what was given by plain data.
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "group", dict(self.group))

    def __hash__(self) -> int:
        # Values of conditions may be lists, which have no hash.
        return hash((tuple(self.group), self.factor))

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as plain data for JSON.

        >>> GroupMean({"sex": "M"}, 0.8).to_dict()
        {'group': {'sex': {'values': ['M']}}, 'factor': 0.8}
        """
        conditions = {str(name): plain_condition(wanted) for name, wanted in self.group.items()}
        return {"group": conditions, "factor": self.factor}


Reference: TypeAlias = "str | float | GroupMean"


def is_none_or(value: Any, choices: tuple[str, ...]) -> bool:
    """Return whether a value is None or one of the choices; any value can be asked of.

    >>> is_none_or(None, ("higher",)), is_none_or([], ("higher",))
    (True, False)
    """
    return value is None or (isinstance(value, str) and value in choices)


def check_worse(name: str, worse: Any) -> None:
    """Raise ValueError unless a notion says which of its values are worse, or says nothing."""
    if not is_none_or(worse, ("higher", "lower")):
        raise ValueError(
            f"worse of the notion {name!r} is 'higher', 'lower' or None; got {short(worse)}."
        )


def check_reference(reference: Any) -> Reference:
    """Return a reference as "overall", a float or a GroupMean; raise an ArgumentError otherwise.

    >>> check_reference(30), check_reference("overall")
    (30.0, 'overall')
    """
    if isinstance(reference, GroupMean) or (isinstance(reference, str) and reference == OVERALL):
        return reference
    number = _as_number(reference, "reference")
    if number is None:
        raise ArgumentError(
            "reference",
            "must be 'overall', a finite number (of at most "
            f"{LARGEST:g} in size), or GroupMean({{'sex': 'M'}}, factor=0.8) for a part of a "
            f"group's mean; got {short(reference)}.",
        )
    return number


def _as_number(value: Any, argument: str) -> float | None:
    """Return a finite number so small that its sums are finite; None for anything else.

    Raises ArgumentError for one that float64 would merge with another.
    """
    number = held(value, argument) if is_number_type(type(value)) else None
    # Not `> LARGEST`, which is False of NaN.
    return number if number is not None and abs(number) <= LARGEST else None
