"""Proofs over classes of subgroups: bounds that no subgroup of the class exceeds."""
