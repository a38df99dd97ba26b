"""Compiled passes over rows that are drawn or dealt: of numbers, a draw must look at each.

Rows are met in the order in which they are stored; a place in memory that depends on chance is one
of few, so that it is in a near cache. Chance is made for many rows at once, in loops that a
processor does for several rows at a time. Places are unsigned: of others numba asks whether they
count from the end, which takes as long as the rest.
"""

import numpy as np

from gerrymend._runtime.compiling import njit

# Words of chance that are made at once, for four rows each.
_WORDS = 512
_ROWS = 4 * _WORDS
# Sums that are made side by side, of every so-manieth row.
_LANES = 32
# Numbers that are dealt are whole, and at most MOST_STEPS.
MOST_STEPS = 2**48
# A slot's word has the sum of its numbers in so many bits, and above them how many these are.
_COUNT = np.uint64(56)
_ONCE = np.uint64(2**56)
# Numbers for each slot, on average, before all words are emptied.
_A_SLOT = 32
# The values of a row's chance.
STEPS = 2**16


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
def deal_most(numbers, seed, starts, n_slots, sums, left):
    """Let each number choose a slot at random, and add it, and 1, to the sums of the slot's cell.

    Slots are a power of two, at most 2¹⁶; cell c has those from starts[c] to starts[c + 1], and
    the last have none. Their numbers are put into `left`; returns how many.

    A slot is a word with both sums, its numbers' count in the highest bits: one addition a number,
    where chance itself is the place. Words are emptied before they could overflow: numbers are at
    most MOST_STEPS, and a slot gets _A_SLOT at a time on average, 2⁸ with a probability below
    10⁻¹³⁰.
    """
    words = np.empty(_WORDS, np.uint64)
    chance = words.view(np.uint16)
    mask = np.uint64(n_slots - 1) * np.uint64(0x0001000100010001)
    n_used = np.uint64(starts[-1])
    slots = np.zeros(n_slots, np.uint64)
    n_left = np.uint64(0)
    n_together = _A_SLOT * n_slots
    for first in range(0, len(numbers), n_together):
        stop = min(first + n_together, len(numbers))
        for start in range(first, stop, _ROWS):
            for i in range(_WORDS):
                words[i] = random_word(seed, start + i) & mask
            part = numbers[start : min(start + _ROWS, stop)]
            for i in range(len(part)):
                slot = np.uint64(chance[i])
                number = part[i]
                slots[slot] += number + _ONCE
                # Written in any case, and kept or not: no processor can guess which it would be.
                left[n_left] = number
                n_left += np.uint64(slot >= n_used)
        for cell in range(len(starts) - 1):
            total = 0.0
            for i in range(starts[cell], starts[cell + 1]):
                word = slots[np.uint64(i)]
                total += np.int64(word & (_ONCE - np.uint64(1)))
                sums[cell, 1] += word >> _COUNT
            sums[cell, 0] += total
        slots[:] = 0
    return n_left


@njit(cache=True)
def deal_rest(left, seed, missing, sums):
    """Draw the numbers that are left without replacement, as many for each cell as it misses."""
    chance = np.empty(_WORDS)
    n_used = _WORDS
    n_left = np.uint64(len(left))
    for cell in range(len(missing)):
        total = 0.0
        for _ in range(missing[cell]):
            if n_used == _WORDS:
                for i in range(_WORDS):
                    chance[i] = uniform(seed, n_left + np.uint64(i))
                n_used = 0
            drawn = np.uint64(chance[n_used] * n_left)
            n_used += 1
            n_left -= np.uint64(1)
            total += np.int64(left[drawn])
            left[drawn] = left[n_left]
        sums[cell] += total


@njit(cache=True)
def draw_times(seed, start, cuts, rest, words, chance, times):
    """Draw how often each of _ROWS rows from a start on occurs.

    It is the number of `cuts`, of eight, that the row's chance reaches: so often from each cut to
    the next. Chance from the last cut on tells nothing; a row occurs k times then with a
    probability whose distribution function is `rest`. `words` and `chance` are the same memory.
    """
    one, two, three, four, five, six, seven, unknown = cuts
    for i in range(_WORDS):
        words[i] = random_word(seed, start + i)
    is_open = False
    for i in range(_ROWS):
        row = chance[i]
        # Written out, and with no branch, so that many rows are done at a time.
        n_times = np.uint8(row >= one) + np.uint8(row >= two) + np.uint8(row >= three)
        n_times += np.uint8(row >= four) + np.uint8(row >= five) + np.uint8(row >= six)
        times[i] = n_times + np.uint8(row >= seven)
        is_open |= row >= unknown
    if is_open:
        for i in range(_ROWS):
            if chance[i] >= unknown:
                # By a place before 0, which no row's own word has.
                u = uniform(seed, -2 - start - i)
                times[i] = 0
                while rest[times[i]] <= u:
                    times[i] += 1


@njit(cache=True)
def add_times(starts, keys, values, seed, cuts, rest, sums):
    """Add to `sums` by key how often rows occur, at random, and so often their values.

    Rows from starts[i] to starts[i + 1] have the key keys[i]; chance is as in `draw_times`.
    """
    words = np.empty(_WORDS, np.uint64)
    chance = words.view(np.uint16)
    times = np.empty(_ROWS, np.uint8)
    lanes = np.empty(_LANES)
    run = 0
    for start in range(0, len(values), _ROWS):
        draw_times(seed, start, cuts, rest, words, chance, times)
        stop = min(start + _ROWS, len(values))
        first = start
        while first < stop:
            end = min(stop, starts[run + 1])
            add_run(times, values, start, first, end, lanes, sums[keys[run]])
            run += end == starts[run + 1]
            first = end


@njit(cache=True)
def add_run(times, values, start, first, end, lanes, into):
    """Add the times of rows from first to end, whose places `times` counts from start, to a key."""
    n_times = np.uint64(0)
    for i in range(first, end):
        n_times += np.uint64(times[np.uint64(i - start)])
    whole = first + (end - first) // _LANES * _LANES
    total = 0.0
    if whole > first:
        lanes[:] = 0.0
        for row in range(first, whole, _LANES):
            for j in range(_LANES):
                place = np.uint64(row + j)
                lanes[j] += times[place - np.uint64(start)] * values[place]
        for j in range(_LANES):
            total += lanes[j]
    for i in range(whole, end):
        total += times[np.uint64(i - start)] * values[np.uint64(i)]
    into[0] += n_times
    into[1] += total


@njit(cache=True)
def add_rows(rows, keys, values, sums):
    """Add to `sums` by key how often rows are listed, and so often their values."""
    for row in rows:
        key = keys[row]
        sums[key, 0] += 1.0
        sums[key, 1] += values[row]
