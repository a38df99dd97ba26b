"""The file of a watch: JSON, written whole, and never over what another process took on."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend._runtime.files import check_path, write_whole
from gerrymend._runtime.sealed import digest_of_plain
from gerrymend._runtime.versions import versions
from gerrymend.changes.plain_settings import class_of_plain, notion_of_plain
from gerrymend.changes.watch_state import WatchState
from gerrymend.changes.watched import Watched
from gerrymend.models.saving import read_file
from gerrymend.notions import as_rates

FORMAT = "gerrymend watch"
FORMAT_VERSION = 2
# Fields that are stored as they are.
_PLAIN = (
    "gamma", "level", "favourable", "side", "threshold", "decision_probabilities", "pos_label",
    "min_group_size", "max_groups", "budget", "random_state", "asked", "is_labelled", "kinds",
    "cash", "n_bets_made", "highest", "raised", "fingerprints", "looks",
)  # fmt: skip


def write_state(state: WatchState, path: Any, written: bytes | None) -> tuple[bytes, Path]:
    """Write a watch, and return what was written, and where.

    `written` is what this process read or wrote last; None where it is a new watch. Raises an
    ArgumentError where the file has something else by now.
    """
    target = check_path(path)
    there = target.read_bytes() if target.is_file() else None
    if there is not None and there != written:
        why = "is another watch's, or none's" if written is None else "was written since"
        raise ArgumentError(
            "path",
            f"{str(path)!r} {why}, and would be lost; load it and go on with that, or name another "
            "file.",
        )
    plain = _plain_of(state)
    plain["sha256"] = digest_of_plain(plain)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
    # Halves of characters, which text from data may have, are escaped as JSON has them.
    content = text.encode(errors="backslashreplace")
    write_whole(target, content)
    return content, target


def read_state(path: Any) -> tuple[WatchState, bytes]:
    """Read a watch, and return its state, and the content of the file.

    Raises an ArgumentError for a file that is none, or of a newer format.
    """
    content = read_file(path, "Watch.save()")
    try:
        plain = json.loads(content)
        if plain["format"] != FORMAT:
            raise ValueError(plain["format"])
        version = plain["version"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ArgumentError(
            "path", f"{str(path)!r} is no watch; pass a file that Watch.save() wrote."
        ) from None
    if version != FORMAT_VERSION:
        raise ArgumentError(
            "path",
            f"{str(path)!r} is a watch in format {version!r}, and this version of gerrymend "
            f"({versions()['gerrymend']}) reads format {FORMAT_VERSION}.",
        )
    if plain.get("sha256") != digest_of_plain(plain):
        raise ArgumentError(
            "path",
            f"{str(path)!r} is a watch that is not as it was saved: its content doesn't have the "
            "sha256 in it. It was changed by hand, or cut short; go back to a copy of it.",
        )
    try:
        return _state_of(plain), content
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a class of the user's own
        raise ArgumentError(
            "path",
            f"{str(path)!r} is a watch that can't be read ({type(error).__name__}: {error}); begin "
            "another.",
        ) from None


def _plain_of(state: WatchState) -> dict[str, Any]:
    """Return a state as plain data."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "notions": [notion.to_dict() for notion in state.notions],
        "rates": [notion.to_dict() for notion in state.rates],
        "class": state.subgroups.to_dict(),
        "labels": None if state.labels is None else list(state.labels),
        **{name: getattr(state, name) for name in _PLAIN},
        "watched": [one.to_dict() for one in state.watched],
    }


def _state_of(plain: dict[str, Any]) -> WatchState:
    """Return the state that plain data is of."""
    known = {field.name for field in dataclasses.fields(WatchState)}
    assert known.issuperset(_PLAIN)
    rates = as_rates(tuple(map(notion_of_plain, plain["rates"]))) if plain["rates"] else ()
    kinds = plain["kinds"]
    fields = {name: plain[name] for name in _PLAIN}
    for name in ("asked", "fingerprints", "looks"):
        fields[name] = tuple(fields[name])
    return WatchState(
        notions=tuple(map(notion_of_plain, plain["notions"])),
        rates=rates,
        subgroups=class_of_plain(plain["class"]),
        labels=None if plain["labels"] is None else tuple(plain["labels"]),
        watched=tuple(Watched.of_plain(one, rates, kinds or {}) for one in plain["watched"]),
        **fields,
    )
