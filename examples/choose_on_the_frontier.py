"""Choose on the frontier: what each level of fairness costs in error, to discuss with stakeholders.

Run it with `python examples/choose_on_the_frontier.py`. It needs no download.
"""

from sklearn.linear_model import LogisticRegression

from gerrymend import Conjunctions, SubgroupParityClassifier, pareto_frontier
from gerrymend.datasets import make_intersectional


def main():
    """Train a model for each gamma, show what each costs, and take one."""
    data = make_intersectional(10_000, random_state=0)
    classifier = SubgroupParityClassifier(
        LogisticRegression(), subgroups=Conjunctions(bins=10), random_state=0
    )
    # A third of the rows is kept out of training: what a model costs and how fair it is are
    # questions about people that it has not seen.
    frontier = pareto_frontier(
        classifier,
        data.data,
        data.target,
        sensitive_features=data.sensitive_features,
        gammas=[0.0025, 0.005, 0.01, 0.02, 0.04],
        test_size=1 / 3,
    )
    print(frontier)

    # Nothing is chosen for you: how much error a fairer treatment is worth is a question of policy.
    # A table of rates is hard to discuss; what happens to people is easier.
    print("\nIn words, on the test rows:")
    for point in frontier.points:
        group = point.test.report.worst
        print(
            f"gamma {point.gamma:g}: of 1,000 decisions {1000 * point.test.error:.0f} are wrong. "
            f"Worst: {group.describe()}; {group.rate:.0%} of its negatives are decided positive, "
            f"{group.overall_rate:.0%} of all."
        )

    # Once they have chosen, here gamma = 0.01, that model is ready: it was trained already.
    chosen = frontier.model(0.01)
    print(
        f"\nframe = frontier.to_frame() has the table; frontier.model(0.01) is {chosen.mixture_}."
    )


if __name__ == "__main__":
    main()
