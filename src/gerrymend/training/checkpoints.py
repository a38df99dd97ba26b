"""Checkpoints of a fit: a file that is written while it is played and that the same call resumes.

The file holds

- a line with its format and its sha256 (`_runtime/sealed.py`);
- a line of JSON that says which fit it is of: versions, parameters, digests of the data, the
  categories and the seed (`identify` below, `inputs/fit_identity.py`);
- the state of the game, which is what `state()` of the game returns: with the default solver the
  pool, each gamma's game and the learner (`solvers/pool/path.py`), with averages the plays
  (`solvers/averaging.py`), with the paper's own game the records (`solvers/regression/game.py`).
  What of it may be in a file, and how, says `checkpoint_codec.py`.

Whoever changes what is in it raises FORMAT_VERSION.
"""

import json
import logging
import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError, Message
from gerrymend._runtime.files import can_be_named, can_be_written, write_whole
from gerrymend._runtime.sealed import Opened, opened, sealed
from gerrymend._runtime.versions import versions
from gerrymend.inputs.fit_identity import parameters_as_text
from gerrymend.inputs.numbers import short
from gerrymend.inputs.protected import Column
from gerrymend.inputs.settings import check_number
from gerrymend.solvers.base import CannotResumeError, Resumable, State
from gerrymend.training.checkpoint_codec import Packer, UntrustedError, skops_io, types_in, unpack

FORMAT_VERSION = 2

_NAME = b"gerrymend checkpoint"
# After a write that took t seconds, the next is at least 9·t later, so that writing takes at most
# about a tenth of the time.
_PATIENCE = 9.0
_OR_ANEW = "or name another file, or delete this one to start anew."

clock = time.monotonic
logger = logging.getLogger("gerrymend")


class CheckpointError(Message, ValueError):
    """Raised for a checkpoint that a fit can't go on from; the message says why and what to do.

    See Also
    --------
    SubgroupParityClassifier
        A classifier of least error whose rates differ by at most gamma in every subgroup.
    ModelFileError
        Error for a file that can't be loaded as a model, with the path, the cause and a remedy.
    """


class FitCheckpoint:
    """Read, check, write and finally remove the checkpoint of one fit.

    Parameters
    ----------
    path : path
        The file. If it exists it must be a checkpoint of the same fit.
    every : float
        Seconds between two writes; 0 writes whenever the game could go on from there.

    Raises
    ------
    TypeError, ValueError
        For a path or a number of seconds that is none.
    ImportError
        Where skops is not installed.
    OSError
        Where the file can't be written.
    CheckpointError
        Where the file is no whole checkpoint of this format.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = FitCheckpoint(f"{folder}/fit", every=60.0)
    ...     checkpoint.reached(lambda: {"round": 1})  # the first is written at once
    ...     checkpoint.reached(lambda: {"round": 2})
    ...     print(os.listdir(folder))
    ...     checkpoint.ended()
    ...     print(os.listdir(folder))
    ['fit']
    []
    """

    def __init__(self, path: Any, every: Any) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ArgumentError("checkpoint", f"must be a path or None; got {path!r}.")
        if not can_be_named(path):
            raise ArgumentError(
                "checkpoint", f"has characters that no file's name can have; got {short(path)}."
            )
        self._path = Path(path).expanduser()
        self._argument = Argument("checkpoint", value=repr(os.fspath(path)))
        self._every = check_number(every, "checkpoint_every", low=0.0, remedy="It is in seconds.")
        # skops and the folder are asked for now, and not after the first hour of rounds.
        skops_io()
        if not can_be_written(self._path):
            raise OSError(
                f"{self._argument} can't be written to; choose a file in a folder that exists and "
                "that you may write to."
            )
        self._about: dict[str, Any] = {}
        self._packer = Packer()
        self._state: Callable[[], State] | None = None
        # The first state is written at once, so that a file that can't be written is met in the
        # first round and not after an hour.
        self._due = -math.inf
        self._wrote_once = False
        # The line that is in the file as far as this fit knows: another one is another fit's.
        self._left = self._first_line()
        self._kept: bytes | None = None if self._left is None else self._read()
        self.example: Callable[[], Any] = list
        """Return a predictor like those of the fit: only its types are trusted."""

    def identify(
        self,
        parameters: Mapping[str, Any],
        data: Callable[[], dict[str, str]],
        protected: Sequence[Column],
        draw_seed: Callable[[], int],
    ) -> int:
        """Return the seed of the fit: that of the kept fit, or else `draw_seed()`.

        Parameters
        ----------
        parameters : mapping
            The classifier's parameters.
        data : callable
            Returns digests of X, y, … by name. Called after versions and parameters were
            compared, as digests of large data take longest.
        protected : sequence of Column
            The protected attributes, whose categories the checkpoint has to hold.
        draw_seed : callable
            Returns a new seed, for a fit that begins.

        Raises
        ------
        CheckpointError
            If the kept fit had other versions, parameters or data.
        """
        # First, as it fails for a fit that begins as well: rules of the state name categories.
        _check_categories(protected)
        now: dict[str, Any] = {
            "versions": _versions(),
            "parameters": parameters_as_text(parameters),
        }
        kept = self._kept_about()
        if kept is not None:
            # Versions before parameters: how a parameter is written may differ between versions,
            # and the message would blame the user for it.
            self._check_same("versions", kept, now)
            self._check_same("parameters", kept, now)
        self._about = now | {"data": data()}
        if kept is None:
            self._about["seed"] = draw_seed()
        else:
            self._check_same("data", kept, self._about)
            self._about["seed"] = kept["seed"]
            logger.info("going on from the checkpoint %s", self._path)
        seed: int = self._about["seed"]
        return seed

    def resume(self, game: Resumable) -> None:
        """Restore what was kept of the game, if anything was.

        Raises a CheckpointError where the game can't go on from it.
        """
        if self._kept is None:
            return
        try:
            start = self._kept.index(b"\n") + 1
            state = unpack(self._kept, lambda: types_in(self.example()), start=start)
            # Released before the game builds its own arrays from the state.
            self._kept = None
            game.restore(state)
        # From the narrowest to any: the last would tell of the first two as of a damaged file.
        except CannotResumeError as error:
            raise CheckpointError(self._argument, f"{error}, {_OR_ANEW}") from None
        except UntrustedError as error:
            raise CheckpointError(
                self._argument,
                f"has types that fits of this estimator don't have: {error}. "
                "None of them was loaded. Use the file that fit wrote, with the packages that "
                f"it was written with, {_OR_ANEW}",
            ) from None
        except Exception as error:  # a forged file can fail in any way
            raise self._unreadable(error) from error

    def reached(self, state: Callable[[], State]) -> None:
        """Remember a state that the game can go on from, and write it if it is time to.

        Where the first can't be written, nothing has been lost yet, and it is an error; a later one
        is a warning, and is tried again. `state` is only called for a write.
        """
        self._state = state
        if clock() < self._due:
            return
        try:
            self._write()
        except OSError as error:
            if not self._wrote_once:
                raise
            # A full disk is asked again after the usual time, not at every round.
            self._due = clock() + self._every
            warnings.warn(f"{error} The fit goes on, and tries again.", UserWarning, stacklevel=2)

    def cut_short(self, error: BaseException) -> None:
        """Write how far the fit came before it was stopped by an error, and add that to the error.

        Raises nothing itself: a problem with writing becomes a note of the error.
        """
        try:
            if self._state is not None:
                self._write()
            if self._left is not None:
                error.add_note(f"The same call goes on from where it was: {self._argument}.")
        except Exception as problem:
            error.add_note(str(problem))

    def ended(self) -> None:
        """Remove the file after the fit has ended, unless another fit has written it since."""
        # A file that another fit has written since is that fit's to remove.
        if self._left is not None and self._first_line() == self._left:
            self._target().unlink()

    def _write(self) -> None:
        """Write the last state that was reached, unless another fit has written the file."""
        assert self._state is not None
        # None is fine: a file that somebody has deleted is written again.
        if self._first_line() not in (None, self._left):
            raise CheckpointError(
                self._argument,
                "was written by another fit since this one began; give each a file of its own.",
            )
        start = clock()
        about = json.dumps(self._about).encode() + b"\n"
        # Where there is no state (half a round), that is raised here, and the file stays as it was.
        content = sealed(_NAME, FORMAT_VERSION, about + self._packer.pack(self._state()))
        try:
            write_whole(self._path, content)
        except OSError as error:
            # Of the same type, as PermissionError tells callers more than OSError.
            raise type(error)(f"{self._argument} can't be written: {error}.") from error
        self._left = content[: content.index(b"\n")]
        # What is in the file needs no second write, should the fit be stopped before its next
        # round.
        self._state = None
        self._wrote_once = True
        now = clock()
        # With every=0 each state is written, however long that takes.
        self._due = now + (max(self._every, _PATIENCE * (now - start)) if self._every else 0.0)

    def _target(self) -> Path:
        """Return the file itself, where the path is a link to it."""
        return Path(os.path.realpath(self._path))

    def _first_line(self) -> bytes | None:
        """Return the first line of the file, which has its sha256, or None without a file."""
        try:
            with self._path.open("rb") as file:
                # 200 bytes are more than a name, a version and a sha256 in hex; a file of something
                # else may have no newline at all.
                return file.readline(200).rstrip(b"\n")
        except FileNotFoundError:
            return None

    def _read(self) -> bytes:
        """Return the content of the file after its first line, or raise a CheckpointError."""
        file: Opened | None = opened(_NAME, self._path.read_bytes())
        if file is None:
            raise CheckpointError(
                self._argument,
                "is there, and is no checkpoint of gerrymend; it is left as it "
                "is. Name another file.",
            )
        if file.version != FORMAT_VERSION:
            raise CheckpointError(
                self._argument,
                f"has format {file.version}, and this gerrymend reads "
                f"{FORMAT_VERSION}. Go on with the gerrymend that wrote it, {_OR_ANEW}",
            )
        if not file.is_whole:
            raise CheckpointError(
                self._argument,
                f"is not as it was written: its content doesn't have the sha256 "
                "in its first line, so that it was changed or cut short. Copy it again from where "
                f"it was written, {_OR_ANEW}",
            )
        return file.content

    def _kept_about(self) -> dict[str, Any] | None:
        """Return the identity of the kept fit, or None if nothing was kept."""
        if self._kept is None:
            return None
        try:
            kept: dict[str, Any] = json.loads(self._kept[: self._kept.index(b"\n")])
            return {**kept, "seed": int(kept["seed"])}
        except Exception as error:
            raise self._unreadable(error) from error

    def _check_same(self, part: str, kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Raise a CheckpointError that names what differs between the kept fit and this one."""
        there = kept[part]
        here = now[part]
        differing = [name for name in {**there, **here} if there.get(name) != here.get(name)]
        if not differing:
            return
        # Before "data": with other partitions the digests of everything differ, and the rows may
        # well be the same.
        if "partitions" in differing:
            what = (
                "data in other partitions, whose sums round differently. Pass the same rows in the "
                "same order, partitioned as they were"
            )
        elif part == "data":
            what = (
                f"other data: {', '.join(differing)} differ. Pass the same rows in the same order"
            )
        else:
            pairs = [
                f"{name} was {there.get(name, 'not there')} and is {here.get(name, 'not there')}"
                for name in differing
            ]
            what = f"a fit with other {part}: {'; '.join(pairs)}. Set it back to go on"
        raise CheckpointError(self._argument, f"is of {what}, {_OR_ANEW}")

    def _unreadable(self, error: Exception) -> CheckpointError:
        """Return the error for a checkpoint whose sha256 is right and whose content isn't."""
        return CheckpointError(
            self._argument,
            f"is not as fit writes it ({type(error).__name__}: {error}). Name "
            "another file, or delete this one to start anew.",
        )


def _versions() -> dict[str, str]:
    """Return the versions that results depend on, of Python without its patch."""
    there = versions()
    return there | {"python": ".".join(there["python"].split(".")[:2])}


def _check_categories(protected: Sequence[Column]) -> None:
    """Raise a TypeError for categories that a checkpoint can't hold: rules name them."""
    for column in protected:
        try:
            Packer().pack(column.categories)
        except TypeError as error:
            raise ArgumentError(
                "sensitive_features",
                f"has {column.name!r}, of type {column.kind}: {error} Convert "
                "it to text, or set checkpoint=None.",
            ) from None
