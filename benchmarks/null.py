"""P-values where no subgroup differs: the permutation test, and a test of the group that was found.

`python -m benchmarks.null` prints the table of docs/inference.md and draws its figure.
"""

from pathlib import Path

import numpy as np
from scipy.stats import norm

from gerrymend import LinearThresholds, audit

FIGURE = Path(__file__).parents[1] / "docs" / "null.png"


def simulate(y, protected, subgroups, *, n_samples, n_permutations, seed):
    """P-values of samples whose decisions are coins: by permutation, and of the group alone."""
    rng = np.random.default_rng(seed)
    by_permutation, naive = [], []
    for i in range(n_samples):
        report = audit(
            y, (rng.random(len(y)) < 0.3).astype(int), sensitive_features=protected,
            subgroups=subgroups, n_permutations=n_permutations, random_state=i, min_group_size=1,
            budget=1e6,
        )  # fmt: skip
        by_permutation.append(report.p_value)
        naive.append(two_proportions(report.worst, len(y), int((y == 0).sum())))
    return np.array(by_permutation), np.array(naive)


def two_proportions(group, n_rows, n_negatives):
    """The usual z-test of the group's rate against the others', as if it had been chosen before."""
    if group is None:
        return 1.0
    inside = group.share * n_rows
    outside = n_negatives - inside
    others = (group.overall_rate * n_negatives - group.rate * inside) / outside
    pooled = group.overall_rate * (1 - group.overall_rate)
    z = (group.rate - others) / np.sqrt(pooled * (1 / inside + 1 / outside))
    return float(2 * norm.sf(abs(z)))


CLASSES = {
    "marginals": ("marginals", 1000, 199),
    "linear, regression": (LinearThresholds("regression"), 1000, 199),
    # 19 permutations are the fewest that can give 5 %, and give exactly that.
    "linear, search": (LinearThresholds("search", restarts=3), 400, 19),
}


def main():
    """Simulate, print, draw."""
    import matplotlib.pyplot as plt
    from tests.conftest import load_paper

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for axis, dataset in zip(axes, ("adult", "student"), strict=True):
        _, y, protected = load_paper(dataset)
        for colour, (name, (subgroups, n_samples, n_permutations)) in enumerate(CLASSES.items()):
            tested, naive = simulate(
                y, protected, subgroups, n_samples=n_samples, n_permutations=n_permutations, seed=1
            )
            rates = [float(np.mean(values <= 0.05)) for values in (tested, naive)]
            error = 1.96 * np.sqrt(0.05 * 0.95 / n_samples)
            print(f"| {dataset} | {name} | {n_samples} | {rates[0]:.1%} (5 % ± {error:.1%}) "
                  f"| {rates[1]:.1%} |", flush=True)  # fmt: skip
            for values, style in ((tested, "-"), (naive, ":")):
                x = np.sort(values)
                axis.step(
                    np.r_[0, x, 1], np.r_[0, np.arange(1, len(x) + 1), len(x)] / len(x),
                    style, color=f"C{colour}", where="post",
                    label=f"{name}, {'permutation' if style == '-' else 'group alone'}",
                )  # fmt: skip
        axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        axis.set(title=f"{dataset.capitalize()}, {len(y):,} rows", xlabel="p-value at most",
                 xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    axes[0].set_ylabel("part of the samples")
    axes[1].legend(fontsize="x-small", loc="lower right")
    figure.savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
