"""Train a fair model: no subgroup's false positive rate may count for more than gamma.

Run it with `python examples/train_a_fair_model.py`. It needs no download.
"""

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from gerrymend import Conjunctions, SubgroupParityClassifier, audit
from gerrymend.datasets import make_intersectional

# The unfairness to allow: the share of all rows that are in a subgroup (and are negatives, for
# false positives) times how far its rate is from the overall one.
GAMMA = 0.01
# Intersections of two conditions, which people can read. Numbers are cut in ten bins: cuts at
# every value would fit the training rows' noise, and take longer.
SUBGROUPS = Conjunctions(bins=10)


def main():
    """Train with and without, and audit both on rows that neither has seen."""
    # Made data, in which negatives of one intersection look like positives to any model.
    data = make_intersectional(10_000, random_state=0)
    train, test = train_test_split(range(len(data.target)), test_size=0.3, random_state=0)

    plain = LogisticRegression().fit(data.data[train], data.target[train])
    fair = SubgroupParityClassifier(
        LogisticRegression(), gamma=GAMMA, subgroups=SUBGROUPS, random_state=0
    ).fit(
        data.data[train],
        data.target[train],
        sensitive_features={
            name: values[train] for name, values in data.sensitive_features.items()
        },
    )
    # A mixture decides by a coin for each row: `predict` draws it, and the probabilities are what
    # the guarantee is about. Cutting them at 0.5 would lose it.
    models = {
        "plain": plain.predict(data.data).astype(float),
        "fair": fair.predict_proba(data.data)[:, 1],
    }
    print("model  rows      error  unfairness  worst subgroup")
    for name, p in models.items():
        for part, rows in (("training", train), ("test", test)):
            show(name, part, data, rows, p)

    # The guarantee is about the training rows. On others unfairness is higher, because the worst of
    # many subgroups is worst partly by chance; how much chance alone makes of so few rows is the
    # figure to hold it against. Above that line some difference is real, as gamma allows.
    report = audit_of(data, test, models["fair"], n_permutations=99)
    print(
        f"\nOn {len(test):,} test rows chance alone reaches {report.detectable:.4f} one time in "
        f"twenty, where no subgroup differs at all; p-value {report.p_value:.2f}."
    )
    print(f"\n{fair.mixture_}, found in {fair.n_oracle_calls_} fits of the estimator.")
    print("Decisions for five of the test rows:", fair.predict(data.data[test[:5]]))
    print("gerrymend.save_model(fair, 'model.skops') keeps it; audit it again on new rows.")


def audit_of(data, rows, p, **options):
    """Audit a model's decisions on some rows, over the subgroups it was trained for."""
    return audit(
        data.target[rows],
        p[rows],
        sensitive_features={name: values[rows] for name, values in data.sensitive_features.items()},
        decision_probabilities=True,
        subgroups=SUBGROUPS,
        gamma=GAMMA,
        **options,
    )


def show(name, part, data, rows, p):
    """One model on some rows."""
    report = audit_of(data, rows, p)
    error = abs(p[rows] - data.target[rows]).mean()
    print(f"{name:6} {part:8} {error:6.1%}  {report.unfairness:10.4f}  {report.worst}")


if __name__ == "__main__":
    main()
