"""What users pass, read and checked once: numbers, categories, labels, arrays."""
