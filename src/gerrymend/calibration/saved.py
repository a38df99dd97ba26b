"""save_patches() and load_patches(): a file of patches is JSON that anyone can read.

It has its format, version and the sha256 of all else that is in it, so that a file that was changed
by hand, or cut short, is not applied by mistake.
"""

import json
import math
import os
from dataclasses import asdict
from typing import Any

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend._runtime.files import check_path, write_whole
from gerrymend._runtime.sealed import digest_of_plain
from gerrymend._runtime.versions import versions
from gerrymend.calibration.changes import change_of_plain
from gerrymend.calibration.patches import Patch, ScorePatches
from gerrymend.calibration.standing import Refused, Standing
from gerrymend.inputs.held_numbers import held, number_of
from gerrymend.inputs.numbers import short
from gerrymend.models.saving import ModelFileError, read_file
from gerrymend.subgroups.plain_rules import plain_of_rule, rule_of_plain

FORMAT = "gerrymend patches"
FORMAT_VERSION = 1
# No whole number of 128 bits has more.
_MOST_DIGITS = 40
# The figures of a patch, which are stored as they are.
_FIGURES = ("rows", "predicted", "happened", "violation", "p_value")


def save_patches(patches: Any, path: str | os.PathLike[str]) -> None:
    """Save patches as JSON; the file is written whole or not at all, and replaces an existing one.

    It has the rules, intervals and changes, and what is known of each: no row's data.

    Parameters
    ----------
    patches : ScorePatches or SubgroupCalibrator
        Of the latter, `patches_` is saved. Its estimator is saved by other means.
    path : str or path-like
        By convention it ends in ".json".

    See Also
    --------
    load_patches : Load patches that save_patches() saved.
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.

    Examples
    --------
    >>> import tempfile
    >>> from gerrymend import calibrate, load_patches, save_patches
    >>> A = {"sex": ["F", "M"] * 100}
    >>> patches = calibrate([0, 1] * 100, [0.5, 0.6] * 100, sensitive_features=A)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_patches(patches, f"{folder}/patches.json")
    ...     loaded = load_patches(f"{folder}/patches.json")
    >>> loaded == patches
    True
    """
    patches = getattr(patches, "patches_", patches)
    if not isinstance(patches, ScorePatches):
        raise ArgumentError(
            "patches",
            f"must be what calibrate() returned, or a fitted SubgroupCalibrator; got "
            f"{short(patches)}.",
        )
    target = check_path(path)
    content = patches_json(patches).encode()
    try:
        write_whole(target, content)
    except OSError as error:
        raise type(error)(
            f"path={str(path)!r} can't be written to: {error}. Choose a file in a folder that "
            "exists and that you may write to."
        ) from error


def load_patches(path: str | os.PathLike[str]) -> ScorePatches:
    """Load patches that save_patches() saved.

    Parameters
    ----------
    path : str or path-like
        A file that save_patches() wrote.

    Returns
    -------
    ScorePatches
        They change scores as those that were saved, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is no file of patches, was changed since, or is of a newer format.

    See Also
    --------
    save_patches
        Save patches as JSON; the file is written whole or not at all, and replaces an existing one.
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.

    Examples
    --------
    >>> from gerrymend import load_patches
    >>> load_patches(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gerrymend.models.saving.ModelFileError: path='...saved.py' is no file of patches. ...
    """
    content = read_file(path, "save_patches()")
    where = Argument("path", value=repr(str(path)))
    try:
        plain = json.loads(content, parse_float=_number, parse_int=_number, parse_constant=_number)
        named = plain["format"] == FORMAT
        digest = digest_of_plain(plain)
    except _LostError as lost:
        raise ModelFileError(
            where,
            f"can't be read: it is not as save_patches() writes it, and has {lost}, which is no "
            "number that float64 holds. Learn the patches again.",
        ) from None
    except (KeyError, TypeError, ValueError, RecursionError):  # of lists in lists without end
        named = False
    if not named:
        raise ModelFileError(
            where,
            "is no file of patches. Pass one that save_patches() or gerrymend calibrate wrote.",
        )
    version = plain.get("version")
    if version != FORMAT_VERSION:
        raise ModelFileError(
            where,
            f"has format {short(version)}, and this gerrymend reads {FORMAT_VERSION}; learn the "
            "patches again, or install the version of gerrymend that wrote it.",
        )
    if plain.get("sha256") != digest:
        raise ModelFileError(
            where,
            "is not as it was saved: its content doesn't have the sha256 in it, so that it was "
            "changed or cut short. Copy it again from where it was saved, or learn the patches "
            "again.",
        )
    try:
        patches = patches_of_plain(plain)
        str(patches)  # every figure is of a type that can be told
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            where,
            "can't be read: it is not as save_patches() writes it "
            f"({type(error).__name__}: {error}). Learn the patches again.",
        ) from error
    return patches


class _LostError(Exception):
    """Tell of a number that would be read as another one."""


def _number(text: str) -> Any:
    """Return a number of a file as int or float, all of whose digits are kept."""
    if text.lstrip("-").isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    number = number_of(text)
    if not isinstance(number, float) or not math.isfinite(number):
        raise _LostError(text if len(text) <= _MOST_DIGITS else f"{text[:_MOST_DIGITS]}…")
    return number


def patches_json(patches: ScorePatches) -> str:
    """Return patches as the text of a file."""
    return json.dumps(sealed_plain(patches), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def sealed_plain(patches: ScorePatches) -> dict[str, Any]:
    """Convert patches to the plain data of a file, with its sha256."""
    plain = plain_of_patches(patches)
    return {**plain, "sha256": digest_of_plain(plain)}


def plain_of_patches(patches: ScorePatches) -> dict[str, Any]:
    """Convert patches to plain data, from which `patches_of_plain` makes them again."""
    standing = patches.standing
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "score": patches.score,
        "probabilities": patches.probabilities,
        "attributes": dict(patches.attributes),
        "whole": list(patches.whole),
        "patches": [_plain_of_patch(patch) for patch in patches],
        "standing": None if standing is None else asdict(standing),
        "saved_with": versions(),
    }


def patches_of_plain(plain: dict[str, Any]) -> ScorePatches:
    """Make the patches again that `plain_of_patches` converted."""
    kinds = dict(plain["attributes"])
    whole = tuple(plain["whole"])
    standing = plain["standing"]
    if standing is not None:
        refused = tuple(Refused(**one) for one in standing["refused"])
        standing = Standing(**{**standing, "refused": refused})
    return ScorePatches(
        patches=tuple(_patch_of_plain(one, kinds, whole) for one in plain["patches"]),
        attributes=kinds,
        probabilities=bool(plain["probabilities"]),
        score=str(plain["score"]),
        whole=whole,
        standing=standing,
    )


def _plain_of_patch(patch: Patch) -> dict[str, Any]:
    return {
        "rule": plain_of_rule(patch.rule),
        "words": patch.rule.describe(),
        "low": patch.low if math.isfinite(patch.low) else None,
        "high": patch.high if math.isfinite(patch.high) else None,
        "change": patch.change.to_dict(),
        **{name: getattr(patch, name) for name in _FIGURES},
    }


def _patch_of_plain(plain: dict[str, Any], kinds: dict[str, str], whole: tuple[str, ...]) -> Patch:
    low, high = plain["low"], plain["high"]
    return Patch(
        rule=rule_of_plain(plain["rule"], kinds, whole),
        low=-math.inf if low is None else held(low, "low"),
        high=math.inf if high is None else held(high, "high"),
        change=change_of_plain(plain["change"]),
        **{name: plain[name] for name in _FIGURES},
    )
