"""Arithmetic that knows nothing of fairness."""
