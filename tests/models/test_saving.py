"""Saved models: the same decisions elsewhere, and files that are not what they should be."""

import hashlib
import io
import json
import os
import pickle
import re
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from gerrymend import (
    MarginalParityClassifier,
    MixtureClassifier,
    ModelFileError,
    SubgroupParityClassifier,
    load_model,
    save_model,
    types_to_trust,
)
from gerrymend._runtime import files as files_module
from gerrymend.models.mixture import ConstantPredictor, LinearPredictor, Mixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TREE = "sklearn.tree._tree.Tree"
HIST = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"


@pytest.fixture(scope="module", autouse=True)
def _skops():
    """Import it for the process that runs these tests alone: it imports all of scikit-learn."""
    global skops
    import skops.io


def fitted(toy, estimator=None, kind=SubgroupParityClassifier, **parameters):
    X, y, protected = toy
    usual = {"max_iter": 6, "tol": None}
    if kind is SubgroupParityClassifier:
        usual["subgroups"] = "conjunctions"  # searched at once: what is saved is the mixture
    clf = kind(estimator, gamma=0.005, random_state=0, **usual | parameters)
    return clf.fit(X, y, sensitive_features=protected)


def small_model(seed=3):
    coef = np.array([[1.0, 2.0], [0.5, -1.0]])
    predictors = [LinearPredictor(one, 0.25) for one in coef] + [ConstantPredictor(True)]
    weights = np.array([0.5, 0.25, 0.25])
    return MixtureClassifier(
        Mixture(predictors, weights), classes=["no", "yes"], n_features=2, seed=seed
    )


ESTIMATORS = [
    (LinearRegression(), []),
    (LogisticRegression(), []),
    (Ridge(), []),
    (make_pipeline(StandardScaler(), LogisticRegression()), []),
    (DecisionTreeClassifier(max_depth=2), [TREE]),
    (HistGradientBoostingClassifier(max_iter=3), [HIST]),
]


@pytest.mark.parametrize(("estimator", "to_trust"), ESTIMATORS)
def test_a_loaded_model_decides_the_same(toy, tmp_path, estimator, to_trust):
    X, y, _ = toy
    kind = MarginalParityClassifier if to_trust else SubgroupParityClassifier
    clf, path = fitted(toy, estimator, kind, max_iter=3), tmp_path / "model.skops"
    assert save_model(clf, path) == to_trust
    loaded = load_model(path, trusted=to_trust)
    assert isinstance(loaded, MixtureClassifier)
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
    np.testing.assert_array_equal(loaded.predict(X, 5), clf.predict(X, 5))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert loaded.score(X, y) == clf.score(X, y)
    saved_with = loaded.training.pop("saved_with")
    assert {"python", "scikit-learn", "numpy", "gerrymend"} <= saved_with.keys()
    assert loaded.training == clf.mixture_.training
    assert loaded.training["classifier"] == kind.__name__
    save_model(loaded, path)
    np.testing.assert_array_equal(load_model(path, trusted=to_trust).predict(X), clf.predict(X))


def encoded():
    """A classifier of a frame whose columns race and sex have words."""
    words = (OneHotEncoder(handle_unknown="ignore"), ["race", "sex"])
    encode = make_column_transformer(words, remainder="passthrough")
    return make_pipeline(encode, LogisticRegression())


CONTAINERS = {
    "numpy": "X[names].to_numpy()",
    "pandas": "X[names]",
    "polars": "polars.from_pandas(X[names])",
    "words": "X.drop(columns=names)",
}


def test_the_same_decisions_in_a_new_process(toy, tmp_path):
    X, y, protected = toy
    numbers = pd.DataFrame(X, columns=list("abcd"))
    words = protected.assign(score=X[:, 0].round(3))
    pd.concat([numbers, words], axis=1).to_csv(tmp_path / "X.csv", index=False)
    features = {"numpy": X, "pandas": numbers, "polars": pl.from_pandas(numbers), "words": words}
    decided = []
    code = (
        "import pandas, polars; from gerrymend import load_model; names = list('abcd');"
        "X = pandas.read_csv('X.csv', float_precision='round_trip');"
    )
    for container, conversion in CONTAINERS.items():
        estimator = encoded() if container == "words" else LogisticRegression()
        clf = fitted((features[container], y, protected), estimator)
        assert save_model(clf, tmp_path / f"{container}.skops") == []
        decided.append("".join(map(str, clf.predict(features[container]))))
        code += f"print(*load_model('{container}.skops').predict({conversion}), sep='');"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONHASHSEED": "77"},
    )  # fmt: skip
    assert run.stdout.split() == decided


def test_columns_in_another_order_are_refused(toy, tmp_path):
    X, y, protected = toy
    frame = protected.assign(score=X[:, 0].round(3))
    save_model(fitted((frame, y, protected), encoded()), tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[["sex", "race", "age", "score"]])


@pytest.mark.parametrize("how", ["predictor", "threshold"])
def test_a_deterministic_model_is_saved_with_its_cost(toy, tmp_path, how):
    X, y, protected = toy
    for estimator, to_trust in ESTIMATORS[::4]:
        mixture = fitted(toy, estimator).mixture_
        fixed = mixture.derandomize(
            X, y, sensitive_features=protected, gamma=0.1, how=how, budget=2
        )
        save_model(fixed, tmp_path / "model.skops")
        loaded = load_model(tmp_path / "model.skops", trusted=to_trust)
        assert loaded.is_deterministic
        assert loaded.cost == fixed.cost
        assert str(loaded.cost) == str(fixed.cost)
        np.testing.assert_array_equal(loaded.predict(X), fixed.predict(X))


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (2.5, 7.0)])
@pytest.mark.parametrize("as_list", [False, True])
def test_any_labels_come_back_as_they_were(toy, tmp_path, labels, as_list):
    X, y, protected = toy
    named = np.array(labels)[y]
    clf = fitted((X, named.tolist() if as_list else named, protected))
    save_model(clf, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert loaded.classes_.dtype == clf.classes_.dtype
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()


@given(seed=st.integers(0, 2**31 - 2), weights=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_every_mixture_of_linear_and_constant_predictors_comes_back(
    tmp_path_factory, seed, weights
):
    rng = np.random.default_rng(seed)
    predictors = [
        LinearPredictor(rng.standard_normal(2), float(rng.standard_normal()))
        if rng.random() < 0.7
        else ConstantPredictor(bool(rng.integers(2)))
        for _ in weights
    ]
    mixture = Mixture(predictors, np.array(weights) / sum(weights))
    model = MixtureClassifier(mixture, classes=[0, 1], n_features=2, seed=seed)
    path = tmp_path_factory.mktemp("models") / "model.skops"
    assert save_model(model, path) == []
    X = rng.standard_normal((30, 2))
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_no_type_of_ours_and_nothing_of_a_row_is_in_the_file(toy, tmp_path):
    X, y, protected = toy
    shifted = X + 0.987654321
    path = tmp_path / "model.skops"
    save_model(fitted((shifted, y, protected), Ridge()), path)
    content = path.read_bytes()
    for value in shifted[:20, 1]:
        assert np.float64(value).tobytes() not in content
        assert repr(float(value)).encode() not in content
    with zipfile.ZipFile(path) as archive:  # a zip may have text before it
        schema = archive.read("schema.json").decode()
    assert '"gerrymend.' not in schema
    modules = set(re.findall(r'"__module__": "(\w+)', schema))
    assert modules <= {"builtins", "numpy", "sklearn"}
    assert skops.io.get_untrusted_types(file=path) == []


# Files that are not what they should be. Every one is refused before anything is built.


def sealed(archive, version=1):
    """An archive with a first line of its own, as anyone who knows the format can write it."""
    start = b"gerrymend model, format %d" % version
    digest = hashlib.sha256(start + archive).hexdigest().encode()
    return start + b", sha256 " + digest + b"\n" + archive


def archive_of(path):
    return path.read_bytes().split(b"\n", 1)[1]


def with_entry(archive, name, change):
    """The same zip, valid, with one entry changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            new.writestr(entry, change(content) if entry == name else content)
    return out.getvalue()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.skops"
    save_model(small_model(), path)
    return path


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_byte_can_change_unnoticed(tmp_path_factory, where, bit):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    save_model(small_model(), path)
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.skops"):
        load_model(path)


@given(kept=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_short_is_refused(tmp_path_factory, kept):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    save_model(small_model(), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ModelFileError, match=r"no model of gerrymend|changed or cut short"):
        load_model(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(ModelFileError, match="changed or cut short"):
        load_model(path)


def test_an_entry_exchanged_for_another_is_refused(saved):
    line, archive = saved.read_bytes().split(b"\n", 1)
    array = next(name for name in zipfile.ZipFile(saved).namelist() if name.endswith(".npy"))
    out = io.BytesIO()
    np.save(out, np.array([9.0, 9.0]))
    changed = with_entry(archive, array, lambda _: out.getvalue())
    saved.write_bytes(line + b"\n" + changed)
    with pytest.raises(ModelFileError, match=r"doesn't have the sha256.*Copy it again"):
        load_model(saved)


def schema_that_calls(function, module, argument):
    """What skops would be told to call, were it to trust it."""
    content = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode",
               "content": json.dumps(argument), "is_json": True, "__id__": 1}  # fmt: skip
    return json.dumps(
        {
            "__class__": function,
            "__module__": module,
            "__loader__": "ObjectNode",
            "content": content,
            "__id__": 2,
            "protocol": 2,
            "_skops_version": "0.16.0",
        }
    ).encode()


@pytest.mark.parametrize("with_checksum", [False, True])
def test_a_file_that_would_run_a_command_is_refused(saved, tmp_path, with_checksum):
    line, archive = saved.read_bytes().split(b"\n", 1)
    ran = tmp_path / "ran"
    schema = schema_that_calls("system", os.system.__module__, f"touch {ran}")
    forged = with_entry(archive, "schema.json", lambda _: schema)
    saved.write_bytes(sealed(forged) if with_checksum else line + b"\n" + forged)
    message = "not trusted: .*system" if with_checksum else "doesn't have the sha256"
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)
    assert not ran.exists()


def test_a_type_of_ours_is_not_trusted_either(saved, tmp_path):
    saved.write_bytes(sealed(skops.io.dumps({"model": small_model()})))
    with pytest.raises(ModelFileError, match="not trusted: gerrymend"):
        load_model(saved)


def test_estimators_that_skops_does_not_trust_are_named_with_the_remedy(toy, tmp_path):
    X, _, _ = toy
    clf, path = fitted(toy, DecisionTreeClassifier(max_depth=2)), tmp_path / "model.skops"
    save_model(clf, path)
    with pytest.raises(ModelFileError, match=re.escape(f"pass trusted={[TREE]!r}")):
        load_model(path)
    with pytest.raises(ModelFileError, match=TREE):
        load_model(path, trusted=["sklearn.tree._tree.Other"])
    from sklearn.tree._tree import Tree

    np.testing.assert_array_equal(load_model(path, trusted=[Tree]).predict(X), clf.predict(X))


OTHER_CONTENTS = [
    {},
    {"mixture": {"predictors": [], "weights": np.ones(0)}},
    [1, 2, 3],
    "a model",
]


@pytest.mark.parametrize("content", OTHER_CONTENTS)
def test_a_sealed_file_with_something_else_in_it(saved, content):
    saved.write_bytes(sealed(skops.io.dumps(content)))
    with pytest.raises(ModelFileError, match=r"not as save_model\(\) writes it"):
        load_model(saved)


CHANGES = [
    ("weights", np.array([0.5, 0.25, 0.5]), "sum to 1"),
    ("weights", np.array([0.5, 0.5]), "one weight for each"),
    ("predictors", [{"kind": "pickle"}] * 3, "KeyError: 'pickle'"),
    ("predictors", {"coef": np.ones((3, 5)), "intercept": np.ones(3)}, "n_features=2"),
]


@pytest.mark.parametrize(("field", "value", "message"), CHANGES)
def test_a_sealed_model_that_can_not_be(saved, field, value, message):
    plain = skops.io.loads(archive_of(saved))
    plain["mixture"][field] = value
    saved.write_bytes(sealed(skops.io.dumps(plain)))
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)


def test_a_newer_format_asks_for_a_newer_gerrymend(saved):
    saved.write_bytes(sealed(archive_of(saved), version=2))
    with pytest.raises(
        ModelFileError, match=r"has format 2, and this gerrymend reads up to 1; .*-U"
    ):
        load_model(saved)


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("ran",)


OTHER_FILES = {
    "a pickle": lambda: pickle.dumps(Harmful()),
    "nothing": lambda: b"",
    "a table": lambda: b"age,sex\n31,F\n",
    "a plain skops file": lambda: skops.io.dumps({"a": 1}),
    "half a line": lambda: b"gerrymend model, format 1",
}


@pytest.mark.parametrize("content", OTHER_FILES.values(), ids=OTHER_FILES)
def test_a_file_that_is_not_ours(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "other.pkl"
    path.write_bytes(content())
    with pytest.raises(ModelFileError, match=r"other\.pkl' is no model of gerrymend. Pass a file"):
        load_model(path)
    assert not (tmp_path / "ran").exists()


def test_paths_that_can_not_be_read_or_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.skops' does not exist; pass the file"):
        load_model(tmp_path / "absent.skops")
    with pytest.raises(IsADirectoryError, match="is a folder; pass the file"):
        load_model(tmp_path)
    with pytest.raises(TypeError, match="path must be a path; got 3"):
        load_model(3)
    with pytest.raises(TypeError, match="trusted must be a list"):
        load_model(tmp_path / "model.skops", trusted=True)
    for path in (tmp_path / "absent" / "model.skops", tmp_path):
        with pytest.raises(OSError, match=r"can't be written to.*Choose a file in a folder"):
            save_model(small_model(), path)
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(files_module.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        save_model(small_model(seed=9), saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == ["model.skops"]


def test_a_saved_file_has_the_usual_permissions(saved):
    usual = saved.with_name("usual")
    usual.write_bytes(b"")
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_what_can_not_be_saved(toy, tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(NotFittedError):
        save_model(SubgroupParityClassifier(), path)
    with pytest.raises(TypeError, match=r"got LogisticRegression. Steps of a pipeline are"):
        save_model(make_pipeline(StandardScaler(), LogisticRegression()), path)
    local = make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())
    with pytest.raises(TypeError, match="no lambda or local function"):
        save_model(fitted(toy, local), path)

    class Odd:
        def decide(self, X):
            return np.ones(len(X), dtype=bool)

    odd = MixtureClassifier(Mixture([Odd()], np.ones(1)), classes=[0, 1], n_features=1)
    with pytest.raises(TypeError, match="A predictor of type Odd can't be saved"):
        save_model(odd, path)
    assert not path.exists()


def test_estimators_that_keep_rows_are_saved_as_they_are(toy, tmp_path):
    X, _, _ = toy
    clf, path = fitted(toy, KNeighborsRegressor(), max_iter=2), tmp_path / "model.skops"
    loaded = load_model(path, trusted=save_model(clf, path))
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


def test_without_skops_it_says_what_to_install(monkeypatch):
    for name in ("skops", "skops.io"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=re.escape("pip install 'gerrymend[save]'")):
        load_model("model.skops")


@pytest.mark.parametrize("strange", [None, 1, 0.5, ["a"]])
def test_what_is_no_type_can_not_be_trusted(tmp_path, strange):
    with pytest.raises(TypeError, match="trusted must be types or their names"):
        load_model(tmp_path / "model.skops", trusted=[strange])


@pytest.mark.parametrize("part", ["\ud800", "\0"])
def test_names_that_no_file_can_have_are_refused(toy, tmp_path, part):
    path = f"{tmp_path}/{part}.skops"
    for call in (lambda: save_model(fitted(toy, max_iter=1), path), lambda: load_model(path)):
        with pytest.raises(ValueError, match=r"path=.*no file's name can have"):
            call()


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression()])
def test_tools_that_store_with_skops_are_told_which_types_are_ours(toy, estimator):
    clf = fitted(toy, estimator)
    rows = toy[0]
    for model in (clf, clf.mixture_):
        with pytest.raises(TypeError, match="Untrusted types"):
            skops.io.loads(skops.io.dumps(model), trusted=[])
        loaded = skops.io.loads(skops.io.dumps(model), trusted=types_to_trust(model))
        np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
