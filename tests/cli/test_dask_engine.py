"""`--engine dask`: Parquet folders give what the same rows give in memory."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

from tests.cli.calling import call

distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.dataframe")

from gerrymend import load_model  # noqa: E402
from gerrymend.cli import dask_tables  # noqa: E402
from tests.solvers.test_dask_checkpoints import Stopping, press  # noqa: E402

CUTS = (0, 250, 260, 600)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        silence_logs="CRITICAL",
    ) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def people(n=600):
    rng = np.random.default_rng(7)
    age = rng.integers(18, 70, n)
    sex = rng.choice(["F", "M"], n)
    income = np.round(rng.gamma(2, 20, n), 1)
    wish = income / 20 + (sex == "M") * (age > 40) + rng.standard_normal(n)
    return pl.DataFrame(
        {
            "sex": sex,
            "age": age,
            "born": pl.Series([f"{2024 - one}-03-01" for one in age // 10 * 10]),
            "code": rng.integers(1, 4, n),
            "income": income,
            "kind": rng.choice(["a", "b", "c"], n),
            "repaid": np.where(wish + rng.standard_normal(n) > 2, "yes", "no"),
            "granted": np.where(wish > 2, "yes", "no"),
            "p": np.round(rng.random(n), 3),
            "weight": np.round(rng.random(n) + 0.5, 2),
            "gap": pl.Series([None if one % 17 == 0 else one for one in range(n)], dtype=pl.Int64)
            % 5,
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One file, and the same rows in a folder of several."""
    at = tmp_path_factory.mktemp("tables")
    table = people()
    table.write_parquet(at / "people.parquet")
    (at / "people").mkdir()
    for number, (first, last) in enumerate(itertools.pairwise(CUTS)):
        table[first:last].write_parquet(at / "people" / f"part{number}.parquet")
    (at / "people" / "_SUCCESS").write_text("")
    return at


DECIDED = ("--label", "repaid", "--prediction", "granted", "--favourable", "positive")


def told(code, out, err):
    """Return the exit code, the report but for when and of what file it was made, and notes."""
    report = json.loads(out)
    report.pop("provenance", None)
    return code, report, err


@pytest.mark.parametrize(
    "arguments",
    [
        (*DECIDED, "--protected", "sex,age"),
        (*DECIDED, "--protected", "sex,code", "--categorical", "code", "--subgroups", "marginals"),
        (*DECIDED, "--protected", "sex,born", "--dates", "year", "--subgroups", "conjunctions"),
        (*DECIDED, "--protected", "sex,age", "--ranges", "age=30,50", "--control", "kind",
         "--subgroups", "marginals"),
        (*DECIDED, "--protected", "sex,gap", "--drop-missing", "--subgroups", "marginals"),
        ("--label", "repaid", "--probability", "p", "--weight", "weight", "--protected", "sex,age",
         "--permutations", "0", "--subgroups", "marginals"),
        ("--notion", "mean_outcome", "--prediction", "income", "--protected", "sex,kind",
         "--permutations", "0", "--subgroups", "marginals"),
    ],
    ids=["linear", "codes", "dates", "ranges", "dropped", "weights", "means"],
)  # fmt: skip
def test_an_audit_is_that_of_memory(files, arguments):
    how = (*arguments, "--json", "-")
    here = told(*call("audit", files / "people.parquet", *how))
    there = told(*call("audit", files / "people", *how, "--engine", "dask"))
    assert there == here


def test_a_second_folder_is_held_out(files):
    how = (*DECIDED, "--protected", "sex", "--json", "-", "--holdout")
    one = files / "people.parquet"
    here = told(*call("audit", one, *how, one))
    there = told(*call("audit", files / "people", *how, files / "people", "--engine", "dask"))
    assert there == here


def test_large_files_are_read_in_parts(files, monkeypatch):
    monkeypatch.setattr(dask_tables, "_MOST_ROWS", 100)
    parts = dask_tables.open_parts(files / "people").parts
    assert [part.n_rows for part in parts] == [100, 100, 50, 10, 100, 100, 100, 40]
    frame = dask_tables.open_parts(files / "people").on_dask(["age", "sex"])
    assert frame.compute()["age"].tolist() == people()["age"].to_list()


def test_parts_are_told_of_as_they_are_read(files, client):
    said = []
    opened = dask_tables.open_parts(files / "people")
    with dask_tables.parts_told(client, 3, lambda *words: said.append(words)):
        opened.on_dask(["age"]).compute()
        for _ in range(100):
            if len(said) >= 3:
                break
            distributed.wait(client.submit(int, 1, pure=False))
    assert [done for _, done, _ in said] == [1, 2, 3]
    assert {of for _, _, of in said} == {3}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--engine", "spark"), "--engine='spark' is unknown. Choose from memory, dask"),
        (("--engine", "dask", "--missing", "NA"), "--missing says how text is read"),
        (("--engine", "dask", "--decimal", ","), "--decimal says how text is read"),
        (("--engine", "dask", "--separator", ";"), "--separator says how text is read"),
        (("--engine", "dask", "--counts", "code"), "--counts is for a table"),
        (("--engine", "dask", "--weight", "weight"),
         "--permutations needs the rows themselves with --weight"),
        (("--engine", "dask", "--weight", "weight", "--permutations", "0", "--confidence", "0.9"),
         "--confidence needs the rows themselves with --weight"),
        (("--engine", "dask", "--control", "town"), "--control"),
        ((), "is a folder; name a CSV or Parquet file in it, or let --engine dask"),
    ],
)  # fmt: skip
def test_errors_name_the_option(files, arguments, words):
    code, out, err = call("audit", files / "people", *DECIDED, "--protected", "sex", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_a_folder_of_other_things_is_told(files, tmp_path):
    how = (*DECIDED, "--protected", "sex", "--engine", "dask")
    assert "folder without a file that ends in .parquet" in " ".join(
        call("audit", tmp_path, *how)[2].split()
    )
    people().write_parquet(tmp_path / "a.parquet")
    people().drop("p").write_parquet(tmp_path / "b.parquet")
    assert "b.parquet has other columns" in " ".join(call("audit", tmp_path, *how)[2].split())
    text = tmp_path / "people.csv"
    people().write_csv(text)
    assert "can't be read as Parquet" in " ".join(call("audit", text, *how)[2].split())


TRAINED = ("--label", "repaid", "--protected", "sex,age", "--drop", "granted,p,born,gap")


def trained(at, where, *arguments):
    """Train, and return the exit code, the report, the model and what was told."""
    out, page = at / "m.skops", at / "m.md"
    code, told_out, err = call("fit", where, *arguments, "--out", out, "--markdown", page)
    assert code in (0, 1, 3), err
    text = page.read_text().replace(str(out), "m.skops")
    return code, text, load_model(out), told_out


def probability(model, table):
    return model.predict_proba(table)[:, 1]


@pytest.mark.parametrize(
    "arguments",
    [
        (*TRAINED, "--subgroups", "marginals", "--positive", "no"),
        (*TRAINED, "--weight", "weight", "--control", "kind", "--ranges", "age=30,50",
         "--subgroups", "marginals"),
        ("--label", "repaid", "--protected", "sex,gap", "--features", "income,kind,code",
         "--drop-missing", "--subgroups", "marginals", "--categorical", "code"),
        (*TRAINED, "--subgroups", "conjunctions", "--bins", "4"),
    ],
    ids=["other label", "weights, strata and ranges", "dropped rows", "bins"],
)  # fmt: skip
def test_a_model_is_that_of_memory(files, tmp_path, arguments):
    how = (*arguments, "--estimator", "linear-regression", "--gamma", "0.02", "--max-iter", "8")
    (tmp_path / "here").mkdir()
    code, text, here, _ = trained(tmp_path / "here", files / "people.parquet", *how)
    there = trained(tmp_path, files / "people", *how, "--engine", "dask")
    table = people()
    if "--categorical" in arguments:
        table = table.with_columns(pl.col("code").cast(pl.String))
    # Scales are learned in parts, and round otherwise than those of all rows at once.
    np.testing.assert_allclose(probability(there[2], table), probability(here, table), atol=1e-9)
    assert there[:2] == (code, text)
    assert ("age (binned)" in text) == ("--bins" in arguments)


def test_the_default_model_is_that_of_memory(files, tmp_path):
    """In memory the fit of each round ends at scikit-learn's tolerance, and here at the optimum."""
    how = (*TRAINED, "--subgroups", "marginals", "--gamma", "0.02")
    (tmp_path / "here").mkdir()
    here = trained(tmp_path / "here", files / "people.parquet", *how)
    there = trained(tmp_path, files / "people", *how, "--engine", "dask")
    assert there[0] == here[0] == 0
    ours, theirs = probability(there[2], people()), probability(here[2], people())
    is_repaid = people()["repaid"].to_numpy() == "yes"
    errors = [np.where(is_repaid, 1 - p, p).mean() for p in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], abs=2e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--estimator", "tree"), "--estimator tree needs all rows in one place"),
        (("--estimator", "three"), "--estimator='three' is unknown"),
        (("--impute",), "--impute needs all rows in one place"),
        (("--test-size", "0.3"), "--test-size needs all rows in one place"),
        (("--features", "gap"), "Column 'gap' of"),
        (("--weight", "kind", "--features", "income"), "--weight kind"),
        (("--positive", "maybe"), "--positive"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_errors_of_a_training_name_the_option(files, tmp_path, arguments, words):
    how = ("--label", "repaid", "--protected", "sex", "--engine", "dask", "--out", tmp_path / "m")
    code, out, err = call("fit", files / "people", *how, *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_a_training_that_is_cut_short_goes_on(files, tmp_path):
    how = (*TRAINED, "--max-iter", "4", "--gamma", "0.001", "--engine", "dask")
    (tmp_path / "whole").mkdir()
    whole = trained(tmp_path / "whole", files / "people", *how)
    kept = tmp_path / "kept"
    with Stopping("logistic", 12, press):
        code, _, err = call(
            "fit", files / "people", *how, "--checkpoint", kept, "--out", tmp_path / "m.skops"
        )
    assert code == 130
    assert f"The training is kept in {kept}" in " ".join(err.split())
    resumed = trained(tmp_path, files / "people", *how, "--checkpoint", kept)
    assert resumed[:2] == whole[:2]
    np.testing.assert_array_equal(
        probability(resumed[2], people()), probability(whole[2], people())
    )
