"""That chance was not tested is said at once, before anyone is named, wherever it is read."""

import html

import numpy as np
import pytest

from gerrymend import ExplicitGroups, audit
from gerrymend.reporting.audit.findings import cautions
from gerrymend.reporting.audit.lead import brief_sentences
from gerrymend.reporting.audit.page import audit_fragment
from gerrymend.reporting.audit.verdict import look, verdict_sentences

HEADING = "More unfair than allowed on these rows"
UNTESTED = "Whether chance alone could make as much was not tested "
LOOKS_BAD = (
    ": the worst of many groups looks bad even where none differs, and a small group that is hit "
    "hard may not show."
)


def coins(**how):
    """An audit of coins, thrown for everyone alike: whatever it finds is chance."""
    rng = np.random.default_rng(0)
    n = 600
    attributes = {"town": rng.choice(list("abcd"), n), "sex": rng.choice(["F", "M"], n)}
    return audit(None, rng.integers(0, 2, n), sensitive_features=attributes,
                 notion="statistical_parity", favourable="positive", **how)  # fmt: skip


@pytest.fixture(scope="module")
def untested():
    report = coins()
    assert report.verdict == "exceeds gamma"
    return report


def flat(text):
    return " ".join(html.unescape(text).replace("\\", "").split())


def test_who_reads_two_lines_knows_that_chance_was_not_tested(untested):
    data = untested.to_dict()
    heading, *lines = str(untested).splitlines()
    assert heading == HEADING
    first = f"{UNTESTED}(n_permutations=199, --permutations 199 would){LOOKS_BAD}"
    assert flat(" ".join(lines)).startswith(f"{first} The subgroup treated worst")
    assert f"**{HEADING}.** {first} - **" in flat(untested.to_markdown())
    assert brief_sentences(data)[0] == first == data["lead"]["chance"]
    assert f"{HEADING}</strong> <p>{first}</p>" in flat(untested.to_html())
    fragment = flat(audit_fragment(data))
    assert fragment.index(first) < fragment.index("The subgroup treated worst")
    for shown in (str(untested), " ".join(brief_sentences(data))):
        assert flat(shown).count("not tested") == 1


def test_a_verdict_that_was_tested_has_no_such_caution(untested):
    data = untested.to_dict() | {"p_value": 0.005, "n_permutations": 199}
    assert cautions(data) == []
    assert look(data).heading == "More unfair than allowed"
    assert "not tested" not in " ".join(verdict_sentences(data))


def test_what_is_within_gamma_is_not_said_to_be_unfair_by_chance(untested):
    data = untested.to_dict() | {"verdict": "within gamma", "gamma": 0.2}
    assert cautions(data) == []
    assert look(data).heading == "Within what is allowed"


def test_groups_that_were_named_beforehand_were_not_chosen():
    report = coins(subgroups=ExplicitGroups({"a": {"town": "a"}}), gamma=0.0).to_dict()
    (told,) = cautions(report)
    assert told.startswith(UNTESTED)
    assert "the worst of many" not in told


@pytest.mark.parametrize(
    ("interval", "is_cautious"), [([-0.03, -0.02], False), ([-0.03, 0.02], True)]
)
def test_other_rows_may_tell_what_was_not_tested(untested, interval, is_cautious):
    data = untested.to_dict()
    assert data["worst"]["unfairness"] < 0
    held_out = {"n_rows": 300, "same_rows": False, "level": 0.95, "subgroup": data["worst"],
                "unfairness_interval": interval, "gap_interval": interval}  # fmt: skip
    told = verdict_sentences(data | {"held_out": held_out})
    assert (look(data | {"held_out": held_out}).heading == HEADING) == is_cautious
    place = next(i for i, one in enumerate(told) if one.startswith("The 300 rows that were not"))
    assert (place == 0) == is_cautious
    assert not any(UNTESTED in one for one in told)
    same = verdict_sentences(data | {"held_out": held_out | {"same_rows": True}})
    assert same[0].startswith(UNTESTED)


@pytest.mark.parametrize("verdict", ["exceeds gamma", "undecided"])
def test_what_is_known_of_the_people_may_tell_it_too(untested, verdict):
    population = {"verdict": verdict, "distance": 0.01, "reason": None, "approximate": False,
                  "confidence": 0.95, "lower_bound": 0.011, "upper_bound": 0.05,
                  "rows_needed": 900, "n_resamples": 99}  # fmt: skip
    data = untested.to_dict() | {"population": population}
    told = verdict_sentences(data)
    is_known = verdict == "exceeds gamma"
    assert told[0].startswith("The subgroup" if is_known else "For the people that the rows were")
    assert look(data).heading == ("More unfair than allowed" if is_known else HEADING)
    assert not any(UNTESTED in one for one in told)
    unknown = population | {"distance": None, "reason": "why"}
    assert verdict_sentences(data | {"population": unknown})[0].startswith(UNTESTED)
