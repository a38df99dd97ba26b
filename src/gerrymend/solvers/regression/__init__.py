"""Play the paper's game between linear regressions, from sums over rows.

All that a round needs of the rows are sums, so rows may be split: over the memory of a
device, or over the workers of a cluster. What a block does is in `linear_block.py`, what
is made of the sums in `block_game.py`; neither knows where the blocks are.
"""
