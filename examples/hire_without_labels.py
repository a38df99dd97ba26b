"""Hiring: nobody knows who would have done well, and an audit needs no labels.

Run it with `python examples/hire_without_labels.py [hiring.html]`; its report is written to that
file, or to one in a temporary folder. It needs no download. The rate of positive decisions reads
decisions alone; what may rightly matter, here the job that people applied for, is controlled for:
they are compared with others who applied for the same.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from gerrymend import audit


def applications(n_rows=6_000, seed=0):
    """Make applications: women apply for the job that few get, and older women are passed over."""
    rng = np.random.default_rng(seed)
    sex = np.array(["woman", "man"])[rng.integers(0, 2, n_rows)]
    age = rng.integers(22, 63, n_rows)
    research = rng.random(n_rows) < np.where(sex == "woman", 0.7, 0.2)
    job = np.where(research, "research", "sales")
    chance = np.where(research, 0.25, 0.45) - 0.2 * ((sex == "woman") & (age >= 45))
    hired = (rng.random(n_rows) < chance).astype(int)
    return {"sex": sex, "age": age}, {"job": job}, hired


def main(page=None):
    """Audit who is hired, overall and within jobs; write the second report as a page."""
    attributes, jobs, hired = applications()
    settings = {
        "sensitive_features": attributes,
        "notion": "statistical_parity",
        "favourable": "positive",
        "subgroups": "conjunctions",
        "n_permutations": 99,
    }

    # In place of labels there is None: this rate needs none.
    print("1. Everyone")
    overall = audit(None, hired, **settings)
    print(overall)

    # Women apply more for research, where few are hired, and that explains a part. Within jobs,
    # what is left is what can't be explained by it.
    print("\n2. Among those who applied for the same job")
    within = audit(None, hired, control_features=jobs, **settings)
    print(within)

    print("\n3. In short")
    group = within.disadvantaged
    print(
        f"Overall the largest unfairness is {overall.unfairness:.3f}, and {within.unfairness:.3f} "
        "within jobs."
    )
    print(
        f"Of those with {group.describe()}, {group.rate:.0%} are hired; at the rates of the jobs "
        f"that they applied for it would be {group.overall_rate:.0%}."
    )

    # The same as a page for people who run no Python: one file, which any browser opens.
    page = page or Path(tempfile.mkdtemp()) / "hiring.html"
    within.write_html(page, title="Who is hired, among those who applied for the same job")
    print(f"The report is in {page}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
