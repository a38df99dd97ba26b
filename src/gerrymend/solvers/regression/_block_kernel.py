"""Compiled loops over a piece of a block; a game is a row, and arrays begin with the piece.

Sums may be added in any order, but products are rounded before they are added, as in NumPy: what
presses must be the same to the last bit where rounds are replayed.
"""

from gerrymend._runtime.compiling import njit


@njit(cache=True, fastmath={"reassoc"})
def vote(fitted, tie, multipliers, members, pressure, votes, pressed):
    """Press on the last groups, and vote where the fitted cost is below 0.

    Adds Σ pressure·votes to `pressed`.
    """
    for game in range(len(fitted)):
        row = fitted[game]
        total = 0.0
        multiplier = multipliers[game]
        member = members[game]
        press = pressure[game]
        mine = votes[game]
        for i in range(len(row)):
            press[i] += multiplier * member[i]
            mine[i] += row[i] < -tie
            total += press[i] * mine[i]
        pressed[game] += total


@njit(cache=True, fastmath={"reassoc"})
def select(fitted, tie, weight, offset, slope, votes, members, sums):
    """Select the groups, where the fitted residual is above 0, and add up their sums.

    The fitted values become w·b·g. Adds Σ w·g, Σ w·a·g and Σ w·b·votes·g to `sums`.
    """
    for game in range(len(fitted)):
        row = fitted[game]
        member = members[game]
        mine = votes[game]
        weights = offsets = voted = 0.0
        for i in range(len(row)):
            inside = row[i] > tie
            row[i] = member[i] = slope[i] * inside
            weights += weight[i] * inside
            offsets += offset[i] * inside
            voted += row[i] * mine[i]
        sums[game, 0] += weights
        sums[game, 1] += offsets
        sums[game, 2] += voted
