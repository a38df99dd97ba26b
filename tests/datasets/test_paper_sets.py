"""The paper's data, where it is at hand: equal to its files, with the counts of FACTS.md."""

import csv
import io
import shutil

import numpy as np
import pandas as pd
import pytest

from gerrymend.datasets import fetch_adult, fetch_communities, fetch_law_school, fetch_student
from gerrymend.datasets._cleaning import _resource
from tests.conftest import PAPER_DATA, load_paper

FETCH = {
    "communities": fetch_communities,
    "lawschool": fetch_law_school,
    "adult": fetch_adult,
    "student": fetch_student,
}

# Rows, encoded columns, protected columns, error of the majority.
COUNTS = {
    "communities": (1994, 122, 18, 0.292),
    "lawschool": (1823, 18, 4, 0.477),
    "adult": (2020, 99, 3, 0.4995),
    "student": (395, 56, 5, 0.471),
}


@pytest.fixture
def papers(home):
    """A data_home that a user filled with the paper's files."""
    if not PAPER_DATA.is_dir():
        pytest.skip("the paper's data is not at hand (../shared/data/paper)")
    home.mkdir()
    for name in ("communities.csv", "lawschool.csv", "adult.csv", "student-mat.csv"):
        shutil.copy(PAPER_DATA / name, home / name)
    return home


def assert_equal_to_the_papers(fetched, name):
    X, y, protected = load_paper(name)
    np.testing.assert_array_equal(fetched.encoded, X)
    np.testing.assert_array_equal(fetched.target, y)
    pd.testing.assert_frame_equal(fetched.sensitive_features, protected.reset_index(drop=True))


@pytest.mark.parametrize("name", FETCH)
def test_the_papers_files(name, papers, network):
    fetched = FETCH[name]()
    assert_equal_to_the_papers(fetched, name)
    assert not fetched.stand_in
    rows, columns, protected, error = COUNTS[name]
    assert fetched.encoded.shape == (rows, columns)
    assert fetched.sensitive_features.shape == (rows, protected)
    share = fetched.target.mean()
    assert min(share, 1 - share) == pytest.approx(error, abs=5e-4)
    arrays = FETCH[name](as_frame=False)
    np.testing.assert_array_equal(arrays.data, fetched.encoded)
    assert network.asked == []


def test_law_school_with_its_incomplete_rows(papers):
    law = fetch_law_school(drop_missing=False)
    assert law.data.shape == (2052, 10)
    assert round(1 - law.target.mean(), 3) == 0.492
    assert law.data.isna().any(axis=1).sum() == 2052 - 1823
    assert law.sensitive_features["race"].isna().sum() == 1
    complete = law.data.dropna().reset_index(drop=True)
    pd.testing.assert_frame_equal(complete, fetch_law_school().data)


def test_the_raw_communities_give_the_same(papers, substitute):
    rows = list(csv.reader(io.StringIO((papers / "communities.csv").read_text())))[1:]
    raw = "".join(f"8,?,?,Some town,1,{','.join(v or '?' for v in row)}\n" for row in rows)
    substitute("communities", "communities.data", raw.encode())
    (papers / "communities.data").write_text(raw)
    fetched = fetch_communities()
    assert fetched.filename == "communities.data"  # before the paper's
    assert_equal_to_the_papers(fetched, "communities")


def test_the_listed_rows_of_the_raw_adult_give_the_same(papers, substitute):
    listed = [int(row) for line in _resource("adult_rows.txt") for row in line.split()]
    assert len(listed) == 2020
    assert listed == sorted(set(listed))
    lines = [line for line in (papers / "adult.csv").read_text().splitlines()[1:] if line]
    filler = "1, ?, 2, X, 3, X, X, X, X, X, 0, 0, 1, X, <=50K"
    raw = [filler] * 32_561
    for row, line in zip(listed, lines, strict=True):
        raw[row] = line
    text = "\n".join(raw) + "\n\n"
    substitute("adult", "adult.data", text.encode())
    (papers / "adult.data").write_text(text)
    fetched = fetch_adult()
    assert fetched.filename == "adult.data"
    assert_equal_to_the_papers(fetched, "adult")
    full = fetch_adult(subset="full", as_frame=False)
    assert len(full.data) == 32_561
    assert full.name == "Adult (full)"


def test_the_full_adult_is_not_in_the_papers_file(papers):
    with pytest.raises(OSError, match="can't be fetched") as caught:
        fetch_adult(subset="full")
    assert "adult.csv" not in str(caught.value)
