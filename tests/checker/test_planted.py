"""Whatever is changed in a report is refused, or in a field that is named as not checked."""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest

from gerrymend import check_report
from gerrymend.checker import claims
from tests.checker.planting import NAMED, REFUSED, SILENT, Plant, outcome, plants, walk
from tests.checker.reports import KINDS, report_of
from tests.marks import slow


def verdict(plant, data):
    """What becomes of a lie in a report."""
    return outcome(plant.field, lambda: check_report(plant.report, **data), "report")


def still_true(plant, report):
    """Whether what is changed says the same: strata in another order, or the same rule.

    The order of conditions, terms and values is no matter, nor a value that comes twice, nor a
    number that no combination of categories is on the other side of; nor where between two whole
    numbers a cut of whole numbers is.
    """
    if (plant.path, plant.change) == (("strata",), "reversed"):
        return True
    if "rule" not in plant.path:
        return False
    if plant.change == "reversed" or (plant.change, plant.path[-1]) == ("duplicated", "values"):
        return True
    if plant.path[-1] in ("low", "high") and _is_cut_the_same(plant, report):
        return True
    end = plant.path.index("rule") + 1
    old, new = (_at(whole, plant.path[:end]) for whole in (report, plant.report))
    try:
        return old["kind"] == new["kind"] == "linear" and sides(old) == sides(new)
    except (KeyError, TypeError, ValueError):
        return False


def _is_rounding(plant, report, data):
    """Whether a figure changed by no more than the 1e-9 of the largest outcome that it is kept to.

    Of numbers around 10, a mean near 0 and one that is a millionth of itself more are the same.
    """
    if not plant.change.startswith("a millionth"):
        return False
    old, new = (_at(whole, plant.path) for whole in (report, plant.report))
    outcomes = np.subtract(data["y_true"], data["y_pred"], dtype=float)
    return abs(new - old) <= 1e-9 * max(1.0, np.abs(outcomes).max())


def _is_cut_the_same(plant, report):
    """Whether a cut is told by the whole number beside it, as "age ≥ 26", and that stays so."""
    old, new = (_at(whole, plant.path) for whole in (report, plant.report))
    group = _at(report, plant.path[: plant.path.index("rule")])
    words = group.get("subgroup", group.get("group"))
    told = {str(math.floor(old)), str(math.ceil(old))} & set(re.findall(r"[\d.]+", words))
    # x ≥ cut and x < cut are x ≥ ⌈cut⌉ and x < ⌈cut⌉ of whole numbers.
    return bool(told) and type(new) is float and math.ceil(old) == math.ceil(new)


def sides(rule):
    """On which side of the threshold each combination of categories is; numbers as they are."""
    terms = [(t["attribute"], t.get("value"), t["coefficient"]) for t in rule["terms"]]
    terms = [term for term in terms if term[2] != 0]
    if any(value is None for _, value, _ in terms):
        return sorted(terms, key=str), rule["threshold"]
    categories = {}
    for attribute, value, _ in terms:
        categories.setdefault(attribute, [None]).append(value)
    sides = []
    for chosen in itertools.product(*categories.values()):
        row = dict(zip(categories, chosen, strict=True))
        score = sum(c for attribute, value, c in terms if row[attribute] == value)
        sides.append((row, score >= rule["threshold"]))
    return sides


def _at(whole, path):
    for part in path:
        whole = whole[part]
    return whole


def planted(kind, monkeypatch, every=1):
    """Plants lies in one kind of report, and counts what becomes of them."""
    report, data = report_of(kind)
    honest = check_report(report, **data)
    assert honest.ok, str(honest)
    _read_once(monkeypatch)
    told = Counter()
    silent = []
    for plant in itertools.islice(plants(report), KINDS.index(kind) % every, None, every):
        what = verdict(plant, data)
        told[what] += 1
        if what == SILENT and not (still_true(plant, report) or _is_rounding(plant, report, data)):
            silent.append((plant.path, plant.change))
    assert not silent
    assert told[REFUSED] > told[NAMED]
    return told


def _read_once(monkeypatch):
    """The rows are the same for every lie: they are read once."""

    def once(name):
        read, tables = getattr(claims, name), {}

        def remembered(*args, **how):
            key = repr((args, how))
            if key not in tables:
                tables[key] = read(*args, **how)
            return tables[key]

        monkeypatch.setattr(claims, name, remembered)

    for name in ("read_table", "read_numbers", "read_many", "read_scores"):
        once(name)


@pytest.mark.parametrize("kind", [slow(kind) if kind == "undecided" else kind for kind in KINDS])
def test_no_lie_is_accepted_in_silence(kind, monkeypatch):
    """A few of all changes, others for each kind; `make test-slow` has all of them."""
    planted(kind, monkeypatch, every=83)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_none_of_all_lies_is_accepted_in_silence(kind, monkeypatch):
    planted(kind, monkeypatch)


VAST = {
    "both sides": ("disadvantaged", "share"),
    "permuted": ("population", "distance"),
    "core": ("n_permutations",),
    "own notion": ("notions", 0, "a", 0),
    "reference group": ("notions", 0, "reference", "factor"),
}


@pytest.mark.parametrize("kind", VAST)
def test_a_figure_too_large_for_arithmetic_is_refused(kind):
    """Each raised an OverflowError, or another from below."""
    report, data = report_of(kind)
    planted = [plant for plant in plants(report) if plant.path == VAST[kind]]
    vast = [plant for plant in planted if plant.change in ("nearly infinite", "beyond floats")]
    assert len(vast) == 2
    assert {verdict(plant, data) for plant in vast} == {REFUSED}
    if kind == "core":  # more digits than Python prints
        report["n_permutations"] = 10**5000
        with pytest.raises(ValueError, match=r"got a whole number of more than 100 digits\.$"):
            check_report(report, **data)


def test_every_lie_about_the_test_of_a_sentence_is_refused_or_named():
    """Among those that are refused: another number of permutations, and more than were made."""
    report, data = report_of("tested in a sentence")
    assert report["lead"]["p_value_of"] == "sentence"
    where = ("in_a_sentence", "test")
    about = [plant for plant in plants(report) if plant.path[:2] == where]
    told = {(plant.path[2:], plant.change): verdict(plant, data) for plant in about}
    assert {path for path, _ in told} > {(), ("p_value",), ("n_permutations",), ("bins",)}
    assert SILENT not in told.values()
    refused = {path for (path, _), what in told.items() if what == REFUSED}
    assert refused > {("p_value",), ("n_permutations",), ("bins",)}
    assert told[(("n_permutations",), "a bit more")] == REFUSED
    assert told[(("p_value",), "doubled")] == REFUSED  # as the lead states another one


@pytest.mark.parametrize("kind", ["complements", "core", "marginals"])
def test_who_stands_out_is_missed_where_groups_are_large_enough(kind):
    report, data = report_of(kind)
    assert report["sharpest"] is not None
    report["sharpest"] = None
    sentence = "sharpest is left out, and there are groups that are large enough for one."
    assert sentence in check_report(report, **data).problems


def test_a_level_without_intervals_is_named():
    """No figure follows from it: it was accepted in silence."""
    report, data = report_of("multicalibration")
    assert report["held_out"]["unfairness_interval"] is None
    others = report["held_out"]["others"]
    report["held_out"]["others"] = []
    result = check_report(report, **data)
    assert result.ok
    assert "held_out.level" in result.fields_not_checked
    # But it does from the intervals of others.
    report["held_out"]["others"] = others
    assert all(one["unfairness_interval"] for one in others)
    assert check_report(report, **data).ok
    report["held_out"]["level"] = 0.9
    assert not check_report(report, **data).ok


def test_a_field_of_tomorrow_is_named():
    """Wherever it is added, it is refused or named: never taken to be checked."""
    report, data = report_of("held out")
    mappings = [path for path, value in walk(report) if isinstance(value, dict)]
    assert len(mappings) > 20
    for plant in plants(report):
        if plant.change == "added":
            assert verdict(plant, data) != SILENT, plant.path
    report["tomorrow"] = {"figure": 1}
    result = check_report(report, **data)
    assert result.ok
    assert "tomorrow: fields that the checker doesn't know." in result.not_checked
    assert "tomorrow" in str(result)


def test_the_planter_changes_every_leaf():
    report, _ = report_of("permuted")
    leaves = {path for path, value in walk(report) if not isinstance(value, dict | list)}
    assert leaves <= {plant.path for plant in plants(report)}
    assert Plant(("top", 0, "rate"), "sign", None).field == "top.rate"
