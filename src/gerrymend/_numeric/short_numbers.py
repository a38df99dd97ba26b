"""Choose numbers of few digits between others, for people to read."""

import math


def shortest_between(
    low: float, high: float, target: float | None = None, margin: float = 0.0
) -> float:
    """Return the number of fewest digits near `target` that lies strictly between two others.

    It is more than `margin` away from both. `target` is by default the middle.

    >>> shortest_between(37.0, 39.0, target=38.5816), shortest_between(-math.inf, 2.0)
    (38.6, 1.0)
    """
    if target is None:
        if math.isinf(low) or math.isinf(high):
            return high - 1.0 if math.isinf(low) else low + 1.0
        target = low + (high - low) / 2
    for digits in range(3, 18):  # 17 significant digits are always enough for float64
        candidate = float(f"{target:.{digits}g}")
        if low + margin < candidate < high - margin:
            return candidate
    return target


def cut_between(below: float, above: float) -> float:
    """Return a short number to cut at, such that below < cut ≤ above.

    >>> cut_between(40.0, 41.0), cut_between(1.0, math.nextafter(1.0, 2.0))
    (40.5, 1.0000000000000002)
    """
    cut = shortest_between(below, above)
    return cut if below < cut < above else above  # neighbours in float64 have nothing between
