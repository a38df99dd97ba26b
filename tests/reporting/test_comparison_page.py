"""The page of a comparison in a browser, at two widths, in light and dark."""

import numpy as np
import pytest

from gerrymend import compare

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    A = {"sex": rng.choice(["F", "M"], 900), "a_long_name_of_an_attribute": rng.normal(0, 1, 900)}
    old = rng.integers(0, 2, 900)
    new = np.where(A["sex"] == "F", 1, old)
    found = compare(old, None, new, notion="statistical_parity", sensitive_features=A,
                    subgroups="conjunctions", n_permutations=39)  # fmt: skip
    assert found.verdict == "worse"
    return found.write_html(tmp_path_factory.mktemp("page") / "changes.html", title="Loans 4.2")


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1200, "dark")])
def test_the_page_fits_its_window_and_asks_for_nothing(open_page, page, width, scheme):
    opened = open_page(page, width=width, scheme=scheme)
    assert not opened.is_wider_than_its_window()
    assert opened.outside() == []
    assert opened.errors == []
    assert opened.page.title() == "Worse than before: Loans 4.2"
    heads = opened.page.locator("thead th").all_inner_texts()
    assert heads == ["By the old model", "By the new model"]
    assert opened.page.locator("script").count() == 0
