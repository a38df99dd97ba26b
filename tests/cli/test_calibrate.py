"""`gerrymend calibrate`: patches as calibrate() learns them, and scores as they change them."""

import json

import numpy as np
import polars as pl
import pytest

from gerrymend import calibrate, check_patches, load_patches
from tests.cli.calling import call, examples_of, options_of


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng = np.random.default_rng(1)
    n = 600
    frame = pl.DataFrame(
        {
            "id": [f"{number:05d}" for number in range(n)],
            "race": rng.choice(["blue", "green"], n),
            "sex": rng.choice(["F", "M"], n),
            "p": rng.beta(2, 2, n).round(3),
            "foretold": rng.integers(10, 60, n),
        }
    )
    chance = np.where(frame["race"] == "blue", frame["p"] * 0.4, frame["p"])
    late = 8 * (frame["sex"] == "F").cast(int) + pl.Series(rng.integers(-5, 6, n))
    frame = frame.with_columns(
        y=pl.Series(np.where(rng.random(n) < chance, "yes", "no")), days=frame["foretold"] + late
    )
    path = tmp_path_factory.mktemp("scores") / "people.csv"
    frame.write_csv(path)
    return frame, path


ASKED = ["--label", "y", "--score", "p", "--protected", "race,sex", "--draws", "19"]


@pytest.fixture(scope="module")
def calibrated(people, tmp_path_factory):
    _, path = people
    folder = tmp_path_factory.mktemp("patched")
    out = folder / "patched.csv"
    model = folder / "patches.json"
    code, said, err = call("calibrate", path, *ASKED, "--out", out, "--model", model)
    assert code == 0, err
    return out, model, said


def test_patches_and_scores_are_those_of_calibrate(people, calibrated):
    frame, _ = people
    out, model, _ = calibrated
    own = calibrate("y", "p", sensitive_features=["race", "sex"], n_draws=19, data=frame)
    patches = load_patches(model)
    assert len(own)
    assert patches.patches == own.patches
    assert patches.standing == own.standing
    told = pl.read_csv(out, schema_overrides={"id": pl.String})
    assert told.columns == [*frame.columns, "p_patched"]
    assert told.drop("p_patched").equals(frame)
    patched = own.apply(frame["p"], frame.select("race", "sex"))
    np.testing.assert_array_equal(told["p_patched"], patched)
    data = {"y_true": frame["y"], "y_pred": frame["p"]}
    text = model.read_text(encoding="utf-8")
    assert check_patches(text, **data, sensitive_features=frame.select("race", "sex")).ok


def test_what_was_done_is_told_in_words(calibrated):
    _, model, said = calibrated
    plain = json.loads(model.read_text(encoding="utf-8"))
    standing = plain["standing"]
    words = " ".join(said.split())
    assert f"was {standing['before']:.4f} and is {standing['after']:.4f}; it is proven" in words
    assert f"The Brier score was {standing['error_before']:.4g} and is" in words
    assert "If the model was trained on these rows" in words
    assert "out-of-fold" in words
    assert "race = blue" in words
    assert f"{len(plain['patches'])} made" in words
    assert "refused 1 stopped what is left, " in words
    assert "is within what chance makes of right scores" in words
    assert "gerrymend calibrate other.csv" in words
    assert f"--apply {model} " in words
    assert max(map(len, said.splitlines())) <= 80


def test_saved_patches_are_applied_to_other_rows(people, calibrated, tmp_path):
    frame, _ = people
    _, model, _ = calibrated
    other = frame.sample(200, seed=3).rename({"p": "risk"})
    path = tmp_path / "other.parquet"
    other.write_parquet(path)
    out = tmp_path / "patched.parquet"
    code, said, err = call(
        "calibrate", path, "--apply", model, "--score", "risk", "--label", "y", "--out", out
    )
    assert code == 0, err
    patched = load_patches(model).apply(other["risk"], other.select("race", "sex"))
    told = pl.read_parquet(out)
    assert told.drop("risk_patched").equals(other)
    np.testing.assert_array_equal(told["risk_patched"], patched)
    happened = (other["y"] == "yes").to_numpy()
    words = " ".join(said.split())
    assert f"{(patched != other['risk'].to_numpy()).sum()} of 200 scores were changed" in words
    errors = [np.mean((happened - score) ** 2) for score in (other["risk"].to_numpy(), patched)]
    assert f"Brier score is {errors[0]:.4g} before, and {errors[1]:.4g} after" in words


def test_alpha_decides_the_exit_code(people, tmp_path):
    _, path = people
    model = ["--model", tmp_path / "patches.json"]
    code, said, _ = call("calibrate", path, *ASKED, "--alpha", "0.2", *model)
    assert code == 0
    assert "proven that no subgroup exceeds alpha = 0.2" in " ".join(said.split())
    few = ["--alpha", "0.01", "--max-patches", "0", *model]
    code, said, err = call("calibrate", path, *ASKED, *few)
    assert code == 1
    assert "A subgroup still exceeds alpha = 0.01, after 0 patches" in said
    assert err == "Exit code 1: a subgroup still exceeds --alpha.\n"
    code, said, err = call("calibrate", path, *ASKED, *few, "--quiet")
    assert (code, said) == (1, "")
    assert err.startswith("Exit code 1: a subgroup still exceeds --alpha. A subgroup still ")
    assert "exceeds alpha = 0.01, after 0 patches. The worst" in err


def test_settings_are_options(people, tmp_path):
    _, path = people
    model = tmp_path / "patches.json"
    code, _, err = call(
        "calibrate", path, *ASKED, "--notion", "multiaccuracy", "--subgroups", "value_sets",
        "--depth", "1", "--alpha", "0.03", "--level", "1", "--max-patches", "3", "--seed", "4",
        "--min-group-size", "20", "--positive", "no", "--model", model,
    )  # fmt: skip
    assert code in (0, 1), err
    settings = load_patches(model).standing.settings
    parameters = {"max_depth": 1, "bins": 16}
    assert settings == {
        "notion": "multiaccuracy", "cuts": None, "alpha": 0.03, "level": 1.0, "max_patches": 3,
        "n_draws": 19, "min_group_size": 20, "random_state": 4,
        "subgroups": {"name": "ValueSets", "parameters": parameters},
    }  # fmt: skip


def test_numbers_are_calibrated_in_their_unit(people, tmp_path):
    _, path = people
    out = tmp_path / "patched.csv"
    given = ["--label", "days", "--score", "foretold", "--protected", "sex", "--bins", "3"]
    code, said, err = call("calibrate", path, *given, "--draws", "19", "--out", out)
    assert code == 0, err
    assert "mean squared error was" in " ".join(said.split())
    told = pl.read_csv(out)
    women = told.filter(pl.col("sex") == "F")
    assert abs((women["days"] - women["foretold_patched"]).mean()) < 1


def test_ranges_dates_and_codes_are_made_again(people, tmp_path):
    frame, _ = people
    rng = np.random.default_rng(0)
    own = frame.with_columns(
        code=pl.Series(np.where(frame["race"] == "blue", "01", "02")),
        age=pl.Series(np.where(frame["sex"] == "F", 30, rng.integers(40, 60, len(frame)))),
        born=pl.Series(np.where(frame["sex"] == "F", "1980-01-02", "1990-05-06")),
    )
    path = tmp_path / "people.csv"
    own.write_csv(path)
    made = ["--categorical", "code", "--ranges", "age=35,50"]
    given = ["--label", "y", "--score", "p", "--protected", "code,age,born", "--draws", "19"]
    model = tmp_path / "patches.json"
    first = tmp_path / "first.csv"
    code, _, err = call("calibrate", path, *given, *made, "--out", first, "--model", model)
    assert code == 0, err
    assert list(load_patches(model).attributes) == ["code", "age (range)", "born (year)"]
    again = tmp_path / "again.csv"
    code, _, err = call("calibrate", path, "--apply", model, *made[2:], "--out", again)
    assert code == 0, err
    assert again.read_bytes() == first.read_bytes()
    assert ",01," in first.read_text(encoding="utf-8")
    code, _, err = call("calibrate", path, "--apply", model, "--out", again)
    assert code == 2
    assert "lacks columns that --apply" in err
    assert "'age (range)'" in err


def test_missing_rows_are_dropped_from_what_is_written(people, tmp_path):
    frame, _ = people
    path = tmp_path / "people.csv"
    own = frame.with_row_index("age").with_columns(
        age=pl.when(pl.col("age") < 7).then(None).otherwise(pl.col("age") % 40)
    )
    own.write_csv(path)
    out = tmp_path / "patched.csv"
    given = ["--label", "y", "--score", "p", "--protected", "race,age", "--draws", "19"]
    code, _, err = call("calibrate", path, *given, "--out", out)
    assert code == 2
    assert "--drop-missing" in err
    code, said, err = call("calibrate", path, *given, "--drop-missing", "--out", out)
    assert code == 0, err
    assert "7 rows (--drop-missing)" in said
    assert pl.read_csv(out)["id"].to_list() == [int(one) for one in own["id"][7:]]


def test_cells_stay_as_they_were_written(people, tmp_path):
    frame, _ = people
    path = tmp_path / "people.csv"
    lines = ["=p;-1;sex;p;y;n/a"]
    for number, (sex, p, y) in enumerate(frame.select("sex", "p", "y").iter_rows()):
        lines.append(f"@{number};-{number:03d};{sex};{str(p).replace('.', ',')};{y};n/a")
    path.write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "patched.csv"
    given = ["--label", "y", "--score", "p", "--protected", "sex", "--draws", "19"]
    code, said, err = call(
        "calibrate", path, *given, "--decimal", ",", "--missing", "n/a", "--out", out
    )
    assert code == 0, err
    assert "have a ' before them" in said
    header, first, *_ = out.read_text(encoding="utf-8").splitlines()
    assert header == "'=p,'-1,sex,p,y,n/a,p_patched"
    assert first.startswith(f"'@0,-000,{frame['sex'][0]},{frame['p'][0]},{frame['y'][0]},n/a,")


def test_standard_input_is_read_once(people, calibrated, tmp_path):
    _, path = people
    out, _, _ = calibrated
    piped = tmp_path / "patched.csv"
    text = path.read_text(encoding="utf-8")
    code, _, err = call("calibrate", "-", *ASKED, "--out", piped, stdin=text)
    assert code == 0, err
    assert piped.read_bytes() == out.read_bytes()


HOSTILE = ["[red]x[/red]", "\x1b[31mred", "=cmd|' /C calc'!A0", "live\u202e evil", "a, b and c"]


def test_hostile_names_do_nothing(people, tmp_path):
    frame, _ = people
    told = dict(zip(["blue", "green"], HOSTILE[:2], strict=True))
    own = frame.rename({"race": HOSTILE[2], "p": HOSTILE[3]}).with_columns(
        pl.col(HOSTILE[2]).replace(told), pl.col("sex").replace({"F": HOSTILE[4]})
    )
    path = tmp_path / "people.parquet"
    own.write_parquet(path)
    out = tmp_path / "patched.csv"
    model = tmp_path / "patches.json"
    code, said, err = call(
        "calibrate", path, "--label", "y", "--score", HOSTILE[3], "--protected", HOSTILE[2],
        "--protected", "sex", "--draws", "19", "--out", out, "--model", model,
    )  # fmt: skip
    assert code == 0, err
    assert len(load_patches(model))
    for sign in ("\x1b", "\u202e"):
        assert sign not in said
    assert HOSTILE[0] in " ".join(said.split()) or "x1b" in said or "U+001B" in said
    header = out.read_text(encoding="utf-8").splitlines()[0]
    assert f"'{HOSTILE[2]}" in header


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"--label": None}, "--label is needed to learn patches"),
        ({"--score": None}, "--score is needed to learn patches"),
        ({"--protected": None}, "--protected is needed to learn patches"),
        ({"--label": "nothing"}, "--label='nothing' is no column"),
        ({"--score": "foretold"}, "--score foretold has 600 scores outside of [0, 1]"),
        ({"--score": "race"}, "--score race"),
        ({"--score": "one"}, "--score one is 0.5 in every row"),
        ({"--protected": "p"}, "which is the score"),
        ({"--protected": "name"}, "'name' of --protected has 600 different values"),
        ({"--notion": "error_rate"}, "--notion='error_rate' is unknown. Choose from"),
        ({"--notion": "multiaccuracy,multicalibration"}, "is unknown (did you mean"),
        ({"--notion": "multiaccuracy", "--bins": "4"}, "--bins 4 is for --notion"),
        ({"--bins": "1"}, "--bins must be a number of at least 2"),
        ({"--alpha": "0"}, "--alpha must be above 0"),
        ({"--alpha": "0.0001"}, "--alpha=0.0001 is below what a single row makes"),
        ({"--alpha": "nan"}, "--alpha must be above 0"),
        ({"--level": "2"}, "--level must be at most 1"),
        ({"--draws": "3"}, "--draws must be at least 19"),
        ({"--max-patches": "-1"}, "--max-patches"),
        ({"--subgroups": "circles"}, "--subgroups"),
        ({"--subgroups": "marginals", "--depth": "3"}, "--depth 3 is not for"),
        ({"--positive": "maybe"}, "--positive"),
        ({"--out": "patched.txt"}, "must end in .csv, .parquet or .xlsx"),
        ({"--out": "no/folder/patched.csv"}, "can't be written"),
        ({"--model": None, "--out": None}, "--out or --model, or both"),
        ({"--model": "-"}, "--model - is no file"),
        ({"--weight": "foretold", "--categorical": "none"}, "--categorical"),
    ],
)
def test_bad_options_are_told_in_options(people, options, message, tmp_path, monkeypatch):
    frame, _ = people
    monkeypatch.chdir(tmp_path)
    frame.with_columns(one=pl.lit(0.5), name="A" + pl.col("id")).write_csv("people.csv")
    given = {"--label": "y", "--score": "p", "--protected": "race,sex", "--model": "patches.json"}
    given |= options
    asked = [word for option, value in given.items() if value for word in (option, value)]
    code, out, err = call("calibrate", "people.csv", *asked)
    assert code == 2
    assert message in " ".join(err.split())
    assert not out
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_numbers_that_may_identify_are_noted(people, tmp_path):
    _, path = people
    given = ["--label", "y", "--score", "p", "--protected", "race,id", "--draws", "19"]
    code, _, err = call("calibrate", path, *given, "--model", tmp_path / "patches.json")
    assert code == 0, err
    assert "Note: Column 'id' of --protected has 600 different values" in " ".join(err.split())


def test_files_that_are_read_are_not_overwritten(people, calibrated, tmp_path):
    _, path = people
    _, model, _ = calibrated
    before = path.read_bytes()
    for given in (["--out", path], ["--model", path]):
        code, _, err = call("calibrate", path, *ASKED, *given)
        assert code == 2
        assert "is read, or written, by this command already" in err
    code, _, err = call("calibrate", path, "--apply", model, "--out", path)
    assert code == 2
    assert path.read_bytes() == before
    again = tmp_path / "again.csv"
    code, _, err = call("calibrate", calibrated[0], *ASKED, "--out", again)
    assert code == 2
    assert "has a column 'p_patched' already" in err
    assert not again.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--alpha", "0.01"], "--alpha is to learn patches"),
        (["--protected", "race"], "--protected is to learn patches"),
        (["--model", "other.json"], "--model is to learn patches"),
        (["--score", "y"], "--score y"),
        (["--score", "foretold"], "--score foretold has 600 scores outside of [0, 1]"),
        (["--weight", "foretold"], "--weight is for --label"),
        (["--label", "race", "--positive", "x"], "--positive"),
    ],
)
def test_bad_options_of_applying_are_told(people, calibrated, options, message, tmp_path):
    _, path = people
    out = tmp_path / "patched.csv"
    code, _, err = call("calibrate", path, "--apply", calibrated[1], "--out", out, *options)
    assert code == 2
    assert message in " ".join(err.split())
    assert not out.exists()


def test_what_is_no_file_of_patches_is_refused(people, calibrated, tmp_path):
    frame, path = people
    out = tmp_path / "patched.csv"
    forged = tmp_path / "patches.json"
    forged.write_text(
        calibrated[1].read_text(encoding="utf-8").replace("blue", "green"), encoding="utf-8"
    )
    for file, words in (
        (tmp_path / "none.json", "does not exist"),
        (path, "is no file of patches"),
        (forged, "is not as it was saved"),
    ):
        code, _, err = call("calibrate", path, "--apply", file, "--out", out)
        assert code == 2
        assert f"--apply {file}" in err.replace("\n", "")
        assert words in " ".join(err.split())
    code, _, err = call("calibrate", path, "--apply", calibrated[1])
    assert code == 2
    assert "--out is needed with --apply" in err
    frame.drop("sex").write_csv(tmp_path / "few.csv")
    code, _, err = call("calibrate", tmp_path / "few.csv", "--apply", calibrated[1], "--out", out)
    assert code == 2
    assert "tells subgroups by: 'sex'" in " ".join(err.split())


def test_the_examples_of_the_help_run(tmp_path, monkeypatch):
    from gerrymend.cli.demo import save_rows

    monkeypatch.chdir(tmp_path)
    made, *others = examples_of("calibrate")
    assert made == ["gerrymend", "demo", "--save", "people.csv"]
    save_rows(tmp_path / "people.csv", 400, seed=0)
    for words in others:
        code, _, err = call(*words[1:])
        assert code == 0, err
    first = pl.read_csv("patched.csv")
    assert first.equals(pl.read_csv("again.csv"))


def test_every_option_is_documented():
    assert {"--apply", "--model", "--alpha", "--level", "--quiet"} <= options_of("calibrate")
