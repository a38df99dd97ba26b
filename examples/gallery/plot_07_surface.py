"""
A discrimination surface
========================

The paper's Figure 4, for any two attributes: each point is a half-plane of the two, and its
height is how unfairly those in it are treated.
"""

from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression

from gerrymend import SubgroupParityClassifier, SurfaceDisplay, discrimination_surface
from gerrymend.datasets import make_intersectional

people = make_intersectional(4000, random_state=0)
plain = LogisticRegression().fit(people.data, people.target)
fair = SubgroupParityClassifier(
    LogisticRegression(), gamma=0.01, subgroups="value_sets", random_state=0
)
fair.fit(people.data, people.target, sensitive_features=people.sensitive_features)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
models = {"plain": plain.predict(people.data), "fair": fair.predict(people.data)}
for ax, (name, decisions) in zip(axes, models.items(), strict=True):
    surface = discrimination_surface(
        people.target,
        {name: decisions},
        sensitive_features=people.sensitive_features,
        attributes=(("category_0", "v0"), ("category_1", "v0")),
    )
    SurfaceDisplay.from_surface(surface, ax=ax)
