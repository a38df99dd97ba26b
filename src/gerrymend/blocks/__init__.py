"""Fictitious play between linear regressions, over rows that lie in blocks.

All that a round needs of the rows are sums, so rows may be split: over the memory of a device, or
over the workers of a cluster. What a block does is in `linear_block.py`, what is made of the sums
in `game.py`; neither knows where the blocks are.
"""

from gerrymend.blocks.game import BlockGame
from gerrymend.blocks.linear_block import Blocks, LinearBlock, LocalBlocks

__all__ = ["BlockGame", "Blocks", "LinearBlock", "LocalBlocks"]
