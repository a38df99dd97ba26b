"""Numbers in bins, as the words of a class tell where they are cut."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from gerrymend.checker.exact import Attribute, Table
from gerrymend.checker.scores import within_words
from gerrymend.checker.words import NUMBER

_NUMBERS = rf"{NUMBER}(?:, {NUMBER})*"


def binned(table: Table, covers: str, until_bins: str) -> Table | None:
    """Return the table with each number as the lower end of its bin, by the words of its class.

    `until_bins` are the words before those that tell the cuts. None is returned where the rest
    doesn't tell them, and nothing else.

    >>> ages = Attribute("age", True, (Fraction(20), Fraction(41), Fraction(60)))
    >>> table = Table({"age": ages}, [[1, 0]] * 3, [], [])
    >>> binned(table, "of 2 bins (age at 40.5)", "of 2 bins").attributes["age"].values
    (Fraction(79, 2), Fraction(81, 2), Fraction(81, 2))
    >>> binned(table, "of 2 bins (age at 40.5) or so", "of 2 bins")
    """
    rest = covers.removeprefix(until_bins).removesuffix(within_words(table))
    if f"{until_bins}{rest}{within_words(table)}" != covers:
        return None
    cuts = dict(_cuts(rest, table))
    told = "; ".join(f"{name} at {words}" for name, words in cuts.items())
    if rest != (f" ({told})" if told else ""):
        return None
    attributes = dict(table.attributes)
    for name, attribute in table.attributes.items():
        if attribute.is_number:
            ends = [
                Fraction(cut.replace("−", "-")) for cut in cuts.get(name, "").split(", ") if cut
            ]
            if any(low >= high for low, high in pairwise(ends)):
                return None
            attributes[name] = _in_bins(attribute, ends)
    return replace(table, attributes=attributes)


def _cuts(text: str, table: Table) -> Iterator[tuple[str, str]]:
    """Yield the name of each number that is cut, and its cuts in words, in order."""
    for name, attribute in table.attributes.items():
        if attribute.is_number:
            found = re.search(rf"(?:^ \(|; ){re.escape(name)} at ({_NUMBERS})(?=; |\)$)", text)
            if found:
                yield name, found[1]


def _in_bins(attribute: Attribute, cuts: list[Fraction]) -> Attribute:
    """Return the lower ends of the bins that numbers are in; any number below the first cut."""
    first = cuts[0] - 1 if cuts else Fraction(0)
    values = (
        max((cut for cut in cuts if cut <= value), default=first) for value in attribute.values
    )
    return replace(attribute, values=tuple(values))
