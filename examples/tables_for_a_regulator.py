"""Make the tables of New York City's Local Law 144, and find who is in none of them.

A made tool screens applicants. By sex, by race and where the two meet all look alike; older women
of one race are turned down. None of this is legal advice.
"""

import numpy as np

from gerrymend import impact_ratios

rng = np.random.default_rng(0)
n = 6_000
people = {
    "sex": rng.choice(["Female", "Male"], n),
    "race": rng.choice(["Asian", "Black", "White", None], n, p=[0.2, 0.2, 0.57, 0.03]),
    "age": rng.choice(["under 40", "40 and older"], n),
}
passed_over = (
    (people["sex"] == "Female") & (people["race"] == "Black") & (people["age"] == "40 and older")
)
# Younger ones are invited as much more often, so that no table of two attributes shows it.
favoured = passed_over ^ ((people["sex"] == "Female") & (people["race"] == "Black"))
chance = np.select([passed_over, favoured], [0.1, 0.7], 0.4)
invited = (rng.random(n) < chance).astype(int)

# The law's own tables are of sex, race and where they meet; age is searched as well.
tables = impact_ratios(
    invited,
    sensitive_features={name: people[name] for name in ("sex", "race")},
    profile="ll144",
)
lowest = min(tables.groups, key=lambda group: group.ratio)
print(f"Of sex and race the lowest ratio is {lowest.ratio:.2f}: {lowest.describe()}")
print(f"{tables.n_unknown} people are of unknown category")

found = impact_ratios(
    invited, sensitive_features=people, profile="ll144", n_permutations=199
).unlisted
print(f"In no table: {found.subgroup}, invited {found.subgroup.rate:.0%} of the time")
print(f"Everyone: {invited.mean():.0%}; p = {found.report.p_value:.3f}")
print(f"No group of a tenth of the people is invited below {found.least_rate(0.1):.0%}")
