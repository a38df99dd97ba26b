"""Readers and checks of what users pass: numbers, categories, labels, arrays, settings."""
