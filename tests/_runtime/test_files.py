"""Files are written whole; links stay links, and devices and folders are left alone."""

import os
from pathlib import Path

import pytest

from gerrymend._runtime.files import can_be_written, write_whole


def test_what_a_link_points_to_is_written(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    link.symlink_to(real)
    for content in (b"first", b"second"):  # where there is no file yet, and where there is one
        write_whole(link, content)
        assert link.is_symlink()
        assert real.read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == ["link.html", "real.html"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_file_is_left(tmp_path, make):
    path = tmp_path / "there"
    make(path)
    before = path.lstat()
    assert not can_be_written(path)
    with pytest.raises(FileExistsError, match="exists and is not a plain file"):
        write_whole(path, b"content")
    assert path.lstat().st_mode == before.st_mode
    assert os.listdir(tmp_path) == ["there"]


def test_what_can_be_written_is_known_and_nothing_stays(tmp_path):
    assert can_be_written(tmp_path / "new.html")
    assert not can_be_written(tmp_path / "nowhere" / "new.html")
    assert not can_be_written(tmp_path / ("x" * 300))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
def test_folders_in_which_no_file_can_be_made():
    assert not can_be_written(Path("/proc/report.html"))
