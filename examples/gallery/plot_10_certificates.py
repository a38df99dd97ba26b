"""
Found, and at most
==================

What a search finds is a lower bound of the largest unfairness, and a proof gives an upper bound.
If the two are equal, the audit is exact.
"""

from matplotlib import pyplot as plt

from gerrymend import audit
from gerrymend.datasets import make_benchmark

data = make_benchmark(4000, cardinalities=(2, 3), numeric=(20, 20, 20), random_state=0)
classes = ["marginals", "conjunctions", "value_sets", "linear"]
reports = [
    audit(
        data.target,
        data.decisions,
        sensitive_features=data.sensitive_features,
        notion="statistical_parity",
        subgroups=subgroups,
        budget=3,
    )
    for subgroups in classes
]

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.barh(classes, [report.upper_bound for report in reports], color="#c9d7e6", label="at most")
ax.barh(classes, [report.unfairness for report in reports], height=0.4, label="found")
ax.set_xlabel("unfairness")
ax.invert_yaxis()
ax.legend()
