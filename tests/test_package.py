"""What a user meets first: the import, the demonstration, the command, the memory it takes."""

import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import gerrymend
from gerrymend import SubgroupParityClassifier
from gerrymend.datasets import make_gerrymandered, make_intersectional
from tests.all_rounds import MAY_EXCEED_GAMMA


def test_import_loads_nothing_heavy():
    code = (
        "import sys, gerrymend; gerrymend.__version__; dir(gerrymend);"
        "print([m for m in ('numba', 'pandas', 'matplotlib', 'sklearn', 'scipy') "
        "if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_using_it_needs_no_extra():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'pyarrow', 'matplotlib', 'typer',\n"
        "                                  'rich'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from gerrymend import audit, SubgroupParityClassifier\n"
        "from gerrymend.datasets import make_gerrymandered\n"
        "toy = make_gerrymandered(80)\n"
        "report = audit(toy.target, (toy.score > 0.5).astype(int),\n"
        "               sensitive_features=toy.sensitive_features, subgroups='marginals')\n"
        "SubgroupParityClassifier(gamma=1).fit(toy.data, toy.target)\n"
        "print(report.verdict)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "within gamma"


def test_every_public_name_is_there():
    for name in gerrymend.__all__:
        assert getattr(gerrymend, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        gerrymend.adit  # noqa: B018


def test_the_first_page_of_help_has_every_public_name_once():
    for name in gerrymend.__all__:
        uses = re.findall(rf"`{name}`", gerrymend.__doc__)
        # What is spoken of above the list stands there too.
        assert len(uses) == 1 + (name in ("audit", "SubgroupParityClassifier")), name


def test_the_installed_command():
    run = subprocess.run(
        [sys.executable, "-c", "from gerrymend.cli import main; main()", "demo", "--rows", "400"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    planted = ("race = blue and gender = man", "race = green and gender = woman")
    assert any(group in run.stdout for group in planted)
    assert "0.0625" in run.stdout


def test_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from gerrymend.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "pip install 'gerrymend[cli]'" in run.stderr


def test_the_toy_example_is_as_the_paper_draws_it():
    data = make_gerrymandered(800, random_state=0)
    race, gender = data.sensitive_features["race"], data.sensitive_features["gender"]
    cells = np.unique(np.column_stack([race, gender, data.target]), axis=0, return_counts=True)
    assert cells[1].tolist() == [100] * 8
    shifted = (data.target == 0) & ((race == "blue") == (gender == "man"))
    np.testing.assert_array_equal(data.score, np.where(shifted, 1, data.target))
    noisy = make_gerrymandered(800, noise=0.5, random_state=0)
    assert np.std(noisy.score - np.where(shifted, 1, data.target)) == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ValueError, match="n_samples must be a number of at least 8; got 5"):
        make_gerrymandered(5)


def test_made_data_has_the_planted_group():
    data = make_intersectional(4000, cardinalities=(3, 12), n_numeric=2, random_state=0)
    assert data.data.shape == (4000, 5 + 2 + 11 + 2)
    assert len(data.feature_names) == data.data.shape[1]
    assert data.planted_description == "category_0 = v0 and category_1 = v00"
    attributes = data.sensitive_features
    np.testing.assert_array_equal(
        data.planted, (attributes["category_0"] == "v0") & (attributes["category_1"] == "v00")
    )
    decided = data.data[:, :5].sum(axis=1) > 0
    negatives = data.target == 0
    assert decided[negatives & data.planted].mean() > decided[negatives].mean() + 0.2
    again = make_intersectional(4000, cardinalities=(3, 12), n_numeric=2, random_state=0)
    np.testing.assert_array_equal(again.data, data.data)
    with pytest.raises(ValueError, match="cardinalities is empty"):
        make_intersectional(10, cardinalities=())


@MAY_EXCEED_GAMMA
@pytest.mark.slow
def test_fit_takes_at_most_three_times_the_features_with_them():
    rng = np.random.default_rng(0)
    n, d = 100_000, 60
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    protected = {"group": rng.integers(0, 50, n), "value": rng.standard_normal(n)}
    clf = SubgroupParityClassifier(LinearRegression(), gamma=0.0, max_iter=6, tol=None)
    few = {name: values[:500] for name, values in protected.items()}
    clf.fit(X[:500], y[:500], sensitive_features=few)  # compiles, which takes memory of its own
    tracemalloc.start()
    clf.fit(X, y, sensitive_features=protected)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert X.nbytes + peak <= 3 * X.nbytes
