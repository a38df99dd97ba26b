"""Compiled loops over a piece of a block; a game is a row, and arrays begin with the piece.

Sums may be added in any order, but products are rounded before they are added, as in NumPy: what
presses must be the same to the last bit where rounds are replayed.
"""

from gerrymend._runtime.compiling import njit


@njit(cache=True, fastmath={"reassoc"})
def vote(fitted, tie, multipliers, members, pressure, votes, pressed):
    """Press on the last groups, and take decisions, where the fitted cost is below 0, as votes.

    The fitted values become the decisions. Adds Σ pressure·decisions to `pressed`.
    """
    for game in range(len(fitted)):
        row, total, multiplier = fitted[game], 0.0, multipliers[game]
        member, press, mine = members[game], pressure[game], votes[game]
        for i in range(len(row)):
            press[i] += multiplier * member[i]
            decided = row[i] < -tie
            row[i] = decided
            mine[i] += decided
            total += press[i] * decided
        pressed[game] += total


@njit(cache=True, fastmath={"reassoc"})
def select(fitted, tie, weight, offset, slope, votes, members, masses, voted):
    """Select the groups, where the fitted residual is above 0, and add up their sums.

    The fitted values become w·b·g. Adds Σ w·g and Σ w·a·g to `masses`, Σ w·b·votes·g to `voted`.
    """
    for game in range(len(fitted)):
        row, member, mine = fitted[game], members[game], votes[game]
        mass = offsets = total = 0.0
        for i in range(len(row)):
            inside = row[i] > tie
            row[i] = member[i] = slope[i] * inside
            mass += weight[i] * inside
            offsets += offset[i] * inside
            total += row[i] * mine[i]
        masses[game, 0] += mass
        masses[game, 1] += offsets
        voted[game] += total
