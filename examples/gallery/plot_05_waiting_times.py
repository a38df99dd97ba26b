"""
Waiting times: an outcome that is a number
==========================================

Which group waits longer than others? Unfairness is here a number of days times a share of the
people: 0.3 days can be 3 days for a tenth of them.
"""

import numpy as np

from gerrymend import AuditDisplay, OutcomeNotion, audit

rng = np.random.default_rng(0)
n_rows = 4000
age = rng.integers(18, 90, n_rows)
home = rng.choice(["town", "country"], n_rows)
days = np.round(rng.gamma(4.0, 5.0, n_rows) + 9.0 * ((home == "country") & (age >= 70)), 1)

waiting = OutcomeNotion(
    "waiting_time", lambda _, days: days, reads_labels=False, unit="days", worse="higher"
)
report = audit(
    None,
    days,
    sensitive_features={"age": age, "home": home},
    notion=waiting,
    gamma=0.3,
    subgroups="conjunctions",
    n_permutations=99,
)
print(report.lead)
AuditDisplay.from_report(report)
