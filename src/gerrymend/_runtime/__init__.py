"""Signals, workers, threads, files, versions and compilation: nothing of fairness."""
