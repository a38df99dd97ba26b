"""The group that can be said in a sentence leads, where it has most of the worst's unfairness."""

import copy

import numpy as np
import pytest

from gerrymend import audit
from gerrymend.frontier.points import OnRows
from gerrymend.reporting.audit.markdown import audit_markdown
from gerrymend.reporting.audit.page import audit_fragment
from gerrymend.reporting.audit.people import people_figures
from gerrymend.reporting.audit.text import audit_text
from gerrymend.reporting.audit.verdict import verdict_sentences
from gerrymend.reporting.audit.view import audit_view
from gerrymend.reporting.frontier.text import worst_in_words

PLANTED = "sex = F and region = N"


def hiring(seed=0, **how):
    """An audit of whom to hire by the default class: women in the north are hired less often."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], 2_000)
    region = rng.choice(["N", "S", "W"], 2_000)
    age = rng.integers(20, 60, 2_000)
    hired = rng.random(2_000) < np.where((sex == "F") & (region == "N"), 0.25, 0.5)
    return audit(None, hired.astype(int), notion="statistical_parity", favourable="positive",
                 sensitive_features={"sex": sex, "region": region, "age": age}, **how)  # fmt: skip


@pytest.fixture(scope="module")
def report():
    found = hiring()
    assert found.in_a_sentence.subgroup.describe() == PLANTED
    assert abs(found.in_a_sentence.subgroup.unfairness) > 0.8 * found.unfairness
    return found


def flat(text):
    return " ".join(text.split())


def test_the_planted_group_leads_everywhere(report):
    data = report.to_dict()
    said = data["in_a_sentence"]["subgroup"]
    size = f"{said['size']:,}"
    part = f"{100 * said['unfairness'] / data['disadvantaged']['unfairness']:.1f} %"
    first = verdict_sentences(data)[0]
    assert first.startswith("The subgroup treated worst, of those that can be said in a sentence")
    assert f"is {PLANTED}, {size} of 2,000 rows: rate of positive decisions " in first
    # Beside it: whom the class finds worst, and how much of that this is.
    told = " ".join(verdict_sentences(data))
    assert "The worst of all that was searched is a group with " in told
    assert (
        f"The unfairness of the group in a sentence is {part} of that of the worst of all" in told
    )
    assert people_figures(data)[0][1].endswith(f": {PLANTED}")
    assert flat(audit_text(data)).count(f"Treated worst {PLANTED}") == 1
    names = [(one["standing"], one["name"]) for one in audit_view(data)["subgroups"]]
    assert names[0] == ("Treated worst", PLANTED)
    assert names[1][0] == "Worst of all"
    assert f"### 1. Treated worst: {PLANTED}" in audit_markdown(data)
    assert audit_fragment(data).index(PLANTED) < audit_fragment(data).index("Worst of all")


def test_nobody_else_is_told_of_who_are_the_rest_of_another(report):
    """All who are not in the formula are not all but the group that leads."""
    assert report.favoured_is_rest
    assert "veryone else" not in str(report)
    assert "veryone else" not in report.to_html()


def test_figures_and_what_exceeds_are_of_both(report):
    data = report.to_dict()
    told = " ".join(verdict_sentences(data))
    own = abs(data["in_a_sentence"]["subgroup"]["unfairness"])
    assert (f"The unfairness of the group in a sentence is {own:.4f}, of the worst of all "
            f"{report.unfairness:.4f}, and 0.01 is allowed; no subgroup") in told  # fmt: skip
    tiles = audit_view(data)["figures"]
    remarks = [remark for name, _, remark in tiles if name == "Rate of positive decisions"]
    assert len(remarks) == 1
    assert remarks[0].startswith("the subgroup treated worst in a sentence, against ")


@pytest.mark.parametrize("why", ["little", "other side of gamma"])
def test_composition_leads_where_the_sentence_has_little_or_is_allowed(report, why):
    data = copy.deepcopy(report.to_dict())
    own = abs(data["in_a_sentence"]["subgroup"]["unfairness"])
    if why == "little":
        data["in_a_sentence"]["subgroup"]["unfairness"] = -0.79 * report.unfairness
    else:
        data["gamma"] = (own + report.unfairness) / 2
    first = verdict_sentences(data)[0]
    assert first.startswith("The subgroup treated worst is a group with ")
    assert f"In a sentence {PLANTED}" in flat(audit_text(data))
    assert "Everyone else" in audit_text(data)


def test_a_frontier_names_the_group_in_a_sentence(report):
    sample = OnRows(0.1, report)
    told = sample.to_dict()
    said = report.in_a_sentence.subgroup
    assert (sample.worst, told["worst_size"], told["worst_rate"]) == (PLANTED, said.size, said.rate)
    part = f"{100 * said.unfairness / report.disadvantaged.unfairness:.1f} %"
    assert worst_in_words(told).startswith(
        f"Treated worst: {PLANTED}, with {part} of the unfairness found ({said.size:,} rows): "
    )


def test_the_headline_names_the_same_rows_by_their_sentence():
    rng = np.random.default_rng(0)
    sex = np.array(["F", "M"])[rng.integers(0, 2, 2000)]
    age = rng.integers(20, 60, 2000)
    hired = rng.random(2000) < np.where((sex == "F") & (age > 45), 0.2, 0.5)
    report = audit(
        None,
        hired.astype(int),
        sensitive_features={"sex": sex, "age": age},
        notion="statistical_parity",
        favourable="positive",
    )
    said = report.in_a_sentence
    assert said.overlap == 1.0
    assert said.subgroup.size == report.worst.size
    words = flat(str(report))
    assert words.split(":")[0].endswith(f"is {said.subgroup.describe()}, 357 of 2,000 rows")
    assert f"Treated worst {said.subgroup.describe()} 357 rows" in words
    assert "As a formula " in words
    assert "; the same rows" in words
    assert "of that of the worst of all" not in words
    assert "Everyone else" in words
    page = report.to_html()
    assert "the same rows as the first" in page
    assert page.index("Exact: none has more") < page.index("As a formula")
    assert OnRows(0.1, report).to_dict()["worst_who"] == said.subgroup.describe()
