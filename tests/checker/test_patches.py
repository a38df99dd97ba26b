"""Patches are verified by code that shares nothing with what learnt them; lies are refused."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest

from gerrymend import ExplicitGroups, calibrate, check_patches
from tests.calibration.made import CUTS, categories_of, made_scores, worst_of_all
from tests.checker.patch_files import KINDS, TWO, patches_of, sealed
from tests.checker.planting import NAMED, REFUSED, SILENT, outcome, plants
from tests.checker.test_planted import sides
from tests.marks import slow


@pytest.mark.parametrize("kind", KINDS)
def test_honest_patches_hold(kind):
    plain, data = patches_of(kind)
    result = check_patches(plain, **data)
    assert result.ok, str(result)
    assert check_patches(json.dumps(plain), **data).ok
    assert str(result).startswith("The file of patches holds, as far as checked.")
    if plain["standing"] is not None:
        told = " ".join(result.checked)
        assert "subgroups within intervals, all listed" in told


def test_what_is_proven_is_so_by_two_enumerations():
    y, score, A = made_scores(150, seed=5)
    A = A[TWO]
    patches = calibrate(y, score, sensitive_features=A, alpha=0.03, level=1)
    assert patches.standing.is_proven
    result = check_patches(patches, y, score, sensitive_features=A)
    assert "nor above alpha, 0.03" in " ".join(result.checked)
    worst = worst_of_all(y, patches.apply(score, A), categories_of(A), CUTS)
    assert worst <= 0.03
    assert worst == pytest.approx(patches.standing.upper_bound, abs=1e-12)


LIES = [
    (("patches", 0, "change", "factor"), lambda old: 1.1 * old, "error_after is stated"),
    (("patches", -1, "low"), lambda old: 0.3 if old != 0.3 else 0.4, "rows are stated as"),
    (
        ("patches", -1, "rule", "conditions", 0, "values"),
        lambda old: ["F" if old == ["M"] else "M"],
        "Patch 3: ",
    ),
    (("patches", 1, "words"), lambda old: "sex = M", "selects other rows than its rule"),
    (("patches", 0, "rows"), lambda old: old - 1, "its rows are stated as"),
    (("patches", 0, "violation"), lambda old: -old, "its violation is stated as"),
    (("patches", 1, "p_value"), lambda old: 0.033, "is none of 19 draws"),
    (("standing", "settings", "alpha"), lambda old: old / 4, "upper_bound is not within alpha"),
    (("standing", "upper_bound"), lambda old: old / 2, "the worst subgroup of the class has"),
    (("standing", "before"), lambda old: old + 0.01, "before is stated as"),
    (("standing", "after"), lambda old: 0.0, "after is stated as"),
    (("standing", "error_after"), lambda old: old - 0.001, "error_after is stated as"),
    (("standing", "n_rows"), lambda old: 2 * old, "n_rows is stated as"),
    (("standing", "covers"), lambda old: "everyone at all", "covers is stated as"),
    (("standing", "stopped"), lambda old: "max_patches", "and there are 3 patches"),
    (("standing", "settings", "min_group_size"), lambda old: 100, "tells of fewer than 100"),
    (("attributes",), lambda old: {"sex": "str"}, "attributes are stated as"),
    (("version",), lambda old: 2, "which is not known here"),
]


@pytest.mark.parametrize(("path", "lie", "words"), LIES)
def test_a_lie_is_refused(path, lie, words):
    plain, data = patches_of("proven")
    forged = json.loads(json.dumps(plain))
    part = forged
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = lie(part[path[-1]])
    assert "sha256 is not that" in " ".join(check_patches(forged, **data).problems)
    problems = check_patches(sealed(forged), **data).problems
    assert any(words in problem for problem in problems), problems


def test_a_p_value_may_be_too_small_for_a_float():
    """That of everyone's line is a tail, and not a number of draws."""
    plain, data = patches_of("numbers")
    assert plain["patches"][0]["change"]["slope"] != 1
    first = {**plain["patches"][0], "p_value": 0.0}
    forged = sealed({**plain, "patches": [first, *plain["patches"][1:]]})
    assert check_patches(forged, **data).ok


def test_other_rows_are_refused():
    plain, data = patches_of("proven")
    labels = 1 - data["y_true"]
    assert not check_patches(plain, **{**data, "y_true": labels}).ok
    fewer = {name: part[:-1] for name, part in data.items()}
    assert "n_rows is stated as" in " ".join(check_patches(plain, **fewer).problems)


def test_scores_next_to_a_cut_are_said_to_be_so():
    """0.25 at three times its odds is a half, or not quite: the last digit decides."""
    plain, data = patches_of("averages")
    forged = json.loads(json.dumps(plain))
    forged["standing"]["settings"] |= {"notion": "multicalibration", "cuts": [0.5]}
    line = {"kind": "odds", "factor": 3.000000000000003, "power": 1.0}
    first = {**forged["patches"][0], "low": None, "high": None, "change": line}
    forged["patches"] = [first, {**first, "low": 0.5}]
    result = check_patches(sealed(forged), **{**data, "y_pred": np.full(120, 0.25)})
    assert "standing.*" in result.fields_not_checked


BAD = [
    (lambda plain: [], TypeError, "patches must be what calibrate"),
    (lambda plain: "{", ValueError, "patches is text, and not the JSON of"),
    (lambda plain: b"\xff", ValueError, "patches is text, and not the JSON of"),
    (lambda plain: {}, ValueError, "patches has no 'format'"),
    (lambda plain: {**plain, "patches": 3}, ValueError, "'patches' of the patches must be a list"),
    (lambda plain: {**plain, "score": 3}, ValueError, "'score' of the patches must be text"),
]


@pytest.mark.parametrize(("change", "kind", "words"), BAD)
def test_what_is_no_file_of_patches_is_refused(change, kind, words):
    plain, data = patches_of("proven")
    with pytest.raises(kind, match=words):
        check_patches(change(plain), **data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_pred": [2.0] * 120}, "y_pred has the score 2.0"),
        ({"y_true": [0, 1]}, "differ in their number of rows"),
        ({"y_true": [1] * 120}, "y_true must have two labels"),
        ({"pos_label": "x"}, "pos_label='x' is no label"),
        ({"sample_weight": [0] * 120}, "sample_weight is zero in every row"),
        ({"sample_weight": [-1] * 120}, "sample_weight has the value -1"),
        ({"sensitive_features": {"sex": [None] * 5}}, "differ in their number of rows"),
    ],
)
def test_bad_rows_are_named(change, words):
    plain, data = patches_of("proven")
    with pytest.raises(ValueError, match=words):
        check_patches(plain, **{**data, **change})


def verdict(plant, data):
    """What becomes of a lie in patches, with a sha256 that fits."""
    forged = plant.report
    if isinstance(forged, dict) and "sha256" in forged and plant.path != ("sha256",):
        forged = sealed(forged)
    return outcome(plant.field, lambda: check_patches(forged, **data), "patches")


def says_the_same(plant, plain):
    """Whether a change says nothing else: an order, a value twice, or the last digits of a change.

    What a change does is stated to 10⁻⁹: one that moves all figures by less is no lie.
    """
    if "rule" in plant.path:
        return plant.change in ("reversed", "duplicated") or _selects_the_same(plant, plain)
    return "change" in plant.path and plant.change.startswith("a millionth")


def _selects_the_same(plant, plain):
    """Whether a linear rule of categories has each combination of them on the side that it had."""
    old, new = (whole["patches"][plant.path[1]]["rule"] for whole in (plain, plant.report))
    try:
        return old["kind"] == new["kind"] == "linear" and sides(old) == sides(new)
    except (KeyError, TypeError, ValueError):
        return False


def planted(kind, every=1):
    plain, data = patches_of(kind)
    told = Counter()
    silent = []
    for plant in itertools.islice(plants(plain), KINDS.index(kind) % every, None, every):
        what = verdict(plant, data)
        told[what] += 1
        if what == SILENT and not says_the_same(plant, plain):
            silent.append((plant.path, plant.change))
    assert not silent
    return told


@pytest.mark.parametrize("kind", ["averages", "numbers"])
def test_some_planted_lies_are_refused_or_named(kind):
    told = planted(kind, every=41)
    assert told[REFUSED] > 1


@pytest.mark.parametrize("kind", [slow(kind) for kind in KINDS])
def test_every_planted_lie_is_refused_or_named(kind):
    told = planted(kind)
    assert told[REFUSED] > told[NAMED]


# By kind: a place, a change of it, and what becomes of it. Each was accepted in silence.
ONCE_SILENT = [
    ("averages", ("standing", "refused", 1, "interval"), "everyone", "is none of the score"),
    ("chance", ("standing", "refused", 0, "interval"), "score < 0.79", "an end that is no cut"),
    ("groups", ("patches", 0, "words"), "women of B (sex = F and town = A)", "don't begin with"),
    ("groups", ("patches", 0, "rule", "name"), None, "words can't be read"),
    ("groups", ("standing", "refused", 0, "subgroup"), "the bold (age ≥ 50)", None),
    ("none", ("probabilities",), False, None),
    ("a part", ("probabilities",), False, None),
]


@pytest.mark.parametrize(("kind", "path", "lie", "words"), ONCE_SILENT)
def test_what_was_accepted_in_silence_is_refused_or_named(kind, path, lie, words):
    plain, data = patches_of(kind)
    forged = json.loads(json.dumps(plain))
    part = forged
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = lie
    result = check_patches(sealed(forged), **data)
    if words is None:
        assert ".".join(step for step in path if isinstance(step, str)) in result.fields_not_checked
    else:
        assert any(words in problem for problem in result.problems), result.problems


def test_a_name_may_have_brackets():
    """Its words could not be read."""
    y, score, A = made_scores(120, seed=3, planted=3.0)
    groups = ExplicitGroups({"women (A)": {"sex": "F", "town": "A"}})
    patches = calibrate(y, score, sensitive_features=A, subgroups=groups, n_draws=19)
    assert patches[0].rule.describe().startswith("women (A) (")
    assert check_patches(patches, y, score, sensitive_features=A).ok


@pytest.mark.parametrize("names", [["women (A)"], ["women", "women (A)"], ["(A) (B)"]])
def test_the_name_of_a_refused_patch_may_have_brackets(names):
    """Its words could not be read, so that its violation was not checked."""
    y, score, A = made_scores(120, seed=3, planted=0.0)
    groups = ExplicitGroups({name: {"sex": "F", "town": "A"} for name in names[-1:]} |
                            {name: {"sex": "M"} for name in names[:-1]})  # fmt: skip
    plain = calibrate(y, score, sensitive_features=A, subgroups=groups, n_draws=19).to_dict()
    refused = plain["standing"]["refused"][0]
    assert refused["subgroup"].startswith(f"{names[-1]} (")
    honest = check_patches(plain, y, score, sensitive_features=A)
    assert honest.ok
    assert "standing.refused.violation" not in honest.fields_not_checked
    refused["violation"] *= 0.5
    forged = check_patches(sealed(plain), y, score, sensitive_features=A)
    assert any("refused: its violation" in problem for problem in forged.problems)


def test_numbers_have_no_positive_label():
    plain, data = patches_of("none")
    forged = sealed({**plain, "probabilities": False})
    result = check_patches(forged, **data, pos_label=1)
    assert result.problems == ["probabilities is stated as False, and a pos_label was passed."]


def test_a_refused_patch_without_an_interval_is_refused():
    """It raised a bare TypeError."""
    plain, data = patches_of("chance")
    field = ("standing", "refused", 0, "interval")
    lies = [plant for plant in plants(plain) if (plant.path, plant.change) == (field, "null")]
    assert [verdict(plant, data) for plant in lies] == [REFUSED]
