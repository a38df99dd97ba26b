"""The table of two categories: its rates, and that nothing small can be worked out from it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gerrymend import audit, check_report
from gerrymend.auditing.intersections import MOST_VALUES

MINIMUM = 10


def rows_of(table, rate=0.3, seed=0):
    """Negatives by cell of a table of counts, decided 1 at random."""
    cells = [(f"a{i}", f"b{j}") for i, row in enumerate(table) for j, n in enumerate(row)
             for _ in range(n)]  # fmt: skip
    first, second = map(np.array, zip(*cells, strict=True))
    decided = (np.random.default_rng(seed).random(len(cells)) < rate).astype(int)
    return np.zeros(len(cells), dtype=int), decided, {"first": first, "second": second}


def report_of(table, subgroups="marginals", **options):
    y, decided, protected = rows_of(table)
    return audit(y, decided, sensitive_features=protected, subgroups=subgroups, **options)


def test_rates_are_those_of_the_rows():
    y, decided, protected = rows_of([[40, 30], [20, 50], [35, 25]])
    report = audit(y, decided, sensitive_features=protected, subgroups="marginals",
                   notion=("false_positive_rate", "statistical_parity"))  # fmt: skip
    assert report.intersections.attributes == ("first", "second")
    assert report.intersections.left_out == 0
    assert len(report.intersections.groups) == 12
    for one in report.intersections.groups:
        mask = one.rule.contains(protected)
        assert one.size == mask.sum()
        assert one.rate == pytest.approx(decided[mask].mean())
        assert one.unfairness == pytest.approx(mask.mean() * (one.rate - decided.mean()))
        low, high = one.rate_interval
        assert low <= one.rate <= high
    result = check_report(report.to_dict(), y, decided, sensitive_features=protected)
    assert result.problems == []


def test_a_wrong_cell_is_found_by_the_checker():
    y, decided, protected = rows_of([[40, 30], [20, 50]])
    stated = audit(y, decided, sensitive_features=protected, subgroups="marginals").to_dict()
    wrong = [
        {
            "intersections": [
                stated["intersections"][0] | {"rate": 0.5},
                *stated["intersections"][1:],
            ]
        },
        {"intersections_left_out": 1},
        {"intersected": ["first", "third"]},
        {"intersections": stated["intersections"][::-1]},
    ]
    for change in wrong:
        result = check_report(stated | change, y, decided, sensitive_features=protected)
        assert any("intersect" in problem for problem in result.problems), change


def known_sums(table, report, *, without=False):
    """0/1 vectors over the cells of a table whose sums a reader knows, perhaps without it."""
    shape = np.shape(table)
    known = [np.ones(shape)]
    sides = [one for one in (report.disadvantaged, report.favoured) if one is not None]
    for one in (*report.marginals, *report.top, *sides,
                *(() if without else report.intersections.groups)):  # fmt: skip
        at = {c.attribute: int(c.values[0][1:]) for c in one.rule.conditions}
        mask = np.zeros(shape)
        mask[at.get("first", slice(None)), at.get("second", slice(None))] = 1
        known.append(mask)
    return np.array([one.ravel() for one in known])


def smallest_told(table, known):
    """The fewest rows of a set of cells whose sum follows, over all sets: by linear algebra."""
    counts = np.ravel(table)
    there = np.flatnonzero(counts)
    basis = known[:, there]
    least = np.inf
    for size in range(1, len(there) + 1):
        for chosen in itertools.combinations(range(len(there)), size):
            wanted = np.zeros(len(there))
            wanted[list(chosen)] = 1
            n = counts[there][list(chosen)].sum()
            if n < least:
                combined = np.linalg.lstsq(basis.T, wanted, rcond=None)[0]
                if np.allclose(basis.T @ combined, wanted, atol=1e-8):
                    least = n
    return least


TABLES = st.lists(
    st.lists(st.sampled_from([0, 1, 3, 6, 9, 10, 14, 25]), min_size=3, max_size=3),
    min_size=3, max_size=3,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(TABLES, st.sampled_from(["marginals", "conjunctions"]))
def test_nothing_small_follows_by_subtraction(table, subgroups):
    """Against all sets of cells, and the rank of what is known beside the margins."""
    counts = np.array(table)
    if min((counts.sum(axis=1) > 0).sum(), (counts.sum(axis=0) > 0).sum()) < 2:
        return
    report = report_of(table, subgroups, top=2, favourable="negative")
    before = smallest_told(table, known_sums(table, report, without=True))
    assert smallest_told(table, known_sums(table, report)) >= min(before, MINIMUM)


def test_a_table_that_three_sums_would_open():
    """With 4 goes one more of its row, one of its column, and where these two meet."""
    table = [[4, 30, 30], [20, 40, 30], [30, 30, 30]]
    report = report_of(table)
    shown = {one.group for one in report.intersections.groups}
    assert "first = a0 and second = b0" not in shown
    # Hidden with it are three at the corners of a rectangle, and no more.
    assert report.intersections.left_out == len(report.intersections.groups) - 1 == 4
    assert smallest_told(table, known_sums(table, report)) >= MINIMUM


def test_which_two_are_chosen():
    n = 200
    place = np.arange(n)
    protected = {
        "age": place % 50, "town": np.array([f"t{i}" for i in range(MOST_VALUES + 1)])[place % 13],
        "sex": np.array(["F", "M"])[place % 2], "race": np.array(["a", "b", "c"])[place % 3],
        "job": np.array(["x", "y"])[place // 100], "country": ["NL"] * n,
    }  # fmt: skip
    y, decided = np.zeros(n, dtype=int), (place % 5 == 0).astype(int)

    def attributes(**options):
        report = audit(y, decided, sensitive_features=protected, subgroups="marginals", **options)
        return report.intersections.attributes

    assert attributes() == ("sex", "race")
    assert attributes(intersection=["job", "sex"]) == ("job", "sex")
    for asked, message in [
        (["sex"], "intersection must name two protected attributes"),
        ("sex", "intersection must name two"),
        ([["sex"], ["race"]], "intersection must name two"),
        (["sex", "sex"], "intersection must name two"),
        (["sex", "rase"], "intersection names 'rase', which is not protected.*did you mean 'race'"),
        (["sex", "age"], "intersection names 'age', which has numbers; a table needs categories"),
        (["sex", "town"], "intersection names 'town', which has 13 values; a table needs"),
    ]:
        with pytest.raises(ValueError, match=message):
            attributes(intersection=asked)
    alone = audit(y, decided, sensitive_features={"sex": protected["sex"]}, subgroups="marginals")
    assert alone.intersections == ((), (), 0)


def test_the_table_tells_nothing_small_beside_described_groups():
    """Blue and green men, less blue men, less green, would be four green women."""
    cells = {("blue", "F"): (11, 4), ("blue", "M"): (47, 10), ("green", "F"): (4, 1),
             ("green", "M"): (35, 3), ("red", "F"): (11, 3), ("red", "M"): (32, 10)}  # fmt: skip
    people = np.repeat(list(cells), [n for n, _ in cells.values()], axis=0)
    decided = np.concatenate([[1] * k + [0] * (n - k) for n, k in cells.values()])
    report = audit(
        0 * decided, decided, favourable="negative",
        sensitive_features={"race": people[:, 0], "sex": people[:, 1]},
    )  # fmt: skip
    assert report.worst is not None
    shown = {one.group for one in report.intersections.groups}
    assert "race = green and sex = F" not in shown
    counts = np.array([n for n, _ in cells.values()])
    inside = [
        one.rule.contains({"race": [race for race, _ in cells], "sex": [sex for _, sex in cells]})
        for one in (*report.top, *report.marginals, *report.intersections.groups,
                    report.disadvantaged, report.favoured) if one is not None
    ]  # fmt: skip
    assert smallest_told(counts, np.array([np.ones(6), *inside], float)) >= MINIMUM
