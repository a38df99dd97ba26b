"""The verdict has one rule, and one word, one look and one exit code for each outcome."""

import pytest

from gerrymend.auditing.subgroup import ROUNDING
from gerrymend.auditing.verdict import EXCEEDS, UNDECIDED, WITHIN, verdict
from gerrymend.cli.exit_codes import CANT_BE_DONE, EXIT_CODES, INTERRUPTED
from gerrymend.reporting.audit.verdict import LOOKS


@pytest.mark.parametrize(
    ("unfairness", "upper_bound", "expected"),
    [
        (0.0, 0.0, WITHIN),
        (0.01, 0.01, WITHIN),
        (0.01 + ROUNDING / 2, 0.01 + ROUNDING / 2, WITHIN),
        (0.01, 0.0101, UNDECIDED),
        (0.0, 0.25, UNDECIDED),
        (0.0101, 0.0101, EXCEEDS),
        (0.0101, 0.25, EXCEEDS),
    ],
)
def test_by_hand(unfairness, upper_bound, expected):
    assert verdict(unfairness, upper_bound, gamma=0.01) == expected


def test_each_verdict_has_its_look_and_its_exit_code():
    assert {WITHIN, EXCEEDS, UNDECIDED} == LOOKS.keys() == EXIT_CODES.keys()
    codes = [*EXIT_CODES.values(), CANT_BE_DONE, INTERRUPTED]
    assert codes == [0, 1, 3, 2, 130]
    assert len({look.sign for look in LOOKS.values()}) == len(LOOKS)
