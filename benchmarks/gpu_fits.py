"""Whole default fits on a CUDA device: `python -m benchmarks.gpu_fits [FOLDER]`.

Rows are made on the device. What a fit ends with is audited by a process of its own, in memory,
which knows labels, probabilities of decisions and attributes, and nothing of the fit; meanwhile the
device goes on. Needs torch with CUDA, and some 20 GB of its memory.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn

from benchmarks.recording import RESULTS, record
from gerrymend import SubgroupParityClassifier, audit

GAMMA = 0.005
AUDIT_SECONDS = 10.0
# Rows of which a first audit is made, before that of all: what it finds is nearly the same.
FEWER = 2_000_000
WARM_UP = 300_000
CASES = {
    "default fit, n=10^7, d=100, 5 numbers": (10_000_000, 100, 5, {}),
    "certified fit, n=10^7, d=100, 3 categorical": (
        10_000_000, 100, 0, {"subgroups": "value_sets", "certify": True},
    ),
}  # fmt: skip


def people(n, d, n_numbers, seed=0):
    """Rows with numbers as protected attributes, or three categorical ones that decisions see."""
    import torch

    made = torch.Generator(device="cuda").manual_seed(seed)
    normal = {"generator": made, "device": "cuda", "dtype": torch.float32}
    X = torch.randn(n, d, **normal)
    if n_numbers:
        A = X[:, :n_numbers].contiguous()
        pull = A[:, 0] * A[:, 1]
    else:
        coded = [torch.randint(0, k, (n,), generator=made, device="cuda") for k in (2, 5, 9)]
        A = torch.stack(coded, dim=1)
        X[:, :3] = A.to(torch.float32)
        pull = 2.0 * (A[:, 0] == 0) * (A[:, 1] == 1) - 0.3 * (A[:, 2] > 6)
    score = X[:, 5:15].sum(1) / 3 + pull + torch.randn(n, **normal)
    return X, A, (score > 0).to(torch.int8)


def fit(folder, n, d, n_numbers, settings):
    """What a whole fit costs a user; labels, decisions and attributes are left in a folder."""
    import torch

    model = SubgroupParityClassifier(gamma=GAMMA, random_state=0, **settings)
    os.environ["SCIPY_ARRAY_API"] = "1"
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, A, y = people(WARM_UP, d, n_numbers)
        # Loads libraries, and compiles.
        sklearn.clone(model).set_params(max_iter=3).fit(X, y, sensitive_features=A)
        X, A, y = people(n, d, n_numbers)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        model.fit(X, y, sensitive_features=A)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        peak = torch.cuda.max_memory_allocated()
        decided = model.predict_proba(X)[:, 1]
    for name, values in (("y", y), ("p", decided), ("A", A)):
        np.save(Path(folder) / f"{name}.npy", values.cpu().numpy())
    return {
        "fit_s": seconds,
        "rounds": model.n_iter_,
        "error": float(model.history_["error"][-1]),
        "unfairness": float(model.history_["unfairness"][-1]),
        "upper_bound": model.upper_bound_,
        "certified": bool(model.certified_),
        "peak_gb": peak / 1e9,
    }


def audited(folder, subgroups):
    """Print what audits find of what a fit has left, of some rows and then of all."""
    y, p, A = (np.load(Path(folder) / f"{name}.npy") for name in "ypA")
    warnings.simplefilter("ignore")
    for n in (min(FEWER, len(y)), len(y)):
        start = time.perf_counter()
        report = audit(
            y[:n], p[:n], sensitive_features=A[:n], gamma=GAMMA, subgroups=subgroups,
            decision_probabilities=True, budget=AUDIT_SECONDS,
        )  # fmt: skip
        found = {
            "rows": n,
            "unfairness": report.unfairness,
            "upper_bound": report.upper_bound,
            "s": time.perf_counter() - start,
        }
        print(json.dumps(found), flush=True)


def main(folder=RESULTS, seconds=600.0):
    import torch

    deadline = time.monotonic() + float(seconds)
    measured = {}
    audits = {}
    with tempfile.TemporaryDirectory() as rows:
        for name, (n, d, n_numbers, settings) in CASES.items():
            left = Path(rows) / str(len(measured))
            left.mkdir()
            measured[name] = fit(left, n, d, n_numbers, settings)
            print(name, json.dumps(measured[name]), flush=True)
            torch.cuda.empty_cache()
            command = [__spec__.name, "--audit", left, settings.get("subgroups", "linear")]
            audits[name] = subprocess.Popen(
                [sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True
            )
        for name, process in audits.items():
            try:
                told, _ = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                told, _ = process.communicate()
            measured[name]["audits"] = [json.loads(line) for line in told.splitlines()]
            print(name, json.dumps(measured[name]["audits"]), flush=True)
    record(
        "gpu_fits", {"gamma": GAMMA, "cases": measured}, ("torch",), folder,
        device=torch.cuda.get_device_name(), cuda=torch.version.cuda,
    )  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--audit"]:
        audited(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
