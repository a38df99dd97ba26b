"""Estimators around a module of torch, with scikit-learn's protocol and no more."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class Module(BaseEstimator):
    """A small network that trains on tensors, on the device where they are."""

    def __init__(self, n_hidden=4, steps=60, random_state=None):
        self.n_hidden = n_hidden
        self.steps = steps
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def _begin(self, X):
        import torch

        torch.manual_seed(self.random_state or 0)
        self.module_ = torch.nn.Sequential(
            torch.nn.Linear(X.shape[1], self.n_hidden),
            torch.nn.Tanh(),
            torch.nn.Linear(self.n_hidden, 1),
        ).to(X.device, X.dtype)

    def _train(self, X, y, sample_weight):
        import torch

        assert {type(X), type(y)} == {torch.Tensor}
        assert X.device == y.device
        weight = torch.ones_like(X[:, 0]) if sample_weight is None else sample_weight
        steps = torch.optim.Adam(self.module_.parameters(), lr=0.05)
        for _ in range(self.steps):
            steps.zero_grad()
            losses = self._losses(self.module_(X)[:, 0], y)
            ((losses * weight).sum() / weight.sum()).backward()
            steps.step()
        return self

    def fit(self, X, y, sample_weight=None):
        self._begin(X)
        return self._train(X, y, sample_weight)

    def _output(self, X):
        import torch

        with torch.no_grad():
            return self.module_(X)[:, 0]


class ModuleClassifier(ClassifierMixin, Module):
    def _losses(self, output, y):
        from torch.nn.functional import binary_cross_entropy_with_logits

        return binary_cross_entropy_with_logits(output, y.to(output.dtype), reduction="none")

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        return self._output(X)

    def predict(self, X):
        return (self._output(X) > 0).int()


class ModuleRegressor(RegressorMixin, Module):
    def _losses(self, output, y):
        return (output - y) ** 2

    def predict(self, X):
        return self._output(X)


class WeightlessClassifier(ModuleClassifier):
    """One that takes weights and ignores them."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)
