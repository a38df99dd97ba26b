"""Check of the test of a group in a sentence: that it is a possible one, and of a group that leads.

Permutations are not made again. What the rest of a report decides is checked: whether there can be
a test at all, how many permutations it is by, into how many bins numbers are cut for it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gerrymend.checker.case import Case
from gerrymend.checker.chance import are_enough, wrong_p_value
from gerrymend.checker.lead import own_test

# Numbers of more values than this are cut into so many bins, or into fewer.
_MOST_NUMBERS = 100
_BINS = (32, 24, 16, 12, 8, 6, 4)


def check_sentence_test(first: Mapping[str, Any] | None, case: Case) -> None:
    """Check the test of the group in a sentence; `first` is the one that it stands for."""
    stated = case.stated
    name = "in_a_sentence.test"
    test = stated["in_a_sentence"].get("test")
    if test is None:
        case.leave(name, "that there was no time for it, or nothing to test")
        return
    case.leave(
        f"{name} {name}.p_value {name}.n_permutations {name}.bins",
        "the permutations behind it were not made again",
    )
    case.problem(*_wrong_test(test, first, case))


def _wrong_test(
    test: Mapping[str, Any], first: Mapping[str, Any] | None, case: Case
) -> Iterator[str]:
    """Yield what can't be true of the test."""
    stated = case.stated
    if own_test(first, stated) is None:
        yield "test of in_a_sentence is stated, and the group doesn't lead for another."
    if stated["in_a_sentence"]["subgroup"]["treated"] == "better":
        yield "test of in_a_sentence is stated, of a group on the other side than that of harm."
    draws = test["n_permutations"]
    by = {**stated, "n_permutations": draws}
    asked = stated.get("permutations_asked", stated["n_permutations"])
    untimely = stated["no_p_value"] is not None  # the search had no time, and tells of no number
    if (asked or not untimely) and draws > asked:
        yield f"n_permutations of in_a_sentence is stated as {draws}, and {asked} were asked for."
    if not are_enough(by):
        yield f"test of in_a_sentence is stated, and {draws} permutations are too few for one."
        return
    yield from wrong_p_value("p_value of in_a_sentence", test["p_value"], by)
    numbers = [len(set(one.values)) for one in case.table.attributes.values() if one.is_number]
    most = max(numbers, default=0)
    bins = test["bins"]
    possible = most <= _MOST_NUMBERS if bins is None else bins in _BINS and bins < most
    if not possible:
        yield f"bins of in_a_sentence is stated as {bins!r}, which numbers are not cut into."
