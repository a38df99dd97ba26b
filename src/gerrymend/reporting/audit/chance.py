"""Word how sure an audit is: chance, rows that were not searched, and everyone else."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gerrymend.reporting.audit.direction import in_unit, of_numbers
from gerrymend.reporting.audit.permutations import (
    cut_short_words,
    enough_draws,
    families,
    is_least,
    no_time_words,
    too_few,
)
from gerrymend.reporting.audit.said import FEW
from gerrymend.reporting.audit.score_words import draws_of
from gerrymend.reporting.audit.standing_out import (
    least_words,
    named_groups_sentence,
    stands_out,
)
from gerrymend.reporting.audit.tested_apart import families_sentence, tested_apart_sentences
from gerrymend.reporting.audit.who_leads import (
    SMALL,
    TINY,
    is_chance,
    is_for_experts,
    is_largest,
    is_part,
    is_tested_itself,
    largest,
    leads,
    own_p_value,
    own_test,
    search_p_value,
    stands_alone,
    stands_for,
)
from gerrymend.reporting.wording import (
    capitalised,
    count,
    event_noun,
    figure,
    p_equals,
    percent,
    points,
    unfairness,
)

Report = Mapping[str, Any]

# Shares of all rows to translate the detectable unfairness into points for, the first that gives
# a difference of less than half of the range of a rate.
_EXAMPLE_SHARES = (0.1, 0.25, 0.5)


class Chance(NamedTuple):
    """Whether chance may have made a group: in two words, as a sentence begins, and why.

    `nor` is what else stands out or doesn't, and `more` what other tests came to.
    """

    answer: str
    opening: str
    why: str
    nor: str = ""
    more: str = ""

    @property
    def sentence(self) -> str:
        """The whole of it."""
        return f"{self.opening}{self.why}.{self.nor}{self.more}"


def chance_sentence(report: Report) -> str:
    """Say whether chance alone could have made as much, and no more than was tested.

    The p-value is of the rows that were searched, and that is said where others were held out.
    """
    return chance_of(report).sentence


def chance_of(report: Report) -> Chance:
    """Return whether chance alone could have made who leads by its unfairness."""
    test = own_test(report)
    if test is None:
        return chance_of_search(report)
    by = _as_tested(report, test)
    few = f"with {FEW}{', numbers cut in few places,' if test['bins'] else ''}"
    told = f"({_p_told(test['p_value'], by)})"
    words = _Words(
        "it", f"a group {few} as unfair", f", of all groups {few},", f" in a group {few}"
    )
    found = _told(by, test["p_value"], told, words)
    nor = _of_small_groups(report) if test["p_value"] > SMALL else ""
    return found._replace(nor=nor, more=_beside_own_test(report))


def chance_of_search(report: Report) -> Chance:
    """Return whether chance alone could have made the largest unfairness of the class."""
    value = search_p_value(report)
    if value is None:
        return _untested(report)
    another = stands_alone(report) or is_for_experts(report)
    told = f"({_p_told(value, report)}{quick_search_words(report)})"
    whose = stands_for(report) if another else "it"
    whom = "" if another else ", of all that were searched"
    among = "" if another else ", of all groups searched,"
    words = _Words(whose, f"a group as unfair{whom}", among)
    found = _told(report, value, told, words)
    more = "".join(f" {one}" for one in tested_apart_sentences(report))
    if value <= SMALL and not tells_own_chance(report):
        more += _untested_lead(report)
    if value > SMALL and not too_few(report):
        return found._replace(nor=_of_small_groups(report), more=more)
    return found._replace(more=more)


class _Words(NamedTuple):
    """Whose unfairness is tested, "it" of who leads, and what draws are searched for."""

    whose: str
    as_unfair: str
    among: str
    where: str = ""


def _told(report: Report, value: float, told: str, words: _Words) -> Chance:
    """Return what a p-value says, by so many draws as a report has; `told` has what it is by."""
    chance = draws_of(report, "value" if of_numbers(report) else "decision")
    draws = count(report["n_permutations"])
    asks = f"Could chance explain {words.whose}? "
    if value <= TINY:
        had = _had(report, value)
        why = f"of {draws} {chance.many} {had} {words.as_unfair} {told}"
        return Chance("Hardly chance", f"{asks}Hardly: ", why)
    if value <= SMALL:
        often = f"in at most 1 of {int(1 / value + 1e-9)} samples {chance.where}"
        # So many that p is TINY, the least that they can give, over all that is tested at once.
        enough = max(199, round(families(report) / TINY) - 1)
        time = "" if report.get("permutations_asked") is None else " and more time"
        more = f"; {draws} {chance.noun} can't tell more, and {count(enough)}{time} would"
        more = more if is_least(value, report) else ""
        why = f"chance alone makes as much{words.among} {often} {told}{more}"
        return Chance("Unlikely to be chance", f"{asks}It is unlikely: ", why)
    if too_few(report):
        why = "; ".join(filter(None, [f"{_made(report)} too few", no_time_words(report)]))
        return Chance("Chance: not known", "Whether it is chance can't be told: ", why)
    largest = "The largest unfairness" if stands_out(report) else "So large an unfairness"
    first = leads(report)[0] if leads(report) else None
    if words.whose == "it" and first != report["worst"] and not report["withheld"]:
        largest = "The largest unfairness to a group's disadvantage"  # the favoured have more
    often = f"in about {percent(value)} of samples"
    why = f"{chance.where}, so many rows show as much{words.where} {often} {told}"
    return Chance("Could be chance", f"{largest} could well be chance: ", why)


def _untested(report: Report) -> Chance:
    """Return that chance was not tested, why, and what may come of it."""
    why = _obstacle(report) or "n_permutations=199, --permutations 199 would"
    untested = f"Whether chance alone could make as much was not tested ({why})"
    # Of groups that were named beforehand none was chosen for looking bad.
    named = report["class"]["name"] == "ExplicitGroups"
    bad = "" if named else ": the worst of many groups looks bad even where none differs"
    # Who stands out was tested all the same.
    if not named and report.get("sharpest") is None:
        bad += ", and a small group that is hit hard may not show"
    return Chance("Chance: not tested", "", f"{untested}{bad}")


def is_of_another(report: Report) -> bool:
    """Return whether the p-value of the largest unfairness is of another group than who leads."""
    alone = stands_alone(report) and own_test(report) is None
    return alone or is_for_experts(report)


def tells_own_chance(report: Report) -> bool:
    """Return whether who leads is no chance by its own test, and that of a formula says no more.

    That one is told where the formula is, for experts.
    """
    is_tested = is_tested_itself(report) and not is_part(report)
    return is_tested and is_of_another(report) and not is_chance(report)


def chance_for_experts(report: Report) -> str | None:
    """Say whether chance made the formula that another group leads before; None where none does."""
    if not (stands_alone(report) or is_for_experts(report)) or search_p_value(report) is None:
        return None
    if is_of_another(report) and not tells_own_chance(report):
        return None  # it is said with who leads, who has no other test
    told = chance_of_search(report)
    return f"{told.opening}{told.why}."


def _beside_own_test(report: Report) -> str:
    """Say that the worst of all is no chance, where who leads may be."""
    of_all = search_p_value(report)
    if of_all is None or not of_all <= SMALL < (own_p_value(report) or 0.0):
        return ""
    sure = "hardly" if of_all <= TINY else "unlikely to be"
    return f" But {stands_for(report)}, below for experts, is {sure} chance ({p_equals(of_all)})."


def _untested_lead(report: Report) -> str:
    """Say that a group in a sentence has no p-value of its own; "" where who leads has one."""
    first = largest(report)
    if first is None or not stands_alone(report) or own_test(report) is not None:
        return ""
    return f" {first['subgroup']} was not tested by itself."


def _as_tested(report: Report, test: Mapping[str, Any]) -> Report:
    """Return a report with the number of draws of a test of its own, as those it is told by."""
    asked = report.get("permutations_asked", report["n_permutations"])
    made = test["n_permutations"]
    by = {**report, "n_permutations": made}
    by.pop("permutations_asked", None)
    return {**by, "permutations_asked": asked} if made < asked else by


def p_words(report: Report) -> str:
    """Return the p-value of who leads by its unfairness, on which rows, and by which search.

    One that no more shuffles were made for is said to be the least that they can give.

    The search matters where a quick search finds no more than chance, and the audit found more.
    """
    test = own_test(report)
    if test is not None:
        return _p_told(test["p_value"], _as_tested(report, test))
    value = search_p_value(report)
    assert value is not None
    return f"{_p_told(value, report)}{quick_search_words(report)}"


def _p_told(value: float, report: Report) -> str:
    """Return a p-value, on which rows, and by how many draws if these are few."""
    held_out = report["held_out"]
    apart = held_out is not None and not held_out["same_rows"]
    of_rows = " on the rows that were searched" if apart else ""
    told = ", ".join(filter(None, [f"{p_equals(value)}{of_rows}", cut_short_words(report)]))
    least = f"; {least_words(report)}" if value <= TINY and is_least(value, report) else ""
    return f"{told}{least}"


def quick_search_words(report: Report) -> str:
    """Return that a test is by a quick search, and what that finds; "" where that changes nothing.

    Beside the largest unfairness and what chance finds, a large p-value would seem to be wrong.
    """
    found = _quickly_found(report)
    line = report["detectable"]
    if found is None or line is None or not is_chance(report) or not is_largest(report):
        return ""
    if float(unfairness(report["unfairness"])) <= float(unfairness(line)):
        return ""
    return f"; the search is a quick one, which finds {found} in these rows"


def _of_small_groups(report: Report) -> str:
    """Say what a test of the largest unfairness leaves open, or that nothing else stands out."""
    tested = report.get("sharpest")
    if tested is None:
        return (
            " That test weighs groups by their size: a small one that is hit hard may be real all "
            "the same."
        )
    if stands_out(report):
        return ""
    looked_at = f"{count(tested['n_groups'])} groups that can be named"
    return f" Nor does one of {looked_at} stand out ({p_equals(tested['p_value'])})."


def _had(report: Report, value: float) -> str:
    """Return in how many draws as much was found: p = families·(1 + these) / (1 + draws)."""
    draws = 1 + report["n_permutations"]
    number = round(value * draws / families(report)) - 1
    return "none had" if number < 1 else f"{count(number)} had"


def _obstacle(report: Report) -> str | None:
    """Say why there can be no p-value, and what else may be asked; None where there can be one."""
    why: str | None = report["no_p_value"]
    own = any(notion.get("reference") is not None for notion in report["notions"])
    if why is None or not own or report["population"] is not None:
        return why
    people = "what holds for the people behind the rows"
    return f"{why}; confidence=0.95 (--confidence 0.95) tells {people}"


def why_not_tested(report: Report) -> str:
    """Say why it is not known whether a group stands out; `stands_out` of the report is None."""
    if report["sharpest"] is not None:
        return too_few_words(report)
    if report["p_value"] is None:
        return _obstacle(report) or "chance was not tested (n_permutations=199, --permutations 199)"
    return "no group that can be named has enough rows, inside and outside, to be described"


def too_few_words(report: Report) -> str:
    """Say that so many draws can't give a p-value of 5 %, how many can, and how to get them."""
    enough = count(enough_draws(report))
    asked = report.get("permutations_asked")
    if asked is None:
        return f"{_made(report)} too few for p = 0.05; {enough} are enough"
    made = count(report["n_permutations"])
    return (
        f"there was time for {made} of the {count(asked)} {draws_of(report, 'value').noun} that "
        f"were asked for, and p = 0.05 takes {enough}; give more time (budget, --budget)"
    )


def _made(report: Report) -> str:
    """Return how many draws were made, with the verb: "5 permutations are"."""
    number = report["n_permutations"]
    noun = draws_of(report, "value").noun
    return f"1 {noun.removesuffix('s')} is" if number == 1 else f"{count(number)} {noun} are"


def permutation_sentences(report: Report, *, example: bool = True) -> list[str]:
    """Say what chance alone makes of so many rows, with an example, and what the p-value is of."""
    draws = count(report["n_permutations"])
    if report["p_value"] is None:
        why = _obstacle(report) or (
            "no permutations were made (n_permutations=199, --permutations 199)"
        )
        untested = f"What chance alone would make of so many rows was not tested: {why}."
        return [untested, *filter(None, [named_groups_sentence(report)])]
    chance = draws_of(report, "value")
    tested = f"The p-value tests “{chance.tested}”, not “none exceeds what is allowed”."
    tested += chance.caveat
    more = filter(None, [named_groups_sentence(report), families_sentence(report)])
    tested += "".join(f" {one}" for one in more)
    line = report["detectable"]
    if line is not None and unfairness(line) == "0":
        noun = "shuffles" if chance.noun == "permutations" else chance.noun
        nothing = f"In 19 of 20 {noun} ({draws} in all) the search found no difference at all"
        return [f"{nothing}: any that is there is no chance.", tested]
    if line is None:
        return [f"{capitalised(too_few_words(report))}.", tested]
    found = in_unit(unfairness(line), report)
    # One that stands out for its size may be no chance, and have less.
    unless = ", unless the group is tested for itself" if stands_out(report) else ""
    return [
        f"{capitalised(chance.where)} the largest unfairness in so many rows is up to {found} in "
        f"19 of 20 samples ({draws} {chance.noun}{_searched(report)}): a largest unfairness of "
        f"less can't be told from chance{unless}.{_example(report, line) if example else ''}",
        tested,
    ]


def _example(report: Report, line: float) -> str:
    """Translate an unfairness into points, or into its unit, for a group of a common size."""
    unit = report["notions"][0].get("unit")
    if unit is not None:
        off = figure(line / _EXAMPLE_SHARES[0], unit)
        return f" That is, for example, {off} for {percent(_EXAMPLE_SHARES[0])} of the rows."
    share = next((share for share in _EXAMPLE_SHARES if line / share < 0.5), None)
    if share is None:
        return ""
    return (
        f" That is, for example, {points(line / share).lstrip('+')} for a group whose "
        f"{event_noun(report['notions'])} are {percent(share)} of all rows."
    )


def _searched(report: Report) -> str:
    """Say what the repeated search finds in the rows, where that is not all that was found."""
    found = _quickly_found(report)
    if found is None:
        return ""
    return f", each by a quicker search than that of the report; in these rows it finds {found}"


def _quickly_found(report: Report) -> str | None:
    """Return what the repeated search finds in the rows; None where that is all that was found.

    It is quicker than the search and the proof of the audit, and draws are compared with it.
    """
    found = report["searched_unfairness"]
    if found is None or unfairness(found) == unfairness(report["unfairness"]):
        return None
    return in_unit(unfairness(found), report)
