"""Search linear thresholds for the worst subgroup."""
