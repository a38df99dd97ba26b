"""Reports to render: a fixed one, hostile names, many groups, few rows."""

import numpy as np

from gerrymend import audit

HOSTILE = "<script>document.title='ran'</script>\"><img src=x onerror=\"document.title='ran'\">"
LONG = "how often, in the last twelve months, did you feel that you had been treated_" + "x" * 20


def people(n=400, seed=0):
    """Labels, decisions and protected columns; blue people under 40 are decided 1 more often."""
    rng = np.random.default_rng(seed)
    race, sex = rng.choice(["blue", "green", "red"], n), rng.choice(["F", "M"], n)
    age = rng.integers(18, 80, n)
    decided = rng.random(n) < 0.3 + 0.4 * ((race == "blue") & (age < 40))
    return rng.integers(0, 2, n), decided.astype(int), {"race": race, "sex": sex, "age": age}


def fixed(**how):
    """A report whose every figure is the same from run to run."""
    y, decided, protected = people(1200)
    usual = {"subgroups": "conjunctions", "top": 2, "n_permutations": 19, "test_size": 0.25}
    return audit(
        y, decided, sensitive_features=protected, features=["age", "amount"], **usual | how
    )


def hostile():
    """A column name and values that are HTML."""
    y, decided, protected = people()
    renamed = {HOSTILE: np.char.add(protected["race"], HOSTILE), LONG: protected["sex"]}
    return audit(y, decided, sensitive_features=renamed, subgroups="value_sets", top=3)


def many(n_groups=60):
    """A column of many values, and one of a single value."""
    y, decided, protected = people(3000)
    districts = np.array([f"district {i}" for i in range(n_groups)])
    columns = {"district": districts[protected["age"] % n_groups], "country": ["NL"] * 3000}
    return audit(y, decided, sensitive_features=columns, subgroups="marginals")


def few():
    """Too few rows to describe any group."""
    y, decided, protected = people(30)
    return audit(y, decided, sensitive_features=protected, subgroups="marginals", min_group_size=20)


def alike():
    """One group, and nothing that could differ."""
    return audit([0] * 40, [1, 0] * 20, sensitive_features={"country": ["NL"] * 40})
