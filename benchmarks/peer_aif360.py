"""Seconds a round of AIF360's GerryFairClassifier; run by the venv that `peers.py` makes."""

import sys
import time

import numpy as np
import pandas as pd
from aif360.algorithms.inprocessing import GerryFairClassifier
from aif360.datasets import BinaryLabelDataset

table = np.load(sys.argv[1])
frame = pd.DataFrame(table["X"], columns=[f"x{j}" for j in range(table["X"].shape[1])])
frame["label"] = table["y"]
dataset = BinaryLabelDataset(
    df=frame,
    label_names=["label"],
    protected_attribute_names=[f"x{j}" for j in table["protected"]],
)


def seconds(n_rounds):
    model = GerryFairClassifier(C=10, gamma=0.005, fairness_def="FP", max_iters=n_rounds + 1)
    start = time.perf_counter()
    model.fit(dataset, early_termination=False)
    return time.perf_counter() - start


seconds(1)
print((seconds(11) - seconds(1)) / 10)
