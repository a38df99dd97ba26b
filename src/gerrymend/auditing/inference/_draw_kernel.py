"""Compiled passes over rows that are drawn or dealt: of numbers, a draw must look at each.

Rows are met in the order in which they are stored; a place in memory that depends on chance is one
of few, so that it is in a near cache.
"""

import numpy as np

from gerrymend._runtime.compiling import njit

# The part of the noise that says how often a row occurs: tables of so many are in the first cache.
TIMES_BITS = 4095
# No number of times: it is left open.
OPEN = 255


@njit(cache=True)
def fill_with_noise(words, seed):
    """Fill with the random words that SplitMix64 (Steele, Lea and Flood, 2014) makes of a seed.

    Each depends on the seed and its place alone, so that eight are made at once.
    """
    for i in range(len(words)):
        word = seed + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words[i] = word ^ (word >> np.uint64(31))


@njit(cache=True)
def deal_most(values, noise, slots, sums, counts, left):
    """Add each value to the cell that its noise says, or to `left` where that is cell 0.

    Returns how many are left.
    """
    n_left = 0
    for i in range(len(values)):
        cell = slots[noise[i]]
        value = values[i]
        sums[cell] += value
        counts[cell] += 1
        # Written in any case, and kept or not: chance can't be predicted, and a branch would be.
        left[n_left] = value
        n_left += cell == 0
    return n_left


@njit(cache=True)
def deal_rest(left, words, missing, sums):
    """Draw the values that are left without replacement, as many for each cell as it misses.

    `words` has a random one for each of them.
    """
    n_left = len(left)
    for cell in range(len(missing)):
        for _ in range(missing[cell]):
            # 53 bits are a number in [0, 1), and exact as a float.
            drawn = int((words[n_left - 1] >> np.uint64(11)) * 2.0**-53 * n_left)
            n_left -= 1
            sums[cell] += left[drawn]
            left[drawn] = left[n_left]


@njit(cache=True)
def add_times(key, values, noise, times, sums, left_open):
    """Add to `sums` by key how often rows occur, which their noise says, and so often their values.

    Rows whose noise is not enough to tell, OPEN, are listed in `left_open`. Returns how many.
    """
    n_open = 0
    for i in range(len(key)):
        n_times = times[noise[i] & TIMES_BITS]
        if n_times == OPEN:
            left_open[n_open] = i
            n_open += 1
        else:
            sums[key[i], 0] += n_times
            sums[key[i], 1] += n_times * values[i]
    return n_open
