"""check_patches(): verify what patches of scores state of the rows that they were learnt on."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gerrymend.checker.disclosed import listed_rare_values
from gerrymend.checker.documents import PATCHES
from gerrymend.checker.exact import exact
from gerrymend.checker.figures import TOLERANCE, shown
from gerrymend.checker.form import (
    AMOUNT,
    FLAG,
    MAPPING,
    NUMBER,
    OUTCOME,
    TEXT,
    WHOLE,
    Many,
    Maybe,
    Plain,
    is_number,
    unknown_fields,
)
from gerrymend.checker.given import label_given, plain_data
from gerrymend.checker.patched import (
    Group,
    RoundingError,
    ScoredRows,
    check_change,
    is_line,
)
from gerrymend.checker.probes import wrong_words
from gerrymend.checker.result import CheckResult
from gerrymend.checker.rules import RuleError
from gerrymend.checker.standing import Before, check_standing
from gerrymend.checker.words import behind_name

_FORMAT = "gerrymend patches"
_VERSION = 1
_PART = Plain("a number above 0, at most 1", lambda value: is_number(value) and 0 < value <= 1)
# That of a line for everyone is a tail of a distribution, which may be too small for float64.
_TAIL = Plain("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
_STANDING = {
    "n_rows": WHOLE,
    "before": AMOUNT,
    "after": AMOUNT,
    "upper_bound": AMOUNT,
    "error_before": AMOUNT,
    "error_after": AMOUNT,
    "stopped": TEXT,
    "refused": Many(
        {
            "reason": TEXT,
            "subgroup": Maybe(TEXT),
            "interval": Maybe(TEXT),
            "violation": Maybe(NUMBER),
            "limit": AMOUNT,
            "part": _PART,
        }
    ),
    "covers": TEXT,
    "settings": {
        "notion": TEXT,
        "cuts": Maybe(Many(OUTCOME)),
        "subgroups": {"name": TEXT, "parameters": MAPPING},
        "alpha": Maybe(AMOUNT),
        "level": _PART,
        "max_patches": WHOLE,
        "n_draws": WHOLE,
        "min_group_size": WHOLE,
        "random_state": WHOLE,
    },
}
_FORM = {
    "format": TEXT,
    "version": WHOLE,
    "score": TEXT,
    "probabilities": FLAG,
    "attributes": MAPPING,
    "whole": Many(TEXT),
    "patches": Many(
        {
            "rule": MAPPING,
            "words": TEXT,
            "low": Maybe(OUTCOME),
            "high": Maybe(OUTCOME),
            "change": MAPPING,
            "rows": WHOLE,
            "predicted": NUMBER,
            "happened": NUMBER,
            "violation": NUMBER,
            "p_value": Maybe(_TAIL),
        }
    ),
    "standing": Maybe(_STANDING),
    "saved_with": MAPPING,
    "sha256": TEXT,
}


def check_patches(
    patches: Any,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> CheckResult:
    """Verify patches against the rows that they were learnt on, in exact rational arithmetic.

    Each patch is applied anew, in fractions that are rounded once to a score: who is in it, by its
    rule and by the scores that the patches before it left, and what was predicted and happened to
    them. Of the scores after the last one, the error and the worst violation are worked out; where
    the class of subgroups is small (see `check_report`), all subgroups are listed within every
    interval, and none may exceed what is said to be proven, nor alpha where that is said to be
    reached. No code of the learner is used.

    What can't be verified, such as draws of chance, is named.

    Parameters
    ----------
    patches : ScorePatches, dict or str
        The patches, their `to_dict()`, or the JSON of that: the contents of a file.
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As they were passed to `calibrate()`: the scores before any patch.

    Returns
    -------
    CheckResult
        What was checked, what was not, and each problem that was found.

    See Also
    --------
    calibrate
        Learn patches after which scores are right in every subgroup, as far as rows can tell.
    check_report
        Verify a report against the data that it was made from, in exact rational arithmetic.

    Examples
    --------
    >>> from gerrymend import calibrate, check_patches
    >>> data = dict(y_true=[0, 1, 1, 0, 1] * 40, y_pred=[0.5, 0.6] * 100,
    ...             sensitive_features={"sex": ["F", "F", "F", "M", "M"] * 40})
    >>> patches = calibrate(**data, notion="multiaccuracy", alpha=0.01).to_dict()
    >>> check_patches(patches, **data).ok
    True
    >>> patches["standing"]["after"] = 0.0
    >>> print(check_patches(patches, **data).problems[0])
    sha256 is not that of the content: it was changed after it was saved.
    """
    stated = plain_data(patches, PATCHES)
    unknown = unknown_fields(stated, _FORM, of=PATCHES)
    pos_label = label_given(pos_label)
    for patch in stated["patches"]:
        unknown += check_change(patch["change"], probabilities=stated["probabilities"])
    rows = ScoredRows.read(
        y_true,
        y_pred,
        sensitive_features,
        sample_weight,
        pos_label,
        of_labels=stated["probabilities"],
    )
    result = CheckResult(subject="The file of patches")
    result.problems.extend(_wrong_file(stated))
    result.problems.extend(_wrong_attributes(stated, rows))
    _check_probabilities(stated, rows, pos_label, result)
    result.leave("score", "what the score is called")
    result.leave("patches.p_value", "how many draws of chance were as bad")
    result.leave("saved_with saved_with.*", "by what the file was written")
    if unknown:
        names = " ".join(f"{name} {name}.*" for name in dict.fromkeys(unknown))
        result.leave(names, "fields that the checker doesn't know")
    # The scores change on the way: what is known of them before the first patch is kept.
    before = Before.of(stated, rows)
    try:
        result.problems.extend(_wrong_patches(stated, rows, result))
    except RoundingError:
        result.leave(
            "patches patches.* standing standing.*",
            "rounding decides whether a row is in an interval, and with it all that follows",
        )
        return result
    if not result.problems:
        result.checked.append(
            f"The {len(stated['patches']):,} patches: who is in each, what was predicted and "
            "happened to them, and its words."
        )
    check_standing(stated, rows, before, result)
    return result


def _wrong_file(stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the format of a file, and with its sha256."""
    if (stated["format"], stated["version"]) != (_FORMAT, _VERSION):
        yield f"It is of format {stated['format']!r} {stated['version']}, which is not known here."
    rest = {name: value for name, value in stated.items() if name != "sha256"}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != stated["sha256"]:
        yield "sha256 is not that of the content: it was changed after it was saved."


def _check_probabilities(
    stated: Mapping[str, Any], rows: ScoredRows, pos_label: Any, result: CheckResult
) -> None:
    """Check whether scores are of labels: a change tells, and so do more than two outcomes."""
    if pos_label is not None and not stated["probabilities"]:
        result.problems.append("probabilities is stated as False, and a pos_label was passed.")
    # Two numbers may be labels or not, as a user has it; every figure is the same.
    if not stated["patches"] and len(set(rows.happened)) <= 2:
        result.leave("probabilities", "whether two outcomes are labels or numbers: no patch tells")


def _wrong_attributes(stated: Mapping[str, Any], rows: ScoredRows) -> Iterator[str]:
    """Yield what is wrong with the attributes, their kinds, and which of them are whole numbers."""
    found = {}
    for name, (is_number_column, values) in rows.columns.items():
        kinds = dict.fromkeys(type(value).__name__ for value in values if value is not None)
        found[name] = {"number"} if is_number_column else set(kinds) or {"any"}
    if list(stated["attributes"]) != list(found):
        yield f"attributes are stated as {list(stated['attributes'])!r}, and are {list(found)!r}."
        return
    for name, kind in stated["attributes"].items():
        if kind not in found[name]:
            yield f"The attribute {name!r} is stated to be {kind!r}, and is {min(found[name])!r}."
    whole = [
        name
        for name, attribute in rows.table.attributes.items()
        if attribute.is_number and all(value.denominator == 1 for value in attribute.values)
    ]
    if list(stated["whole"]) != whole:
        yield f"whole is stated as {stated['whole']!r}, and is {whole!r}."


def _wrong_patches(
    stated: Mapping[str, Any], rows: ScoredRows, result: CheckResult
) -> Iterator[str]:
    """Apply the patches one after the other, and yield what is wrong with each.

    One that can't be read or applied ends it: what follows depends on it.
    """
    for number, patch in enumerate(stated["patches"], start=1):
        where = f"Patch {number}"
        try:
            inside = rows.inside(patch["rule"], patch["low"], patch["high"])
            group = rows.group(inside)
            for problem in (
                *_wrong_figures(patch, group, rows),
                *_wrong_telling(patch, group, rows, stated, result),
            ):
                yield f"{where}: {problem}"
            rows.apply(patch["change"], inside)
        except RuleError as unreadable:
            yield f"{where}: {unreadable}."
            return
        except ArithmeticError:
            yield f"{where}: its change makes no number of a score."
            return


def _wrong_figures(patch: Mapping[str, Any], group: Group, rows: ScoredRows) -> Iterator[str]:
    """Yield what is wrong with the figures of a patch."""
    if patch["rows"] != group.rows:
        yield f"its rows are stated as {patch['rows']}, and are {group.rows}."
    if not group.rows:
        return
    figures = {
        "predicted": group.predicted / group.mass,
        "happened": group.happened / group.mass,
        "violation": (group.happened - group.predicted) / rows.total_weight,
    }
    for name, value in figures.items():
        if abs(exact(patch[name]) - value) > TOLERANCE * rows.scale:
            yield f"its {name} is stated as {patch[name]!r}, and is {shown(value)}."


def _wrong_telling(
    patch: Mapping[str, Any],
    group: Group,
    rows: ScoredRows,
    stated: Mapping[str, Any],
    result: CheckResult,
) -> Iterator[str]:
    """Yield what is wrong with how a patch is told: its words, its interval, and of how many."""
    rule = {name: part for name, part in patch["rule"].items() if name not in ("name", "levels")}
    name = patch["rule"].get("name")
    behind = None if name is None else behind_name(patch["words"], name)
    words = patch["words"] if behind is None else behind
    wrong = wrong_words(words, rule, rows.table, named=False)
    if wrong is None:
        _leave_once(result, "patches.words", "values that few rows have, or that read the same")
    elif wrong:
        yield wrong
    if name is not None:
        if behind is None:
            yield f"its words, {patch['words']!r}, don't begin with its name, {name!r}."
        _leave_once(result, "patches.rule.name", "what a user called the group")
    if patch["rule"].get("kind") == "linear":
        fields = ("patches.rule.levels", "patches.rule.reference")
        _leave_once(
            result,
            " ".join(f"{field} {field}.*" for field in fields),
            "categories that a linear rule knows, beyond what they say of these rows",
        )
    if stated["standing"] is None:
        return
    settings = stated["standing"]["settings"]
    ends = {patch["low"], patch["high"]} - {None}
    if not ends <= set(settings["cuts"] or ()):
        yield f"its interval, {patch['low']!r} to {patch['high']!r}, has an end that is no cut."
    yield from _wrong_p_value(patch, settings)
    if is_line(patch["change"]):
        return
    smallest = settings["min_group_size"]
    outside = len(rows.scores) - group.rows
    if group.rows < smallest or 0 < outside < smallest:
        yield f"it tells of fewer than {smallest} rows."
    # Groups that a user named are told as they are.
    if settings["subgroups"]["name"] != "ExplicitGroups" and smallest > 1:
        yield from listed_rare_values(rule, rows.table, smallest)


def _wrong_p_value(patch: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for a p-value that no number of draws makes."""
    stated = patch["p_value"]
    if stated is None or is_line(patch["change"]):
        return
    as_bad = exact(stated) * (settings["n_draws"] + 1)
    nearest = Fraction(round(as_bad))
    if nearest < 1 or abs(as_bad - nearest) > TOLERANCE * (settings["n_draws"] + 1):
        yield f"its p_value, {stated!r}, is none of {settings['n_draws']} draws."


def _leave_once(result: CheckResult, fields: str, why: str) -> None:
    """Note that fields of some patch were not checked, the first time."""
    if not set(fields.split()) <= set(result.fields_not_checked):
        result.leave(fields, why)
