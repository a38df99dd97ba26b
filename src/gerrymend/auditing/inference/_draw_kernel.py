"""Compiled passes over rows that are drawn or dealt: of numbers, a draw must look at each.

Rows are met in the order in which they are stored; a place in memory that depends on chance is one
of few, so that it is in a near cache. Places are unsigned: of others numba asks whether they count
from the end, which takes as long as the rest.
"""

import numpy as np

from gerrymend._runtime.compiling import njit

# Words of chance that are made at once, for four rows each.
_WORDS = 512
# How many kinds of chance say how often a row occurs, and the number that says that they don't.
STEPS = 4096
OPEN = 255


@njit(cache=True)
def random_word(seed, place):
    """Return a word of SplitMix64 (Steele, Lea and Flood, 2014), which any place can begin with."""
    word = seed + (np.uint64(place) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True)
def uniform(seed, place):
    """Return a number in [0, 1) of 53 bits, which a float holds."""
    return (random_word(seed, place) >> np.uint64(11)) * 2.0**-53


@njit(cache=True)
def deal_most(values, seed, slots, sums, counts, left):
    """Add each value to the cell that a random slot has, or to `left` where that is cell 0.

    Returns how many are left.
    """
    words = np.empty(_WORDS, np.uint64)
    chance = words.view(np.uint16)
    n_left = np.uint64(0)
    for start in range(0, len(values), len(chance)):
        for i in range(len(words)):
            words[i] = random_word(seed, start + i)
        for i in range(min(len(chance), len(values) - start)):
            cell = slots[chance[i]]
            value = values[np.uint64(start + i)]
            sums[cell] += value
            counts[cell] += 1
            # Written in any case, and kept or not: no processor can guess which branch it would be.
            left[n_left] = value
            n_left += np.uint64(cell == 0)
    return n_left


@njit(cache=True)
def deal_rest(left, seed, missing, sums):
    """Draw the values that are left without replacement, as many for each cell as it misses."""
    n_left = np.uint64(len(left))
    for cell in range(len(missing)):
        total = 0.0
        for _ in range(missing[cell]):
            drawn = np.uint64(uniform(seed, n_left) * n_left)
            n_left -= np.uint64(1)
            total += left[drawn]
            left[drawn] = left[n_left]
        sums[cell] += total


@njit(cache=True)
def add_times(key, values, seed, times, cumulative, sums):
    """Add to `sums` by key how often rows occur, at random, and so often their values.

    `times` has it for each of STEPS equal parts of [0, 1), or OPEN where `cumulative`, its
    distribution function, has to tell.
    """
    words = np.empty(_WORDS, np.uint64)
    chance = words.view(np.uint16)
    for start in range(0, len(key), len(chance)):
        for i in range(len(words)):
            words[i] = random_word(seed, start + i)
        for i in range(min(len(chance), len(key) - start)):
            step = chance[i] & np.uint16(STEPS - 1)
            n_times = times[step]
            if n_times == OPEN:
                # By a place before 0, which no row's own word has.
                u = (step + uniform(seed, -2 - start - i)) / STEPS
                n_times = 0
                while cumulative[n_times] <= u:
                    n_times += 1
            row = np.uint64(start + i)
            sums[key[row], 0] += n_times
            sums[key[row], 1] += n_times * values[row]
