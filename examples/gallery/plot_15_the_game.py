"""
What the game is worth: error, and a price of unfairness
========================================================

Against a mixture, the Auditor puts C on its worst subgroup if that exceeds gamma. So the Learner
pays error + C·max(0, unfairness − gamma). If C is large enough, the least price is where
unfairness equals gamma; if it is too small, being unfair is cheaper.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression

from gerrymend import audit
from gerrymend.datasets import make_intersectional

GAMMA = 0.01
people = make_intersectional(3000, random_state=0)
plain = LogisticRegression().fit(people.data, people.target).predict(people.data)

# Blends of the plain model with one that decides the same of everyone, and so is unfair to nobody.
shares = np.linspace(0, 1, 41)
constant = float(people.target.mean() > 0.5)
error = []
unfairness = []
for share in shares:
    p = share * plain + (1 - share) * constant
    error.append(np.abs(p - people.target).mean())
    unfairness.append(
        audit(
            people.target,
            p,
            sensitive_features=people.sensitive_features,
            decision_probabilities=True,
            subgroups="value_sets",
        ).unfairness
    )
error = np.array(error)
unfairness = np.array(unfairness)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(shares, error, label="error")
left.plot(shares, unfairness, label="unfairness of the worst subgroup")
left.axhline(GAMMA, color="black", lw=0.8, ls="--", label="gamma")
left.set_title("two things to make small", fontsize=10)
for C in (0, 3, 5, 20):
    worth = error + C * np.maximum(0, unfairness - GAMMA)
    (line,) = right.plot(shares, worth, label=f"C = {C}")
    best = int(worth.argmin())
    right.plot(shares[best], worth[best], "o", color=line.get_color())
right.set_ylim(0.25, 0.75)
right.set_title("what the Learner pays, and the least of it", fontsize=10)
for ax in (left, right):
    ax.set_xlabel("how often the plain model decides")
    ax.legend(fontsize=8)
