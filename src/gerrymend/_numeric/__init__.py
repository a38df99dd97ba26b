"""Arithmetic that knows nothing of fairness: exact sums, least squares, cuts."""
