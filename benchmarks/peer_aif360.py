"""AIF360's GerryFairClassifier on a dataset; run by the venv that `peers.py` makes."""

import sys
import time

import numpy as np
import pandas as pd
from aif360.algorithms.inprocessing import GerryFairClassifier
from aif360.datasets import BinaryLabelDataset


def load(path):
    """The table that `peers.py` saved, in AIF360's form."""
    table = np.load(path)
    frame = pd.DataFrame(table["X"], columns=[f"x{j}" for j in range(table["X"].shape[1])])
    frame["label"] = table["y"]
    return BinaryLabelDataset(
        df=frame,
        label_names=["label"],
        protected_attribute_names=[f"x{j}" for j in table["protected"]],
    )


def fit(dataset, n_rounds, *, gamma=0.005, early_termination=False):
    """A model after so many rounds, and the seconds of its fit."""
    model = GerryFairClassifier(C=10, gamma=gamma, fairness_def="FP", max_iters=n_rounds + 1)
    start = time.perf_counter()
    model.fit(dataset, early_termination=early_termination)
    return model, time.perf_counter() - start


def seconds_a_round(path, out):
    """By the difference of two runs."""
    dataset = load(path)
    fit(dataset, 1)
    few, many = (fit(dataset, n_rounds)[1] for n_rounds in (1, 11))
    np.savez(out, seconds=(many - few) / 10)


def decisions(path, out, gamma, n_rounds):
    """Probability of deciding 1 on the training rows."""
    dataset = load(path)
    fit(dataset, 1)
    model, seconds = fit(dataset, int(n_rounds), gamma=float(gamma), early_termination=True)
    probability = model.predict(dataset, threshold=False).labels.ravel()
    np.savez(out, probability=probability, seconds=seconds)


{"seconds_a_round": seconds_a_round, "decisions": decisions}[sys.argv[1]](*sys.argv[2:])
