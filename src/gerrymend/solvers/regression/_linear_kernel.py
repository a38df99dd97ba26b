"""Compiled loops over rows and cells of a round between linear regressions; a game is a row.

All that is between two matrix products is done in one pass, over a piece that is in the cache and
begins at `first`. Loops are over views of it, from 0: only these are compiled to vector code.
"""

from gerrymend._runtime.compiling import njit


@njit(cache=True, fastmath={"reassoc", "contract"})
def _dot(left, right):
    """Return Σ left·right, in whatever order is fast: of whole numbers it is the same."""
    total = 0.0
    for i in range(len(right)):
        total += left[i] * right[i]
    return total


@njit(cache=True)
def _by_cell(votes, slope, shift, starts, first, out):
    """Write Σ slope·votes of each cell, on the grid of `_sums`: the same in any order of rows."""
    size = len(out)
    if len(starts) == 0:  # a cell is a row
        votes = votes[first : first + size]
        slope = slope[first : first + size]
        for i in range(size):
            out[i] = (slope[i] * votes[i] + shift) - shift
        return
    for c in range(size):
        total = 0.0
        for i in range(starts[first + c], starts[first + c + 1]):
            total += (slope[i] * votes[i] + shift) - shift
        out[c] = total


@njit(cache=True)
def vote(fitted, tie, first, votes):
    """Add the decisions, which are where the fitted cost is below 0, to the votes."""
    for game in range(len(fitted)):
        row = fitted[game]
        mine = votes[game][first : first + len(row)]
        for i in range(len(row)):
            mine[i] += row[i] < -tie


@njit(cache=True)
def press(multipliers, members, first, votes, slope, shift, starts, counts, out, pressed):
    """Press on the last groups, and sum the votes by cell; add Σ counts·sums to `pressed`."""
    for game in range(len(out)):
        row = out[game]
        sign = int(multipliers[game])
        mine = counts[game][first : first + len(row)]
        last = members[game][first : first + len(row)]
        if sign != 0:
            for c in range(len(row)):
                mine[c] += sign * last[c]
        _by_cell(votes[game], slope, shift, starts, first, row)
        pressed[game] += _dot(mine, row)


@njit(cache=True)
def select(fitted, tie, first, votes, slope, shift, starts, of_members, members, sums):
    """Select groups, where the fitted residual is above 0; add sums of what members have to `sums`.

    The fitted values are overwritten.
    """
    for game in range(len(fitted)):
        row = fitted[game]
        mine = members[game][first : first + len(row)]
        for c in range(len(row)):
            mine[c] = row[c] > tie
        for kind in range(len(of_members)):
            sums[game, kind] += _dot(mine, of_members[kind][first : first + len(row)])
        _by_cell(votes[game], slope, shift, starts, first, row)
        sums[game, len(of_members)] += _dot(mine, row)


@njit(cache=True)
def spread(games, multipliers, members, cell, slope, first, out):
    """Write multiplier·slope·members by row, of some of the games, one after the other."""
    size = out.shape[1]
    slope = slope[first : first + size]
    for k in range(len(games)):
        mine = members[games[k]]
        row = out[k]
        multiplier = multipliers[games[k]]
        if len(cell) == 0:  # a cell is a row
            mine = mine[first : first + size]
            for i in range(size):
                row[i] = multiplier * slope[i] * mine[i]
        else:
            for i in range(size):
                row[i] = multiplier * slope[i] * mine[cell[first + i]]


@njit(cache=True, fastmath={"reassoc", "contract"})
def decided(fitted, tie, first, base, total):
    """Add Σ base, over rows whose fitted cost is below 0, to `total`."""
    base = base[first : first + fitted.shape[1]]
    for play in range(len(fitted)):
        row = fitted[play]
        mine = 0.0
        for i in range(len(row)):
            mine += base[i] if row[i] < -tie else 0.0
        total[play] += mine
