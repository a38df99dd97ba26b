"""The exit codes of every command: a gate in CI reads them, and nothing else defines them."""

# By verdict: proven within gamma, a subgroup exceeds it, and neither could be shown.
EXIT_CODES = {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}

# The call or the data is wrong: what was asked for can't be done.
CANT_BE_DONE = 2

# Ctrl-C; 128 + SIGINT, as shells have it.
INTERRUPTED = 130
