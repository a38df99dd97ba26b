"""
Hiring, where nobody knows who deserved it
==========================================

There is no label: nobody knows how those would have done who were not hired. Rates of selection
need none. Jobs differ in how many they take, so people are compared with those who applied for
the same one.
"""

import numpy as np

from gerrymend import AuditDisplay, audit

rng = np.random.default_rng(1)
n_rows = 4000
sex = rng.choice(["woman", "man"], n_rows)
age = rng.integers(20, 63, n_rows)
job = rng.choice(["office", "field"], n_rows)
chance = np.where(job == "office", 0.2, 0.5) - 0.12 * ((sex == "woman") & (age >= 45))
hired = (rng.random(n_rows) < chance).astype(int)

report = audit(
    None,
    hired,
    sensitive_features={"sex": sex, "age": age},
    control_features={"job": job},
    notion="statistical_parity",
    favourable="positive",
    subgroups="conjunctions",
    n_permutations=99,
)
print(report.lead)
AuditDisplay.from_report(report)
