"""Calibrate scores first, then decide fairly by them: what each step does to which figure.

Run it with `python examples/calibrate_then_decide.py`. It needs no download.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from gerrymend import (
    Conjunctions,
    Multicalibration,
    SubgroupCalibrator,
    SubgroupParityClassifier,
    audit,
)
from gerrymend.datasets import make_intersectional

GAMMA = 0.01
# Intersections of two conditions, numbers in few bins: what finer cuts find is mostly chance.
SUBGROUPS = Conjunctions(bins=8)
# Scores are to be right within every run of these five bins.
NOTION = Multicalibration(bins=5)


def main():
    """Learn scores, then decisions, each on rows of their own; measure both on others."""
    # Made data, in which negatives of one intersection look like positives to any model.
    data = make_intersectional(9000, random_state=0)
    rows = np.arange(len(data.target))
    # Three parts, since each step has to see scores of rows that the one before was not fitted to.
    first, rest = train_test_split(rows, train_size=4000, random_state=0)
    second, test = train_test_split(rest, train_size=2500, random_state=0)

    # 1. Scores that mean the same for everyone. Patches are learnt out-of-fold.
    calibrator = SubgroupCalibrator(LogisticRegression(), notion=NOTION, subgroups=SUBGROUPS).fit(
        data.data[first], data.target[first], sensitive_features=of(data, first)
    )
    patches = calibrator.patches_
    print(f"{len(patches)} patches were learnt on {len(first):,} rows; the three that change most:")
    for patch in sorted(patches, key=lambda one: -abs(np.log(one.change.factor)))[:3]:
        print(
            f"  {patch.rule}, {patch.interval('score')}: {patch.predicted:.1%} predicted, "
            f"{patch.happened:.1%} happened; {patch.change}"
        )
    print(patches.standing.why())
    plain = calibrator.estimator_.predict_proba(data.data)[:, 1]
    patched = calibrator.predict_proba(
        data.data, sensitive_features=of(data, rows)
    )[:, 1]  # fmt: skip

    # 2. Decisions by these scores, beside what the model knew, with false positive rates that
    # differ by no more than gamma. Scores that are right don't make rates equal: who has higher
    # scores for good reason has more false positives, too. That is what this step is for.
    known = np.column_stack([log_odds(patched), data.data])
    decider = SubgroupParityClassifier(
        LogisticRegression(), gamma=GAMMA, subgroups=SUBGROUPS, random_state=0
    ).fit(known[second], data.target[second], sensitive_features=of(data, second))

    print(f"\nOn {len(test):,} rows that no step has seen:")
    print("scores      Brier   worst violation   where")
    for name, score in (("plain", plain), ("calibrated", patched)):
        show_scores(name, data, test, score)
    print("decisions                  error   unfairness   whom")
    show_decisions("plain ≥ 0.5", data, test, (plain >= 0.5) * 1.0)
    show_decisions("calibrated ≥ 0.5", data, test, (patched >= 0.5) * 1.0)
    show_decisions("calibrated, then fair", data, test, decider.predict_proba(known)[:, 1])
    print(
        "\nsave_patches(calibrator, 'patches.json') and save_model(decider, 'model.skops') keep "
        "both.\nA deployment needs the estimator, the patches, and the model that decides, in turn."
    )


def of(data, rows):
    """Return the protected attributes of some rows."""
    return {name: values[rows] for name, values in data.sensitive_features.items()}


def log_odds(score):
    """Return probabilities on the scale that a logistic regression adds up."""
    inside = np.clip(score, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


def show_scores(name, data, rows, score):
    """Print how far scores are off on some rows: on average, and in the worst subgroup."""
    report = audit(
        data.target[rows], score[rows], sensitive_features=of(data, rows), notion=NOTION,
        subgroups=SUBGROUPS,
    )  # fmt: skip
    brier = np.mean((data.target[rows] - score[rows]) ** 2)
    print(f"{name:11} {brier:.4f}  {report.unfairness:15.4f}   {report.worst}")


def show_decisions(name, data, rows, p):
    """Print how decisions treat some rows: p is the probability with which each is decided 1."""
    report = audit(
        data.target[rows], p[rows], sensitive_features=of(data, rows), subgroups=SUBGROUPS,
        gamma=GAMMA, decision_probabilities=True,
    )  # fmt: skip
    error = np.mean(np.abs(p[rows] - data.target[rows]))
    print(f"{name:24} {error:7.1%}  {report.unfairness:11.4f}   {report.worst}")


if __name__ == "__main__":
    main()
