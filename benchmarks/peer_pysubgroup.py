"""Run in pysubgroup's own venv: seconds of its search, and what it finds."""

import json
import sys
import time

import numpy as np
import pandas as pd
import pysubgroup as ps

path, depth = sys.argv[1], int(sys.argv[2])
with np.load(path) as arrays:
    frame = pd.DataFrame({name: arrays[name] for name in arrays.files})
selectors = []
for name in frame.columns.drop("decision"):
    values = np.unique(frame[name])
    if frame[name].dtype.kind in "iu":
        for cut in values[1:].tolist():
            selectors.append(ps.IntervalSelector(name, float("-inf"), cut))
            selectors.append(ps.IntervalSelector(name, cut, float("inf")))
    else:
        selectors += [ps.EqualitySelector(name, value) for value in values.tolist()]
task = ps.SubgroupDiscoveryTask(
    frame, ps.BinaryTarget("decision", 1), selectors, result_set_size=1, depth=depth,
    qf=ps.StandardQF(a=1.0),
)  # fmt: skip
start = time.perf_counter()
result = ps.DFS(ps.BitSetRepresentation).execute(task)
seconds = time.perf_counter() - start
quality, subgroup = result.to_descriptions()[0][:2]
print(json.dumps({"seconds": seconds, "unfairness": float(quality), "subgroup": str(subgroup)}))
