"""report.to_frame(): each group that is told, by any library, and no other."""

import narwhals as nw
import numpy as np
import pytest

from gerrymend import Conjunctions, ExplicitGroups, audit

RNG = np.random.default_rng(0)
N = 600
A = {"sex": RNG.choice(["F", "M"], N), "age": RNG.integers(18, 80, N),
     "town": RNG.choice(["Au", "Ulm"], N)}  # fmt: skip
Y, D = RNG.integers(0, 2, (2, N))
CLASSES = ["linear", "marginals", Conjunctions(), ExplicitGroups({"women": {"sex": "F"}})]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("subgroups", CLASSES, ids=str)
def test_every_group_that_is_told_is_a_row(subgroups, backend):
    report = audit(Y, D, sensitive_features=A, subgroups=subgroups, favourable="positive", top=2)
    frame = nw.from_native(report.to_frame(backend))
    rows = {(row["told_as"], row["group"]): row for row in frame.iter_rows(named=True)}
    worst = rows["worst", report.worst.describe()]
    assert worst["rate"] == report.worst.rate
    assert worst["size"] == report.worst.size
    assert {group for told, group in rows if told == "top"} == {
        one.describe() for one in report.top
    }
    for one in report.marginals:
        row = rows["marginal", one.group]
        assert (row["rate_low"], row["rate_high"]) == tuple(one.rate_interval)
        assert row["unfairness"] == one.unfairness
    met = [told for told in frame["told_as"] if told == "intersection"]
    assert len(met) == len(report.intersections.groups) > 0
    assert ("named" in frame["told_as"]) == isinstance(subgroups, ExplicitGroups)


def test_a_report_without_a_group_has_an_empty_frame():
    report = audit([0] * 8, [0, 1] * 4, sensitive_features={"sex": ["F", "M"] * 4})
    frame = nw.from_native(report.to_frame("polars"))
    assert len(frame) == 0
    assert frame.schema["rate"] == nw.Float64


@pytest.mark.parametrize("backend", ["excel", 5, None])
def test_a_library_that_has_no_frames_is_refused(backend):
    report = audit(Y, D, sensitive_features=A, subgroups="marginals")
    with pytest.raises(ValueError, match=r"backend=.* makes no frame"):
        report.to_frame(backend)
