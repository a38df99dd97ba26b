"""Play over a pool of classifiers and subgroups that a linear program weighs."""
