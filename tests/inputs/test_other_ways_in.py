"""The same by the command line, on a device, and in a partition of Dask."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import typer
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from gerrymend import SubgroupParityClassifier
from gerrymend.cli import audit as cli_audit
from gerrymend.cli import fit as cli_fit
from gerrymend.cli import frontier as cli_frontier
from gerrymend.inputs.classes import AUDIT as NAMES
from gerrymend.inputs.classes import Decided
from gerrymend.inputs.sample import Sample
from gerrymend.subgroups import LinearThresholds
from tests.all_rounds import MAY_EXCEED_GAMMA

N = 60
RNG = np.random.default_rng(0)
BIT = np.arange(N) % 2
LABEL = RNG.integers(0, 2, N)
ROWS = pl.DataFrame(
    {"a": BIT, "y": LABEL, "d": np.where(BIT == 1, 1, LABEL), "x": RNG.standard_normal(N)}
)
BEYOND = 2**53
BIG = pl.Series(BIT + BEYOND)
UNSIGNED = pl.Series(BIT.astype(np.uint64) + np.uint64(2**63))


def run(tmp_path, command, columns, kind, *options):
    path = tmp_path / f"rows.{kind}"
    getattr(ROWS.with_columns(**columns), f"write_{kind}")(path)
    app = typer.Typer()
    app.callback()(lambda: None)
    for module in (cli_audit, cli_fit, cli_frontier):
        module.add_to(app)
    told = CliRunner(env={"COLUMNS": "200"}).invoke(app, [command, str(path), *options])
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    return told.exit_code, told.stdout + told.stderr


AUDIT = ("--label", "y", "--prediction", "d", "--protected", "a", "--permutations", "0")
FIT = ("--label", "y", "--protected", "a", "--max-iter", "2", "--estimator", "linear-regression")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("values", [BIG, UNSIGNED], ids=["int64", "uint64"])
@pytest.mark.parametrize("command", ["audit", "fit", "frontier"])
def test_a_protected_column_is_not_merged(tmp_path, command, values, kind):
    options = {"audit": AUDIT, "fit": (*FIT, "--out", str(tmp_path / "m.skops"))}
    given = options.get(command, (*FIT, "--gammas", "0.1"))
    given += ("--exclude-protected",) * (command != "audit")
    code, told = run(tmp_path, command, {"a": values}, kind, *given)
    assert code == 2
    assert "Column 'a' of --protected has whole numbers that float64 does not hold" in told


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_feature_is_not_merged(tmp_path, kind):
    out = ("--out", str(tmp_path / "m.skops"))
    code, told = run(tmp_path, "fit", {"x": BIG}, kind, *FIT, *out)
    assert code == 2
    assert "Column 'x' of" in told
    assert "such as 9007199254740993" in told


REFUSED = {
    "decimals": ({"a": pl.Series([Decimal(int(v) + BEYOND) for v in BIT])}, (), "can't tell apart"),
    "date label": ({"y": pl.date(2020, 1, 1)}, (), "--label y has labels of type datetime64"),
    "struct label": ({"y": pl.Series([{"f": 1}] * N)}, (), "--label y must hold one value a row"),
    "bytes label": ({"y": pl.lit(b"x")}, (), "--label y has labels of type bytes"),
    "smallest": ({}, ("--min-group-size", str(10**30)), "--min-group-size must be at most"),
    "permutations": ({}, ("--permutations", str(10**30)), "--permutations must be at most"),
}


@pytest.mark.parametrize(("columns", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_an_audit_is_refused_in_terms_of_options(tmp_path, columns, options, message):
    code, told = run(tmp_path, "audit", columns, "parquet", *AUDIT, *options)
    assert code == 2
    assert message in told


def test_a_fit_is_refused_before_it_trains(tmp_path):
    options = (*FIT, "--out", str(tmp_path / "m.skops"), "--min-group-size", str(10**30))
    code, told = run(tmp_path, "fit", {}, "parquet", *options)
    assert (code, told.startswith("--min-group-size must be at most")) == (2, True)


def found(tmp_path, columns, *options):
    """What was found, without the labels above and below it, and the file."""
    code, told = run(tmp_path, "audit", columns, "parquet", *AUDIT, *options)
    assert code == 1
    assert "Differs most    a" in told
    return told.partition("Differs most    ")[2].partition("Labels")[0]


def test_decimals_are_numbers(tmp_path):
    def decimal(name):
        return pl.Series([Decimal(int(value)) for value in ROWS[name]])

    columns = {name: decimal(name) for name in "ayd"}
    assert found(tmp_path, columns) == found(tmp_path, {})


def test_the_positive_label_keeps_all_its_digits(tmp_path):
    columns = {name: ROWS[name] + BEYOND for name in "yd"}
    told = found(tmp_path, columns, "--positive", str(BEYOND + 1))
    assert told == found(tmp_path, {})


@pytest.mark.parametrize("command", ["audit", "fit", "frontier"])
def test_a_rate_over_no_rows_names_the_option(tmp_path, command):
    columns = {"w": pl.Series(LABEL)}
    options = {
        "audit": (*AUDIT, "--weight", "w"),
        "fit": (*FIT, "--weight", "w", "--out", str(tmp_path / "m.skops")),
        "frontier": (*FIT, "--weight", "w", "--gammas", "0.1"),
    }
    code, told = run(tmp_path, command, columns, "parquet", *options[command])
    assert code == 2
    assert "There are no rows for the false positive rate" in told
    assert "Choose another --notion." in told


FEATURES = RNG.standard_normal((N, 2))


def torch_fit(monkeypatch, features=FEATURES, dtype="float64", **change):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    given = {"sensitive_features": BIT, "sample_weight": np.ones(N)} | change
    clf = SubgroupParityClassifier(
        LinearRegression(),
        solver="fictitious_play",
        subgroups=LinearThresholds(search="regression"),
        max_iter=2,
        tol=None,
    )
    arrays = {name: torch.from_numpy(values) for name, values in given.items()}
    columns = torch.from_numpy(features)
    if columns.is_floating_point():
        columns = columns.to(getattr(torch, dtype))
    with sklearn.config_context(array_api_dispatch=True):
        return clf.fit(columns, torch.from_numpy(LABEL), **arrays)


ON_DEVICE = {
    "float64": ("float64", {"sensitive_features": BIT + BEYOND}, "such as 9007199254740993"),
    "float32": ("float32", {"sensitive_features": BIT + 2**24}, "float32.* such as 16777217"),
    "largest": ("float64", {"sensitive_features": BIT + (2**63 - 2)}, "such as 922337203685477580"),
    "complex": ("float64", {"sample_weight": np.ones(N) + 1j}, "complex"),
    "far apart": ("float64", {"sample_weight": np.where(BIT, 1e-300, 1e300)}, "1e-300 to 1e.300"),
    "far in float32": ("float32", {"sample_weight": np.where(BIT, 1e-60, 1.0)}, "1e-60 to 1:"),
}


@pytest.mark.parametrize(("dtype", "change", "message"), ON_DEVICE.values(), ids=ON_DEVICE)
def test_nothing_is_cast_on_a_device(monkeypatch, dtype, change, message):
    (argument,) = change
    with pytest.raises((TypeError, ValueError), match=f"{argument} .*{message}"):
        torch_fit(monkeypatch, dtype=dtype, **change)


@pytest.mark.parametrize("largest", [BEYOND + 1, 2**63 - 1])
def test_whole_features_on_a_device_are_not_merged(monkeypatch, largest):
    features = np.c_[BIT, largest - BIT]
    with pytest.raises(ValueError, match=f"X has whole numbers .*float64 .*such as {largest}"):
        torch_fit(monkeypatch, features)


@MAY_EXCEED_GAMMA
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [2.0**-1000, 2.0**1000, 2.0**-100, 2.0**100])
def test_weights_of_any_size_are_the_same_on_a_device(monkeypatch, dtype, size):
    weight = (np.arange(N) % 7 + 1) / 4
    plain = torch_fit(monkeypatch, dtype=dtype, sample_weight=weight)
    extreme = torch_fit(monkeypatch, dtype=dtype, sample_weight=weight * size)
    assert plain.history_["error"].max() > 0
    for name in ("error", "unfairness"):
        assert extreme.history_[name].tolist() == plain.history_[name].tolist()


@pytest.mark.parametrize(("weights", "dtype"), [
    ((1e300, 1e300), "float64"), ((1e-300, 1e-290), "float64"), ((1e30, 1.0), "float32"),
    ((1e-60, 1.0), "float32"),
])  # fmt: skip
def test_extreme_weights_of_partitions_are_refused(weights, dtype):
    from gerrymend.inputs.dask_rows import merged, read_partition

    parts = [
        read_partition(FEATURES.astype(dtype), LABEL, BIT, np.full(N, weight)) for weight in weights
    ]
    low, high = (f"{end:g}".replace("+", r"\+") for end in (min(weights), max(weights)))
    with pytest.raises(ValueError, match=f"sample_weight goes from {low} to {high}.*divide them"):
        merged([part.summary() for part in parts])


def test_weights_of_partitions_may_be_zero_or_differ():
    from gerrymend.inputs.dask_rows import merged, read_partition

    parts = [read_partition(FEATURES, LABEL, BIT, BIT * weight) for weight in (0.0, 1e-300, 1.0)]
    assert merged([part.summary() for part in parts]).weights == (1e-300, 1.0)
    assert merged([parts[0].summary()]).weights is None


PARTITIONS = {
    "array": np.c_[BIT + BEYOND, BIT],
    "frame": pd.DataFrame({"x": BIT + BEYOND, "z": BIT * 0.5}),
}


@pytest.mark.parametrize("features", PARTITIONS.values(), ids=PARTITIONS)
def test_a_partition_merges_nothing(features):
    from gerrymend.inputs.dask_rows import read_partition

    with pytest.raises(ValueError, match=r"X has whole numbers .* 9007199254740993"):
        read_partition(features, LABEL, BIT, None)
    with pytest.raises(ValueError, match="Column 'attribute_0' of sensitive_features has whole"):
        read_partition(np.eye(N), LABEL, BIT + BEYOND, None)


def test_rows_of_many_classes_are_taken_with_their_decisions():
    """Only two labels are split so today; what is taken must not have all decisions in it."""
    labels = np.array(["a", "b", "c"] * 20)
    read = Sample.read(
        labels, {"x": np.arange(60) % 2}, decisions=labels, decided=Decided(many=True), names=NAMES
    )
    kept, out = read.split(0.25, seed=0)
    for part in (kept, out):
        assert part.classes[part.decided].tolist() == part.labels.tolist()
