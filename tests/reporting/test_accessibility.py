"""Pages have no finding of axe's that keeps anyone out, wide and narrow, in light and in dark."""

import pytest

from gerrymend import (
    audit,
    audit_uncertain,
    compare,
    discrimination_surface,
    impact_ratios,
    pareto_frontier,
)
from gerrymend.classifiers import SubgroupParityClassifier
from gerrymend.datasets import make_gerrymandered, make_intersectional
from tests.all_rounds import MAY_EXCEED_GAMMA

pytestmark = MAY_EXCEED_GAMMA

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
AXE = pytest.importorskip("axe_core_python.base", reason="axe-core-python is not installed")

SERIOUS = ("serious", "critical")
FINDINGS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
    found => [found.impact, found.id, found.nodes.map(node => node.html)])"""


def toy():
    people = make_gerrymandered(400, random_state=0)
    return people.target, (people.score >= 0.5).astype(int), people.sensitive_features


def audit_page():
    y, decided, A = toy()
    return audit(
        y, decided, sensitive_features=A, favourable="negative", n_permutations=19, top=2
    ).to_html(title="Loans", model="credit-7", owner="Risk")


def frontier_page():
    data = make_intersectional(300, cardinalities=(2, 3), n_numeric=0, random_state=0)
    model = SubgroupParityClassifier(subgroups="conjunctions", max_iter=5, tol=None)
    return pareto_frontier(
        model, data.data, data.target, sensitive_features=data.sensitive_features,
        gammas=[0.0, 0.05], test_size=0.3, favourable="negative",
    ).to_html()  # fmt: skip


def surface_page():
    y, decided, A = toy()
    return discrimination_surface(y, {"then": decided, "now": y}, sensitive_features=A).to_html()


def impact_page():
    _, decided, A = toy()
    return impact_ratios(decided, sensitive_features=A, profile="ll144").to_html()


def comparison_page():
    y, decided, A = toy()
    return compare(decided, y, 1 - decided, sensitive_features=A, n_permutations=19).to_html()


def uncertain_page():
    y, decided, A = toy()
    half = [0.5] * len(y)
    return audit_uncertain(
        y, decided, sensitive_features=A, attribute_probabilities={"age": {"old": half, "x": half}}
    ).to_html()


PAGES = [audit_page, frontier_page, surface_page, impact_page, comparison_page, uncertain_page]


def serious(opened):
    """Return what axe finds that keeps people out of a page that is open."""
    opened.page.evaluate(AXE.AXE_SCRIPT)
    return [found for found in opened.page.evaluate(FINDINGS) if found[0] in SERIOUS]


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (400, "dark")])
@pytest.mark.parametrize("make", PAGES, ids=lambda make: make.__name__)
def test_a_page_keeps_nobody_out(make, width, scheme, open_page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(make(), encoding="utf-8")
    assert serious(open_page(path, width=width, scheme=scheme)) == []


def test_what_keeps_people_out_is_found(open_page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        "<html lang=en><title>x</title><main><h1>x</h1><img src=data:,>"
        "<p style='color: #ddd; background: #fff'>pale</p></main>",
        encoding="utf-8",
    )
    assert {found[1] for found in serious(open_page(path))} == {"image-alt", "color-contrast"}
