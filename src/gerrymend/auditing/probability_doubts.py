"""The doubt about attributes that are the probabilities of one, as a code and a sentence."""

from collections.abc import Iterator

from gerrymend.auditing.tally import Tally
from gerrymend.inputs.adding_to_one import adding_to_one

# Numbers of so few rows may well add up to 1.
_FEW_ROWS = 20


def about_probabilities(tally: Tally) -> Iterator[tuple[str, str]]:
    """Yield the doubt about attributes that add up to 1 in every row.

    >>> from gerrymend.auditing.from_rows import tally_of_rows
    >>> black = [0.25, 0.75] * 20
    >>> tally = tally_of_rows([0, 1] * 20, [1, 0] * 20, {"black": black, "white": black[::-1]})
    >>> [code for code, _ in about_probabilities(tally)]
    ['attributes_are_probabilities']
    """
    names = adding_to_one(tally.protected) if tally.n_rows.sum() > _FEW_ROWS else ()
    if names:
        yield (
            "attributes_are_probabilities",
            f"The protected attributes {' and '.join(names)} add up to 1 in every row, as the "
            "probabilities of one attribute do. They are taken for numbers here: groups are ranges "
            "of them, and nothing is said of the people who have the attribute. audit_uncertain "
            "(gerrymend uncertain) counts each row in each category with its probability.",
        )
