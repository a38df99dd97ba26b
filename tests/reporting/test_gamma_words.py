"""What unfairness is and what gamma allows, in a line of the text: as people, or in a unit."""

import numpy as np
import pytest

from gerrymend import OutcomeNotion, audit
from tests.cli.calling import call

PEOPLE = {"sensitive_features": {"sex": ["F", "M"] * 200}, "subgroups": "marginals"}
Y = [0, 1, 1, 1] * 100
D = [1, 0, 1, 1] * 100


def line(**arguments):
    text = str(audit(**PEOPLE | arguments))
    told = text[text.index("\nUnfairness  ") :].split("\n")
    rest = next(i for i, one in enumerate(told[2:], start=2) if not one.startswith(" "))
    return " ".join(" ".join(told[1:rest]).split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"notion": "statistical_parity"},
         "A group's share of all rows times how far its rate is from the overall rate. "
         "Allowed: 0.01 (gamma), 4 cases too many in 400 rows."),
        ({"gamma": 0.005},
         "A group's negatives, as a share of all rows, times how far its rate is from the overall "
         "rate. Allowed: 0.005 (gamma), 2 cases too many in 400 rows."),
        ({"sample_weight": np.linspace(1, 2, 400)}, "Allowed: 0.01 (gamma)."),
        ({"control_features": {"job": [0, 0, 1, 1] * 100}, "leave_out_empty_strata": True},
         "how far its rate is from the rate expected by its strata."),
        ({"notion": "statistical_parity", "reference": 0.5}, "is from the reference."),
    ],
)  # fmt: skip
def test_rates_are_told_in_cases(arguments, words):
    assert words in line(y_true=Y, y_pred=D, **arguments)


def test_cases_are_what_gamma_times_rows_is():
    """At a gamma of exactly what was found, the cases are the group's own beyond the rate."""
    report = audit(y_true=None, y_pred=D, notion="statistical_parity", **PEOPLE)
    women = np.array(D)[::2]
    beyond = women.sum() - len(women) * np.mean(D)
    assert report.unfairness * report.n_rows == pytest.approx(abs(beyond))


@pytest.mark.parametrize(
    ("gamma", "unit", "words"),
    [
        (None, "", "Allowed: 0.01 in the unit of the outcome (gamma; the default: set what "
                   "matters, gamma or --gamma), or 0.1 for a tenth of the rows."),
        (None, "days", "Allowed: 0.01 days (gamma; the default: set what matters, gamma or "
                       "--gamma), or 0.1 days for a tenth of the rows."),
        (0.3, "days", "Allowed: 0.3 days (gamma), or 3 days for a tenth of the rows."),
    ],
)  # fmt: skip
def test_means_are_told_in_their_unit(gamma, unit, words):
    wait = OutcomeNotion("wait", lambda _, waited: waited, reads_labels=False, unit=unit)
    more = {} if gamma is None else {"gamma": gamma}
    assert words in line(y_true=None, y_pred=np.arange(400.0), notion=wait, **more)


@pytest.mark.parametrize(("command", "name"), [("audit", "gamma"), ("fit", "gamma"),
                                               ("frontier", "gammas")])  # fmt: skip
def test_the_help_says_what_gamma_is_in_people(command, name):
    _, out, _ = call(command, "--help")
    words = " ".join(out.replace("│", " ").split())
    _, _, told = words.partition(f"--{name} ")
    assert "a group's share of all rows × how far its rate is from everyone's" in told
    assert "of 10,000 rows, 100 more cases than at everyone's rate" in told
