"""
How a training converges
========================

Error and unfairness of the mixture after each round of training.
"""

from sklearn.linear_model import LogisticRegression

from gerrymend import ConvergenceDisplay, SubgroupParityClassifier
from gerrymend.datasets import make_intersectional

people = make_intersectional(3000, random_state=0)
fair = SubgroupParityClassifier(
    LogisticRegression(), gamma=0.01, subgroups="conjunctions", random_state=0
)
fair.fit(people.data, people.target, sensitive_features=people.sensitive_features)
ConvergenceDisplay.from_estimator(fair)
