"""Play the paper's game between linear regressions, from sums over rows.

All that a round needs of the rows are sums, so rows may be split: over the memory of a
device, or over the workers of a cluster. `rows.py` says what the game asks of rows,
`array_rows.py` answers it for arrays in one place, and `game.py` makes rounds of the sums; neither
knows where the rows are. `learners.py` has who answers a round's costs.
"""
