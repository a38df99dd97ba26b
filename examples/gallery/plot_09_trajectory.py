"""
The paper's game, round by round
================================

The paper's algorithm is fictitious play between two linear regressions. It starts at the least
error, moves to where unfairness is near gamma, and circles there.
"""

from sklearn.linear_model import LinearRegression

from gerrymend import LinearThresholds, SubgroupParityClassifier, TrajectoryDisplay
from gerrymend.datasets import make_intersectional

people = make_intersectional(2000, cardinalities=(2, 3), n_numeric=0, random_state=0)
paper = SubgroupParityClassifier(
    LinearRegression(),
    gamma=0.01,
    solver="fictitious_play",
    subgroups=LinearThresholds(search="regression"),
    max_iter=500,
    tol=None,
    random_state=0,
)
paper.fit(people.data, people.target, sensitive_features=people.sensitive_features)
TrajectoryDisplay.from_estimator(paper)
