"""Estimators that the command line trains, by their names."""

from typing import Any

from gerrymend.inputs.settings import check_choice

ESTIMATOR_NAMES = ("logistic", "linear-regression", "tree", "forest", "boosting")


def make_estimator(name: str) -> Any:
    """Return the estimator behind a name; each is trained once a round, so that none is large.

    Raises a ValueError that lists the names.

    >>> make_estimator("tree")
    DecisionTreeClassifier(max_depth=6, min_samples_leaf=20)
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    check_choice(name, "--estimator", ESTIMATOR_NAMES)
    made: dict[str, Any] = {
        "logistic": LogisticRegression(max_iter=1000),
        "linear-regression": LinearRegression(),
        "tree": DecisionTreeClassifier(max_depth=6, min_samples_leaf=20),
        "forest": RandomForestClassifier(n_estimators=30, max_depth=10, min_samples_leaf=5),
        "boosting": HistGradientBoostingClassifier(max_iter=30),
    }
    return made[name]
