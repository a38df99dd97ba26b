"""Communities and Crime where the paper's data is at hand, else made data of the same shape."""

from pathlib import Path

import numpy as np

PAPER_DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"


def need_paper_data():
    """Say what is missing, where it is: these figures are about that data."""
    if not PAPER_DATA.is_dir():
        raise FileNotFoundError("the paper's data is not at hand (../shared/data/paper)")


def communities():
    """Features, labels, protected columns (a dict), and what they are."""
    if not PAPER_DATA.is_dir():
        rng = np.random.default_rng(0)
        X = rng.random((1994, 122)).round(2)
        y = (X[:, :20].sum(axis=1) + rng.standard_normal(1994) > 11).astype(int)
        return X, y, {f"p{j}": X[:, j] for j in range(18)}, "made data, 1994 × 122, 18 protected"
    table = np.genfromtxt(PAPER_DATA / "communities.csv", delimiter=",", names=True, dtype=float)
    marks = np.genfromtxt(
        PAPER_DATA / "communities_protected.csv", delimiter=",", names=True, encoding="utf-8-sig"
    )
    names = [name for name in table.dtype.names if name != "ViolentCrimesPerPop"]
    X = np.nan_to_num(np.column_stack([table[name] for name in names]))
    y = (table["ViolentCrimesPerPop"] > np.quantile(table["ViolentCrimesPerPop"], 0.7)).astype(int)
    protected = {name: X[:, j] for j, name in enumerate(names) if marks[name] == 1}
    return X, y, protected, "Communities and Crime, 1994 × 122, 18 protected"
