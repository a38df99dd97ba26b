"""Reports on the paper's four datasets, as people would get them: an audit and a frontier each.

`make example-reports` writes them to example-reports/, which is not committed; a few minutes.
"""

import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from gerrymend import SubgroupParityClassifier, audit, pareto_frontier
from gerrymend.datasets import fetch_adult, fetch_communities, fetch_law_school, fetch_student

FETCHERS = {
    "communities": fetch_communities,
    "law_school": fetch_law_school,
    "adult": fetch_adult,
    "student": fetch_student,
}
GAMMAS = [0.0, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05]


def rows_of(data, rows):
    """Some rows: what decisions may use, labels, and protected columns."""
    protected = {name: values[rows] for name, values in data.sensitive_features.items()}
    return data.data[rows], data.target[rows], protected


def write_audit(data, path):
    """An audit of plain logistic regression, on rows that it has not seen."""
    train, test = train_test_split(
        range(len(data.target)), test_size=0.5, stratify=data.target, random_state=0
    )
    X, y, _ = rows_of(data, train)
    model = LogisticRegression(max_iter=2000).fit(X, y)
    X, y, protected = rows_of(data, test)
    report = audit(
        y, model.predict(X), sensitive_features=protected, top=3, n_permutations=199, random_state=0
    )
    report.write_html(path)


def write_frontier(data, path):
    """What each unfairness costs, with MARGINAL beside it."""
    classifier = SubgroupParityClassifier(LogisticRegression(), budget=3.0, random_state=0)
    frontier = pareto_frontier(
        classifier, data.data, data.target, sensitive_features=data.sensitive_features,
        gammas=GAMMAS, test_size=0.3, marginal=True, audit_budget=3.0,
    )  # fmt: skip
    frontier.write_html(path)


def main(folder, *names):
    folder.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", ConvergenceWarning)  # a budget ends most games
    for name in names or FETCHERS:
        data = FETCHERS[name](as_frame=False)
        data.data = StandardScaler().fit_transform(data.data)
        for kind, write in {"audit": write_audit, "frontier": write_frontier}.items():
            path = folder / f"{name}_{kind}.html"
            write(data, path)
            print(path, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
