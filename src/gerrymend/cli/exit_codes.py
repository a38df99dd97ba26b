"""The exit code of each verdict; 2 is for what can't be done, 130 for Ctrl-C."""

EXIT_CODES = {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}
