"""Triage in three levels: whose urgent cases does a model send away?

Run it with `python examples/triage_in_three_levels.py [triage.html]`; its report is written to that
file, or to one in a temporary folder. It needs no download. Labels and decisions may have more than
two values; each is then compared with all others, in one audit.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from gerrymend import audit, prove

LEVELS = np.array(["can wait", "today", "urgent"])


def triage(n_rows=6_000, seed=0):
    """Make cases, and a model that reads one group's urgent ones worse than all others."""
    rng = np.random.default_rng(seed)
    people = {
        "language": np.array(["German", "Turkish", "Arabic"])[rng.integers(0, 3, n_rows)],
        "age": rng.integers(18, 95, n_rows).astype(float),
    }
    level = rng.choice(3, n_rows, p=[0.5, 0.3, 0.2])
    # The model is one level off in a tenth of the cases. Of the old who speak Arabic it takes four
    # in ten of the urgent for something that can wait.
    off = rng.random(n_rows) < 0.1
    given = np.clip(level + off * rng.choice([-1, 1], n_rows), 0, 2)
    old = (people["language"] == "Arabic") & (people["age"] >= 65)
    given[old & (level == 2) & (rng.random(n_rows) < 0.4)] = 0
    return people, LEVELS[level], LEVELS[given]


def main(page=None):
    """Audit all three levels at once, write a page of it, and then audit the one that matters."""
    people, level, given = triage()
    print(f"The model is right in {(level == given).mean():.1%} of {len(level):,} cases.\n")

    # Each level against the other two: who is missed more often than everyone? The p-value pays for
    # three comparisons, beside the search over all groups.
    print("1. Cases of each level that are missed")
    data = {"sensitive_features": people, "subgroups": "conjunctions", "gamma": 0.002}
    report = audit(level, given, notion="false_negative_rate", n_permutations=199, **data)
    print(report)
    page = page or Path(tempfile.mkdtemp()) / "triage.html"
    report.write_html(page, title="Cases of each level that are missed")
    print(f"The report is in {page}")

    # One level is named by pos_label. To be called urgent is what someone in need wishes for, so
    # that the report can say who is treated worse.
    print("\n2. Urgent or not")
    urgent = {"pos_label": "urgent", "favourable": "positive", **data}
    print(audit(level, given, notion="false_negative_rate", **urgent))

    # The error rate counts wrong levels of any kind: it shows that more goes wrong, and not what.
    # The false positive rate of a level shows where the missed cases go.
    print("\n3. What goes wrong")
    wrong = audit(level, given, notion="error_rate", side="disadvantaged", **data)
    print(f"Wrong in any way: {wrong.worst.rate:.1%} for {wrong.worst.describe()}, "
          f"{wrong.worst.overall_rate:.1%} overall.")  # fmt: skip
    instead = audit(level, given, notion="false_positive_rate", **data).worst
    print(f"The {instead.notion.words}: {instead.rate:.1%} for {instead.describe()}, "
          f"{instead.overall_rate:.1%} overall.")  # fmt: skip

    # Of no level does any group exceed this much: one proof for all three.
    del data["gamma"]
    print(prove(level, given, notion="false_negative_rate", at_most=0.02, **data))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
