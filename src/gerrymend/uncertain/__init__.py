"""Attributes that are known as probabilities alone: expected unfairness, and what is possible."""
