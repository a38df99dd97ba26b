"""What the code of a page takes for given: rows, and names that an earlier page imports.

Reference pages speak of `A` and `y` and show a call, not a program. Here these are
something, so that the calls run.
"""

IMPORTS = "from gerrymend import *\nimport numpy as np\n"

PEOPLE = (
    IMPORTS
    + """
from sklearn.linear_model import LogisticRegression
rng = np.random.default_rng(0)
n = 600
A = {"sex": rng.choice(["F", "M"], n), "age": rng.integers(18, 80, n)}
"""
)

OUTCOMES = (
    PEOPLE
    + """
from gerrymend.datasets import make_intersectional
hired = rng.integers(0, 2, n)
level = rng.choice(["urgent", "today", "can wait"], n)
given = rng.choice(["urgent", "today", "can wait"], n)
days = rng.integers(20, 60, n).astype(float)
table = {
    "sex": ["F", "F", "M", "M"], "age": [30, 50, 30, 50], "hired": [0, 1, 0, 1],
    "count": [40, 30, 20, 50], "town": ["Bonn", "Ulm", "Bonn", "Ulm"],
    "total": [400.0, 330.0, 210.0, 520.0], "squares": [4500.0, 3900.0, 2400.0, 5700.0],
}
X = np.column_stack([A["sex"] == "F", A["age"] / 80, rng.standard_normal(n)]).astype(float)
y = (X[:, 2] + rng.standard_normal(n) > 0).astype(int)
amount = rng.integers(10, 100, n).astype(float)
admitted = y
sex = A["sex"]
department = rng.choice(["A", "B"], n)
"""
)

SCORES = (
    PEOPLE
    + """
X = rng.standard_normal((n, 3))
happened = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
p = np.clip(1 / (1 + np.exp(-X[:, 0] - 2 * (A["sex"] == "F"))), 0, 1)
X_new, A_new, p_new = X[:50], {name: column[:50] for name, column in A.items()}, p[:50]
"""
)

INFERENCE = (
    PEOPLE
    + """
y = rng.integers(0, 2, n)
decisions = (rng.random(n) < 0.4 + 0.3 * (A["sex"] == "F")).astype(int)
"""
)

FITS = (
    PEOPLE
    + """
import joblib
X = np.column_stack([A["sex"] == "F", rng.standard_normal(n)]).astype(float)
y = (X[:, 1] + rng.standard_normal(n) > 0).astype(int)
estimator = LogisticRegression()
"""
)

SETUPS = {
    "docs/outcomes.md": OUTCOMES,
    "docs/scores.md": SCORES,
    "docs/inference.md": INFERENCE,
    "docs/long_runs.md": FITS,
    "docs/scaling.md": FITS + 'clf = SubgroupParityClassifier(estimator, subgroups="marginals")\n',
}
