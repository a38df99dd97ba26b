"""Frontiers of error and unfairness: a model trained and audited for each gamma, compared."""
