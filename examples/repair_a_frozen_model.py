"""Repair a model that can't be changed, by its score and what a decision may use beside it.

Run it with `python examples/repair_a_frozen_model.py`. It needs no download. A vendor's score is
too low for young women, whose careers have breaks. The bank can't train it again. It has rows of
its own, with what became of them, and decides by the score and by columns that it chooses: none,
one that the vendor has not, or protected attributes too, where that is allowed.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from gerrymend import Conjunctions, SubgroupParityClassifier, audit

GAMMA = 0.01
# Who is denied though they would have repaid. Intersections of two conditions, ages in ten bins.
ASKED = {
    "notion": "false_negative_rate",
    "favourable": "positive",
    "subgroups": Conjunctions(bins=10),
    "gamma": GAMMA,
}
YOUNG = 40


def applicants(n_rows=12_000, seed=0):
    """Make applicants, the score that the vendor sends, and one column that it does not know."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["man", "woman"], n_rows)
    age = rng.integers(20, 66, n_rows)
    region = rng.choice(["north", "east", "south"], n_rows)
    ability = rng.normal(size=n_rows)
    breaks = (sex == "woman") & (age < YOUNG)
    career = ability + 0.8 * rng.normal(size=n_rows) - 2.0 * breaks
    debts = ability + 0.8 * rng.normal(size=n_rows)
    score = 1 / (1 + np.exp(-(career + debts)))
    rent_paid = ability + 0.8 * rng.normal(size=n_rows)
    repaid = (ability + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
    return {"sex": sex, "age": age, "region": region}, score, rent_paid, repaid


def main():
    """Decide in six ways, of which five are learnt on half of the rows; measure on the others."""
    people, score, rent_paid, repaid = applicants()
    learn, test = np.split(np.arange(len(score)), 2)
    protected = np.column_stack([people["sex"] == "woman", people["age"]])

    ways = {
        "the score, as it is": (score >= 0.5) * 1.0,
        "score alone": repaired([score], people, repaid, learn),
        "score, rent": repaired([score, rent_paid], people, repaid, learn),
        "score, sex, age": repaired([score, protected], people, repaid, learn),
        "score, rent, sex, age": repaired([score, rent_paid, protected], people, repaid, learn),
        "a threshold by group": by_group(score, people, repaid, learn),
    }

    print(f"On {len(test):,} rows that nothing was learnt on; gamma is {GAMMA}.")
    print("decided by               error   granted   unfairness   by chance   denied wrongly most")
    reports = {name: shown(name, p, people, repaid, test) for name, p in ways.items()}

    chance = reports["score, sex, age"].detectable
    print(
        f"\nWhere nobody differs chance alone reaches {chance:.4f} on so many rows, one time in "
        "twenty.\nWhat is above it is left of the vendor's fault, or was made by the repair. By "
        "the score alone\na repair can only move where it is cut, for everyone: it can't tell who "
        "is marked too low. A\ncolumn that knows better repairs without asking who somebody is; "
        "to ask as well leaves the\nleast error."
    )


def repaired(columns, people, repaid, rows):
    """Return the probability with which a repair by these columns grants, for every applicant."""
    known = np.column_stack(columns)
    # Trees can set thresholds of the score by the other columns. Large leaves: few rows are noise.
    fair = SubgroupParityClassifier(
        DecisionTreeClassifier(max_depth=5, min_samples_leaf=100, random_state=0),
        notion=ASKED["notion"], subgroups=ASKED["subgroups"], gamma=GAMMA, random_state=0,
    )  # fmt: skip
    fair.fit(known[rows], repaid[rows], sensitive_features=of(people, rows))
    return fair.predict_proba(known)[:, 1]


def by_group(score, people, repaid, rows):
    """Cut the score for each of four groups where as many good payers are denied as overall.

    It decides by protected attributes and by nothing else, and sees no group but these four.
    """
    group = 2 * (people["sex"] == "woman") + (people["age"] < YOUNG)
    good = np.isin(np.arange(len(score)), rows) & (repaid == 1)
    overall = np.mean(score[good] < 0.5)
    cuts = np.array([np.quantile(score[good & (group == one)], overall) for one in range(4)])
    return (score >= cuts[group]) * 1.0


def of(people, rows):
    """Return the protected attributes of some rows."""
    return {name: values[rows] for name, values in people.items()}


def shown(name, p, people, repaid, rows):
    """Print how decisions do on some rows, and return the report of their audit.

    p is the probability with which each applicant is granted.
    """
    report = audit(
        repaid[rows], p[rows], sensitive_features=of(people, rows), n_permutations=99,
        decision_probabilities=True, **ASKED,
    )  # fmt: skip
    error = np.mean(np.abs(p[rows] - repaid[rows]))
    print(
        f"{name:22} {error:7.1%}  {p[rows].mean():8.1%}   {report.unfairness:10.4f}   "
        f"p = {report.p_value:.2f}    {report.disadvantaged}"
    )
    return report


if __name__ == "__main__":
    main()
