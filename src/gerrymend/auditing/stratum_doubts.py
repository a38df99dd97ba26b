"""Doubts about strata: what leaves nothing to differ within them, each as a code and a sentence."""

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from gerrymend.auditing.tally import NotionTally, Tally
from gerrymend.notions import AnyNotion


def about_strata(tally: Tally, notions: Sequence[AnyNotion]) -> Iterator[tuple[str, str]]:
    """Yield doubts about control features that are the outcome, or a protected attribute.

    >>> from gerrymend.auditing.from_rows import Given, read_tally
    >>> from gerrymend.inputs.sample import Decided
    >>> from gerrymend.notions import STATISTICAL_PARITY
    >>> given = Given(None, [0, 1] * 20, {"sex": ["F", "F", "M", "M"] * 10}, None,
    ...               {"gender": ["w", "w", "m", "m"] * 10})
    >>> tally = read_tally(None, given, Decided(), [STATISTICAL_PARITY])
    >>> [code for code, _ in about_strata(tally, [STATISTICAL_PARITY])]
    ['control_is_protected']
    """
    if tally.strata is None:
        return
    names = " and ".join(column.name for column in tally.strata_columns)
    yield from _outcomes_alike(tally, notions, names)
    for attribute in _constant_within(tally):
        yield (
            "control_is_protected",
            f"Each stratum of {names} has one value of the protected attribute {attribute}: nobody "
            f"is compared with people of another {attribute}, and what differs between these is "
            "taken for rightful. Leave it out of the control features, or of the protected ones.",
        )


def _outcomes_alike(
    tally: Tally, notions: Sequence[AnyNotion], names: str
) -> Iterator[tuple[str, str]]:
    """Yield a doubt where strata leave nothing to differ: every outcome is that of its stratum."""
    for notion in notions:
        seen = tally.of_notion(notion)
        if len(seen.strata) < 2:
            continue
        ranges = [_outcome_ends(part) for part in seen.strata]
        if all(low == high for low, high in ranges):
            yield (
                "control_is_outcome",
                f"The {seen.notion.words} is the same for all rows of a stratum: {names} is what "
                "groups are compared by, in other words, and within it no subgroup can differ.",
            )
            return


def _outcome_ends(part: NotionTally) -> tuple[float, float]:
    """Return the least and the largest outcome in a stratum, as far as its sums tell them."""
    low, high = part.outcome_range
    if part.tally.spread is not None:
        return low, high
    rate = float(part.outcomes.sum() / part.cells.mass.sum())
    # All rows have the least outcome or all the largest, or else they differ.
    return (rate, rate) if rate in (low, high) else (low, high)


def _constant_within(tally: Tally) -> Iterator[str]:
    """Yield the attributes that have one value in each stratum, and more than one overall."""
    assert tally.strata is not None
    there = [part.weight.any(axis=0) for part in tally.strata.parts]
    everyone = tally.weight.any(axis=0)
    for column in tally.columns:
        if _is_one(column.values[everyone]):
            continue  # of which another doubt tells
        if all(_is_one(column.values[cells]) for cells in there):
            yield column.name


def _is_one(values: NDArray[Any]) -> bool:
    """Return whether there is no second value."""
    return not len(values) or bool((values == values[0]).all())
