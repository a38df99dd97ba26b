"""The doubt about weights that leave next to nobody, as a code and a sentence."""

from collections.abc import Iterator

from gerrymend.auditing.tally import Tally

# So few rows may well have weights like these.
_FEW_ROWS = 20


def about_weights(tally: Tally) -> Iterator[tuple[str, str]]:
    """Yield the doubt about weights that leave fewer than two rows.

    A mean by weights varies as one of (Σ w)² / Σ w² rows does (Kish).
    """
    squares = tally.squared_weight
    if squares is None or int(tally.n_rows.sum()) <= _FEW_ROWS:
        return
    if float(tally.weight.sum()) ** 2 < 2.0 * float(squares.sum()):
        yield (
            "weight_of_one_row",
            "Most of the weight is that of one row: by weight the others hardly count, and the "
            "verdict is about that one. Check the weights.",
        )
