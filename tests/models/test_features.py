"""X that is no table of numbers: refused in words that name it, whoever found out."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gerrymend import SubgroupParityClassifier


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = np.round(8 * rng.standard_normal((60, 2))) / 8
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    clf = SubgroupParityClassifier(LogisticRegression(), max_iter=2, tol=None, random_state=0)
    return clf.fit(X, y, sensitive_features={"a": rng.integers(0, 3, 60)}), X


BAD = [
    (lambda X: [[1.0], *X.tolist()[1:]], ValueError, "X can't be read"),
    (lambda X: np.array(list(map(tuple, X)), dtype="f8,f8"), TypeError, "X can't be read"),
    (lambda X: {1, 2}, TypeError, "X can't be read"),
    (lambda X: X.astype(complex), ValueError, "X has complex numbers"),
    (lambda X: X[:, 0], ValueError, "X can't be read(.|\n)*Reshape your data"),
    (lambda X: X[:, :, None], ValueError, "X can't be read.*dim 3"),
    (lambda X: X[:0], ValueError, "X can't be read.*0 sample"),
    (lambda X: None, ValueError, "X can't be read"),
    (lambda X: [["a", "b"]] * len(X), ValueError, "X can't be read as numbers(.|\n)*Encode them"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "kind", "words"), BAD)
def test_what_is_no_table_of_numbers_is_refused_by_name(fitted, change, kind, words):
    clf, X = fitted
    with pytest.raises(kind, match=words):
        clf.mixture_.predict(change(X))
    with pytest.raises(kind, match=words):
        clf.__class__(LogisticRegression()).fit(change(X), [0, 1] * 30)


def test_words_of_scikit_learn_that_name_X_are_left_as_they_are(fitted):
    clf, X = fitted
    with pytest.raises(ValueError, match=r"^X has 1 features, but") as caught:
        clf.mixture_.predict(X[:, :1])
    assert caught.value.__cause__ is None
