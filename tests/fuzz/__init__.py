"""Generated inputs, valid and hostile, for every public entry and for the command line.

A case is made from one integer. What a finding prints repeats it:

    python -m tests.fuzz.batch 1234

`cases` makes them, `samples` and `disguises` their data, `oracle` judges what they came to.
"""
