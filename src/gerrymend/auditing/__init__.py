"""Sum rows by cell, search and prove the worst subgroup, and report it."""
