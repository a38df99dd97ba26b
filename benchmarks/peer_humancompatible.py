"""Run in humancompatible-detect's own venv: seconds of its search, and what it finds."""

import json
import sys
import time

import numpy as np
import pandas as pd
from humancompatible.detect import most_biased_subgroup

path, limit = sys.argv[1], int(sys.argv[2])
with np.load(path) as arrays:
    frame = pd.DataFrame({name: arrays[name] for name in arrays.files})
attributes, decision = frame.drop(columns="decision"), frame[["decision"]]
# HiGHS, its default solver. Where it runs out of time the best that it has counts, without proof.
options = {"time_limit": limit, "check_optimality": False}
start = time.perf_counter()
rule = most_biased_subgroup(attributes, decision, seed=0, verbose=0, method_kwargs=options)
seconds = time.perf_counter() - start
conditions = [(condition.feature.name, condition.value) for _, condition in rule]
print(json.dumps({"seconds": seconds, "conditions": conditions}))
