"""
A risk score
============

Generated risk scores for reoffending, with an error that real ones often have: they count arrests,
and young men of one district are arrested more often for the same conduct. The harm is to be
called a high risk without having reoffended, so the audit compares false positive rates.
"""

import numpy as np

from gerrymend import AuditDisplay, audit

rng = np.random.default_rng(0)
n_rows = 5000
age = rng.integers(18, 65, n_rows)
sex = rng.choice(["woman", "man"], n_rows, p=[0.2, 0.8])
district = rng.choice(["north", "south", "west"], n_rows)
conduct = rng.normal(size=n_rows)
reoffended = (conduct + rng.normal(size=n_rows) > 0.5).astype(int)
policed = (district == "south") & (sex == "man") & (age < 30)
high_risk = (conduct + 0.8 * policed + 0.5 * rng.normal(size=n_rows) > 0.5).astype(int)

report = audit(
    reoffended,
    high_risk,
    sensitive_features={"age": age, "sex": sex, "district": district},
    favourable="negative",
    subgroups="conjunctions",
    n_permutations=99,
)
print(report.lead)
AuditDisplay.from_report(report)
