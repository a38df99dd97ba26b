"""Run a fit: assemble and play the game, report progress, keep checkpoints."""
