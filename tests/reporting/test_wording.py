"""Numbers as a person reads them, of any size."""

import pytest

from gerrymend import audit
from gerrymend.reporting.text import as_plain, fact_spans
from gerrymend.reporting.wording import bound, unfairness


@pytest.mark.parametrize(
    ("value", "rounded", "up"),
    [(1e300, "1.000e+300", "1.001e+300"), (1.23411e12, "1.234e+12", "1.235e+12"),
     (9.9999e11, "1.000e+12", "1.000e+12"), (0.10621, "0.1062", "0.1063"),
     (123456789.25, "123456789.2500", "123456789.2500")],
)  # fmt: skip
def test_numbers_of_any_size(value, rounded, up):
    assert unfairness(value) == rounded
    assert bound(value) == up


def test_an_unfairness_beside_any_gamma():
    assert unfairness(0.05, beside=1e308) == "0.0500"
    report = audit([0, 1] * 20, [1, 0, 1, 1] * 10, sensitive_features={"a": [1, 2, 3, 4] * 10},
                   gamma=1e308)  # fmt: skip
    assert report.verdict == "within gamma"
    assert "1.000e+308" in report.to_markdown() or "1e+308" in report.to_markdown()


def test_a_name_that_fills_its_column_has_a_line_of_its_own():
    told = as_plain(fact_spans([("  few conditions", "sex = F"), ("  error", "1 %")], width=40))
    assert told == "  few conditions\n                sex = F\n  error         1 %"
