"""
Fair to each, unfair to both
============================

The paper's toy example: false positive rates are alike by race and by gender, but every negative
who is a blue man or a green woman is a false positive.
"""

from gerrymend import AuditDisplay, audit
from gerrymend.datasets import make_gerrymandered

people = make_gerrymandered(2000, random_state=0)
report = audit(
    people.target,
    (people.score >= 0.5).astype(int),
    sensitive_features=people.sensitive_features,
    favourable="negative",
    n_permutations=99,
)
print(report.lead)

# %%
# One attribute at a time shows nothing of it. Where the two meet, it is all there.

AuditDisplay.from_report(report)
