"""Audit my model: which subgroup does it treat worst, how sure is that, and is it chance?

Run it with `python examples/audit_my_model.py`. It needs no download. To audit a model of your own,
replace the data by yours: labels, decisions and protected attributes are all that an audit needs.
"""

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from gerrymend import audit
from gerrymend.datasets import make_intersectional


def main():
    """Train a plain model, and audit it as its user would."""
    # Made data, in which negatives of one intersection (category_0 = v0 and category_1 = v0) look
    # like positives. A person who audits doesn't know that; the audit should find it.
    data = make_intersectional(10_000, random_state=0)
    train, test = train_test_split(range(len(data.target)), test_size=0.3, random_state=0)

    # Any model of any library: an audit sees decisions only.
    model = LogisticRegression().fit(data.data[train], data.target[train])
    decisions = model.predict(data.data[test])
    labels = data.target[test]
    attributes = {name: values[test] for name, values in data.sensitive_features.items()}
    print(f"The model is right in {(decisions == labels).mean():.1%} of {len(test):,} test rows.\n")

    # One attribute at a time is what most audits do. It understates what happens at intersections.
    print("1. One attribute at a time")
    print(audit(labels, decisions, sensitive_features=attributes, subgroups="marginals"))

    # Conjunctions are groups that people can read, searched exactly. The worst of so many groups
    # looks bad even by chance, so the search is repeated on permuted decisions (n_permutations) and
    # what it found is measured on rows that it has not seen (test_size).
    print("\n2. All intersections of values and intervals")
    report = audit(
        labels, decisions, sensitive_features=attributes, subgroups="conjunctions",
        n_permutations=99, test_size=0.5,
    )  # fmt: skip
    print(report)

    # The figures of the rows that were searched flatter the finding, as the group was chosen for
    # them. Those of the other rows don't.
    print("\n3. In short")
    group, elsewhere = report.worst, report.held_out.subgroup
    print(
        f"The model lets through {elsewhere.rate:.0%} of the negatives with {group.describe()}, "
        f"and {elsewhere.overall_rate:.0%} of all negatives."
    )
    print(f"{group.contains(attributes).sum():,} of the {len(test):,} test rows are in that group.")
    print("report.to_dict() has every figure. `gerrymend audit FILE` does the same for a CSV file")
    print("and exits with 1 where gamma is exceeded, which is fit for a gate in CI.")


if __name__ == "__main__":
    main()
