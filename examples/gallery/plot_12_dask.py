"""
More rows than fit: Dask
========================

Rows stay on the workers, and only sums come back. Here the cluster is threads of this process.
"""

import dask.array as da
from distributed import Client

from gerrymend import ConvergenceDisplay, SubgroupParityClassifier

with Client(processes=False, dashboard_address=None, n_workers=1, threads_per_worker=2):
    rows = da.random.default_rng(0).standard_normal((20_000, 5), chunks=(5_000, 5))
    labels = (rows[:, 0] + rows[:, 1] * (rows[:, 2] > 0) > 0).astype(int)
    fair = SubgroupParityClassifier(gamma=0.01, subgroups="conjunctions", random_state=0)
    fair.fit(rows, labels, sensitive_features=(rows[:, :3] > 0).astype(int))
ConvergenceDisplay.from_estimator(fair)
