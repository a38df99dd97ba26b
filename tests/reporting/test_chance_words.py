"""What is said of chance: draws that were cut off, and who stands out where all is allowed."""

import numpy as np
import pytest

from gerrymend import audit, check_report
from gerrymend.auditing.inference import permutation
from gerrymend.cli.gate import Gate
from gerrymend.reporting.audit.standing_out import adjusted_words
from gerrymend.reporting.audit.verdict import look

TOLD = "by 20 of the 39 draws that were asked for; a longer budget (--budget) makes them all"


def people(n=400):
    rng = np.random.default_rng(0)
    town = np.where(np.arange(n) % 8 == 0, "Au", "Ulm")
    decided = (rng.random(n) < np.where(town == "Au", 0.9, 0.4)).astype(int)
    given = {"sensitive_features": {"town": town, "sex": rng.choice(["F", "M"], n)}}
    return ([0] * n, decided), given


@pytest.fixture
def clock_after_20(monkeypatch):
    monkeypatch.setattr(permutation, "rounds", lambda *_, **__: iter([[range(20)]]))


def flat(text):
    return " ".join(text.split())


def test_draws_that_the_clock_cut_off_are_told(clock_after_20):
    rows, given = people()
    report = audit(*rows, **given, notion="statistical_parity", n_permutations=39,
                   favourable="positive", subgroups="conjunctions")  # fmt: skip
    data = report.to_dict()
    assert (data["n_permutations"], data["permutations_asked"]) == (20, 39)
    for text in (str(report), report.to_markdown(), report.to_html()):
        assert TOLD in flat(text)
    checked = check_report(data, *rows, **given)
    assert checked.problems == []
    for wrong in (20, 3):
        lie = check_report({**data, "permutations_asked": wrong}, *rows, **given)
        assert any("permutations_asked" in one for one in lie.problems)


def test_one_draw_is_said_to_tell_nothing_of_chance(monkeypatch):
    monkeypatch.setattr(permutation, "rounds", lambda *_, **__: iter([[range(1)]]))
    rows, given = people()
    report = audit(*rows, **given, notion="statistical_parity", n_permutations=39, gamma=0.001,
                   favourable="positive", subgroups="conjunctions")  # fmt: skip
    told = flat(str(report))
    assert "too few shuffles were made to rule out chance" in told
    assert "Whether it is chance can't be told: 1 permutation is too few; 39 were asked for" in told
    assert "could be chance" not in told
    decided = Gate(if_chance="undecided").decide(report)
    assert decided.code == 3
    time = "there was time for 1 of the 39 permutations that were asked for, and p = 0.05 takes 19"
    assert (
        f"whether chance made it can't be told: {time}; give more time (budget, --b" in decided.why
    )
    allowed = audit(*rows, **given, notion="statistical_parity", n_permutations=39, gamma=0.2,
                    subgroups="conjunctions")  # fmt: skip
    decided = Gate(fail_on="stands-out").decide(allowed)
    assert decided.code == 3
    assert f"--fail-on stands-out can't be told: {time}" in decided.why


def test_the_least_that_few_draws_can_give_is_no_strength():
    """With 20 draws p is 1/21 at least, however far the group is off."""
    report = {"notions": [{"name": "false_positive_rate", "event": [True, False]}],
              "sharpest": {"p_value": 1 / 21, "n_groups": 9}, "n_permutations": 20}  # fmt: skip
    assert "20 shuffles can give no less, and don't tell how strong it is" in adjusted_words(report)
    report |= {"sharpest": {"p_value": 0.005, "n_groups": 9}, "n_permutations": 199}
    assert adjusted_words(report).endswith("199 shuffles can give no less")


def test_draws_that_were_all_made_are_not_told_to_be_fewer():
    rows, given = people()
    report = audit(*rows, **given, notion="statistical_parity", n_permutations=39)
    assert "permutations_asked" not in report.to_dict()
    assert "asked for" not in str(report)


def test_who_stands_out_is_named_where_all_is_allowed():
    rows, given = people()
    report = audit(*rows, **given, notion="statistical_parity", n_permutations=99, gamma=0.2,
                   favourable="negative", subgroups="conjunctions")  # fmt: skip
    data = report.to_dict()
    assert (data["verdict"], data["p_value"]) == ("within gamma", 0.01)
    heading = "Within what is allowed, but town = Au stands out: look at it before signing off"
    assert look(data).heading == heading
    assert heading in flat(str(report))


def test_a_heading_that_names_someone_obeys_nothing_of_the_data():
    rows, given = people()
    town = "[red]<script>alert(1)</script>\x1b[31m"
    given["sensitive_features"]["town"] = np.where(
        given["sensitive_features"]["town"] == "Au", town, "Ulm"
    )
    report = audit(*rows, **given, notion="statistical_parity", n_permutations=99, gamma=0.2,
                   favourable="negative", subgroups="conjunctions")  # fmt: skip
    assert "stands out: look at it" in look(report.to_dict()).heading
    assert "<script>alert" not in report.to_html()
    assert "<script>alert" not in report.to_markdown()
    for text in (str(report), report.to_html(), report.to_markdown()):
        assert "\x1b" not in text
    assert "[red]" in str(report)
