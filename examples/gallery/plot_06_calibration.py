"""
Does 0.7 mean 0.7 for everyone?
===============================

The subgroup for which a score is most wrong, before and after the score was patched. Patches are
learned on one half of the rows and shown on the other.
"""

from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from gerrymend import SubgroupCalibrationDisplay, SubgroupCalibrator
from gerrymend.datasets import make_intersectional

people = make_intersectional(6000, random_state=0)
learn, show = train_test_split(range(6000), test_size=0.5, random_state=0)
X, y = people.data, people.target


def attributes(rows):
    """Return the protected attributes of some rows."""
    return {name: column[rows] for name, column in people.sensitive_features.items()}


plain = LogisticRegression().fit(X[learn], y[learn])
patched = SubgroupCalibrator(LogisticRegression(), random_state=0)
patched.fit(X[learn], y[learn], sensitive_features=attributes(learn))
scores = {
    "as it was": plain.predict_proba(X[show])[:, 1],
    "patched": patched.predict_proba(X[show], sensitive_features=attributes(show))[:, 1],
}

# %%
# Every patch is a rule, an interval of the score and a change.

print(patched.patches_)

# %%
# The subgroup for which each score is most wrong:

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, (name, score) in zip(axes, scores.items(), strict=True):
    SubgroupCalibrationDisplay.from_predictions(
        y[show], score, sensitive_features=attributes(show), subgroups="conjunctions", ax=ax
    )
    # The legend is where a title would be.
    ax.set_xlabel(f"predicted (score {name})")
