"""Files of patches: the same scores to the last bit, and nothing else is loaded."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from gerrymend import (
    ExplicitGroups,
    LinearThresholds,
    ModelFileError,
    SubgroupCalibrator,
    calibrate,
    load_patches,
    save_patches,
)
from gerrymend._runtime.sealed import digest_of_plain
from gerrymend.calibration.changes import OddsChange
from gerrymend.calibration.patches import Patch, ScorePatches
from gerrymend.calibration.saved import patches_json
from gerrymend.subgroups.rules import Condition, Conjunction
from tests.calibration.made import made_scores
from tests.fuzz.calibration_cases import calibrator_case
from tests.fuzz.oracle import judge

GROUPS = ExplicitGroups({"women of A": {"sex": "F", "town": "A"}, "the old": {"age": (50, None)}})


@pytest.fixture(scope="module")
def rows():
    y, score, A = made_scores(900, seed=21, planted=3.0)
    A = A.assign(town=A["town"].astype(object))
    A.iloc[:4, 1] = "Entenhausen"  # a rare value
    A.iloc[4:90, 1] = None
    return y, score, A


@pytest.mark.parametrize(
    "subgroups", ["conjunctions", "marginals", "value_sets", "trees", LinearThresholds(), GROUPS]
)
def test_loaded_patches_give_the_same_scores_to_the_bit(rows, subgroups, tmp_path):
    y, score, A = rows
    patches = calibrate(y, score, sensitive_features=A, subgroups=subgroups, n_draws=19)
    assert len(patches)
    save_patches(patches, tmp_path / "patches.json")
    loaded = load_patches(tmp_path / "patches.json")
    assert str(loaded) == str(patches)
    assert loaded.standing == patches.standing
    np.testing.assert_array_equal(loaded.apply(score, A), patches.apply(score, A))
    other = pd.DataFrame(
        {
            "sex": ["F", "M", "X"] * 4,
            "town": ["A", "Ulm", None, "Entenhausen"] * 3,
            "age": range(12),
        }
    )
    p = np.linspace(0, 1, 12)
    np.testing.assert_array_equal(loaded.apply(p, other), patches.apply(p, other))
    # Saved again, the file is the same.
    assert patches_json(loaded) == patches_json(patches)


def test_numbers_are_saved_too(rows, tmp_path):
    y, score, A = rows
    patches = calibrate(10 * score + y, 12 * score, sensitive_features=A, n_draws=19)
    save_patches(patches, tmp_path / "patches.json")
    loaded = load_patches(tmp_path / "patches.json")
    assert not loaded.probabilities
    np.testing.assert_array_equal(loaded.apply(12 * score, A), patches.apply(12 * score, A))


def test_a_file_has_no_row_and_no_rare_value(rows, tmp_path):
    y, score, A = rows
    patches = calibrate(y, score, sensitive_features=A, subgroups="value_sets", n_draws=19)
    save_patches(patches, tmp_path / "patches.json")
    text = (tmp_path / "patches.json").read_text(encoding="utf-8")
    assert "Entenhausen" not in text
    assert len(text) < 20_000


def test_a_model_saves_its_patches(rows, tmp_path):
    y, score, A = rows
    X = np.log(score / (1 - score))[:, None]
    model = SubgroupCalibrator(n_draws=19, subgroups="marginals").fit(X, y, sensitive_features=A)
    save_patches(model, tmp_path / "patches.json")
    assert load_patches(tmp_path / "patches.json") == model.patches_


def test_undone_patches_are_saved_without_what_is_known_of_all(rows, tmp_path):
    y, score, A = rows
    patches = calibrate(y, score, sensitive_features=A, n_draws=19).undo()
    save_patches(patches, tmp_path / "patches.json")
    assert load_patches(tmp_path / "patches.json") == patches


@pytest.mark.parametrize(
    "part",
    [
        {"probabilities": "\ud800"},
        {"patches": [{}]},
        {"patches": 3},
        {"attributes": None},
        {"standing": {"refused": None}},
    ],
    ids=str,
)
def test_a_file_of_another_form_is_refused(rows, tmp_path, part):
    y, score, A = rows
    plain = json.loads(patches_json(calibrate(y, score, sensitive_features=A, n_draws=19))) | part
    if part.get("probabilities") is None:  # half of a character can't be sealed
        plain["sha256"] = digest_of_plain(plain)
    path = tmp_path / "patches.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"^path="):
        load_patches(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch["change"].update(factor=10**400),
        lambda patch: patch["change"].update(factor=float("nan")),
        lambda patch: patch.update(rows="many"),
        lambda patch: patch.update(happened=None),
    ],
)
def test_figures_that_are_no_numbers_are_refused(rows, tmp_path, change):
    y, score, A = rows
    plain = json.loads(patches_json(calibrate(y, score, sensitive_features=A, n_draws=19)))
    change(plain["patches"][0])
    plain["sha256"] = digest_of_plain(plain)
    (tmp_path / "patches.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ModelFileError, match="is not as save_patches"):
        load_patches(tmp_path / "patches.json")


def damaged(text, change):
    plain = json.loads(text)
    change(plain)
    return json.dumps(plain)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plain: plain["patches"][0].update(low=0.123), "is not as it was saved"),
        (lambda plain: plain["patches"][0]["change"].update(factor=9.0), "is not as it was saved"),
        (lambda plain: plain.pop("sha256"), "is not as it was saved"),
        (lambda plain: plain.update(version=2), "has format 2, and this gerrymend reads 1"),
        (lambda plain: plain.update(version="1"), "has format '1'"),
        (lambda plain: plain.update(format="gerrymend report"), "is no file of patches"),
    ],
)
def test_a_file_that_was_changed_is_refused(rows, tmp_path, change, words):
    y, score, A = rows
    text = patches_json(calibrate(y, score, sensitive_features=A, n_draws=19))
    path = tmp_path / "patches.json"
    path.write_text(damaged(text, change), encoding="utf-8")
    with pytest.raises(ModelFileError, match=words):
        load_patches(path)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b"\xff\xfe", b"\x80\x04K\x01.", b"null", b"[" * 10**5]
)
def test_what_is_no_file_of_patches_is_refused(content, tmp_path):
    path = tmp_path / "patches.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is no file of patches"):
        load_patches(path)


def test_a_forged_file_is_refused_in_our_words(rows, tmp_path):

    y, score, A = rows
    text = patches_json(calibrate(y, score, sensitive_features=A, n_draws=19))

    def forge(plain):
        plain["patches"][0]["rule"] = {"kind": "eval", "code": "1"}
        plain["sha256"] = digest_of_plain(plain)

    path = tmp_path / "patches.json"
    path.write_text(damaged(text, forge), encoding="utf-8")
    with pytest.raises(ModelFileError, match="unknown kind 'eval'"):
        load_patches(path)


@pytest.mark.parametrize(
    "digits",
    ["1e-400", "1e400", "9007199254740993.0", "9007199254740993", "NaN", "1" * 400, "1" * 5000],
    ids=lambda digits: digits[:20],
)
def test_a_number_that_would_be_read_as_another_is_refused(digits, tmp_path):
    change = OddsChange(2.0)
    rule = Conjunction((Condition("age", low=40.5),), {"age": "number"})
    patch = Patch(rule, -math.inf, math.inf, change, 10, 0.5, 0.6, 0.01, None)
    text = patches_json(ScorePatches((patch,), {"age": "number"}, True, "score"))
    for old in ('"low": 40.5', '"factor": 2.0'):
        assert old in text
        forged = text.replace(old, f"{old.partition(':')[0]}: {digits}")
        if len(digits) < 4300:  # Python itself reads no longer ones
            plain = json.loads(forged)
            forged = forged.replace(plain["sha256"], digest_of_plain(plain))
        path = tmp_path / "patches.json"
        path.write_text(forged, encoding="utf-8")
        with pytest.raises(ModelFileError, match="float64"):
            load_patches(path)


def test_paths_that_cannot_be_are_told(rows, tmp_path):
    y, score, A = rows
    patches = calibrate(y, score, sensitive_features=A, n_draws=19, max_patches=0)
    with pytest.raises(FileNotFoundError, match="does not exist; pass the file that save_patches"):
        load_patches(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load_patches(tmp_path)
    with pytest.raises(OSError, match="can't be written to"):
        save_patches(patches, tmp_path / "none" / "patches.json")
    with pytest.raises(TypeError, match="patches must be what calibrate"):
        save_patches(str(patches), tmp_path / "patches.json")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("number", [50071, 50488])
def test_rules_of_rare_values_together_come_back_as_they_were(number):
    """Sets of values with the rare ones in: a file tells who is out. Found by the fuzz."""
    assert judge(calibrator_case(np.random.default_rng(number))) == []
