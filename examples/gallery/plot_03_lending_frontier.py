"""
What fairness costs: a frontier
===============================

Each point is a model for one gamma, audited on held-out rows. How much error a fairer treatment is
worth is a question of policy, which the picture leaves to you.
"""

from sklearn.linear_model import LogisticRegression

from gerrymend import FrontierDisplay, SubgroupParityClassifier, pareto_frontier
from gerrymend.datasets import make_intersectional

applicants = make_intersectional(4000, random_state=0)
frontier = pareto_frontier(
    SubgroupParityClassifier(LogisticRegression(), subgroups="value_sets", random_state=0),
    applicants.data,
    applicants.target,
    sensitive_features=applicants.sensitive_features,
    gammas=[0.005, 0.01, 0.02, 0.03],
    test_size=0.3,
    random_state=0,
)
FrontierDisplay.from_frontier(frontier)
