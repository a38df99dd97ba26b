"""Play the paper's game between linear regressions, from sums over rows.

All that a round needs of the rows are sums, so rows may be anywhere. `rows.py` says what the game
asks of them, and `game.py` makes rounds of the sums. `cell_rows.py` answers for NumPy's rows in
memory, over cells; `array_block.py` for a block of any array library's, on a device, or one of
many on the workers of a cluster. `learners.py` has who answers a round's costs.
"""
