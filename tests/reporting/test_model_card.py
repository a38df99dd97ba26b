"""A report in a model card of skops: the same Markdown, below the heading, and inert."""

import re

import numpy as np
import pytest

from gerrymend import audit
from tests.reporting.hostile import STRINGS, Elements, assert_inert
from tests.reporting.test_hostile_strings import in_markdown

N = 400


def reported(names):
    """A report of columns of these names, whose first exceeds gamma whatever it is called."""
    rng = np.random.default_rng(0)
    columns = {name: np.where(rng.random(N) < 0.5, name, "other") for name in names}
    y = rng.integers(0, 2, N)
    decided = (rng.random(N) < 0.3 + 0.4 * (columns[names[0]] != "other")).astype(int)
    return audit(y, decided, sensitive_features=columns, subgroups="marginals", top=3)


def new_card():
    card = pytest.importorskip("skops.card")
    return card.Card(model=None, template=None, model_diagram=False)


def headings(text):
    return re.findall(r"^(#+) (.*)$", text, re.MULTILINE)


def test_a_section_is_the_report_below_its_heading():
    report = reported(["sex", "race"])
    card = new_card().add(Fairness=report.model_card_section(owner="Risk"), After="x")
    title, *plain = headings(report.to_markdown(owner="Risk"))
    assert title == ("#", "Subgroup fairness audit")
    assert len(plain) > 5
    assert headings(card.render()) == [("#", "Fairness"), *plain, ("#", "After")]
    whole = report.to_markdown(owner="Risk").partition("\n\n")[2]
    assert card.select("Fairness").content == whole
    assert "- Owner: Risk" in card.render()


def test_further_down_its_headings_are_so_too():
    report = reported(["sex", "race"])
    card = new_card().add(**{"Evaluation/Fairness": report.model_card_section(level=2)})
    _, *plain = headings(report.to_markdown())
    below = [(f"#{signs}", words) for signs, words in plain]
    assert headings(card.render()) == [("#", "Evaluation"), ("##", "Fairness"), *below]


@pytest.mark.parametrize("first", range(0, 100, 5))
def test_hostile_names_stay_text_in_a_card(first):
    tame = new_card().add(S=reported([f"word {i}" for i in range(5)]).model_card_section(level=3))
    like = {tag for tag, _ in Elements(in_markdown(tame.render())).found}
    card = new_card().add(S=reported(STRINGS[first : first + 5]).model_card_section(level=3))
    assert_inert(card.render())
    page = Elements(in_markdown(card.render()))
    assert {tag for tag, _ in page.found} <= like
    assert not page.links


@pytest.mark.parametrize("level", [0, 4, "1", None])
def test_levels_that_leave_no_headings_are_refused(level):
    with pytest.raises(ValueError, match="is no level of a section with headings below; pass 1, 2"):
        reported(["sex"]).model_card_section(level=level)
