"""Checkpoints that are not what they should be: each an error before any work, and no loss."""

import json
import math
import sys
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from gerrymend import CheckpointError, pareto_frontier
from gerrymend._runtime.sealed import opened, sealed
from gerrymend.surfaces import DiscriminationSurface
from gerrymend.training.checkpoint_codec import Packer, UntrustedError, types_in, unpack
from gerrymend.training.checkpoints import FORMAT_VERSION
from tests.cut_short import AUDITS, FITS, A, Stopping, X, Y, classifier, fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NAME = b"gerrymend checkpoint"


@pytest.fixture
def model(tmp_path):
    return classifier(LogisticRegression(), checkpoint=tmp_path / "fit.checkpoint")


@pytest.fixture
def kept(model):
    with Stopping(5, *FITS), pytest.raises(KeyboardInterrupt):
        fit(model)
    return model.checkpoint


@pytest.fixture
def no_work():
    """Neither side is asked for anything."""
    with Stopping(1, *FITS, *AUDITS, error=AssertionError("work was done")):
        yield


def assert_refused(model, match, **data):
    """With an error that names the file and the remedy; the file is as it was."""
    before = model.checkpoint.read_bytes()
    with pytest.raises(CheckpointError, match=match) as caught:
        fit(model, **data)
    assert f"checkpoint={str(model.checkpoint)!r}" in str(caught.value)
    assert "ame another file" in str(caught.value)
    assert model.checkpoint.read_bytes() == before


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    "content", [b"", b"my thesis", b"PK\x03\x04", b"gerrymend model, format 1"]
)
def test_a_file_that_is_no_checkpoint(model, content):
    model.checkpoint.write_bytes(content)
    assert_refused(model, "is no checkpoint of gerrymend; it is left as it is")


def cut(content):
    return content[:-1]


def changed(content):
    return content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]


def of_another_format(content):
    return sealed(NAME, FORMAT_VERSION + 1, opened(NAME, content).content)


def edited(content, **parts):
    about, _, state = opened(NAME, content).content.partition(b"\n")
    about = json.loads(about)
    for name, value in parts.items():
        about[name] = about[name] | value if isinstance(value, dict) else value
    return sealed(NAME, FORMAT_VERSION, json.dumps(about).encode() + b"\n" + state)


def of_another_version(content):
    return edited(content, versions={"gerrymend": "0.0.1"})


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (cut, "changed or cut short. Copy it again"),
        (changed, "changed or cut short. Copy it again"),
        (
            of_another_format,
            f"has format {FORMAT_VERSION + 1}, and this gerrymend reads {FORMAT_VERSION}",
        ),
        (of_another_version, "other versions: gerrymend was 0.0.1 and is "),
    ],
)
def test_a_file_that_was_changed(model, kept, no_work, change, match):
    kept.write_bytes(change(kept.read_bytes()))
    assert_refused(model, match)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 5.0}, "C was 10.0 and is 5.0"),
        ({"gamma": 0.01}, r"gammas\[0\] was 0.005 and is 0.01"),
        ({"tol": 0.1}, "tol was None and is 0.1"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"random_state": None}, "random_state was 0 and is None"),
        ({"certify": True}, "certify was False and is True"),
        ({"notion": "error_rate"}, "notion"),
        ({"solver": "fictitious_play"}, "solver was .*ExponentiatedGradient and is .*Fictitious"),
        ({"subgroups": "marginals"}, "subgroups was .*LinearThresholds and is .*Marginals"),
        ({"estimator": LogisticRegression(C=2)}, "estimator__C was 1.0 and is 2"),
        ({"estimator": LinearRegression()}, "estimator was .*LogisticRegression and is .*Linear"),
    ],
)
def test_other_parameters(model, kept, no_work, parameters, match):
    assert_refused(model.set_params(**parameters), f"with other parameters: .*{match}")


def test_other_gammas_of_a_path(model, kept, no_work):
    with pytest.raises(CheckpointError, match="gammas was list of 1 and is list of 2"):
        model.fit_path(X, Y, sensitive_features=A, gammas=[0.005, 0.01])


OTHER_DATA = {
    "X": {"X": np.where(np.arange(X.size).reshape(X.shape) == 7, 3.0, X)},
    "y": {"y": np.where(np.arange(len(Y)) == 0, 1 - Y[0], Y)},
    "sensitive_features": {"sensitive_features": A.iloc[::-1].reset_index(drop=True)},
    "sample_weight": {"sample_weight": np.full(len(Y), 2.0)},
}


@pytest.mark.parametrize("part", OTHER_DATA)
def test_other_data(model, kept, no_work, part):
    assert_refused(model, f"is of other data: {part} differ. Pass the same", **OTHER_DATA[part])


def test_rows_in_another_order_are_other_data(model, kept, no_work):
    data = {"X": X[::-1], "y": Y[::-1], "sensitive_features": A.iloc[::-1]}
    assert_refused(model, "X, y, sensitive_features differ", **data)


def test_a_max_iter_that_has_been_passed(tmp_path):
    model = classifier(LogisticRegression(), "fictitious_play", checkpoint=tmp_path / "fit")
    with Stopping(9, *AUDITS), pytest.raises(KeyboardInterrupt):
        fit(model)
    assert_refused(model.set_params(max_iter=5), "has 8 rounds, and max_iter is 5; set it to 8 or")
    assert fit(model.set_params(max_iter=8)).n_iter_ == 8


def test_a_max_iter_that_games_depended_on(tmp_path):
    model = classifier(LinearRegression(), max_iter=4, checkpoint=tmp_path / "fit")
    path = {"sensitive_features": A, "gammas": [0.0, 0.02]}
    with Stopping(10, *FITS), pytest.raises(KeyboardInterrupt):
        model.fit_path(X, Y, **path)
    with pytest.raises(CheckpointError, match="played to its end with max_iter=4, and max_iter is"):
        model.set_params(max_iter=9).fit_path(X, Y, **path)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"checkpoint": 3}, TypeError, "checkpoint must be a path or None; got 3"),
        ({"checkpoint": "no/such/folder/fit"}, OSError, "can't be written to; choose a file in"),
        ({"checkpoint": "."}, OSError, "can't be written to; choose a file in"),
        ({"checkpoint_every": -1.0}, ValueError, "checkpoint_every must be a number of at least 0"),
        ({"checkpoint_every": "often"}, ValueError, "checkpoint_every must be a number"),
    ],
)
def test_bad_arguments(model, no_work, parameters, error, match):
    with pytest.raises(error, match=match):
        fit(model.set_params(**parameters))


def test_skops_is_asked_for_before_any_work(model, no_work, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"checkpoint needs skops, .*pip install 'gerr"):
        fit(model)


def test_dates_are_refused_before_a_file_is_made(model, no_work):
    days = {"day": [date(2025, 1, 1 + i % 2) for i in range(len(Y))]}
    with pytest.raises(TypeError, match=r"'day' .* is of type date; convert it"):
        fit(model, sensitive_features=days)


def test_functions_that_no_module_has(model, no_work):
    scaled = make_pipeline(FunctionTransformer(lambda x: x), DecisionTreeClassifier())
    with pytest.raises(TypeError, match="Give a function that a module has"):
        fit(model.set_params(estimator=scaled))


def test_only_types_that_the_estimator_has_are_built(model, kept):
    about, _, state = opened(NAME, kept.read_bytes()).content.partition(b"\n")
    forged = unpack(state)
    forged["learner"] = DecisionTreeClassifier().fit(X, Y)
    kept.write_bytes(sealed(NAME, FORMAT_VERSION, about + b"\n" + Packer().pack(forged)))
    assert_refused(model, "types that fits of this estimator don't have: sklearn.tree._tree.Tree")


@pytest.mark.parametrize(
    "forged", [b"", b"{}", b'{"dict":[]}\n', b'{"record":["Popen",[]]}\n', b"[1"]
)
def test_forged_states_are_no_states(model, kept, forged):
    about, _, _ = opened(NAME, kept.read_bytes()).content.partition(b"\n")
    kept.write_bytes(sealed(NAME, FORMAT_VERSION, about + b"\n" + forged))
    assert_refused(model, "is not as fit writes it")


def test_a_file_has_no_features_and_no_labels(model, kept):
    content = kept.read_bytes()
    for rows in (X, X.T, X[0], X[:, 0], np.sort(Y), np.packbits(np.sort(Y)), np.packbits(Y)):
        assert rows.tobytes() not in content


def test_a_frontier_and_a_surface_are_no_single_fit(model):
    with pytest.raises(ValueError, match="a frontier trains several; set checkpoint=None"):
        pareto_frontier(model, X, Y, sensitive_features=A)
    with pytest.raises(ValueError, match="would not be seen; set checkpoint=None"):
        DiscriminationSurface.from_training(model, X, Y, sensitive_features=A)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ARRAYS = arrays.arrays(
    st.sampled_from(["bool", "int8", "int64", "uint8", "float32", "float64", "U3", "complex128"]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9),
)
VALUES = st.recursive(
    PLAIN | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.floats(allow_nan=False), inner, max_size=4)
    ),
    max_leaves=12,
)


def assert_equal(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_equal(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
        assert one.flags.f_contiguous == other.flags.f_contiguous
    else:
        assert one == other
        assert math.copysign(1, one) == math.copysign(1, other) if one == 0 else True


@given(VALUES)
def test_what_is_packed_is_unpacked(value):
    assert_equal(unpack(Packer().pack(value)), value)


def test_shared_arrays_are_stored_once_and_columns_stay_columns():
    array = np.asfortranarray(np.arange(6000.0).reshape(60, 100))
    content = Packer().pack([array, array, {"again": array}])
    assert len(content) < 8 * array.size + 500
    first, _, last = unpack(content)
    np.testing.assert_array_equal(first, array)
    assert last["again"].flags.f_contiguous
    first[0, 0] = -1.0  # and can be changed


def test_arrays_of_many_rounds_are_one():
    for shape in [(), (3,), (2, 3)]:
        rounds = [np.full(shape, i, dtype=np.float32) for i in range(50)]
        assert_equal(unpack(Packer().pack(rounds)), rounds)
    assert len(Packer().pack(rounds)) < 50 * 24 + 100


def test_objects_are_never_pickled():
    keys = np.empty(2, dtype=object)
    keys[:] = [(1, (2, 3)), True]
    assert unpack(Packer().pack(keys)).tolist() == keys.tolist()
    with pytest.raises(TypeError, match="can't hold date objects"):
        Packer().pack({"day": date(2025, 1, 1)})
    with pytest.raises(TypeError, match="can't hold an array of datetime64"):
        Packer().pack(np.zeros(2, dtype="datetime64[s]"))


def test_trees_are_read_only_by_who_trusts_them():
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    content = Packer().pack([tree, tree])
    with pytest.raises(UntrustedError, match=r"sklearn\.tree\._tree\.Tree"):
        unpack(content)
    one, other = unpack(content, lambda: types_in([tree]))
    assert one is other
    np.testing.assert_array_equal(one.predict(X), tree.predict(X))


def test_an_estimator_is_written_by_skops_once(monkeypatch):
    import skops.io

    dumps, dumped = skops.io.dumps, []
    monkeypatch.setattr(skops.io, "dumps", lambda one: dumped.append(one) or dumps(one))
    packer, trees = Packer(), [DecisionTreeClassifier().fit(X, Y) for _ in range(3)]
    for n in (1, 2, 3, 3):
        packer.pack(trees[:n])
    assert dumped == trees
